//! Success and attempts of requests whose attempts fail independently, against 1 − pᵏ and the truncated
//! geometric law.

use crate::support::{Row, Sample, agrees, exactly, number, rows, total};
use retrystorm::metrics::Tally;
use statrs::distribution::{Binomial, DiscreteCDF};
use std::collections::BTreeMap;

/// Requests of a row: enough for 1 % of every figure.
fn requests(row: &Row) -> u64 {
    if number(row, "p_fail") <= 0.05 {
        1_200_000
    } else {
        200_000
    }
}

/// Two-sided probability of four standard errors.
const FOUR_SIGMA: f64 = 6.3e-5;

/// A whole run of independent requests; `backoff` makes no difference.
fn run(row: &Row, backoff: &str) -> Tally {
    total(&format!(
        "[run]\nduration = \"1s\"\ndrain = \"1h\"\nreplications = 1\nseed = 2\n\
         [clients]\ncount = {}\narrivals.burst = {{ at = \"0s\", spread = \"1s\" }}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
         failures = [{{ code = 503, probability = {:?} }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = {}\n{backoff}\n",
        requests(row),
        number(row, "p_fail"),
        row["attempts_k"],
    ))
}

/// Asserts that a count of `n` requests is as likely as `p` makes it: within four standard errors, or, where few
/// are expected, not in the tails of the binomial law.
fn count_agrees(what: &str, count: u64, requests: u64, p: f64) {
    let n = requests as f64;
    if p <= 0.0 || p >= 1.0 {
        assert_eq!(count as f64, n * p, "{what}");
    } else if n * p.min(1.0 - p) < 20.0 {
        let law = Binomial::new(p, requests).unwrap();
        let below = law.cdf(count);
        let above = count.checked_sub(1).map_or(1.0, |less| law.sf(less));
        assert!(
            2.0 * below.min(above) > FOUR_SIGMA,
            "{what}: {count} instead of {:.3}",
            n * p
        );
    } else {
        let z = (count as f64 - n * p) / (n * p * (1.0 - p)).sqrt();
        assert!(
            z.abs() < 4.0,
            "{what}: {count} instead of {:.1}, z = {z:.2}",
            n * p
        );
    }
}

/// Requests by attempts used, from 1.
fn used(tally: &Tally) -> Vec<u64> {
    let most = tally
        .succeeded_with
        .len()
        .max(tally.failed_with.len().saturating_sub(1));
    let at = |list: &[u64], i: usize| list.get(i).copied().unwrap_or(0);
    (0..most)
        .map(|i| at(&tally.succeeded_with, i) + at(&tally.failed_with, i + 1))
        .collect()
}

/// The sample that counts stand for, with the standard error of its standard deviation.
fn sample(counts: &[u64]) -> (Sample, f64) {
    let values = || {
        counts
            .iter()
            .enumerate()
            .flat_map(|(i, &n)| (0..n).map(move |_| i as f64 + 1.0))
    };
    let sample = Sample::of(values());
    let error = sample.sd_error(values());
    (sample, error)
}

#[test]
fn every_row_of_success_and_attempts_is_reproduced() {
    let rows = rows("02_retry_success.csv");
    for (row, backoff) in rows.iter().zip(
        [
            "",
            "backoff.fixed.delay = \"10ms\"",
            "backoff.memoryless.mean = \"1s\"",
        ]
        .iter()
        .cycle(),
    ) {
        let tally = run(row, backoff);
        let n = requests(row);
        let case = &row["case_id"];
        assert_eq!((tally.requests, tally.unfinished), (n, 0));
        count_agrees(
            &format!("{case} success"),
            tally.succeeded,
            n,
            number(row, "p_success"),
        );
        count_agrees(
            &format!("{case} exhausted"),
            tally.failed_total(),
            n,
            number(row, "p_exhausted"),
        );
        let k: usize = row["attempts_k"].parse().unwrap();
        let counts = used(&tally);
        let last = counts.get(k - 1).copied().unwrap_or(0);
        count_agrees(
            &format!("{case} all attempts"),
            last,
            n,
            number(row, "p_used_all_k_attempts"),
        );
        let (attempts, sd_error) = sample(&counts);
        agrees(
            &format!("{case} attempts"),
            attempts.mean,
            attempts.error(),
            exactly(number(row, "mean_attempts")),
        );
        assert_eq!(
            tally.amplification(),
            Some(tally.attempts as f64 / n as f64)
        );
        assert!((attempts.mean - tally.attempts as f64 / n as f64).abs() < 1e-9);
        agrees(
            &format!("{case} retries"),
            attempts.mean - 1.0,
            attempts.error(),
            exactly(number(row, "mean_retries")),
        );
        agrees(
            &format!("{case} sd"),
            attempts.sd(),
            sd_error,
            exactly(number(row, "sd_attempts")),
        );
        if let Ok(mean) = row["mean_attempts_given_success"].parse() {
            let (succeeded, _) = sample(&tally.succeeded_with);
            agrees(
                &format!("{case} attempts of successes"),
                succeeded.mean,
                succeeded.error(),
                exactly(mean),
            );
        }
        assert!(counts.len() <= k && number(row, "max_retries") == k as f64 - 1.0);
    }
    println!("02_retry_success.csv: {} of {} rows", rows.len(), 16);
    assert_eq!(rows.len(), 16);
}

#[test]
fn every_row_of_the_law_of_attempts_is_reproduced() {
    let rows = rows("02_attempt_distribution.csv");
    let mut runs: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    for row in &rows {
        let case = &row["case_id"];
        let counts = runs
            .entry(case.clone())
            .or_insert_with(|| used(&run(row, "backoff = \"immediate\"")));
        let n = requests(row);
        let j: usize = row["attempts_used"].parse().unwrap();
        let tail = |from: usize| counts.iter().skip(from).sum::<u64>();
        count_agrees(
            &format!("{case} {j}"),
            tail(j - 1) - tail(j),
            n,
            number(row, "probability"),
        );
        count_agrees(
            &format!("{case} at least {j}"),
            tail(j - 1),
            n,
            number(row, "p_at_least"),
        );
    }
    println!("02_attempt_distribution.csv: {} of 93 rows", rows.len());
    assert_eq!(rows.len(), 93);
}
