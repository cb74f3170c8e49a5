//! The look of a series: its line, its markers, its intervals.

use super::canvas::{Canvas, Place};
use super::palette::{Marker, PAPER, Stroke};

/// Half the size of a marker.
pub(super) const RADIUS: f64 = 3.6;

/// Draws a marker.
pub(super) fn mark(canvas: &Canvas<'_>, at: Place, stroke: Stroke) {
    mark_of(canvas, at, stroke, RADIUS);
}

/// Draws a marker of half a size.
pub(super) fn mark_of(canvas: &Canvas<'_>, (x, y): Place, stroke: Stroke, radius: f64) {
    let colour = stroke.colour;
    let shape = |points: &[Place]| {
        let moved: Vec<_> = points
            .iter()
            .map(|(dx, dy)| (x + dx * radius, y + dy * radius))
            .collect();
        canvas.area(&moved, colour);
    };
    match stroke.marker {
        Marker::Circle => canvas.disc((x, y), radius, colour),
        Marker::Ring => {
            canvas.disc((x, y), radius, colour);
            canvas.disc((x, y), radius * 0.55, PAPER);
        }
        Marker::Square => shape(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        Marker::Triangle => shape(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]),
        Marker::Nabla => shape(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]),
        Marker::Diamond => shape(&[(0.0, -1.3), (1.1, 0.0), (0.0, 1.3), (-1.1, 0.0)]),
        Marker::Bar => shape(&[(-0.4, -1.3), (0.4, -1.3), (0.4, 1.3), (-0.4, 1.3)]),
        Marker::Cross => {
            for sign in [-1.0, 1.0] {
                let (r, s) = (radius, sign * radius);
                canvas.line(&[(x - r, y - s), (x + r, y + s)], colour, radius / 2.0);
            }
        }
    }
}

/// Draws an interval as a bar with ends.
pub(super) fn interval(canvas: &Canvas<'_>, low: Place, high: Place, stroke: Stroke) {
    const CAP: f64 = 2.6;
    canvas.line(&[low, high], stroke.colour, 1.1);
    for (x, y) in [low, high] {
        canvas.line(&[(x - CAP, y), (x + CAP, y)], stroke.colour, 1.1);
    }
}
