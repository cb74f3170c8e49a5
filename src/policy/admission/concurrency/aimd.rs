//! Additive increase, multiplicative decrease: one more while it goes well, a tenth less when it does not.
//!
//! Source: `AIMDLimit` of Netflix concurrency-limits.

use super::bounds::check_bounds;
use super::sample::Sample;
use crate::decode::{Check, Reader};
use crate::record;
use crate::time::SimDuration;
use crate::units::Ratio;

record! {
    /// A limit that grows by one with each success near it and shrinks by a share with each drop.
    #[derive(Copy)]
    pub struct Aimd {
        /// The limit at first, in attempts.
        initial: u32 = 20,
        /// The lowest limit, in attempts.
        min: u32 = 20,
        /// The highest limit, in attempts.
        max: u32 = 200,
        /// What is left of the limit after a drop, as a share.
        backoff_ratio: Ratio = Ratio::new(0.9).expect("lies between 0 and 1"),
        /// An attempt that took longer than this counts as dropped.
        timeout: SimDuration = SimDuration::from_secs(5),
    }
}

impl Check for Aimd {
    fn check(&self, reader: &mut Reader) {
        check_bounds(self.initial, self.min, self.max, reader);
        if self.backoff_ratio == Ratio::ONE {
            let reason = "the limit never shrinks";
            reader.warn_at(&["backoff_ratio"], reason, "set it below 1, like 0.9");
        }
        if self.timeout == SimDuration::ZERO {
            let reason = "every attempt counts as dropped";
            reader.error_at(&["timeout"], reason, "give a time, like \"5s\"");
        }
    }
}

/// What the rule remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimdState {
    /// The limit, a whole number.
    pub(super) limit: f64,
}

impl Aimd {
    pub(super) fn fresh(&self) -> AimdState {
        AimdState {
            limit: f64::from(self.initial),
        }
    }

    pub(super) fn note(&self, state: &mut AimdState, sample: &Sample) {
        let limit = if sample.dropped || sample.rtt > self.timeout {
            (state.limit * self.backoff_ratio.get()).floor()
        } else if 2.0 * f64::from(sample.in_flight) >= state.limit {
            state.limit + 1.0
        } else {
            return;
        };
        state.limit = limit.min(f64::from(self.max)).max(f64::from(self.min));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::admission::testing::{form, ms};

    fn after(rule: &Aimd, limit: f64, rtt: u64, in_flight: u32, dropped: bool) -> f64 {
        let mut state = AimdState { limit };
        let sample = Sample {
            rtt: ms(rtt),
            in_flight,
            dropped,
            luck: 0.5,
        };
        rule.note(&mut state, &sample);
        state.limit
    }

    #[test]
    fn one_more_near_the_limit_a_tenth_less_after_a_drop() {
        let rule: Aimd = form("{}");
        assert_eq!(rule.fresh().limit, 20.0);
        assert_eq!(after(&rule, 20.0, 10, 10, false), 21.0);
        assert_eq!(after(&rule, 20.0, 10, 9, false), 20.0, "too little inside");
        assert_eq!(after(&rule, 200.0, 10, 200, false), 200.0);
        assert_eq!(after(&rule, 25.0, 10, 1, true), 22.0, "22.5 is cut");
        assert_eq!(after(&rule, 100.0, 5_000, 1, false), 100.0);
        assert_eq!(after(&rule, 100.0, 5_001, 1, false), 90.0, "too slow");
        assert_eq!(after(&rule, 21.0, 10, 1, true), 20.0, "not below the least");
    }
}
