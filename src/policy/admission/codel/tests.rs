//! Reading of the rules, and their drops in sequences made by hand.

use super::*;
use crate::policy::admission::testing::{assert_examples, assert_problems, at, form, ms};
use proptest::prelude::*;

const NONE: [u64; 0] = [];

/// Asks at each time in ms about a wait in ms, in a queue that is never empty; gives the times of drops.
fn dropped(rule: &Codel, state: &mut CodelState, asked: &[(u64, u64)]) -> Vec<u64> {
    let drops = |&&(now, waited): &&(u64, u64)| rule.drops(state, at(now), ms(waited), false);
    asked.iter().filter(drops).map(|&(now, _)| now).collect()
}

#[test]
fn settings_are_read_and_nonsense_is_named() {
    assert_examples::<Codel>();
    assert_eq!(
        form::<Codel>("\"folly\""),
        Codel::Folly(Folly {
            target: ms(5),
            interval: ms(100)
        })
    );
    assert_problems::<Codel>(&[
        (r#"{ folly = { target = "0s" } }"#, "no wait at all"),
        (r#"{ folly = { target = "100ms" } }"#, "not longer than"),
        (r#"{ rfc8289 = { interval = "1ms" } }"#, "not longer than"),
        (
            r#"{ facebook = { short = "1s" } }"#,
            "not treated more strictly",
        ),
    ]);
}

#[test]
fn folly_drops_beyond_twice_the_target_after_an_interval_without_a_short_wait() {
    let rule: Codel = form("\"folly\"");
    let mut state = rule.fresh();
    // The first attempt sets the least wait; the second judges and starts the first interval, until 150.
    assert_eq!(dropped(&rule, &mut state, &[(40, 4), (50, 50)]), NONE);
    // Not overloaded: the least wait so far was 4 ms.
    assert_eq!(dropped(&rule, &mut state, &[(90, 900), (150, 6)]), NONE);
    // After the end: the least was 6 ms, so it is overloaded now, but this attempt is spared.
    assert_eq!(dropped(&rule, &mut state, &[(151, 900)]), NONE);
    assert_eq!(
        dropped(&rule, &mut state, &[(152, 11), (153, 10), (251, 12)]),
        [152, 251]
    );
    // The interval ended at 251. Its least wait, 10 ms, keeps it overloaded; the first is spared again.
    assert_eq!(
        dropped(&rule, &mut state, &[(252, 900), (253, 900), (300, 5)]),
        [253]
    );
    // One wait of no more than the target ends the overload with the interval.
    assert_eq!(
        dropped(&rule, &mut state, &[(350, 900), (353, 900), (354, 900)]),
        [350]
    );
}

#[test]
fn folly_spares_a_lone_attempt_in_each_interval() {
    let rule: Codel = form("\"folly\"");
    let asked: Vec<(u64, u64)> = (0..50).map(|i| (i * 101, 900)).collect();
    assert_eq!(dropped(&rule, &mut rule.fresh(), &asked), NONE);
}

#[test]
fn facebook_is_strict_once_the_queue_has_not_been_empty_for_long() {
    let rule: Codel = form("\"facebook\"");
    let mut state = rule.fresh();
    // The queue was empty until 10 ms ago, however long ago the run began.
    assert_eq!(dropped(&rule, &mut state, &[(1_000, 10)]), NONE);
    assert_eq!(
        dropped(
            &rule,
            &mut state,
            &[(1_080, 90), (1_085, 101), (1_090, 100)]
        ),
        [1_085]
    );
    // It has not been empty since 990: from 1090 on waits above 5 ms are too long.
    assert_eq!(
        dropped(&rule, &mut state, &[(1_091, 6), (1_092, 5), (1_500, 6)]),
        [1_091, 1_500]
    );
    // It empties, and is empty for 80 ms until an attempt joins it.
    assert!(rule.drops(&mut state, at(1_510), ms(6), true));
    assert_eq!(
        dropped(&rule, &mut state, &[(1_600, 10), (1_689, 99), (1_691, 6)]),
        [1_691]
    );
    rule.emptied(&mut state, at(1_700));
    assert_eq!(dropped(&rule, &mut state, &[(1_710, 10)]), NONE);
}

#[test]
fn a_router_waits_an_interval_and_then_drops_faster_and_faster() {
    let rule: Codel = form("\"rfc8289\"");
    let asked: Vec<(u64, u64)> = (0..500).map(|now| (now, 20)).collect();
    // 100, then 100 / √1, √2, √3, √4 ms later: 200, 270.7, 328.4, 378.4, 423.2, 464.0 and 501.8.
    let mut state = rule.fresh();
    assert_eq!(
        dropped(&rule, &mut state, &asked),
        [100, 200, 271, 329, 379, 424, 464]
    );
    // A wait below the target ends the spell.
    assert_eq!(
        dropped(&rule, &mut state, &[(500, 4), (510, 20), (609, 20)]),
        NONE
    );
    // The next spell takes up the pace: 7 drops before, and one that began it.
    assert_eq!(
        dropped(&rule, &mut state, &[(610, 20), (650, 20), (651, 20)]),
        [610, 651],
        "100 / √6 = 40.8 ms"
    );
}

#[test]
fn a_router_forgets_its_pace_after_sixteen_intervals() {
    let rule: Codel = form("\"rfc8289\"");
    let mut state = rule.fresh();
    let asked: Vec<(u64, u64)> = (0..500).map(|now| (now, 20)).collect();
    dropped(&rule, &mut state, &asked);
    let later = [(3_000, 20), (3_100, 20), (3_199, 20), (3_200, 20)];
    assert_eq!(dropped(&rule, &mut state, &[(500, 4)]), NONE);
    assert_eq!(dropped(&rule, &mut state, &later), [3_100, 3_200]);
}

#[test]
fn a_router_spares_the_last_in_the_queue() {
    let rule: Codel = form("\"rfc8289\"");
    let mut state = rule.fresh();
    assert_eq!(dropped(&rule, &mut state, &[(0, 20), (99, 20)]), NONE);
    assert!(!rule.drops(&mut state, at(100), ms(20), true));
    assert_eq!(dropped(&rule, &mut state, &[(101, 20), (200, 20)]), NONE);
    rule.emptied(&mut state, at(200));
    assert_eq!(dropped(&rule, &mut state, &[(201, 20), (300, 20)]), NONE);
    assert_eq!(dropped(&rule, &mut state, &[(301, 20)]), [301]);
}

#[test]
fn a_state_is_small() {
    assert_eq!(size_of::<CodelState>(), 40);
}

proptest! {
    #[test]
    fn nothing_that_waited_less_than_the_target_is_dropped(
        form_number in 0..3_usize,
        asked in prop::collection::vec((any::<u64>(), 0..60_u32, any::<u64>(), any::<(bool, bool)>()), 1..200),
    ) {
        let rule: Codel = form(["\"folly\"", "\"facebook\"", "\"rfc8289\""][form_number]);
        let (mut state, mut now) = (rule.fresh(), SimTime::ZERO);
        for (gap, shift, waited, (empty, emptied)) in asked {
            now += SimDuration::from_nanos(gap >> shift);
            let waited = SimDuration::from_nanos(waited >> shift);
            let drops = rule.drops(&mut state, now, waited, empty);
            prop_assert!(!drops || waited >= ms(5));
            if emptied {
                rule.emptied(&mut state, now);
            }
        }
    }
}
