//! Longer waits while the target looks ill.
//!
//! Backoff grows with the failures of one request, and every new request starts anew with the shortest wait, however
//! long the target has been down. The failures of all recent attempts know better: while their share is high, every
//! wait is multiplied by a factor, so that new requests too are patient. It falls back to one as the failures grow
//! old, or as successes outnumber them.

use super::scope::Scope;
use super::window::{Span, Window};
use crate::decode::{Check, Reader};
use crate::record;
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;

record! {
    /// Waits before retries grow by a factor while the share of failed attempts is high.
    pub struct TargetHealth {
        /// Time over which attempts are counted.
        window: SimDuration = SimDuration::from_secs(600),
        /// A greater share of failures than this makes the target ill.
        above: Ratio = Ratio::new(0.5).expect("lies between 0 and 1"),
        /// Attempts in the window without which the target counts as healthy.
        min_attempts: u32 = 10,
        /// What waits are multiplied by while the target is ill, at least 1.
        factor: f64 = 5.0,
        /// Whose attempts are counted together.
        scope: Scope = Scope::Client,
    }
}

impl Check for TargetHealth {
    fn check(&self, reader: &mut Reader) {
        if self.window == SimDuration::ZERO {
            let remedy = "give a length, like \"10m\"";
            reader.error_at(&["window"], "a window of no time counts nothing", remedy);
        }
        if self.factor < 1.0 {
            let reason = format!(
                "`factor` = {} shortens waits while the target is ill",
                self.factor
            );
            reader.error_at(&["factor"], reason, "give more than 1, like 5");
        } else if self.factor == 1.0 {
            let remedy = "give more than 1, like 5";
            reader.warn_at(&["factor"], "a factor of 1 changes no wait", remedy);
        }
        if self.above == Ratio::ONE {
            let reason = "no share of failures is above 100 %, so the target is always healthy";
            reader.warn_at(&["above"], reason, "lower `above`, like \"50%\"");
        }
    }
}

/// What is remembered of a target: attempts and failures among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health(Box<Window<2>>);

impl TargetHealth {
    /// The state before the first attempt.
    pub fn fresh(&self) -> Health {
        Health::default()
    }

    /// An attempt has ended.
    #[inline]
    pub fn note(&self, state: &mut Health, now: SimTime, failed: bool) {
        let span = Span::sliding(self.window);
        state.0.add(span, now, [1, u32::from(failed)]);
    }

    /// What a wait that begins now is multiplied by; 1 while the target is healthy.
    #[inline]
    pub fn factor(&self, state: &mut Health, now: SimTime) -> f64 {
        let [attempts, failures] = state.0.sums(Span::sliding(self.window), now);
        let enough = attempts >= u64::from(self.min_attempts);
        if enough && failures as f64 > self.above.get() * attempts as f64 {
            self.factor
        } else {
            1.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document};

    const RULE: TargetHealth = TargetHealth {
        window: SimDuration::from_secs(600),
        above: Ratio::ZERO,
        min_attempts: 10,
        factor: 5.0,
        scope: Scope::Client,
    };

    fn rule() -> TargetHealth {
        TargetHealth {
            above: Ratio::new(0.5).unwrap(),
            ..RULE
        }
    }

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs(secs)
    }

    fn after(rule: &TargetHealth, failures: u32, successes: u32) -> Health {
        let mut state = rule.fresh();
        (0..failures).for_each(|_| rule.note(&mut state, at(0), true));
        (0..successes).for_each(|_| rule.note(&mut state, at(0), false));
        state
    }

    #[test]
    fn waits_grow_only_above_the_share_and_with_enough_attempts() {
        let rule = rule();
        for (failures, successes, factor) in [
            (0, 0, 1.0),
            (9, 0, 1.0),
            (10, 0, 5.0),
            (5, 5, 1.0),
            (6, 5, 5.0),
            (500_001, 500_000, 5.0),
        ] {
            let mut state = after(&rule, failures, successes);
            assert_eq!(rule.factor(&mut state, at(0)), factor, "{failures}");
        }
    }

    #[test]
    fn failures_are_forgotten_when_they_are_as_old_as_the_window() {
        let rule = rule();
        let mut state = after(&rule, 10, 0);
        assert_eq!(rule.factor(&mut state, at(599)), 5.0);
        assert_eq!(rule.factor(&mut state, at(600)), 1.0);
    }

    #[test]
    fn without_attempts_the_target_is_healthy_whatever_the_settings() {
        let rule = TargetHealth {
            min_attempts: 0,
            ..RULE
        };
        assert_eq!(rule.factor(&mut rule.fresh(), at(0)), 1.0);
        assert_eq!(rule.factor(&mut after(&rule, 1, 99), at(0)), 5.0);
    }

    #[test]
    fn settings_that_make_no_sense_are_reported() {
        for (text, problems) in [
            ("", 0),
            ("above = \"0%\"\nmin_attempts = 0", 0),
            ("factor = 1", 1),
            ("factor = 0.5\nwindow = \"0s\"\nabove = \"100%\"", 3),
        ] {
            let document = Document::parse("a.toml", text).unwrap();
            let mut reader = Reader::new();
            let read = TargetHealth::decode(&document.root, &mut reader).unwrap();
            assert_eq!(reader.into_problems().len(), problems, "{text}");
            assert!(!text.is_empty() || read == rule());
        }
    }

    #[test]
    fn a_state_is_small() {
        assert_eq!(size_of::<Health>(), 8);
    }
}
