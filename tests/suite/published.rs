//! A published model of retries, token buckets and a breaker for retries, with the figures of its one run. Marc Brooker,
//! "Fixing retries with token buckets and circuit breakers", 2022.

use crate::support::{Sample, results};

/// Runs of each setting here.
const RUNS: usize = 20;
const BUCKET: &str = "budget.token_bucket = { capacity = 5, per_request = 0.1, above = 1 }";
const BREAKER: &str = "budget.failure_share = { above = \"10%\" }";

/// Success and attempts per request of `clients` that make `rate` calls a second in all for so many seconds, each
/// failing with probability `p`.
fn run(clients: u32, rate: u32, seconds: u32, p: f64, budget: &str) -> (Sample, Sample) {
    let result = results(&format!(
        "[run]\nduration = \"{seconds}s\"\ndrain = \"1s\"\nreplications = {RUNS}\nseed = 5\n\
         [clients]\ncount = {clients}\narrivals.poisson = {{ rate = \"{rate}/s\" }}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0ms\"\n\
         failures = [{{ code = 503, probability = {p} }}]\n\
         network.request.exponential = {{ mean = \"10ms\" }}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 4\n{budget}\n",
    ));
    let rows = || result.strategies[0].each.iter().map(|run| &run.row);
    let success = Sample::of(rows().map(|row| row.success_rate.unwrap()));
    (
        success,
        Sample::of(rows().map(|row| row.amplification.unwrap())),
    )
}

/// The published figure is of one run, so it scatters like one of ours; its digits are rounded.
fn agrees(what: &str, ours: &Sample, published: f64, half_a_digit: f64) {
    let of_both = (ours.sd().powi(2) * (1.0 + 1.0 / RUNS as f64)).sqrt();
    assert!(ours.error() < 3e-3, "{what}: {ours:?} is too vague");
    let away = (ours.mean - published).abs();
    assert!(
        away <= 4.0 * of_both + half_a_digit,
        "{what}: {} ± {} against {published}",
        ours.mean,
        ours.error()
    );
}

fn check(what: &str, (success, attempts): (Sample, Sample), published: (f64, f64)) {
    agrees(
        &format!("success {what}"),
        &success,
        published.0 / 100.0,
        5e-5,
    );
    agrees(&format!("attempts {what}"), &attempts, published.1, 5e-4);
}

#[test]
fn a_bucket_and_a_breaker_for_retries_do_what_was_published() {
    for (p, bucket, breaker) in [
        (0.01, (100.0, 1.010), (99.97, 1.010)),
        (0.05, (99.98, 1.051), (99.56, 1.047)),
        (0.1, (98.71, 1.095), (93.38, 1.036)),
        (0.2, (88.88, 1.111), (80.0, 1.001)),
        (0.5, (55.64, 1.114), (49.83, 1.0)),
        (0.75, (28.17, 1.114), (25.09, 1.0)),
    ] {
        check(
            &format!("of buckets, p = {p}"),
            run(100, 1_000, 30, p, BUCKET),
            bucket,
        );
        check(
            &format!("of breakers, p = {p}"),
            run(100, 1_000, 30, p, BREAKER),
            breaker,
        );
    }
}

/// Every client begins with a full bucket: the more clients, the nearer to retries without a budget, 1.417 attempts at
/// 99.19 %.
#[test]
fn buckets_tend_to_plain_retries_as_clients_multiply() {
    let mut before = 1.0;
    for (clients, published) in [
        (10, (76.7, 1.107)),
        (100, (81.4, 1.163)),
        (1_000, (96.7, 1.386)),
    ] {
        let (success, attempts) = run(clients, 100, 60, 0.3, BUCKET);
        let what = format!("with {clients} clients");
        agrees(
            &format!("success {what}"),
            &success,
            published.0 / 100.0,
            5e-4,
        );
        agrees(&format!("attempts {what}"), &attempts, published.1, 5e-4);
        assert!(attempts.mean > before && attempts.mean < 1.417);
        before = attempts.mean;
    }
}
