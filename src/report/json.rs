//! A run as one JSON document, for other programs.

use super::checks::CheckRow;
use crate::experiment::{ComparisonRow, RunResult, TheoryLine, TheoryRow};
use crate::metrics::SummaryRow;
use serde::Serialize;

/// The version of the document's form. It changes when a field changes its name or meaning, or goes.
pub const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    scenario: &'a str,
    question: &'a str,
    seed: u64,
    replications: u32,
    horizon_s: f64,
    strategies: Vec<Strategy<'a>>,
    /// The rows of `checks.csv`.
    checks: Vec<CheckRow<'a>>,
    comparison: Option<Comparison<'a>>,
}

/// The rows of `comparison.csv`, and what they were judged by.
#[derive(Serialize)]
struct Comparison<'a> {
    baseline: &'a str,
    success: f64,
    relative: f64,
    differences: &'a [ComparisonRow],
}

#[derive(Serialize)]
struct Strategy<'a> {
    #[serde(flatten)]
    summary: &'a SummaryRow,
    max_attempts: Option<u64>,
    theory: &'a TheoryLine,
    /// The rows of `theory.csv`.
    figures: &'a [TheoryRow],
}

/// The result as indented JSON with a line break at the end: the fields of `summary.csv` a strategy, in the order
/// of the scenario, what theory says, how the strategies differ, and what came of the checks. A figure that does not exist
/// is `null`.
pub fn json(result: &RunResult) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        scenario: &result.name,
        question: &result.question,
        seed: result.seed,
        replications: result.replications,
        horizon_s: result.horizon.as_secs_f64(),
        strategies: result
            .strategies
            .iter()
            .map(|strategy| Strategy {
                summary: &strategy.summary,
                max_attempts: strategy.max_attempts,
                theory: &strategy.theory,
                figures: &strategy.theory_rows,
            })
            .collect(),
        checks: result.checks.iter().map(CheckRow::from).collect(),
        comparison: result.comparison.baseline.map(|baseline| Comparison {
            baseline: &result.strategies[baseline].summary.strategy,
            success: result.comparison.success,
            relative: result.comparison.relative,
            differences: &result.comparison.rows,
        }),
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("structs with text keys always have a JSON form");
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use serde_json::Value;

    #[test]
    fn every_summary_field_and_the_theory_are_there() {
        let result = sample::herd();
        let text = json(&result);
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["schema_version"], 1);
        assert_eq!(document["seed"], result.seed);
        let strategies = document["strategies"].as_array().unwrap();
        assert_eq!(strategies.len(), result.strategies.len());
        let row = serde_json::to_value(&result.strategies[0].summary).unwrap();
        for (key, value) in row.as_object().unwrap() {
            assert_eq!(&strategies[0][key], value, "{key}");
        }
        assert!(strategies[0]["theory"]["dependent"]["came"].is_number());
        assert_eq!(document["checks"], Value::Array(Vec::new()));
        assert_eq!(text, json(&sample::herd()));
    }

    #[test]
    fn checks_are_told_with_their_figures() {
        let document: Value = serde_json::from_str(&json(&sample::checked())).unwrap();
        let checks = document["checks"].as_array().unwrap();
        assert_eq!(checks.len(), 4);
        assert_eq!(checks[1]["outcome"], "does_not_hold");
        assert_eq!(checks[1]["value"], 0.99);
        assert_eq!(checks[3]["figure"], Value::Null);
    }

    #[test]
    fn figures_that_do_not_exist_are_null() {
        let document: Value = serde_json::from_str(&json(&sample::silent())).unwrap();
        assert_eq!(document["strategies"][0]["success_rate"], Value::Null);
        assert_eq!(document["strategies"][0]["theory"], "nothing");
    }
}
