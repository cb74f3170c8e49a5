//! Tokens that failures take and successes put in: retry throttling as in gRPC.
//!
//! It does not count retries but failures: whoever sees more than a share of failures stops retrying, and starts again
//! when successes outweigh them. A failure takes a token whether or not it is tried again, so that it is
//! the state of the service, and not the eagerness of the client, that decides.

use super::Charge;
use super::common::Common;
use super::form::Form;
use crate::decode::{Check, Reader};
use crate::policy::kind::{Kind, Seen};
use crate::policy::tokens::Tokens;
use crate::record;
use crate::time::SimTime;

record! {
    /// Tokens that start full. A retry is made only while more than half of them are left.
    pub struct FailureTokens {
        /// Tokens at first and at the most.
        max: Tokens = Tokens::whole(10),
        /// Tokens that each successful request puts in; a failed attempt that may be tried again takes 1.
        ratio: Tokens = Tokens::new(0.1).expect("lies within the range of tokens");
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for FailureTokens {
    fn check(&self, reader: &mut Reader) {
        if self.max <= Tokens::whole(2) {
            let reason = "no retry is ever made: a single failure takes half of the tokens or more";
            reader.warn_at(&["max"], reason, "give more than 2");
        }
    }
}

impl Form for FailureTokens {
    /// The tokens that are left.
    type State = Tokens;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Tokens {
        self.max
    }

    #[inline]
    fn note(&self, tokens: &mut Tokens, seen: &Seen) {
        if seen.retryable && seen.kind != Kind::Ok {
            *tokens = tokens.minus(Tokens::ONE);
        }
    }

    /// Asking takes nothing.
    #[inline]
    fn ask(&self, tokens: &mut Tokens, _now: SimTime, _kind: Kind) -> Option<Charge> {
        (*tokens > self.max.half()).then_some(Charge(Tokens::ZERO))
    }

    fn ended(&self, tokens: &mut Tokens, _now: SimTime, succeeded: bool, _last: Option<Charge>) {
        if succeeded {
            *tokens = tokens.plus(self.ratio, self.max);
        }
    }

    fn sustained(&self) -> Option<f64> {
        Some(0.0)
    }

    /// The tokens above the half that is needed, as a part of that half.
    fn level(&self, tokens: &Tokens, _now: SimTime) -> f64 {
        let half = self.max.half();
        tokens.minus(half).get() / self.max.minus(half).get().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimDuration;

    fn ten() -> FailureTokens {
        FailureTokens {
            max: Tokens::whole(10),
            ratio: Tokens::new(0.1).unwrap(),
            common: Common::default(),
        }
    }

    fn fails(form: &FailureTokens, tokens: &mut Tokens, retryable: bool) -> bool {
        form.note(
            tokens,
            &Seen {
                now: SimTime::ZERO,
                took: SimDuration::ZERO,
                kind: Kind::Transient,
                retryable,
                retry: false,
            },
        );
        form.ask(tokens, SimTime::ZERO, Kind::Transient).is_some()
    }

    #[test]
    fn the_fifth_failure_blocks_retries() {
        let (form, mut tokens) = (ten(), ten().fresh());
        let allowed: Vec<bool> = (0..7).map(|_| fails(&form, &mut tokens, true)).collect();
        assert_eq!(allowed, [true, true, true, true, false, false, false]);
        assert_eq!(form.level(&tokens, SimTime::ZERO), 0.0);
    }

    #[test]
    fn ten_successes_make_up_for_one_failure() {
        let (form, mut tokens) = (ten(), ten().fresh());
        (0..5).for_each(|_| _ = fails(&form, &mut tokens, true));
        (0..10).for_each(|_| form.ended(&mut tokens, SimTime::ZERO, true, None));
        assert!(!fails(&form, &mut tokens, true), "5 + 1 - 1 is not above 5");
        (0..11).for_each(|_| form.ended(&mut tokens, SimTime::ZERO, true, None));
        assert!(fails(&form, &mut tokens, true), "5 + 1.1 - 1 is");
    }

    #[test]
    fn a_failure_that_will_not_pass_takes_nothing_and_tokens_stay_within_their_range() {
        let (form, mut tokens) = (ten(), ten().fresh());
        assert!((0..100).all(|_| fails(&form, &mut tokens, false)));
        form.ended(&mut tokens, SimTime::ZERO, true, None);
        assert_eq!(tokens, Tokens::whole(10));
        (0..100).for_each(|_| _ = fails(&form, &mut tokens, true));
        assert_eq!(tokens, Tokens::ZERO);
    }
}
