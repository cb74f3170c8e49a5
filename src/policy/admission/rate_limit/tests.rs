//! Reading of the limits, and whom they admit when.

use super::*;
use crate::policy::admission::testing::{assert_examples, assert_problems, at, form, ms};
use proptest::prelude::*;

fn admitted(limit: &RateLimit, state: &mut RateLimitState, now: SimTime, times: u32) -> u32 {
    (0..times).map(|_| u32::from(limit.admit(state, now))).sum()
}

#[test]
fn settings_are_read_and_nonsense_is_named() {
    assert_examples::<RateLimit>();
    assert_eq!(
        form::<RateLimit>(r#"{ window = { attempts = 3, per = "1m" } }"#),
        form(
            r#"{ window = { attempts = 3, per = "60s", window = "fixed", count_refused = false } }"#
        )
    );
    assert_problems::<RateLimit>(&[
        (
            r#"{ bucket = { rate = "1/s", burst = 0.5 } }"#,
            "no attempt is ever",
        ),
        (
            r#"{ bucket = { rate = "0/s", burst = 5 } }"#,
            "once the bucket is empty",
        ),
        (
            r#"{ window = { attempts = 0, per = "1s" } }"#,
            "no attempt is ever",
        ),
        (r#"{ window = { attempts = 1, per = "0s" } }"#, "no length"),
        (
            r#"{ window = { attempts = 1, per = "1s", count_refused = true } }"#,
            "change nothing",
        ),
    ]);
}

#[test]
fn a_bucket_admits_its_burst_and_then_its_rate() {
    let limit: RateLimit = form(r#"{ bucket = { rate = "10/s", burst = 5 } }"#);
    let mut state = limit.fresh();
    assert_eq!(admitted(&limit, &mut state, at(0), 9), 5);
    assert_eq!(limit.free_after(&state, at(0)), ms(100));
    assert_eq!(limit.free_after(&state, at(30)), ms(70));
    assert_eq!(admitted(&limit, &mut state, at(99), 9), 0);
    assert_eq!(admitted(&limit, &mut state, at(100), 9), 1);
    assert_eq!(admitted(&limit, &mut state, at(350), 9), 2);
    assert_eq!(limit.free_after(&state, at(350)), ms(50));
    assert_eq!(admitted(&limit, &mut state, at(60_000), 9), 5);
}

#[test]
fn a_bucket_that_is_asked_every_microsecond_admits_no_more_than_its_rate() {
    let limit: RateLimit = form(r#"{ bucket = { rate = "1500/s", burst = 1 } }"#);
    let mut state = limit.fresh();
    let admitted: u32 = (0..10_000_000_u64)
        .map(|us| u32::from(limit.admit(&mut state, SimTime::from_nanos(us * 1_000))))
        .sum();
    assert!((14_990..=15_001).contains(&admitted), "{admitted}");
}

#[test]
fn a_fixed_window_opens_for_everybody_at_multiples_of_its_length() {
    let limit: RateLimit = form(r#"{ window = { attempts = 3, per = "1s" } }"#);
    let mut state = limit.fresh();
    assert_eq!(admitted(&limit, &mut state, at(900), 9), 3);
    assert_eq!(limit.free_after(&state, at(900)), ms(100));
    assert_eq!(limit.free_after(&state, at(1_000)), ms(0));
    assert_eq!(admitted(&limit, &mut state, at(1_000), 2), 2);
    assert_eq!(limit.free_after(&state, at(1_000)), ms(0));
    assert_eq!(admitted(&limit, &mut state, at(1_500), 9), 1);
    assert_eq!(limit.free_after(&state, at(1_500)), ms(500));
}

#[test]
fn a_sliding_window_forgives_each_attempt_by_itself() {
    let limit: RateLimit = form(r#"{ window = { attempts = 2, per = "1s", window = "sliding" } }"#);
    let mut state = limit.fresh();
    assert_eq!(admitted(&limit, &mut state, at(300), 1), 1);
    assert_eq!(admitted(&limit, &mut state, at(900), 9), 1);
    assert_eq!(limit.free_after(&state, at(900)), ms(400));
    assert_eq!(admitted(&limit, &mut state, at(1_299), 9), 0);
    assert_eq!(admitted(&limit, &mut state, at(1_300), 9), 1);
    assert_eq!(limit.free_after(&state, at(1_300)), ms(600));
}

#[test]
fn attempts_that_count_though_refused_start_the_window_again() {
    let limit: RateLimit = form(
        r#"{ window = { attempts = 1, per = "1s", window = "sliding", count_refused = true } }"#,
    );
    let mut state = limit.fresh();
    assert_eq!(admitted(&limit, &mut state, at(0), 1), 1);
    assert_eq!(admitted(&limit, &mut state, at(900), 1), 0);
    assert_eq!(limit.free_after(&state, at(900)), ms(1_000));
    assert_eq!(admitted(&limit, &mut state, at(1_899), 1), 0);
    assert_eq!(admitted(&limit, &mut state, at(2_899), 1), 1);
}

#[test]
fn a_bucket_without_inflow_is_never_free_again() {
    let limit = RateLimit::Bucket(BucketLimit {
        rate: Rate::per_second(0.0).unwrap(),
        burst: Tokens::ONE,
    });
    let mut state = limit.fresh();
    assert!(limit.admit(&mut state, at(0)));
    assert_eq!(limit.free_after(&state, at(0)), SimDuration::MAX);
    assert!(!limit.admit(&mut state, SimTime::MAX));
}

#[test]
fn a_state_is_small() {
    // A sliding window has up to 4096 places of 16 bytes beside it.
    assert_eq!(size_of::<RateLimitState>(), 40);
}

fn limits() -> impl Strategy<Value = RateLimit> {
    let bucket = (-9.0..9.0_f64, 1.0..3.0_f64).prop_map(|(power, burst)| {
        RateLimit::Bucket(BucketLimit {
            rate: Rate::per_second(10_f64.powf(power)).unwrap(),
            burst: Tokens::new(burst).unwrap(),
        })
    });
    let window = (1..20_u32, 1..1_000_000_u64, any::<(bool, bool)>()).prop_map(
        |(attempts, per, (sliding, count_refused))| {
            RateLimit::Window(WindowLimit {
                attempts,
                per: SimDuration::from_nanos(per),
                window: if sliding {
                    WindowKind::Sliding
                } else {
                    WindowKind::Fixed
                },
                count_refused,
            })
        },
    );
    prop_oneof![bucket, window]
}

proptest! {
    #[test]
    fn an_attempt_is_admitted_exactly_from_the_time_that_was_told(
        limit in limits(),
        gaps in prop::collection::vec((0..40_u32, any::<u32>()), 1..100),
    ) {
        let (mut state, mut now) = (limit.fresh(), SimTime::ZERO);
        for (shift, gap) in gaps {
            now += SimDuration::from_nanos(u64::from(gap) << shift >> 30);
            let wait = limit.free_after(&state, now);
            prop_assert_eq!(wait == SimDuration::ZERO, limit.admit(&mut state.clone(), now));
            if now + wait < SimTime::MAX {
                prop_assert!(limit.admit(&mut state.clone(), now + wait));
            }
            // The estimate of a bucket is late by 2 ns at most, or by the last bits of a long time.
            let early = wait.as_nanos() - (wait.as_nanos() / (1 << 49)).max(3).min(wait.as_nanos());
            if wait > SimDuration::ZERO && early > 0 {
                let early = now + SimDuration::from_nanos(early);
                prop_assert!(early < now || !limit.admit(&mut state.clone(), early));
            }
            limit.admit(&mut state, now);
        }
    }

    #[test]
    fn a_sliding_window_never_holds_more_than_its_attempts(
        attempts in 1..10_000_u32,
        per in 1..5_000_u64,
        gaps in prop::collection::vec(0..3_u64, 1..2_000),
    ) {
        let limit = RateLimit::Window(WindowLimit {
            attempts,
            per: SimDuration::from_nanos(per),
            window: WindowKind::Sliding,
            count_refused: false,
        });
        let (mut state, mut now, mut times) = (limit.fresh(), 0, Vec::new());
        for gap in gaps {
            now += gap;
            let admitted = limit.admit(&mut state, SimTime::from_nanos(now));
            let inside = times.iter().filter(|at| **at + per > now).count() as u32;
            prop_assert!(!admitted || inside < attempts);
            // Up to 4094 attempts the window is exact.
            prop_assert!(admitted || inside == attempts || attempts > 4_094);
            if admitted {
                times.push(now);
            }
        }
    }
}
