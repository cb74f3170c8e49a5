//! Settings that every circuit breaker shares.

use super::half_open::{HalfOpen, Probes};
use crate::decode::{Check, Reader};
use crate::policy::arithmetic::check_least;
use crate::policy::retry_on::RetryOn;
use crate::policy::scope::Scope;
use crate::time::SimDuration;
use crate::{choice, record};

choice! {
    /// What a breaker stands around.
    #[derive(Copy)]
    pub enum Around as "place of the breaker" {
        /// Each attempt: the breaker is inside the retry loop and counts every attempt.
        Attempt = "attempt", r#""attempt""#;
        /// Each call: the breaker is outside the retry loop and counts a call once, with all its attempts.
        Call = "call", r#""call""#;
    }
}

record! {
    /// Settings that every circuit breaker shares.
    pub struct BreakerCommon {
        /// Who shares the breaker.
        scope: Scope = Scope::Client,
        /// What the breaker stands around, and so what it counts.
        around: Around = Around::Attempt,
        /// Outcomes that count as failures; those worth a retry when left out.
        counts: Option<RetryOn> = None,
        /// How long the breaker stays open after it has opened from closed.
        open_for: SimDuration,
        /// How many times longer it stays open after each failure to close, 1 or more.
        open_factor: f64 = 1.0,
        /// The longest it ever stays open at a time; no bound when left out.
        open_longest: Option<SimDuration> = None,
        /// What may pass once it has been open long enough.
        half_open: HalfOpen = HalfOpen::default(),
        /// How long it takes to let everything pass again after it has closed: until then the share that
        /// passes grows evenly from nothing. At once when left out.
        ramp: Option<SimDuration> = None,
    }
}

impl BreakerCommon {
    /// What the breaker does when only the length of its opening is given.
    pub fn new(open_for: SimDuration) -> Self {
        Self {
            scope: Scope::Client,
            around: Around::Attempt,
            counts: None,
            open_for,
            open_factor: 1.0,
            open_longest: None,
            half_open: HalfOpen::default(),
            ramp: None,
        }
    }

    /// How to deal with probes; `None` when there are none.
    #[inline]
    pub(super) fn probes(&self) -> Option<&Probes> {
        match &self.half_open {
            HalfOpen::Probes(probes) => Some(probes),
            HalfOpen::Everybody => None,
        }
    }

    /// How long it stays open after it was open for `last` and could not close.
    pub(super) fn longer(&self, last: SimDuration) -> SimDuration {
        // A factor of 1 must not round.
        let longer = if self.open_factor > 1.0 {
            last.scale(self.open_factor)
        } else {
            last
        };
        longer.min(self.open_longest.unwrap_or(SimDuration::MAX))
    }
}

impl Check for BreakerCommon {
    fn check(&self, reader: &mut Reader) {
        check_least("open_factor", self.open_factor, 1.0, reader);
        if self.open_longest.is_some_and(|most| most < self.open_for) {
            reader.error_at(
                &["open_longest", "open_for"],
                "the breaker cannot be open for `open_for`",
                "raise `open_longest`, or lower `open_for`",
            );
        }
        if self.ramp == Some(SimDuration::ZERO) {
            let remedy = "leave it out to let everything pass at once";
            reader.error_at(&["ramp"], "a ramp needs some time", remedy);
        }
        if self.counts.is_some() && self.around == Around::Call {
            let reason = "`counts` has no effect: around a call, a failed call is a failure";
            reader.warn_at(&["counts", "around"], reason, "remove one of the two");
        }
        if (self.counts.as_ref()).is_some_and(|counts| *counts == RetryOn::nothing()) {
            let reason = "nothing counts as a failure";
            let remedy = "name what counts, or leave `counts` out to count what is retried";
            reader.warn_at(&["counts"], reason, remedy);
        }
        self.check_effects(reader);
    }
}

impl BreakerCommon {
    /// Warns of settings that change nothing.
    fn check_effects(&self, reader: &mut Reader) {
        if self.probes().is_none() && self.open_factor > 1.0 {
            reader.warn_at(
                &["open_factor", "half_open"],
                "`open_factor` has no effect: without probes the breaker never fails to close",
                "remove it, or use probes",
            );
        } else if self.open_longest.is_some() && self.open_factor == 1.0 {
            reader.warn_at(
                &["open_longest", "open_factor"],
                "`open_longest` has no effect: every opening lasts `open_for`",
                "remove it, or set `open_factor` above 1",
            );
        }
        if self.open_for == SimDuration::ZERO && self.probes().is_none() && self.ramp.is_none() {
            let remedy = "give a time above 0s";
            reader.warn_at(
                &["open_for"],
                "the breaker is never open: it closes at once",
                remedy,
            );
        }
        if self.scope == Scope::Call && self.around == Around::Call {
            reader.warn_at(
                &["scope", "around"],
                "the breaker has no effect: every call has a new one and asks it once",
                "choose another `scope`, or set `around` to \"attempt\"",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document, Severity};

    /// Errors and warnings in these settings.
    fn problems(text: &str) -> (usize, usize) {
        let document = Document::parse("a.toml", text).expect("valid TOML");
        let mut reader = Reader::new();
        BreakerCommon::decode(&document.root, &mut reader);
        let problems = reader.into_problems();
        let errors = problems
            .iter()
            .filter(|problem| problem.severity == Severity::Error)
            .count();
        (errors, problems.len() - errors)
    }

    #[test]
    fn only_the_length_of_the_opening_must_be_given() {
        let document = Document::parse("a.toml", "open_for = \"5s\"").unwrap();
        let read = BreakerCommon::decode(&document.root, &mut Reader::new());
        assert_eq!(read, Some(BreakerCommon::new(SimDuration::from_secs(5))));
        assert_eq!(problems("open_for = \"5s\""), (0, 0));
        assert_eq!(problems(""), (1, 0));
    }

    #[test]
    fn settings_without_sense_are_reported() {
        for (more, expected) in [
            ("open_factor = 0.5", (1, 0)),
            ("open_factor = inf", (1, 0)),
            ("open_factor = nan", (1, 0)),
            ("open_factor = 2\nopen_longest = \"4s\"", (1, 0)),
            ("open_factor = 2\nopen_longest = \"5s\"", (0, 0)),
            ("open_longest = \"9s\"", (0, 1)),
            ("ramp = \"0s\"", (1, 0)),
            ("half_open = \"everybody\"\nopen_factor = 2", (0, 1)),
            ("scope = \"call\"\naround = \"call\"", (0, 1)),
            ("scope = \"call\"", (0, 0)),
            ("counts = [503, \"timeout\"]", (0, 0)),
            ("counts = [503]\naround = \"call\"", (0, 1)),
        ] {
            let text = format!("open_for = \"5s\"\n{more}");
            assert_eq!(problems(&text), expected, "{more}");
        }
        assert_eq!(
            problems("open_for = \"0s\"\nhalf_open = \"everybody\""),
            (0, 1)
        );
    }

    #[test]
    fn openings_grow_by_the_factor_up_to_the_longest() {
        let mut common = BreakerCommon::new(SimDuration::from_nanos(u64::MAX - 1));
        assert_eq!(
            common.longer(common.open_for),
            common.open_for,
            "nothing is rounded"
        );
        common.open_factor = f64::MAX;
        assert_eq!(common.longer(common.open_for), SimDuration::MAX);
        assert_eq!(common.longer(SimDuration::ZERO), SimDuration::ZERO);
        common.open_factor = 2.0;
        common.open_longest = Some(SimDuration::from_secs(7));
        let second = common.longer(SimDuration::from_secs(3));
        assert_eq!(second, SimDuration::from_secs(6));
        assert_eq!(common.longer(second), SimDuration::from_secs(7));
    }
}
