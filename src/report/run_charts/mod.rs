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
#[cfg(test)]
mod tests;
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
    /// The question that it answers.
    pub(super) title: String,
    /// As SVG.
    pub(super) svg: String,
}

/// The charts that say something about a run, in the order in which they are best looked at. `recorded` are the
/// attempts of the first clients, if they are known.
pub(super) fn run_charts(result: &RunResult, recorded: &[Tries]) -> Vec<Chart> {
    let source = Source::of(result);
    let lines = |curves: Option<Curves>| {
        curves.map(|curves| (curves.words.title.clone(), chart::curves_svg(&curves)))
    };
    let raster = tries::tries(&source, recorded);
    let bars = lost::lost(&source);
    let points = price::price(&source);
    let drawn = [
        Some((chart::LOAD_TITLE.into(), chart::load_svg(result))),
        lines(success::success_over_time(&source)),
        Some((chart::SUCCESS_TITLE.into(), chart::success_svg(result))),
        lines(latency::latency(&source)),
        lines(waiting::waiting(&source)),
        raster.map(|raster| (raster.words.title.clone(), chart::raster_svg(&raster))),
        bars.map(|bars| (bars.words.title.clone(), chart::bars_svg(&bars))),
        points.map(|points| (points.words.title.clone(), chart::points_svg(&points))),
        lines(limits::limits(&source)),
        lines(limits::dead_letters(&source)),
    ];
    let named = CHARTS.into_iter().zip(drawn);
    let chart = |(name, drawn): (&'static str, Option<(String, String)>)| {
        let (title, svg) = drawn?;
        Some(Chart { name, title, svg })
    };
    named.filter_map(chart).collect()
}
