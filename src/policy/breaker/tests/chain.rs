//! Long runs against a formula.

use super::*;
use crate::rng::{Draws, Key, Purpose};

/// The share of Poisson arrivals that is let in, and openings a second, with attempts that take no time.
fn simulate(breaker: &CircuitBreaker, rate: f64, failing: f64, replication: u64) -> [f64; 2] {
    const WARM_UP: u32 = 10_000;
    const ARRIVALS: u32 = 200_000;
    let key = Key::root(5, replication);
    let mut gaps: Draws = key.draws(Purpose::Arrival);
    let mut failures: Draws = key.draws(Purpose::Failure);
    let mut state = breaker.fresh();
    let (mut now, mut start) = (SimTime::ZERO, SimTime::ZERO);
    let (mut sent, mut openings) = (0, 0);
    for arrival in 0..WARM_UP + ARRIVALS {
        now += SimDuration::from_secs_f64(-(1.0 - gaps.unit()).ln() / rate);
        if arrival == WARM_UP {
            (start, sent, openings) = (now, 0, 0);
        }
        if let Some(pass) = breaker.admit(&mut state, now, || 0.5) {
            sent += 1;
            let failed = failures.unit() < failing;
            breaker.note(&mut state, pass, now, SimDuration::ZERO, failed);
            openings += u32::from(breaker.phase(&state, now) == Phase::Open);
        }
    }
    [
        f64::from(sent) / f64::from(ARRIVALS),
        f64::from(openings) / (now - start).as_secs_f64(),
    ]
}

#[test]
fn a_row_of_failures_agrees_with_its_markov_chain() {
    // From closed it takes E = (1 − pⁿ) / (pⁿ (1 − p)) attempts to open. An opening costs λ·T arrivals, then comes a probe
    // that closes with probability 1 − p: 1 + (1 − p) E attempts are sent for each opening.
    for (rate, failing, row, open) in [
        (10.0, 0.3, 3, 2.0),
        (10.0, 0.5, 5, 5.0),
        (20.0, 0.2, 3, 1.0),
    ] {
        let power = f64::powi(failing, row);
        let to_open = (1.0 - power) / (power * (1.0 - failing));
        let sent = 1.0 + (1.0 - failing) * to_open;
        let cycle = sent + rate * open;
        let theory = [sent / cycle, rate / cycle];
        let breaker = CircuitBreaker::Consecutive(Consecutive {
            failures: row as u32,
            common: BreakerCommon::new(SimDuration::from_secs_f64(open)),
        });
        const RUNS: u64 = 20;
        let runs: Vec<[f64; 2]> = (0..RUNS)
            .map(|run| simulate(&breaker, rate, failing, run))
            .collect();
        for (figure, theory) in theory.into_iter().enumerate() {
            let n = RUNS as f64;
            let mean = runs.iter().map(|run| run[figure]).sum::<f64>() / n;
            let square = |run: &[f64; 2]| (run[figure] - mean).powi(2);
            let error = (runs.iter().map(square).sum::<f64>() / (n - 1.0) / n).sqrt();
            assert!(
                (mean - theory).abs() < 4.0 * error && error < 0.01 * theory,
                "{rate} {failing} {figure}: {mean} ± {error}, in theory {theory}"
            );
        }
    }
}
