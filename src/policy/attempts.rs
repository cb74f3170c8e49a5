//! How often a call may be tried.
//!
//! Libraries count attempts or retries, and a mix-up is one try too many for every client of a storm.
//! Here the limit always counts attempts, the first one included, and "no limit" is a word of its own.

use crate::decode::{Decode, Node, Reader, Shape, Value, Written};
use serde::{Serialize, Serializer};

/// The greatest number of attempts of one call, the first one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MaxAttempts {
    /// Until it succeeds or something else ends it.
    Unlimited,
    /// At most so many, from 1 to [`MaxAttempts::MOST`].
    AtMost(u32),
}

impl MaxAttempts {
    /// The highest limit that can be given.
    pub const MOST: u32 = 1_000_000;

    /// Whether another attempt may follow `made` attempts.
    #[inline]
    pub fn allows_after(self, made: u32) -> bool {
        match self {
            Self::Unlimited => true,
            Self::AtMost(most) => made < most,
        }
    }
}

impl Decode for MaxAttempts {
    fn shape() -> Shape {
        Shape::Either(
            Box::new(u32::shape()),
            Box::new(Shape::plain("\"unlimited\"", Written::Word(&["unlimited"]))),
        )
    }

    fn stand_in() -> Option<Self> {
        Some(Self::AtMost(1))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a number or \"unlimited\", like {key} = 5")
    }

    /// Reads a whole number, or `"unlimited"`.
    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        const FORMS: &str = "write a number from 1 to 1000000, or \"unlimited\"";
        match &node.value {
            Value::Text(text) if text == "unlimited" => return Some(Self::Unlimited),
            Value::Integer(0) => {
                let remedy = "the first try counts as an attempt: write 1 for no retries";
                reader.error(&node.place, "at least one attempt is needed", remedy);
            }
            Value::Integer(number) => {
                let limit = u32::try_from(*number).ok();
                if let Some(most) = limit.filter(|most| (1..=Self::MOST).contains(most)) {
                    return Some(Self::AtMost(most));
                }
                let reason = format!("{number} is not a number of attempts");
                reader.error(&node.place, reason, FORMS);
            }
            _ => reader.mismatch(node, "a number of attempts", FORMS),
        }
        None
    }
}

impl Serialize for MaxAttempts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Unlimited => serializer.serialize_str("unlimited"),
            Self::AtMost(most) => serializer.serialize_u32(*most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Document;

    fn read(text: &str) -> Option<MaxAttempts> {
        let document = Document::parse("a.toml", &format!("a = {text}")).unwrap();
        let Value::Table(table) = &document.root.value else {
            panic!("a document is a table");
        };
        let mut reader = Reader::new();
        let read = MaxAttempts::decode(table.get("a").unwrap(), &mut reader);
        assert_eq!(read.is_none(), !reader.into_problems().is_empty(), "{text}");
        read
    }

    #[test]
    fn limits_are_one_to_a_million_or_unlimited() {
        assert_eq!(read("1"), Some(MaxAttempts::AtMost(1)));
        assert_eq!(read("1000000"), Some(MaxAttempts::AtMost(1_000_000)));
        assert_eq!(read("\"unlimited\""), Some(MaxAttempts::Unlimited));
        for wrong in ["0", "-1", "1000001", "9000000000", "1.5", "\"many\"", "[]"] {
            assert_eq!(read(wrong), None);
        }
    }

    #[test]
    fn the_first_try_counts() {
        assert!(!MaxAttempts::AtMost(1).allows_after(1));
        assert!(MaxAttempts::AtMost(3).allows_after(2));
        assert!(!MaxAttempts::AtMost(3).allows_after(3));
        assert!(MaxAttempts::Unlimited.allows_after(u32::MAX));
    }
}
