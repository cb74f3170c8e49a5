//! So many attempts inside at once, found by trying.
//!
//! A fixed limit on what is inside is the strongest protection there is, if it is right: too low wastes capacity, too
//! high is a queue. What is right changes with the speed of the server, so some limits move: they grow while
//! attempts are as fast as ever and shrink when they are slower. Whoever comes while as many as the
//! limit are inside is refused.
//!
//! Rules and defaults are those of Netflix concurrency-limits, applied to each attempt.

mod aimd;
mod bounds;
mod gradient2;
mod sample;
mod vegas;

pub use aimd::{Aimd, AimdState};
pub use gradient2::{Gradient2, Gradient2State};
pub use sample::Sample;
pub use vegas::{Vegas, VegasState};

use crate::decode::{Check, Reader};
use crate::{choice, record};

record! {
    /// A limit that never moves.
    #[derive(Copy)]
    pub struct FixedLimit {
        /// Attempts that may be inside at once.
        limit: u32,
    }
}

impl Check for FixedLimit {
    fn check(&self, reader: &mut Reader) {
        if self.limit == 0 {
            let reason = "no attempt is ever admitted";
            reader.error_at(&["limit"], reason, "give at least 1");
        }
    }
}

choice! {
    /// How many attempts may be inside a server at once.
    #[derive(Copy)]
    pub enum ConcurrencyLimit as "concurrency limit" {
        /// Always as many.
        Fixed(FixedLimit) = "fixed", r#"{ fixed = { limit = 50 } }"#;
        /// One more with each success, a tenth less with each drop.
        Aimd(Aimd) = "aimd", r#""aimd""#;
        /// By the length of the queue, told from the slowdown against the fastest attempt.
        Vegas(Vegas) = "vegas", r#""vegas""#;
        /// By the slowdown against the average of many attempts; drops are not heeded.
        Gradient2(Gradient2) = "gradient2", r#""gradient2""#;
    }
}

/// What a limit remembers; made by [`ConcurrencyLimit::fresh`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LimitState {
    /// Nothing.
    Fixed,
    /// The limit.
    Aimd(AimdState),
    /// The limit and the time of an unhindered attempt.
    Vegas(VegasState),
    /// The limit and the average time.
    Gradient2(Gradient2State),
}

impl ConcurrencyLimit {
    /// The state before the first attempt.
    pub fn fresh(&self) -> LimitState {
        match self {
            Self::Fixed(_) => LimitState::Fixed,
            Self::Aimd(rule) => LimitState::Aimd(rule.fresh()),
            Self::Vegas(rule) => LimitState::Vegas(rule.fresh()),
            Self::Gradient2(rule) => LimitState::Gradient2(rule.fresh()),
        }
    }

    /// How many attempts may be inside; whoever comes while there are as many is refused. At least 1.
    #[inline]
    pub fn limit(&self, state: &LimitState) -> u32 {
        let limit = match (self, state) {
            (Self::Fixed(rule), _) => return rule.limit,
            (_, LimitState::Fixed) => 1.0,
            (_, LimitState::Aimd(state)) => state.limit,
            (_, LimitState::Vegas(state)) => state.limit,
            (_, LimitState::Gradient2(state)) => state.limit,
        };
        limit as u32
    }

    /// An admitted attempt has left the server. Refused ones are never noted.
    ///
    /// # Panics
    /// When the state was made by another form of limit.
    #[inline]
    pub fn note(&self, state: &mut LimitState, sample: &Sample) {
        match (self, state) {
            (Self::Fixed(_), LimitState::Fixed) => {}
            (Self::Aimd(rule), LimitState::Aimd(state)) => rule.note(state, sample),
            (Self::Vegas(rule), LimitState::Vegas(state)) => rule.note(state, sample),
            (Self::Gradient2(rule), LimitState::Gradient2(state)) => rule.note(state, sample),
            _ => unreachable!("a limit is called with a state that it made"),
        }
    }
}

#[cfg(test)]
mod tests;
