//! Lines and fills that mean the same wherever they are drawn.

use super::canvas::{Canvas, Place};
use super::palette::{self, SERIES};
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

/// Between the lines of a pattern.
const HATCH: f64 = 6.0;

/// Whether a kind of parts has no pattern.
pub(super) fn is_plain(kind: usize) -> bool {
    kind.is_multiple_of(4)
}

/// The ink that shows on a ground.
pub(super) fn ink_on(ground: RGBColor) -> RGBColor {
    let RGBColor(red, green, blue) = ground;
    let light = 0.299 * f64::from(red) + 0.587 * f64::from(green) + 0.114 * f64::from(blue);
    if light < 130.0 {
        palette::PAPER
    } else {
        palette::INK
    }
}

/// A part of a bar: a colour and, for three of four kinds, light lines that rise, fall or stand upright.
pub(super) fn part(canvas: &Canvas<'_>, corner: Place, opposite: Place, kind: usize) {
    canvas.rectangle(corner, opposite, SERIES[kind % SERIES.len()].colour, 1.0);
    let height = opposite.1 - corner.1;
    let lean = [0.0, height, -height, 0.0][kind % 4];
    if !is_plain(kind) {
        let (width, most) = (opposite.0 - corner.0, (lean.abs() / HATCH).ceil());
        let count = (width / HATCH).ceil() + most;
        for i in 0..=count as usize {
            // From the lower edge to the upper one, as far as that is inside.
            let foot =
                corner.0 + (i as f64 - if lean > 0.0 { most } else { 0.0 }) * HATCH + HATCH / 2.0;
            if let Some(line) = inside(
                (foot, opposite.1),
                (foot + lean, corner.1),
                corner.0,
                opposite.0,
            ) {
                canvas.line(&line, palette::PAPER, 1.1);
            }
        }
    }
    let seam = [(opposite.0, corner.1), (opposite.0, opposite.1)];
    canvas.line(&seam, palette::PAPER, 1.0);
}

/// The piece of a line that lies between two edges.
fn inside(from: Place, to: Place, left: f64, right: f64) -> Option<[Place; 2]> {
    let run = to.0 - from.0;
    if run == 0.0 {
        return (left < from.0 && from.0 < right).then_some([from, to]);
    }
    let (a, b) = ((left - from.0) / run, (right - from.0) / run);
    let (start, end) = (a.min(b).max(0.0), a.max(b).min(1.0));
    let at = |t: f64| (from.0 + t * run, from.1 + t * (to.1 - from.1));
    (start < end).then(|| [at(start), at(end)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_pattern_stays_between_the_edges() {
        let line = inside((0.0, 10.0), (10.0, 0.0), 4.0, 6.0).unwrap();
        assert_eq!(line, [(4.0, 6.0), (6.0, 4.0)]);
        let falling = inside((10.0, 10.0), (0.0, 0.0), 4.0, 6.0).unwrap();
        assert_eq!(falling, [(6.0, 6.0), (4.0, 4.0)]);
        assert_eq!(inside((0.0, 10.0), (3.0, 0.0), 4.0, 6.0), None);
        assert_eq!(
            inside((5.0, 10.0), (5.0, 0.0), 4.0, 6.0),
            Some([(5.0, 10.0), (5.0, 0.0)])
        );
    }
}
