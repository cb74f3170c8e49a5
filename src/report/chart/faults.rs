//! Faults behind a plot: shaded spans with their names above it, where no data is.

use super::canvas::{Canvas, Look};
use super::frame::Frame;
use super::{labels, palette};

/// Size of the names.
const SIZE: f64 = 10.5;
/// The least width of a span: a short fault is still seen.
const LEAST: f64 = 1.5;
/// Between two names.
const GAP: f64 = 4.0;

/// Draws spans (left edge and right edge on the sheet, name) in the order of time. A name that would cover the one
/// before it is left out.
pub(super) fn draw<'a>(
    canvas: &Canvas<'_>,
    frame: &Frame,
    spans: impl IntoIterator<Item = (f64, f64, &'a str)>,
) {
    let look = Look::new(SIZE).centred();
    let mut taken = f64::NEG_INFINITY;
    for (from, to, label) in spans {
        let to = to.max(from + LEAST).min(frame.right);
        let corner = (from.min(to - LEAST), frame.top);
        canvas.rectangle(corner, (to, frame.bottom), palette::FAULT, 1.0);
        let name = labels::fit(label, look, frame.right - frame.left);
        let half = labels::width(&name, look) / 2.0;
        let middle = ((from + to) / 2.0).clamp(frame.left + half, frame.right - half);
        if middle - half > taken + GAP {
            canvas.text(&name, (middle, frame.top - 4.0), look);
            taken = middle + half;
        }
    }
}
