//! Shares of recent results, and of probes.

use super::*;

/// How many attempts and calls it takes until the breaker opens when nothing works and a call makes three attempts.
fn attempts_and_calls_to_open(breaker: CircuitBreaker) -> (u32, u32) {
    let mut bench = Bench::new(breaker);
    let around = bench.breaker.common().around;
    let (mut attempts, mut calls) = (0, 0);
    while bench.phase(0) == Phase::Closed {
        calls += 1;
        match around {
            Around::Attempt => attempts += bench.failing(0, 3),
            Around::Call => attempts += 3 * bench.failing(0, 1),
        }
    }
    (attempts, calls)
}

#[test]
fn inside_the_retry_loop_every_attempt_counts_and_around_it_every_call() {
    assert_eq!(attempts_and_calls_to_open(consecutive(10, "")), (10, 4));
    let outside = consecutive(10, r#", around = "call""#);
    assert_eq!(attempts_and_calls_to_open(outside), (30, 10));
    let rate = |around: &str| {
        breaker(&format!(
            r#"{{ failure_rate = {{ window = {{ count = {{ calls = 10 }} }}, rate = "50%", open_for = "30s", around = "{around}" }} }}"#
        ))
    };
    assert_eq!(attempts_and_calls_to_open(rate("attempt")), (10, 4));
    assert_eq!(attempts_and_calls_to_open(rate("call")), (30, 10));
}

#[test]
fn probes_judged_together_are_so_many_and_no_more() {
    let mut bench = Bench::new(breaker(
        r#"{ failure_rate = { window = { count = { calls = 10 } }, rate = "50%", open_for = "10s", half_open = { probes = { limit = 4, judge = "share" } } } }"#,
    ));
    for (round, (bad, phase)) in [(2, Phase::Open), (1, Phase::Closed)]
        .into_iter()
        .enumerate()
    {
        let start = 10_000 * (round as u64 + 1);
        if round == 0 {
            assert_eq!(bench.failing(0, 20), 10);
        }
        let passes: Vec<Pass> = (0..20).filter_map(|_| bench.admit(start)).collect();
        assert_eq!(passes.len(), 4);
        for (place, pass) in passes.iter().enumerate() {
            assert_eq!(bench.phase(start), Phase::HalfOpen);
            bench.end(*pass, start, place < bad);
            assert_eq!(bench.admit(start).is_some(), place == 3 && bad == 1);
        }
        assert_eq!(bench.phase(start), phase, "{bad} of 4");
    }
}

#[test]
fn a_share_is_reached_exactly() {
    for (percent, failures) in [(7, 7), (29, 29), (57, 57), (100, 100)] {
        let mut bench = Bench::new(breaker(&format!(
            r#"{{ failure_rate = {{ window = {{ count = {{ calls = 100 }} }}, rate = "{percent}%", open_for = "10s" }} }}"#
        )));
        (0..100 - failures).for_each(|_| assert!(bench.attempt(0, false)));
        assert_eq!(bench.failing(0, 200), failures, "{percent} %");
        assert_eq!(bench.phase(0), Phase::Open);
    }
}

#[test]
fn a_window_of_time_forgets_and_is_not_judged_before_it_holds_enough() {
    let mut bench = Bench::new(breaker(
        r#"{ failure_rate = { window = { time = { length = "10s" } }, rate = "50%", min_calls = 4, open_for = "5s" } }"#,
    ));
    assert_eq!(bench.failing(0, 3), 3);
    assert_eq!(bench.failing(10_000, 3), 3, "the first three are forgotten");
    assert_eq!(bench.phase(10_000), Phase::Closed);
    // Three failures of four: a success opens it too.
    assert!(bench.attempt(19_999, false));
    assert_eq!(bench.phase(19_999), Phase::Open);
}

#[test]
fn slow_results_open_and_a_slow_probe_opens_again() {
    let mut bench = Bench::new(breaker(
        r#"{ failure_rate = { window = { count = { calls = 10 } }, rate = 1.0, slow = { after = "2s", rate = "80%" }, open_for = "10s" } }"#,
    ));
    let mut attempt = |ms, took| {
        let pass = bench.admit(ms).unwrap();
        let took = SimDuration::from_millis(took);
        bench
            .breaker
            .note(&mut bench.state, pass, at(ms), took, false);
        bench.phase(ms)
    };
    for took in [
        2_000, 2_000, 2_001, 2_001, 2_001, 2_001, 2_001, 2_001, 2_001,
    ] {
        assert_eq!(attempt(0, took), Phase::Closed);
    }
    assert_eq!(attempt(0, 2_001), Phase::Open, "eight of ten are slow");
    assert_eq!(attempt(10_000, 2_001), Phase::Open);
    assert_eq!(attempt(20_000, 2_000), Phase::Closed);
}
