//! What is reported of a strategy: one flat record whose fields are the columns of `summary.csv`.

use super::{
    AttemptOutcome, CONFIDENCE, Estimate, FailureReason, Gauge, Headline, Tally, Verdict, estimate,
    success_of, verdict_of_all, wilson,
};
use crate::time::SimDuration;
use serde::Serialize;

/// A row of `summary.csv`. Counts are sums over replications, rates and shares means over replications with
/// 95 % intervals, latencies are of successful requests from their intended start. A field is empty when
/// there is nothing it could be computed from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The strategy's name.
    pub strategy: String,
    /// Its place in the ranking, 1 is best.
    pub rank: u32,
    /// Replications behind the numbers.
    pub replications: u32,
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
    /// Lower end of its interval.
    pub success_rate_low: Option<f64>,
    /// Upper end of its interval.
    pub success_rate_high: Option<f64>,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts ÷ requests.
    pub amplification: Option<f64>,
    /// Lower end of its interval.
    pub amplification_low: Option<f64>,
    /// Upper end of its interval.
    pub amplification_high: Option<f64>,
    /// Attempts a second that reached the service, over the whole run.
    pub offered_mean_per_s: f64,
    /// The same in the busiest bin, mean over replications.
    pub offered_peak_per_s: f64,
    /// Lower end of its interval.
    pub offered_peak_per_s_low: Option<f64>,
    /// Upper end of its interval.
    pub offered_peak_per_s_high: Option<f64>,
    /// Requests a second that succeeded, over the whole run.
    pub goodput_per_s: f64,
    /// Lower end of its interval.
    pub goodput_per_s_low: Option<f64>,
    /// Upper end of its interval.
    pub goodput_per_s_high: Option<f64>,
    /// Share of service time given to attempts whose client gave up before they ended.
    pub wasted_work_share: Option<f64>,
    /// Share of served attempts that ended after their client had given up.
    pub wasted_served_share: Option<f64>,
    /// Mean latency of successes.
    pub latency_mean_ms: Option<f64>,
    /// Lower end of the interval of the same of each replication.
    pub latency_mean_ms_low: Option<f64>,
    /// Upper end of that interval.
    pub latency_mean_ms_high: Option<f64>,
    /// Median latency of successes.
    pub latency_p50_ms: Option<f64>,
    /// Lower end of the interval of the same of each replication.
    pub latency_p50_ms_low: Option<f64>,
    /// Upper end of that interval.
    pub latency_p50_ms_high: Option<f64>,
    /// 95th percentile.
    pub latency_p95_ms: Option<f64>,
    /// 99th percentile.
    pub latency_p99_ms: Option<f64>,
    /// Lower end of the interval of the same of each replication.
    pub latency_p99_ms_low: Option<f64>,
    /// Upper end of that interval.
    pub latency_p99_ms_high: Option<f64>,
    /// 99.9th percentile.
    pub latency_p999_ms: Option<f64>,
    /// Longest latency.
    pub latency_max_ms: Option<f64>,
    /// What became of all replications, or "mixed".
    pub verdict: &'static str,
    /// Replications whose success never left its baseline.
    pub stable_replications: u32,
    /// Replications whose success left its baseline and came back.
    pub recovered_replications: u32,
    /// Replications that neither came back nor collapsed.
    pub degraded_replications: u32,
    /// Replications whose success at the end was below half of its baseline.
    pub collapsed_replications: u32,
    /// Replications with too much load from the start.
    pub overloaded_replications: u32,
    /// Collapsed ÷ all replications.
    pub collapsed_share: f64,
    /// Lower end of Wilson's interval for the share of collapsed replications.
    pub collapsed_share_low: f64,
    /// Upper end of that interval.
    pub collapsed_share_high: f64,
    /// From the end of the last fault until success was back, mean over replications that recovered.
    pub recovery_s: Option<f64>,
    /// Lower end of its interval.
    pub recovery_s_low: Option<f64>,
    /// Upper end of its interval.
    pub recovery_s_high: Option<f64>,
    /// Requests a second up to which the scenario comes back by itself, where that can be derived.
    pub hidden_capacity_per_s: Option<f64>,
    /// How far success is below that of the best, replication by replication.
    pub success_behind_best: Option<f64>,
    /// Lower end of its interval, which is paired.
    pub success_behind_best_low: Option<f64>,
    /// Upper end of its interval.
    pub success_behind_best_high: Option<f64>,
    /// Whether its success cannot be told from that of the best.
    pub ties_with_best: bool,
    /// Cost of a thousand requests, where the scenario has prices.
    pub cost_per_1000_requests: Option<f64>,
    /// Lower end of its interval.
    pub cost_per_1000_requests_low: Option<f64>,
    /// Upper end of its interval.
    pub cost_per_1000_requests_high: Option<f64>,
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
}

/// A row of `timeline.csv`: one strategy in one bin of time, means over replications.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TimelineRow<'a> {
    /// The strategy's name.
    pub strategy: &'a str,
    /// Start of the bin.
    pub time_s: f64,
    /// First attempts a second that reached the service.
    pub first_tries_per_s: f64,
    /// Later attempts a second that reached the service.
    pub retries_per_s: f64,
    /// Requests a second that succeeded.
    pub goodput_per_s: f64,
    /// Requests a second that failed.
    pub failed_per_s: f64,
    /// Retries a second that succeeded.
    pub retries_succeeded_per_s: f64,
    /// Attempts a second that clients held back.
    pub held_back_per_s: f64,
    /// Requests a second whose retry the budget denied.
    pub budget_denied_per_s: f64,
    /// What is left of retry budgets at the start of the bin, 1 is full; empty without budgets.
    pub budget_level: Option<f64>,
    /// Share of circuit breakers that are not closed at the start of the bin; empty without breakers.
    pub breakers_open: Option<f64>,
    /// Attempts waiting at the service.
    pub queue_length: f64,
    /// Busy workers.
    pub busy_workers: f64,
    /// Requests waiting for their next attempt.
    pub waiting_in_backoff: f64,
    /// Requests started and not ended.
    pub requests_in_flight: f64,
    /// Requests a second that became dead letters.
    pub dead_lettered_per_s: f64,
    /// Dead letters kept.
    pub dead_letters: f64,
    /// Requests a second that started in the bin and succeeded, whenever that was.
    pub started_succeeded_per_s: f64,
    /// Requests a second that started in the bin and failed or became dead letters, whenever that was.
    pub started_failed_per_s: f64,
}

/// A row of `attempts.csv`: how many requests took so many attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AttemptsRow<'a> {
    /// The strategy's name.
    pub strategy: &'a str,
    /// Attempts made by a request; 0 for one that never started.
    pub attempts: usize,
    /// Requests that succeeded with this many.
    pub succeeded: u64,
    /// Requests that failed after this many.
    pub failed: u64,
}

/// The summary of a strategy from its replications, all of them and one by one. `span` is the simulated time
/// that rates are over. The rank and the distance to the best are left out: they need the other strategies.
pub fn summarise(
    strategy: &str,
    total: &Tally,
    each: &[Headline],
    span: SimDuration,
) -> SummaryRow {
    let row = SummaryRow {
        strategy: strategy.into(),
        replications: each.len() as u32,
        verdict: verdict_of_all(each),
        ..counts(total)
    };
    verdicts(rates(row, total, each, span), each)
}

/// The counts over all replications, and the latencies of all successes together.
fn counts(total: &Tally) -> SummaryRow {
    SummaryRow {
        requests: total.requests,
        succeeded: total.succeeded,
        failed: total.failed_total(),
        dead_lettered: total.dead_lettered_total(),
        redriven: total.redriven,
        unfinished: total.unfinished,
        attempts: total.attempts,
        wasted_work_share: total.wasted_work_share(),
        wasted_served_share: total.wasted_served_share(),
        latency_mean_ms: total.latency.mean_ms(),
        latency_p50_ms: total.latency.quantile_ms(0.5),
        latency_p95_ms: total.latency.quantile_ms(0.95),
        latency_p99_ms: total.latency.quantile_ms(0.99),
        latency_p999_ms: total.latency.quantile_ms(0.999),
        latency_max_ms: total.latency.max_ms(),
        failed_error: total.failed_for(FailureReason::Error),
        failed_permanent_error: total.failed_for(FailureReason::PermanentError),
        failed_refused: total.failed_for(FailureReason::Refused),
        failed_queue_full: total.failed_for(FailureReason::QueueFull),
        failed_timeout: total.failed_for(FailureReason::Timeout),
        failed_deadline: total.failed_for(FailureReason::Deadline),
        failed_not_started: total.failed_for(FailureReason::NotStarted),
        failed_shed: total.failed_for(FailureReason::Shed),
        failed_budget: total.failed_for(FailureReason::Budget),
        failed_breaker_open: total.failed_for(FailureReason::BreakerOpen),
        failed_throttled: total.failed_for(FailureReason::Throttled),
        failed_rate_limited: total.failed_for(FailureReason::RateLimited),
        failed_expired: total.failed_for(FailureReason::Expired),
        failed_caller_left: total.failed_for(FailureReason::CallerLeft),
        attempts_error: total.ended_as(AttemptOutcome::Error),
        attempts_refused: total.ended_as(AttemptOutcome::Refused),
        attempts_queue_full: total.ended_as(AttemptOutcome::QueueFull),
        attempts_timeout: total.ended_as(AttemptOutcome::TimedOut),
        attempts_shed: total.ended_as(AttemptOutcome::Shed),
        attempts_held_back: total.held_back(),
        attempts_dropped: total.dropped,
        ..SummaryRow::default()
    }
}

/// Rates and shares with their intervals over replications, and the intervals of latencies.
fn rates(row: SummaryRow, total: &Tally, each: &[Headline], span: SimDuration) -> SummaryRow {
    let seconds = span.as_secs_f64() * each.len().max(1) as f64;
    let bins = total.timeline.bins();
    let arrived: u64 = bins.iter().map(|bin| bin.first_tries + bin.retries).sum();
    let ended_well: u64 = bins.iter().map(|bin| bin.succeeded).sum();
    let success = success_of(each);
    let amplification = estimate(each, |run| run.row.amplification);
    let peak = estimate(each, |run| Some(run.row.offered_peak_per_s));
    let goodput = estimate(each, |run| Some(run.row.goodput_per_s));
    let mean = estimate(each, |run| run.row.latency_mean_ms);
    let median = estimate(each, |run| run.row.latency_p50_ms);
    let p99 = estimate(each, |run| run.row.latency_p99_ms);
    let cost = estimate(each, |run| run.row.cost_per_1000_requests);
    SummaryRow {
        success_rate: success.map(|e| e.mean),
        success_rate_low: low(success),
        success_rate_high: high(success),
        amplification: amplification.map(|e| e.mean),
        amplification_low: low(amplification),
        amplification_high: high(amplification),
        offered_mean_per_s: arrived as f64 / seconds,
        offered_peak_per_s: peak.map_or(0.0, |e| e.mean),
        offered_peak_per_s_low: low(peak),
        offered_peak_per_s_high: high(peak),
        goodput_per_s: ended_well as f64 / seconds,
        goodput_per_s_low: low(goodput),
        goodput_per_s_high: high(goodput),
        latency_mean_ms_low: low(mean),
        latency_mean_ms_high: high(mean),
        latency_p50_ms_low: low(median),
        latency_p50_ms_high: high(median),
        latency_p99_ms_low: low(p99),
        latency_p99_ms_high: high(p99),
        cost_per_1000_requests: cost.map(|e| e.mean),
        cost_per_1000_requests_low: low(cost),
        cost_per_1000_requests_high: high(cost),
        ..row
    }
}

/// What became of the replications.
fn verdicts(row: SummaryRow, each: &[Headline]) -> SummaryRow {
    let count = |verdict: Verdict| {
        let runs = each.iter().filter(|run| run.row.verdict == verdict);
        runs.count() as u32
    };
    let collapsed = count(Verdict::Collapsed);
    let interval = wilson(collapsed.into(), each.len() as u64, CONFIDENCE);
    let recovery = estimate(each, |run| run.row.recovery_s);
    SummaryRow {
        stable_replications: count(Verdict::Stable),
        recovered_replications: count(Verdict::Recovered),
        degraded_replications: count(Verdict::Degraded),
        collapsed_replications: collapsed,
        overloaded_replications: count(Verdict::Overloaded),
        collapsed_share: f64::from(collapsed) / (each.len() as f64).max(1.0),
        collapsed_share_low: interval.0,
        collapsed_share_high: interval.1,
        recovery_s: recovery.map(|e| e.mean),
        recovery_s_low: low(recovery),
        recovery_s_high: high(recovery),
        ..row
    }
}

fn low(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| estimate.low)
}

fn high(estimate: Option<Estimate>) -> Option<f64> {
    estimate.and_then(|estimate| estimate.high)
}

/// The rows of `timeline.csv` for a strategy whose `replications` are summed up in `total`, up to `end`.
pub fn timeline_rows<'a>(
    strategy: &'a str,
    total: &'a Tally,
    replications: u32,
    end: SimDuration,
) -> impl Iterator<Item = TimelineRow<'a>> {
    let width = total.timeline.width().as_secs_f64();
    total
        .timeline
        .bins()
        .iter()
        .zip(total.timeline.cohorts())
        .enumerate()
        .map(move |(i, (bin, cohort))| {
            let start = i as f64 * width;
            // The last bin may be cut by the end of the run.
            let seconds =
                width.min(end.as_secs_f64() - start).max(1e-9) * f64::from(replications.max(1));
            let mean = |ppm: u64| ppm as f64 / 1e6 / f64::from(replications.max(1));
            let level = |gauge: Gauge| bin.areas[gauge as usize] as f64 / 1e9 / seconds;
            TimelineRow {
                strategy,
                time_s: start,
                first_tries_per_s: bin.first_tries as f64 / seconds,
                retries_per_s: bin.retries as f64 / seconds,
                goodput_per_s: bin.succeeded as f64 / seconds,
                failed_per_s: bin.failed as f64 / seconds,
                retries_succeeded_per_s: bin.retries_succeeded as f64 / seconds,
                held_back_per_s: bin.held_back as f64 / seconds,
                budget_denied_per_s: bin.budget_denied as f64 / seconds,
                budget_level: total.has_budgets.then(|| mean(bin.budget_level_ppm)),
                breakers_open: total.has_breakers.then(|| mean(bin.breakers_open_ppm)),
                queue_length: level(Gauge::Queue),
                busy_workers: level(Gauge::Busy),
                waiting_in_backoff: level(Gauge::Backoff),
                requests_in_flight: level(Gauge::InFlight),
                dead_lettered_per_s: bin.dead_lettered as f64 / seconds,
                dead_letters: level(Gauge::DeadLetters),
                started_succeeded_per_s: cohort.succeeded as f64 / seconds,
                started_failed_per_s: cohort.failed as f64 / seconds,
            }
        })
}

/// The rows of `attempts.csv`, leaving out numbers that no request needed.
pub fn attempts_rows<'a>(
    strategy: &'a str,
    total: &'a Tally,
) -> impl Iterator<Item = AttemptsRow<'a>> {
    let most = total.failed_with.len().max(total.succeeded_with.len() + 1);
    (0..most)
        .map(move |attempts| AttemptsRow {
            strategy,
            attempts,
            succeeded: attempts
                .checked_sub(1)
                .and_then(|i| total.succeeded_with.get(i))
                .copied()
                .unwrap_or(0),
            failed: total.failed_with.get(attempts).copied().unwrap_or(0),
        })
        .filter(|row| row.succeeded + row.failed > 0)
}
