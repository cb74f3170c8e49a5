//! `[compare]`: which differences between strategies matter.

use crate::decode::{Check, Reader};
use crate::record;
use crate::units::Ratio;

/// A tenth of a point.
const SUCCESS: f64 = 1e-3;
/// One percent of the baseline's figure.
const RELATIVE: f64 = 0.01;

fn ratio(value: f64) -> Ratio {
    Ratio::new(value).expect("the constants of this file are shares")
}

record! {
    /// `[compare]`: what strategies are compared with, and which differences matter.
    pub struct CompareSpec {
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The strategy that all others are compared with; the best one when left out.
        baseline: Option<String> = None,
        /// A smaller difference of success, in points, is no reason to change anything.
        success: Ratio = ratio(SUCCESS),
        /// A smaller difference of any other figure, as a share of the baseline's, likewise.
        relative: Ratio = ratio(RELATIVE),
    }
}

impl Check for CompareSpec {
    fn check(&self, _: &mut Reader) {}
}

impl Default for CompareSpec {
    fn default() -> Self {
        Self {
            baseline: None,
            success: ratio(SUCCESS),
            relative: ratio(RELATIVE),
        }
    }
}

impl CompareSpec {
    /// Whether nothing differs from the defaults.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
