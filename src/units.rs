//! Quantities as people write them: text with a unit at the edge, a checked number inside.
//!
//! A bare `5` where a duration is due could be seconds or milliseconds, and the guess would be wrong half
//! the time; so a unit is required and the message shows the fix. Each type rejects nonsense (negative,
//! NaN, out of range) when it is made, and nothing checks it again.

use crate::time::{NANOS_PER_SEC, SimDuration, SimTime};
use serde::{Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// Why a text is not a quantity: what was expected and how to write it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong, as a clause.
    pub reason: String,
    /// How to write it instead.
    pub remedy: String,
}

fn error(reason: impl Into<String>, remedy: impl Into<String>) -> UnitError {
    UnitError {
        reason: reason.into(),
        remedy: remedy.into(),
    }
}

/// The longest time a scenario may name: a year. Longer texts are mistakes of unit.
pub const LONGEST: SimDuration = SimDuration::from_secs(366 * 86_400);

const DURATION_UNITS: &[(&str, u64)] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", NANOS_PER_SEC),
    ("min", 60 * NANOS_PER_SEC),
    ("m", 60 * NANOS_PER_SEC),
    ("h", 3_600 * NANOS_PER_SEC),
    ("d", 86_400 * NANOS_PER_SEC),
];

/// Words for units that people try, and the unit that is meant.
const UNIT_WORDS: &[(&str, &str)] = &[
    ("nanos", "ns"),
    ("nanoseconds", "ns"),
    ("usec", "us"),
    ("micros", "us"),
    ("microseconds", "us"),
    ("msec", "ms"),
    ("msecs", "ms"),
    ("millis", "ms"),
    ("milliseconds", "ms"),
    ("sec", "s"),
    ("secs", "s"),
    ("second", "s"),
    ("seconds", "s"),
    ("mins", "m"),
    ("minute", "m"),
    ("minutes", "m"),
    ("hr", "h"),
    ("hrs", "h"),
    ("hour", "h"),
    ("hours", "h"),
    ("day", "d"),
    ("days", "d"),
];

/// Splits "250ms" into its number, still as a text, and its unit.
fn split(text: &str) -> (String, &str) {
    let text = text.trim();
    let end = text
        .char_indices()
        .find(|&(i, c)| {
            let exponent = matches!(c, 'e' | 'E')
                && text[i + 1..].starts_with(|d: char| d.is_ascii_digit() || d == '-' || d == '+');
            let sign_inside = matches!(c, '+' | '-') && (i == 0 || text[..i].ends_with(['e', 'E']));
            !(c.is_ascii_digit() || c == '.' || c == '_' || exponent || sign_inside)
        })
        .map_or(text.len(), |(i, _)| i);
    (text[..end].replace('_', ""), text[end..].trim())
}

/// Splits "15%" into its number and its unit.
fn split_number(text: &str) -> Option<(f64, &str)> {
    let (number, unit) = split(text);
    Some((number.parse().ok()?, unit))
}

/// A decimal number as written: ±digits · 10^exponent. Digits beyond the 24th are dropped.
struct Decimal {
    negative: bool,
    digits: u128,
    exponent: i64,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            // An exponent of many digits is as good as the largest.
            Some(at) => (&text[..at], exponent(&text[at + 1..])?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let is_number = !(whole.is_empty() && fraction.is_empty())
            && whole
                .bytes()
                .chain(fraction.bytes())
                .all(|b| b.is_ascii_digit());
        if !is_number {
            return None;
        }
        let mut number = Self {
            negative,
            digits: 0,
            exponent: exponent - fraction.len() as i64,
        };
        for digit in whole.bytes().chain(fraction.bytes()) {
            if number.digits < 10_u128.pow(23) {
                number.digits = number.digits * 10 + u128::from(digit - b'0');
            } else {
                number.exponent += 1;
            }
        }
        Some(number)
    }

    /// The number times `unit`, to the nearest whole number; saturates.
    fn times(&self, unit: u64) -> u64 {
        let product = self.digits * u128::from(unit);
        let power =
            |exponent: u64| 10_u128.checked_pow(u32::try_from(exponent).unwrap_or(u32::MAX));
        let scaled = match (self.exponent >= 0, power(self.exponent.unsigned_abs())) {
            (true, Some(power)) => product.saturating_mul(power),
            (true, None) if product > 0 => u128::MAX,
            (false, Some(power)) => {
                product / power + u128::from(product % power >= power.div_ceil(2))
            }
            _ => 0,
        };
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }
}

fn exponent(text: &str) -> Option<i64> {
    let digits = text.trim_start_matches(['-', '+']);
    let is_number = !digits.is_empty()
        && text.len() - digits.len() <= 1
        && digits.bytes().all(|b| b.is_ascii_digit());
    let size = digits.parse().unwrap_or(1_000_000).min(1_000_000);
    is_number.then_some(if text.starts_with('-') { -size } else { size })
}

impl FromStr for SimDuration {
    type Err = UnitError;

    /// Reads `"250ms"`, `"1.5s"`, `"2m"`, exactly; units ns, us, ms, s, m (min), h, d. Fractions of a
    /// nanosecond are rounded to the nearest one.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const FORMS: &str = "write a number and a unit, like \"250ms\", \"1.5s\" or \"2m\" (ns, us, ms, s, m, h, d)";
        let (written, unit) = split(text);
        let number = Decimal::parse(&written)
            .ok_or_else(|| error(format!("`{text}` is not a duration"), FORMS))?;
        if unit.is_empty() {
            let fix =
                format!("write \"{written}s\" for seconds or \"{written}ms\" for milliseconds");
            return Err(error("a duration needs a unit", fix));
        }
        let known = DURATION_UNITS.iter().find(|(name, _)| *name == unit);
        let Some(&(_, nanos)) = known else {
            let lower = unit.to_lowercase();
            let meant = UNIT_WORDS.iter().find(|(word, _)| *word == lower);
            let fix = meant.map_or(FORMS.into(), |(_, unit)| {
                format!("write \"{written}{unit}\"")
            });
            return Err(error(format!("`{unit}` is not a unit of time"), fix));
        };
        if number.negative && number.digits > 0 {
            return Err(error("a duration cannot be negative", "give zero or more"));
        }
        let value = Self::from_nanos(number.times(nanos));
        if value > LONGEST {
            return Err(error(
                "a duration can be at most 366d",
                "use a shorter time, or check the unit",
            ));
        }
        if value == Self::ZERO && number.digits > 0 {
            return Err(error(
                "the smallest step of time is 1ns",
                "give \"1ns\" or more, or \"0s\"",
            ));
        }
        Ok(value)
    }
}

impl Serialize for SimDuration {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Serialize for SimTime {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// How often something happens: events per second, finite and not negative.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Rate(f64);

impl Rate {
    /// The highest rate a scenario may name, per second.
    pub const HIGHEST: f64 = 1e9;

    /// A rate of `per_second` events a second, if it is between 0 and [`Rate::HIGHEST`].
    pub fn per_second(per_second: f64) -> Option<Self> {
        (0.0..=Self::HIGHEST)
            .contains(&per_second)
            .then_some(Self(per_second))
    }

    /// Events per second.
    pub fn as_per_second(self) -> f64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = UnitError;

    /// Reads `"800/s"`, `"60/m"`, `"5/h"`.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const FORMS: &str = "write a number per unit of time, like \"120/s\", \"60/m\" or \"5/h\"";
        let (number, unit) =
            split_number(text).ok_or_else(|| error(format!("`{text}` is not a rate"), FORMS))?;
        let per = match unit.strip_prefix('/').map(str::trim) {
            Some("s") => 1.0,
            Some("ms") => 1e-3,
            Some("m" | "min") => 60.0,
            Some("h") => 3_600.0,
            Some("d") => 86_400.0,
            None if unit.is_empty() => {
                return Err(error(
                    "a rate needs a unit",
                    format!("write \"{number}/s\" for {number} a second"),
                ));
            }
            _ => return Err(error(format!("`{unit}` is not a unit of a rate"), FORMS)),
        };
        if number < 0.0 {
            return Err(error("a rate cannot be negative", "give zero or more"));
        }
        Self::per_second(number / per).ok_or_else(|| {
            error(
                "a rate can be at most 1e9/s",
                "use a lower rate, or check the unit",
            )
        })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A number in full would be hundreds of digits long.
        if self.0 > 0.0 && self.0 < 1e-9 {
            return write!(f, "{:e}/s", self.0);
        }
        write!(f, "{}/s", self.0)
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A share between 0 and 1, written `"15%"` or `0.15`.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Default)]
pub struct Ratio(f64);

impl Ratio {
    /// Nothing.
    pub const ZERO: Self = Self(0.0);
    /// Everything.
    pub const ONE: Self = Self(1.0);

    /// The share `value`, if it is between 0 and 1.
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=1.0).contains(&value).then_some(Self(value))
    }

    /// The share as a number between 0 and 1.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl FromStr for Ratio {
    type Err = UnitError;

    /// Reads `"15%"`; a bare number in a text, as in `"0.15"`, is taken as the share itself.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const FORMS: &str = "write a share like \"15%\" or 0.15";
        let (number, unit) =
            split_number(text).ok_or_else(|| error(format!("`{text}` is not a share"), FORMS))?;
        let value = match unit {
            "%" => number / 100.0,
            "" => number,
            _ => return Err(error(format!("`{unit}` is not a unit of a share"), FORMS)),
        };
        Self::new(value).ok_or_else(|| error("a share lies between 0% and 100%", FORMS))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The share itself is exact where a percentage may not be (0.07 is 7.000000000000001 %).
        write!(f, "{}", self.0)
    }
}

impl Serialize for Ratio {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_every_unit() {
        for (text, nanos) in [
            ("250ms", 250_000_000),
            ("1.5s", 1_500_000_000),
            ("2m", 120 * NANOS_PER_SEC),
            ("1h", 3_600 * NANOS_PER_SEC),
            ("1d", 86_400 * NANOS_PER_SEC),
            ("3us", 3_000),
            ("3µs", 3_000),
            ("1e3ms", NANOS_PER_SEC),
            ("1_000 ns", 1_000),
            ("0.1s", 100_000_000),
            ("8640000.000000001s", 8_640_000_000_000_001),
            ("31535999999999999ns", 31_535_999_999_999_999),
            ("1.0000000005s", 1_000_000_001),
            ("2.5e-3s", 2_500_000),
            ("0e999999999999s", 0),
            (".5ms", 500_000),
            ("-0s", 0),
            ("0s", 0),
        ] {
            assert_eq!(text.parse(), Ok(SimDuration::from_nanos(nanos)), "{text}");
        }
    }

    #[test]
    fn wrong_durations_say_how_to_write_them() {
        for (text, part) in [
            ("5", "needs a unit"),
            ("5 parsecs", "not a unit of time"),
            ("-1s", "cannot be negative"),
            ("1e30s", "at most 366d"),
            ("1e999s", "at most 366d"),
            ("NaNs", "not a duration"),
            ("", "not a duration"),
            ("ms", "not a duration"),
            ("0.1ns", "smallest step"),
            ("1e-999999999999s", "smallest step"),
            ("1e99999999999999999999s", "at most 366d"),
            ("1e+-5s", "not a duration"),
            (".s", "not a duration"),
            ("1.2.3s", "not a duration"),
        ] {
            let error = text.parse::<SimDuration>().expect_err(text);
            assert!(error.reason.contains(part), "{text}: {}", error.reason);
        }
    }

    #[test]
    fn rates_and_shares_are_read() {
        assert_eq!("60/m".parse(), Ok(Rate(1.0)));
        assert_eq!("800/s".parse(), Ok(Rate(800.0)));
        assert!("800".parse::<Rate>().is_err());
        assert!("-1/s".parse::<Rate>().is_err());
        assert_eq!("15%".parse(), Ok(Ratio(0.15)));
        assert!("101%".parse::<Ratio>().is_err());
        assert!(Ratio::new(f64::NAN).is_none());
    }

    #[test]
    fn a_unit_in_words_shows_the_unit() {
        let error = "5 Seconds".parse::<SimDuration>().expect_err("a word");
        assert_eq!(error.remedy, "write \"5s\"");
    }

    #[test]
    fn tiny_rates_are_short_and_read_back() {
        for rate in [Rate(1e-300), Rate(2.5e-12), Rate(1.0 / 3.0), Rate(1e9)] {
            let text = rate.to_string();
            assert!(text.len() < 40, "{text}");
            assert_eq!(text.parse(), Ok(rate));
        }
    }

    proptest::proptest! {
        #[test]
        fn every_duration_up_to_a_year_reads_back(nanos in 0..=LONGEST.as_nanos()) {
            let duration = SimDuration::from_nanos(nanos);
            proptest::prop_assert_eq!(duration.to_string().parse(), Ok(duration));
            proptest::prop_assert_eq!(format!("{nanos}e-9 s").parse(), Ok(duration));
            proptest::prop_assert_eq!(format!("{nanos}ns").parse(), Ok(duration));
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for nanos in [
            0,
            1,
            999,
            1_050,
            250_000_000,
            1_000_000_001,
            86_400 * NANOS_PER_SEC,
        ] {
            let duration = SimDuration::from_nanos(nanos);
            assert_eq!(duration.to_string().parse(), Ok(duration));
        }
    }
}
