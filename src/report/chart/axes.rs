//! The two axes of a plot of a sweep, drawn.

use super::canvas::{Canvas, Look};
use super::frame::{Frame, TICK_SIZE};
use super::palette;
use super::ruler::Ruler;
use super::{MARGIN, WIDTH, labels};
use plotters::style::RGBColor;

/// Behind what has the value zero on a logarithmic axis.
const ZERO: RGBColor = RGBColor(243, 241, 236);

/// Light lines at the numbers of both axes, and the bands of zero.
pub(super) fn lines(canvas: &Canvas<'_>, frame: &Frame, x: &Ruler, y: &Ruler) {
    if let Some(end) = x.zero {
        canvas.rectangle(frame.at(0.0, 1.0), frame.at(end, 0.0), ZERO, 1.0);
    }
    if let Some(end) = y.zero {
        canvas.rectangle(frame.at(0.0, end), frame.at(1.0, 0.0), ZERO, 1.0);
    }
    for tick in &x.ticks {
        let line = [frame.at(tick.at, 0.0), frame.at(tick.at, 1.0)];
        canvas.line(&line, palette::GRID, 0.6);
    }
    for tick in &y.ticks {
        let line = [frame.at(0.0, tick.at), frame.at(1.0, tick.at)];
        canvas.line(&line, palette::GRID, 0.8);
    }
}

/// The axis below a plot, with or without its numbers.
pub(super) fn across(canvas: &Canvas<'_>, frame: &Frame, ruler: &Ruler, numbered: bool) {
    let look = Look::new(TICK_SIZE).colour(palette::FAINT).centred();
    let mark = |at: f64, length: f64| {
        let (x, y) = frame.at(at, 0.0);
        canvas.line(&[(x, y), (x, y + length)], palette::AXIS, 0.8);
    };
    for &at in &ruler.minor {
        mark(at, 2.5);
    }
    for tick in &ruler.ticks {
        mark(tick.at, 4.5);
        if numbered {
            let (x, y) = frame.at(tick.at, 0.0);
            let half = labels::width(&tick.text, look) / 2.0;
            let x = x.clamp(MARGIN / 2.0 + half, WIDTH - MARGIN / 2.0 - half);
            canvas.text(&tick.text, (x, y + 16.0), look);
        }
    }
    let base = [frame.at(0.0, 0.0), frame.at(1.0, 0.0)];
    canvas.line(&base, palette::AXIS, 1.0);
}

/// The numbers at the left of a plot.
pub(super) fn upwards(canvas: &Canvas<'_>, frame: &Frame, ruler: &Ruler) {
    let look = Look::new(TICK_SIZE).colour(palette::FAINT).right();
    for &at in &ruler.minor {
        let (x, y) = frame.at(0.0, at);
        canvas.line(&[(x - 2.5, y), (x, y)], palette::AXIS, 0.8);
    }
    for tick in &ruler.ticks {
        let (x, y) = frame.at(0.0, tick.at);
        canvas.text(&tick.text, (x - 6.0, y + TICK_SIZE * 0.36), look);
    }
}
