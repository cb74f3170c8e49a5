//! A sweep in the terminal: a line for each cell and strategy, as far as anybody would read.

use super::table::Table;
use crate::metrics::Verdict;
use crate::report::number::{count, latency, percent};
use crate::report::text::{Style, fit, wrap};
use crate::scenario::{Scenario, Sweep};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table as Grid, presets};
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
    let mut grid = Grid::new();
    grid.load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    let titles = sweep.axes.iter().map(|axis| short(&axis.title, style));
    let mut heading: Vec<String> = titles.collect();
    heading.extend(["strategy", "success", "attempts", "p99", "verdict"].map(String::from));
    grid.set_header(heading.iter().map(Cell::new));
    for line in 0..all.min(MOST_LINES) {
        let (cell, strategy) = ((line / strategies) as u32, line % strategies);
        let at = sweep.cell(cell).coordinates;
        let shown = sweep.axes.iter().zip(&at);
        let shown = shown.map(|(axis, at)| short(&axis.short_text(at), style));
        let mut row: Vec<String> = shown.collect();
        row.push(short(&read.strategies[strategy], style));
        row.extend(
            figures(&read, cell, strategy)
                .into_iter()
                .map(|cell| style.say(&cell)),
        );
        grid.add_row(row);
    }
    let verdicts = sweep.axes.len() + 4;
    for (i, column) in grid.column_iter_mut().enumerate() {
        column.set_padding((0, 2));
        if i != sweep.axes.len() && i != verdicts {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let title = match scenario.question.as_str() {
        "" => scenario.name.clone(),
        question => format!("{}: {question}", scenario.name),
    };
    let mut text = format!("{}\n\n", wrap(&style.say(&title), width.max(NARROWEST), ""));
    for line in grid.trim_fmt().lines() {
        text += &format!("{}\n", fit(line, width.max(NARROWEST), style.ellipsis()));
    }
    if all > MOST_LINES {
        let more = count((all - MOST_LINES) as u64);
        text += &format!("\n{more} more lines stand in sweep.csv.\n");
    }
    Ok(text)
}

fn short(text: &str, style: Style) -> String {
    fit(&style.say(text), LONGEST, style.ellipsis())
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
