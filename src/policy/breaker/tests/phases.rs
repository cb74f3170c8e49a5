//! From phase to phase, with failures in a row.

use super::*;

#[test]
fn the_last_failure_of_a_row_opens_and_a_success_breaks_the_row() {
    let mut bench = Bench::new(consecutive(3, ""));
    for failed in [true, true, false, true, true] {
        assert!(bench.attempt(0, failed));
    }
    assert_eq!(bench.phase(0), Phase::Closed);
    assert!(bench.attempt(0, true));
    assert_eq!(bench.phase(0), Phase::Open);
    assert!(!bench.attempt(9_999, false));
    assert_eq!(bench.phase(9_999), Phase::Open);
    // Exactly at the end of the cooldown one may pass.
    assert_eq!(bench.phase(10_000), Phase::HalfOpen);
    let probe = bench.admit(10_000).unwrap();
    assert!(probe.is_probe());
    assert_eq!(bench.admit(15_000), None, "one probe at a time");
    bench.end(probe, 15_000, false);
    assert_eq!(bench.phase(15_000), Phase::Closed);
    assert_eq!(bench.failing(15_000, 9), 3, "the row starts anew");
}

/// How many probes of a service that only hangs are on their way before the first runs into its timeout of 30 s, at
/// 100 calls a second.
fn probes_of_a_hanging_service(limit: &str) -> usize {
    let half_open = format!(r#", half_open = {{ probes = {{ limit = {limit} }} }}"#);
    let mut bench = Bench::new(consecutive(1, &half_open));
    bench.failing(0, 1);
    let passes: Vec<Pass> = (0..3_000)
        .filter_map(|call| bench.admit(10_000 + 10 * call))
        .collect();
    bench.end(passes[0], 40_000, true);
    assert_eq!(bench.phase(49_999), Phase::Open, "opened by the first");
    for (place, pass) in passes.iter().enumerate().skip(1) {
        bench.end(*pass, 40_000 + 10 * place as u64, true);
    }
    assert_eq!(bench.phase(70_000), Phase::HalfOpen, "and by no other");
    passes.len()
}

#[test]
fn without_a_limit_three_thousand_probes_hang_and_with_three_three() {
    assert_eq!(probes_of_a_hanging_service("\"unlimited\""), 3_000);
    assert_eq!(probes_of_a_hanging_service("3"), 3);
}

#[test]
fn without_probes_everybody_passes_after_the_cooldown_until_the_row_is_full_again() {
    let mut bench = Bench::new(consecutive(5, r#", half_open = "everybody""#));
    assert_eq!(bench.failing(0, 9), 5);
    assert_eq!(bench.failing(9_999, 9), 0);
    assert_eq!(bench.phase(10_000), Phase::Closed);
    assert_eq!(bench.failing(10_000, 9), 5);
    assert_eq!(bench.phase(19_999), Phase::Open);
    assert_eq!(bench.phase(20_000), Phase::Closed);
}

#[test]
fn a_stale_success_neither_closes_a_breaker_nor_breaks_a_row() {
    let half_open = r#", half_open = { probes = { limit = 2 } }"#;
    let mut bench = Bench::new(consecutive(2, half_open));
    let early = bench.admit(0).unwrap();
    bench.failing(0, 2);
    let slow = bench.admit(10_000).unwrap();
    let quick = bench.admit(10_000).unwrap();
    bench.end(early, 10_001, false);
    assert_eq!(bench.phase(10_001), Phase::HalfOpen, "early is no probe");
    bench.end(quick, 10_002, true);
    bench.end(slow, 10_003, false);
    assert_eq!(bench.phase(10_003), Phase::Open);
    // In the next half-open time it is still stale; one success closes, and then the row is not broken by it.
    let next = bench.admit(20_002).unwrap();
    bench.end(slow, 20_002, false);
    assert_eq!(bench.phase(20_002), Phase::HalfOpen);
    bench.end(next, 20_002, false);
    assert!(bench.attempt(20_003, true));
    bench.end(slow, 20_003, false);
    assert!(bench.attempt(20_003, true));
    assert_eq!(bench.phase(20_003), Phase::Open);
}

#[test]
fn several_good_probes_close_and_one_bad_one_opens() {
    let half_open = r#", half_open = { probes = { limit = 2, successes = 3 } }"#;
    let mut bench = Bench::new(consecutive(1, half_open));
    bench.failing(0, 1);
    for ms in [10_000, 10_001] {
        assert!(bench.attempt(ms, false));
        assert_eq!(bench.phase(ms), Phase::HalfOpen);
    }
    assert!(bench.attempt(10_002, true));
    assert_eq!(bench.phase(20_001), Phase::Open);
    for ms in [20_002, 20_003, 20_004] {
        assert_eq!(bench.phase(ms), Phase::HalfOpen);
        assert!(bench.attempt(ms, false));
    }
    assert_eq!(bench.phase(20_004), Phase::Closed);
}

#[test]
fn a_ramp_lets_through_a_share_that_grows_with_time() {
    let mut bench = Bench::new(consecutive(1, r#", ramp = "10s""#));
    let share = |bench: &mut Bench, ms| {
        let mut passed = 0;
        for luck in 0..1_000 {
            let luck = f64::from(luck) / 1_000.0;
            if let Some(pass) = bench.breaker.admit(&mut bench.state, at(ms), || luck) {
                passed += 1;
                bench.end(pass, ms, false);
            }
        }
        passed
    };
    assert_eq!(share(&mut bench, 0), 1_000, "none before it ever opened");
    bench.failing(0, 1);
    assert!(bench.attempt(10_000, false), "the probe");
    for (ms, passed) in [
        (10_000, 0),
        (12_500, 250),
        (15_000, 500),
        (19_900, 990),
        (20_000, 1_000),
    ] {
        assert_eq!(share(&mut bench, ms), passed, "{ms}");
    }
    // What passes counts.
    bench.failing(30_000, 1);
    assert!(bench.attempt(40_000, false), "the probe");
    assert_eq!(bench.failing(48_000, 9), 1);
    assert_eq!(bench.phase(48_000), Phase::Open);
}

#[test]
fn a_ramp_without_probes_starts_when_the_cooldown_ends() {
    let mut bench = Bench::new(consecutive(1, r#", ramp = "10s", half_open = "everybody""#));
    bench.failing(0, 1);
    // Luck is one half.
    assert!(!bench.attempt(15_000, false));
    assert!(bench.attempt(15_001, false));
}

#[test]
fn a_hung_probe_blocks_for_ever_or_opens_again_when_it_times_out() {
    let mut bench = Bench::new(consecutive(1, ""));
    bench.failing(0, 1);
    assert!(bench.admit(10_000).is_some());
    assert!(bench.admit(1_000_000_000).is_none());

    let half_open = r#", half_open = { probes = { limit = 2, successes = 9, timeout = "3s" } }"#;
    let mut bench = Bench::new(consecutive(1, half_open));
    bench.failing(0, 1);
    assert!(bench.attempt(10_000, false));
    let hung = bench.admit(11_000).unwrap();
    assert!(bench.attempt(12_000, false));
    assert!(bench.attempt(13_999, false));
    assert_eq!(bench.phase(13_999), Phase::HalfOpen);
    // It has failed at 14 s, whenever somebody looks.
    assert_eq!(bench.phase(14_000), Phase::Open);
    assert_eq!(bench.phase(23_999), Phase::Open);
    assert_eq!(bench.phase(24_000), Phase::HalfOpen);
    let mut late = bench.state.clone();
    assert_eq!(bench.admit(14_000), None);
    bench.end(hung, 14_001, false);
    assert_eq!(bench.phase(23_999), Phase::Open);
    assert!(bench.breaker.admit(&mut late, at(24_000), || 0.5).is_some());
    assert_eq!(
        bench.breaker.phase(&late, at(27_000)),
        Phase::Open,
        "that one hangs too"
    );
}

#[test]
fn openings_grow_until_it_closes() {
    let mut bench = Bench::new(consecutive(1, r#", open_factor = 2, open_longest = "25s""#));
    let mut now = 0;
    for round in 0..2 {
        for seconds in [10, 20, 25, 25] {
            assert!(bench.attempt(now, true), "{round}");
            now += seconds * 1_000;
            assert_eq!(bench.phase(now - 1), Phase::Open, "{seconds} s");
            assert_eq!(bench.phase(now), Phase::HalfOpen, "{seconds} s");
        }
        assert!(bench.attempt(now, false));
        assert_eq!(bench.phase(now), Phase::Closed);
    }
}

#[test]
fn the_end_of_time_is_no_trouble() {
    let mut bench = Bench::new(consecutive(
        1,
        r#", open_factor = 1e300, ramp = "366d", half_open = { probes = { timeout = "366d" } }"#,
    ));
    for _ in 0..5 {
        for now in [SimTime::from_nanos(u64::MAX - 1), SimTime::MAX] {
            for failed in [true, true, false] {
                if let Some(pass) = bench.breaker.admit(&mut bench.state, now, || 0.0) {
                    let took = SimDuration::MAX;
                    bench
                        .breaker
                        .note(&mut bench.state, pass, now, took, failed);
                }
                bench.breaker.phase(&bench.state, now);
            }
        }
    }
}
