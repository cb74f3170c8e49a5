//! A breaker for retries only: no retries while too much fails.
//!
//! Retries help against hiccups and hurt in an outage, and the share of failures tells the two apart. Requests go on
//! untouched. Retries that fail count as failures too, so once stopped they stay stopped until requests alone
//! have brought the share down.

use super::Charge;
use super::common::Common;
use super::counts::Counts;
use super::form::Form;
use super::parts;
use crate::decode::{Check, Reader};
use crate::policy::kind::{Kind, Seen};
use crate::policy::tokens::Tokens;
use crate::record;
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;

record! {
    /// Retries while failed attempts are at most a share of the requests.
    pub struct FailureShare {
        /// No retry is made while failed attempts, retries included, are more than this share of the requests.
        above: Ratio,
        /// How long requests and failures count; since the beginning when left out.
        window: Option<SimDuration> = None;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for FailureShare {
    fn check(&self, reader: &mut Reader) {
        if self.window == Some(SimDuration::ZERO) {
            let remedy = "give a time above 0, or leave `window` out";
            reader.error_at(
                &["window"],
                "a window of no length remembers nothing",
                remedy,
            );
        }
        if self.above == Ratio::ZERO {
            let reason = "no retry is ever made: the failure before it is more than nothing";
            reader.warn_at(&["above"], reason, "give a share above 0");
        }
    }
}

/// Requests and failed attempts.
type Heard = Counts<2>;

impl Form for FailureShare {
    type State = Heard;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Heard {
        Heard::fresh(self.window)
    }

    #[inline]
    fn began(&self, heard: &mut Heard, now: SimTime) {
        heard.add(self.window, now, [1, 0]);
    }

    #[inline]
    fn note(&self, heard: &mut Heard, seen: &Seen) {
        if seen.kind != Kind::Ok {
            heard.add(self.window, seen.now, [0, 1]);
        }
    }

    #[inline]
    fn ask(&self, heard: &mut Heard, now: SimTime, _kind: Kind) -> Option<Charge> {
        let [requests, failures] = heard.sums(self.window, now);
        let quiet = parts::whole(failures) <= parts::share(self.above, requests);
        quiet.then_some(Charge(Tokens::ONE))
    }

    fn sustained(&self) -> Option<f64> {
        (self.above.get() < 1.0).then_some(0.0)
    }

    /// How far the failures are from their share: 1 without any, 0 when they have reached it.
    fn level(&self, heard: &Heard, now: SimTime) -> f64 {
        let [requests, failures] = heard.seen(self.window, now);
        let allowed = parts::share(self.above, requests.max(1));
        parts::left(parts::whole(failures), allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    fn tenth(window: Option<SimDuration>) -> FailureShare {
        FailureShare {
            above: Ratio::new(0.1).unwrap(),
            window,
            common: Common::default(),
        }
    }

    fn ends(form: &FailureShare, heard: &mut Heard, now: SimTime, kind: Kind) -> bool {
        form.note(
            heard,
            &Seen {
                now,
                took: SimDuration::ZERO,
                kind,
                retryable: kind == Kind::Transient,
                retry: false,
            },
        );
        form.ask(heard, now, kind).is_some()
    }

    #[test]
    fn retries_stop_when_failures_are_more_than_their_share() {
        let (form, mut heard) = (tenth(None), tenth(None).fresh());
        (0..20).for_each(|_| form.began(&mut heard, at(0)));
        assert_eq!(form.level(&heard, at(0)), 1.0);
        assert!(ends(&form, &mut heard, at(0), Kind::Transient));
        assert!(
            ends(&form, &mut heard, at(0), Kind::Permanent),
            "two of twenty is no more"
        );
        assert_eq!(form.level(&heard, at(0)), 0.0);
        assert!(!ends(&form, &mut heard, at(0), Kind::Timeout));
        (0..10).for_each(|_| form.began(&mut heard, at(0)));
        assert!(ends(&form, &mut heard, at(0), Kind::Ok), "three of thirty");
    }

    #[test]
    fn a_window_forgets_old_failures() {
        for (window, allowed) in [(None, false), (Some(SimDuration::from_secs(1)), true)] {
            let (form, mut heard) = (tenth(window), tenth(window).fresh());
            (0..9).for_each(|_| _ = ends(&form, &mut heard, at(0), Kind::Timeout));
            (0..10).for_each(|_| form.began(&mut heard, at(1_000)));
            assert_eq!(ends(&form, &mut heard, at(1_000), Kind::Timeout), allowed);
        }
    }
}
