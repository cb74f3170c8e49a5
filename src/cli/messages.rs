//! Problems of a scenario as a person reads them: where, what, and what to do.

use super::excerpt::Excerpt;
use super::terminal::{Look, clean, tell};
use crate::decode::{Document, Place, Problem, Severity};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use std::fmt;

/// More problems than this are only counted.
const MOST_SHOWN: usize = 50;

/// One problem with its excerpt.
struct Shown<'a> {
    severity: Severity,
    excerpt: Option<Excerpt>,
    headline: String,
    remedy: &'a str,
}

/// Tells all problems of a document.
pub(super) fn tell_problems(document: &Document, problems: &[Problem]) {
    let look = Look::of_stderr();
    for problem in problems.iter().take(MOST_SHOWN) {
        tell(&format!("{}\n", render(document, problem, look)));
    }
    let count = |severity| {
        problems
            .iter()
            .filter(|problem| problem.severity == severity)
            .count()
    };
    let more = problems.len().saturating_sub(MOST_SHOWN);
    if more > 0 {
        tell(&format!("... and {more} more\n"));
    }
    let plural = |n: usize, word: &str| match n {
        1 => format!("1 {word}"),
        _ => format!("{n} {word}s"),
    };
    let name = clean(&document.name);
    match (count(Severity::Error), count(Severity::Warning)) {
        (0, 0) => {}
        (0, warnings) => tell(&format!("{name}: {}", plural(warnings, "warning"))),
        (errors, 0) => tell(&format!("{name}: {}", plural(errors, "error"))),
        (errors, warnings) => tell(&format!(
            "{name}: {}, {}",
            plural(errors, "error"),
            plural(warnings, "warning")
        )),
    }
}

fn render(document: &Document, problem: &Problem, look: Look) -> String {
    let theme = match (look.colour, look.unicode) {
        (true, true) => GraphicalTheme::unicode(),
        (false, true) => GraphicalTheme::unicode_nocolor(),
        (_, false) => GraphicalTheme::none(),
    };
    let (excerpt, place) = locate(document, &problem.place, look);
    let path = if problem.path.is_empty() {
        String::new()
    } else {
        format!("{}: ", clean(&problem.path))
    };
    let shown = Shown {
        severity: problem.severity,
        excerpt,
        headline: format!("{place}{path}{}", clean(&problem.reason)),
        remedy: &problem.remedy,
    };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(look.width)
        .with_context_lines(0)
        .tab_width(4)
        .with_links(false);
    match handler.render_report(&mut text, &shown) {
        Ok(()) => text.trim_end().to_owned(),
        // The excerpt could not be drawn; the words can.
        Err(_) => format!("{}\n  help: {}", shown.headline, problem.remedy),
    }
}

/// The excerpt, and the place in words where there is none.
fn locate(document: &Document, place: &Place, look: Look) -> (Option<Excerpt>, String) {
    match place {
        Place::File(span) => (Some(Excerpt::of(document, span, look)), String::new()),
        Place::Setting(number) => {
            let setting = document.settings.get(*number);
            let text: String = setting
                .map_or("", |s| s.text.as_str())
                .chars()
                .take(100)
                .collect();
            (None, format!("--set {}: ", clean(&text)))
        }
        Place::Nowhere => (None, format!("{}: ", clean(&document.name))),
    }
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
        Some(match self.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        (!self.remedy.is_empty()).then(|| Box::new(clean(self.remedy)) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.excerpt
            .as_ref()
            .map(|excerpt| excerpt as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let marked = self.excerpt.as_ref()?.marked.clone();
        Some(Box::new(std::iter::once(LabeledSpan::new_with_span(
            None, marked,
        ))))
    }
}
