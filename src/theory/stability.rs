//! How much load a service survives when its clients retry.
//!
//! A service that can do μ attempts per unit of time looks good for μ requests. But once its backlog exceeds
//! the clients' timeout, everything times out and each request is tried k times: the offered rate is kλ, and
//! when that exceeds μ, the backlog never drains, although the trigger is long gone. So the capacity that can
//! be relied upon, the *hidden* capacity, is μ/k; between μ/k and μ the service is vulnerable. Source: Bronson,
//! Aghayev, Charapko and Zhu (2021), "Metastable failures in distributed systems", HotOS; the arithmetic is
//! elementary.

use super::retries::mean_attempts;

/// The most layers of retries.
const MOST_LAYERS: u32 = 64;

/// How requests are retried on their way to the service.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Amplifier {
    attempts: u64,
    /// Attempts per request that the budget leaves at most, in the long run.
    allowed: f64,
    layers: u32,
}

impl Amplifier {
    /// Up to k ≥ 1 `attempts`, the first included, in each of 1 to 64 `layers`, one calling the next. A `budget`
    /// r ≥ 0 allows r retries per first attempt in each layer; `None` allows all. `None` for other arguments.
    pub fn new(attempts: u64, budget: Option<f64>, layers: u32) -> Option<Self> {
        let sound = attempts >= 1 && (1..=MOST_LAYERS).contains(&layers);
        (sound && budget.is_none_or(|ratio| ratio >= 0.0)).then(|| Self {
            attempts,
            allowed: 1.0 + budget.unwrap_or(f64::INFINITY),
            layers,
        })
    }

    /// Attempts at the service per request when each attempt fails independently with probability `p`: every
    /// layer multiplies by min((1 − f^k) / (1 − f), 1 + r), f being the failures of the layer below, and leaves
    /// 1 − f times that many successes.
    pub fn healthy(&self, p: f64) -> f64 {
        let (mut amplification, mut failing) = (1.0, p);
        for _ in 0..self.layers {
            let calls = mean_attempts(failing, self.attempts).min(self.allowed);
            amplification *= calls;
            failing = (1.0 - calls * (1.0 - failing)).max(0.0);
        }
        amplification
    }

    /// Attempts at the service per request when all attempts fail: min(k, 1 + r) to the power of the layers.
    pub fn collapsed(&self) -> f64 {
        self.healthy(1.0)
    }

    /// The greatest rate of requests that drains any backlog, for a service that can do `capacity` attempts.
    pub fn hidden_capacity(&self, capacity: f64) -> f64 {
        capacity / self.collapsed()
    }

    /// The greatest rate of requests that the healthy service can do, with failures of probability `p` in the
    /// background.
    pub fn advertised_capacity(&self, capacity: f64, p: f64) -> f64 {
        capacity / self.healthy(p)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_threshold_is_reproduced() {
        let mut seen = 0;
        for row in rows("04_thresholds.csv") {
            let given = |key| number(&row, key).unwrap();
            let attempts = row["attempts_k"].parse().unwrap();
            let layers = row["layers"].parse().unwrap_or(1);
            let retries = Amplifier::new(attempts, number(&row, "budget_ratio"), layers).unwrap();
            let (capacity, p) = (given("capacity_mu_per_s"), given("background_failure_p"));
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            let advertised = retries.advertised_capacity(capacity, p);
            expect("advertised_capacity_per_s", advertised);
            expect("hidden_capacity_per_s", retries.hidden_capacity(capacity));
            expect("healthy_amplification", retries.healthy(p));
            expect("collapsed_amplification", retries.collapsed());
            seen += 1;
        }
        assert_eq!(seen, 56);
    }

    #[test]
    fn layers_multiply_in_trouble_and_telescope_in_health() {
        let three = Amplifier::new(3, None, 3).unwrap();
        assert_eq!((three.healthy(0.0), three.collapsed()), (1.0, 27.0));
        for p in [0.01, 0.4, 0.9, 0.999] {
            let expected = mean_attempts(p, 27);
            assert!((three.healthy(p) / expected - 1.0).abs() < 1e-9);
        }
        let frugal = Amplifier::new(4, Some(0.1), 2).unwrap();
        assert!((frugal.collapsed() - 1.21).abs() < 1e-12);
        // Attempts fail with 0.08: 1.087 calls are within the budget, and the upper layer sees failures of 0.08^4.
        let calls = mean_attempts(0.08, 4) * mean_attempts(0.08f64.powi(4), 4);
        assert!((frugal.healthy(0.08) - calls).abs() < 1e-12);
        // With 0.1 the budget stops at 1.1 calls, and the upper layer sees failures of 1 − 1.1 · 0.9 = 0.01.
        let calls = 1.1 * mean_attempts(0.01, 4);
        assert!((frugal.healthy(0.1) - calls).abs() < 1e-12);
        let unlimited = Amplifier::new(u64::MAX, None, 64).unwrap();
        assert_eq!(unlimited.hidden_capacity(1.0), 0.0);
        for refused in [
            Amplifier::new(0, None, 1),
            Amplifier::new(3, Some(-0.1), 1),
            Amplifier::new(3, Some(f64::NAN), 1),
            Amplifier::new(3, None, 0),
            Amplifier::new(3, None, 65),
        ] {
            assert_eq!(refused, None);
        }
    }
}
