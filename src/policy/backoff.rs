//! The forms of backoff: their settings, their formulas, what does not fit together. To add one, add it here:
//! a variant with its example, its record, its [`Check`], and its arms below; all else follows.
//!
//! A service that is down for a second should not meet every client again after a second, and a service
//! that is down for an hour should not meet them every second. Each form answers with a nominal delay that
//! depends on the number of the retry, n = 1 for the first; [`Shape`] bounds it, lays jitter on it and rounds
//! it. Arithmetic saturates, and retry 10,000 costs what retry 2 costs.

use super::arithmetic::{check_least, doubled, fibonacci, times};
use super::decorrelated::Growth;
use super::nominal::Nominal;
use super::shape::Shape;
use crate::decode::{Check, Reader};
use crate::time::SimDuration;
use crate::{choice, record};

choice! {
    /// How long to wait before retry n = 1, 2, …
    pub enum Backoff as "backoff" {
        /// No delay at all.
        Immediate = "immediate", r#""immediate""#;
        /// The same delay each time.
        Fixed(Fixed) = "fixed", r#"{ fixed = { delay = "1s", jitter = "proportional" } }"#;
        /// base + step · (n − 1), up to cap; step is base unless given.
        Linear(Linear) = "linear", r#"{ linear = { base = "100ms", step = "50ms", cap = "2s" } }"#;
        /// base · factor^(start + n − 1), up to cap.
        Exponential(Exponential) = "exponential",
            r#"{ exponential = { base = "100ms", factor = 2, cap = "10s", jitter = "full" } }"#;
        /// base · 1, 1, 2, 3, 5, 8, …, up to cap.
        Fibonacci(Fibonacci) = "fibonacci", r#"{ fibonacci = { base = "100ms", cap = "10s" } }"#;
        /// base · n^power, up to cap.
        Polynomial(Polynomial) = "polynomial",
            r#"{ polynomial = { base = "1s", power = 4, cap = "1h", jitter.additive = { max = "10s" } } }"#;
        /// Uniform from min to max.
        Uniform(Uniform) = "uniform", r#"{ uniform = { min = "500ms", max = "1500ms", rounding = "floor_ms" } }"#;
        /// Exponentially distributed with a mean.
        Memoryless(Memoryless) = "memoryless", r#"{ memoryless = { mean = "1s", first = "0s" } }"#;
        /// The delays of a list; the last one repeats.
        List(List) = "list", r#"{ list = { delays = ["0s", "1s", "5s", "30s"], state.client = { reset = "never" } } }"#;
        /// Uniform from base to factor times the delay before, up to cap: AWS's decorrelated jitter.
        Decorrelated(Decorrelated) = "decorrelated", r#"{ decorrelated = { base = "100ms", cap = "10s" } }"#;
    }
}

record! {
    /// The same delay each time.
    pub struct Fixed {
        /// The delay.
        delay: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base + step · (n − 1)).
    pub struct Linear {
        /// The delay before the first retry.
        base: SimDuration,
        /// What each further retry adds; `base` when absent, which gives base · n.
        step: Option<SimDuration> = None,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · factor^(start + n − 1)).
    pub struct Exponential {
        /// The delay at exponent 0.
        base: SimDuration,
        /// How much longer each delay is, zero or more. Below 1 delays shrink; with 0 only the delay at
        /// exponent 0 is above zero.
        factor: f64 = 2.0,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None,
        /// The exponent of the first retry: 0 makes it wait `base`, 1 makes it wait `base · factor`.
        start: u32 = 0;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · F(n)) with F = 1, 1, 2, 3, 5, 8, …
    pub struct Fibonacci {
        /// The delay before the first two retries.
        base: SimDuration,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · n^power).
    pub struct Polynomial {
        /// The delay before the first retry.
        base: SimDuration,
        /// The exponent, zero or more: 1 grows linearly, 2 quadratically.
        power: f64,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// Uniform from min to max, whatever n is.
    pub struct Uniform {
        /// The least delay.
        min: SimDuration,
        /// The greatest delay.
        max: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// Exponentially distributed, whatever n is.
    pub struct Memoryless {
        /// The mean delay.
        mean: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// The delays of a list in turn.
    pub struct List {
        /// At least one delay; the last one repeats.
        delays: Vec<SimDuration>;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// sₙ = min(cap, U(base, factor · sₙ₋₁)) with s₀ = base. The capped value is remembered, before jitter
    /// and rounding.
    pub struct Decorrelated {
        /// The least delay.
        base: SimDuration,
        /// The greatest nominal delay.
        cap: SimDuration,
        /// How far a delay may exceed the one before, at least 1.
        factor: f64 = 3.0;
        /// Shared settings.
        flatten shape: Shape,
    }
}

impl Backoff {
    /// The settings shared by all forms.
    #[inline]
    pub fn shape(&self) -> &Shape {
        match self {
            Self::Immediate => &Shape::PLAIN,
            Self::Fixed(form) => &form.shape,
            Self::Linear(form) => &form.shape,
            Self::Exponential(form) => &form.shape,
            Self::Fibonacci(form) => &form.shape,
            Self::Polynomial(form) => &form.shape,
            Self::Uniform(form) => &form.shape,
            Self::Memoryless(form) => &form.shape,
            Self::List(form) => &form.shape,
            Self::Decorrelated(form) => &form.shape,
        }
    }

    /// The greatest nominal delay, where the form has one.
    #[inline]
    pub fn cap(&self) -> Option<SimDuration> {
        match self {
            Self::Linear(form) => form.cap,
            Self::Exponential(form) => form.cap,
            Self::Fibonacci(form) => form.cap,
            Self::Polynomial(form) => form.cap,
            Self::Decorrelated(form) => Some(form.cap),
            _ => None,
        }
    }

    /// The delay before retry `n`, still without cap and jitter.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> Nominal {
        Nominal::Known(match self {
            Self::Immediate => SimDuration::ZERO,
            Self::Fixed(form) => form.delay,
            Self::Linear(form) => form.nominal(n),
            Self::Exponential(form) => form.nominal(n),
            Self::Fibonacci(form) => form.nominal(n),
            Self::Polynomial(form) => form.nominal(n),
            Self::List(form) => form.nominal(n),
            Self::Uniform(Uniform { min, max, .. }) => {
                return Nominal::Uniform {
                    min: *min,
                    max: *max,
                };
            }
            Self::Memoryless(form) => return Nominal::Memoryless(form.mean),
            Self::Decorrelated(form) => {
                return Nominal::Decorrelated(Growth {
                    base: form.base,
                    cap: form.cap,
                    factor: form.factor,
                });
            }
        })
    }
}

impl Linear {
    /// base + step · (n − 1).
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        self.base + times(self.step.unwrap_or(self.base), u64::from(n - 1))
    }
}

impl Exponential {
    /// base · factor^(start + n − 1). With a base of zero, 0 · ∞ counts as zero.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        let exponent = u64::from(self.start) + u64::from(n - 1);
        if self.factor == 2.0 {
            return doubled(self.base, exponent);
        }
        self.base.scale(self.factor.powf(exponent as f64))
    }
}

impl Fibonacci {
    /// base · F(n).
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        times(self.base, fibonacci(n))
    }
}

impl Polynomial {
    /// base · n^power. With a base of zero, 0 · ∞ counts as zero.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        self.base.scale(f64::from(n).powf(self.power))
    }
}

impl List {
    /// The n-th delay, or the last.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        let nth = self.delays.get(n as usize - 1).or(self.delays.last());
        nth.copied().unwrap_or_default()
    }
}

impl Check for Fixed {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.delay, None, reader);
    }
}

impl Check for Linear {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
    }
}

impl Check for Exponential {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
        check_least("factor", self.factor, 0.0, reader);
    }
}

impl Check for Fibonacci {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
    }
}

impl Check for Polynomial {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
        check_least("power", self.power, 0.0, reader);
    }
}

impl Check for Uniform {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.min, None, reader);
        if self.max < self.min {
            reader.error_at(
                &["max", "min"],
                format!("`max` = {} is below `min` = {}", self.max, self.min),
                "exchange the two",
            );
        }
    }
}

impl Check for Memoryless {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.mean, None, reader);
    }
}

impl Check for List {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(SimDuration::ZERO, None, reader);
        if self.delays.is_empty() {
            reader.error_at(
                &["delays"],
                "`delays` is empty",
                "give at least one delay, like [\"1s\"]",
            );
        }
    }
}

impl Check for Decorrelated {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, Some(self.cap), reader);
        check_least("factor", self.factor, 1.0, reader);
    }
}

#[cfg(test)]
mod tests;
