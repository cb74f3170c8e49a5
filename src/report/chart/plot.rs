//! One plot of a chart of lines: bands, lines, markers, from back to front.

use super::canvas::{Canvas, Place};
use super::clip::clip;
use super::data::{Reference, Series};
use super::frame::Frame;
use super::palette::Stroke;
use super::ruler::Ruler;
use super::{axes, pattern, series};

/// How opaque a band is.
const TINT: f64 = 0.15;

/// A plot with its axes.
#[derive(Clone, Copy)]
pub(super) struct Plot<'a, 'c> {
    pub(super) canvas: &'a Canvas<'c>,
    pub(super) frame: &'a Frame,
    pub(super) x: &'a Ruler,
    pub(super) y: &'a Ruler,
}

/// A point that can be drawn, with its interval if it has one.
#[derive(Clone, Copy)]
struct Shown {
    at: Place,
    interval: Option<(Place, Place)>,
}

impl Plot<'_, '_> {
    /// Draws everything but words. The ends of the series and of the references, where there is something.
    pub(super) fn draw(
        &self,
        shown: &[(&Series, Stroke)],
        references: &[Reference],
    ) -> (Vec<Option<Place>>, Vec<Option<Place>>) {
        axes::lines(self.canvas, self.frame, self.x, self.y);
        for (series, stroke) in shown {
            self.band(series, *stroke);
        }
        let reference_ends = references.iter().map(|reference| {
            let lines = self.lines(reference.points.iter().copied());
            for line in &lines {
                pattern::reference(self.canvas, line);
            }
            rightmost(lines.into_iter().flatten())
        });
        let reference_ends = reference_ends.collect();
        for (series, stroke) in shown {
            for line in self.lines(series.predicted.iter().copied()) {
                pattern::predicted(self.canvas, &line, stroke.colour);
            }
        }
        for (series, stroke) in shown.iter().filter(|(series, _)| series.joined) {
            for line in self.lines(series.points.iter().map(|point| (point.x, point.y))) {
                self.canvas.dashed(&line, stroke.dash, stroke.colour, 1.9);
            }
        }
        let ends = shown.iter().map(|(series, stroke)| {
            let points = self.shown(series);
            self.marks(&points, *stroke);
            let predicted = || {
                self.lines(series.predicted.iter().copied())
                    .into_iter()
                    .flatten()
            };
            let points = points.into_iter().flatten().map(|point| point.at);
            rightmost(points).or_else(|| rightmost(predicted()))
        });
        (ends.collect(), reference_ends)
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
    fn marks(&self, points: &[Option<Shown>], stroke: Stroke) {
        let count = points.len().max(1) as f64;
        let pitch = (self.frame.right - self.frame.left) / count;
        let largest = series::RADIUS
            * if self.frame.right - self.frame.left < 400.0 {
                0.8
            } else {
                1.0
            };
        let radius = (pitch * 0.3).clamp(1.5, largest);
        for point in points.iter().flatten() {
            series::mark_of(self.canvas, point.at, stroke, radius);
        }
    }
}

/// The point that is furthest to the right; of several the last.
fn rightmost(points: impl Iterator<Item = Place>) -> Option<Place> {
    points.max_by(|a, b| a.0.total_cmp(&b.0))
}
