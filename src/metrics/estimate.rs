//! A mean over replications and how far it can be trusted.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of every interval.
pub const CONFIDENCE: f64 = 0.95;

/// A mean with its interval. Without a second replication there is no interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Default)]
pub struct Estimate {
    /// The mean over replications.
    pub mean: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// Standard error of the mean.
    pub standard_error: Option<f64>,
}

/// Standard errors to either side of a mean that hold a share `confidence` of Student's t, for so many degrees of
/// freedom (one at least).
pub fn students_t(freedom: f64, confidence: f64) -> f64 {
    let t = StudentsT::new(0.0, 1.0, freedom).expect("at least one degree of freedom");
    t.inverse_cdf(0.5 + confidence / 2.0)
}

impl Estimate {
    /// [`Self::with_confidence`] of 95 %.
    pub fn from_replications(values: &[f64]) -> Option<Self> {
        Self::with_confidence(values, CONFIDENCE)
    }

    /// Student's t interval over independent replications, `confidence` strictly between 0 and 1. Requests of one run are correlated, so the
    /// replication is the unit that counts. `None` without any value.
    pub fn with_confidence(values: &[f64], confidence: f64) -> Option<Self> {
        let n = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n;
        if values.len() == 1 {
            return Some(Self {
                mean,
                ..Self::default()
            });
        }
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let standard_error = (variance / n).sqrt();
        let half = students_t(n - 1.0, confidence) * standard_error;
        Some(Self {
            mean,
            low: Some(mean - half),
            high: Some(mean + half),
            standard_error: Some(standard_error),
        })
    }

    /// How far the mean of `first` is above that of `second`, two independent sets of replications: Student's t with the
    /// degrees of freedom of Welch and Satterthwaite, so that neither scatter nor number have to be the same. `None` when
    /// one of them is empty; without an interval when one of them has a single value.
    ///
    /// Source: B. L. Welch, "The generalization of 'Student's' problem when several different population variances are
    /// involved", Biometrika 34 (1947).
    pub fn of_difference(first: &[f64], second: &[f64]) -> Option<Self> {
        let (a, b) = (
            Self::from_replications(first)?,
            Self::from_replications(second)?,
        );
        let mean = a.mean - b.mean;
        let Some((error_a, error_b)) = a.standard_error.zip(b.standard_error) else {
            return Some(Self {
                mean,
                ..Self::default()
            });
        };
        let (a, b) = (error_a * error_a, error_b * error_b);
        let standard_error = (a + b).sqrt();
        let half = if standard_error > 0.0 {
            // As shares of their sum, so that nothing overflows.
            let (a, b) = (a / (a + b), b / (a + b));
            let (n, m) = (first.len() as f64, second.len() as f64);
            let freedom = 1.0 / (a * a / (n - 1.0) + b * b / (m - 1.0));
            students_t(freedom, CONFIDENCE) * standard_error
        } else {
            0.0
        };
        Some(Self {
            mean,
            low: Some(mean - half),
            high: Some(mean + half),
            standard_error: Some(standard_error),
        })
    }

    /// A figure that is known exactly.
    pub fn exact(value: f64) -> Self {
        Self {
            mean: value,
            low: Some(value),
            high: Some(value),
            standard_error: Some(0.0),
        }
    }

    /// The same with the interval cut to shares between 0 and 1.
    #[must_use]
    pub fn clamped_to_share(mut self) -> Self {
        self.low = self.low.map(|low| low.clamp(0.0, 1.0));
        self.high = self.high.map(|high| high.clamp(0.0, 1.0));
        self
    }

    /// The same of a value `factor` times as large.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |value: Option<f64>| value.map(|value| value * factor);
        Self {
            mean: self.mean * factor,
            low: times(self.low),
            high: times(self.high),
            standard_error: times(self.standard_error),
        }
    }

    /// The same of a figure that is never negative.
    #[must_use]
    pub fn not_below_zero(mut self) -> Self {
        self.low = self.low.map(|low| low.max(0.0));
        self
    }

    /// Half the width of the interval, if there is one.
    pub fn half_width(&self) -> Option<f64> {
        Some((self.high? - self.low?) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_is_students() {
        // t(0.975, 4) = 2.776445; mean 3, sd 1.581139.
        let estimate = Estimate::from_replications(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        let half = 2.776_445 * (2.5f64 / 5.0).sqrt();
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.half_width().unwrap() - half).abs() < 1e-5);
    }

    #[test]
    fn the_interval_of_a_difference_is_welchs() {
        // Means 3 and 6, squared standard errors 1/2 and 4/3, so the degrees of freedom are
        // (1/2 + 4/3)² / ((1/2)²/4 + (4/3)²/2) = 3.53285.
        let first = [1.0, 2.0, 3.0, 4.0, 5.0];
        let second = [4.0, 6.0, 8.0];
        let difference = Estimate::of_difference(&second, &first).unwrap();
        assert!((difference.mean - 3.0).abs() < 1e-12);
        let error = (0.5f64 + 4.0 / 3.0).sqrt();
        assert!((difference.standard_error.unwrap() - error).abs() < 1e-12);
        let t = difference.half_width().unwrap() / error;
        let (three, four) = (students_t(3.0, 0.95), students_t(4.0, 0.95));
        assert!(t > four && t < three, "{t}");
        assert!((t - students_t(3.532_846, 0.95)).abs() < 1e-5, "{t}");
    }

    #[test]
    fn a_difference_without_scatter_is_sure_and_one_of_single_runs_is_not() {
        let sure = Estimate::of_difference(&[1.0, 1.0], &[0.5, 0.5]).unwrap();
        assert_eq!((sure.mean, sure.half_width()), (0.5, Some(0.0)));
        let single = Estimate::of_difference(&[1.0], &[0.5, 0.6]).unwrap();
        assert_eq!(single.half_width(), None);
        assert_eq!(Estimate::of_difference(&[], &[1.0]), None);
    }

    #[test]
    fn one_replication_has_no_interval() {
        let estimate = Estimate::from_replications(&[0.5]).unwrap();
        assert_eq!((estimate.mean, estimate.low), (0.5, None));
        assert_eq!(Estimate::from_replications(&[]), None);
    }
}
