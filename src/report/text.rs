//! Text that fits: measured in terminal columns, cut with an ellipsis, wrapped between words.
//!
//! A name is somebody's input. It may be long, be set in characters two columns wide, or hold control
//! characters that would move the cursor; here it becomes printable text of known width.

use unicode_width::UnicodeWidthStr;

/// How a terminal wants its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// Whether colour codes may be used.
    pub colour: bool,
    /// Whether characters beyond ASCII may be used.
    pub unicode: bool,
}

/// What a piece of text is, for its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paint {
    /// A heading.
    Heading,
    /// The best of its kind.
    Best,
    /// Less important.
    Faint,
    /// Not as it should be.
    Bad,
    /// Not known to be as it should be.
    Unsure,
}

impl Style {
    /// `text` without control characters and, where only ASCII is wanted, with stand-ins for the rest.
    pub(super) fn say(self, text: &str) -> String {
        let mut said = String::with_capacity(text.len());
        for c in text.chars() {
            match printable(c) {
                c if self.unicode || c.is_ascii() || c == NO_BREAK => said.push(c),
                c => said.push_str(ascii(c)),
            }
        }
        said
    }

    /// What stands for text that was cut.
    pub(super) fn ellipsis(self) -> &'static str {
        if self.unicode { "…" } else { "..." }
    }

    /// `text` with the colour codes of what it is, if there may be any.
    pub(super) fn paint(self, paint: Paint, text: &str) -> String {
        let code = match paint {
            _ if !self.colour => return text.into(),
            Paint::Heading => "1",
            Paint::Best => "32",
            Paint::Faint => "2",
            Paint::Bad => "31",
            Paint::Unsure => "33",
        };
        format!("\u{1b}[{code}m{text}\u{1b}[0m")
    }
}

/// A space for what moves the cursor, turns the direction of writing or may not stand in XML.
pub(super) fn printable(c: char) -> char {
    match c {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{fffe}' | '\u{ffff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    }
}

fn ascii(c: char) -> &'static str {
    match c {
        '×' => "x",
        '±' => "+-",
        'ᵏ' => "^k",
        '−' | '–' | '—' | '─' => "-",
        '÷' => "/",
        '…' => "...",
        '✓' => "+",
        '✗' => "!",
        '≈' => "=",
        '≤' => "<=",
        '≥' => ">=",
        'σ' => "s",
        '→' => "->",
        _ => "?",
    }
}

/// A space that [`wrap`] does not break at and replaces by a common one.
const NO_BREAK: char = '\u{a0}';

/// `text` with spaces that hold it together.
pub(super) fn glue(text: &str) -> String {
    text.replace(' ', "\u{a0}")
}

/// Columns a text takes in a terminal.
pub(super) fn columns(text: &str) -> usize {
    text.width()
}

/// `text` cut to at most `most` columns, the last of them an ellipsis where something is missing.
pub(super) fn fit(text: &str, most: usize, ellipsis: &str) -> String {
    fit_by(text, ellipsis, |text| columns(text) <= most)
}

/// The longest start of `text` that `fits` with `ellipsis` after it, or all of it if that fits.
pub(super) fn fit_by(text: &str, ellipsis: &str, fits: impl Fn(&str) -> bool) -> String {
    /// No place shows more characters than this.
    const MOST: usize = 400;
    if text.chars().nth(MOST).is_none() && fits(text) {
        return text.into();
    }
    let ends: Vec<usize> = text.char_indices().map(|(i, _)| i).take(MOST).collect();
    let cut = |&end: &usize| format!("{}{ellipsis}", text[..end].trim_end());
    // A longer start is a wider one, so the border can be searched for by halving.
    let fitting = ends.partition_point(|end| fits(&cut(end)));
    ends.get(fitting.saturating_sub(1))
        .map_or_else(String::new, cut)
}

/// Lines of at most `width` columns; all but the first start with `indent`. Breaks between words, and within
/// one that is longer than a line.
pub fn wrap(text: &str, width: usize, indent: &str) -> String {
    let room = width.max(columns(indent) + 2);
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("there is always a line");
        if line.trim().is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= room {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(format!("{indent}{word}"));
        }
        while let Some(rest) = split_off(lines.last_mut().expect("there is always a line"), room) {
            lines.push(format!("{indent}{rest}"));
        }
    }
    lines.join("\n").replace(NO_BREAK, " ")
}

/// What of `line` lies beyond `room` columns, taken off it.
fn split_off(line: &mut String, room: usize) -> Option<String> {
    if columns(line) <= room {
        return None;
    }
    let ends: Vec<usize> = line.char_indices().map(|(i, _)| i).collect();
    let fitting = ends.partition_point(|&end| columns(&line[..end]) <= room);
    Some(line.split_off(ends[fitting.saturating_sub(1).max(1)]))
}

/// One line "a, b: words" for each distinct text, with the names that share it, in their order.
pub(super) fn shared_lines<'a>(told: impl IntoIterator<Item = (&'a str, String)>) -> Vec<String> {
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, words) in told {
        match groups.iter_mut().find(|group| group.0 == words) {
            Some(group) => group.1.push(name),
            None => groups.push((words, vec![name])),
        }
    }
    let line = |(words, names): (String, Vec<&str>)| format!("{}: {words}", names.join(", "));
    groups.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_by_columns_not_by_characters() {
        assert_eq!(fit("full jitter", 11, "…"), "full jitter");
        assert_eq!(fit("full jitter", 10, "…"), "full jitt…");
        assert_eq!(fit("full jitter", 6, "…"), "full…");
        assert_eq!(fit("指数退避と再試行", 9, "…"), "指数退避…");
        assert_eq!(fit("指数退避と再試行", 10, "…"), "指数退避…");
        assert!(columns(&fit(&"長".repeat(10_000), 20, "...")) <= 20);
        assert_eq!(fit("", 3, "…"), "");
    }

    #[test]
    fn lines_break_between_words_or_inside_a_word_longer_than_a_line() {
        assert_eq!(wrap("aa bb cc dd", 5, ""), "aa bb\ncc dd");
        assert_eq!(wrap("aa bb cc dd", 6, "  "), "aa bb\n  cc\n  dd");
        assert_eq!(wrap(&format!("aa {}", glue("1 %")), 4, ""), "aa\n1 %");
        let long = wrap(&format!("x {} y", "長".repeat(50)), 21, "  ");
        assert!(long.lines().all(|line| columns(line) <= 21), "{long}");
        assert_eq!(long.matches('長').count(), 50);
    }

    #[test]
    fn control_characters_never_reach_the_terminal() {
        let style = Style {
            colour: true,
            unicode: true,
        };
        assert_eq!(style.say("a\u{1b}[31mb\nc\u{202e}d"), "a [31mb c d");
    }

    #[test]
    fn ascii_has_stand_ins() {
        let style = Style {
            colour: false,
            unicode: false,
        };
        assert_eq!(style.say("1 − pᵏ ± 2×, 指"), "1 - p^k +- 2x, ?");
    }
}
