//! Two axes around a plot, and the way from numbers to places.

use super::canvas::{Canvas, Look, Place};
use super::{labels, palette};
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;
use std::ops::Range;

/// Size of the numbers at the axes.
pub(super) const TICK_SIZE: f64 = 10.5;

/// A plot: where it is, and what its edges stand for.
#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
}

impl Frame {
    /// Where (x, y) is. What lies outside the axes is moved to their edge.
    pub(super) fn at(&self, x: f64, y: f64) -> Place {
        let part = |v: f64, range: &Range<f64>| {
            ((v - range.start) / (range.end - range.start)).clamp(0.0, 1.0)
        };
        (
            self.left + part(x, &self.x) * (self.right - self.left),
            self.bottom - part(y, &self.y) * (self.bottom - self.top),
        )
    }

    /// Grid lines and numbers up the left side.
    pub(super) fn y_axis(&self, canvas: &Canvas<'_>, ticks: &[f64], form: impl Fn(f64) -> String) {
        let look = Look::new(TICK_SIZE).colour(palette::FAINT).right();
        for &tick in ticks {
            let (_, y) = self.at(0.0, tick);
            canvas.line(&[(self.left, y), (self.right, y)], palette::GRID, 0.8);
            canvas.text(&form(tick), (self.left - 5.0, y + TICK_SIZE * 0.36), look);
        }
    }

    /// The base line with marks and numbers.
    pub(super) fn x_axis(&self, canvas: &Canvas<'_>, ticks: &[f64], form: impl Fn(f64) -> String) {
        let look = Look::new(TICK_SIZE).colour(palette::FAINT).centred();
        for &tick in ticks {
            let (x, _) = self.at(tick, 0.0);
            canvas.line(
                &[(x, self.bottom), (x, self.bottom + 4.0)],
                palette::AXIS,
                0.8,
            );
            canvas.text(&form(tick), (x, self.bottom + 15.0), look);
        }
        let base = [(self.left, self.bottom), (self.right, self.bottom)];
        canvas.line(&base, palette::AXIS, 1.0);
    }
}

/// Round numbers in a range, at most `most` of them.
pub(super) fn ticks(range: &Range<f64>, most: usize) -> Vec<f64> {
    let axis: RangedCoordf64 = range.clone().into();
    axis.key_points(most)
}

/// The width that the numbers of an axis need.
pub(super) fn widest(ticks: &[f64], form: impl Fn(f64) -> String) -> f64 {
    ticks
        .iter()
        .map(|&tick| labels::width(&form(tick), Look::new(TICK_SIZE)))
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_run_up_and_right_and_stop_at_the_edges() {
        let frame = Frame {
            left: 10.0,
            right: 110.0,
            top: 5.0,
            bottom: 55.0,
            x: 0.0..10.0,
            y: 0.0..1.0,
        };
        assert_eq!(frame.at(0.0, 0.0), (10.0, 55.0));
        assert_eq!(frame.at(5.0, 0.5), (60.0, 30.0));
        assert_eq!(frame.at(99.0, 7.0), (110.0, 5.0));
    }

    #[test]
    fn ticks_are_few_and_round() {
        assert_eq!(
            ticks(&(0.0..120.0), 7),
            [0.0, 20.0, 40.0, 60.0, 80.0, 100.0, 120.0]
        );
        for end in [1e-3, 1.0, 3.7, 4321.0, 1e9] {
            let found = ticks(&(0.0..end), 6);
            assert!((2..=6).contains(&found.len()), "{end}: {found:?}");
        }
    }
}
