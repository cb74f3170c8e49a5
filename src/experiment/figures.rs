//! The figures of a strategy in one cell of a sweep, each with its interval and what theory expects.

use super::load::{Load, promised};
use super::result::StrategyResult;
use crate::metrics::{CONFIDENCE, METRICS, Unit};
use crate::scenario::Plan;

/// The name of a figure that is no column of `summary.csv`: requests offered ÷ those up to which the scenario comes back
/// by itself. Above 1 it does not.
pub const LOAD_OF_BORDER: &str = "load_of_border";

/// A figure of a strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Its name: a column of `summary.csv`, or [`LOAD_OF_BORDER`].
    pub metric: &'static str,
    /// Its value, where it has one.
    pub value: Option<f64>,
    /// Lower end of its 95 % interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// What it would be if attempts failed by themselves only, independently of each other.
    pub predicted: Option<f64>,
}

/// All figures of a strategy, in the order of the columns.
pub fn figures(plan: &Plan, strategy: usize, result: &StrategyResult) -> Vec<Figure> {
    let load = Load::of(plan, strategy);
    let success = promised(plan, strategy);
    let predicted = |name: &str| match name {
        "success_rate" => Some(success),
        "amplification" => Some(load.healthy_amplification),
        _ => None,
    };
    let mut figures: Vec<Figure> = METRICS
        .iter()
        .filter(|metric| metric.unit != Unit::Money || plan.prices.is_some())
        .map(|metric| {
            let estimate = metric.estimate(&result.summary, &result.each, CONFIDENCE);
            Figure {
                metric: metric.name,
                value: estimate.map(|e| e.mean),
                low: estimate.and_then(|e| e.low),
                high: estimate.and_then(|e| e.high),
                predicted: predicted(metric.name),
            }
        })
        .collect();
    let border = result.border.as_ref().ok();
    let of_border = border.map(|border| border.offered_per_s / border.per_s);
    figures.push(Figure {
        metric: LOAD_OF_BORDER,
        value: of_border.filter(|ratio| ratio.is_finite()),
        low: None,
        high: None,
        predicted: None,
    });
    figures
}
