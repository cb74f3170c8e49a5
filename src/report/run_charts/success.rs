//! Success over time: how deep it fell, and when it came back.

use super::super::chart::{Curves, Form};
use super::over_time::{groups, middle};
use super::source::{Rows, Source, axis};
use crate::metrics::TimelineRow;

/// A line that moves less than this, as a share, shows no more than chance.
const LEAST_CHANGE: f64 = 0.02;

/// The share of the requests that started in a bin that succeeded; drawn when it changes by more than two points.
pub(super) fn success_over_time(source: &Source<'_>) -> Option<Curves> {
    let changes = source.strategies.iter().any(|rows| {
        let points = shares(rows, source.bin_s);
        let values = || points.iter().map(|point| point.1);
        let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
        low.zip(high)
            .is_some_and(|(low, high)| high - low > LEAST_CHANGE)
    });
    let panel = source.panel("", |rows| shares(rows, source.bin_s));
    let note = format!(
        "Of the requests that started in a bin of time and ended, whenever that was: the share that succeeded, {}.",
        source.mean_over()
    );
    let words = source.words("When do requests succeed, and when again?", &note);
    let y = axis("requests that succeeded, by their start, %", Form::Share);
    let panel = panel.filter(|_| changes)?;
    Some(source.over_time(words, y, vec![panel]))
}

/// Success of each group of bins in which requests started and ended.
fn shares(rows: &Rows<'_>, bin_s: f64) -> Vec<(f64, f64)> {
    let share = |group: &[TimelineRow<'_>]| {
        let good: f64 = group.iter().map(|row| row.started_succeeded_per_s).sum();
        let bad: f64 = group.iter().map(|row| row.started_failed_per_s).sum();
        (good + bad > 0.0).then_some((middle(group, bin_s)?, good / (good + bad)))
    };
    groups(&rows.timeline).filter_map(share).collect()
}
