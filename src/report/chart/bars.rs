//! Parts of a whole as bars that lie side by side, a row a strategy.
//!
//! Eight kinds of parts are more than colours can tell apart in print. So each kind also has a pattern, and its name
//! stands in every part that has room for it.

use super::canvas::{Canvas, Look, picture};
use super::data::{Axis, Bar, Bars};
use super::frame::Frame;
use super::grid::{self, HEAD};
use super::legend::{Entry, Legend, Sample};
use super::palette::SERIES;
use super::ruler::Ruler;
use super::span::Side;
use super::{MARGIN, MOST_SHOWN, WIDTH, axes, labels, palette, pattern, titles};

/// Height of a bar, and from one to the next.
const BAR: f64 = 24.0;
const PITCH: f64 = 36.0;
/// The most that names take at the left, and sums at the right.
const NAMES: f64 = 230.0;
const SUMS: f64 = 76.0;
const SIZE: f64 = 11.5;
/// Below the bars: numbers and what they are.
const FOOT: f64 = 50.0;
const LINE: f64 = 15.0;

/// A chart of bars as SVG. At most eight rows and eight kinds of parts.
pub fn bars_svg(bars: &Bars) -> String {
    let rows = &bars.rows[..bars.rows.len().min(MOST_SHOWN)];
    let kinds = &bars.kinds[..bars.kinds.len().min(MOST_SHOWN)];
    let entry = |(i, name): (usize, &String)| Entry {
        sample: Sample::Part(i),
        text: name.clone(),
    };
    let legend = Legend::new(kinds.iter().enumerate().map(entry).collect());
    let look = Look::new(SIZE);
    let widths = rows.iter().map(|row| labels::width(&row.name, look));
    let left = MARGIN + widths.fold(0.0, f64::max).min(NAMES) + 10.0;
    let top = HEAD + legend.height() + 12.0;
    let frame = Frame {
        left,
        right: WIDTH - MARGIN - SUMS,
        top,
        bottom: top + PITCH * rows.len().max(1) as f64,
        x: 0.0..1.0,
        y: 0.0..1.0,
    };
    let note = bars.words.note.clone() + &grid::left_out(bars.rows.len() - rows.len(), "rows");
    let note = grid::footnote_lines(&note);
    let height = frame.bottom + FOOT + LINE * note.len() as f64 + 6.0;
    picture((WIDTH, height), &bars.words.title, |canvas| {
        titles(
            canvas,
            &bars.words.title,
            &bars.words.subtitle,
            WIDTH - MARGIN,
        );
        legend.draw(canvas, HEAD);
        plot(canvas, &frame, &bars.x, kinds, rows);
        if rows.is_empty() {
            grid::nothing(canvas, &frame);
        }
        grid::footnotes(canvas, height, &note);
    })
}

fn plot(canvas: &Canvas<'_>, frame: &Frame, axis: &Axis, kinds: &[String], rows: &[Bar]) {
    let sums: Vec<f64> = rows.iter().map(|row| row.parts.iter().sum()).collect();
    let ends: Vec<f64> = sums.iter().copied().chain([0.0]).collect();
    let x = Ruler::new(axis, &ends, Side::Across, frame.right - frame.left);
    for tick in &x.ticks {
        let line = [frame.at(tick.at, 0.0), frame.at(tick.at, 1.0)];
        canvas.line(&line, palette::GRID, 0.8);
    }
    axes::across(canvas, frame, &x, true);
    let faint = Look::new(SIZE).colour(palette::FAINT).centred();
    let middle = ((frame.left + frame.right) / 2.0, frame.bottom + 35.0);
    canvas.text(&axis.label, middle, faint);
    for (i, (row, sum)) in rows.iter().zip(sums).enumerate() {
        let top = frame.top + PITCH * i as f64 + (PITCH - BAR) / 2.0;
        let base = top + BAR / 2.0 + SIZE * 0.36;
        let look = Look::new(SIZE);
        let name = labels::fit(&row.name, look, frame.left - MARGIN - 10.0);
        canvas.text(&name, (frame.left - 8.0, base), look.right());
        let mut from = 0.0;
        for (kind, part) in row.parts.iter().enumerate().take(kinds.len()) {
            let place = |value: f64| frame.at(x.place_inside(value).unwrap_or(0.0), 0.0).0;
            let (left, right) = (place(from), place(from + part));
            from += part;
            if right > left {
                pattern::part(canvas, (left, top), (right, top + BAR), kind);
                name_part(canvas, &kinds[kind], (left, right, base), kind);
            }
        }
        let end = frame.at(x.place_inside(sum).unwrap_or(0.0), 0.0).0;
        let sum = labels::fit(&row.sum, look, WIDTH - MARGIN - end - 7.0);
        canvas.text(&sum, (end + 7.0, base), look);
    }
}

/// The name of a part inside it, where there is room.
fn name_part(canvas: &Canvas<'_>, name: &str, (left, right, base): (f64, f64, f64), kind: usize) {
    let look = Look::new(10.5);
    let width = labels::width(name, look);
    if right - left < width + 12.0 {
        return;
    }
    let at = ((left + right + width) / 2.0, base - 0.5);
    if pattern::is_plain(kind) {
        let ink = pattern::ink_on(SERIES[kind].colour);
        canvas.text(name, at, look.right().colour(ink));
    } else {
        labels::backed(canvas, name, at, look.right());
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{Form, Scale, Words};
    use super::super::probe::{count_inside, texts};
    use super::*;

    fn bars(rows: usize, kinds: usize) -> Bars {
        let row = |i: usize| Bar {
            name: format!("{i}. {}", "a name & more ".repeat(i % 4 + 1)),
            parts: (0..kinds).map(|kind| (kind + i) as f64 * 0.01).collect(),
            sum: "12.3 %".into(),
        };
        Bars {
            words: Words {
                title: "Where?".into(),
                ..Words::default()
            },
            x: Axis {
                label: "share, %".into(),
                scale: Scale::Linear,
                form: Form::Share,
            },
            kinds: (0..kinds).map(|kind| format!("kind {kind}")).collect(),
            rows: (0..rows).map(row).collect(),
        }
    }

    #[test]
    fn every_text_is_inside_and_large_parts_have_their_names() {
        for (rows, kinds) in [(0, 0), (1, 1), (3, 2), (8, 8), (12, 14)] {
            let svg = bars_svg(&bars(rows, kinds));
            assert!(count_inside(&svg) > 1 + rows.min(8), "{rows} {kinds}");
        }
        let found = texts(&bars_svg(&bars(3, 2)));
        assert!(
            found.iter().filter(|text| *text == "kind 1").count() >= 3,
            "{found:?}"
        );
        let found = texts(&bars_svg(&bars(12, 1)));
        assert!(
            found
                .iter()
                .any(|text| text.ends_with("The last 4 rows are not shown."))
        );
        assert!(texts(&bars_svg(&bars(0, 0))).contains(&"nothing to draw".into()));
    }

    #[test]
    fn patterns_tell_parts_apart_without_colours() {
        let one = bars_svg(&bars(2, 1));
        let two = bars_svg(&bars(2, 2));
        let lines = |svg: &str| svg.matches("<polyline").count();
        assert!(lines(&two) > lines(&one) + 10, "the second kind is hatched");
    }
}
