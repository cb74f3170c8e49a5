//! Mean and variance of a random delay after its cap and its rounding.
//!
//! A run is believed when its mean delay agrees with theory, and a cap or a rounding shifts that mean. The
//! figures here are exact, so that a disagreement is a mistake and not an approximation.

use statrs::function::erf::erfc;
use std::f64::consts::SQRT_2;

/// The most terms a sum over milliseconds may have.
const MOST_TERMS: f64 = 1e6;

/// A law of a delay in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Law {
    /// Always the same.
    Point(f64),
    /// Uniform from `low` to `high` > `low`.
    Uniform { low: f64, high: f64 },
    /// Exponentially distributed.
    Exponential { mean: f64 },
    /// `median` · exp(N(0, `sigma`²)), both above zero.
    Lognormal { median: f64, sigma: f64 },
}

/// What is done to a delay at the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// The greatest delay in nanoseconds; more becomes this.
    pub(super) clamp: f64,
    /// Delays are cut to multiples of this many nanoseconds.
    pub(super) step: Option<f64>,
}

impl Law {
    /// Mean and variance after the ending, in nanoseconds. `None` when it would take too long a sum: a
    /// rounded lognormal delay of many minutes.
    ///
    /// The clamp is not applied to an exponential law: the one form that has it knows no cap.
    pub(super) fn moments(self, ending: Ending) -> Option<(f64, f64)> {
        let Ending { clamp, step } = ending;
        Some(match (self, step) {
            (Self::Point(x), None) => (x.min(clamp), 0.0),
            (Self::Point(x), Some(step)) => ((x.min(clamp) / step).floor() * step, 0.0),
            (Self::Uniform { low, high }, _) if clamp <= low => {
                return Self::Point(clamp.min(high)).moments(ending);
            }
            (Self::Uniform { low, high }, None) => uniform(low, high, clamp),
            (Self::Uniform { low, high }, Some(step)) => uniform_cut(low, high, clamp, step),
            (Self::Exponential { mean }, None) => (mean, mean * mean),
            (Self::Exponential { mean }, Some(step)) => {
                // Whole steps of an exponential time are geometrically distributed.
                let (q, one_less_q) = ((-step / mean).exp(), -(-step / mean).exp_m1());
                (step * q / one_less_q, step * step * q / one_less_q.powi(2))
            }
            (Self::Lognormal { median, sigma }, None) => lognormal(median, sigma, clamp),
            (Self::Lognormal { median, sigma }, Some(step)) => {
                return lognormal_cut(median, sigma, clamp, step);
            }
        })
    }
}

/// min(U(low, high), clamp) with clamp > low.
fn uniform(low: f64, high: f64, clamp: f64) -> (f64, f64) {
    let width = high - low;
    if clamp >= high {
        return (low + 0.5 * width, width * width / 12.0);
    }
    // How far the delay lies below `clamp`: uniform from 0 to `top` with probability `inside`, else 0.
    let top = clamp - low;
    let inside = top / width;
    let below = 0.5 * top * inside;
    let variance = top * top * inside * (1.0 / 3.0 - 0.25 * inside);
    (clamp - below, variance)
}

/// The same, cut to multiples of `step`: a sum over the cells of the grid in closed form.
fn uniform_cut(low: f64, high: f64, clamp: f64, step: f64) -> (f64, f64) {
    let (width, top) = (high - low, high.min(clamp));
    let (first, last) = ((low / step).floor(), (top / step).floor());
    let cells = last - first;
    if cells == 0.0 {
        return (first * step, 0.0);
    }
    // Cells 1 to cells − 1 are whole, the last is partial and takes what lies above the clamp too.
    let whole = step / width;
    let in_last = (top - last * step + (high - top)) / width;
    let mean = whole * cells * (cells - 1.0) / 2.0 + in_last * cells;
    let second =
        whole * cells * (cells - 1.0) * (2.0 * cells - 1.0) / 6.0 + in_last * cells * cells;
    let variance = (second - mean * mean).max(0.0);
    ((first + mean) * step, variance * step * step)
}

/// Probability that a standard normal number exceeds `z`.
fn normal_tail(z: f64) -> f64 {
    0.5 * erfc(z / SQRT_2)
}

/// min(median · exp(N(0, sigma²)), clamp), from the partial moments of the lognormal law.
fn lognormal(median: f64, sigma: f64, clamp: f64) -> (f64, f64) {
    let growth = (0.5 * sigma * sigma).exp();
    let z = (clamp / median).ln() / sigma;
    if z - 2.0 * sigma > 9.0 {
        let mean = median * growth;
        return (mean, mean * mean * (sigma * sigma).exp_m1());
    }
    let above = normal_tail(z);
    let mean = median * growth * normal_tail(sigma - z) + clamp * above;
    let second =
        median * median * growth.powi(4) * normal_tail(2.0 * sigma - z) + clamp * clamp * above;
    (mean, (second - mean * mean).max(0.0))
}

/// The same, cut to multiples of `step`: E(⌊X⌋) = Σ P(X ≥ k) and E(⌊X⌋²) = Σ (2k − 1) P(X ≥ k).
fn lognormal_cut(median: f64, sigma: f64, clamp: f64, step: f64) -> Option<(f64, f64)> {
    let farthest = clamp.min(median * ((9.0 + 2.0 * sigma) * sigma).exp());
    let terms = (farthest / step).floor();
    if terms > MOST_TERMS {
        return None;
    }
    let (mut mean, mut second) = (0.0, 0.0);
    for k in 1..=terms as u64 {
        let k = k as f64;
        let at_least = normal_tail((k * step / median).ln() / sigma);
        mean += at_least;
        second += (2.0 * k - 1.0) * at_least;
    }
    Some((mean * step, (second - mean * mean).max(0.0) * step * step))
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF, Normal};

    /// Mean and variance of twenty thousand evenly spaced quantiles.
    fn by_quantiles(quantile: impl Fn(f64) -> f64, ending: Ending) -> (f64, f64) {
        const POINTS: u32 = 20_000;
        let ended = |i| {
            let x = quantile((f64::from(i) + 0.5) / f64::from(POINTS)).min(ending.clamp);
            ending.step.map_or(x, |step| (x / step).floor() * step)
        };
        let mean = (0..POINTS).map(ended).sum::<f64>() / f64::from(POINTS);
        let square = |i| (ended(i) - mean).powi(2);
        (
            mean,
            (0..POINTS).map(square).sum::<f64>() / f64::from(POINTS),
        )
    }

    #[test]
    fn every_law_agrees_with_its_quantiles_under_every_ending() {
        let normal = Normal::standard();
        let (low, high) = (2.3, 17.9);
        for step in [None, Some(0.7), Some(4.0), Some(30.0)] {
            for clamp in [f64::MAX, 25.0, 17.0, 8.4, 3.0, 1.0] {
                let ending = Ending { clamp, step };
                let check = |law: Law, quantile: &dyn Fn(f64) -> f64, tolerance: f64| {
                    let (mean, variance) = law.moments(ending).unwrap();
                    let (m, v) = by_quantiles(quantile, ending);
                    assert!(
                        (mean - m).abs() < tolerance,
                        "{law:?} {ending:?}: {mean} {m}"
                    );
                    assert!(
                        (variance - v).abs() < 100.0 * tolerance,
                        "{law:?} {ending:?}: {variance} {v}"
                    );
                };
                check(
                    Law::Uniform { low, high },
                    &|u| low + u * (high - low),
                    1e-3,
                );
                check(Law::Point(low), &|_| low, 1e-9);
                let lognormal = Law::Lognormal {
                    median: 6.0,
                    sigma: 0.4,
                };
                check(
                    lognormal,
                    &|u| 6.0 * (0.4 * normal.inverse_cdf(u)).exp(),
                    2e-3,
                );
                if clamp == f64::MAX {
                    check(
                        Law::Exponential { mean: 5.0 },
                        &|u| -5.0 * (1.0 - u).ln(),
                        2e-3,
                    );
                }
            }
        }
    }

    #[test]
    fn a_narrow_spread_keeps_its_variance() {
        let far = Ending {
            clamp: 1e30,
            step: None,
        };
        let (_, variance) = Law::Uniform {
            low: 1e9,
            high: 1e9 + 1.0,
        }
        .moments(far)
        .unwrap();
        assert!((variance - 1.0 / 12.0).abs() < 1e-12);
        let narrow = Law::Lognormal {
            median: 1.0,
            sigma: 1e-9,
        };
        assert!((narrow.moments(far).unwrap().1 - 1e-18).abs() < 1e-26);
    }
}
