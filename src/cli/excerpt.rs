//! The line of a file that a message is about.
//!
//! A line may be a megabyte long, and its text may move the cursor. What is shown is a window of the line that
//! fits the terminal, around the marked part, in printable characters.

use super::terminal::{Look, printable};
use crate::decode::Document;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// Columns that the frame around an excerpt takes.
const FRAME: usize = 12;
/// Columns of a tab: as many as miette draws at the most.
const TAB: usize = 4;

/// A part of a line with its place in the file.
#[derive(Debug)]
pub(super) struct Excerpt {
    text: String,
    /// The marked bytes of `text`.
    pub(super) marked: Range<usize>,
    name: String,
    /// Counted from zero.
    line: usize,
    /// In characters, counted from zero.
    column: usize,
}

impl Excerpt {
    /// The first line of `span`.
    pub(super) fn of(document: &Document, span: &Range<usize>, look: Look) -> Self {
        let text = document.text.as_str();
        let start = text.floor_char_boundary(span.start.min(text.len()));
        let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
        let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
        let stop = text.ceil_char_boundary(span.end.clamp(start, line_end));
        let room = look.width.saturating_sub(FRAME).max(20);
        let (line, column) = document.line_column(start);
        let (text, marked) = window(
            &text[line_start..line_end],
            start - line_start..stop - line_start,
            room,
            if look.unicode { "…" } else { "..." },
        );
        Self {
            text,
            marked,
            name: super::terminal::clean(&document.name),
            line: line - 1,
            column: column - 1,
        }
    }
}

/// The part of `line` around the beginning of `marked` that takes `room` columns at the most, and the marked
/// bytes of it.
fn window(line: &str, marked: Range<usize>, room: usize, cut: &str) -> (String, Range<usize>) {
    let line = line.trim_end_matches('\r');
    let start = marked.start.min(line.len());
    // What stands before the mark may take half of the room, or all that the rest leaves.
    let rest: usize = line[start..].chars().map(columns).take(room).sum();
    let before = room.saturating_sub(rest).max(room / 2);
    let mut from = start;
    let mut taken = 0;
    for (i, c) in line[..start].char_indices().rev() {
        taken += columns(c);
        if taken > before {
            break;
        }
        from = i;
    }
    let mut text = String::new();
    if from > 0 {
        text.push_str(cut);
    }
    let (mut begin, mut end, mut used) = (None, None, 0);
    for (i, c) in line[from..].char_indices().map(|(i, c)| (from + i, c)) {
        if i >= marked.start && begin.is_none() {
            begin = Some(text.len());
        }
        if i >= marked.end && end.is_none() {
            end = Some(text.len());
        }
        used += columns(c);
        if used > room {
            text.push_str(cut);
            break;
        }
        text.push(if c == '\t' { c } else { printable(c) });
    }
    let begin = begin.unwrap_or(text.len());
    let end = end.unwrap_or(text.len()).max(begin);
    if begin == text.len() {
        // A mark needs a column to stand under.
        text.push(' ');
    }
    (text, begin..end)
}

fn columns(c: char) -> usize {
    match c {
        '\t' => TAB,
        c => printable(c).width().unwrap_or(0),
    }
}

impl SourceCode for Excerpt {
    fn read_span<'a>(
        &'a self,
        _: &SourceSpan,
        _: usize,
        _: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.clone(),
            self.text.as_bytes(),
            (0, self.text.len()).into(),
            self.line,
            self.column,
            1,
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str, part: &str, room: usize) -> (String, String) {
        let start = line.find(part).unwrap();
        let (text, marked) = window(line, start..start + part.len(), room, "...");
        let marked = text[marked].to_owned();
        (text, marked)
    }

    #[test]
    fn a_short_line_is_shown_whole() {
        assert_eq!(
            shown("seed = \"x\"\r", "\"x\"", 40),
            ("seed = \"x\"".into(), "\"x\"".into())
        );
        assert_eq!(shown("名前 = 5", "5", 40), ("名前 = 5".into(), "5".into()));
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let line = format!("{}MARK{}", "a".repeat(5_000), "b".repeat(5_000));
        let (text, marked) = shown(&line, "MARK", 40);
        assert_eq!(marked, "MARK");
        assert!(
            text.len() <= 46 && text.starts_with("...a") && text.ends_with("b..."),
            "{text}"
        );
        let (text, marked) = shown(&line, &"b".repeat(5_000), 40);
        assert!(text.len() <= 46 && marked.len() >= 20, "{text}");
        let (text, marked) = shown(&"語".repeat(1_000), "語", 40);
        assert_eq!((text.chars().count(), marked.as_str()), (23, "語"));
    }

    #[test]
    fn nothing_moves_the_cursor() {
        let (text, _) = shown("a = \"\u{1b}[31m\u{202e}x\"", "\"", 40);
        assert_eq!(text, "a = \" [31m x\"");
    }

    #[test]
    fn a_mark_at_the_end_of_a_line_is_empty() {
        assert_eq!(window("ab", 2..2, 40, "..."), ("ab ".into(), 2..2));
        assert_eq!(window("", 0..0, 40, "..."), (" ".into(), 0..0));
    }
}
