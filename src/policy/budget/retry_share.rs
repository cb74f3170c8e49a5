//! Retries as a share of all that was asked: the rule of ten per cent per client in Google's SRE book.
//!
//! "Ten per cent" has two readings. Of first attempts it lets the load grow to 1.1 times; of all attempts, retries
//! included, to 1 / (1 - 0.1). Counted since the beginning, a long quiet time saves up for an outage.

use super::Charge;
use super::common::Common;
use super::counts::Counts;
use super::form::Form;
use super::parts;
use crate::decode::{Check, Reader};
use crate::policy::kind::Kind;
use crate::policy::tokens::Tokens;
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;
use crate::{choice, record};

choice! {
    /// What retries are a share of.
    #[derive(Copy)]
    pub enum ShareOf as "base of a share" {
        /// Requests.
        FirstAttempts = "first_attempts", r#""first_attempts""#;
        /// Requests and retries together.
        AllAttempts = "all_attempts", r#""all_attempts""#;
    }
}

record! {
    /// Retries while they are less than a share of the attempts.
    pub struct RetryShare {
        /// A retry is made only while the retries so far are less than this share.
        ratio: Ratio,
        /// What they are a share of.
        of: ShareOf = ShareOf::FirstAttempts,
        /// How long requests and retries count; since the beginning when left out.
        window: Option<SimDuration> = None;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for RetryShare {
    fn check(&self, reader: &mut Reader) {
        if self.window == Some(SimDuration::ZERO) {
            let remedy = "give a time above 0, or leave `window` out";
            reader.error_at(
                &["window"],
                "a window of no length remembers nothing",
                remedy,
            );
        }
        if self.ratio == Ratio::ZERO {
            reader.warn_at(&["ratio"], "no retry is ever made", "give a share above 0");
        }
        if self.ratio == Ratio::ONE && self.of == ShareOf::AllAttempts {
            let reason = "retries are always less than all attempts: this bounds nothing";
            reader.warn_at(&["ratio", "of"], reason, "give a share below 100%");
        }
    }
}

impl RetryShare {
    /// What the retries must stay below, in trillionths.
    #[inline]
    fn allowed(&self, requests: u64, retries: u64) -> u128 {
        let base = match self.of {
            ShareOf::FirstAttempts => requests,
            ShareOf::AllAttempts => requests.saturating_add(retries),
        };
        parts::share(self.ratio, base)
    }
}

/// Requests and retries.
type Made = Counts<2>;

impl Form for RetryShare {
    type State = Made;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Made {
        Made::fresh(self.window)
    }

    #[inline]
    fn began(&self, made: &mut Made, now: SimTime) {
        made.add(self.window, now, [1, 0]);
    }

    #[inline]
    fn ask(&self, made: &mut Made, now: SimTime, _kind: Kind) -> Option<Charge> {
        let [requests, retries] = made.sums(self.window, now);
        if parts::whole(retries) >= self.allowed(requests, retries) {
            return None;
        }
        made.add(self.window, now, [0, 1]);
        Some(Charge(Tokens::ONE))
    }

    fn sustained(&self) -> Option<f64> {
        let ratio = self.ratio.get();
        match self.of {
            ShareOf::FirstAttempts => Some(ratio),
            ShareOf::AllAttempts => (ratio < 1.0).then(|| ratio / (1.0 - ratio)),
        }
    }

    /// The part of what is allowed that was not used; before the first request, of what it will allow.
    fn level(&self, made: &Made, now: SimTime) -> f64 {
        let [requests, retries] = made.seen(self.window, now);
        let allowed = self.allowed(requests.max(1), retries);
        parts::left(parts::whole(retries), allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    fn tenth(of: ShareOf, window: Option<SimDuration>) -> RetryShare {
        RetryShare {
            ratio: Ratio::new(0.1).unwrap(),
            of,
            window,
            common: Common::default(),
        }
    }

    #[test]
    fn the_first_request_may_be_retried_and_then_every_tenth() {
        let form = tenth(ShareOf::FirstAttempts, None);
        let mut made = form.fresh();
        let retried: Vec<u64> = (1..=31)
            .filter(|i| {
                form.began(&mut made, at(*i));
                form.ask(&mut made, at(*i), Kind::Transient).is_some()
            })
            .collect();
        assert_eq!(retried, [1, 11, 21, 31]);
    }

    #[test]
    fn a_share_of_all_attempts_counts_the_retries_too() {
        let form = tenth(ShareOf::AllAttempts, None);
        let mut made = form.fresh();
        let retried: Vec<u64> = (1..=31)
            .filter(|i| {
                form.began(&mut made, at(*i));
                form.ask(&mut made, at(*i), Kind::Transient).is_some()
            })
            .collect();
        // Before retry r + 1: r < 0.1 (n + r), so n > 9 r.
        assert_eq!(retried, [1, 10, 19, 28]);
    }

    #[test]
    fn a_window_forgets_what_a_quiet_time_has_saved() {
        for (window, granted) in [(None, 10), (Some(SimDuration::from_secs(1)), 1)] {
            let form = tenth(ShareOf::FirstAttempts, window);
            let mut made = form.fresh();
            (0..99).for_each(|_| form.began(&mut made, at(0)));
            assert_eq!(form.level(&made, at(0)), 1.0);
            form.began(&mut made, at(1_000));
            let asked = (0..50).map(|_| form.ask(&mut made, at(1_000), Kind::Timeout));
            assert_eq!(asked.flatten().count(), granted, "{window:?}");
            assert_eq!(form.level(&made, at(1_000)), 0.0);
        }
    }
}
