//! Text of several subjects for a terminal: titles, paragraphs and tables of figures.

use super::grid::{Column, grid};
use super::table::NARROWEST;
use super::text::{Paint, Style, columns, wrap};

/// Lines are no longer than this: longer ones are hard to read.
const WIDEST: usize = 120;

/// Columns that are used of a terminal with so many.
fn room(width: usize) -> usize {
    width.clamp(NARROWEST, WIDEST)
}

/// The title of a part, above a rule.
pub fn title(text: &str, width: usize, style: Style) -> String {
    let text = wrap(&style.say(text), room(width), "");
    let long = text.lines().map(columns).max().unwrap_or(0);
    let rule = if style.unicode { "─" } else { "-" }.repeat(long);
    let lines = text.lines().map(|line| style.paint(Paint::Heading, line));
    let lines: Vec<String> = lines.collect();
    format!("{}\n{}", lines.join("\n"), style.paint(Paint::Faint, &rule))
}

/// The heading of a subject.
pub fn heading(text: &str, style: Style) -> String {
    style.paint(Paint::Heading, &style.say(text))
}

/// Paragraphs, each with its further lines set in.
pub fn paragraphs<S: AsRef<str>>(texts: &[S], width: usize, style: Style) -> String {
    let wrapped = texts
        .iter()
        .map(|text| wrap(&style.say(text.as_ref()), room(width), "  "));
    wrapped.collect::<Vec<_>>().join("\n")
}

/// A table of figures below two lines of heading for each column.
pub fn figures(headings: &[[&str; 2]], rows: &[Vec<String>], width: usize, style: Style) -> String {
    let column = |(i, heading): (usize, &[&str; 2])| {
        let cells = rows.iter().map(|row| row[i].replace('\u{a0}', " "));
        Column::numbers(*heading, cells.collect(), style)
    };
    let table = headings.iter().enumerate().map(column).collect();
    grid(table, room(width), false, style)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_figures_are_laid_out() {
        let style = Style {
            colour: false,
            unicode: true,
        };
        let rows = [["1", "50 ms"], ["10", "unbounded"]].map(|row| row.map(String::from).to_vec());
        let parts = [
            title("a strategy", 40, style),
            heading("Waits", style),
            paragraphs(&["word ".repeat(17).trim()], 40, style),
            figures(&[["", "#"], ["wait", "low"]], &rows, 40, style),
        ];
        let expected = [
            "a strategy".to_owned(),
            "──────────".to_owned(),
            "Waits".to_owned(),
            "word ".repeat(15).trim().to_owned(),
            "  word word".to_owned(),
            "         wait".to_owned(),
            " #        low".to_owned(),
            "─────────────".to_owned(),
            " 1      50 ms".to_owned(),
            "10  unbounded".to_owned(),
        ];
        assert_eq!(parts.join("\n"), expected.join("\n"));
    }
}
