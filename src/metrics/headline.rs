//! What is kept of one replication: the figures whose intervals, pairs and verdicts are reported.

use super::{CONFIDENCE, Estimate, Seen, Tally, Verdict, VerdictRule, judge, wilson};
use crate::time::{SimDuration, SimTime};
use serde::Serialize;

/// A row of `replications.csv`: one strategy in one replication.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// Mean latency of successes.
    pub latency_mean_ms: Option<f64>,
    /// Median latency of successes.
    pub latency_p50_ms: Option<f64>,
    /// 99th percentile of the latency of successes.
    pub latency_p99_ms: Option<f64>,
    /// Success of requests that started before the first fault.
    pub baseline_success: f64,
    /// Success of requests that started in the final window.
    pub final_success: Option<f64>,
    /// From the end of the last fault until success was back, if it left and came back.
    pub recovery_s: Option<f64>,
    /// What became of it.
    pub verdict: Verdict,
}

/// What is kept of one replication.
#[derive(Clone, Debug, PartialEq)]
pub struct Headline {
    /// Its figures, as they are written.
    pub row: ReplicationRow,
    /// What formulas predict.
    pub seen: Seen,
    /// Share of ended requests that had succeeded with at most j attempts, at index j - 1.
    pub success_by_attempt: Vec<f64>,
}

/// Numbers of attempts up to which success is kept apart.
const ATTEMPTS_KEPT: usize = 20;

impl Headline {
    /// The headline of one run of `strategy`, of length `span`, which is judged by `rule`.
    pub fn of(
        strategy: &str,
        replication: u32,
        tally: &Tally,
        rule: &VerdictRule,
        span: SimDuration,
    ) -> Self {
        let fault_end = rule.faults.map_or(SimTime::ZERO, |(_, to)| to);
        let bins = tally.timeline.bins();
        let arrived = bins.iter().map(|bin| bin.first_tries + bin.retries);
        let most_arrived = arrived.clone().max().unwrap_or(0);
        let ended_well: u64 = bins.iter().map(|bin| bin.succeeded).sum();
        let seconds = span.as_secs_f64().max(1e-9);
        let course = judge(&tally.timeline, rule, tally.latency.longest());
        let row = ReplicationRow {
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
            latency_mean_ms: tally.latency.mean_ms(),
            latency_p50_ms: tally.latency.quantile_ms(0.5),
            latency_p99_ms: tally.latency.quantile_ms(0.99),
            baseline_success: course.baseline,
            final_success: course.last,
            recovery_s: course.recovery_s,
            verdict: course.verdict,
        };
        Self {
            row,
            seen: Seen::of(tally, rule.measured_from, rule.arrivals_end, fault_end),
            success_by_attempt: shares_by_attempt(tally),
        }
    }
}

fn shares_by_attempt(tally: &Tally) -> Vec<f64> {
    let ended = (tally.succeeded + tally.failed_total()).max(1) as f64;
    let most = ATTEMPTS_KEPT.min(
        tally
            .succeeded_with
            .len()
            .max(tally.failed_with.len().saturating_sub(1)),
    );
    let mut so_far = 0;
    let shares = (0..most).map(|i| {
        so_far += tally.succeeded_with.get(i).copied().unwrap_or(0);
        so_far as f64 / ended
    });
    shares.collect()
}

/// The mean of a headline figure with its interval, over the replications that have it.
pub fn estimate(each: &[Headline], value: impl Fn(&Headline) -> Option<f64>) -> Option<Estimate> {
    Estimate::from_replications(&each.iter().filter_map(value).collect::<Vec<_>>())
}

/// The success rate with its interval. Student's t over replications has no width when all requests of all
/// replications ended alike; then Wilson's interval over the requests says how far that can be trusted.
pub fn success_of(total: &Tally, each: &[Headline]) -> Option<Estimate> {
    let mut success = estimate(each, |run| run.row.success_rate)?.clamped_to_share();
    let ended = total.succeeded + total.failed_total();
    if each.len() > 1 && (total.succeeded == 0 || total.succeeded == ended) {
        let (low, high) = wilson(total.succeeded, ended, CONFIDENCE);
        (success.low, success.high) = (Some(low), Some(high));
    }
    Some(success)
}

/// The verdict that all replications share, or "mixed".
pub(super) fn verdict_of_all(each: &[Headline]) -> &'static str {
    let mut verdicts = each.iter().map(|run| run.row.verdict);
    match verdicts.next() {
        Some(first) if verdicts.all(|verdict| verdict == first) => first.name(),
        Some(_) => "mixed",
        None => "",
    }
}

/// Share of ended requests that had succeeded with at most j attempts, for j = 1, 2, … as far as any run
/// went, each with its interval.
pub fn success_by_attempt(each: &[Headline]) -> Vec<Estimate> {
    let most = each
        .iter()
        .map(|run| run.success_by_attempt.len())
        .max()
        .unwrap_or(0);
    // A run in which nobody needed more attempts stays at its last share.
    let at = |run: &Headline, j: usize| {
        run.success_by_attempt
            .get(j)
            .or(run.success_by_attempt.last())
            .copied()
    };
    let shares = (0..most).filter_map(|j| estimate(each, |run| at(run, j)));
    shares.map(Estimate::clamped_to_share).collect()
}
