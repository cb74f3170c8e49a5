//! L = λ·W holds on every path that drains, exactly: both sides are sums of the same nanoseconds.

use crate::support::{records, total};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::outcome::AttemptOutcome;

fn text(drain: &str, queue: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"200s\"\ndrain = \"{drain}\"\nreplications = 1\n\
         [[clients]]\nname = \"a\"\ncount = 100\narrivals.poisson = {{ rate = \"30/s\" }}\n\
         [[clients]]\nname = \"b\"\ncount = 10\narrivals.closed_loop = {{ think.exponential = {{ mean = \"500ms\" }} }}\n\
         [service.api]\nworkers = 3\n{queue}\nservice_time.exponential = {{ mean = \"60ms\" }}\n\
         failures = [{{ code = 503, probability = \"10%\" }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 4\nbackoff.exponential = {{ base = \"100ms\", jitter = \"full\" }}\n{strategy}\n"
    )
}

fn inside(tally: &Tally) -> u128 {
    (tally.timeline.area(Gauge::Queue) + tally.timeline.area(Gauge::Busy)) as u128
}

#[test]
fn the_mean_number_inside_is_the_rate_times_the_mean_stay() {
    for queue in [
        "",
        "queue = { capacity = 4 }",
        "queue = { discipline = \"lifo\" }",
        "queue = { discipline = \"random\", capacity = 9 }",
    ] {
        // Also when clients give up: the service does not notice, and works off a storm after their end.
        for strategy in ["", "attempt_timeout = \"80ms\""] {
            let tally = total(&text("3000s", queue, strategy));
            assert!(tally.served > 6_000 && tally.unfinished == 0);
            assert_eq!(inside(&tally), tally.sojourns.sum, "{queue}");
            assert_eq!(
                tally.timeline.area(Gauge::Queue) as u128,
                tally.waits.sum,
                "{queue}"
            );
            assert_eq!(tally.timeline.area(Gauge::Busy) as u128, tally.work_ns);
            assert_eq!(tally.waits.count, tally.sojourns.count);
            let accepted = tally.attempts - tally.outcomes[AttemptOutcome::QueueFull as usize];
            assert_eq!(accepted, tally.served);
            // The same in rates: L over 3,200 s, λ accepted a second, W from arrival to the end of service.
            let (l, lambda) = (inside(&tally) as f64 / 3200e9, accepted as f64 / 3200.0);
            assert!((l / (lambda * tally.sojourns.mean_s()) - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_stay_is_what_callers_see() {
    let (tally, records) = records(&text("60s", "", ""), 0);
    let seen: u128 = records
        .iter()
        .map(|r| u128::from((r.ended_at - r.sent_at).as_nanos()))
        .sum();
    assert_eq!(inside(&tally), seen);
}

#[test]
fn at_the_edge_of_a_run_only_what_is_inside_is_missing() {
    let tally = total(&text("0s", "", ""));
    let left = (tally.timeline.level(Gauge::Queue) + tally.timeline.level(Gauge::Busy)) as u128;
    let missing = inside(&tally) - tally.sojourns.sum;
    let longest = tally.latency.max_ms().unwrap() * 1e6;
    assert!(
        missing as f64 <= longest * left.max(1) as f64,
        "{missing} {left}"
    );
    let error = missing as f64 / tally.sojourns.sum as f64;
    assert!(error < 0.01, "{error}");
}
