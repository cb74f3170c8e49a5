//! The cells of a heat map, in as few rectangles as show them.
//!
//! Ten thousand rectangles side by side make a large file, and where two of them meet between pixels the paper
//! shines through. So neighbours of the same shade are one rectangle, and each reaches a little under those that
//! are drawn after it.

use super::busy::Busy;
use super::canvas::{Canvas, Place};
use super::data::{Form, HeatPanel};
use super::figures::{self, Figure};
use super::frame::Frame;
use super::{palette, pattern, shade};
use plotters::style::RGBColor;

/// How far a rectangle reaches under its neighbours.
const UNDER: f64 = 1.0;
/// More rectangles than this are drawn together, shade by shade.
const MANY: usize = 500;
/// Up to so many columns, values are written into the cells.
const MOST_WRITTEN: usize = 15;

/// How a cell looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cell {
    /// A colour of the scale.
    Level(usize),
    /// In a state of its own.
    Hatched,
    /// Without a value.
    Empty,
}

impl Cell {
    /// What it is filled with, if it is.
    fn colour(self) -> Option<RGBColor> {
        match self {
            Self::Level(level) => Some(shade::colour(level)),
            Self::Hatched => Some(pattern::NEUTRAL),
            Self::Empty => None,
        }
    }
}

/// The cells of a map.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    columns: usize,
    rows: usize,
    cells: Vec<Cell>,
    values: Vec<Option<f64>>,
}

impl Cells {
    pub(super) fn new(
        panel: &HeatPanel,
        (columns, rows): (usize, usize),
        range: (f64, f64),
    ) -> Self {
        let value = |i: usize| {
            panel
                .values
                .get(i)
                .copied()
                .flatten()
                .filter(|v| v.is_finite())
        };
        let values: Vec<_> = (0..columns * rows).map(value).collect();
        let hatched = |i: usize| panel.hatched.get(i).copied().unwrap_or(false);
        let cells = values.iter().enumerate().map(|(i, value)| match value {
            _ if hatched(i) => Cell::Hatched,
            Some(value) => Cell::Level(shade::level(*value, range)),
            None => Cell::Empty,
        });
        Self {
            columns,
            rows,
            cells: cells.collect(),
            values,
        }
    }

    pub(super) fn has(&self, wanted: impl Fn(Cell) -> bool) -> bool {
        self.cells.iter().any(|&cell| wanted(cell))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = f64> {
        self.values.iter().copied().flatten()
    }

    /// Draws them into a frame, with the border on them.
    pub(super) fn draw(
        &self,
        canvas: &Canvas<'_>,
        frame: &Frame,
        form: Form,
        border: &[Vec<Place>],
    ) {
        let runs = self.runs();
        if runs.len() > MANY {
            self.fill_together(canvas, frame, &runs);
        } else {
            runs.iter().for_each(|run| self.fill(canvas, frame, run));
        }
        let (width, height) = self.size(frame);
        if width >= 12.0 && height >= 12.0 {
            self.gaps(canvas, frame);
        }
        for run in runs.iter().filter(|run| run.cell == Cell::Empty) {
            let together = if width >= 8.0 && height >= 8.0 {
                1
            } else {
                run.to - run.from
            };
            for from in (run.from..run.to).step_by(together) {
                let (left, top) = self.corner(frame, from, run.row + 1);
                let (right, bottom) = self.corner(frame, from + together, run.row);
                pattern::outline(canvas, (left + 0.8, top + 0.8), (right - 0.8, bottom - 0.8));
            }
        }
        for (from, to) in self.diagonals() {
            let line = [
                self.corner(frame, from.0, from.1),
                self.corner(frame, to.0, to.1),
            ];
            pattern::hatch(canvas, &line);
        }
        pattern::around(canvas, (frame.left, frame.top), (frame.right, frame.bottom));
        pattern::border(canvas, border);
        let mut busy = Busy::default();
        for line in border {
            busy.add_line(line);
        }
        if self.columns <= MOST_WRITTEN {
            let figures = self.figures(frame, form);
            figures::write(canvas, &figures, (width, height), &busy);
        }
    }

    fn size(&self, frame: &Frame) -> Place {
        let width = (frame.right - frame.left) / self.columns.max(1) as f64;
        (width, (frame.bottom - frame.top) / self.rows.max(1) as f64)
    }

    /// The lower left corner of a cell.
    fn corner(&self, frame: &Frame, column: usize, row: usize) -> Place {
        let part = |i: usize, count: usize| i as f64 / count.max(1) as f64;
        frame.at(part(column, self.columns), part(row, self.rows))
    }

    /// Neighbours in a row that look the same, from the highest row down.
    fn runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for row in (0..self.rows).rev() {
            for column in 0..self.columns {
                let cell = self.cells[row * self.columns + column];
                match runs.last_mut() {
                    Some(run) if run.row == row && run.cell == cell => run.to = column + 1,
                    _ => runs.push(Run {
                        row,
                        from: column,
                        to: column + 1,
                        cell,
                    }),
                }
            }
        }
        runs
    }

    fn fill(&self, canvas: &Canvas<'_>, frame: &Frame, run: &Run) {
        let Some(colour) = run.cell.colour() else {
            return;
        };
        let (corner, opposite) = self.extent(frame, run, UNDER);
        canvas.rectangle(corner, opposite, colour, 1.0);
    }

    /// The upper left and the lower right corner of a run that reaches so far under its neighbours.
    fn extent(&self, frame: &Frame, run: &Run, under: f64) -> (Place, Place) {
        let corner = self.corner(frame, run.from, run.row + 1);
        let (right, bottom) = self.corner(frame, run.to, run.row);
        let opposite = (
            (right + under).min(frame.right),
            (bottom + under).min(frame.bottom),
        );
        (corner, opposite)
    }

    /// All runs of a shade as one area: the pen goes from each rectangle to the next one and, at the end, back the same
    /// way, which leaves no trace. A picture of ten thousand parts would take a lot of memory to draw.
    fn fill_together(&self, canvas: &Canvas<'_>, frame: &Frame, runs: &[Run]) {
        let shades = (0..shade::LEVELS).map(Cell::Level).chain([Cell::Hatched]);
        for cell in shades {
            let Some(colour) = cell.colour() else {
                continue;
            };
            let (mut points, mut way_back) = (Vec::new(), Vec::new());
            for run in runs.iter().filter(|run| run.cell == cell) {
                let ((left, top), (right, bottom)) = self.extent(frame, run, UNDER / 2.0);
                let around = [(left, top), (right, top), (right, bottom), (left, bottom)];
                points.extend(around);
                points.push((left, top));
                way_back.push((left, top));
            }
            if !points.is_empty() {
                points.extend(way_back.into_iter().rev());
                canvas.area(&points, colour);
            }
        }
    }

    /// Thin lines of paper between cells.
    fn gaps(&self, canvas: &Canvas<'_>, frame: &Frame) {
        for column in 1..self.columns {
            let (x, _) = self.corner(frame, column, 0);
            canvas.line(&[(x, frame.top), (x, frame.bottom)], palette::PAPER, 1.0);
        }
        for row in 1..self.rows {
            let (_, y) = self.corner(frame, 0, row);
            canvas.line(&[(frame.left, y), (frame.right, y)], palette::PAPER, 1.0);
        }
    }

    /// The diagonals of hatched cells, from corner to corner; those that meet are one line.
    fn diagonals(&self) -> Vec<((usize, usize), (usize, usize))> {
        let hatched = |column: usize, row: usize| {
            let inside = column < self.columns && row < self.rows;
            inside && self.cells[row * self.columns + column] == Cell::Hatched
        };
        let mut lines = Vec::new();
        for row in 0..self.rows {
            for column in 0..self.columns {
                let goes_on = column > 0 && row > 0 && hatched(column - 1, row - 1);
                if hatched(column, row) && !goes_on {
                    let more = (1..).take_while(|i| hatched(column + i, row + i)).count() + 1;
                    lines.push(((column, row), (column + more, row + more)));
                }
            }
        }
        lines
    }

    /// The values where they belong.
    fn figures(&self, frame: &Frame, form: Form) -> Vec<Figure> {
        let (width, height) = self.size(frame);
        let figure = |(i, value): (usize, &Option<f64>)| {
            let (x, y) = self.corner(frame, i % self.columns, i / self.columns);
            let (ground, ink) = match self.cells[i] {
                Cell::Level(level) => (shade::colour(level), shade::ink(level)),
                Cell::Hatched | Cell::Empty => (pattern::NEUTRAL, palette::INK),
            };
            Some(Figure {
                text: form.short((*value)?),
                middle: (x + width / 2.0, y - height / 2.0),
                ground,
                ink,
                patterned: self.cells[i] == Cell::Hatched,
            })
        };
        self.values.iter().enumerate().filter_map(figure).collect()
    }
}

/// Neighbours in a row that look the same: the columns from `from` to before `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    row: usize,
    from: usize,
    to: usize,
    cell: Cell,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(values: &[f64], hatched: &[bool], columns: usize) -> Cells {
        let panel = HeatPanel {
            values: values.iter().map(|&value| Some(value)).collect(),
            hatched: hatched.to_vec(),
            ..HeatPanel::default()
        };
        Cells::new(&panel, (columns, values.len() / columns), (0.0, 1.0))
    }

    #[test]
    fn neighbours_of_the_same_shade_are_one() {
        let runs = cells(&[0.5, 0.501, 0.9, 0.0, 0.0, 0.0], &[], 3).runs();
        let found: Vec<_> = runs.iter().map(|run| (run.row, run.from, run.to)).collect();
        assert_eq!(found, [(1, 0, 3), (0, 0, 2), (0, 2, 3)]);
    }

    #[test]
    fn what_is_missing_or_no_number_is_empty() {
        let cells = cells(
            &[f64::NAN, f64::INFINITY, 0.5, 0.7],
            &[false, false, false, true],
            2,
        );
        assert_eq!(
            cells.cells,
            [Cell::Empty, Cell::Empty, Cell::Level(16), Cell::Hatched]
        );
        let short = Cells::new(&HeatPanel::default(), (2, 2), (0.0, 1.0));
        assert_eq!(short.cells, [Cell::Empty; 4]);
    }

    #[test]
    fn diagonals_that_meet_are_one_line() {
        let all = cells(&[0.0; 12], &[true; 12], 4);
        assert_eq!(all.diagonals().len(), 4 + 3 - 1);
        assert!(all.diagonals().contains(&((0, 0), (3, 3))));
        let one = cells(&[0.0; 4], &[false, true, false, false], 2);
        assert_eq!(one.diagonals(), [((1, 0), (2, 1))]);
    }
}
