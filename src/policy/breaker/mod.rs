//! Circuit breakers: what keeps attempts from a service that has failed often enough.
//!
//! A retry hopes that the next attempt goes better. When nothing has gone well for a while that hope costs the service
//! its recovery, and a breaker takes it away: it opens, refuses everything for a time, then tries a little. Breakers
//! that go by one name differ in what they count, in what they let through after the pause, and in whether they
//! believe results from before it; each of these is a setting here.
//!
//! What opens a breaker is a file beside this one; how it opens and closes is the same for all.

mod common;
mod consecutive;
mod failure_rate;
mod half_open;
mod recent;
mod state;

pub use common::{Around, BreakerCommon};
pub use consecutive::Consecutive;
pub use failure_rate::{CountWindow, FailureRate, RateWindow, Slow, TimeWindow};
pub use half_open::{HalfOpen, Judge, ProbeLimit, Probes};
pub use state::{BreakerState, Pass, Phase};

use crate::choice;
use crate::time::{SimDuration, SimTime};
use state::{Ended, Form};

choice! {
    /// What keeps attempts from a service that has failed often enough.
    pub enum CircuitBreaker as "circuit breaker" {
        /// Opens after so many failures in a row.
        Consecutive(Consecutive) = "consecutive", r#"{ consecutive = { failures = 5, open_for = "10s" } }"#;
        /// Opens when the share of failures, or of slow results, among the recent ones reaches a limit.
        FailureRate(FailureRate) = "failure_rate", r#"{ failure_rate = { window = { count = { calls = 100 } }, rate = "50%", open_for = "10s" } }"#;
    }
}

/// Attempts, or calls when it stands around calls, are told to a breaker in the order of time. All methods may panic
/// when the state was made by another breaker.
impl CircuitBreaker {
    /// The settings that every breaker shares.
    #[inline]
    pub fn common(&self) -> &BreakerCommon {
        match self {
            Self::Consecutive(form) => form.common(),
            Self::FailureRate(form) => form.common(),
        }
    }

    /// What a state takes beside its own size, in bytes: the results of a window that holds a number of them.
    pub fn window_bytes(&self) -> usize {
        match self {
            Self::FailureRate(FailureRate {
                window: RateWindow::Count(CountWindow { calls }),
                ..
            }) => *calls as usize / 4,
            _ => 0,
        }
    }

    /// The state at the start: closed, and nothing counted.
    pub fn fresh(&self) -> BreakerState {
        match self {
            Self::Consecutive(form) => BreakerState::fresh(form),
            Self::FailureRate(form) => BreakerState::fresh(form),
        }
    }

    /// Whether an attempt may go out now; `None` refuses it. What is let in must be told to [`note`](Self::note) when it
    /// ends, or a probe would be taken to be on its way until it times out. `luck` gives a number, uniform in [0, 1), and
    /// used only while a ramp lasts.
    #[inline]
    pub fn admit(
        &self,
        state: &mut BreakerState,
        now: SimTime,
        luck: impl FnOnce() -> f64,
    ) -> Option<Pass> {
        match self {
            Self::Consecutive(form) => state.admit(form, now, luck),
            Self::FailureRate(form) => state.admit(form, now, luck),
        }
    }

    /// One that was let in has ended, `took` after it was sent. `failed` says whether its end is among the outcomes
    /// that count as failures.
    #[inline]
    pub fn note(
        &self,
        state: &mut BreakerState,
        pass: Pass,
        now: SimTime,
        took: SimDuration,
        failed: bool,
    ) {
        let ended = |slow| Ended { now, failed, slow };
        match self {
            Self::Consecutive(form) => state.note(form, pass, ended(form.is_slow(took))),
            Self::FailureRate(form) => state.note(form, pass, ended(form.is_slow(took))),
        }
    }

    /// The phase that the breaker is in now, with all that is due by now. Changes nothing.
    pub fn phase(&self, state: &BreakerState, now: SimTime) -> Phase {
        state.phase(self.common(), now)
    }
}

#[cfg(test)]
mod tests;
