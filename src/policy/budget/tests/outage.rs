//! What is left of retries in a total outage: every attempt fails at once and retries do not wait.
//!
//! The numbers are those of closed formulas for requests that come at equal distances: 1 + min(k - 1, r / λ) attempts
//! per request for r allowed retries a second, and what a full budget pays for once.

use super::*;

/// What the clients of an outage did.
struct Outage {
    /// Retries of the whole time.
    retries: u64,
    /// Attempts per request in the second half of the time.
    attempts: f64,
}

/// `rate` requests a second for `seconds`, each with at most `most` attempts.
fn outage(value: &str, rate: f64, most: u32, seconds: u32) -> Outage {
    let budget = budget(value);
    let mut state = budget.fresh();
    let requests = (rate * f64::from(seconds)) as u64;
    let (mut before, mut retries) = (0, 0);
    for request in 0..requests {
        if request == requests / 2 {
            before = retries;
        }
        let now = SimTime::ZERO + SimDuration::from_secs_f64(request as f64 / rate);
        retries += u64::from(failed_request(&budget, &mut state, now, most));
    }
    let half = requests - requests / 2;
    Outage {
        retries,
        attempts: 1.0 + (retries - before) as f64 / half as f64,
    }
}

/// Retries of one request whose attempts all fail at once.
fn failed_request(budget: &RetryBudget, state: &mut BudgetState, now: SimTime, most: u32) -> u32 {
    let (mut retries, mut last) = (0, None);
    budget.began(state, now);
    loop {
        let retry = retries > 0;
        budget.sent(state, now, retry);
        budget.note(
            state,
            &Seen {
                now,
                took: SimDuration::ZERO,
                kind: Kind::Transient,
                retryable: true,
                retry,
            },
        );
        let granted = (retries + 1 < most).then(|| budget.ask(state, now, Kind::Transient));
        match granted.flatten() {
            None => break,
            charge => last = charge,
        }
        retries += 1;
    }
    budget.ended(state, now, false, last);
    retries
}

const LOADS: [(f64, u32); 12] = [
    (0.5, 3),
    (0.5, 5),
    (2.0, 3),
    (2.0, 5),
    (10.0, 3),
    (10.0, 5),
    (50.0, 3),
    (50.0, 5),
    (100.0, 3),
    (100.0, 5),
    (1000.0, 3),
    (1000.0, 5),
];

/// Whole minutes, and many requests even at the lowest rate.
fn seconds(rate: f64) -> u32 {
    if rate < 50.0 { 12_000 } else { 240 }
}

/// Compares the attempts per request with these, in the order of `LOADS`.
fn check(value: &str, expected: [f64; 12], tolerance: f64) {
    for ((rate, most), expected) in LOADS.into_iter().zip(expected) {
        let attempts = outage(value, rate, most, seconds(rate)).attempts;
        let off = (attempts - expected).abs();
        assert!(
            off < tolerance,
            "{value} {rate}/s k={most}: {attempts} for {expected}"
        );
    }
}

#[test]
fn a_quota_pays_for_a_hundred_retries_and_then_for_none() {
    for (rate, most) in LOADS {
        let outage = outage(r#""quota""#, rate, most, seconds(rate));
        assert_eq!(
            (outage.retries, outage.attempts),
            (100, 1.0),
            "{rate} {most}"
        );
    }
}

#[test]
fn failure_tokens_allow_three_or_four_retries_and_then_none() {
    for (rate, most) in LOADS {
        let outage = outage(r#""failure_tokens""#, rate, most, seconds(rate));
        let expected = if most == 3 { 3 } else { 4 };
        assert_eq!(
            (outage.retries, outage.attempts),
            (expected, 1.0),
            "{rate} {most}"
        );
    }
}

#[test]
fn sixty_retries_a_minute_are_made_in_every_minute() {
    check(
        r#"{ count = { retries = 60, per = "60s" } }"#,
        [
            3.0, 3.0, 1.5, 1.5, 1.1, 1.1, 1.02, 1.02, 1.01, 1.01, 1.001, 1.001,
        ],
        1e-9,
    );
}

#[test]
fn a_tenth_of_first_attempts_and_a_tenth_of_all_are_two_things() {
    check(r#"{ share.ratio = "10%" }"#, [1.1; 12], 0.001);
    check(
        r#"{ share = { ratio = "10%", of = "all_attempts" } }"#,
        [1.0 / 0.9; 12],
        0.001,
    );
    check(
        r#"{ share = { ratio = "10%", window = "100s" } }"#,
        [1.1; 12],
        0.002,
    );
}

#[test]
fn tokens_by_rate_allow_that_rate_of_retries() {
    check(
        r#"{ token_bucket = { capacity = 20, refill = "5/s" } }"#,
        [
            3.0, 5.0, 3.0, 3.5, 1.5, 1.5, 1.1, 1.1, 1.05, 1.05, 1.005, 1.005,
        ],
        0.001,
    );
}

#[test]
fn a_share_of_a_window_and_its_reserve_are_reached_and_not_passed() {
    let reserve =
        r#"{ window_ratio = { ratio = "20%", min_per_second = "10/s", window = "10s" } }"#;
    let none = r#"{ window_ratio = { ratio = "20%", min_per_second = "0/s", window = "10s" } }"#;
    for (rate, most) in LOADS {
        let spare = f64::from(most - 1);
        for (value, allowed) in [(reserve, 0.2 + 10.0 / rate), (none, 0.2)] {
            let attempts = outage(value, rate, most, seconds(rate)).attempts;
            let bound = 1.0 + spare.min(allowed);
            // Events of one 4096th of the window are forgotten together, with the first of them.
            let reached = attempts < bound * 1.0002 && attempts > 0.95 * bound;
            assert!(reached, "{value} {rate}/s k={most}: {attempts} for {bound}");
        }
    }
}
