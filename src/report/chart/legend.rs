//! What lines, colours and patterns mean, in rows above the plots.

use super::canvas::{Canvas, Look, Place};
use super::data::Form;
use super::palette::{self, Stroke};
use super::{MARGIN, WIDTH, labels, pattern, series, shade};
use plotters::style::RGBColor;

/// Height of a row.
pub(super) const ROW: f64 = 21.0;
const SIZE: f64 = 11.5;
/// Between a sample and its text, and between entries.
const GAPS: (f64, f64) = (7.0, 22.0);
/// Width of the scale of colours.
const BAR: f64 = 150.0;

/// What is explained.
#[derive(Clone, Debug)]
pub(super) enum Sample {
    /// A line with its marker, or the marker alone.
    Line(Stroke, bool),
    /// What theory expects.
    Predicted,
    /// From the lower to the upper end of an interval.
    Interval,
    /// The colours from the least to the greatest value.
    Colours(String, String),
    /// A cell in a state of its own.
    Hatched,
    /// A cell without a value.
    Empty,
    /// The border of theory.
    Border,
    /// A part of a bar of this kind.
    Part(usize),
    /// What has this colour.
    Fill(RGBColor),
}

/// A sample with what it means.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) sample: Sample,
    pub(super) text: String,
}

/// Entries in rows.
#[derive(Clone, Debug)]
pub(super) struct Legend {
    entries: Vec<(Place, Entry)>,
    rows: usize,
}

impl Sample {
    /// The colours of a scale between two values. An end that is not the last value says so.
    pub(super) fn colours(form: Form, range: (f64, f64), beyond: (bool, bool)) -> Self {
        let end = |value: f64, beyond: bool, sign: &str| {
            let sign = if beyond { sign } else { "" };
            format!("{sign}{}", form.full(value))
        };
        let (low, high) = range;
        Sample::Colours(end(low, beyond.0, "≤ "), end(high, beyond.1, "≥ "))
    }

    fn width(&self) -> f64 {
        match self {
            Sample::Line(_, true) | Sample::Predicted | Sample::Border => 26.0,
            Sample::Line(_, false) | Sample::Fill(_) => 10.0,
            Sample::Interval | Sample::Hatched | Sample::Empty | Sample::Part(_) => 20.0,
            Sample::Colours(low, high) => {
                let look = Look::new(SIZE);
                labels::width(low, look) + labels::width(high, look) + BAR + 12.0
            }
        }
    }

    /// Draws it to the right of a place that is at half its height.
    fn draw(&self, canvas: &Canvas<'_>, (x, y): Place) {
        let (left, right) = ((x, y), (x + self.width(), y));
        let (corner, opposite) = ((x, y - 6.0), (right.0, y + 6.0));
        match self {
            Sample::Line(stroke, joined) => {
                if *joined {
                    canvas.dashed(&[left, right], stroke.dash, stroke.colour, 1.9);
                }
                let middle = ((left.0 + right.0) / 2.0, y);
                series::mark(canvas, middle, *stroke);
            }
            Sample::Predicted => pattern::predicted(canvas, &[left, right], palette::INK),
            Sample::Interval => canvas.rectangle(corner, opposite, palette::INK, 0.15),
            Sample::Colours(low, high) => colours(canvas, left, low, high),
            Sample::Hatched => {
                canvas.rectangle(corner, opposite, pattern::NEUTRAL, 1.0);
                let diagonal = [(corner.0, opposite.1), (opposite.0, corner.1)];
                pattern::hatch(canvas, &diagonal);
            }
            Sample::Empty => pattern::outline(canvas, corner, opposite),
            Sample::Border => pattern::border(canvas, &[vec![left, right]]),
            Sample::Fill(colour) => canvas.rectangle(corner, opposite, *colour, 1.0),
            Sample::Part(kind) => pattern::part(canvas, corner, opposite, *kind),
        }
    }
}

/// The scale of colours with its ends named.
fn colours(canvas: &Canvas<'_>, (x, y): Place, low: &str, high: &str) {
    let look = Look::new(SIZE);
    let base = y + SIZE * 0.36;
    canvas.text(low, (x, base), look);
    let start = x + labels::width(low, look) + 6.0;
    let end = start + BAR;
    for level in 0..shade::LEVELS {
        // Each reaches to the end, so that there is no seam between two.
        let from = start + BAR * level as f64 / shade::LEVELS as f64;
        canvas.rectangle((from, y - 6.0), (end, y + 6.0), shade::colour(level), 1.0);
    }
    canvas.text(high, (end + 6.0, base), look);
}

impl Legend {
    /// Places entries from left to right, and in a new row where there is no more room.
    pub(super) fn new(entries: Vec<Entry>) -> Self {
        let look = Look::new(SIZE);
        let (start, end) = (MARGIN, WIDTH - MARGIN);
        let (mut x, mut rows) = (start, usize::from(!entries.is_empty()));
        let mut placed = Vec::new();
        for mut entry in entries {
            let sample = entry.sample.width() + GAPS.0;
            entry.text = labels::fit(&entry.text, look, (end - start - sample).min(320.0));
            let width = sample + labels::width(&entry.text, look);
            if x > start && x + width > end {
                (x, rows) = (start, rows + 1);
            }
            placed.push(((x, (rows - 1) as f64 * ROW + ROW / 2.0), entry));
            x += width + GAPS.1;
        }
        Self {
            entries: placed,
            rows,
        }
    }

    pub(super) fn height(&self) -> f64 {
        self.rows as f64 * ROW
    }

    /// Draws it from a height downwards.
    pub(super) fn draw(&self, canvas: &Canvas<'_>, top: f64) {
        for ((x, y), entry) in &self.entries {
            let y = top + y;
            entry.sample.draw(canvas, (*x, y));
            let text = x + entry.sample.width() + GAPS.0;
            canvas.text(&entry.text, (text, y + SIZE * 0.36), Look::new(SIZE));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize, text: &str) -> Vec<Entry> {
        let entry = Entry {
            sample: Sample::Border,
            text: text.into(),
        };
        vec![entry; count]
    }

    #[test]
    fn entries_go_on_in_a_new_row_where_there_is_no_more_room() {
        assert_eq!(Legend::new(entries(0, "a")).height(), 0.0);
        assert_eq!(Legend::new(entries(3, "a")).height(), ROW);
        let legend = Legend::new(entries(20, "some words"));
        assert!(legend.rows > 1);
        let look = Look::new(SIZE);
        for ((x, _), entry) in &legend.entries {
            assert!(x + 33.0 + labels::width(&entry.text, look) <= WIDTH - MARGIN);
        }
        let long = Legend::new(entries(2, &"words ".repeat(99)));
        assert!(long.entries[0].1.text.ends_with('…'));
    }

    #[test]
    fn an_end_of_the_colours_that_is_exceeded_says_so() {
        let Sample::Colours(low, high) = Sample::colours(Form::Factor, (1.0, 3.0), (false, true))
        else {
            panic!("colours");
        };
        assert_eq!((&low[..], &high[..]), ("1×", "≥ 3×"));
    }
}
