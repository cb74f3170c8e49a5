//! A figure over one axis: a line for each strategy, a panel for each value of a second axis.

use super::source::{Across, Source, Wanted};
use super::words::{figure_axis, figure_words, per_shown, place, swept_axis};
use crate::metrics::Unit;
use crate::report::chart::{Axis, Curves, Panel, Point, Reference, Series, Words, curves_svg};
use crate::scenario::Quantity;

/// Panels of one chart.
const MOST_PANELS: usize = 8;
/// Where the figures stand in the table.
const FIGURE: usize = 0;
const ACROSS: usize = 1;
const OF_BORDER: usize = 2;

/// The chart as SVG.
pub(super) fn curves(source: &Source<'_>, wanted: &Wanted) -> String {
    let (panels, left_out) = panels(source, wanted);
    let points = || {
        panels
            .iter()
            .flat_map(|panel| &panel.series)
            .flat_map(|s| &s.points)
    };
    let y = figure_axis(
        wanted.metric,
        source.currency(),
        points().map(|point| point.y),
    );
    let x = x_axis(source, wanted, points().map(|point| point.x));
    let words = figure_words(wanted.metric);
    let title = match wanted.x {
        Across::Axis(axis) => {
            format!("How does {} change {words}?", source.sweep.axes[axis].title)
        }
        Across::Figure(figure) => format!("How does {words} go with {}?", figure_words(figure)),
    };
    let note = format!(
        "Means over replications with 95 % intervals.{}{left_out}",
        expected(wanted)
    );
    curves_svg(&Curves {
        words: Words {
            title,
            subtitle: source.subtitle(),
            note,
        },
        x,
        y,
        panels,
        shades: Vec::new(),
        stacked: false,
    })
}

/// What the dashed lines are.
fn expected(wanted: &Wanted) -> &'static str {
    match wanted.metric.name {
        "success_rate" => " Dotted: 1 − pᵏ, if attempts fail independently.",
        "amplification" => " Dotted: (1 − pᵏ)/(1 − p), if attempts fail independently.",
        _ => "",
    }
}

fn x_axis(source: &Source<'_>, wanted: &Wanted, values: impl Iterator<Item = f64>) -> Axis {
    match wanted.x {
        Across::Axis(axis) => swept_axis(&source.sweep.axes[axis]),
        Across::Figure(figure) => figure_axis(figure, source.currency(), values),
    }
}

/// A panel for each value of another axis, and a clause about what is not shown.
fn panels(source: &Source<'_>, wanted: &Wanted) -> (Vec<Panel>, String) {
    let sweep = source.sweep;
    let across = match wanted.x {
        Across::Axis(axis) => axis,
        Across::Figure(_) => 0,
    };
    let other = (0..sweep.axes.len()).find(|&axis| axis != across);
    let Some(other) = other.filter(|_| sweep.is_grid) else {
        let cells: Vec<u32> = (0..sweep.len()).collect();
        return (
            vec![panel(source, wanted, String::new(), &cells)],
            String::new(),
        );
    };
    let (cells, fixed) = source.slice(&[across, other]);
    let axis = &sweep.axes[other];
    let all = axis.marks.len();
    // Evenly spread over the values, with both ends.
    let shown = all.min(MOST_PANELS);
    let steps = (0..shown).map(|i| i * (all - 1) / (shown - 1).max(1));
    let panels = steps.map(|step| {
        let of_step = |cell: &&u32| sweep.cell(**cell).coordinates[other].step == Some(step);
        let cells: Vec<u32> = cells.iter().filter(of_step).copied().collect();
        let title = format!("{} = {}", axis.title, axis.short_text(&axis.marks[step]));
        panel(source, wanted, title, &cells)
    });
    let left_out = match all - shown {
        0 => fixed,
        _ => format!(
            "{fixed} {shown} of {all} values of {} are shown.",
            axis.title
        ),
    };
    (panels.collect(), left_out)
}

fn panel(source: &Source<'_>, wanted: &Wanted, title: String, cells: &[u32]) -> Panel {
    let names = source.table.strategies.iter().enumerate();
    let series: Vec<Series> = names
        .map(|(strategy, name)| series(source, wanted, cells, (strategy, name)))
        .collect();
    let references = references(source, wanted, cells, &series);
    Panel {
        title,
        series,
        references,
    }
}

/// Where a cell lies across the chart.
fn across(source: &Source<'_>, wanted: &Wanted, cell: u32, strategy: usize) -> f64 {
    match wanted.x {
        Across::Axis(axis) => {
            let at = &source.sweep.cell(cell).coordinates[axis];
            place(&source.sweep.axes[axis], at.size, at.step)
        }
        Across::Figure(figure) => {
            source.table.get(cell, strategy, ACROSS).value / per_shown(figure.unit)
        }
    }
}

fn series(
    source: &Source<'_>,
    wanted: &Wanted,
    cells: &[u32],
    (strategy, name): (usize, &str),
) -> Series {
    let per = per_shown(wanted.metric.unit);
    let some = |value: f64| value.is_finite().then_some(value / per);
    let (mut points, mut predicted) = (Vec::new(), Vec::new());
    for &cell in cells {
        let seen = source.table.get(cell, strategy, FIGURE);
        let x = across(source, wanted, cell, strategy);
        if seen.value.is_finite() && x.is_finite() {
            points.push(Point {
                x,
                y: seen.value / per,
                low: some(seen.low),
                high: some(seen.high),
            });
        }
        predicted.extend(
            some(seen.predicted)
                .filter(|_| x.is_finite())
                .map(|y| (x, y)),
        );
    }
    // Over an axis a line goes from left to right; over a figure it follows the sweep, and may turn back.
    if matches!(wanted.x, Across::Axis(_)) {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        predicted.sort_by(|a, b| a.0.total_cmp(&b.0));
    } else {
        predicted.clear();
    }
    if !source.sweep.is_grid {
        predicted.clear();
    }
    Series {
        name: name.to_owned(),
        points,
        predicted,
        joined: source.sweep.is_grid,
        note: String::new(),
    }
}

/// Lines to compare with: all requests as goodput, and the border where a line crosses it.
fn references(
    source: &Source<'_>,
    wanted: &Wanted,
    cells: &[u32],
    series: &[Series],
) -> Vec<Reference> {
    let Across::Axis(axis) = wanted.x else {
        return Vec::new();
    };
    let swept = &source.sweep.axes[axis];
    let xs = || {
        series
            .iter()
            .flat_map(|s| s.points.iter().map(|point| point.x))
    };
    let (low, high) = (xs().fold(f64::MAX, f64::min), xs().fold(f64::MIN, f64::max));
    // Goodput is over the whole run, and in the drain nothing arrives.
    let run = &source.scenario.spec.run;
    let whole = (run.duration + run.drain).as_secs_f64();
    let counted = run.duration.as_secs_f64() / whole;
    let mut references = Vec::new();
    let is_load = matches!(swept.quantity, Some(Quantity::Rate(_)))
        && swept.keys.iter().any(|key| key.contains("arrivals"));
    if is_load && wanted.metric.name == "goodput_per_s" && low < high {
        references.push(Reference {
            label: "all requests".into(),
            points: [low, high].map(|load| (load, load * counted)).into(),
        });
    }
    if wanted.metric.unit == Unit::Share && source.sweep.is_grid {
        for x in borders(source, wanted, cells) {
            references.push(Reference {
                label: "border of theory".into(),
                points: vec![(x, 0.0), (x, 1.0)],
            });
        }
    }
    references
}

/// Where the load crosses the border of some strategy, each place once.
fn borders(source: &Source<'_>, wanted: &Wanted, cells: &[u32]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    for strategy in 0..source.table.strategies.len() {
        let at = |&cell: &u32| {
            let ratio = source.table.get(cell, strategy, OF_BORDER).value;
            (across(source, wanted, cell, strategy), ratio)
        };
        let mut points: Vec<(f64, f64)> = cells.iter().map(at).collect();
        points.retain(|(x, ratio)| x.is_finite() && ratio.is_finite());
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        for pair in points.windows(2) {
            let ((x0, r0), (x1, r1)) = (pair[0], pair[1]);
            if (r0 < 1.0) != (r1 < 1.0) {
                found.push(x0 + (x1 - x0) * (1.0 - r0) / (r1 - r0));
            }
        }
    }
    found.sort_by(f64::total_cmp);
    found.dedup_by(|a, b| (*a - *b).abs() <= 1e-6 * b.abs());
    found
}
