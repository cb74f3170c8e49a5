//! Which charts a run is drawn as.
//!
//! A chart that says nothing about a scenario only hides those that do. So each chart decides in one function whether
//! it is drawn, beside what it shows.

mod latency;
mod limits;
mod lost;
mod over_time;
mod price;
mod source;
mod success;
mod tries;
mod waiting;

use super::chart::{self, Curves};
use crate::experiment::{RunResult, Tries};
use source::Source;

/// Every chart that a run may have, by the name of its files without ending.
pub(super) const CHARTS: [&str; 10] = [
    "load",
    "success_over_time",
    "success",
    "latency",
    "waiting",
    "tries",
    "lost",
    "price",
    "limits",
    "dead_letters",
];

/// A chart that is drawn.
#[derive(Clone, Debug)]
pub(super) struct Chart {
    /// The name of its files without ending.
    pub(super) name: &'static str,
    /// As SVG.
    pub(super) svg: String,
}

/// The charts that say something about a run, in the order in which they are best looked at. `recorded` are the
/// attempts of the first clients, if they are known.
pub(super) fn run_charts(result: &RunResult, recorded: &[Tries]) -> Vec<Chart> {
    let source = Source::of(result);
    let lines = |curves: Option<Curves>| curves.map(|curves| chart::curves_svg(&curves));
    let drawn = [
        Some(chart::load_svg(result)),
        lines(success::success_over_time(&source)),
        Some(chart::success_svg(result)),
        lines(latency::latency(&source)),
        lines(waiting::waiting(&source)),
        tries::tries(&source, recorded).map(|raster| chart::raster_svg(&raster)),
        lost::lost(&source).map(|bars| chart::bars_svg(&bars)),
        price::price(&source).map(|points| chart::points_svg(&points)),
        lines(limits::limits(&source)),
        lines(limits::dead_letters(&source)),
    ];
    let named = CHARTS.into_iter().zip(drawn);
    named
        .filter_map(|(name, svg)| svg.map(|svg| Chart { name, svg }))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Timeline;
    use crate::report::sample;
    use crate::time::SimTime;

    fn names(result: &RunResult) -> Vec<&'static str> {
        run_charts(result, &[])
            .iter()
            .map(|chart| chart.name)
            .collect()
    }

    #[test]
    fn only_what_a_run_has_is_drawn() {
        let mut result = sample::herd();
        let usual = names(&result);
        assert!(!usual.contains(&"limits") && !usual.contains(&"dead_letters"));
        assert_eq!(names(&sample::silent()), ["load", "success"]);
        result.strategies[1].total.has_budgets = true;
        assert_eq!(names(&result), [&usual[..], &["limits"]].concat());
        let only = limits::limits(&Source::of(&result)).unwrap();
        assert_eq!(only.panels.len(), 1);
        assert_eq!(only.panels[0].series.len(), 1, "the others have no budget");
        assert_eq!(only.shades[0].label, "outage");
        let end = SimTime::ZERO + result.horizon;
        let mut letters = Timeline::new(result.strategies[0].total.timeline.width(), end);
        letters.bin().dead_lettered += 1;
        letters.close(end);
        result.strategies[0].total.timeline.merge(&letters);
        assert_eq!(
            names(&result),
            [&usual[..], &["limits", "dead_letters"]].concat()
        );
    }

    #[test]
    fn lines_over_many_bins_have_few_points() {
        let result = sample::herd_with_bins(5_000);
        let source = Source::of(&result);
        let success = success::success_over_time(&source).unwrap();
        for series in &success.panels[0].series {
            assert!((60..=120).contains(&series.points.len()));
        }
        // Means keep what single bins would lose.
        let lowest = |series: &chart::Series| {
            let values = series.points.iter().map(|point| point.y);
            values.fold(f64::INFINITY, f64::min)
        };
        let series = &success.panels[0].series;
        let none = series
            .iter()
            .find(|series| series.name.ends_with("no retries"));
        assert!(lowest(none.unwrap()) < 0.01);
    }
}
