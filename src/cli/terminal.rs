//! What the terminal can show, and the only places that print.

use super::Failure;
use std::io::{IsTerminal, Write};

/// Columns assumed where there is no terminal to ask.
const USUAL_WIDTH: usize = 80;

/// What a stream can show.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Columns.
    pub(super) width: usize,
    /// Whether colour codes are welcome.
    pub(super) colour: bool,
    /// Whether characters beyond ASCII are.
    pub(super) unicode: bool,
}

impl Look {
    /// Of standard output.
    pub(super) fn of_stdout() -> Self {
        Self::of(std::io::stdout().is_terminal())
    }

    /// Of standard error.
    pub(super) fn of_stderr() -> Self {
        Self::of(std::io::stderr().is_terminal())
    }

    fn of(terminal: bool) -> Self {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let asked = std::env::var("COLUMNS")
            .ok()
            .and_then(|columns| columns.parse().ok());
        let width = asked
            .or_else(|| terminal.then(console_width).flatten())
            .unwrap_or(USUAL_WIDTH);
        Self {
            width: width.clamp(40, 200),
            colour: terminal && !dumb && !set("NO_COLOR"),
            unicode: !dumb && speaks_utf8(),
        }
    }
}

fn console_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}

/// Whether the locale, as far as it says anything, is UTF-8.
fn speaks_utf8() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|v| !v.is_empty()));
    value.is_none_or(|value| value.to_ascii_lowercase().replace('-', "").contains("utf8"))
}

/// `text` without anything that a terminal acts upon.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(printable).collect()
}

/// A space for what moves the cursor or turns the direction of writing.
pub(super) fn printable(c: char) -> char {
    match c {
        '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}' => ' ',
        c if c.is_control() => ' ',
        c => c,
    }
}

/// Prints a result. A reader that has gone away is no error.
///
/// # Errors
/// When the result could not be written, after saying so.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            tell(&format!("error: the result cannot be printed: {error}"));
            Err(Failure::Run)
        }
        _ => Ok(()),
    }
}

/// Prints a message.
pub(super) fn tell(text: &str) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "{text}");
}

/// Says that something could not be written, and what to do about it.
pub(super) fn not_written(what: &str, remedy: &str) -> Failure {
    tell(&format!("error: {what}"));
    tell(&format!("  help: {remedy}"));
    Failure::Run
}
