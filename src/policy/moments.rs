//! Mean and standard deviation of the delay before one retry.

use super::backoff::{Backoff, ordinal};
use super::jitter::Jitter;
use super::law::{Ending, Law};
use super::nominal::Nominal;
use super::shape::Shape;
use crate::time::NANOS_PER_SEC;

impl Backoff {
    /// Mean and standard deviation in seconds of the delay before retry `retry` = 1, 2, …, counted from the
    /// start of the state, all of cap, jitter and rounding included.
    ///
    /// Exact up to rounding to whole nanoseconds where the nominal delay is known or its law is simple; by
    /// quadrature (about 1e-9 relative) where two random numbers meet. `None` where neither is at hand: a
    /// decorrelated form with a factor below 1.1 or with rounding and no jitter, a rounded lognormal jitter
    /// on a random or very long delay.
    pub fn moments(&self, retry: u64) -> Option<(f64, f64)> {
        let n = ordinal(retry);
        let shape = self.shape();
        if let (1, Some(first)) = (n, shape.first) {
            return Some((first.as_secs_f64(), 0.0));
        }
        let (before, after) = shape.caps(self.cap());
        let ending = Ending {
            clamp: after.as_nanos() as f64,
            step: shape.step(),
        };
        let nominal = match self.nominal(n) {
            Nominal::Known(delay) => Nominal::Known(delay.min(before)),
            random => random,
        };
        let (mean, variance) = match nominal.law() {
            Some(Law::Point(x)) => shape.jitter.law(x).moments(ending),
            Some(law) if shape.jitter.is_trivial() => law.moments(ending),
            _ => mixture(shape, &nominal.points(n)?, ending),
        }?;
        let second = NANOS_PER_SEC as f64;
        Some((mean / second, variance.sqrt() / second))
    }
}

/// Mean and variance when the nominal delay is random too: over its points, the mean of the variances and
/// the variance of the means.
fn mixture(shape: &Shape, points: &[(f64, f64)], ending: Ending) -> Option<(f64, f64)> {
    let jitter = &shape.jitter;
    let sums = jitter.is_trivial() || matches!(jitter, Jitter::Lognormal(_));
    if ending.step.is_some() && sums {
        return None;
    }
    let parts: Option<Vec<(f64, f64, f64)>> = points
        .iter()
        .map(|&(x, weight)| {
            let (mean, variance) = jitter.law(x).moments(ending)?;
            Some((weight, mean, variance))
        })
        .collect();
    let parts = parts?;
    let mean: f64 = parts.iter().map(|(weight, mean, _)| weight * mean).sum();
    let variance = parts
        .iter()
        .map(|(weight, part, variance)| weight * (variance + (part - mean).powi(2)))
        .sum();
    Some((mean, variance))
}
