//! What is kept of one replication: the figures whose intervals, pairs and verdicts are reported.

use super::{
    CONFIDENCE, Estimate, Prices, ReplicationRow, Seen, Tally, VerdictRule, judge, wilson,
};
use crate::time::{SimDuration, SimTime};

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

/// How the replications of one strategy are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// The strategy's name.
    pub strategy: String,
    /// What each replication is judged by.
    pub rule: VerdictRule,
    /// Simulated time, that rates are over.
    pub span: SimDuration,
    /// What things cost, if the scenario says so.
    pub prices: Option<Prices>,
}

impl Measure {
    /// The headline of a replication.
    pub fn headline(&self, replication: u32, tally: &Tally) -> Headline {
        let rule = &self.rule;
        let fault_end = rule.faults.map_or(SimTime::ZERO, |(_, to)| to);
        let course = judge(&tally.timeline, rule, tally.latency.longest());
        let of = (self.strategy.as_str(), replication);
        Headline {
            row: ReplicationRow::of(of, tally, &course, self.span, self.prices.as_ref()),
            seen: Seen::of(tally, rule.measured_from, rule.arrivals_end, fault_end),
            success_by_attempt: shares_by_attempt(tally),
        }
    }
}

fn shares_by_attempt(tally: &Tally) -> Vec<f64> {
    let ended = tally.ended().max(1) as f64;
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

/// The success rate with its interval of 95 %.
pub fn success_of(each: &[Headline]) -> Option<Estimate> {
    success_at(each, CONFIDENCE)
}

/// The success rate with its interval. Student's t over replications has no width when all requests of all
/// replications ended alike; then Wilson's interval over the requests says how far that can be trusted.
pub(super) fn success_at(each: &[Headline], confidence: f64) -> Option<Estimate> {
    let rates: Vec<f64> = each.iter().filter_map(|run| run.row.success_rate).collect();
    let mut success = Estimate::with_confidence(&rates, confidence)?.clamped_to_share();
    let sum = |count: fn(&ReplicationRow) -> u64| each.iter().map(|run| count(&run.row)).sum();
    let (succeeded, ended): (u64, u64) = (sum(|row| row.succeeded), sum(ReplicationRow::ended));
    if each.len() > 1 && (succeeded == 0 || succeeded == ended) {
        let (low, high) = wilson(succeeded, ended, confidence);
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
