//! Lines and fills that mean the same wherever they are drawn.

use super::canvas::{Canvas, Place};
use super::palette;
use plotters::style::RGBColor;

/// A cell in a state of its own.
pub(super) const NEUTRAL: RGBColor = RGBColor(205, 205, 205);
/// Its diagonal.
const DIAGONAL: RGBColor = RGBColor(120, 120, 120);
/// The border of theory: no colour of the cells comes near it.
const BORDER: RGBColor = RGBColor(213, 70, 0);
/// Around a cell without a value.
const OUTLINE: RGBColor = RGBColor(190, 190, 190);

/// What theory expects: dots, which no series is drawn with.
pub(super) fn predicted(canvas: &Canvas<'_>, points: &[Place], colour: RGBColor) {
    canvas.dashed(points, (1.6, 2.2), colour, 1.6);
}

/// A line to compare with: grey dashes.
pub(super) fn reference(canvas: &Canvas<'_>, points: &[Place]) {
    canvas.dashed(points, (8.0, 4.0), palette::AXIS, 1.5);
}

/// The diagonal through cells in a state of their own.
pub(super) fn hatch(canvas: &Canvas<'_>, points: &[Place]) {
    canvas.line(points, DIAGONAL, 0.9);
}

/// An empty place.
pub(super) fn outline(canvas: &Canvas<'_>, corner: Place, opposite: Place) {
    canvas.rectangle(corner, opposite, palette::PAPER, 1.0);
    canvas.line(&edges(corner, opposite), OUTLINE, 0.7);
}

/// A thin line around a map.
pub(super) fn around(canvas: &Canvas<'_>, corner: Place, opposite: Place) {
    canvas.line(&edges(corner, opposite), palette::AXIS, 1.0);
}

fn edges(corner: Place, opposite: Place) -> [Place; 5] {
    let (right, left) = ((opposite.0, corner.1), (corner.0, opposite.1));
    [corner, right, opposite, left, corner]
}

/// Borders of theory: light edges under all of them, so that they show on every colour and in grey.
pub(super) fn border(canvas: &Canvas<'_>, lines: &[Vec<Place>]) {
    for line in lines {
        canvas.line(line, palette::PAPER, 5.0);
    }
    for line in lines {
        canvas.line(line, BORDER, 2.6);
    }
}
