//! So many attempts per unit of time, and a refusal for the rest.
//!
//! A server that knows what it can do should not learn it from its queue. What limiters of one rate differ in is
//! when they forgive: a bucket lets a burst through and then a steady flow; a fixed window opens for everybody at
//! the same instant, which gathers those who were refused; a sliding window forgives each attempt by itself.

use super::log::Log;
use crate::decode::{Check, Reader};
use crate::policy::tokens::{Inflow, Tokens};
use crate::time::{SimDuration, SimTime};
use crate::units::Rate;
use crate::{choice, record};

record! {
    /// A bucket of tokens that starts full. Each admitted attempt takes one.
    #[derive(Copy)]
    pub struct BucketLimit {
        /// Tokens that flow in with time, like "100/s".
        rate: Rate,
        /// Tokens that it can hold: attempts admitted at once after a pause.
        burst: Tokens,
    }
}

impl Check for BucketLimit {
    fn check(&self, reader: &mut Reader) {
        if self.burst < Tokens::ONE {
            let reason = "no attempt is ever admitted: each takes one token";
            reader.error_at(&["burst"], reason, "give at least 1");
        }
        if self.rate.as_per_second() <= 0.0 {
            let reason = "nothing is admitted once the bucket is empty";
            reader.warn_at(&["rate"], reason, "give a rate above zero");
        }
    }
}

choice! {
    /// How a window moves.
    #[derive(Copy)]
    pub enum WindowKind as "kind of window" {
        /// From one multiple of its length to the next: all of it is forgiven at once.
        Fixed = "fixed", r#""fixed""#;
        /// With the present: each attempt is forgiven when it is as old as the window.
        Sliding = "sliding", r#""sliding""#;
    }
}

record! {
    /// So many attempts in each window of time.
    #[derive(Copy)]
    pub struct WindowLimit {
        /// Attempts admitted in a window.
        attempts: u32,
        /// How long the window is.
        per: SimDuration,
        /// How the window moves.
        window: WindowKind = WindowKind::Fixed,
        /// Whether refused attempts count as well, so that those who come back early wait longer.
        count_refused: bool = false,
    }
}

impl Check for WindowLimit {
    fn check(&self, reader: &mut Reader) {
        if self.attempts == 0 {
            let reason = "no attempt is ever admitted";
            reader.error_at(&["attempts"], reason, "give at least 1");
        }
        if self.per == SimDuration::ZERO {
            let reason = "a window of no length holds nothing";
            reader.error_at(&["per"], reason, "give a time, like \"1s\"");
        }
        if self.count_refused && self.window == WindowKind::Fixed {
            let reason = "refused attempts change nothing: a fixed window forgives all at its end";
            let remedy = "set window = \"sliding\", or leave `count_refused` out";
            reader.warn_at(&["count_refused", "window"], reason, remedy);
        }
    }
}

choice! {
    /// How many attempts a server admits per unit of time.
    #[derive(Copy)]
    pub enum RateLimit as "rate limit" {
        /// A bucket of tokens: a burst, then a steady flow.
        Bucket(BucketLimit) = "bucket", r#"{ bucket = { rate = "100/s", burst = 20 } }"#;
        /// So many attempts in each window of time.
        Window(WindowLimit) = "window", r#"{ window = { attempts = 100, per = "1s" } }"#;
    }
}

/// What a limiter remembers; made by [`RateLimit::fresh`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimitState(Memory);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Memory {
    /// What a bucket held at a time.
    Bucket { tokens: Tokens, since: SimTime },
    /// Attempts admitted in the window of this number, counted from the start of the run.
    Fixed { window: u64, admitted: u32 },
    /// The latest attempts.
    Sliding(Log),
}

impl RateLimit {
    /// The state before the first attempt.
    pub fn fresh(&self) -> RateLimitState {
        RateLimitState(match self {
            Self::Bucket(bucket) => Memory::Bucket {
                tokens: bucket.burst,
                since: SimTime::ZERO,
            },
            Self::Window(window) => match window.window {
                WindowKind::Fixed => Memory::Fixed {
                    window: 0,
                    admitted: 0,
                },
                WindowKind::Sliding => Memory::Sliding(Log::default()),
            },
        })
    }

    /// Whether an attempt that arrives now is admitted. Time never goes back.
    ///
    /// # Panics
    /// When the state was made by another form of limit, as [`Self::free_after`] does.
    #[inline]
    pub fn admit(&self, state: &mut RateLimitState, now: SimTime) -> bool {
        match (self, &mut state.0) {
            (Self::Bucket(bucket), Memory::Bucket { tokens, since }) => {
                bucket.admit(tokens, since, now)
            }
            (Self::Window(rule), Memory::Fixed { window, admitted }) => {
                let present = rule.number(now);
                if *window != present {
                    (*window, *admitted) = (present, 0);
                }
                let free = *admitted < rule.attempts;
                *admitted += u32::from(free);
                free
            }
            (Self::Window(rule), Memory::Sliding(log)) => {
                log.forget(rule.per, now);
                let free = log.held() < rule.attempts;
                if free || rule.count_refused {
                    log.add(rule.attempts, now);
                }
                free
            }
            _ => unreachable!("a limit is called with a state that it made"),
        }
    }

    /// The time from now until an attempt would be admitted if none came before: what an honest server tells those
    /// whom it refuses. Zero when one would be admitted now, [`SimDuration::MAX`] when none ever will.
    pub fn free_after(&self, state: &RateLimitState, now: SimTime) -> SimDuration {
        match (self, &state.0) {
            (Self::Bucket(bucket), Memory::Bucket { tokens, since }) => {
                bucket.free_after(*tokens, *since, now)
            }
            (Self::Window(rule), Memory::Fixed { window, admitted }) => {
                let present = rule.number(now);
                if *window != present || *admitted < rule.attempts {
                    return SimDuration::ZERO;
                }
                let per = rule.per.as_nanos().max(1);
                SimDuration::from_nanos(per - now.as_nanos() % per)
            }
            (Self::Window(rule), Memory::Sliding(log)) => match log.leaves(rule.per) {
                Some(leaves) if log.held() >= rule.attempts => leaves - now,
                _ => SimDuration::ZERO,
            },
            _ => unreachable!("a limit is called with a state that it made"),
        }
    }
}

impl BucketLimit {
    /// A refusal leaves no trace, so that rounding adds up over admitted attempts only.
    fn admit(&self, tokens: &mut Tokens, since: &mut SimTime, now: SimTime) -> bool {
        let (inflow, took) = Inflow::of(self.rate).after(now - *since);
        let held = tokens.plus(inflow, self.burst);
        let Some(left) = held.checked_minus(Tokens::ONE) else {
            return false;
        };
        *tokens = left;
        // A full bucket gains nothing from the rest of the time.
        *since = if held == self.burst {
            now
        } else {
            *since + took
        };
        true
    }

    fn free_after(&self, tokens: Tokens, since: SimTime, now: SimTime) -> SimDuration {
        let missing = Tokens::ONE.minus(tokens);
        let inflow = Inflow::of(self.rate);
        if inflow.after(now - since).0 >= missing {
            return SimDuration::ZERO;
        }
        let wait = SimDuration::from_secs_f64(missing.get() / self.rate.as_per_second());
        if wait == SimDuration::MAX {
            return wait;
        }
        // Rounding may put the estimate a little too early, by nanoseconds or by the last bits of a long time.
        let later = wait + SimDuration::from_nanos(2 + wait.as_nanos() / (1 << 50));
        let wait = if inflow.after(wait).0 < missing {
            later
        } else {
            wait
        };
        (since + wait) - now
    }
}

impl WindowLimit {
    /// The number of the fixed window that holds `now`.
    fn number(&self, now: SimTime) -> u64 {
        now.as_nanos() / self.per.as_nanos().max(1)
    }
}

#[cfg(test)]
mod tests;
