//! Two runs beside each other: what a change has done.
//!
//! A change is judged well only when it is known what has changed. So the keys that differ stand above the figures, and
//! with them whether the two runs share their luck.

use super::csv::write;
use super::grid::{Column, grid};
use super::json::SCHEMA_VERSION;
use super::number::{
    factor, fixed, latency, percent, places, points, short_percent, signed, thousands,
};
use super::table::NARROWEST;
use super::text::{Paint, Style, fit_by, glue, wrap};
use crate::experiment::{BeforeAfter, Change, ChangedFigure, Finding};
use crate::metrics::Unit;
use crate::scenario::Difference;
use serde::Serialize;

/// Keys that are named; more are counted.
const MOST_NAMED: usize = 6;
/// A value longer than this is cut.
const LONGEST_VALUE: usize = 60;

/// The comparison as text of at most `width` columns (at least 76). `names` are what the two runs are called.
pub fn before_after_table(
    both: &BeforeAfter,
    names: [&str; 2],
    currency: &str,
    width: usize,
    style: Style,
) -> String {
    let width = width.max(NARROWEST);
    let say = |text: &str| wrap(&style.say(text), width, "  ");
    let mut parts = vec![heading(both, names, &say)];
    if !both.settings.is_empty() {
        parts.push(say(&format!(
            "Changed: {}.",
            named(&both.settings, &|d| in_settings(both, d))
        )));
    }
    for change in &both.strategies {
        let title = match (change.a.as_str(), change.b.as_str()) {
            (a, b) if a == b => a.to_owned(),
            (a, b) => format!("{a} → {b}"),
        };
        let title = style.paint(Paint::Heading, &say(&title));
        parts.push(format!(
            "{title}\n{}",
            figures(change, currency, width, style)
        ));
    }
    for (side, names) in [("A", &both.only_a), ("B", &both.only_b)] {
        if !names.is_empty() {
            parts.push(say(&format!("Only in {side}: {}.", names.join(", "))));
        }
    }
    if both.strategies.is_empty() {
        parts.push(say(
            "No strategy of A has the name of one of B, so there is nothing to compare.",
        ));
    } else {
        let small = glue(&format!("{} points", points(both.thresholds.success)));
        let relative = glue(&short_percent(both.thresholds.relative));
        parts.push(say(&format!(
            "Better and worse are real differences. The threshold is {small} of a share and {relative} of another figure of A."
        )));
    }
    format!("{}\n", parts.join("\n\n"))
}

fn heading(both: &BeforeAfter, names: [&str; 2], say: &dyn Fn(&str) -> String) -> String {
    let counts = both.strategies.first().map(|change| change.replications);
    let how = match counts {
        Some((n, _)) if both.is_paired() => format!(
            "The worlds are the same: differences are B − A, paired over {n} replications, with 95 % intervals."
        ),
        Some((n, m)) => format!(
            "The worlds differ, so differences are B − A of unpaired runs ({n} and {m} replications), with 95 % intervals \
             that are wider: {}.",
            named(&both.worlds, &in_worlds)
        ),
        None if both.is_paired() => "The worlds are the same.".into(),
        None => format!("The worlds differ: {}.", named(&both.worlds, &in_worlds)),
    };
    let lines = [format!("A: {}", names[0]), format!("B: {}", names[1]), how];
    lines.map(|line| say(&line)).join("\n")
}

/// "run.seed: 42 and 7; service.api.workers: 60 and 80; and 2 more".
fn named(differences: &[Difference], line: &dyn Fn(&Difference) -> String) -> String {
    let mut parts: Vec<String> = differences.iter().take(MOST_NAMED).map(line).collect();
    if differences.len() > MOST_NAMED {
        parts.push(format!("and {} more", differences.len() - MOST_NAMED));
    }
    parts.join("; ")
}

/// "run.seed: 42 and 7".
fn in_worlds(d: &Difference) -> String {
    format!("{}: {} and {}", d.path, value(&d.a), value(&d.b))
}

/// "strategy full jitter: max_attempts 5 → 3", "cost: attempt 1 → 2".
fn in_settings(both: &BeforeAfter, d: &Difference) -> String {
    let (a, b) = (value(&d.a), value(&d.b));
    let of = |name: &str| d.path.strip_prefix(&format!("strategy.{name}."));
    let names = both.strategies.iter().map(|change| change.b.as_str());
    match names.filter_map(|name| Some((name, of(name)?))).next() {
        Some((name, key)) => format!("strategy {name}: {key} {a} → {b}"),
        None => format!("{} {a} → {b}", d.path.replacen('.', ": ", 1)),
    }
}

fn value(value: &Option<String>) -> String {
    match value {
        None => "none".to_owned(),
        Some(value) => fit_by(value, "…", |text| text.chars().count() <= LONGEST_VALUE),
    }
}

fn figures(change: &Change, currency: &str, width: usize, style: Style) -> String {
    let shown: Vec<&ChangedFigure> = change
        .figures
        .iter()
        .filter(|figure| figure.a.is_some() || figure.b.is_some())
        // Nothing collapses in most runs.
        .filter(|f| f.metric.name != "collapsed_share" || (f.a, f.b) != (Some(0.0), Some(0.0)))
        .collect();
    let cells = |cell: &dyn Fn(&ChangedFigure) -> String| -> Vec<String> {
        shown.iter().map(|figure| cell(figure)).collect()
    };
    let value = |unit: Unit, value: Option<f64>| match (unit, value) {
        (_, None) => "-".to_owned(),
        (Unit::Share, Some(v)) => percent(v),
        (Unit::Factor, Some(v)) => factor(v),
        (Unit::Milliseconds, Some(v)) => latency(v),
        (Unit::Seconds, Some(0.0)) => "0 s".into(),
        (Unit::Seconds, Some(v)) => latency(v * 1e3),
        (_, Some(v)) => thousands(v),
    };
    let verdict = |figure: &ChangedFigure| figure.verdict.map_or("", Finding::name).to_owned();
    let table = vec![
        Column::words(["", "figure"], cells(&|f| figure_name(f, currency)), style),
        Column::numbers(["", "A"], cells(&|f| value(f.metric.unit, f.a)), style),
        Column::numbers(["", "B"], cells(&|f| value(f.metric.unit, f.b)), style),
        Column::numbers(["", "B − A"], cells(&difference), style),
        Column::words(["", "verdict"], cells(&verdict), style),
    ];
    grid(table, width, false, style)
}

fn figure_name(figure: &ChangedFigure, currency: &str) -> String {
    match figure.metric.name {
        "success_rate" => "success".into(),
        "latency_p50_ms" => "latency p50".into(),
        "latency_p99_ms" => "latency p99".into(),
        "goodput_per_s" => "goodput, per s".into(),
        "recovery_s" => "time to recover".into(),
        "collapsed_share" => "collapsed".into(),
        "cost_per_1000_requests" => match currency {
            "" => "cost/1000".into(),
            currency => format!("cost/1000, {currency}"),
        },
        other => other.into(),
    }
}

/// "-1.14 ± 0.04 points".
fn difference(figure: &ChangedFigure) -> String {
    let Some(difference) = figure.difference else {
        return "-".into();
    };
    let mean = difference.mean;
    let ends = difference.low.zip(difference.high);
    let half = ends.map(|(low, high)| (high - mean).max(mean - low));
    let largest = mean.abs().max(half.unwrap_or(0.0));
    let (times, unit) = match figure.metric.unit {
        Unit::Share => (100.0, " points"),
        Unit::Milliseconds if largest >= 999.5 => (1e-3, " s"),
        Unit::Milliseconds => (1.0, " ms"),
        Unit::Seconds => (1.0, " s"),
        Unit::Factor | Unit::PerSecond | Unit::Count | Unit::Money => (1.0, ""),
    };
    let places = match figure.metric.unit {
        Unit::Share => 2,
        _ => places(largest * times),
    };
    let half = half.map(|half| format!(" ± {}", fixed(half * times, places)));
    format!(
        "{}{}{unit}",
        signed(mean * times, places),
        half.unwrap_or_default()
    )
}

/// A row of the table as data.
#[derive(Serialize)]
struct Row<'a> {
    strategy_a: &'a str,
    strategy_b: &'a str,
    metric: &'a str,
    a: Option<f64>,
    b: Option<f64>,
    difference: Option<f64>,
    difference_low: Option<f64>,
    difference_high: Option<f64>,
    paired: bool,
    threshold: Option<f64>,
    verdict: Option<Finding>,
}

fn rows(both: &BeforeAfter) -> impl Iterator<Item = Row<'_>> {
    both.strategies.iter().flat_map(|change| {
        change.figures.iter().map(|figure| Row {
            strategy_a: &change.a,
            strategy_b: &change.b,
            metric: figure.metric.name,
            a: figure.a,
            b: figure.b,
            difference: figure.difference.map(|d| d.mean),
            difference_low: figure.difference.and_then(|d| d.low),
            difference_high: figure.difference.and_then(|d| d.high),
            paired: both.is_paired(),
            threshold: figure.threshold,
            verdict: figure.verdict,
        })
    })
}

/// What every such CSV file begins with.
pub const BEFORE_AFTER: &str = "strategy_a,strategy_b,metric,";

/// The comparison as CSV: a row a strategy and figure.
///
/// # Errors
/// When `out` cannot be written to.
pub fn before_after_csv(both: &BeforeAfter, out: impl std::io::Write) -> csv::Result<()> {
    write(out, rows(both))
}

#[derive(Serialize)]
struct Key<'a> {
    key: &'a str,
    a: &'a Option<String>,
    b: &'a Option<String>,
}

fn keys(differences: &[Difference]) -> Vec<Key<'_>> {
    let keys = differences.iter();
    keys.map(|Difference { path, a, b }| Key { key: path, a, b })
        .collect()
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    a: &'a str,
    b: &'a str,
    paired: bool,
    worlds: Vec<Key<'a>>,
    settings: Vec<Key<'a>>,
    only_in_a: &'a [String],
    only_in_b: &'a [String],
    differences: Vec<Row<'a>>,
}

/// The comparison as one JSON document with a line break at the end.
pub fn before_after_json(both: &BeforeAfter, names: [&str; 2]) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        a: names[0],
        b: names[1],
        paired: both.is_paired(),
        worlds: keys(&both.worlds),
        settings: keys(&both.settings),
        only_in_a: &both.only_a,
        only_in_b: &both.only_b,
        differences: rows(both).collect(),
    };
    let mut text = serde_json::to_string_pretty(&document)
        .expect("structs with text keys always have a JSON form");
    text.push('\n');
    text
}
