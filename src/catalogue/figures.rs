//! The figures of a strategy, in words.

use super::Entry;
use crate::metrics::METRICS;

/// What each figure means.
const MEANINGS: &[(&str, &str)] = &[
    ("requests", "Requests that arrived."),
    ("succeeded", "Requests that succeeded."),
    ("failed", "Requests that failed."),
    (
        "dead_lettered",
        "Requests that are dead letters at the end.",
    ),
    ("redriven", "Dead letters that came back to be tried again."),
    (
        "unfinished",
        "Requests that had not ended when the run did.",
    ),
    (
        "success_rate",
        "Succeeded ÷ (succeeded + failed + dead-lettered).",
    ),
    ("attempts", "Attempts made."),
    ("amplification", "Attempts ÷ requests."),
    (
        "offered_mean_per_s",
        "Attempts a second that reached the service, whole run.",
    ),
    (
        "offered_peak_per_s",
        "The same in the busiest bin of each replication, mean, whole run.",
    ),
    (
        "goodput_per_s",
        "Requests a second that succeeded, whole run.",
    ),
    (
        "wasted_work_share",
        "Share of the service's time that went to attempts whose client had given up before they ended.",
    ),
    (
        "wasted_served_share",
        "Share of served attempts that ended after their client had given up.",
    ),
    ("latency_mean_ms", "Mean latency of successes."),
    ("latency_p50_ms", "Median latency of successes."),
    (
        "latency_p95_ms",
        "95th percentile of the latency of successes.",
    ),
    (
        "latency_p99_ms",
        "99th percentile of the latency of successes.",
    ),
    (
        "latency_p999_ms",
        "99.9th percentile of the latency of successes.",
    ),
    (
        "stable_replications",
        "Replications with the verdict stable.",
    ),
    (
        "recovered_replications",
        "Replications with the verdict recovered.",
    ),
    (
        "degraded_replications",
        "Replications with the verdict degraded.",
    ),
    (
        "collapsed_replications",
        "Replications with the verdict collapsed.",
    ),
    (
        "overloaded_replications",
        "Replications with the verdict overloaded.",
    ),
    ("collapsed_share", "Collapsed ÷ all replications."),
    (
        "recovery_s",
        "From the end of the last fault until success was back, over the replications that recovered.",
    ),
    (
        "hidden_capacity_per_s",
        "The border: requests a second up to which the scenario comes back by itself.",
    ),
    (
        "success_behind_best",
        "Success of the strategy with rank 1 − success of this one, as a share.",
    ),
    (
        "cost_per_1000_requests",
        "Cost of a thousand requests at the prices of [cost].",
    ),
    ("failed_error", "Failed after a code that may be retried."),
    (
        "failed_permanent_error",
        "Failed by a code that is not retried.",
    ),
    (
        "failed_refused",
        "The last attempt was refused by an outage.",
    ),
    (
        "failed_queue_full",
        "The last attempt found the queue full.",
    ),
    ("failed_timeout", "The last attempt timed out."),
    (
        "failed_deadline",
        "The deadline passed, or left no time for the next attempt or its turn.",
    ),
    (
        "failed_not_started",
        "There was no place in the pool in time.",
    ),
    (
        "failed_shed",
        "The last attempt was shed by a service that protects itself.",
    ),
    ("failed_budget", "The retry budget denied the next attempt."),
    ("failed_breaker_open", "The circuit breaker was open."),
    ("failed_throttled", "The client throttled itself."),
    (
        "failed_rate_limited",
        "The client's own rate limit would have made it wait too long.",
    ),
    (
        "failed_expired",
        "A dead letter that was kept for as long as letters are kept.",
    ),
    (
        "failed_caller_left",
        "A success that came after its caller had gone away.",
    ),
    ("attempts_error", "Attempts answered with a failure code."),
    ("attempts_refused", "Attempts refused by an outage."),
    ("attempts_queue_full", "Attempts that found the queue full."),
    ("attempts_timeout", "Attempts that timed out."),
    (
        "attempts_shed",
        "Attempts shed by a service that protects itself.",
    ),
    (
        "attempts_held_back",
        "Attempts that the client held back: they were never sent, and `attempts` does not count them.",
    ),
    (
        "attempts_dropped",
        "Attempts that got no answer: dropped, skipped, cancelled or stopped at the service, or lost while it hung.",
    ),
];

/// All of them, in the order of the columns of `summary.csv`.
pub(super) fn entries() -> Vec<Entry> {
    let meaning = |name: &str| MEANINGS.iter().find(|(known, _)| *known == name);
    let entry = |name: &str| Entry {
        name: name.into(),
        meaning: meaning(name)
            .map(|(_, words)| (*words).into())
            .unwrap_or_default(),
        settings: Vec::new(),
        example: format!("\"{name}\""),
    };
    METRICS.iter().map(|metric| entry(metric.name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_figure_has_its_words_and_no_others_have() {
        let named: Vec<&str> = MEANINGS.iter().map(|(name, _)| *name).collect();
        let known: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(named, known);
    }
}
