//! Values that an axis lays over a key: as written, or made from a range.

use crate::decode::{Decode, Field, Node, Place, Reader, Shape, Value};
use crate::time::SimDuration;
use crate::units::{Rate, Ratio};
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Serialize, Serializer};

/// Any values, as they stand in the file.
#[derive(Clone, Debug)]
pub struct Values(pub Vec<Node>);

impl PartialEq for Values {
    fn eq(&self, other: &Self) -> bool {
        are_alike(&self.0, &other.0)
    }
}

fn are_alike(first: &[Node], second: &[Node]) -> bool {
    let mut pairs = first.iter().zip(second);
    first.len() == second.len() && pairs.all(|(a, b)| is_like(&a.value, &b.value))
}

/// Whether two values are the same, wherever they stand.
fn is_like(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::List(a), Value::List(b)) => are_alike(a, b),
        (Value::Table(a), Value::Table(b)) => {
            let same = |field: &Field| {
                let other = b.get(&field.key);
                other.is_some_and(|other| is_like(&field.node.value, &other.value))
            };
            a.fields.len() == b.fields.len() && a.fields.iter().all(same)
        }
        (a, b) => a == b,
    }
}

impl Decode for Values {
    fn shape() -> Shape {
        Shape::List(Box::new(Shape::plain(
            "value",
            crate::decode::Written::Anything,
        )))
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        if let Value::List(items) = &node.value {
            return Some(Self(items.clone()));
        }
        reader.mismatch(node, "a list of values", "write a list, like [1, 2, 5]");
        None
    }

    fn stand_in() -> Option<Self> {
        Some(Self(Vec::new()))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a list, like {key} = [1, 2, 5]")
    }
}

/// A node that is written as it was read.
struct Written<'a>(&'a Node);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Value::Text(text) | Value::Huge(text) | Value::Date(text) => {
                serializer.serialize_str(text)
            }
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Boolean(flag) => serializer.serialize_bool(*flag),
            Value::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Written(item))?;
                }
                list.end()
            }
            Value::Table(table) => {
                let mut map = serializer.serialize_map(Some(table.fields.len()))?;
                for field in &table.fields {
                    map.serialize_entry(&field.key, &Written(&field.node))?;
                }
                map.end()
            }
        }
    }
}

impl Serialize for Values {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.0.len()))?;
        for item in &self.0 {
            list.serialize_element(&Written(item))?;
        }
        list.end()
    }
}

/// What a value of an axis is, for charts: a number in its base unit, if it is one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A bare number.
    Number(f64),
    /// A bare whole number.
    Whole(i64),
    /// A time.
    Duration(SimDuration),
    /// Something a second.
    Rate(Rate),
    /// A part of a whole, written in percent.
    Share(Ratio),
}

impl Quantity {
    /// The quantity that a value is, if it is one.
    pub fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(Self::Whole(*number)),
            Value::Float(number) => number.is_finite().then_some(Self::Number(*number)),
            Value::Text(text) if text.len() <= 64 => {
                let duration = text.parse().map(Self::Duration).ok();
                let rate = || text.parse().map(Self::Rate).ok();
                let share = || text.parse().map(Self::Share).ok();
                duration.or_else(rate).or_else(share)
            }
            _ => None,
        }
    }

    /// Its size: seconds, a second, a share or the number.
    pub fn size(self) -> f64 {
        match self {
            Self::Number(number) => number,
            Self::Whole(number) => number as f64,
            Self::Duration(time) => time.as_secs_f64(),
            Self::Rate(rate) => rate.as_per_second(),
            Self::Share(share) => share.get(),
        }
    }

    /// A value of the same kind with another size.
    pub(super) fn with_size(self, size: f64) -> Value {
        match self {
            Self::Number(_) => Value::Float(size),
            Self::Whole(_) => Value::Integer(size.round() as i64),
            Self::Duration(_) => Value::Text(SimDuration::from_secs_f64(size).to_string()),
            Self::Rate(_) => Value::Text(
                Rate::per_second(size).map_or_else(|| format!("{size}/s"), |rate| rate.to_string()),
            ),
            // Twelve digits hide that a hundredth is no binary number.
            Self::Share(_) => Value::Text(format!("{}%", rounded(size * 100.0, 12))),
        }
    }

    /// Whether both are of one kind, so that there is something between them.
    pub(super) fn is_like(self, other: Self) -> bool {
        let number = |q| matches!(q, Self::Number(_) | Self::Whole(_));
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
            || number(self) && number(other)
    }
}

/// A value as it is shown in tables and files.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) | Value::Huge(text) | Value::Date(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(flag) => flag.to_string(),
        Value::List(_) | Value::Table(_) => {
            let mut text = String::new();
            let node = Node {
                place: Place::Nowhere,
                value: value.clone(),
            };
            let written = Written(&node).serialize(toml::ser::ValueSerializer::new(&mut text));
            written.expect("what was read from TOML can be written as TOML");
            text
        }
    }
}

/// Rounded to so many significant digits.
pub(super) fn rounded(value: f64, digits: usize) -> f64 {
    let text = format!("{value:.*e}", digits.saturating_sub(1));
    text.parse().unwrap_or(value)
}
