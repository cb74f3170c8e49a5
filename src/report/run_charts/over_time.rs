//! Rows of a timeline as lines that can be read: points that share a place are put together.

use crate::metrics::TimelineRow;

/// Points of a line at the most: more would only hide its course.
const MOST_POINTS: usize = 120;

/// The rows in at most [`MOST_POINTS`] groups that follow each other.
pub(super) fn groups<'a, 'r>(
    rows: &'r [TimelineRow<'a>],
) -> impl Iterator<Item = &'r [TimelineRow<'a>]> {
    rows.chunks(rows.len().div_ceil(MOST_POINTS).max(1))
}

/// A level at the start of each group, where there is one.
pub(super) fn states(
    rows: &[TimelineRow<'_>],
    figure: impl Fn(&TimelineRow<'_>) -> Option<f64>,
) -> Vec<(f64, f64)> {
    let first = |group: &[TimelineRow<'_>]| {
        let row = group.first()?;
        Some((row.time_s, figure(row)?))
    };
    groups(rows).filter_map(first).collect()
}

/// The mean of a figure over each group, in the middle of its bins, which are `bin_s` wide.
pub(super) fn means(
    rows: &[TimelineRow<'_>],
    bin_s: f64,
    figure: impl Fn(&TimelineRow<'_>) -> f64,
) -> Vec<(f64, f64)> {
    let mean = |group: &[TimelineRow<'_>]| {
        let sum: f64 = group.iter().map(&figure).sum();
        Some((middle(group, bin_s)?, sum / group.len() as f64))
    };
    groups(rows).filter_map(mean).collect()
}

/// The middle of a group of bins in time, s.
pub(super) fn middle(group: &[TimelineRow<'_>], bin_s: f64) -> Option<f64> {
    let (first, last) = (group.first()?, group.last()?);
    Some((first.time_s + last.time_s + bin_s) / 2.0)
}
