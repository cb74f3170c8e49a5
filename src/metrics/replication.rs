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
    /// Requests that are dead letters at the end.
    pub dead_lettered: u64,
    /// Dead letters that came back to be tried again.
    pub redriven: u64,
    /// Requests still in flight at the end.
    pub unfinished: u64,
    /// Succeeded ÷ (succeeded + failed + dead-lettered).
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
    /// Failed requests whose last attempt was shed by a service that protects itself.
    pub failed_shed: u64,
    /// Failed requests whose retry the budget denied.
    pub failed_budget: u64,
    /// Failed requests that ended at an open circuit breaker.
    pub failed_breaker_open: u64,
    /// Failed requests that ended because the client throttled itself.
    pub failed_throttled: u64,
    /// Failed requests that the client's own rate limit would have made wait too long.
    pub failed_rate_limited: u64,
    /// Failed requests that were dead letters for as long as letters are kept.
    pub failed_expired: u64,
    /// Requests that succeeded after their caller had gone away.
    pub failed_caller_left: u64,
    /// Attempts answered with a failure code.
    pub attempts_error: u64,
    /// Attempts refused by an outage.
    pub attempts_refused: u64,
    /// Attempts that found the queue full.
    pub attempts_queue_full: u64,
    /// Attempts that timed out.
    pub attempts_timeout: u64,
    /// Attempts shed by a service that protects itself.
    pub attempts_shed: u64,
    /// Attempts that the client held back: they were never sent, and `attempts` does not count them.
    pub attempts_held_back: u64,
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
    /// Requests that succeeded, failed or are dead letters: what success is a share of.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed + self.dead_lettered
    }

    /// The figures of a run of length `span` that went on `course`.
    pub(super) fn of(
        (strategy, replication): (&str, u32),
        tally: &Tally,
        course: &Course,
        span: SimDuration,
        prices: Option<&Prices>,
    ) -> Self {
        let (offered_mean_per_s, offered_peak_per_s, goodput_per_s) = rates(tally, span);
        Self {
            strategy: strategy.into(),
            replication,
            requests: tally.requests,
            succeeded: tally.succeeded,
            failed: tally.failed_total(),
            dead_lettered: tally.dead_lettered_total(),
            redriven: tally.redriven,
            unfinished: tally.unfinished,
            success_rate: tally.success_rate(),
            attempts: tally.attempts,
            amplification: tally.amplification(),
            offered_mean_per_s,
            offered_peak_per_s,
            goodput_per_s,
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
            failed_error: tally.failed_for(FailureReason::Error),
            failed_permanent_error: tally.failed_for(FailureReason::PermanentError),
            failed_refused: tally.failed_for(FailureReason::Refused),
            failed_queue_full: tally.failed_for(FailureReason::QueueFull),
            failed_timeout: tally.failed_for(FailureReason::Timeout),
            failed_deadline: tally.failed_for(FailureReason::Deadline),
            failed_not_started: tally.failed_for(FailureReason::NotStarted),
            failed_shed: tally.failed_for(FailureReason::Shed),
            failed_budget: tally.failed_for(FailureReason::Budget),
            failed_breaker_open: tally.failed_for(FailureReason::BreakerOpen),
            failed_throttled: tally.failed_for(FailureReason::Throttled),
            failed_rate_limited: tally.failed_for(FailureReason::RateLimited),
            failed_expired: tally.failed_for(FailureReason::Expired),
            failed_caller_left: tally.failed_for(FailureReason::CallerLeft),
            attempts_error: tally.ended_as(AttemptOutcome::Error),
            attempts_refused: tally.ended_as(AttemptOutcome::Refused),
            attempts_queue_full: tally.ended_as(AttemptOutcome::QueueFull),
            attempts_timeout: tally.ended_as(AttemptOutcome::TimedOut),
            attempts_shed: tally.ended_as(AttemptOutcome::Shed),
            attempts_held_back: tally.held_back(),
            attempts_dropped: tally.dropped,
            baseline_success: course.baseline,
            final_success: course.last,
            recovery_s: course.recovery_s,
            verdict: course.verdict,
        }
    }
}

/// Attempts a second at the service over a run of length `span`, the same in the busiest bin, and successes a second.
fn rates(tally: &Tally, span: SimDuration) -> (f64, f64, f64) {
    let bins = tally.timeline.bins();
    let arrived = bins.iter().map(|bin| bin.first_tries + bin.retries);
    let most_arrived = arrived.clone().max().unwrap_or(0);
    let ended_well: u64 = bins.iter().map(|bin| bin.succeeded).sum();
    let seconds = span.as_secs_f64().max(1e-9);
    (
        arrived.sum::<u64>() as f64 / seconds,
        most_arrived as f64 / tally.timeline.width().as_secs_f64(),
        ended_well as f64 / seconds,
    )
}
