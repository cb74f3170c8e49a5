//! A value whose unit depends on what it is held against: `"99.9%"`, `"60s"`, `"800/s"` or `1.5`.

use crate::decode::{Decode, Node, Reader, Shape, Value, Written};
use crate::metrics::Unit;
use crate::time::SimDuration;
use crate::units::{Rate, Ratio, UnitError};
use serde::{Serialize, Serializer};

/// A value as written.
#[derive(Clone, Debug, PartialEq)]
pub enum Amount {
    /// A bare number.
    Number(f64),
    /// A text, with a unit or not.
    Text(String),
}

impl Amount {
    /// The value in the unit of a figure: milliseconds and seconds as such, shares from 0 to 1.
    ///
    /// # Errors
    /// Why it is none, and how to write one.
    pub fn in_unit(&self, unit: Unit) -> Result<f64, UnitError> {
        let text = self.to_string();
        let seconds = || text.parse::<SimDuration>().map(|time| time.as_secs_f64());
        match unit {
            Unit::Share => text.parse::<Ratio>().map(Ratio::get),
            Unit::PerSecond => text.parse::<Rate>().map(Rate::as_per_second),
            Unit::Milliseconds => seconds().map(|seconds| seconds * 1e3),
            Unit::Seconds => seconds(),
            Unit::Factor | Unit::Count | Unit::Money => match self {
                Self::Number(number) => Ok(*number),
                Self::Text(text) => Err(UnitError {
                    reason: format!("expected a number, found the text \"{text}\""),
                    remedy: "write a number without quotes, like 1.5".into(),
                }),
            },
        }
    }
}

impl std::fmt::Display for Amount {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl Decode for Amount {
    fn shape() -> Shape {
        Shape::plain("value", Written::NumberOrText)
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Integer(number) => Some(Self::Number(*number as f64)),
            Value::Float(number) if number.is_finite() => Some(Self::Number(*number)),
            Value::Text(text) if text.len() <= 64 => Some(Self::Text(text.clone())),
            _ => {
                let remedy = "write one like \"99.9%\", \"60s\", \"800/s\" or 1.5";
                reader.mismatch(node, "a value", remedy);
                None
            }
        }
    }

    fn how_to_add(key: &str) -> String {
        format!("add it, like {key} = \"99.9%\"")
    }
}

impl Serialize for Amount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}
