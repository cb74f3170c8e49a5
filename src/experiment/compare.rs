//! How far strategies are apart, replication by replication.
//!
//! All strategies meet the same worlds, so the difference in one world is known far better than either result:
//! what the world did cancels. The interval of a difference is therefore taken over the paired differences. A
//! difference that this interval cannot tell from zero, or that nobody would act on, makes no winner.

use super::result::StrategyResult;
use crate::metrics::{Estimate, Headline, estimate};

/// Differences of success below this make no winner: a tenth of a point.
pub const PRACTICAL: f64 = 1e-3;

/// The difference of a figure between two strategies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of the differences of each replication (first − second), with their interval.
    pub paired: Estimate,
    /// Half the interval that two independent sets of replications would have had.
    pub unpaired_half_width: Option<f64>,
}

/// The difference in a figure between the replications of two strategies, over those in which both have it.
pub fn difference(
    first: &[Headline],
    second: &[Headline],
    value: impl Fn(&Headline) -> Option<f64>,
) -> Option<Difference> {
    let pairs = first.iter().zip(second);
    let differences: Vec<f64> = pairs
        .filter_map(|(a, b)| Some(value(a)? - value(b)?))
        .collect();
    let half = |each: &[Headline]| estimate(each, &value)?.half_width();
    let unpaired = half(first).zip(half(second)).map(|(a, b)| f64::hypot(a, b));
    Some(Difference {
        paired: Estimate::from_replications(&differences)?,
        unpaired_half_width: unpaired,
    })
}

/// Fills in how far each strategy is behind the best one, which has rank 1.
pub(super) fn compare_with_best(strategies: &mut [StrategyResult]) {
    let Some(best) = strategies.iter().position(|s| s.summary.rank == 1) else {
        return;
    };
    let differences: Vec<Option<Difference>> = strategies
        .iter()
        .map(|other| {
            difference(&strategies[best].each, &other.each, |run| {
                run.row.success_rate
            })
        })
        .collect();
    for (i, (strategy, difference)) in strategies.iter_mut().zip(differences).enumerate() {
        let summary = &mut strategy.summary;
        summary.success_behind_best = difference.map(|d| d.paired.mean);
        summary.success_behind_best_low = difference.and_then(|d| d.paired.low);
        summary.success_behind_best_high = difference.and_then(|d| d.paired.high);
        summary.ties_with_best =
            i != best && difference.is_some_and(|d| makes_no_winner(&d.paired));
    }
}

/// Whether a difference is too small, or too uncertain, to act on. One replication alone decides nothing.
fn makes_no_winner(difference: &Estimate) -> bool {
    let Some((low, high)) = difference.low.zip(difference.high) else {
        return true;
    };
    difference.mean.abs() < PRACTICAL || (low <= 0.0 && high >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_must_be_sure_and_matter() {
        let estimate = |values: &[f64]| Estimate::from_replications(values).unwrap();
        assert!(!makes_no_winner(&estimate(&[0.02, 0.021, 0.019])));
        assert!(makes_no_winner(&estimate(&[0.02, -0.03, 0.04])), "unsure");
        assert!(
            makes_no_winner(&estimate(&[0.0005, 0.0005, 0.0005])),
            "small"
        );
        assert!(makes_no_winner(&estimate(&[0.0, 0.0, 0.0])), "none");
        assert!(
            makes_no_winner(&estimate(&[0.5])),
            "one run decides nothing"
        );
    }
}
