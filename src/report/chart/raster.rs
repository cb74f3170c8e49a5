//! Who makes attempts when: a row a client, a mark an attempt.
//!
//! What jitter does cannot be seen in sums: clients that wait for the same time stand in columns here, and clients that
//! do not are scattered.

use super::axes;
use super::canvas::{Canvas, Look, picture};
use super::curves::shade;
use super::data::{Mark, Raster};
use super::frame::{Frame, TICK_SIZE};
use super::grid::{self, Grid, HEAD};
use super::legend::{Entry, Legend, Sample};
use super::ruler::Ruler;
use super::{MARGIN, MOST_SHOWN, WIDTH, labels, palette, titles};
use plotters::style::RGBColor;

/// Height of a plot in a single column, and in two.
const HEIGHTS: [f64; 2] = [230.0, 200.0];
/// Width of what cannot be told apart.
const COLUMN: f64 = 1.2;
/// The least width of a mark.
const LEAST: [f64; 2] = [1.6, 3.0];
/// The least height of a retry, which may reach a little into the rows beside it.
const LEAST_HEIGHT: f64 = 1.6;
/// A panel has no more marks than this: more would be slow to look at.
const MOST_MARKS: usize = 4_000;

/// A stroke from one column of a row to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Run {
    row: u32,
    retry: bool,
    from: u32,
    to: u32,
}

/// A chart of attempts as SVG. At most eight panels. Where there is too much to draw, the last rows are left out.
pub fn raster_svg(raster: &Raster) -> String {
    let panels = &raster.panels[..raster.panels.len().min(MOST_SHOWN)];
    let across = if panels.len() <= 2 { 1 } else { 2 };
    let legend = Legend::new(vec![
        entry(palette::FIRST_TRIES, "a first try"),
        entry(palette::RETRIES, "a retry"),
    ]);
    let left = MARGIN + 26.0 + labels::width("000", Look::new(TICK_SIZE));
    let beside = 14.0;
    let width = grid::room(left, across, beside);
    let grid = Grid {
        count: panels.len(),
        across,
        left,
        top: HEAD + legend.height(),
        plot: (width, HEIGHTS[across - 1]),
        beside,
        titled: true,
        shaded: !raster.shades.is_empty(),
    };
    let x = Ruler::between(raster.range, raster.x.form, width);
    let runs: Vec<Vec<Run>> = panels
        .iter()
        .map(|(_, marks)| runs(marks, &x, width))
        .collect();
    let rows = runs.iter().map(|runs| rows_for(runs, raster.rows)).min();
    let rows = rows.unwrap_or(raster.rows).max(1);
    let left_out = raster.panels.len() - panels.len();
    let note = format!(
        "The first {rows} {}. {}",
        raster.row_words, raster.words.note
    );
    let note = note + &grid::left_out(left_out, "strategies");
    let note = grid::footnote_lines(&note);
    let size = (WIDTH, grid.height(note.len()));
    picture(size, &raster.words.title, |canvas| {
        titles(
            canvas,
            &raster.words.title,
            &raster.words.subtitle,
            WIDTH - MARGIN,
        );
        legend.draw(canvas, HEAD);
        for (i, ((title, _), runs)) in panels.iter().zip(&runs).enumerate() {
            let frame = grid.frame(i);
            shade(canvas, &frame, &x, &raster.shades);
            draw(canvas, &frame, rows, runs);
            axes::across(canvas, &frame, &x, grid.lowest(i));
            if grid.leftmost(i) {
                row_numbers(canvas, &frame, rows);
            }
            grid.title(canvas, i, title);
        }
        if panels.is_empty() {
            grid::nothing(canvas, &grid.frame(0));
        }
        grid.labels(canvas, &raster.x.label, &raster.y_label);
        grid::footnotes(canvas, size.1, &note);
    })
}

fn entry(colour: RGBColor, text: &str) -> Entry {
    Entry {
        sample: Sample::Fill(colour),
        text: text.into(),
    }
}

/// The marks of a plot of a width, put together where they touch, row by row.
fn runs(marks: &[Mark], x: &Ruler, width: f64) -> Vec<Run> {
    let columns = (width / COLUMN).floor();
    let column = |mark: &Mark| {
        let at = x.place(mark.at).filter(|at| (0.0..=1.0).contains(at))?;
        let column = (at * columns) as u32;
        Some(Run {
            row: mark.row,
            retry: mark.retry,
            from: column,
            to: column,
        })
    };
    let mut all: Vec<Run> = marks.iter().filter_map(column).collect();
    all.sort_unstable();
    let mut runs: Vec<Run> = Vec::new();
    for run in all {
        match runs.last_mut() {
            Some(last)
                if (last.row, last.retry) == (run.row, run.retry) && run.from <= last.to + 1 =>
            {
                last.to = last.to.max(run.to);
            }
            _ => runs.push(run),
        }
    }
    runs
}

/// How many rows may be drawn.
fn rows_for(runs: &[Run], rows: u32) -> u32 {
    runs.get(MOST_MARKS).map_or(rows, |run| run.row.min(rows))
}

/// Retries with first tries on them: a retry at once would hide its first try.
fn draw(canvas: &Canvas<'_>, frame: &Frame, rows: u32, runs: &[Run]) {
    let pitch = (frame.bottom - frame.top) / f64::from(rows);
    let columns = ((frame.right - frame.left) / COLUMN).floor();
    let at = |column: u32| frame.left + f64::from(column) / columns * (frame.right - frame.left);
    for retry in [true, false] {
        let colour = if retry {
            palette::RETRIES
        } else {
            palette::FIRST_TRIES
        };
        let shown = runs
            .iter()
            .filter(|run| run.retry == retry && run.row < rows);
        for run in shown {
            let top = frame.top + pitch * f64::from(run.row);
            // First tries are thin and as high as their row, retries are wide and lower.
            let air = if retry { pitch * 0.12 } else { 0.0 };
            let air = air.min((pitch - LEAST_HEIGHT) / 2.0);
            let width = (at(run.to + 1) - at(run.from)).max(LEAST[usize::from(retry)]);
            let right = (at(run.from) + width).min(frame.right);
            canvas.rectangle(
                (right - width, top + air),
                (right, top + pitch - air),
                colour,
                1.0,
            );
        }
    }
}

/// The numbers of the first and the last row.
fn row_numbers(canvas: &Canvas<'_>, frame: &Frame, rows: u32) {
    let look = Look::new(TICK_SIZE).colour(palette::FAINT).right();
    canvas.text("1", (frame.left - 6.0, frame.top + TICK_SIZE * 0.72), look);
    if rows > 1 {
        canvas.text(&rows.to_string(), (frame.left - 6.0, frame.bottom), look);
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{Axis, Form, Scale, Shade, Words};
    use super::super::probe::{apart, count_inside, texts};
    use super::*;

    fn raster(panels: usize, every: f64, count: u32) -> Raster {
        let marks = (0..count).map(|i| Mark {
            row: i % 200,
            at: f64::from(i / 200) * every,
            retry: i >= 200,
        });
        let marks: Vec<Mark> = marks.collect();
        Raster {
            words: Words::default(),
            x: Axis {
                label: "time, s".into(),
                scale: Scale::Linear,
                form: Form::Plain,
            },
            range: (0.0, 10.0),
            rows: 200,
            y_label: "client".into(),
            row_words: "clients".into(),
            shades: vec![Shade {
                from: 2.0,
                to: 3.0,
                label: "outage".into(),
            }],
            panels: (0..panels)
                .map(|i| (format!("{i}. name"), marks.clone()))
                .collect(),
        }
    }

    #[test]
    fn every_text_is_inside_and_alone() {
        for panels in [0, 1, 2, 3, 8, 9] {
            let svg = raster_svg(&raster(panels, 1.0, 1_000));
            assert!(count_inside(&svg) >= 4 + panels.min(8));
            apart(&svg);
        }
    }

    #[test]
    fn marks_that_touch_are_one_and_too_many_leave_rows_out() {
        let count = |svg: &str, colour: &str| svg.matches(colour).count();
        let apart = raster_svg(&raster(1, 1.0, 2_000));
        // A swatch of the key, and a mark for each of 200 rows.
        assert_eq!(count(&apart, "#0072B2"), 201);
        assert_eq!(count(&apart, "#E69F00"), 1_801);
        let touching = raster_svg(&raster(1, 0.001, 2_000));
        assert!(count(&touching, "#E69F00") < 202);
        let many = raster_svg(&raster(1, 0.2, 10_000));
        assert!(count(&many, "#E69F00") < MOST_MARKS);
        assert!(!texts(&many).contains(&"200".into()));
        assert!(texts(&apart).contains(&"200".into()));
    }
}
