//! Simulated time: whole nanoseconds, so that equal times are equal and sums do not drift.
//!
//! A floating clock makes "at the same instant" a matter of rounding. Here an instant and a length of
//! time are two types over `u64`, arithmetic saturates at both ends, and text with a unit appears only
//! at the edge (see [`crate::units`]). The range is 584 years.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

/// Nanoseconds in one second.
pub const NANOS_PER_SEC: u64 = 1_000_000_000;

/// An instant of simulated time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimTime(u64);

/// A length of simulated time in nanoseconds. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SimDuration(u64);

impl SimTime {
    /// The start of the run.
    pub const ZERO: Self = Self(0);
    /// Later than any event: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, for reports.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Time passed since `earlier`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> SimDuration {
        SimDuration(self.0.saturating_sub(earlier.0))
    }
}

impl SimDuration {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// The longest length; stands for "for ever".
    pub const MAX: Self = Self(u64::MAX);

    /// A length of `nanos` nanoseconds.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// A length of `millis` milliseconds, saturating.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000))
    }

    /// A length of `secs` seconds, saturating.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(NANOS_PER_SEC))
    }

    /// The nearest length to `secs` seconds. Negative numbers and NaN give zero, large ones saturate.
    pub fn from_secs_f64(secs: f64) -> Self {
        Self::from_nanos_f64(secs * NANOS_PER_SEC as f64)
    }

    /// The nearest length to `nanos` nanoseconds. Negative numbers and NaN give zero, large ones saturate.
    #[inline]
    pub fn from_nanos_f64(nanos: f64) -> Self {
        // Adding a half first rounds to nearest. The signed conversion is several times cheaper than the
        // unsigned one; both saturate and map NaN to zero.
        let rounded = nanos + 0.5;
        if rounded < i64::MAX as f64 {
            return Self((rounded as i64).max(0) as u64);
        }
        Self(rounded as u64)
    }

    /// Length in nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Length in seconds, for reports and formulas.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NANOS_PER_SEC as f64
    }

    /// Length in milliseconds, for reports.
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The shorter of `self` less `other` and zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// `self` times a factor, rounded to the nearest nanosecond, saturating.
    #[inline]
    pub fn scale(self, factor: f64) -> Self {
        Self::from_nanos_f64(self.0 as f64 * factor)
    }
}

impl Add<SimDuration> for SimTime {
    type Output = Self;
    #[inline]
    fn add(self, rhs: SimDuration) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign<SimDuration> for SimTime {
    fn add_assign(&mut self, rhs: SimDuration) {
        *self = *self + rhs;
    }
}

impl Add for SimDuration {
    type Output = Self;
    #[inline]
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for SimDuration {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for SimTime {
    type Output = SimDuration;
    fn sub(self, rhs: Self) -> SimDuration {
        self.since(rhs)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SimDuration(self.0).fmt(f)
    }
}

/// Writes the shortest exact text in one unit: `250ms`, `1.5s`, `2m` is written `120s`.
impl fmt::Display for SimDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, nanos) = match self.0 {
            0 => return f.write_str("0s"),
            n if n >= NANOS_PER_SEC => ("s", NANOS_PER_SEC),
            n if n >= 1_000_000 => ("ms", 1_000_000),
            n if n >= 1_000 => ("us", 1_000),
            _ => ("ns", 1),
        };
        let (whole, rest) = (self.0 / nanos, self.0 % nanos);
        if rest == 0 {
            return write!(f, "{whole}{unit}");
        }
        let digits = nanos.ilog10() as usize;
        let fraction = format!("{rest:0digits$}");
        write!(f, "{whole}.{}{unit}", fraction.trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(SimTime::MAX + SimDuration::from_secs(1), SimTime::MAX);
        assert_eq!(SimTime::ZERO - SimTime::from_nanos(5), SimDuration::ZERO);
        assert_eq!(SimDuration::from_secs(u64::MAX), SimDuration::MAX);
        assert_eq!(SimDuration::from_secs_f64(f64::INFINITY), SimDuration::MAX);
        assert_eq!(SimDuration::from_secs_f64(f64::NAN), SimDuration::ZERO);
        assert_eq!(SimDuration::from_secs_f64(-1.0), SimDuration::ZERO);
    }

    #[test]
    fn text_is_exact_and_short() {
        let shown = |n| SimDuration::from_nanos(n).to_string();
        assert_eq!(shown(0), "0s");
        assert_eq!(shown(250_000_000), "250ms");
        assert_eq!(shown(1_500_000_000), "1.5s");
        assert_eq!(shown(120 * NANOS_PER_SEC), "120s");
        assert_eq!(shown(1_000_000_001), "1.000000001s");
        assert_eq!(shown(1_050), "1.05us");
        assert_eq!(shown(7), "7ns");
    }
}
