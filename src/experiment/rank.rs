//! Which strategy did best.

use super::result::StrategyResult;
use std::cmp::Ordering;

/// Success rates closer than this count as equal: 0.01 points.
const SAME_SUCCESS: f64 = 1e-4;

/// Gives each strategy its rank: by success, then by attempts per request, then by median latency, then by
/// the order of the scenario.
pub(super) fn rank(strategies: &mut [StrategyResult]) {
    let mut order: Vec<usize> = (0..strategies.len()).collect();
    order.sort_by(|&a, &b| compare(&strategies[a], &strategies[b]));
    for (rank, index) in (1..).zip(order) {
        strategies[index].summary.rank = rank;
    }
}

/// `Less` when `a` did better.
fn compare(a: &StrategyResult, b: &StrategyResult) -> Ordering {
    // Rounding to the step keeps the order total where "closer than" would not.
    let success =
        |s: &StrategyResult| (s.summary.success_rate.unwrap_or(-1.0) / SAME_SUCCESS).round();
    let load = |s: &StrategyResult| (s.summary.amplification.unwrap_or(f64::MAX) * 1e3).round();
    let median = |s: &StrategyResult| s.summary.latency_p50_ms.unwrap_or(f64::MAX);
    success(b)
        .total_cmp(&success(a))
        .then_with(|| load(a).total_cmp(&load(b)))
        .then_with(|| median(a).total_cmp(&median(b)))
}
