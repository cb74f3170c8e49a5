//! One plot of a chart of lines: bands, lines, markers, from back to front.

use super::busy::Busy;
use super::canvas::{Canvas, Place};
use super::clip::clip;
use super::data::{Reference, Series};
use super::frame::Frame;
use super::palette::Stroke;
use super::ruler::Ruler;
use super::{axes, pattern, series};

/// How opaque a band is.
const TINT: f64 = 0.15;
/// A line through more points than this has so few markers.
const CROWDED: usize = 40;
const FEW: usize = 10;
/// Plots that are not as wide as this have smaller markers.
const SMALL: f64 = 400.0;

/// A plot with its axes.
#[derive(Clone, Copy)]
pub(super) struct Plot<'a, 'c> {
    pub(super) canvas: &'a Canvas<'c>,
    pub(super) frame: &'a Frame,
    pub(super) x: &'a Ruler,
    pub(super) y: &'a Ruler,
}

/// What was drawn, on the sheet.
#[derive(Clone, Debug, Default)]
pub(super) struct Drawn {
    /// The points of each series; where nothing was measured, those of theory.
    pub(super) series: Vec<Vec<Place>>,
    /// The points of each line to compare with.
    pub(super) references: Vec<Vec<Place>>,
    pub(super) busy: Busy,
}

/// A point that can be drawn, with its interval if it has one.
#[derive(Clone, Copy)]
struct Shown {
    at: Place,
    interval: Option<(Place, Place)>,
}

/// Which points of the i-th series have a marker: the first one, and every so many after it. A line through many
/// points has only a few, at other places than the lines beside it.
fn marked(points: usize, i: usize, joined: bool) -> (usize, usize) {
    if !joined || points <= CROWDED {
        return (0, 1);
    }
    let every = points.div_ceil(FEW);
    ((i * 3 + 1) * every / 8 % every, every)
}

impl Plot<'_, '_> {
    /// Draws everything but words.
    pub(super) fn draw(&self, shown: &[(&Series, Stroke)], references: &[Reference]) -> Drawn {
        axes::lines(self.canvas, self.frame, self.x, self.y);
        for (series, stroke) in shown {
            self.band(series, *stroke);
        }
        let mut drawn = Drawn::default();
        for reference in references {
            let lines = self.lines(reference.points.iter().copied());
            for line in &lines {
                pattern::reference(self.canvas, line);
                drawn.busy.add_line(line);
            }
            drawn.references.push(lines.concat());
        }
        for (series, stroke) in shown {
            let lines = self.lines(series.predicted.iter().copied());
            for line in &lines {
                pattern::predicted(self.canvas, line, stroke.colour);
                drawn.busy.add_line(line);
            }
            drawn.series.push(lines.concat());
        }
        for (series, stroke) in shown.iter().filter(|(series, _)| series.joined) {
            for line in self.lines(series.points.iter().map(|point| (point.x, point.y))) {
                self.canvas.dashed(&line, stroke.dash, stroke.colour, 1.9);
                drawn.busy.add_line(&line);
            }
        }
        for (i, (series, stroke)) in shown.iter().enumerate() {
            let points: Vec<Place> = self.shown(series).iter().flatten().map(|p| p.at).collect();
            let (first, every) = marked(points.len(), i, series.joined);
            let some: Vec<Place> = points.iter().skip(first).step_by(every).copied().collect();
            self.marks(&some, *stroke);
            for &at in &points {
                drawn.busy.add_line(&[at, at]);
            }
            if !points.is_empty() {
                drawn.series[i] = points;
            }
        }
        drawn
    }

    fn place(&self, x: f64, y: f64) -> Option<Place> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    /// The parts of a line that are in the plot, on the sheet.
    fn lines(&self, points: impl Iterator<Item = (f64, f64)>) -> Vec<Vec<Place>> {
        let places: Vec<_> = points.map(|(x, y)| self.place(x, y)).collect();
        let runs = clip(&places).into_iter();
        runs.map(|run| run.into_iter().map(|(x, y)| self.frame.at(x, y)).collect())
            .collect()
    }

    /// The points of a series on the sheet; nothing for what cannot be drawn.
    fn shown(&self, series: &Series) -> Vec<Option<Shown>> {
        let points = series.points.iter().map(|point| {
            let (x, y) = self.place(point.x, point.y)?;
            if !(-1e-9..=1.0 + 1e-9).contains(&x) {
                return None;
            }
            let end = |value: f64| Some(self.frame.at(x, self.y.place_inside(value)?));
            let interval = point.low.zip(point.high);
            Some(Shown {
                at: self.frame.at(x, y),
                interval: interval.and_then(|(low, high)| end(low).zip(end(high))),
            })
        });
        points.collect()
    }

    /// A light band from the lower to the upper ends of intervals; a bar where no line goes through.
    fn band(&self, series: &Series, stroke: Stroke) {
        let points = self.shown(series);
        let intervals: Vec<_> = points
            .iter()
            .map(|point| point.and_then(|p| p.interval))
            .collect();
        for run in intervals.split(|interval| interval.is_none()) {
            let run: Vec<(Place, Place)> = run.iter().copied().flatten().collect();
            if run.len() > 1 && series.joined {
                let low = run.iter().map(|(low, _)| *low);
                let high = run.iter().rev().map(|(_, high)| *high);
                let around: Vec<Place> = low.chain(high).collect();
                self.canvas.tint(&around, stroke.colour, TINT);
            } else {
                for (low, high) in run {
                    series::interval(self.canvas, low, high, stroke);
                }
            }
        }
    }

    /// A marker at each point, smaller where they are crowded.
    fn marks(&self, points: &[Place], stroke: Stroke) {
        let width = self.frame.right - self.frame.left;
        let largest = series::RADIUS * if width < SMALL { 0.8 } else { 1.0 };
        let radius = (width / points.len().max(1) as f64 * 0.3).clamp(1.5, largest);
        for &point in points {
            series::mark_of(self.canvas, point, stroke, radius);
        }
    }
}
