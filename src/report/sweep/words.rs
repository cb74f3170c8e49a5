//! How figures and axes of a sweep are called in charts.

use crate::metrics::{Metric, Unit};
use crate::report::chart::{Axis as ChartAxis, Form, Scale};
use crate::scenario::{Axis, Quantity};

/// A spread beyond this is easier to read in even ratios.
const WIDE: f64 = 30.0;

/// A figure in a sentence.
pub(super) fn figure_words(metric: &Metric) -> String {
    let known = match metric.name {
        "success_rate" => "success",
        "amplification" => "attempts per request",
        "goodput_per_s" => "goodput",
        "offered_mean_per_s" => "offered load",
        "offered_peak_per_s" => "the peak of offered load",
        "collapsed_share" => "the share of runs that collapse",
        "recovery_s" => "the time to recover",
        "latency_mean_ms" => "mean latency",
        "latency_p50_ms" => "median latency",
        "latency_p95_ms" => "the 95th percentile of latency",
        "latency_p99_ms" => "the 99th percentile of latency",
        "latency_p999_ms" => "the 99.9th percentile of latency",
        "wasted_work_share" => "wasted work",
        "hidden_capacity_per_s" => "hidden capacity",
        "cost_per_1000_requests" => "the cost of a thousand requests",
        _ => "",
    };
    if known.is_empty() {
        metric.name.replace('_', " ")
    } else {
        known.into()
    }
}

/// The label of an axis that shows a figure, with its unit.
pub(super) fn figure_label(metric: &Metric, currency: &str) -> String {
    let words = figure_words(metric);
    let words = words.strip_prefix("the ").unwrap_or(&words);
    match metric.unit {
        Unit::Share => format!("{words}, %"),
        Unit::PerSecond => format!("{words}, per second"),
        Unit::Milliseconds | Unit::Seconds | Unit::Factor | Unit::Count => words.into(),
        Unit::Money if currency.is_empty() => words.into(),
        Unit::Money => format!("{words}, {currency}"),
    }
}

/// How values of a unit are written.
pub(super) fn form_of(unit: Unit) -> Form {
    match unit {
        Unit::Share => Form::Share,
        Unit::PerSecond => Form::PerSecond,
        Unit::Milliseconds | Unit::Seconds => Form::Seconds,
        Unit::Factor => Form::Factor,
        Unit::Count | Unit::Money => Form::Plain,
    }
}

/// What charts divide a figure by: they show times in seconds.
pub(super) fn per_shown(unit: Unit) -> f64 {
    if unit == Unit::Milliseconds { 1e3 } else { 1.0 }
}

/// The axis of a figure whose values are these.
pub(super) fn figure_axis(
    metric: &Metric,
    currency: &str,
    values: impl Iterator<Item = f64>,
) -> ChartAxis {
    let time = matches!(metric.unit, Unit::Milliseconds | Unit::Seconds);
    let positive = values.filter(|&value| value > 0.0);
    let (low, high) = positive.fold((f64::MAX, 0.0f64), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    ChartAxis {
        label: figure_label(metric, currency),
        scale: if time && high > WIDE * low {
            Scale::Log
        } else {
            Scale::Linear
        },
        form: form_of(metric.unit),
    }
}

/// The axis of what was varied. Values that are no quantities become categories.
pub(super) fn swept_axis(axis: &Axis) -> ChartAxis {
    let form = match axis.quantity {
        Some(Quantity::Duration(_)) => Form::Seconds,
        Some(Quantity::Rate(_)) => Form::PerSecond,
        Some(Quantity::Share(_)) => Form::Share,
        Some(Quantity::Number(_) | Quantity::Whole(_)) | None => Form::Plain,
    };
    let sizes: Option<Vec<f64>> = axis.marks.iter().map(|mark| mark.size).collect();
    let scale = match sizes {
        None => Scale::Steps(
            axis.marks
                .iter()
                .map(|mark| axis.short_text(mark))
                .collect(),
        ),
        Some(sizes) if axis.is_log || spreads(&sizes) => Scale::Log,
        Some(_) => Scale::Linear,
    };
    ChartAxis {
        label: axis_label(axis),
        scale,
        form,
    }
}

/// Whether values lie in even ratios rather than at even distances.
fn spreads(sizes: &[f64]) -> bool {
    let low = sizes
        .iter()
        .copied()
        .filter(|&size| size > 0.0)
        .fold(f64::MAX, f64::min);
    let high = sizes.iter().copied().fold(0.0, f64::max);
    sizes.len() > 2 && high > WIDE * low
}

/// What an axis is called, with its unit where the numbers do not carry it.
pub(super) fn axis_label(axis: &Axis) -> String {
    match axis.quantity {
        Some(Quantity::Rate(_)) => format!("{}, per second", axis.title),
        _ => axis.title.clone(),
    }
}

/// Where a value of an axis is drawn: at its size, or at its place in the row of categories.
pub(super) fn place(axis: &Axis, size: Option<f64>, step: Option<usize>) -> f64 {
    let by_step = || step.map_or(f64::NAN, |step| step as f64);
    match size.filter(|_| axis.has_sizes()) {
        Some(size) => size,
        None => by_step(),
    }
}
