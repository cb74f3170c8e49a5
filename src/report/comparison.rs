//! How the strategies differ, below the table of a run.
//!
//! Two rows of a table with their intervals cannot be compared by eye: both met the same worlds, and what the worlds did
//! stands in both intervals. So the differences stand in a table of their own, each with its own interval and with what
//! it is worth.

use super::grid::{Column, first_that_fits, grid};
use super::number::{fixed, places, points, short_percent, signed};
use super::text::{Style, glue, wrap};
use crate::experiment::{ComparisonRow, Finding, RunResult, StrategyResult};

/// A figure of the table.
struct Shown {
    metric: &'static str,
    heading: &'static str,
    unit: Unit,
}

/// How a difference is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Points,
    Plain(&'static str),
    Milliseconds,
    Currency,
}

/// The columns in their order.
const COLUMNS: [Shown; 8] = [
    shown("success_rate", "success", Unit::Points),
    shown("cost_per_1000_requests", "cost/1000", Unit::Currency),
    shown("amplification", "amplification", Unit::Plain("")),
    shown("latency_p50_ms", "latency p50", Unit::Milliseconds),
    shown("latency_p99_ms", "latency p99", Unit::Milliseconds),
    shown("goodput_per_s", "goodput", Unit::Plain("per s")),
    shown("recovery_s", "recovery", Unit::Plain("s")),
    shown("collapsed_share", "collapsed", Unit::Points),
];
/// The columns that a narrow terminal does without, the first to go first.
const DROPPED: [&str; 7] = [
    "goodput_per_s",
    "collapsed_share",
    "recovery_s",
    "latency_p50_ms",
    "latency_p99_ms",
    "amplification",
    "cost_per_1000_requests",
];

const fn shown(metric: &'static str, heading: &'static str, unit: Unit) -> Shown {
    Shown {
        metric,
        heading,
        unit,
    }
}

/// The ranking with what lies between neighbours, the differences to the baseline, and what the signs mean. Nothing when
/// there is nothing to compare, or only one replication, which decides nothing.
pub(super) fn comparison(
    result: &RunResult,
    ranked: &[&StrategyResult],
    width: usize,
    style: Style,
) -> Vec<String> {
    let Some(baseline) = result.comparison.baseline else {
        return Vec::new();
    };
    if result.replications == 1 || result.comparison.rows.iter().all(|r| r.verdict.is_none()) {
        return Vec::new();
    }
    let say = |text: &str| wrap(&style.say(text), width, "  ");
    let name = &result.strategies[baseline].summary.strategy;
    let title = format!("Against {name} (paired differences, 95 % intervals):");
    vec![
        say(&ranking(result, ranked)),
        format!(
            "{}\n{}",
            say(&title),
            differences(result, ranked, width, style)
        ),
        say(&legend(result)),
    ]
}

/// "Ranking by success: a > b ≈ c".
fn ranking(result: &RunResult, ranked: &[&StrategyResult]) -> String {
    let mut text = String::from("Ranking by success:");
    let between = std::iter::once(None).chain(result.comparison.ranking.iter().map(Some));
    for (strategy, between) in ranked.iter().zip(between) {
        let sign = match between {
            None => "",
            Some(Finding::TooSmall) => "≈\u{a0}",
            Some(Finding::Chance) => "~\u{a0}",
            // With a tiny threshold a strategy with fewer attempts can stand before one with more success.
            Some(Finding::Worse) => "<\u{a0}",
            Some(Finding::Better | Finding::Different) => ">\u{a0}",
        };
        text += &format!(" {sign}{}", strategy.summary.strategy);
    }
    text
}

fn legend(result: &RunResult) -> String {
    let points = points(result.comparison.success);
    let relative = short_percent(result.comparison.relative);
    let small = format!(
        "{} of a share, {} of another figure",
        glue(&format!("{points} points")),
        glue(&relative)
    );
    format!(
        "> and ✓ better, ✗ worse: real differences; ≈ below the threshold ({small}); ~ could be chance."
    )
}

/// The table of differences, best first.
fn differences(
    result: &RunResult,
    ranked: &[&StrategyResult],
    width: usize,
    style: Style,
) -> String {
    let baseline = result
        .comparison
        .baseline
        .map(|i| &result.strategies[i].summary.strategy);
    let others: Vec<&str> = ranked
        .iter()
        .map(|strategy| &strategy.summary.strategy)
        .filter(|name| Some(*name) != baseline)
        .map(String::as_str)
        .collect();
    let names = others.iter().map(|name| (*name).to_owned()).collect();
    let names = Column::names(["", "strategy"], names, style);
    let currency = result.currency.as_deref().unwrap_or_default();
    let column = |shown: &Shown| {
        let rows: Vec<_> = others
            .iter()
            .map(|name| result.comparison.row(name, shown.metric))
            .collect();
        column(shown, &rows, currency, style)
    };
    let all: Vec<(&str, Column)> = COLUMNS
        .iter()
        .filter_map(|shown| Some((shown.metric, column(shown)?)))
        .collect();
    let without = |gone: &[&str]| {
        let kept = all.iter().filter(|(metric, _)| !gone.contains(metric));
        let kept = kept.map(|(_, column)| column.clone());
        std::iter::once(names.clone())
            .chain(kept)
            .collect::<Vec<_>>()
    };
    let tables = (0..=DROPPED.len()).map(|gone| without(&DROPPED[..gone]));
    grid(
        first_that_fits(tables.collect(), width),
        width,
        false,
        style,
    )
}

/// A column, unless no strategy has a difference there.
fn column(
    shown: &Shown,
    rows: &[Option<&ComparisonRow>],
    currency: &str,
    style: Style,
) -> Option<Column> {
    let differences = || rows.iter().flatten().filter_map(|row| row.difference);
    let halves = || rows.iter().flatten().filter_map(|row| half(row));
    if differences().all(|difference| difference == 0.0) {
        return None;
    }
    let largest = differences()
        .chain(halves())
        .fold(0.0, |most: f64, v| most.max(v.abs()));
    let (factor, unit) = match shown.unit {
        Unit::Points => (100.0, "points"),
        Unit::Plain(unit) => (1.0, unit),
        Unit::Currency => (1.0, currency),
        Unit::Milliseconds if largest >= 999.5 => (1e-3, "s"),
        Unit::Milliseconds => (1.0, "ms"),
    };
    let places = match shown.unit {
        Unit::Points => 2,
        _ => places(largest * factor),
    };
    let cell = |row: &Option<&ComparisonRow>| {
        let Some((row, difference)) = row.and_then(|row| Some((row, row.difference?))) else {
            return "-".into();
        };
        let mean = signed(difference * factor, places);
        let half = half(row).map(|half| format!(" ± {}", fixed(half * factor, places)));
        format!("{mean}{} {}", half.unwrap_or_default(), mark(row.verdict))
    };
    let cells = rows.iter().map(cell).collect();
    Some(Column::numbers([shown.heading, unit], cells, style))
}

/// Half the interval, to its wider side.
fn half(row: &ComparisonRow) -> Option<f64> {
    let difference = row.difference?;
    Some((row.difference_high? - difference).max(difference - row.difference_low?))
}

fn mark(verdict: Option<Finding>) -> &'static str {
    match verdict {
        Some(Finding::Better) => "✓",
        Some(Finding::Worse) => "✗",
        Some(Finding::Different) => ">",
        Some(Finding::TooSmall) => "≈",
        Some(Finding::Chance) => "~",
        None => " ",
    }
}
