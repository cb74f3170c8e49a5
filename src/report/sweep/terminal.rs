//! A sweep in the terminal: a line for each cell and strategy, as far as anybody would read.

use super::table::Table;
use crate::metrics::Verdict;
use crate::report::grid::{Column, grid};
use crate::report::number::{count, latency, percent};
use crate::report::text::{Paint, Style, fit, wrap};
use crate::scenario::{Axis, Scenario, Sweep};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// Lines that are shown; the others stand in the file.
const MOST_LINES: usize = 60;
/// Fewer columns than this hold no table.
const NARROWEST: usize = 76;
/// Names and values of axes keep to this.
const LONGEST: usize = 24;
/// The figures that are shown.
const FIGURES: [&str; 8] = [
    "success_rate",
    "amplification",
    "latency_p99_ms",
    "stable_replications",
    "recovered_replications",
    "degraded_replications",
    "collapsed_replications",
    "overloaded_replications",
];
/// Where those with a verdict begin.
const VERDICTS: usize = 3;

/// The table of a sweep for a terminal of so many columns.
///
/// # Errors
/// When `table`, the file of all rows, cannot be read.
pub fn sweep_table(
    scenario: &Scenario,
    sweep: &Sweep,
    table: &Path,
    width: usize,
    style: Style,
) -> io::Result<String> {
    let file = BufReader::new(File::open(table)?);
    let read = Table::read(file, sweep.axes.len(), sweep.len(), &FIGURES)?;
    let strategies = read.strategies.len();
    let all = sweep.len() as usize * strategies;
    let lines: Vec<(u32, usize)> = (0..all.min(MOST_LINES))
        .map(|line| ((line / strategies) as u32, line % strategies))
        .collect();
    let mut columns = axes(sweep, &lines, style);
    let names = lines
        .iter()
        .map(|&(_, strategy)| read.strategies[strategy].clone());
    columns.push(Column::names(["", "strategy"], names.collect(), style));
    let shown: Vec<[String; 4]> = lines
        .iter()
        .map(|&(cell, strategy)| figures(&read, cell, strategy))
        .collect();
    let of = |i: usize| shown.iter().map(|row| row[i].clone()).collect::<Vec<_>>();
    for (i, heading) in ["success", "attempts", "p99"].into_iter().enumerate() {
        columns.push(Column::numbers(["", heading], of(i), style));
    }
    columns.push(Column::words(["", "verdict"], of(3), style));
    let title = match scenario.question.as_str() {
        "" => scenario.name.clone(),
        question => format!("{}: {question}", scenario.name),
    };
    let width = width.max(NARROWEST);
    let heading = wrap(&style.say(&title), width, "");
    let heading = heading
        .lines()
        .map(|line| style.paint(Paint::Heading, line));
    let heading: Vec<String> = heading.collect();
    let table = grid(columns, width, false, style);
    let mut text = format!("{}\n\n{table}\n", heading.join("\n"));
    if all > MOST_LINES {
        let more = count((all - MOST_LINES) as u64);
        text += &format!("\n{more} more lines stand in sweep.csv.\n");
    }
    Ok(text)
}

/// A column for each axis; quantities end at the same place.
fn axes(sweep: &Sweep, lines: &[(u32, usize)], style: Style) -> Vec<Column> {
    let column = |(i, axis): (usize, &Axis)| {
        let values = lines.iter().map(|&(cell, _)| {
            let text = axis.short_text(&sweep.cell(cell).coordinates[i]);
            fit(&text, LONGEST, style.ellipsis())
        });
        let values: Vec<String> = values.collect();
        let title = fit(&axis.title, LONGEST, style.ellipsis());
        match axis.has_sizes() {
            true => Column::numbers(["", &title], values, style),
            false => Column::words(["", &title], values, style),
        }
    };
    sweep.axes.iter().enumerate().map(column).collect()
}

/// Success, attempts per request, latency and verdict.
fn figures(table: &Table, cell: u32, strategy: usize) -> [String; 4] {
    let get = |figure: usize| table.get(cell, strategy, figure);
    let or_none = |value: f64, text: String| if value.is_finite() { text } else { "-".into() };
    let success = get(0);
    let half = (success.value - success.low).max(success.high - success.value);
    let interval = if half.is_finite() {
        format!(" ± {:.2}", half * 100.0)
    } else {
        String::new()
    };
    let (attempts, p99) = (get(1).value, get(2).value);
    let with = Verdict::ALL.map(|verdict| {
        let place = VERDICTS + verdict as usize;
        (verdict, get(place).value)
    });
    [
        or_none(
            success.value,
            format!("{}{interval}", percent(success.value)),
        ),
        or_none(attempts, format!("{attempts:.3}×")),
        or_none(p99, latency(p99)),
        verdict(&with),
    ]
}

/// The verdict that all replications share, or how many collapsed.
fn verdict(with: &[(Verdict, f64)]) -> String {
    let all: f64 = with.iter().map(|(_, n)| n).sum();
    if let Some((verdict, _)) = with.iter().find(|(_, n)| *n == all) {
        return verdict.name().into();
    }
    let collapsed = with
        .iter()
        .find(|(verdict, _)| *verdict == Verdict::Collapsed);
    match collapsed {
        Some((_, n)) if *n > 0.0 => format!("{n} of {all} collapsed"),
        _ => "mixed".into(),
    }
}
