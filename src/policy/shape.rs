//! How a nominal delay becomes the delay that is waited: cap, jitter and rounding, in a stated order.
//!
//! Real libraries agree on "exponential with jitter" and differ in everything else: whether the cap bounds
//! the jittered delay (then clients pile up exactly on the cap and meet again) or only the nominal one
//! (then a delay may exceed the cap), whether fractions of a millisecond survive, whether the first retry
//! is free, whether the count starts anew with each request. These are settings of every backoff.

use super::jitter::Jitter;
use crate::decode::{Check, Reader};
use crate::rng::Draws;
use crate::time::SimDuration;
use crate::{choice, record};

choice! {
    /// Which comes first, the cap or the jitter.
    #[derive(Copy)]
    pub enum CapOrder as "cap order" {
        /// The cap bounds the nominal delay; jitter may then exceed it and is not clipped again.
        BeforeJitter = "before_jitter", r#""before_jitter""#;
        /// The cap bounds the jittered delay: a hard bound on which delays pile up.
        AfterJitter = "after_jitter", r#""after_jitter""#;
    }
}

choice! {
    /// What happens to fractions, at every delay anew.
    #[derive(Copy)]
    pub enum Rounding as "rounding" {
        /// Delays are kept to the nanosecond.
        None = "none", r#""none""#;
        /// Delays are cut to whole milliseconds.
        FloorMs = "floor_ms", r#""floor_ms""#;
    }
}

choice! {
    /// When a backoff that lives in the client starts anew.
    #[derive(Copy)]
    pub enum Reset as "reset" {
        /// As soon as an attempt succeeds.
        Success = "success", r#""success""#;
        /// Never: once long, its delays stay long.
        Never = "never", r#""never""#;
    }
}

record! {
    /// A backoff that lives on in the client.
    #[derive(Copy)]
    pub struct Client {
        /// When the count of retries starts anew.
        reset: Reset = Reset::Success,
    }
}
impl Check for Client {}

choice! {
    /// Whose count of retries it is.
    #[derive(Copy)]
    pub enum StateOwner as "owner of the backoff state" {
        /// Every request starts with the first delay.
        Request = "request", r#""request""#;
        /// The client goes on where its last request stopped.
        Client(Client) = "client", r#"{ client = { reset = "never" } }"#;
    }
}

record! {
    /// Settings that every backoff shares.
    pub struct Shape {
        /// The randomness laid on the nominal delay.
        jitter: Jitter = Jitter::None,
        /// Whether the cap bounds the nominal or the jittered delay. Means nothing without a cap.
        cap_order: CapOrder = CapOrder::BeforeJitter,
        /// What happens to fractions of a millisecond.
        rounding: Rounding = Rounding::None,
        /// Replaces the delay before the first retry exactly, without jitter, cap or rounding. Later delays
        /// are what they would have been.
        first: Option<SimDuration> = None,
        /// Whether the count of retries belongs to the request or lives on in the client.
        state: StateOwner = StateOwner::Request,
    }
}
impl Check for Shape {}

/// One millisecond in nanoseconds.
const MILLISECOND: u64 = 1_000_000;

impl Shape {
    /// The defaults.
    pub const PLAIN: Self = Self {
        jitter: Jitter::None,
        cap_order: CapOrder::BeforeJitter,
        rounding: Rounding::None,
        first: None,
        state: StateOwner::Request,
    };

    /// The bounds on the nominal and on the jittered delay that `cap` amounts to.
    #[inline]
    pub(super) fn caps(&self, cap: Option<SimDuration>) -> (SimDuration, SimDuration) {
        let cap = cap.unwrap_or(SimDuration::MAX);
        match self.cap_order {
            CapOrder::BeforeJitter => (cap, SimDuration::MAX),
            CapOrder::AfterJitter => (SimDuration::MAX, cap),
        }
    }

    /// The delay made of a nominal one.
    #[inline]
    pub(super) fn finish(
        &self,
        nominal: SimDuration,
        cap: Option<SimDuration>,
        draws: &mut Draws,
    ) -> SimDuration {
        let (before, after) = self.caps(cap);
        self.round(self.jitter.apply(nominal.min(before), draws).min(after))
    }

    /// The least delay that `least` and the greatest that `greatest`, two nominal ones, can become.
    pub(super) fn finish_range(
        &self,
        (least, greatest): (SimDuration, SimDuration),
        cap: Option<SimDuration>,
    ) -> (SimDuration, SimDuration) {
        let (before, after) = self.caps(cap);
        let low = self.jitter.range(least.min(before)).0;
        let high = self.jitter.range(greatest.min(before)).1;
        (self.round(low.min(after)), self.round(high.min(after)))
    }

    /// The grid of the rounding in nanoseconds, if there is one.
    pub(super) fn step(&self) -> Option<f64> {
        match self.rounding {
            Rounding::None => None,
            Rounding::FloorMs => Some(MILLISECOND as f64),
        }
    }

    /// Cuts fractions; "for ever" stays for ever.
    #[inline]
    fn round(&self, delay: SimDuration) -> SimDuration {
        let nanos = delay.as_nanos();
        match self.rounding {
            Rounding::FloorMs if delay < SimDuration::MAX => {
                SimDuration::from_nanos(nanos - nanos % MILLISECOND)
            }
            _ => delay,
        }
    }

    /// Warns when an order is given for a cap that is not there, or when the cap is below the first delay.
    pub(super) fn check_cap(
        &self,
        base: SimDuration,
        cap: Option<SimDuration>,
        reader: &mut Reader,
    ) {
        match cap {
            Some(cap) if cap < base => reader.warn_at(
                &["cap", "base"],
                format!("the cap {cap} is below the base {base}, so every delay is the cap"),
                "raise `cap` or lower `base`",
            ),
            None if self.cap_order == CapOrder::AfterJitter => reader.warn_at(
                &["cap_order", "cap"],
                "`cap_order` has no effect without a cap",
                "remove `cap_order`, or use a backoff with `cap`",
            ),
            _ => {}
        }
    }
}
