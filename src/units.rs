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

/// Splits "250ms" into its number and its unit.
fn split_number(text: &str) -> Option<(f64, &str)> {
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
    let number = text[..end].replace('_', "").parse().ok()?;
    Some((number, text[end..].trim()))
}

impl FromStr for SimDuration {
    type Err = UnitError;

    /// Reads `"250ms"`, `"1.5s"`, `"2m"`; units ns, us, ms, s, m (min), h, d.
    fn from_str(text: &str) -> Result<Self, UnitError> {
        const FORMS: &str = "write a number and a unit, like \"250ms\", \"1.5s\" or \"2m\" (ns, us, ms, s, m, h, d)";
        let (number, unit) = split_number(text)
            .ok_or_else(|| error(format!("`{text}` is not a duration"), FORMS))?;
        if unit.is_empty() {
            let fix = format!("write \"{number}s\" for seconds or \"{number}ms\" for milliseconds");
            return Err(error("a duration needs a unit", fix));
        }
        let nanos = DURATION_UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(|| error(format!("`{unit}` is not a unit of time"), FORMS))?
            .1;
        if number < 0.0 {
            return Err(error("a duration cannot be negative", "give zero or more"));
        }
        let value = SimDuration::from_nanos_f64(number * nanos as f64);
        if !number.is_finite() || value > LONGEST {
            return Err(error(
                "a duration can be at most 366d",
                "use a shorter time, or check the unit",
            ));
        }
        if value == SimDuration::ZERO && number > 0.0 {
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
                    format!("write \"{number}/s\" for events per second"),
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
