//! A figure over two axes: a map for each strategy.

use super::source::{Across, Source, Wanted};
use super::words::{axis_label, figure_label, figure_words, form_of, per_shown};
use crate::metrics::Unit;
use crate::report::chart::{Heat, HeatPanel, Steps, Words, heat_svg};
use crate::scenario::Axis;

/// Maps of one chart.
const MOST_PANELS: usize = 8;
/// Columns and rows of a map: more cannot be told apart.
const MOST_SIDE: usize = 100;
/// Where the figures stand in the table.
const FIGURE: usize = 0;
const OF_BORDER: usize = 2;
const OVERLOADED: usize = 3;
const COLLAPSED: usize = 4;

/// The chart as SVG.
pub(super) fn heat(source: &Source<'_>, wanted: &Wanted, y: usize) -> String {
    let x = match wanted.x {
        Across::Axis(x) => x,
        Across::Figure(_) => 0,
    };
    let sweep = source.sweep;
    let (cells, fixed) = source.slice(&[x, y]);
    let order = grid(source, &cells, (x, y));
    let strategies = source.table.strategies.iter().enumerate();
    let panels: Vec<HeatPanel> = strategies
        .take(MOST_PANELS)
        .map(|(strategy, name)| panel(source, wanted, &order, (strategy, name)))
        .collect();
    let (xs, ys) = (&sweep.axes[x], &sweep.axes[y]);
    let values = || {
        panels
            .iter()
            .flat_map(|panel| panel.values.iter().flatten().copied())
    };
    let range = match wanted.metric.unit {
        Unit::Share => (0.0, 1.0),
        _ => (
            values().fold(f64::MAX, f64::min),
            values().fold(f64::MIN, f64::max),
        ),
    };
    let collapse = wanted.metric.name == "collapsed_share";
    let title = if collapse {
        "Where do runs collapse?".into()
    } else {
        let words = figure_words(wanted.metric);
        format!("How do {} and {} change {words}?", xs.title, ys.title)
    };
    let left_out = match source.table.strategies.len().saturating_sub(MOST_PANELS) {
        0 => String::new(),
        n => format!(" {n} more strategies are not shown."),
    };
    heat_svg(&Heat {
        words: Words {
            title,
            subtitle: source.subtitle(),
            note: format!("Means over replications.{fixed}{left_out}"),
        },
        x: steps(xs),
        y: steps(ys),
        value: figure_label(wanted.metric, source.currency()),
        range,
        form: form_of(wanted.metric.unit),
        hatch: if collapse {
            "too much load before any fault".into()
        } else {
            String::new()
        },
        panels,
    })
}

/// The values of an axis that are drawn: all, or so many evenly spread ones.
fn shown(axis: &Axis) -> impl Iterator<Item = usize> {
    let all = axis.marks.len();
    let shown = all.min(MOST_SIDE);
    (0..shown).map(move |i| i * (all - 1) / (shown - 1).max(1))
}

fn steps(axis: &Axis) -> Steps {
    Steps {
        label: axis_label(axis),
        marks: shown(axis)
            .map(|step| axis.short_text(&axis.marks[step]))
            .collect(),
    }
}

/// The cells row by row, where there are some.
fn grid(source: &Source<'_>, cells: &[u32], (x, y): (usize, usize)) -> Vec<Option<u32>> {
    let axes = &source.sweep.axes;
    let columns: Vec<usize> = shown(&axes[x]).collect();
    let rows: Vec<usize> = shown(&axes[y]).collect();
    let mut order = vec![None; columns.len() * rows.len()];
    for &number in cells {
        let cell = source.sweep.cell(number);
        let place = |axis: usize, steps: &[usize]| {
            let step = cell.coordinates[axis].step.unwrap_or(0);
            steps.binary_search(&step).ok()
        };
        if let Some((column, row)) = place(x, &columns).zip(place(y, &rows)) {
            order[row * columns.len() + column] = Some(number);
        }
    }
    order
}

fn panel(
    source: &Source<'_>,
    wanted: &Wanted,
    order: &[Option<u32>],
    (strategy, name): (usize, &str),
) -> HeatPanel {
    let get = |cell: Option<u32>, figure: usize| {
        let seen = cell.map(|cell| source.table.get(cell, strategy, figure).value);
        seen.filter(|value| value.is_finite())
    };
    let per = per_shown(wanted.metric.unit);
    let many = |cell: Option<u32>| {
        let overloaded = get(cell, OVERLOADED).unwrap_or(0.0);
        overloaded > 0.0 && overloaded >= get(cell, COLLAPSED).unwrap_or(0.0)
    };
    let share = wanted.metric.unit == Unit::Share;
    HeatPanel {
        title: name.to_owned(),
        values: order
            .iter()
            .map(|&cell| get(cell, FIGURE).map(|value| value / per))
            .collect(),
        hatched: if wanted.metric.name == "collapsed_share" {
            order.iter().map(|&cell| many(cell)).collect()
        } else {
            Vec::new()
        },
        border: if share {
            order.iter().map(|&cell| get(cell, OF_BORDER)).collect()
        } else {
            Vec::new()
        },
    }
}
