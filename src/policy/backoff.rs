//! How long to wait before the next try.
//!
//! A service that is down for a second should not meet every client again after a second, and a service
//! that is down for an hour should not meet them every second. Each form answers with a nominal delay that
//! depends on the number of the retry; [`Shape`] bounds it, lays jitter on it and rounds it.
//!
//! n = 1 is the first retry. Arithmetic saturates: a delay beyond the range of [`SimDuration`] is its
//! greatest value, and retry 10,000 costs what retry 2 costs.

use super::forms::{
    Decorrelated, Exponential, Fibonacci, Fixed, Linear, List, Memoryless, Polynomial, Uniform,
};
use super::law::Law;
use super::nominal::Nominal;
use super::shape::{Shape, StateOwner};
use crate::choice;
use crate::rng::Draws;
use crate::time::SimDuration;

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

/// What a request, or a client, remembers of its retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackoffState {
    /// Retries since the state was new, up to the range of the type.
    pub retries: u32,
    /// The nominal delay before the last retry; only the decorrelated form uses it.
    pub previous: SimDuration,
}

/// The number of a retry within the range of the state; retry 0 counts as the first.
pub(super) fn ordinal(retry: u64) -> u32 {
    u32::try_from(retry.max(1)).unwrap_or(u32::MAX)
}

impl Backoff {
    /// The delay before the next retry of the owner of `state`; notes the retry there.
    #[inline]
    pub fn next_delay(&self, state: &mut BackoffState, draws: &mut Draws) -> SimDuration {
        state.retries = state.retries.saturating_add(1);
        let nominal = self.nominal(state.retries).draw(state, draws);
        let shape = self.shape();
        match shape.first {
            Some(first) if state.retries == 1 => first,
            _ => shape.finish(nominal, self.cap(), draws),
        }
    }

    /// The least and the greatest delay before retry `retry` = 1, 2, …, both included.
    ///
    /// A law without an upper end (memoryless, lognormal jitter) gives [`SimDuration::MAX`].
    pub fn bounds(&self, retry: u64) -> (SimDuration, SimDuration) {
        let n = ordinal(retry);
        let shape = self.shape();
        match shape.first {
            Some(first) if n == 1 => (first, first),
            _ => shape.finish_range(self.nominal(n).range(n), self.cap()),
        }
    }

    /// Whether every delay is known in advance.
    pub fn is_deterministic(&self) -> bool {
        let known = matches!(self.nominal(1).law(), Some(Law::Point(_)));
        known && self.shape().jitter.is_trivial() || self.constant().is_some()
    }

    /// Whether the state lives on in the client from request to request.
    pub fn uses_client_state(&self) -> bool {
        matches!(self.shape().state, StateOwner::Client(_))
    }

    /// The delay, when every retry waits the same known time.
    pub fn constant(&self) -> Option<SimDuration> {
        let delay = self.bounds(1).0;
        self.landmarks()
            .all(|retry| self.bounds(retry) == (delay, delay))
            .then_some(delay)
    }

    /// The least delay over all retries.
    pub fn least(&self) -> SimDuration {
        self.landmarks()
            .map(|retry| self.bounds(retry).0)
            .min()
            .unwrap_or_default()
    }

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

    /// Retries that show all there is to know about least and greatest delays: from the second retry on
    /// (`first` may stand out) every form but the list only grows or only shrinks.
    fn landmarks(&self) -> impl Iterator<Item = u64> {
        let listed = match self {
            Self::List(form) => form.delays.len() as u64,
            _ => 2,
        };
        (1..=listed.max(2)).chain([u64::MAX])
    }

    /// The delay before retry `n`, still without cap and jitter.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> Nominal<'_> {
        Nominal::Known(match self {
            Self::Immediate => SimDuration::ZERO,
            Self::Fixed(form) => form.delay,
            Self::Linear(form) => form.nominal(n),
            Self::Exponential(form) => form.nominal(n),
            Self::Fibonacci(form) => form.nominal(n),
            Self::Polynomial(form) => form.nominal(n),
            Self::List(form) => form.nominal(n),
            Self::Uniform(form) => return Nominal::Uniform(form),
            Self::Memoryless(form) => return Nominal::Memoryless(form),
            Self::Decorrelated(form) => return Nominal::Decorrelated(form),
        })
    }
}
