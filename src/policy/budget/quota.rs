//! A quota of tokens that successes give back: the retry quota of the AWS SDKs.
//!
//! In a healthy time a retry that helps costs nothing, for its success returns what it took. In an outage nothing
//! comes back: the quota pays for so many retries in all, and then a call is a single attempt. What it takes to
//! be allowed again is not time but first tries that succeed.

use super::Charge;
use super::common::Common;
use super::form::Form;
use crate::decode::{Check, Reader};
use crate::policy::kind::Kind;
use crate::policy::tokens::Tokens;
use crate::record;
use crate::time::SimTime;

record! {
    /// What a retry takes from a quota, by the failure that it follows.
    #[derive(Copy)]
    pub struct Costs {
        /// Tokens that a retry after a failure code, a refusal or a full queue takes.
        transient: Tokens = Tokens::whole(5),
        /// Tokens that a retry after a timeout takes.
        timeout: Tokens = Tokens::whole(10),
        /// Tokens that a retry after a plea for fewer attempts, as code 429 is, takes.
        throttled: Tokens = Tokens::whole(5),
    }
}

impl Check for Costs {}

impl Default for Costs {
    fn default() -> Self {
        Self {
            transient: Tokens::whole(5),
            timeout: Tokens::whole(10),
            throttled: Tokens::whole(5),
        }
    }
}

impl Costs {
    /// Tokens that a retry after such an end takes. What no kind of its own covers counts as transient.
    fn of(&self, kind: Kind) -> Tokens {
        match kind {
            Kind::Timeout => self.timeout,
            Kind::Throttled => self.throttled,
            Kind::Ok | Kind::Transient | Kind::Permanent => self.transient,
        }
    }
}

record! {
    /// A quota of tokens. It starts full, and only successful requests put anything back.
    pub struct Quota {
        /// Tokens it holds at first and at the most.
        capacity: Tokens = Tokens::whole(500),
        /// Tokens that a retry takes; a retry for which fewer are left is not made.
        cost: Costs = Costs::default(),
        /// Tokens that a request puts back that succeeds at the first try.
        first_try_success: Tokens = Tokens::ONE,
        /// Whether a request that succeeds after retries puts back what the last of them took.
        refund: bool = true;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for Quota {
    fn check(&self, reader: &mut Reader) {
        let Costs {
            transient,
            timeout,
            throttled,
        } = self.cost;
        for (cost, failure) in [
            (transient, "a transient failure"),
            (timeout, "a timeout"),
            (throttled, "a plea for fewer attempts"),
        ] {
            if cost > self.capacity {
                let reason = format!(
                    "no retry is ever made after {failure}: it takes {} tokens and there are {} at most",
                    cost.get(),
                    self.capacity.get()
                );
                let remedy = "raise `capacity`, or lower the cost";
                reader.warn_at(&["cost", "capacity"], reason, remedy);
            }
        }
        if transient.max(timeout).max(throttled) == Tokens::ZERO {
            let remedy = "give a cost above 0, or leave the budget out";
            reader.warn_at(
                &["cost"],
                "retries that take nothing are not bounded",
                remedy,
            );
        }
    }
}

impl Form for Quota {
    /// The tokens that are left.
    type State = Tokens;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Tokens {
        self.capacity
    }

    #[inline]
    fn ask(&self, tokens: &mut Tokens, _now: SimTime, kind: Kind) -> Option<Charge> {
        let cost = self.cost.of(kind);
        *tokens = tokens.checked_minus(cost)?;
        Some(Charge(cost))
    }

    fn ended(&self, tokens: &mut Tokens, _now: SimTime, succeeded: bool, last: Option<Charge>) {
        let back = match last {
            _ if !succeeded => return,
            None => self.first_try_success,
            Some(Charge(took)) if self.refund => took,
            Some(_) => return,
        };
        *tokens = tokens.plus(back, self.capacity);
    }

    fn sustained(&self) -> Option<f64> {
        Some(0.0)
    }

    /// The tokens that are left, as a part of the capacity.
    fn level(&self, tokens: &Tokens, _now: SimTime) -> f64 {
        tokens.get() / self.capacity.get().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The prices of 2026: 14 for all but throttling.
    fn dear() -> Quota {
        let cost = Costs {
            transient: Tokens::whole(14),
            timeout: Tokens::whole(14),
            throttled: Tokens::whole(5),
        };
        Quota {
            capacity: Tokens::whole(500),
            cost,
            first_try_success: Tokens::ONE,
            refund: true,
            common: Common::default(),
        }
    }

    /// Tokens after each answer of one call; -1 for a retry that was refused.
    fn call(form: &Quota, tokens: &mut Tokens, attempts: usize, answers: &[u32]) -> Vec<i64> {
        let (mut trace, mut last) = (Vec::new(), None);
        for (i, answer) in answers.iter().enumerate() {
            let kind = match answer {
                200 => Kind::Ok,
                429 => Kind::Throttled,
                _ => Kind::Transient,
            };
            if kind == Kind::Ok || i + 1 == attempts {
                form.ended(tokens, SimTime::ZERO, kind == Kind::Ok, last);
            } else {
                match form.ask(tokens, SimTime::ZERO, kind) {
                    None => {
                        form.ended(tokens, SimTime::ZERO, false, last);
                        trace.push(-1);
                        return trace;
                    }
                    charge => last = charge,
                }
            }
            trace.push(tokens.get() as i64);
        }
        trace
    }

    #[test]
    fn the_traces_of_the_library_are_reproduced() {
        for (start, attempts, answers, expected) in [
            (500, 3, &[500, 500, 200][..], &[486, 472, 486][..]),
            (500, 3, &[502, 502, 502], &[486, 472, 472]),
            (14, 3, &[500, 500], &[0, -1]),
            (20, 3, &[500, 500], &[6, -1]),
            (30, 3, &[500, 502, 200], &[16, 2, 16]),
            (500, 3, &[429, 200], &[495, 500]),
            (500, 4, &[500, 500, 500, 500], &[486, 472, 458, 458]),
            (486, 3, &[200], &[487]),
            (500, 3, &[200], &[500]),
        ] {
            let mut tokens = Tokens::whole(start);
            assert_eq!(
                call(&dear(), &mut tokens, attempts, answers),
                expected,
                "{answers:?}"
            );
        }
    }

    #[test]
    fn without_refund_a_success_after_retries_puts_nothing_back() {
        let form = Quota {
            refund: false,
            ..dear()
        };
        let mut tokens = form.fresh();
        assert_eq!(call(&form, &mut tokens, 3, &[500, 200]), [486, 486]);
    }

    #[test]
    fn a_full_quota_pays_for_a_hundred_retries_or_for_fifty_after_timeouts() {
        let form = Quota {
            cost: Costs::default(),
            ..dear()
        };
        for (kind, retries) in [
            (Kind::Transient, 100),
            (Kind::Timeout, 50),
            (Kind::Throttled, 100),
        ] {
            let mut tokens = form.fresh();
            let granted =
                (0..1_000).filter(|_| form.ask(&mut tokens, SimTime::ZERO, kind).is_some());
            assert_eq!(granted.count(), retries, "{kind:?}");
        }
    }
}
