//! Decimal numbers of time, read without rounding.

use crate::decode::{Decode, Node, Reader, Shape, Written};
use crate::units::UnitError;
use serde::{Serialize, Serializer};
use std::str::FromStr;

/// The unit of the numbers in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    /// Every unit, the longest first.
    pub const ALL: [Self; 4] = [Self::Seconds, Self::Millis, Self::Micros, Self::Nanos];

    /// How it is written: `s`, `ms`, `us` or `ns`.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Seconds => "s",
            Self::Millis => "ms",
            Self::Micros => "us",
            Self::Nanos => "ns",
        }
    }

    /// The unit as a word.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Millis => "milliseconds",
            Self::Micros => "microseconds",
            Self::Nanos => "nanoseconds",
        }
    }

    /// The power of ten of nanoseconds in it.
    const fn exponent(self) -> i32 {
        match self {
            Self::Seconds => 9,
            Self::Millis => 6,
            Self::Micros => 3,
            Self::Nanos => 0,
        }
    }

    /// The unit in which `number` is a time after 1973 and before 5138, if there is one: the four ranges
    /// do not overlap.
    pub(super) fn of_epoch(number: Decimal) -> Option<Self> {
        const FIRST: i64 = 100_000_000;
        let size = number.scaled(0)?;
        let within = |unit: &Self| size / 10_i64.pow((9 - unit.exponent()) as u32) >= FIRST;
        Self::ALL.into_iter().rev().find(within)
    }
}

impl FromStr for TimeUnit {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, UnitError> {
        let unit = Self::ALL.into_iter().find(|unit| unit.symbol() == text);
        unit.ok_or_else(|| UnitError {
            reason: format!("`{}` is not a unit of a column", text.escape_debug()),
            remedy: "use \"s\", \"ms\", \"us\" or \"ns\"".into(),
        })
    }
}

impl Serialize for TimeUnit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.symbol())
    }
}

impl Decode for TimeUnit {
    fn shape() -> Shape {
        Shape::plain("unit of time", Written::Text)
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let text = String::decode(node, reader)?;
        text.parse()
            .map_err(|error: UnitError| reader.error(&node.place, error.reason, error.remedy))
            .ok()
    }
}

/// A decimal number as written: `±digits · 10^exponent`, 19 significant digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub(super) negative: bool,
    digits: u64,
    exponent: i32,
}

impl Decimal {
    /// Reads `12`, `-0.5`, `.5`, `1.7e+09`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let (mantissa, power) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], text[at + 1..].parse::<i16>().ok()?),
            None => (text, 0),
        };
        let mut number = Self {
            negative,
            digits: 0,
            exponent: i32::from(power),
        };
        let (mut point, mut seen) = (false, false);
        for byte in mantissa.bytes() {
            match byte {
                b'.' if !point => point = true,
                b'0'..=b'9' => {
                    seen = true;
                    number.push(byte - b'0', point);
                }
                _ => return None,
            }
        }
        number.negative &= number.digits > 0;
        seen.then_some(number)
    }

    /// Appends a digit; a 20th significant one is far below a nanosecond, or the number is far too large.
    fn push(&mut self, digit: u8, after_point: bool) {
        let room = self.digits < 1_000_000_000_000_000_000;
        if room {
            self.digits = self.digits * 10 + u64::from(digit);
        }
        self.exponent += i32::from(!room) - i32::from(after_point);
    }

    /// The number times 10^`power`, to the nearest whole one; `None` when it does not fit.
    fn scaled(self, power: i32) -> Option<i64> {
        let exponent = self.exponent + power;
        let size = u128::from(self.digits);
        let whole = match exponent {
            _ if size == 0 => 0,
            0..=18 => size * 10_u128.pow(exponent.unsigned_abs()),
            19.. => return None,
            -20..0 => {
                let divisor = 10_u128.pow(exponent.unsigned_abs());
                (size + divisor / 2) / divisor
            }
            _ => 0,
        };
        let whole = i64::try_from(whole).ok()?;
        Some(if self.negative { -whole } else { whole })
    }

    /// Nanoseconds, when the number counts `unit`s; `None` beyond 292 years.
    pub(super) fn nanos(self, unit: TimeUnit) -> Option<i64> {
        self.scaled(unit.exponent())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(text: &str, unit: TimeUnit) -> Option<i64> {
        Decimal::parse(text)?.nanos(unit)
    }

    #[test]
    fn decimals_are_exact_to_the_nanosecond() {
        for (text, unit, expected) in [
            (
                "1700000000123456789",
                TimeUnit::Nanos,
                1_700_000_000_123_456_789,
            ),
            (
                "1700000000.123456789",
                TimeUnit::Seconds,
                1_700_000_000_123_456_789,
            ),
            (
                "1700000000.1234567894",
                TimeUnit::Seconds,
                1_700_000_000_123_456_789,
            ),
            ("1.7e+09", TimeUnit::Seconds, 1_700_000_000_000_000_000),
            ("0.1", TimeUnit::Micros, 100),
            (".5", TimeUnit::Seconds, 500_000_000),
            ("5.", TimeUnit::Millis, 5_000_000),
            ("0.5", TimeUnit::Nanos, 1),
            ("0.49", TimeUnit::Nanos, 0),
            ("1e-30", TimeUnit::Seconds, 0),
            ("0.30000000000000004", TimeUnit::Seconds, 300_000_000),
            ("000000000000000000000000012", TimeUnit::Nanos, 12),
            ("-2", TimeUnit::Nanos, -2),
            ("+2", TimeUnit::Nanos, 2),
            ("0e99", TimeUnit::Seconds, 0),
            ("-0.0", TimeUnit::Seconds, 0),
        ] {
            assert_eq!(nanos(text, unit), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_decimal_or_too_large_is_none() {
        for text in [
            "", "-", ".", "e5", "1e", "1.2.3", "nan", "inf", "1,5", "0x10", "1_000", "1 2",
            "1e99999",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        for text in ["1e30", "99999999999999999999", "9223372036854775808"] {
            assert_eq!(nanos(text, TimeUnit::Nanos), None, "{text}");
        }
    }

    #[test]
    fn the_size_of_an_epoch_number_tells_its_unit() {
        for (text, unit) in [
            ("0", None),
            ("86400", None),
            ("1700000000", Some(TimeUnit::Seconds)),
            ("1700000000.5", Some(TimeUnit::Seconds)),
            ("1700000000000", Some(TimeUnit::Millis)),
            ("1700000000000000", Some(TimeUnit::Micros)),
            ("1700000000000000000", Some(TimeUnit::Nanos)),
        ] {
            let number = Decimal::parse(text).expect(text);
            assert_eq!(TimeUnit::of_epoch(number), unit, "{text}");
        }
    }
}
