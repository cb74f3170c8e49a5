//! Names at the ends of lines, where the eye is when it asks which line this is.

use super::canvas::{Canvas, Look, Place};
use super::frame::Frame;
use super::palette::{self, Stroke};
use super::{labels, pattern, series};

const SIZE: f64 = 11.5;
/// From a plot to the sample of a line, and from there to its name.
const LEADER: f64 = 26.0;
const SAMPLE: f64 = 16.0;
/// Size of a name inside a plot.
const INSIDE: f64 = 10.5;

/// A name and the end of its line.
#[derive(Clone, Debug)]
pub(super) struct End<'a> {
    pub(super) name: &'a str,
    pub(super) at: Place,
    /// Nothing for a line to compare with.
    pub(super) stroke: Option<Stroke>,
}

/// What names need at the right of a plot, at the most `most`.
pub(super) fn room<'a>(names: impl Iterator<Item = &'a str>, most: f64) -> f64 {
    let look = Look::new(SIZE);
    let widest = names
        .map(|name| labels::width(name, look))
        .fold(0.0, f64::max);
    (widest + LEADER + SAMPLE + 1.0).min(most)
}

/// Names at the right of a plot, apart from each other, each tied to the end of its line.
pub(super) fn beside(canvas: &Canvas<'_>, frame: &Frame, ends: &[End<'_>], room: f64) {
    let wanted: Vec<f64> = ends.iter().map(|end| end.at.1).collect();
    let places = labels::spread(&wanted, SIZE + 5.5, frame.top + 4.0, frame.bottom - 4.0);
    let start = frame.right + LEADER;
    let look = Look::new(SIZE);
    for (end, y) in ends.iter().zip(places) {
        let colour = end.stroke.map_or(palette::AXIS, |stroke| stroke.colour);
        let from = end.at.0.max(frame.right + 4.0);
        let leader = [end.at, (from, end.at.1), (start - 8.0, y), (start, y)];
        canvas.line(&leader, colour, 0.6);
        let middle = (start + SAMPLE / 2.0 - 2.0, y);
        match end.stroke {
            Some(stroke) => series::mark(canvas, middle, stroke),
            None => pattern::reference(canvas, &[(start, y), (start + SAMPLE - 4.0, y)]),
        }
        let name = labels::fit(end.name, look, room - LEADER - SAMPLE);
        canvas.text(&name, (start + SAMPLE, y + SIZE * 0.36), look);
    }
}

/// Names of lines to compare with, inside a plot near their ends.
pub(super) fn inside(canvas: &Canvas<'_>, frame: &Frame, ends: &[End<'_>]) {
    let look = Look::new(INSIDE).right().colour(palette::FAINT);
    let mut taken: Vec<f64> = Vec::new();
    for end in ends {
        let room = frame.right - frame.left - 12.0;
        let name = labels::fit(end.name, look, room);
        let width = labels::width(&name, look);
        // A steep line leaves through the top: the free side is below its end, at the right if there is room.
        let steep = end.at.1 < frame.top + INSIDE + 6.0;
        let beside = end.at.0 + width + 10.0;
        let x = if steep && beside < frame.right {
            beside
        } else {
            end.at.0 - 4.0
        };
        let x = x.clamp(frame.left + width + 6.0, frame.right - 3.0);
        let mut y = if steep {
            end.at.1 + INSIDE + 4.0
        } else {
            end.at.1 - 5.0
        };
        while taken.iter().any(|other| (other - y).abs() < INSIDE + 4.0) {
            y += INSIDE + 4.0;
        }
        if y > frame.bottom - 2.0 {
            break;
        }
        taken.push(y);
        labels::backed(canvas, &name, (x, y), look);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_get_no_more_than_their_room() {
        assert!(room(["a", "bb"].into_iter(), 200.0) < 70.0);
        assert_eq!(
            room(["words ".repeat(50).as_str()].into_iter(), 200.0),
            200.0
        );
    }
}
