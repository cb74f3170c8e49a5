//! Mean and standard deviation of the delay before one retry.

use super::backoff::Backoff;
use super::delay::ordinal;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::every_combination;
    use crate::policy::{BackoffState, CapOrder, Exponential, Rounding};
    use crate::rng::{Draws, Key, Purpose};
    use crate::time::SimDuration;

    const MS: u64 = 1_000_000;

    fn draws(key: Key, index: u64) -> Draws {
        key.child(index).draws(Purpose::Backoff)
    }

    /// `count` delays before retry `n`, in seconds. Decorrelated chains are followed from their start.
    fn sample(backoff: &Backoff, n: u32, count: u64, key: Key) -> Vec<f64> {
        let chain = matches!(backoff, Backoff::Decorrelated(_));
        let one = |index| {
            let mut draws = draws(key, index);
            let mut state = BackoffState {
                retries: if chain { 0 } else { n - 1 },
                previous: SimDuration::ZERO,
            };
            while state.retries + 1 < n {
                backoff.next_delay(&mut state, &mut draws);
            }
            backoff.next_delay(&mut state, &mut draws).as_secs_f64()
        };
        (0..count).map(one).collect()
    }

    /// Mean, its standard error, standard deviation and its standard error.
    fn estimate(values: &[f64]) -> (f64, f64, f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let (mut variance, mut fourth) = (0.0, 0.0);
        for value in values {
            let square = (value - mean) * (value - mean);
            variance += square / count;
            fourth += square * square / count;
        }
        let sd = variance.sqrt();
        let sd_error = ((fourth - variance * variance).max(0.0) / count).sqrt() / (2.0 * sd);
        (mean, sd / count.sqrt(), sd, sd_error)
    }

    /// Draws agree with moments, stay within bounds and reach them. Returns whether there are moments.
    fn agree(backoff: &Backoff, n: u32, count: u64) -> bool {
        let what = || format!("{backoff:?}, retry {n}");
        let values = sample(backoff, n, count, Key::root(5, u64::from(n)));
        let (least, greatest) = backoff.bounds(u64::from(n));
        let (low, high) = (least.as_secs_f64(), greatest.as_secs_f64());
        let (min, max) = values
            .iter()
            .fold((f64::MAX, 0f64), |(min, max), &x| (min.min(x), max.max(x)));
        assert!(low <= min && max <= high, "{}: {min} {max}", what());
        // A decorrelated chain reaches its ends by a row of extreme draws only.
        let reached = n == 1 || !matches!(backoff, Backoff::Decorrelated(_));
        let tails = matches!(backoff.shape().jitter, Jitter::Lognormal(_));
        if greatest < SimDuration::MAX && reached && !tails {
            let near = 0.03 * (high - low) + 0.0011;
            // With the cap last nearly all delays may lie on it.
            let spread = backoff.shape().cap_order == CapOrder::BeforeJitter;
            let near_low = min - low <= near || !spread;
            assert!(near_low, "{}: {min} is far from {low}", what());
            assert!(high - max <= near, "{}: {max} is far from {high}", what());
        }
        let Some((mean, sd)) = backoff.moments(u64::from(n)) else {
            return false;
        };
        let (m, m_error, s, s_error) = estimate(&values);
        if s == 0.0 {
            // No draw left the cap: the mean must lie as near as that suggests.
            let error = sd / (count as f64).sqrt();
            assert!(
                (m - mean).abs() <= 4.0 * error + 1e-9 * mean,
                "{}: {m} {mean}",
                what()
            );
            return true;
        }
        // Half a nanosecond of rounding, and what a rounded sum cannot resolve.
        let grain = 1e-9 + 1e-9 * mean;
        let within = |x: f64, error: f64| x.abs() <= 4.0 * error + grain;
        assert!(
            within(m - mean, m_error),
            "{}: mean {m} ± {m_error}, theory {mean}",
            what()
        );
        assert!(
            within(s - sd, s_error),
            "{}: sd {s} ± {s_error}, theory {sd}",
            what()
        );
        assert!(m_error < 0.02 * mean, "{}: the test has no teeth", what());
        true
    }

    #[test]
    fn draws_of_every_form_and_jitter_agree_with_moments_and_bounds() {
        let (mut with, mut without) = (0, 0);
        for backoff in every_combination(100 * MS, 10_000 * MS, 2.0, 0) {
            let shape = backoff.shape();
            let same = backoff.nominal(1) == backoff.nominal(2);
            let retries: &[u32] = match backoff {
                Backoff::Decorrelated(_) => continue,
                _ if same => &[1, 1_000],
                _ => &[1, 2, 5, 9, 60, 1_000],
            };
            for &n in retries {
                let count = if is_plain(shape) { 100_000 } else { 10_000 };
                if agree(&backoff, n, count) {
                    with += 1;
                } else {
                    without += 1;
                    assert_eq!(backoff.shape().rounding, Rounding::FloorMs, "{backoff:?}");
                }
            }
        }
        assert!(
            with > 800 && without < 40,
            "{with} with moments, {without} without"
        );
    }

    #[test]
    fn draws_of_decorrelated_chains_agree_with_moments_and_bounds() {
        for backoff in every_combination(100 * MS, 10_000 * MS, 3.0, 0) {
            if !matches!(backoff, Backoff::Decorrelated(_)) {
                continue;
            }
            let shape = backoff.shape();
            // Long chains are slow to follow; their law has long settled.
            let longest = match (&shape.jitter, is_plain(shape)) {
                (Jitter::None, true) => 1_000,
                (_, true) => 60,
                _ => 9,
            };
            for n in [1, 2, 5, 9, 60, 1_000]
                .into_iter()
                .filter(|&n| n <= longest)
            {
                let count = match n {
                    ..=9 if is_plain(shape) => 100_000,
                    ..=60 => 20_000,
                    _ => 10_000,
                };
                let has_moments = agree(&backoff, n, count);
                let rounded = shape.rounding == Rounding::FloorMs;
                assert!(has_moments || rounded, "{backoff:?}");
            }
        }
    }

    #[test]
    fn a_million_draws_of_every_form_and_jitter_stay_within_their_bounds_and_reach_them() {
        let count = if cfg!(debug_assertions) {
            50_000
        } else {
            1_000_000
        };
        let mut checked = 0;
        for backoff in every_combination(100 * MS, 10_000 * MS, 2.0, 0) {
            let tails = matches!(backoff.shape().jitter, Jitter::Lognormal(_));
            if !is_plain(backoff.shape()) || tails || matches!(backoff, Backoff::Memoryless(_)) {
                continue;
            }
            // Two random numbers are both extreme at once more rarely than one.
            let composed = !matches!(backoff.nominal(1), Nominal::Known(_));
            let near = if composed { 0.01 } else { 1e-4 } * (1e6 / count as f64).sqrt();
            let retries: &[u32] = if matches!(backoff, Backoff::Decorrelated(_)) {
                &[1]
            } else {
                &[1, 5]
            };
            for &n in retries {
                let (least, greatest) = backoff.bounds(u64::from(n));
                let (mut min, mut max) = (SimDuration::MAX, SimDuration::ZERO);
                for index in 0..count {
                    let mut draws = draws(Key::root(9, u64::from(n)), index);
                    let mut state = BackoffState {
                        retries: n - 1,
                        previous: SimDuration::ZERO,
                    };
                    let delay = backoff.next_delay(&mut state, &mut draws);
                    (min, max) = (min.min(delay), max.max(delay));
                }
                assert!(least <= min && max <= greatest, "{backoff:?}: {min} {max}");
                let slack = greatest.saturating_sub(least).scale(near) + SimDuration::from_nanos(1);
                let missed = min.saturating_sub(least).max(greatest.saturating_sub(max));
                assert!(
                    missed <= slack,
                    "{backoff:?}, retry {n}: {missed} from an end"
                );
                checked += 1;
            }
        }
        assert!(checked > 90, "{checked}");
    }

    fn is_plain(shape: &Shape) -> bool {
        shape.cap_order == CapOrder::BeforeJitter && shape.rounding == Rounding::None
    }

    #[test]
    fn saturated_delays_have_moments_too() {
        for jitter in crate::policy::testing::jitters(MS) {
            let backoff = Backoff::Exponential(Exponential {
                base: SimDuration::from_millis(100),
                factor: 2.0,
                cap: None,
                start: 0,
                shape: Shape {
                    jitter,
                    ..Shape::PLAIN
                },
            });
            for n in [33, 36, 38, 1_000, u32::MAX] {
                assert!(agree(&backoff, n, 20_000));
            }
        }
    }
}
