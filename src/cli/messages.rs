//! Problems of a scenario as a person reads them: where, what, and what to do.

use super::terminal::{Look, tell};
use crate::decode::{Document, Place, Problem, Severity};
use miette::{
    Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode,
};
use std::fmt;

/// More problems than this are only counted.
const MOST_SHOWN: usize = 50;

/// One problem with its excerpt.
struct Shown<'a> {
    problem: &'a Problem,
    source: Option<NamedSource<String>>,
    span: Option<std::ops::Range<usize>>,
    headline: String,
}

/// Tells all problems of a document.
pub(super) fn tell_problems(document: &Document, problems: &[Problem]) {
    for problem in problems.iter().take(MOST_SHOWN) {
        tell(&render(document, problem, Look::of_stderr()));
    }
    let count = |severity| {
        problems
            .iter()
            .filter(|problem| problem.severity == severity)
            .count()
    };
    let more = problems.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        tell(&format!("… and {more} more"));
    }
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let plural = |n: usize, word: &str| {
        if n == 1 {
            format!("1 {word}")
        } else {
            format!("{n} {word}s")
        }
    };
    match (errors, warnings) {
        (0, 0) => {}
        (0, warnings) => tell(&format!(
            "{}: {}",
            document.name,
            plural(warnings, "warning")
        )),
        (errors, 0) => tell(&format!("{}: {}", document.name, plural(errors, "error"))),
        _ => tell(&format!(
            "{}: {}, {}",
            document.name,
            plural(errors, "error"),
            plural(warnings, "warning")
        )),
    }
}

fn render(document: &Document, problem: &Problem, look: Look) -> String {
    let theme = match (look.colour, look.unicode) {
        (true, _) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (false, false) => GraphicalTheme::none(),
    };
    let (source, span, place) = locate(document, &problem.place);
    let subject = if problem.path.is_empty() {
        String::new()
    } else {
        format!("{}: ", problem.path)
    };
    let shown = Shown {
        problem,
        source,
        span,
        headline: format!("{place}: {subject}{}", problem.reason),
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_context_lines(0)
        .with_links(false);
    match handler.render_report(&mut text, &shown) {
        Ok(()) => text.trim_end().to_owned(),
        // The excerpt could not be drawn; the words can.
        Err(_) => format!("{}\n  help: {}", shown.headline, problem.remedy),
    }
}

type Located = (
    Option<NamedSource<String>>,
    Option<std::ops::Range<usize>>,
    String,
);

/// The excerpt, the marked part of it, and the place in words.
fn locate(document: &Document, place: &Place) -> Located {
    match place {
        Place::File(span) => {
            let (line, column) = document.line_column(span.start);
            let place = format!("{}:{line}:{column}", document.name);
            let (excerpt, marked) = excerpt(&document.text, span);
            (
                Some(NamedSource::new(place.clone(), excerpt)),
                Some(marked),
                place,
            )
        }
        Place::Setting(number) => {
            let text = document
                .settings
                .get(*number)
                .map_or("", |setting| setting.text.as_str());
            let text: String = text
                .chars()
                .take(100)
                .flat_map(char::escape_debug)
                .collect();
            (None, None, format!("--set {text}"))
        }
        Place::Nowhere => (None, None, document.name.clone()),
    }
}

/// Columns of a source line that an excerpt shows at the most.
const EXCERPT: usize = 100;

/// The first line of `span`, cut to a readable length around its start, and where the span lies in it.
fn excerpt(text: &str, span: &std::ops::Range<usize>) -> (String, std::ops::Range<usize>) {
    let start = text.floor_char_boundary(span.start.min(text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |i| i + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |i| start + i);
    let from = text.floor_char_boundary(start.saturating_sub(EXCERPT / 2).max(line_start));
    let to = text.floor_char_boundary(line_end.min(from + EXCERPT));
    let number = text[..line_start].matches('\n').count();
    // Empty lines before it keep the line number; miette counts them.
    let prefix = "\n".repeat(number);
    let excerpt = format!(
        "{prefix}{}",
        text[from..to].replace(|c: char| c.is_control() && c != '\t', " ")
    );
    let begin = prefix.len() + (start - from);
    let end = prefix.len()
        + text
            .floor_char_boundary(span.end.clamp(start, to.max(start)))
            .saturating_sub(from);
    (excerpt, begin..end.max(begin))
}

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.headline)
    }
}

impl std::error::Error for Shown<'_> {}

impl Diagnostic for Shown<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.problem.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.problem.remedy.is_empty())
            .then(|| Box::new(&self.problem.remedy) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let span = self.span.clone()?;
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            None, span,
        ))))
    }
}
