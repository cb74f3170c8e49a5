//! Amounts of tokens.
//!
//! Ten deposits of a tenth must buy one retry, and in binary fractions they do not. Tokens are counted in whole
//! millionths, so sums are exact and alike on every machine.

use crate::decode::{Decode, Node, Reader, Shape, Value, Written};
use crate::time::SimDuration;
use crate::units::Rate;
use serde::{Serialize, Serializer};

const ONE: u64 = 1_000_000;
/// More tokens than any budget needs, in tokens.
const MOST: f64 = 1e9;

/// An amount of tokens, in whole millionths. Sums saturate, and nothing goes below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Tokens(u64);

impl Tokens {
    /// None.
    pub const ZERO: Self = Self(0);
    /// One token.
    pub const ONE: Self = Self(ONE);

    /// So many whole tokens.
    pub const fn whole(tokens: u32) -> Self {
        Self(tokens as u64 * ONE)
    }

    /// The amount nearest to `tokens`, if that is from 0 to a thousand million.
    pub fn new(tokens: f64) -> Option<Self> {
        let fits = (0.0..=MOST).contains(&tokens);
        fits.then(|| Self((tokens * ONE as f64).round() as u64))
    }

    /// The amount as a number of tokens.
    pub fn get(self) -> f64 {
        self.0 as f64 / ONE as f64
    }

    /// In millionths of a token.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// The sum, at most `most`.
    #[inline]
    pub fn plus(self, other: Self, most: Self) -> Self {
        Self(self.0.saturating_add(other.0)).min(most)
    }

    /// The difference, at least zero.
    #[inline]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// What is left after taking `other` away, if there is that much.
    #[inline]
    pub fn checked_minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// Half of it.
    pub const fn half(self) -> Self {
        Self(self.0 / 2)
    }
}

/// Tokens that flow in steadily, without loss between two looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inflow {
    nanos_per_millionth: f64,
}

impl Inflow {
    /// So many tokens per unit of time.
    pub fn of(rate: Rate) -> Self {
        Self {
            nanos_per_millionth: 1e9 / ONE as f64 / rate.as_per_second(),
        }
    }

    /// Whole millionths that have flowed in after `time`, and the time they took: the rest of the time belongs to the
    /// next millionth.
    #[inline]
    pub fn after(self, time: SimDuration) -> (Tokens, SimDuration) {
        let whole = (time.as_nanos() as f64 / self.nanos_per_millionth) as u64;
        let took = (whole as f64 * self.nanos_per_millionth) as u64;
        (
            Tokens(whole),
            SimDuration::from_nanos(took.min(time.as_nanos())),
        )
    }
}

impl Decode for Tokens {
    fn shape() -> Shape {
        Shape::plain("tokens", Written::Number)
    }

    fn stand_in() -> Option<Self> {
        Some(Self::ONE)
    }

    fn how_to_add(key: &str) -> String {
        format!("add a number of tokens, like {key} = 10")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        const FORMS: &str = "write a number from 0 to 1000000000, like 10 or 0.1";
        let number = match node.value {
            Value::Integer(whole) => whole as f64,
            Value::Float(number) => number,
            _ => {
                reader.mismatch(node, "a number of tokens", FORMS);
                return None;
            }
        };
        let tokens = Self::new(number);
        if tokens.is_none() {
            let reason = format!("{number} is not a number of tokens");
            reader.error(&node.place, reason, FORMS);
        } else if number > 0.0 && tokens == Some(Self::ZERO) {
            let reason = format!("{number} tokens are less than can be counted");
            reader.error(&node.place, reason, "tokens are counted in millionths");
            return None;
        }
        tokens
    }
}

impl Serialize for Tokens {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 % ONE {
            0 => serializer.serialize_u64(self.0 / ONE),
            _ => serializer.serialize_f64(self.get()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::Document;

    fn read(text: &str) -> Option<Tokens> {
        let document = Document::parse("a.toml", &format!("a = {text}")).unwrap();
        let Value::Table(table) = &document.root.value else {
            panic!("a document is a table");
        };
        let mut reader = Reader::new();
        let read = Tokens::decode(table.get("a").unwrap(), &mut reader);
        assert_eq!(read.is_none(), !reader.into_problems().is_empty(), "{text}");
        read
    }

    #[test]
    fn ten_tenths_are_one() {
        let tenth = Tokens::new(0.1).unwrap();
        let sum = (0..10).fold(Tokens::ZERO, |sum, _| sum.plus(tenth, Tokens::whole(5)));
        assert_eq!(sum, Tokens::ONE);
        assert_eq!(
            sum.plus(Tokens::whole(9), Tokens::whole(5)),
            Tokens::whole(5)
        );
        assert_eq!(sum.minus(Tokens::whole(9)), Tokens::ZERO);
        assert_eq!(sum.checked_minus(Tokens::whole(9)), None);
    }

    #[test]
    fn amounts_are_read_and_wrong_ones_named() {
        assert_eq!(read("10"), Some(Tokens::whole(10)));
        assert_eq!(read("0.1").map(Tokens::millionths), Some(100_000));
        for wrong in ["-1", "1e10", "nan", "1e-9", "\"ten\"", "[]"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_inflow_loses_nothing_however_often_one_looks() {
        let inflow = Inflow::of("0.3/s".parse().unwrap());
        let (mut since, mut sum) = (0_u64, Tokens::ZERO);
        for now in (0..10_000_000_000_u64).step_by(777_777) {
            let (tokens, took) = inflow.after(SimDuration::from_nanos(now - since));
            sum = sum.plus(tokens, Tokens::whole(100));
            since += took.as_nanos();
        }
        assert!((sum.get() - 3.0).abs() < 0.001, "{}", sum.get());
    }
}
