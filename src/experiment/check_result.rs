//! What came of a check, ready to be told.
//!
//! A bare "failed" sends its reader back to the simulator. So all that explains a decision is kept with it: the figure, its
//! interval, how far off it is, and what would decide it.

use crate::metrics::Estimate;
use crate::scenario::{MetricName, Relation};

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// The whole interval is on the right side of the value.
    Holds,
    /// The whole interval is on the wrong side, or there is no figure.
    DoesNotHold,
    /// The value lies in the interval, or there is none.
    Undecided,
    /// The strategy was not run.
    NotChecked,
}

impl CheckOutcome {
    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::DoesNotHold => "does_not_hold",
            Self::Undecided => "undecided",
            Self::NotChecked => "not_checked",
        }
    }
}

/// A check of one strategy.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckResult {
    /// Its place in the scenario, from 1.
    pub number: usize,
    /// The check as written, like `success_rate >= 99.9%`.
    pub words: String,
    /// The figure.
    pub metric: MetricName,
    /// How it has to stand to the bound.
    pub relation: Relation,
    /// The value, in the unit of the figure.
    pub bound: f64,
    /// The strategy's name.
    pub strategy: String,
    /// What came of it.
    pub outcome: CheckOutcome,
    /// The figure with the interval that decided; a count is of as many replications as the scenario asks for.
    pub estimate: Option<Estimate>,
    /// How far the figure is on the wrong side of the bound; negative on the right side.
    pub misses_by: Option<f64>,
    /// The confidence that the check asks for.
    pub confidence: f64,
    /// The confidence of the interval, which is higher when there were several looks.
    pub interval_confidence: f64,
    /// Replications that ran.
    pub replications: u32,
    /// Replications that would decide it, if it is undecided and some number would.
    pub replications_to_decide: Option<u64>,
    /// What else there is to say.
    pub note: String,
}

impl CheckResult {
    /// Whether it breaks a build.
    pub fn fails(&self, allow_undecided: bool) -> bool {
        match self.outcome {
            CheckOutcome::DoesNotHold => true,
            CheckOutcome::Undecided => !allow_undecided,
            CheckOutcome::Holds | CheckOutcome::NotChecked => false,
        }
    }
}
