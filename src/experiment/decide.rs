//! How sure each look at a check has to be, and how many replications would decide it.
//!
//! Whoever looks at an interval again and again, and stops when it suits, is wrong more often than the interval
//! says. So look i of many has only 1/2ⁱ of the error that the check allows: all of them together keep within it
//! (the union bound), however many there are and whatever made them stop.

use crate::metrics::{Estimate, students_t, trials_to_tell};
use crate::scenario::Relation;

/// A little more than the estimate, so that one more step is usually the last.
const MARGIN: f64 = 1.1;

/// The confidence of the interval at a look, from 1; `None` is the only one there will be.
pub(super) fn confidence_at(confidence: f64, look: Option<u32>) -> f64 {
    look.map_or(confidence, |look| {
        1.0 - (1.0 - confidence) * 0.5f64.powf(f64::from(look))
    })
}

/// Whether a figure in this interval stands as wanted to `bound`; `None` when the interval does not tell.
pub(super) fn stands(relation: Relation, bound: f64, (low, high): (f64, f64)) -> Option<bool> {
    let (worst, best) = match relation.wants_more() {
        true => (low, high),
        false => (high, low),
    };
    if relation.holds(worst, bound) {
        Some(true)
    } else if relation.holds(best, bound) {
        None
    } else {
        Some(false)
    }
}

/// An undecided figure, and where its interval comes from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    /// The figure.
    pub(super) estimate: Estimate,
    /// Replications so far.
    pub(super) replications: usize,
    /// Where the figure is a share of trials that Wilson's interval is of: trials in a replication, and the figure
    /// when all of them succeed.
    pub(super) trials: Option<(f64, f64)>,
}

impl Open {
    /// Replications that would decide whether the figure stands above or below `bound`, if it stays what it is.
    /// `None` when no number would, or when nothing is known.
    pub(super) fn replications_to_tell(&self, bound: f64, confidence: f64) -> Option<u64> {
        let n = self.replications as f64;
        let mean = self.estimate.mean;
        let needed = match self.trials {
            Some((each, whole)) => trials_to_tell(mean / whole, bound / whole, confidence)? / each,
            None => {
                let half = students_t(n - 1.0, confidence) * self.estimate.standard_error?;
                n * (half / (mean - bound)).powi(2) * MARGIN
            }
        };
        // It was undecided with those that ran.
        let needed = needed.ceil().max(n + 1.0);
        needed.is_finite().then_some(needed as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::wilson;

    #[test]
    fn all_looks_together_keep_the_error() {
        assert_eq!(confidence_at(0.95, None), 0.95);
        let errors: f64 = (1..40).map(|i| 1.0 - confidence_at(0.95, Some(i))).sum();
        assert!((errors - 0.05).abs() < 1e-9, "{errors}");
        assert!((confidence_at(0.95, Some(1)) - 0.975).abs() < 1e-12);
    }

    #[test]
    fn a_bound_that_is_touched_is_right_where_the_relation_says_so() {
        use Relation::{Above, AtLeast, AtMost, Below};
        for (relation, touching, above, below) in [
            (AtLeast, Some(true), Some(true), Some(false)),
            (Above, Some(false), Some(true), Some(false)),
            (AtMost, Some(true), Some(false), Some(true)),
            (Below, Some(false), Some(false), Some(true)),
        ] {
            assert_eq!(stands(relation, 1.0, (1.0, 1.0)), touching, "{relation:?}");
            assert_eq!(stands(relation, 1.0, (1.1, 1.2)), above, "{relation:?}");
            assert_eq!(stands(relation, 1.0, (0.8, 0.9)), below, "{relation:?}");
            assert_eq!(stands(relation, 1.0, (0.9, 1.1)), None, "{relation:?}");
        }
        assert_eq!(stands(AtLeast, 1.0, (1.0, 2.0)), Some(true));
        assert_eq!(stands(Above, 1.0, (1.0, 2.0)), None);
        assert_eq!(stands(AtMost, 1.0, (1.0, 2.0)), None);
        assert_eq!(stands(Below, 1.0, (1.0, 2.0)), Some(false));
    }

    #[test]
    fn half_the_distance_takes_four_times_as_many() {
        let open = Open {
            estimate: Estimate::from_replications(&[0.4, 0.6, 0.4, 0.6]).unwrap(),
            replications: 4,
            trials: None,
        };
        let half = open.estimate.half_width().unwrap();
        let needed = |share: f64| open.replications_to_tell(0.5 + half * share, 0.95);
        assert_eq!(needed(0.5), Some(18), "16 and a margin");
        assert_eq!(needed(-0.25), Some(71), "64 and a margin");
        assert_eq!(needed(0.0), None, "no number tells equals apart");
    }

    #[test]
    fn a_share_of_replications_takes_what_wilson_says() {
        let (low, high) = wilson(2, 20, 0.95);
        let estimate = Estimate {
            mean: 0.1,
            low: Some(low),
            high: Some(high),
            standard_error: None,
        };
        let open = Open {
            estimate,
            replications: 20,
            trials: Some((1.0, 1.0)),
        };
        let needed = open.replications_to_tell(0.2, 0.95).unwrap();
        let decided = |n: u64| wilson(n / 10, n, 0.95).1 < 0.2;
        assert!(decided(needed.div_ceil(10) * 10) && !decided(needed / 10 * 10));
        // The same as a count of 20, and with ten trials in each replication.
        let count = Open {
            estimate: estimate.times(20.0),
            trials: Some((1.0, 20.0)),
            ..open
        };
        assert_eq!(count.replications_to_tell(4.0, 0.95), Some(needed));
        let many = Open {
            replications: 2,
            trials: Some((10.0, 1.0)),
            ..open
        };
        assert_eq!(
            many.replications_to_tell(0.2, 0.95),
            Some(needed.div_ceil(10))
        );
    }
}
