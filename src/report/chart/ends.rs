//! Names at the ends of lines, where the eye is when it asks which line this is.

use super::busy::{Area, Busy};
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
    /// Behind the name, and never cut. May be empty.
    pub(super) note: &'a str,
    pub(super) at: Place,
    /// Nothing for a line to compare with.
    pub(super) stroke: Option<Stroke>,
}

/// A note with the space before it.
pub(super) fn behind(note: &str) -> String {
    match note {
        "" => String::new(),
        note => format!("\u{2002}{note}"),
    }
}

/// What names need at the right of a plot, at the most `most`.
pub(super) fn room(names: impl Iterator<Item = String>, most: f64) -> f64 {
    let look = Look::new(SIZE);
    let widest = names
        .map(|name| labels::width(&name, look))
        .fold(0.0, f64::max);
    (widest + LEADER + SAMPLE + 1.0).min(most)
}

/// Names at the right of a plot, apart from each other, each tied to the end of its line.
pub(super) fn beside(canvas: &Canvas<'_>, frame: &Frame, ends: &[End<'_>], room: f64) {
    // Ends that look the same keep the order of the lines.
    let wanted: Vec<f64> = ends.iter().map(|end| end.at.1.round()).collect();
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
        let note = behind(end.note);
        let taken = LEADER + SAMPLE + labels::width(&note, look);
        let name = labels::fit(end.name, look, room - taken) + &note;
        canvas.text(&name, (start + SAMPLE, y + SIZE * 0.36), look);
    }
}

/// Names of lines to compare with, inside a plot near one of their ends, where least is drawn.
pub(super) fn inside(canvas: &Canvas<'_>, frame: &Frame, lines: &[(&str, &[Place])], busy: &Busy) {
    let look = Look::new(INSIDE).right().colour(palette::FAINT);
    let plot = Area {
        left: frame.left + 2.0,
        top: frame.top + 2.0,
        right: frame.right - 2.0,
        bottom: frame.bottom - 2.0,
    };
    let mut busy = busy.clone();
    for (name, line) in lines {
        let name = labels::fit(name, look, frame.right - frame.left - 12.0);
        let width = labels::width(&name, look) + 4.0;
        let ends = rightmost(line).into_iter().chain(leftmost(line));
        let around = ends.flat_map(|(x, y)| {
            let (left, above) = (x - width - 2.0, y - INSIDE - 8.0);
            [
                (left, above),
                (left, y + 4.0),
                (x + 4.0, above),
                (x + 4.0, y + 4.0),
            ]
        });
        let areas: Vec<Area> = around
            .map(|(left, top)| Area {
                left,
                top,
                right: left + width,
                bottom: top + INSIDE + 5.0,
            })
            .map(|area| area.moved_into(plot))
            .collect();
        if let Some((area, _)) = busy.freest(&areas) {
            labels::backed(canvas, &name, (area.right - 2.0, area.bottom - 4.5), look);
            busy.add_area(area);
        }
    }
}

/// The point of a line that is furthest to the right; of several the last.
pub(super) fn rightmost(line: &[Place]) -> Option<Place> {
    line.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))
}

fn leftmost(line: &[Place]) -> Option<Place> {
    line.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_get_no_more_than_their_room() {
        assert!(room(["a", "bb"].map(String::from).into_iter(), 200.0) < 70.0);
        assert_eq!(room(["words ".repeat(50)].into_iter(), 200.0), 200.0);
    }
}
