//! How long the slow ones take: latencies on an axis that gives the tail as much room as the rest.

use super::super::chart::{Axis, Curves, Form, Scale};
use super::super::number::percent;
use super::source::{Rows, Source, axis_for};

/// Latencies that differ by no more than this factor are one latency.
const LEAST_SPREAD: f64 = 1.05;

/// Quantiles of latency; drawn when there are several different ones.
pub(super) fn latency(source: &Source<'_>) -> Option<Curves> {
    let values = || {
        let rows = source.strategies.iter().flat_map(|rows| &rows.latency);
        rows.map(|row| row.latency_ms / 1e3)
    };
    let (low, high) = (values().reduce(f64::min)?, values().reduce(f64::max)?);
    let mut panel = source.panel("", points)?;
    for series in &mut panel.series {
        let of_series = |rows: &&Rows<'_>| rows.name() == series.name;
        let rows = source.strategies.iter().find(of_series);
        let success = rows.and_then(|rows| rows.summary.success_rate);
        if let Some(rate) = success {
            series.note = format!("{} succeed", percent(rate));
        }
    }
    let words = source.words(
        "How long do the slow ones take?",
        "Latency of successes from their intended start, all replications together; failures are not in it, so the share \
         of requests that succeeded stands beside each name. At p99, 99 of 100 successes take no longer.",
    );
    let chart = Curves {
        words,
        x: Axis {
            label: "share of successes that take no longer, %".into(),
            scale: Scale::Tail,
            form: Form::Share,
        },
        y: axis_for("latency of successes, ms or s", Form::Seconds, values()),
        panels: vec![panel],
        shades: Vec::new(),
        stacked: false,
    };
    (high > low * LEAST_SPREAD).then_some(chart)
}

fn points(rows: &Rows<'_>) -> Vec<(f64, f64)> {
    let latency = rows.latency.iter();
    latency
        .map(|row| (row.quantile, row.latency_ms / 1e3))
        .collect()
}
