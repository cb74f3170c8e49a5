//! What a chart of a sweep is made from.

use super::table::Table;
use crate::metrics::Metric;
use crate::scenario::{Scenario, Sweep};

/// What is drawn: a figure over one axis or figure, or over two axes.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    pub(super) metric: &'static Metric,
    pub(super) x: Across,
    pub(super) y: Option<usize>,
}

/// What lies across a chart.
#[derive(Clone, Copy, Debug)]
pub(super) enum Across {
    /// An axis of the sweep.
    Axis(usize),
    /// A figure.
    Figure(&'static Metric),
}

/// All that charts are about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) sweep: &'a Sweep,
    pub(super) table: &'a Table,
}

impl Source<'_> {
    /// What prices are in.
    pub(super) fn currency(&self) -> &str {
        let cost = self.scenario.spec.cost.as_ref();
        cost.map_or("", |cost| cost.currency.as_str())
    }

    /// The name and the question of the scenario.
    pub(super) fn subtitle(&self) -> String {
        let scenario = self.scenario;
        match scenario.question.as_str() {
            "" => scenario.name.clone(),
            question => format!("{}: {question}", scenario.name),
        }
    }

    /// The cells that have their first value on every axis but these, and a clause that says so.
    pub(super) fn slice(&self, axes: &[usize]) -> (Vec<u32>, String) {
        let others: Vec<usize> = (0..self.sweep.axes.len())
            .filter(|axis| !axes.contains(axis))
            .collect();
        if !self.sweep.is_grid || others.is_empty() {
            return ((0..self.sweep.len()).collect(), String::new());
        }
        let first = |cell: &u32| {
            let cell = self.sweep.cell(*cell);
            others
                .iter()
                .all(|&axis| cell.coordinates[axis].step == Some(0))
        };
        let cells = (0..self.sweep.len()).filter(first).collect();
        let fixed = others.iter().map(|&axis| {
            let axis = &self.sweep.axes[axis];
            format!("{} = {}", axis.title, axis.short_text(&axis.marks[0]))
        });
        let fixed: Vec<String> = fixed.collect();
        (cells, format!(" With {}.", fixed.join(", ")))
    }
}
