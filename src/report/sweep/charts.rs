//! Which charts a sweep is drawn as.
//!
//! One axis makes curves, two make maps. What theory expects stands in each: 1 − pᵏ beside success, and the load up to
//! which a scenario comes back by itself as a line across the map of collapses.

use super::curves::curves;
use super::heat::heat;
use super::source::{Across, Source, Wanted};
use super::table::Table;
use crate::experiment::LOAD_OF_BORDER;
use crate::metrics::{METRICS, Metric, metric};
use crate::scenario::{Scenario, Sweep};
use std::fs::File;
use std::io::{self, BufReader};
use std::path::Path;

/// Figures that are drawn when the scenario names none.
const USUAL: [&str; 3] = ["success_rate", "amplification", "goodput_per_s"];

/// The charts of a sweep whose table is at `table`, each with its file name without ending.
///
/// # Errors
/// When the table cannot be read.
pub fn sweep_charts(
    scenario: &Scenario,
    sweep: &Sweep,
    table: &Path,
    mut put: impl FnMut(&str, String) -> io::Result<()>,
) -> io::Result<()> {
    for wanted in wanted(scenario, sweep) {
        let across = match wanted.x {
            Across::Figure(figure) => figure.name,
            Across::Axis(_) => wanted.metric.name,
        };
        let figures = [
            wanted.metric.name,
            across,
            LOAD_OF_BORDER,
            "overloaded_replications",
            "collapsed_replications",
        ];
        let figures = if wanted.y.is_some() {
            &figures[..]
        } else {
            &figures[..3]
        };
        let file = BufReader::new(File::open(table)?);
        let table = Table::read(file, sweep.axes.len(), sweep.len(), figures)?;
        let source = Source {
            scenario,
            sweep,
            table: &table,
        };
        let svg = match wanted.y {
            Some(y) => heat(&source, &wanted, y),
            None => curves(&source, &wanted),
        };
        put(&file_name(sweep, &wanted), svg)?;
    }
    Ok(())
}

/// What to draw.
fn wanted(scenario: &Scenario, sweep: &Sweep) -> Vec<Wanted> {
    let spec = scenario.spec.sweep.as_ref();
    let asked = spec.map_or(&[][..], |spec| &spec.chart);
    let axis = |name: &String| sweep.axes.iter().position(|axis| axis.title == *name);
    let asked: Vec<Wanted> = asked
        .iter()
        .map(|chart| {
            let y = chart.y.as_ref().and_then(axis);
            let x = match &chart.x {
                // The first axis that is not taken.
                None => Across::Axis(usize::from(y == Some(0))),
                Some(name) => match axis(name) {
                    Some(axis) => Across::Axis(axis),
                    None => Across::Figure(metric(name).unwrap_or(&METRICS[0])),
                },
            };
            Wanted {
                metric: chart.metric.0,
                x,
                y,
            }
        })
        .collect();
    if !asked.is_empty() {
        return asked;
    }
    usual(scenario, sweep)
}

/// A usual choice: curves over each axis, and maps over the first two.
fn usual(scenario: &Scenario, sweep: &Sweep) -> Vec<Wanted> {
    let mut figures: Vec<&'static Metric> = USUAL.iter().filter_map(|name| metric(name)).collect();
    if !scenario.spec.fault.is_empty() {
        figures.extend(metric("collapsed_share"));
    }
    if scenario.spec.cost.is_some() {
        figures.extend(metric("cost_per_1000_requests"));
    }
    let maps = sweep.is_grid && sweep.axes.len() > 1;
    let axes = if sweep.is_grid {
        1
    } else {
        sweep.axes.len().min(3)
    };
    let over_two = |metric| Wanted {
        metric,
        x: Across::Axis(0),
        y: Some(1),
    };
    let over = |metric, axis| Wanted {
        metric,
        x: Across::Axis(axis),
        y: None,
    };
    let first = if maps {
        figures.iter().map(|&m| over_two(m)).collect()
    } else {
        Vec::new()
    };
    let curves = figures
        .iter()
        .flat_map(|&m| (0..axes).map(move |axis| over(m, axis)));
    first.into_iter().chain(curves).collect()
}

/// A name like `success_rate-by-load`, and `…-and-first_delay` for a map.
fn file_name(sweep: &Sweep, wanted: &Wanted) -> String {
    let plain = |name: &str| -> String {
        let plain = name.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '_',
        });
        plain.take(40).collect()
    };
    let axis = |axis: usize| {
        let name = plain(&sweep.axes[axis].title);
        let same = sweep
            .axes
            .iter()
            .filter(|other| plain(&other.title) == name);
        if same.count() > 1 {
            format!("{name}_{axis}")
        } else {
            name
        }
    };
    let across = match wanted.x {
        Across::Axis(x) => axis(x),
        Across::Figure(figure) => figure.name.to_owned(),
    };
    match wanted.y {
        Some(y) => format!("{}-by-{across}-and-{}", wanted.metric.name, axis(y)),
        None => format!("{}-by-{across}", wanted.metric.name),
    }
}
