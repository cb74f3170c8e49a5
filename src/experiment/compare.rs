//! How far two sets of replications are apart, and whether that is a reason to do anything.
//!
//! All strategies meet the same worlds, so the difference in one world is known far better than either result: what the
//! world did cancels. The interval of a difference is therefore taken over paired differences. Whether a difference is
//! real, too small or perhaps chance is decided in one place, [`finding`], so that tables, files and winners agree.

use crate::metrics::{
    Better, CONFIDENCE, Estimate, Metric, ReplicationRow, Unit, metric, newcombe,
};
use crate::scenario::Comparison;
use serde::Serialize;

/// The difference of a figure between two strategies that met the same worlds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Mean of the differences of each replication (first − second), with their interval.
    pub paired: Estimate,
    /// Half the interval that two independent sets of replications would have had.
    pub unpaired_half_width: Option<f64>,
}

/// What a difference is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Finding {
    /// Sure, large enough to matter, and for the better.
    #[serde(rename = "better")]
    Better,
    /// Sure, large enough to matter, and for the worse.
    #[serde(rename = "worse")]
    Worse,
    /// Sure and large enough, in a figure that is neither good nor bad.
    #[serde(rename = "different")]
    Different,
    /// Too small to matter, and known well enough to say so.
    #[serde(rename = "below the threshold")]
    TooSmall,
    /// Not known well enough.
    #[serde(rename = "could be chance")]
    Chance,
}

impl Finding {
    /// Its words in files and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Different => "different",
            Self::TooSmall => "below the threshold",
            Self::Chance => "could be chance",
        }
    }

    /// Whether the difference is sure and large enough to matter.
    pub fn is_real(self) -> bool {
        !matches!(self, Self::TooSmall | Self::Chance)
    }
}

/// What a difference is worth. It is real when its interval is without zero and its mean reaches the threshold. It is too
/// small when its mean does not, and either its interval is without zero or lies within the threshold on both sides.
/// Anything else could be chance, and so could the difference of a single replication, which has no interval.
pub fn finding(difference: &Estimate, threshold: f64, better: Better) -> Finding {
    let Some((low, high)) = difference.low.zip(difference.high) else {
        return Finding::Chance;
    };
    let sure = low > 0.0 || high < 0.0;
    let within = -threshold <= low && high <= threshold;
    let matters = difference.mean.abs() >= threshold;
    match (sure, matters, better) {
        (false, _, _) if !within => Finding::Chance,
        (false, ..) | (true, false, _) => Finding::TooSmall,
        (true, true, Better::Neither) => Finding::Different,
        (true, true, Better::Higher) if difference.mean > 0.0 => Finding::Better,
        (true, true, Better::Lower) if difference.mean < 0.0 => Finding::Better,
        (true, true, _) => Finding::Worse,
    }
}

/// The smallest difference that matters to a figure whose mean under the baseline is `figure`.
pub fn threshold(metric: &Metric, comparison: &Comparison, figure: f64) -> f64 {
    match metric.unit {
        Unit::Share => comparison.success,
        _ => comparison.relative * figure.abs(),
    }
}

fn values(metric: &Metric, rows: &[&ReplicationRow]) -> Vec<f64> {
    rows.iter().filter_map(|row| metric.of(row)).collect()
}

/// How far a figure of `first` is above that of `second`, row by row, over those in which both have it. Shares of
/// replications have the interval of [`unpaired`] shares, since all or none of the replications often go one way.
pub fn paired(
    metric: &Metric,
    first: &[&ReplicationRow],
    second: &[&ReplicationRow],
) -> Option<Difference> {
    let pairs = first.iter().zip(second);
    let differences: Vec<f64> = pairs
        .filter_map(|(a, b)| Some(metric.of(a)? - metric.of(b)?))
        .collect();
    let apart = unpaired(metric, first, second)?;
    let paired = if metric.is_share_of_replications() {
        apart
    } else {
        Estimate::from_replications(&differences)?
    };
    Some(Difference {
        paired,
        unpaired_half_width: apart.half_width(),
    })
}

/// How far a figure of `first` is above that of `second`, two independent sets of replications. `None` when one has none.
pub fn unpaired(
    metric: &Metric,
    first: &[&ReplicationRow],
    second: &[&ReplicationRow],
) -> Option<Estimate> {
    let (a, b) = (values(metric, first), values(metric, second));
    let apart = Estimate::of_difference(&a, &b)?;
    if !metric.is_share_of_replications() || a.len() < 2 || b.len() < 2 {
        return Some(apart);
    }
    let counts = |values: &[f64]| (values.iter().sum::<f64>() as u64, values.len() as u64);
    let (low, high) = newcombe(counts(&a), counts(&b), CONFIDENCE);
    Some(Estimate {
        low: Some(low),
        high: Some(high),
        standard_error: None,
        ..apart
    })
}

/// The figures that are compared.
pub const FIGURES: [&str; 8] = [
    "success_rate",
    "amplification",
    "latency_p50_ms",
    "latency_p99_ms",
    "goodput_per_s",
    "recovery_s",
    "collapsed_share",
    "cost_per_1000_requests",
];

/// The figures that are compared; the cost only where there are prices.
pub(super) fn figures(priced: bool) -> impl Iterator<Item = &'static Metric> {
    let figures = FIGURES
        .iter()
        .map(|name| metric(name).expect("its name is that of a figure"));
    figures.filter(move |metric| priced || metric.unit != Unit::Money)
}

/// A row of `comparison.csv`: how far one figure of one strategy is above that of the baseline. A field is empty where
/// no replication has the figure under both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparisonRow {
    /// The strategy.
    pub strategy: String,
    /// What it is compared with.
    pub baseline: String,
    /// The figure, by its column in `summary.csv`.
    pub metric: &'static str,
    /// Strategy − baseline, mean over replications.
    pub difference: Option<f64>,
    /// Lower end of its interval.
    pub difference_low: Option<f64>,
    /// Upper end of its interval.
    pub difference_high: Option<f64>,
    /// Half the interval that two independent sets of replications would have had.
    pub unpaired_half_width: Option<f64>,
    /// A smaller difference does not matter.
    pub threshold: Option<f64>,
    /// What the difference is worth.
    pub verdict: Option<Finding>,
}

/// How the strategies of a run differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparisons {
    /// The strategy that the others are compared with, by its position in the result; `None` when there are no others.
    pub baseline: Option<usize>,
    /// A smaller difference of a share does not matter.
    pub success: f64,
    /// A smaller difference of another figure, as a share of the baseline's, likewise.
    pub relative: f64,
    /// Every other strategy in every figure, in the order of the result.
    pub rows: Vec<ComparisonRow>,
    /// What the difference of success is worth between the strategies of rank 1 and 2, of rank 2 and 3, and so on, seen
    /// from the better rank.
    pub ranking: Vec<Finding>,
}

impl Comparisons {
    /// How far a figure of a strategy is above the baseline's.
    pub fn row(&self, strategy: &str, metric: &str) -> Option<&ComparisonRow> {
        let wanted = |row: &&ComparisonRow| row.strategy == strategy && row.metric == metric;
        self.rows.iter().find(wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(values: &[f64], threshold: f64) -> Finding {
        let estimate = Estimate::from_replications(values).unwrap();
        finding(&estimate, threshold, Better::Higher)
    }

    #[test]
    fn a_difference_must_be_sure_and_matter() {
        assert_eq!(judged(&[0.02, 0.021, 0.019], 1e-3), Finding::Better);
        assert_eq!(judged(&[-0.02, -0.021, -0.019], 1e-3), Finding::Worse);
        assert_eq!(judged(&[0.02, -0.03, 0.04], 1e-3), Finding::Chance);
        assert_eq!(judged(&[0.0005, 0.0005, 0.0005], 1e-3), Finding::TooSmall);
        assert_eq!(judged(&[0.0005, 0.0005, 0.0005], 1e-4), Finding::Better);
        assert_eq!(judged(&[0.0, 0.0, 0.0], 1e-3), Finding::TooSmall);
        assert_eq!(judged(&[0.0, 0.0, 0.0], 0.0), Finding::TooSmall);
        assert_eq!(judged(&[0.5], 1e-3), Finding::Chance, "one run");
    }

    #[test]
    fn what_is_small_is_told_only_where_the_interval_is_small_too() {
        // Around zero with an interval inside the threshold, and with one that goes beyond it.
        assert_eq!(judged(&[0.0001, -0.0001, 0.0002], 1e-3), Finding::TooSmall);
        assert_eq!(judged(&[0.002, -0.003, 0.0012], 1e-3), Finding::Chance);
    }

    #[test]
    fn the_direction_of_good_is_that_of_the_figure() {
        let more = Estimate::from_replications(&[1.0, 1.1, 0.9]).unwrap();
        assert_eq!(finding(&more, 0.1, Better::Lower), Finding::Worse);
        assert_eq!(finding(&more, 0.1, Better::Neither), Finding::Different);
    }

    #[test]
    fn a_threshold_is_in_points_for_shares_and_relative_for_the_rest() {
        let comparison = Comparison {
            baseline: None,
            success: 0.002,
            relative: 0.05,
        };
        let of = |name: &str| threshold(metric(name).unwrap(), &comparison, 40.0);
        assert_eq!(of("success_rate"), 0.002);
        assert_eq!(of("collapsed_share"), 0.002);
        assert_eq!(of("latency_p99_ms"), 2.0);
        assert_eq!(of("cost_per_1000_requests"), 2.0);
    }
}
