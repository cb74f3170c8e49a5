//! How simple values are read.

use super::{
    Decode, Field, Node, Place, Reader, Shape, Table, Value, Written, nearest, reader::unknown_key,
    shown,
};
use crate::time::{SimDuration, SimTime};
use crate::units::{Rate, Ratio, UnitError};

/// One form of a closed set, for help, docs and tests.
#[derive(Clone, Copy, Debug)]
pub struct VariantDoc {
    /// The tag in a scenario.
    pub name: &'static str,
    /// What it means: the doc comment of the variant.
    pub meaning: &'static str,
    /// A TOML value that reads as this variant.
    pub example: &'static str,
}

/// A tag and its settings, taken apart.
#[derive(Debug)]
pub struct Variant<'a> {
    /// Which of the known names the tag is.
    pub index: usize,
    /// The settings; an empty table for a bare tag.
    pub settings: std::borrow::Cow<'a, Node>,
    /// Whether the tag was given alone, as a text.
    pub bare: bool,
}

/// Takes a tagged value apart: `"immediate"` or `{ fixed = { … } }`.
pub fn decode_variant<'a>(
    node: &'a Node,
    noun: &str,
    docs: &'static [VariantDoc],
    reader: &mut Reader,
) -> Option<Variant<'a>> {
    match &node.value {
        Value::Text(tag) => {
            let index = find_tag(tag, &node.place, noun, docs, reader)?;
            let settings = Node {
                place: node.place.clone(),
                value: Value::Table(Table::default()),
            };
            Some(Variant {
                index,
                settings: std::borrow::Cow::Owned(settings),
                bare: true,
            })
        }
        Value::Table(table) => match table.fields.as_slice() {
            [field] => {
                let index = find_tag(&field.key, &field.key_place, noun, docs, reader)?;
                Some(Variant {
                    index,
                    settings: std::borrow::Cow::Borrowed(&field.node),
                    bare: false,
                })
            }
            fields => {
                let known: Vec<&str> = docs.iter().map(|doc| doc.name).collect();
                fields
                    .iter()
                    .filter(|f| !known.contains(&f.key.as_str()))
                    .for_each(|f| {
                        unknown_key(f, &known, reader);
                    });
                let (reason, remedy) = wrong_count(fields, noun, docs);
                reader.error(&node.place, reason, remedy);
                None
            }
        },
        _ => {
            reader.mismatch(
                node,
                &format!("a {noun}"),
                &format!("write one, like {}", docs[0].example),
            );
            None
        }
    }
}

/// Which of the known forms `tag` is, or `None` after saying that it is none.
fn find_tag(
    tag: &str,
    place: &Place,
    noun: &str,
    docs: &[VariantDoc],
    reader: &mut Reader,
) -> Option<usize> {
    let index = docs.iter().position(|doc| doc.name == tag);
    if index.is_none() {
        let names = docs.iter().map(|doc| doc.name);
        let remedy = nearest(tag, names.clone()).map_or_else(
            || format!("choose one of: {}", names.collect::<Vec<_>>().join(", ")),
            |near| format!("did you mean `{near}`?"),
        );
        reader.error(place, format!("unknown {noun} `{}`", shown(tag)), remedy);
    }
    index
}

/// What to say when a table does not hold exactly one tag.
fn wrong_count(fields: &[Field], noun: &str, docs: &[VariantDoc]) -> (String, String) {
    if fields.is_empty() {
        let names: Vec<&str> = docs.iter().map(|doc| doc.name).collect();
        return (
            format!("no {noun} is given"),
            format!("choose one of: {}", names.join(", ")),
        );
    }
    let tags: Vec<String> = fields
        .iter()
        .take(5)
        .map(|field| format!("`{}`", shown(&field.key)))
        .collect();
    (
        format!("one {noun} is needed, found {}", tags.join(" and ")),
        format!("keep one of them, as in {}", docs[0].example),
    )
}

/// Reads a quantity with a unit. A bare number is an error that shows how to write it.
fn quantity<T: std::str::FromStr<Err = UnitError>>(
    node: &Node,
    what: &str,
    example: &str,
    reader: &mut Reader,
) -> Option<T> {
    let text = match &node.value {
        Value::Text(text) if text.len() <= 64 => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_finite() => format!("{number:?}"),
        _ => {
            reader.mismatch(
                node,
                what,
                &format!("write a text in quotes, like {example}"),
            );
            return None;
        }
    };
    text.parse()
        .map_err(|error: UnitError| reader.error(&node.place, error.reason, error.remedy))
        .ok()
}

impl Decode for SimDuration {
    fn shape() -> Shape {
        Shape::plain("duration", Written::Text)
    }
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        quantity(node, "a duration", "\"250ms\"", reader)
    }

    fn stand_in() -> Option<Self> {
        Some(Self::from_secs(1))
    }

    fn how_to_add(key: &str) -> String {
        format!("add it, like {key} = \"250ms\"")
    }
}

impl Decode for SimTime {
    fn shape() -> Shape {
        Shape::plain("duration from the start", Written::Text)
    }
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        SimDuration::decode(node, reader).map(|since_start| Self::ZERO + since_start)
    }

    fn stand_in() -> Option<Self> {
        Some(Self::ZERO)
    }

    fn how_to_add(key: &str) -> String {
        format!("add the time since the start of the run, like {key} = \"30s\"")
    }
}

impl Decode for Rate {
    fn shape() -> Shape {
        Shape::plain("rate", Written::NumberOrText)
    }
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        quantity(node, "a rate", "\"120/s\"", reader)
    }

    fn stand_in() -> Option<Self> {
        Self::per_second(1.0)
    }

    fn how_to_add(key: &str) -> String {
        format!("add it, like {key} = \"120/s\"")
    }
}

impl Decode for Ratio {
    fn shape() -> Shape {
        Shape::plain("share", Written::NumberOrText)
    }
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        quantity(node, "a share", "\"15%\"", reader)
    }

    fn stand_in() -> Option<Self> {
        Some(Self::ZERO)
    }

    fn how_to_add(key: &str) -> String {
        format!("add it, like {key} = \"15%\"")
    }
}

/// The members of [`Decode`] for what is written as a plain value.
macro_rules! plain {
    ($stand_in:expr, $example:literal) => {
        fn stand_in() -> Option<Self> {
            Some($stand_in)
        }

        fn how_to_add(key: &str) -> String {
            format!("add it, like {key} = {}", $example)
        }
    };
}

impl Decode for f64 {
    fn shape() -> Shape {
        Shape::plain("number", Written::Number)
    }
    plain!(1.0, "1.5");

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.value {
            Value::Float(number) if number.is_finite() => Some(number),
            Value::Integer(number) => Some(number as Self),
            _ => {
                reader.mismatch(
                    node,
                    "a finite number",
                    "write a number without quotes, like 2 or 1.5",
                );
                None
            }
        }
    }
}

impl Decode for u64 {
    fn shape() -> Shape {
        Shape::plain("whole number", Written::Whole)
    }
    plain!(1, "5");

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match node.value {
            Value::Integer(number) if number >= 0 => Some(number as Self),
            Value::Integer(number) => {
                let reason = format!("{number} is below zero");
                reader.error(&node.place, reason, "give a whole number, zero or more");
                None
            }
            _ => {
                reader.mismatch(
                    node,
                    "a whole number, zero or more",
                    "write a number without quotes, like 5",
                );
                None
            }
        }
    }
}

impl Decode for u32 {
    fn shape() -> Shape {
        Shape::plain("whole number", Written::Whole)
    }
    plain!(1, "5");

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let number = u64::decode(node, reader)?;
        let small = Self::try_from(number).ok();
        if small.is_none() {
            reader.error(
                &node.place,
                format!("{number} is too large here"),
                "use at most 4294967295",
            );
        }
        small
    }
}

impl Decode for bool {
    fn shape() -> Shape {
        Shape::plain("true or false", Written::Flag)
    }
    plain!(false, "true");

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Value::Boolean(flag) = node.value {
            return Some(flag);
        }
        reader.mismatch(node, "true or false", "write true or false without quotes");
        None
    }
}

impl Decode for String {
    fn shape() -> Shape {
        Shape::plain("text", Written::Text)
    }
    plain!(Self::new(), "\"text\"");

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Value::Text(text) = &node.value {
            return Some(text.clone());
        }
        reader.mismatch(node, "a text", "write it in quotes");
        None
    }
}

impl<T: Decode> Decode for Option<T> {
    fn shape() -> Shape {
        T::shape()
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        T::decode(node, reader).map(Some)
    }

    fn stand_in() -> Option<Self> {
        Some(None)
    }
}

/// A list; one bad element does not hide the others.
impl<T: Decode> Decode for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }

    fn stand_in() -> Option<Self> {
        Some(Self::new())
    }

    fn how_to_add(key: &str) -> String {
        match T::how_to_add(key).starts_with("add a [") {
            true => format!("add a [[{key}]] table"),
            false => format!("add a list, {key} = [ ... ]"),
        }
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let Value::List(items) = &node.value else {
            let remedy = match &node.value {
                Value::Table(_) => format!("head each table with [[{}]]", reader.key()),
                _ => "write a list, [ ... ], or tables headed with [[double brackets]]".into(),
            };
            reader.mismatch(node, "a list", &remedy);
            return None;
        };
        let read: Vec<Option<T>> = items
            .iter()
            .enumerate()
            .map(|(i, item)| {
                reader.within(&format!("[{i}]"), &item.place, |reader| {
                    T::decode(item, reader)
                })
            })
            .collect();
        read.into_iter().collect()
    }
}
