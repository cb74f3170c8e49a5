//! What may stand for a setting, as data: what `list`, the JSON schema and the reference are made of.

use super::VariantDoc;
use serde::Serialize;

/// What may stand for a setting.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A value without parts.
    Plain(Plain),
    /// A list of such values, or tables headed with double brackets.
    List(Box<Shape>),
    /// One of them, or a list.
    OneOrList(Box<Shape>),
    /// A table whose keys are names of the user's choice.
    Named(Box<Shape>),
    /// A table with these keys.
    Record(Vec<FieldDoc>),
    /// One of a closed set of forms.
    Choice(ChoiceDoc),
    /// One of the two.
    Either(Box<Shape>, Box<Shape>),
}

/// A value without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain {
    /// What it is, as in "duration".
    pub words: &'static str,
    /// How it is written.
    pub written: Written,
}

/// How a value without parts is written in TOML.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// In quotes.
    Text,
    /// One of these words, in quotes.
    Word(&'static [&'static str]),
    /// A number.
    Number,
    /// A whole number.
    Whole,
    /// `true` or `false`.
    Flag,
    /// A number, or in quotes.
    NumberOrText,
    /// Anything.
    Anything,
}

/// A key of a table.
#[derive(Clone, Debug)]
pub struct FieldDoc {
    /// The key.
    pub key: &'static str,
    /// What it means.
    pub meaning: String,
    /// What may stand there.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// The value when it is left out, as TOML; `None` when there is no such value.
    pub default: Option<String>,
}

/// A closed set of forms.
#[derive(Clone, Debug)]
pub struct ChoiceDoc {
    /// What the set is called, as in "backoff".
    pub noun: &'static str,
    /// Its forms, each with the shape of its settings, if it has any.
    pub forms: Vec<(VariantDoc, Option<Shape>)>,
}

impl Shape {
    /// A value without parts.
    pub const fn plain(words: &'static str, written: Written) -> Self {
        Self::Plain(Plain { words, written })
    }

    /// What stands there, in a few words.
    pub fn words(&self) -> String {
        match self {
            Self::Plain(plain) => plain.words.into(),
            Self::List(of) => format!("list of: {}", of.words()),
            Self::OneOrList(of) => format!("{}, or a list of them", of.words()),
            Self::Named(of) => format!("tables with names: {}", of.words()),
            Self::Record(_) => "table".into(),
            Self::Choice(choice) => choice.noun.into(),
            Self::Either(a, b) => format!("{} or {}", a.words(), b.words()),
        }
    }

    /// The keys of the table that it is, or that its settings are.
    pub fn fields(&self) -> &[FieldDoc] {
        match self {
            Self::Record(fields) => fields,
            Self::List(of) | Self::OneOrList(of) | Self::Named(of) => of.fields(),
            Self::Plain(_) | Self::Choice(_) | Self::Either(..) => &[],
        }
    }

    /// The closed set that it is, if it is one.
    pub fn choice(&self) -> Option<&ChoiceDoc> {
        match self {
            Self::Choice(choice) => Some(choice),
            Self::Either(a, b) => a.choice().or_else(|| b.choice()),
            Self::List(of) | Self::OneOrList(of) | Self::Named(of) => of.choice(),
            Self::Plain(_) | Self::Record(_) => None,
        }
    }
}

impl FieldDoc {
    /// A key of which a record's definition tells everything; its lines of documentation are joined.
    pub fn new(key: &'static str, lines: &[&str], shape: Shape, default: Option<String>) -> Self {
        Self {
            key: key.strip_prefix("r#").unwrap_or(key),
            meaning: joined(lines),
            shape,
            required: false,
            default: default.filter(|text| !text.is_empty()),
        }
    }

    /// The same, and it must be there.
    pub fn required(self) -> Self {
        Self {
            required: true,
            ..self
        }
    }
}

/// Lines of a comment as one text.
fn joined(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ").trim().into()
}

/// A value as TOML in one line; nothing for what is not written at all.
pub fn written<T: Serialize>(value: &T) -> String {
    toml::Value::try_from(value).map_or_else(|_| String::new(), |value| value.to_string())
}
