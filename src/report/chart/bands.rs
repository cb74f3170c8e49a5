//! Load over time in as many steps as can be seen.
//!
//! A run may have more bins than a chart has columns. Averages of neighbours would hide the peaks, which are what
//! the chart is about; so of the bins that share a column the busiest is shown.

use super::frame::ticks;
use crate::experiment::{RunResult, StrategyResult};
use crate::metrics::timeline_rows;

/// Numbers at the axis of the load.
pub(super) const TICKS: usize = 6;

/// The load during a span of time: mean over replications, attempts a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Band {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) first_tries: f64,
    pub(super) retries: f64,
}

impl Band {
    pub(super) fn total(&self) -> f64 {
        self.first_tries + self.retries
    }
}

/// The load of a strategy in at most `most` bands that follow each other without a gap.
pub(super) fn bands(strategy: &StrategyResult, result: &RunResult, most: usize) -> Vec<Band> {
    let width = strategy.total.timeline.width().as_secs_f64();
    let end = result.horizon.as_secs_f64();
    let rows = timeline_rows("", &strategy.total, result.replications, result.horizon);
    let bins: Vec<Band> = rows
        .enumerate()
        .map(|(i, row)| Band {
            from_s: row.time_s,
            to_s: ((i + 1) as f64 * width).min(end),
            first_tries: row.first_tries_per_s,
            retries: row.retries_per_s,
        })
        .filter(|band| band.to_s > band.from_s)
        .collect();
    let together = bins.len().div_ceil(most.max(1)).max(1);
    bins.chunks(together).map(busiest).collect()
}

/// The bin with the most load, over the whole span of all.
fn busiest(bins: &[Band]) -> Band {
    let most = bins
        .iter()
        .max_by(|a, b| a.total().total_cmp(&b.total()))
        .expect("chunks are never empty");
    Band {
        from_s: bins[0].from_s,
        to_s: bins[bins.len() - 1].to_s,
        ..*most
    }
}

/// The highest load.
pub(super) fn peak(bands: &[Band]) -> f64 {
    bands.iter().map(Band::total).fold(0.0, f64::max)
}

/// The upper end of an axis for panels with these peaks and a capacity, and whether the capacity is on it.
///
/// One panel far above the others would flatten them all; it is cut then. A capacity far above all load would
/// do the same; it is left off then.
pub(super) fn ceiling(peaks: &[f64], capacity: f64) -> (f64, bool) {
    /// From this many times the usual on, a peak is cut.
    const EXTREME: f64 = 6.0;
    /// It is cut at this many times the usual.
    const CUT_AT: f64 = 3.0;
    let mut sorted = peaks.to_vec();
    sorted.sort_by(f64::total_cmp);
    let highest = sorted.last().copied().unwrap_or(0.0);
    let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let on_axis = capacity > 0.0 && (highest <= 0.0 || capacity < EXTREME * highest);
    let usual = median.max(if on_axis { capacity } else { 0.0 });
    let top = if usual > 0.0 && highest > EXTREME * usual {
        CUT_AT * usual
    } else {
        highest.max(usual)
    };
    (round_up(top * 1.04), on_axis)
}

/// The end of the axis: the next number that has a tick.
fn round_up(top: f64) -> f64 {
    if top <= 0.0 {
        return 1.0;
    }
    let ticks = ticks(&(0.0..top), TICKS);
    let step = ticks.get(1).copied().unwrap_or(top);
    (top / step).ceil() * step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_peak_survives_when_bins_share_a_column() {
        let result = sample::herd_with_bins(10_000);
        let strategy = &result.strategies[1];
        let all = bands(strategy, &result, usize::MAX);
        let few = bands(strategy, &result, 400);
        assert_eq!((all.len(), few.len()), (10_000, 400));
        assert_eq!(peak(&all), peak(&few));
        assert!(few.windows(2).all(|pair| pair[0].to_s == pair[1].from_s));
        assert_eq!((few[0].from_s, few[399].to_s), (0.0, 120.0));
    }

    #[test]
    fn one_extreme_panel_does_not_flatten_the_others() {
        assert_eq!(ceiling(&[1000.0, 1200.0, 900.0], 0.0), (1500.0, false));
        let (top, on_axis) = ceiling(&[1000.0, 1e6, 900.0], 1200.0);
        assert!(on_axis && top <= 4000.0, "{top}");
        assert_eq!(ceiling(&[1e6], 0.0).0, 1.2e6);
        assert!(!ceiling(&[100.0], 1e6).1);
        assert_eq!(ceiling(&[0.0], 0.0), (1.0, false));
        assert_eq!(ceiling(&[], 0.0), (1.0, false));
        assert!(ceiling(&[0.0], 50.0).1);
    }
}
