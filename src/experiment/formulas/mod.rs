//! Which closed form fits a scenario, and how the run compares with it.
//!
//! Every formula has conditions. They are asked one by one of the scenario, and the first that fails is told: "no
//! formula" without a reason would teach nothing.

mod case;
mod chance;
mod closed;
mod open;
mod prediction;

use super::load::{attempts, is_mixed, retried_failures};
use crate::metrics::{Headline, Quantity, estimate};
use crate::scenario::Plan;
use case::{Case, Source};
use prediction::{Fit, Prediction};
use serde::Serialize;

/// The formula of attempts that fail independently.
pub const CHANCE: &str = "independent attempts";

/// Stands for a formula where none applies.
pub const NO_FORMULA: &str = "none";

/// A row of `theory.csv`: one figure of one strategy as a formula predicts it and as the run has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TheoryRow {
    /// The strategy's name.
    pub strategy: String,
    /// The formula; "none" when none applies.
    pub formula: &'static str,
    /// What it predicts, with its unit.
    pub quantity: Option<Quantity>,
    /// What it says.
    pub predicted: Option<f64>,
    /// The mean over replications.
    pub observed: Option<f64>,
    /// Lower end of its 95 % interval.
    pub observed_low: Option<f64>,
    /// Upper end of the interval.
    pub observed_high: Option<f64>,
    /// (observed − predicted) ÷ standard error over replications.
    pub z: Option<f64>,
    /// Why no formula applies, or why z is left out.
    pub note: String,
}

/// What the queue does.
fn queue(case: &Case) -> Fit {
    match case.source {
        Source::Herd(clients) => closed::herd(case, clients),
        Source::Closed(clients, pause) => closed::closed(case, clients, pause),
        Source::Poisson(rate) => open::open(case, rate),
    }
}

/// The rows of a strategy, from what it makes of chance and from what the queue does.
pub(super) fn theory_rows(
    plan: &Plan,
    strategy: usize,
    each: &[Headline],
    independent: bool,
) -> Vec<TheoryRow> {
    let name = &plan.strategies[strategy].name;
    let mut rows = Vec::new();
    let mut add = |prediction: &Prediction| {
        for &(quantity, predicted) in &prediction.figures {
            rows.push(row(name, prediction.formula, quantity, predicted, each));
        }
    };
    if independent {
        add(&chance::chance(plan, strategy));
    }
    match Case::of(plan, strategy).and_then(|case| queue(&case)) {
        Ok(prediction) => add(&prediction),
        Err(why) => rows.push(TheoryRow {
            strategy: name.clone(),
            formula: NO_FORMULA,
            quantity: None,
            predicted: None,
            observed: None,
            observed_low: None,
            observed_high: None,
            z: None,
            note: format!("no formula of queueing applies: {why}"),
        }),
    }
    rows
}

/// More requests than this that are open at the end can move a figure by more than chance does.
const MOST_OPEN: f64 = 2e-3;

/// The standard error is over replications, so that correlation inside a run does not count as certainty.
fn row(
    strategy: &str,
    formula: &'static str,
    quantity: Quantity,
    predicted: f64,
    each: &[Headline],
) -> TheoryRow {
    let observed = estimate(each, |run| run.seen.get(quantity));
    let error = observed.and_then(|o| o.standard_error).filter(|&e| e > 0.0);
    let open = estimate(each, |run| Some(run.seen.open_share())).map_or(0.0, |open| open.mean);
    let misses = quantity.misses_open_requests() && open > MOST_OPEN;
    let z = observed
        .zip(error)
        .filter(|_| !misses)
        .map(|(o, error)| (o.mean - predicted) / error);
    let note = if misses {
        format!(
            "{:.1} % of requests were still open at the end, so z is left out: lengthen `drain`",
            open * 100.0
        )
    } else {
        String::new()
    };
    TheoryRow {
        strategy: strategy.into(),
        formula,
        quantity: Some(quantity),
        predicted: Some(predicted),
        observed: observed.map(|o| o.mean),
        observed_low: observed.and_then(|o| o.low),
        observed_high: observed.and_then(|o| o.high),
        z,
        note,
    }
}
