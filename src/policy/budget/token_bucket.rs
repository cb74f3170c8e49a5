//! A bucket of tokens: requests or successes put some in, retries take some out.

use super::Charge;
use super::common::Common;
use super::form::Form;
use crate::decode::{Check, Reader};
use crate::policy::kind::Kind;
use crate::policy::tokens::{Inflow, Tokens};
use crate::record;
use crate::time::SimTime;
use crate::units::Rate;

record! {
    /// A bucket of tokens. It starts full unless `start` says otherwise, and never holds more than its capacity.
    pub struct TokenBucket {
        /// Tokens it can hold.
        capacity: Tokens,
        /// Tokens it holds at first; full when left out.
        start: Option<Tokens> = None,
        /// Tokens that each request puts in as it begins.
        per_request: Tokens = Tokens::ZERO,
        /// Tokens that each successful request puts in.
        per_success: Tokens = Tokens::ZERO,
        /// Tokens that flow in with time, like "5/s".
        refill: Option<Rate> = None,
        /// Tokens that a retry takes.
        cost: Tokens = Tokens::ONE,
        /// A retry needs more tokens than this, beside its cost; without it, having the cost is enough.
        above: Option<Tokens> = None;
        /// Settings that every budget shares.
        flatten common: Common,
    }
}

impl Check for TokenBucket {
    fn check(&self, reader: &mut Reader) {
        if self.start.is_some_and(|start| start > self.capacity) {
            let remedy = "lower `start`, or raise `capacity`";
            reader.error_at(
                &["start", "capacity"],
                "the bucket cannot hold its start",
                remedy,
            );
        }
        let needed = self.above.map_or(self.cost, |above| above.max(self.cost));
        if self.capacity < self.cost || self.above.is_some_and(|above| self.capacity <= above) {
            let reason = format!(
                "no retry is ever made: it needs {}{} tokens and the bucket holds {} at most",
                if self.above.is_some_and(|above| above >= self.cost) {
                    "more than "
                } else {
                    ""
                },
                needed.get(),
                self.capacity.get()
            );
            reader.warn_at(&["capacity", "cost", "above"], reason, "raise `capacity`");
        } else if self.cost == Tokens::ZERO && self.above.is_none() {
            let reason = "the bucket has no effect: retries cost nothing";
            reader.warn_at(&["cost", "above"], reason, "give a `cost` above 0");
        }
    }
}

/// What a token bucket remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    tokens: Tokens,
    /// The time up to which tokens have flowed in.
    since: SimTime,
}

impl TokenBucket {
    fn flow(&self, bucket: &mut Bucket, now: SimTime) {
        if let Some(rate) = self.refill {
            let (tokens, took) = Inflow::of(rate).after(now - bucket.since);
            bucket.tokens = bucket.tokens.plus(tokens, self.capacity);
            bucket.since += took;
        }
    }
}

impl Form for TokenBucket {
    type State = Bucket;

    fn common(&self) -> &Common {
        &self.common
    }

    fn fresh(&self) -> Bucket {
        Bucket {
            tokens: self.start.unwrap_or(self.capacity),
            since: SimTime::ZERO,
        }
    }

    #[inline]
    fn began(&self, bucket: &mut Bucket, _now: SimTime) {
        bucket.tokens = bucket.tokens.plus(self.per_request, self.capacity);
    }

    #[inline]
    fn ask(&self, bucket: &mut Bucket, now: SimTime, _kind: Kind) -> Option<Charge> {
        // A refusal leaves no trace, so that nobody gains by asking often.
        let mut filled = *bucket;
        self.flow(&mut filled, now);
        if self.above.is_some_and(|above| filled.tokens <= above) {
            return None;
        }
        filled.tokens = filled.tokens.checked_minus(self.cost)?;
        *bucket = filled;
        Some(Charge(self.cost))
    }

    fn ended(&self, bucket: &mut Bucket, _now: SimTime, succeeded: bool, _last: Option<Charge>) {
        if succeeded {
            bucket.tokens = bucket.tokens.plus(self.per_success, self.capacity);
        }
    }

    fn sustained(&self) -> Option<f64> {
        let steady = self.refill.is_none() && self.above.is_none_or(|above| above < self.capacity);
        let cost = self.cost.get();
        (steady && cost > 0.0).then(|| self.per_request.get() / cost)
    }

    fn level(&self, bucket: &Bucket, now: SimTime) -> f64 {
        let mut bucket = *bucket;
        self.flow(&mut bucket, now);
        bucket.tokens.get() / self.capacity.get().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimDuration;

    fn bucket(capacity: u32) -> TokenBucket {
        TokenBucket {
            capacity: Tokens::whole(capacity),
            start: None,
            per_request: Tokens::ZERO,
            per_success: Tokens::ZERO,
            refill: None,
            cost: Tokens::ONE,
            above: None,
            common: Common::default(),
        }
    }

    fn granted(form: &TokenBucket, state: &mut Bucket, now: SimTime, times: u32) -> u32 {
        (0..times)
            .map(|_| u32::from(form.ask(state, now, Kind::Transient).is_some()))
            .sum()
    }

    #[test]
    fn a_full_bucket_pays_for_its_capacity_and_ten_tenths_for_one_more() {
        let form = TokenBucket {
            per_request: Tokens::new(0.1).unwrap(),
            ..bucket(5)
        };
        let mut state = form.fresh();
        assert_eq!(granted(&form, &mut state, SimTime::ZERO, 9), 5);
        (0..9).for_each(|_| form.began(&mut state, SimTime::ZERO));
        assert_eq!(granted(&form, &mut state, SimTime::ZERO, 1), 0);
        form.began(&mut state, SimTime::ZERO);
        assert_eq!(granted(&form, &mut state, SimTime::ZERO, 2), 1);
    }

    #[test]
    fn a_retry_that_needs_more_than_one_token_leaves_the_last_one() {
        let form = TokenBucket {
            above: Some(Tokens::ONE),
            ..bucket(5)
        };
        assert_eq!(granted(&form, &mut form.fresh(), SimTime::ZERO, 9), 4);
    }

    #[test]
    fn tokens_flow_in_with_time_and_success_and_never_beyond_the_capacity() {
        let form = TokenBucket {
            refill: Some("5/s".parse().unwrap()),
            per_success: Tokens::ONE,
            start: Some(Tokens::ZERO),
            ..bucket(20)
        };
        let at = |ms| SimTime::ZERO + SimDuration::from_millis(ms);
        let mut state = form.fresh();
        assert_eq!(granted(&form, &mut state, at(199), 9), 0);
        assert_eq!(granted(&form, &mut state, at(1_000), 9), 5);
        form.ended(&mut state, at(1_000), true, None);
        form.ended(&mut state, at(1_000), false, None);
        assert_eq!(granted(&form, &mut state, at(1_000), 9), 1);
        assert_eq!(granted(&form, &mut state, at(1_000_000), 99), 20);
    }
}
