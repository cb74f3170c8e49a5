//! `list`: what can stand in a scenario and in its results.

use super::Failure;
use super::terminal::{Look, print, tell};
use crate::catalogue::{Entry, Found, Place, TOPICS, Topic, find, note};
use crate::decode::{FieldDoc, shown};
use crate::report::wrap;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  retrystorm list\n  retrystorm list jitters\n  retrystorm list token_bucket\n  retrystorm list strategy.backoff.exponential\n  retrystorm list run"
)]
pub(super) struct ListArguments {
    /// A topic, a form, a figure, or the path of a key; all topics when left out.
    #[arg(value_name = "TOPIC")]
    topic: Option<String>,
}

pub(super) fn list(arguments: &ListArguments) -> Result<(), Failure> {
    let width = Look::of_stdout().width.min(100);
    let Some(name) = &arguments.topic else {
        return print(&overview(width));
    };
    match find(name) {
        Ok(Found::Topic(topic)) => print(&of_topic(topic, width)),
        Ok(Found::Place(place)) => print(&of_place(&place, width)),
        Err(near) => {
            tell(&format!("error: there is nothing called `{}`", shown(name)));
            let remedy = near.map_or_else(
                || "`retrystorm list` shows all topics".into(),
                |near| format!("did you mean `{near}`?"),
            );
            tell(&format!("  help: {remedy}"));
            Err(Failure::Input)
        }
    }
}

fn overview(width: usize) -> String {
    let longest = TOPICS.iter().map(|topic| topic.name.len()).max();
    let column = longest.unwrap_or(0) + 2;
    let mut text = String::new();
    for topic in TOPICS {
        text += &row(topic.name, topic.meaning, column, width);
    }
    text + "\nMore: retrystorm list TOPIC, or a key like strategy.backoff or run.warmup\n"
}

/// A name, and beside it what it means.
fn row(name: &str, meaning: &str, column: usize, width: usize) -> String {
    let indent = " ".repeat(column);
    let text = wrap(meaning, width - column, "").replace('\n', &format!("\n{indent}"));
    format!("{name:column$}{text}\n")
}

fn of_topic(topic: &Topic, width: usize) -> String {
    let heading = format!("{}: {}", topic.name, topic.meaning);
    let mut text = wrap(&heading, width, "  ") + "\n";
    if !topic.key.is_empty() {
        text += &format!("They stand at {}.\n", topic.key);
    }
    let last = topic.key.rsplit('.').next().unwrap_or_default();
    for entry in topic.entries() {
        text += "\n";
        text += &of_entry(topic.name, last, &entry, width);
    }
    text
}

/// A form with all that is known of it.
fn of_entry(topic: &str, key: &str, entry: &Entry, width: usize) -> String {
    let mut text = format!("{}\n", entry.name);
    if !entry.meaning.is_empty() {
        let meaning = wrap(&entry.meaning, width - 2, "").replace('\n', "\n  ");
        text += &format!("  {meaning}\n");
    }
    let mut say = |label: &str, what: &str| {
        if !what.is_empty() {
            text += &format!(
                "  {}",
                row(label, what, 9, width - 2)
                    .replace('\n', "\n  ")
                    .trim_end()
            );
            text += "\n";
        }
    };
    if let Some(note) = note(topic, &entry.name) {
        say("formula", note.formula);
        say("source", note.source);
    }
    if !entry.example.is_empty() {
        say("example", &format!("{key} = {}", entry.example));
    }
    text + &settings(&entry.settings, width)
}

/// The keys of a table.
fn settings(fields: &[FieldDoc], width: usize) -> String {
    let longest = fields.iter().map(|field| field.key.len()).max();
    let column = longest.unwrap_or(0) + 2;
    let line = |field: &FieldDoc| {
        let value = match (&field.default, field.required) {
            (_, true) => "required".into(),
            (Some(default), _) => format!("default {default}"),
            (None, _) => "may be left out".into(),
        };
        let words = format!("{} ({}; {value})", field.meaning, field.shape.words());
        row(
            field.key,
            &words,
            column,
            width.saturating_sub(4).max(column + 20),
        )
    };
    let lines: String = fields.iter().map(line).collect();
    let lines = lines.lines().map(|line| format!("    {line}\n"));
    let heading = (!fields.is_empty()).then(|| "  keys\n".to_owned());
    heading.into_iter().chain(lines).collect()
}

fn of_place(place: &Place, width: usize) -> String {
    let default = match (&place.default, place.required) {
        (_, true) => "; required".into(),
        (Some(default), _) => format!("; default {default}"),
        (None, _) => String::new(),
    };
    let heading = format!("{}: {}{default}", place.path, place.words);
    let mut text = wrap(&heading, width, "  ") + "\n";
    if !place.meaning.is_empty() {
        text += &format!("{}\n", wrap(&place.meaning, width, ""));
    }
    if !place.settings.is_empty() {
        text += "\n";
        text += &settings(&place.settings, width);
    }
    let last = place.path.rsplit('.').next().unwrap_or_default();
    for form in &place.forms {
        let topic = TOPICS.iter().find(|topic| {
            let entries = topic.entries();
            entries.len() == place.forms.len() && entries.iter().any(|e| e.name == form.name)
        });
        text += "\n";
        text += &of_entry(topic.map_or("", |topic| topic.name), last, form, width);
    }
    text
}
