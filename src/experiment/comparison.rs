//! The strategies of a run held against a baseline.
//!
//! A table of results invites the eye to compare its intervals, which is the wrong comparison: the strategies met the
//! same worlds. So the differences are worked out here, for every figure that a decision may hang on.

use super::compare::{
    ComparisonRow, Comparisons, Difference, Finding, figures, finding, paired, threshold,
};
use super::result::StrategyResult;
use crate::metrics::{Metric, ReplicationRow, metric};
use crate::scenario::Comparison;

fn rows(strategy: &StrategyResult) -> Vec<&ReplicationRow> {
    strategy.each.iter().map(|run| &run.row).collect()
}

fn success() -> &'static Metric {
    metric("success_rate").expect("it is a figure")
}

/// How far success of one strategy is above that of another, and what that is worth.
fn success_apart(
    first: &StrategyResult,
    second: &StrategyResult,
    threshold: f64,
) -> (Option<Difference>, Finding) {
    let apart = paired(success(), &rows(first), &rows(second));
    let worth = apart.map_or(Finding::Chance, |apart| {
        finding(&apart.paired, threshold, success().better)
    });
    (apart, worth)
}

/// The strategies from rank 1 on.
fn ranked(strategies: &[StrategyResult]) -> Vec<&StrategyResult> {
    let mut ranked: Vec<_> = strategies.iter().collect();
    ranked.sort_by_key(|strategy| strategy.summary.rank);
    ranked
}

/// Fills in how far each strategy is behind the best one, which has rank 1.
pub(super) fn compare_with_best(strategies: &mut [StrategyResult], threshold: f64) {
    let Some(best) = strategies.iter().position(|s| s.summary.rank == 1) else {
        return;
    };
    let behind = |other: &StrategyResult| success_apart(&strategies[best], other, threshold);
    let behind: Vec<_> = strategies.iter().map(behind).collect();
    for (i, (strategy, (apart, worth))) in strategies.iter_mut().zip(behind).enumerate() {
        let summary = &mut strategy.summary;
        summary.success_behind_best = apart.map(|d| d.paired.mean);
        summary.success_behind_best_low = apart.and_then(|d| d.paired.low);
        summary.success_behind_best_high = apart.and_then(|d| d.paired.high);
        summary.ties_with_best = i != best && apart.is_some() && !worth.is_real();
    }
}

/// Holds all strategies against the one at position `baseline`, or against the best.
pub fn comparisons(
    strategies: &[StrategyResult],
    baseline: Option<usize>,
    thresholds: &Comparison,
) -> Comparisons {
    let ranked = ranked(strategies);
    let best = strategies.iter().position(|s| s.summary.rank == 1);
    let baseline = baseline.or(best).filter(|_| strategies.len() > 1);
    let mut against = Vec::new();
    if let Some(baseline) = baseline {
        let others = (0..strategies.len()).filter(|&i| i != baseline);
        for other in others {
            let (other, baseline) = (&strategies[other], &strategies[baseline]);
            let priced = baseline.summary.cost_per_1000_requests.is_some();
            let row = |metric| row(metric, other, baseline, thresholds);
            against.extend(figures(priced).map(row));
        }
    }
    let neighbours = ranked.windows(2);
    Comparisons {
        baseline,
        success: thresholds.success,
        relative: thresholds.relative,
        rows: against,
        ranking: neighbours
            .map(|pair| success_apart(pair[0], pair[1], thresholds.success).1)
            .collect(),
    }
}

fn row(
    metric: &'static Metric,
    strategy: &StrategyResult,
    baseline: &StrategyResult,
    thresholds: &Comparison,
) -> ComparisonRow {
    let apart = paired(metric, &rows(strategy), &rows(baseline));
    let figure = metric.mean(baseline.each.iter().map(|run| &run.row));
    let threshold = figure.map(|figure| threshold(metric, thresholds, figure));
    let worth = |apart: Difference| Some(finding(&apart.paired, threshold?, metric.better));
    ComparisonRow {
        strategy: strategy.summary.strategy.clone(),
        baseline: baseline.summary.strategy.clone(),
        metric: metric.name,
        difference: apart.map(|d| d.paired.mean),
        difference_low: apart.and_then(|d| d.paired.low),
        difference_high: apart.and_then(|d| d.paired.high),
        unpaired_half_width: apart.and_then(|d| d.unpaired_half_width),
        threshold,
        verdict: apart.and_then(worth),
    }
}
