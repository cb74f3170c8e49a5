//! The figures of one replication as they are written.

use super::{AttemptOutcome, Course, FailureReason, Prices, Tally, Verdict};
use crate::time::SimDuration;
use serde::{Deserialize, Serialize};

/// A row of `replications.csv`: one strategy in one replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplicationRow {
    /// The strategy's name.
    pub strategy: String,
    /// The replication, from 0: what `--events` calls it too.
    pub replication: u32,
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Requests that failed.
    pub failed: u64,
    /// Requests still in flight at the end.
    pub unfinished: u64,
    /// Succeeded ÷ (succeeded + failed).
    pub success_rate: Option<f64>,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts ÷ requests.
    pub amplification: Option<f64>,
    /// Attempts a second that reached the service, over the whole run.
    pub offered_mean_per_s: f64,
    /// The same in the busiest bin.
    pub offered_peak_per_s: f64,
    /// Requests a second that succeeded, over the whole run.
    pub goodput_per_s: f64,
    /// Share of service time given to attempts whose client gave up before they ended.
    pub wasted_work_share: Option<f64>,
    /// Share of served attempts that ended after their client had given up.
    pub wasted_served_share: Option<f64>,
    /// Mean latency of successes.
    pub latency_mean_ms: Option<f64>,
    /// Median latency of successes.
    pub latency_p50_ms: Option<f64>,
    /// 95th percentile.
    pub latency_p95_ms: Option<f64>,
    /// 99th percentile.
    pub latency_p99_ms: Option<f64>,
    /// 99.9th percentile.
    pub latency_p999_ms: Option<f64>,
    /// Longest latency.
    pub latency_max_ms: Option<f64>,
    /// Time that callers waited for answers: from intended start to success or failure, all requests that ended.
    pub waiting_s: f64,
    /// Cost of a thousand requests, where the scenario has prices.
    pub cost_per_1000_requests: Option<f64>,
    /// Failed requests whose last attempt was answered with a failure code.
    pub failed_error: u64,
    /// Failed requests that a permanent failure code ended.
    pub failed_permanent_error: u64,
    /// Failed requests whose last attempt was refused by an outage.
    pub failed_refused: u64,
    /// Failed requests whose last attempt found the queue full.
    pub failed_queue_full: u64,
    /// Failed requests whose last attempt timed out.
    pub failed_timeout: u64,
    /// Failed requests that ran out of their deadline.
    pub failed_deadline: u64,
    /// Requests that never started for want of a place in flight.
    pub failed_not_started: u64,
    /// Attempts answered with a failure code.
    pub attempts_error: u64,
    /// Attempts refused by an outage.
    pub attempts_refused: u64,
    /// Attempts that found the queue full.
    pub attempts_queue_full: u64,
    /// Attempts that timed out.
    pub attempts_timeout: u64,
    /// Attempts that got no answer: dropped, skipped or cancelled at the service, or lost while it hung.
    pub attempts_dropped: u64,
    /// Success of requests that started before the first fault.
    pub baseline_success: f64,
    /// Success of requests that started in the final window.
    pub final_success: Option<f64>,
    /// From the end of the last fault until success was back, if it left and came back.
    pub recovery_s: Option<f64>,
    /// What became of it.
    pub verdict: Verdict,
}

impl ReplicationRow {
    /// The figures of a run of length `span` that went on `course`.
    pub(super) fn of(
        (strategy, replication): (&str, u32),
        tally: &Tally,
        course: &Course,
        span: SimDuration,
        prices: Option<&Prices>,
    ) -> Self {
        let failed = |reason: FailureReason| tally.failed[reason as usize];
        let outcome = |outcome: AttemptOutcome| tally.outcomes[outcome as usize];
        let bins = tally.timeline.bins();
        let arrived = bins.iter().map(|bin| bin.first_tries + bin.retries);
        let most_arrived = arrived.clone().max().unwrap_or(0);
        let ended_well: u64 = bins.iter().map(|bin| bin.succeeded).sum();
        let seconds = span.as_secs_f64().max(1e-9);
        Self {
            strategy: strategy.into(),
            replication,
            requests: tally.requests,
            succeeded: tally.succeeded,
            failed: tally.failed_total(),
            unfinished: tally.unfinished,
            success_rate: tally.success_rate(),
            attempts: tally.attempts,
            amplification: tally.amplification(),
            offered_mean_per_s: arrived.sum::<u64>() as f64 / seconds,
            offered_peak_per_s: most_arrived as f64 / tally.timeline.width().as_secs_f64(),
            goodput_per_s: ended_well as f64 / seconds,
            wasted_work_share: tally.wasted_work_share(),
            wasted_served_share: tally.wasted_served_share(),
            latency_mean_ms: tally.latency.mean_ms(),
            latency_p50_ms: tally.latency.quantile_ms(0.5),
            latency_p95_ms: tally.latency.quantile_ms(0.95),
            latency_p99_ms: tally.latency.quantile_ms(0.99),
            latency_p999_ms: tally.latency.quantile_ms(0.999),
            latency_max_ms: tally.latency.max_ms(),
            waiting_s: tally.waited_for_answers_s(),
            cost_per_1000_requests: prices.and_then(|prices| prices.per_1000_requests(tally)),
            failed_error: failed(FailureReason::Error),
            failed_permanent_error: failed(FailureReason::PermanentError),
            failed_refused: failed(FailureReason::Refused),
            failed_queue_full: failed(FailureReason::QueueFull),
            failed_timeout: failed(FailureReason::Timeout),
            failed_deadline: failed(FailureReason::Deadline),
            failed_not_started: failed(FailureReason::NotStarted),
            attempts_error: outcome(AttemptOutcome::Error),
            attempts_refused: outcome(AttemptOutcome::Refused),
            attempts_queue_full: outcome(AttemptOutcome::QueueFull),
            attempts_timeout: outcome(AttemptOutcome::TimedOut),
            attempts_dropped: tally.dropped,
            baseline_success: course.baseline,
            final_success: course.last,
            recovery_s: course.recovery_s,
            verdict: course.verdict,
        }
    }
}
