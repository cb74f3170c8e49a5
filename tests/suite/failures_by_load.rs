//! Failures that grow with the load: the mixture that attempts meet is the one that their load calls for.

use crate::support::{Sample, agrees, exactly, results, total};
use retrystorm::outcome::AttemptOutcome;

/// All requests start together and take the same time, one after the other: the load when one is done is known.
fn wave(failures: &str) -> String {
    format!(
        "[run]\nduration = \"1s\"\nwarmup = \"0s\"\nreplications = 1\n\
         [clients]\ncount = 100\narrivals.burst = {{}}\n\
         [service.api]\nworkers = 10\nservice_time = \"10ms\"\n{failures}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n"
    )
}

/// With ten workers a hundred attempts are ten rounds: the load is 10 as the first is done, and 1 as the last is.
#[test]
fn attempts_fail_while_many_are_inside_and_not_when_few_are_left() {
    for (to, failed) in [
        ("0", 100),
        ("1", 91),
        ("1.05", 90),
        ("5", 51),
        ("10", 1),
        ("10.1", 0),
    ] {
        let step = format!(
            "failures_under_load = {{ from = {to}, to = {to}, failures = [{{ code = 503, probability = 1.0 }}] }}"
        );
        let tally = total(&wave(&step));
        assert_eq!(
            tally.outcomes[AttemptOutcome::Error as usize],
            failed,
            "{to}"
        );
    }
}

/// What fails on arrival counts itself, and takes no place: the others fill the workers and the queue.
#[test]
fn attempts_that_fail_on_arrival_meet_the_load_that_they_add_to() {
    let step = "failures_take_time = false\n\
                failures_under_load = { from = 2, to = 2, failures = [{ code = 503, probability = 1.0 }] }";
    let tally = total(&wave(step));
    assert_eq!(tally.outcomes[AttemptOutcome::Error as usize], 81);
}

/// M/M/1 at 80 %: a job that leaves finds n others with probability (1 − ρ)ρⁿ (Burke). Failing with n + 1 inside by
/// min(1, n/4), it fails with probability ρ(1 − ρ⁴)/(4(1 − ρ)) = 0.59040.
#[test]
fn a_queue_fails_as_often_as_its_length_says() {
    let result = results(
        "[run]\nduration = \"2000s\"\nwarmup = \"100s\"\nreplications = 20\nseed = 3\n\
         [clients]\ncount = 1000\narrivals.poisson.rate = \"80/s\"\n\
         [service.api]\nworkers = 1\nservice_time.exponential.mean = \"10ms\"\n\
         failures_under_load = { from = 1, to = 5, failures = [{ code = 503, probability = 1.0 }] }\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
    );
    let rho: f64 = 0.8;
    let theory = rho * (1.0 - rho.powi(4)) / (4.0 * (1.0 - rho));
    let rates = result.strategies[0].each.iter();
    let failed = Sample::of(rates.map(|one| 1.0 - one.row.success_rate.unwrap()));
    println!("{} ± {}, theory {theory}", failed.mean, failed.error());
    agrees(
        "failures by load",
        failed.mean,
        failed.error(),
        exactly(theory),
    );
}
