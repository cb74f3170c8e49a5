//! Reading of the limits, their ends, and where they settle before a simple server.

use super::*;
use crate::policy::admission::testing::{assert_examples, assert_problems, form, ms};
use crate::time::SimDuration;
use proptest::prelude::*;

#[test]
fn settings_are_read_and_nonsense_is_named() {
    assert_examples::<ConcurrencyLimit>();
    assert_problems::<ConcurrencyLimit>(&[
        ("{ fixed = { limit = 0 } }", "no attempt is ever"),
        ("{ aimd = { min = 0 } }", "never learns"),
        ("{ aimd = { max = 10 } }", "10 at most and 20 at least"),
        ("{ aimd = { max = 20 } }", "never moves from 20"),
        ("{ aimd = { initial = 300 } }", "starts at 300"),
        ("{ aimd = { backoff_ratio = 1.0 } }", "never shrinks"),
        ("{ aimd = { timeout = \"0s\" } }", "counts as dropped"),
        ("{ vegas = { initial = 0 } }", "starts at 0"),
        ("{ vegas = { probe_multiplier = 0 } }", "never moves"),
        ("{ gradient2 = { smoothing = 0.0 } }", "never moves"),
        ("{ gradient2 = { tolerance = 0.9 } }", "without cause"),
        ("{ gradient2 = { queue = 0 } }", "never grows"),
        ("{ gradient2 = { long_window = 0 } }", "average of nothing"),
    ]);
}

/// The limits in the second half of 20 000 attempts, least and greatest. The server does 50 at once in `base` each;
/// beyond that attempts take longer in proportion. Of four attempts, `idle` find it nearly idle, the others full.
fn settled(rule: &str, base: SimDuration, idle: u32) -> (u32, u32) {
    let rule: ConcurrencyLimit = form(rule);
    let mut state = rule.fresh();
    let (mut least, mut greatest) = (u32::MAX, 0);
    for i in 0..20_000_u32 {
        let limit = rule.limit(&state);
        let in_flight = if i % 4 < idle { 1 } else { limit };
        let slowdown = (f64::from(in_flight) / 50.0).max(1.0);
        let sample = Sample {
            rtt: base.scale(slowdown),
            in_flight,
            dropped: false,
            luck: f64::from(i % 97) / 97.0,
        };
        rule.note(&mut state, &sample);
        if i >= 10_000 {
            least = least.min(rule.limit(&state));
            greatest = greatest.max(rule.limit(&state));
        }
    }
    (least, greatest)
}

#[test]
fn aimd_goes_up_and_down_below_the_limit_at_which_attempts_time_out() {
    // Attempts take longer than 1 s from a limit of 101 on.
    let range = settled(r#"{ aimd = { timeout = "1s" } }"#, ms(500), 0);
    assert_eq!(range, (90, 101));
}

#[test]
fn vegas_settles_just_above_the_capacity() {
    // With a queue of 3 to 6, or a step of 6 more after a measurement under load.
    let (least, greatest) = settled("\"vegas\"", ms(100), 3);
    assert!(least > 50 && greatest <= 62, "{least} to {greatest}");
}

#[test]
fn vegas_takes_its_own_queue_for_the_server_when_it_is_never_idle() {
    let (least, greatest) = settled("\"vegas\"", ms(100), 0);
    assert!(62 < least && least < greatest, "{least} to {greatest}");
}

#[test]
fn gradient2_settles_where_growth_and_slowdown_balance() {
    // At a limit L the slowdown is x = L / 50 and the average (3 + x) / 4, so 1.5 (3 + x) / 4x = 1 − 4 / L:
    // L = 96.4.
    let (least, greatest) = settled("\"gradient2\"", ms(100), 3);
    assert!(95 <= least && greatest <= 97, "{least} to {greatest}");
}

#[test]
fn gradient2_takes_the_slowdown_for_normal_when_it_is_never_idle() {
    assert_eq!(settled("\"gradient2\"", ms(100), 0), (200, 200));
}

#[test]
fn a_state_is_small() {
    assert_eq!(size_of::<LimitState>(), 40);
}

fn rules() -> impl Strategy<Value = (ConcurrencyLimit, u32, u32)> {
    let bounds = (1..u32::MAX, any::<u32>(), any::<u32>()).prop_map(|(min, room, start)| {
        let max = min.saturating_add(room);
        let initial = min + start % (max - min).saturating_add(1).max(1);
        (initial.clamp(min, max), min, max)
    });
    (bounds, 0..4_u32, any::<u32>(), 1.0..1e9_f64).prop_map(
        |((initial, min, max), form_number, number, tolerance)| {
            let rule = match form_number {
                0 => ConcurrencyLimit::Fixed(FixedLimit { limit: initial }),
                1 => ConcurrencyLimit::Aimd(Aimd {
                    initial,
                    min,
                    max,
                    ..form("{}")
                }),
                2 => ConcurrencyLimit::Vegas(Vegas {
                    initial,
                    max,
                    probe_multiplier: number,
                }),
                _ => ConcurrencyLimit::Gradient2(Gradient2 {
                    initial,
                    min,
                    max,
                    tolerance,
                    queue: number,
                    long_window: number.max(1),
                    ..form("{}")
                }),
            };
            (rule, if form_number == 2 { 1 } else { min }, max)
        },
    )
}

proptest! {
    #[test]
    fn limits_stay_between_their_ends(
        (rule, min, max) in rules(),
        samples in prop::collection::vec((any::<u64>(), 0..64_u32, any::<u32>(), any::<bool>(), 0.0..1.0_f64), 1..200),
    ) {
        let mut state = rule.fresh();
        for (rtt, shift, in_flight, dropped, luck) in samples {
            let rtt = SimDuration::from_nanos(rtt >> shift);
            rule.note(&mut state, &Sample { rtt, in_flight, dropped, luck });
            let limit = rule.limit(&state);
            prop_assert!((min..=max).contains(&limit), "{limit} of {state:?}");
        }
    }
}
