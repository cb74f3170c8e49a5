//! Latencies in constant memory.

use crate::time::SimDuration;
use hdrhistogram::Histogram;
use serde::Serialize;

/// Below this many nanoseconds latencies are not told apart.
const FINEST_NS: u64 = 1_000;
/// The longest latency that is told from longer ones, about 39 hours.
const LONGEST_NS: u64 = 1 << 47;

/// The quantiles of `latency.csv`: about evenly spread where the tail has as much room as the rest.
const QUANTILES: [f64; 22] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.98, 0.99, 0.995,
    0.998, 0.999, 0.9995, 0.9998, 0.9999,
];
/// With fewer latencies above it a quantile is a matter of chance.
const LEAST_ABOVE: f64 = 10.0;

/// A row of `latency.csv`: a quantile of the latencies of all successes of a strategy, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LatencyRow<'a> {
    /// The strategy's name.
    pub strategy: &'a str,
    /// The share of successes with no more than this latency, 0 to 1.
    pub quantile: f64,
    /// The latency, from the intended start of the request.
    pub latency_ms: f64,
}

/// The rows of `latency.csv` for a strategy. A quantile above which fewer than ten latencies lie is left out.
pub fn latency_rows<'a>(
    strategy: &'a str,
    latency: &'a Latency,
) -> impl Iterator<Item = LatencyRow<'a>> {
    let known = |q: &f64| (1.0 - q) * latency.count() as f64 >= LEAST_ABOVE - 1e-6;
    let row = move |q: f64| {
        Some(LatencyRow {
            strategy,
            quantile: q,
            latency_ms: latency.quantile_ms(q)?,
        })
    };
    QUANTILES.into_iter().filter(known).filter_map(row)
}

/// A histogram with a relative error below 0.1 %, exact count, sum and sum of squares.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum_ns: u128,
    sum_squares_ns2: u128,
    longest_ns: u64,
}

impl Default for Latency {
    fn default() -> Self {
        let histogram = Histogram::new_with_bounds(FINEST_NS, LONGEST_NS, 3)
            .expect("the bounds are constants in range");
        Self {
            histogram,
            sum_ns: 0,
            sum_squares_ns2: 0,
            longest_ns: 0,
        }
    }
}

impl Latency {
    /// Counts one latency.
    #[inline]
    pub fn record(&mut self, latency: SimDuration) {
        let ns = latency.as_nanos();
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.sum_squares_ns2 = self
            .sum_squares_ns2
            .saturating_add(u128::from(ns) * u128::from(ns));
        self.longest_ns = self.longest_ns.max(ns);
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        self.histogram
            .add(&other.histogram)
            .expect("both histograms have the same bounds");
        self.sum_ns += other.sum_ns;
        self.sum_squares_ns2 = self.sum_squares_ns2.saturating_add(other.sum_squares_ns2);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
    }

    /// How many were counted.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Their sum, exact, ns.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The mean in milliseconds, if any was counted.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64 / 1e6)
    }

    /// The standard deviation in milliseconds, if any was counted.
    pub fn sd_ms(&self) -> Option<f64> {
        let mean_ns = self.mean_ms()? * 1e6;
        let mean_square = self.sum_squares_ns2 as f64 / self.count() as f64;
        Some((mean_square - mean_ns * mean_ns).max(0.0).sqrt() / 1e6)
    }

    /// The latency in milliseconds below which a share `q` of all lie, if any was counted.
    pub fn quantile_ms(&self, q: f64) -> Option<f64> {
        let ns = self.histogram.value_at_quantile(q).min(self.longest_ns);
        (self.count() > 0).then_some(ns as f64 / 1e6)
    }

    /// The longest latency, exact; zero if none was counted.
    pub fn longest(&self) -> SimDuration {
        SimDuration::from_nanos(self.longest_ns)
    }

    /// The longest latency in milliseconds, exact, if any was counted.
    pub fn max_ms(&self) -> Option<f64> {
        (self.count() > 0).then_some(self.longest_ns as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_a_thousandth_and_the_mean_is_exact() {
        let mut latency = Latency::default();
        for ms in 1..=1000 {
            latency.record(SimDuration::from_millis(ms));
        }
        assert_eq!(latency.mean_ms(), Some(500.5));
        for (q, exact) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = latency.quantile_ms(q).unwrap();
            assert!((found / exact - 1.0).abs() < 1e-3, "{q}: {found}");
        }
        assert_eq!(latency.max_ms(), Some(1000.0));
    }

    #[test]
    fn a_quantile_with_too_little_above_it_has_no_row() {
        let mut latency = Latency::default();
        assert_eq!(latency_rows("a", &latency).count(), 0);
        for ms in 1..=1000 {
            latency.record(SimDuration::from_millis(ms));
        }
        let rows: Vec<_> = latency_rows("a", &latency).collect();
        let last = rows.last().unwrap();
        assert_eq!((last.strategy, last.quantile), ("a", 0.99));
        assert!((last.latency_ms - 990.0).abs() < 1.0);
        assert!(rows.is_sorted_by(|a, b| a.latency_ms < b.latency_ms));
    }

    #[test]
    fn nothing_counted_gives_no_number_and_huge_values_do_not_panic() {
        let mut latency = Latency::default();
        assert_eq!(latency.quantile_ms(0.5), None);
        latency.record(SimDuration::MAX);
        latency.record(SimDuration::ZERO);
        assert_eq!(latency.count(), 2);
    }
}
