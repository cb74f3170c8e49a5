//! Rows and columns for a terminal of any width.
//!
//! A line that wraps turns a table into noise, so names give way: numbers keep their columns and names are cut to what
//! is left.

use super::text::{Paint, Style, columns, fit};
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// Names keep this many columns, however narrow the terminal.
const SHORTEST_NAME: usize = 8;
/// Columns that tell most names apart.
const USEFUL_NAME: usize = 12;
/// Spaces between columns.
const GAP: u16 = 2;

/// A column of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Two lines of heading.
    heading: [String; 2],
    cells: Vec<String>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Name,
    Word,
    Number,
}

impl Column {
    fn new(heading: [&str; 2], cells: Vec<String>, kind: Kind, style: Style) -> Self {
        Self {
            heading: heading.map(|line| style.say(line)),
            cells: cells.iter().map(|cell| style.say(cell)).collect(),
            kind,
        }
    }

    /// Names, which are cut to the room that is left.
    pub(super) fn names(heading: [&str; 2], cells: Vec<String>, style: Style) -> Self {
        Self::new(heading, cells, Kind::Name, style)
    }

    /// Words.
    pub(super) fn words(heading: [&str; 2], cells: Vec<String>, style: Style) -> Self {
        Self::new(heading, cells, Kind::Word, style)
    }

    /// Numbers, which end at the same place.
    pub(super) fn numbers(heading: [&str; 2], cells: Vec<String>, style: Style) -> Self {
        Self::new(heading, cells, Kind::Number, style)
    }

    /// Terminal columns it takes.
    fn width(&self) -> usize {
        let texts = self.heading.iter().chain(&self.cells);
        texts.map(|text| columns(text)).max().unwrap_or(0)
    }
}

/// Terminal columns that are left for names; there is room for all of them, or for enough of each, if it `is_enough`.
fn room(table: &[Column], width: usize) -> (usize, bool) {
    let others = table.iter().filter(|column| column.kind != Kind::Name);
    let taken: usize = others.map(|c| c.width() + usize::from(GAP)).sum();
    let left = width.saturating_sub(taken);
    let names = table.iter().filter(|column| column.kind == Kind::Name);
    let longest = names.map(Column::width).max().unwrap_or(0);
    (left, left >= longest.min(USEFUL_NAME))
}

/// The first of several tables that leaves enough room for names, or the last one.
pub(super) fn first_that_fits(tables: Vec<Vec<Column>>, width: usize) -> Vec<Column> {
    let mut last = Vec::new();
    for table in tables {
        let fits = room(&table, width).1;
        last = table;
        if fits {
            break;
        }
    }
    last
}

/// The columns beside each other below their headings and a rule, in `width` columns. The first row is painted when it
/// is the best.
pub(super) fn grid(
    mut table: Vec<Column>,
    width: usize,
    first_is_best: bool,
    style: Style,
) -> String {
    let names = room(&table, width).0.max(SHORTEST_NAME);
    for column in table.iter_mut().filter(|column| column.kind == Kind::Name) {
        for cell in &mut column.cells {
            *cell = fit(cell, names, style.ellipsis());
        }
    }
    let lines = 1 + usize::from(table.iter().any(|column| !column.heading[0].is_empty()));
    let heading = |column: &Column| Cell::new(column.heading[2 - lines..].join("\n"));
    let mut drawn = Table::new();
    drawn
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(table.iter().map(heading));
    let rows = table
        .iter()
        .map(|column| column.cells.len())
        .max()
        .unwrap_or(0);
    for row in 0..rows {
        drawn.add_row(table.iter().map(|column| Cell::new(&column.cells[row])));
    }
    for (i, (column, of)) in drawn.column_iter_mut().zip(&table).enumerate() {
        column.set_padding((0, if i + 1 == table.len() { 0 } else { GAP }));
        if of.kind == Kind::Number {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    painted(&drawn.trim_fmt(), lines, first_is_best, style)
}

/// The laid out table with a rule below the lines of its heading, and its colours.
fn painted(table: &str, heading: usize, first_is_best: bool, style: Style) -> String {
    let rule = if style.unicode { "─" } else { "-" };
    let long = table.lines().map(columns).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (i, line) in table.lines().enumerate() {
        if i < heading {
            lines.push(style.paint(Paint::Heading, line));
            continue;
        }
        if i == heading {
            lines.push(style.paint(Paint::Faint, &rule.repeat(long)));
        }
        let best = first_is_best && i == heading;
        lines.push(if best {
            style.paint(Paint::Best, line)
        } else {
            line.into()
        });
    }
    lines.join("\n")
}
