//! The decision after an attempt: done, again, or give up and why.
//!
//! It stands in one function, [`RetryRule::decide`], in one order: note the outcome → classify → attempts
//! left → draw the delay → does it fit the deadline → again. Budgets and breakers join that order, and
//! nothing else decides about retries.

use super::{Backoff, BackoffState, Client, MaxAttempts, Reset, RetryOn, StateOwner};
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::rng::Draws;
use crate::time::{SimDuration, SimTime};

/// When to try again, and how long to wait before.
#[derive(Clone, Debug, PartialEq)]
pub struct RetryRule {
    /// Attempts at the most, the first included.
    pub max_attempts: MaxAttempts,
    /// Outcomes worth another attempt.
    pub retry_on: RetryOn,
    /// The wait before each retry.
    pub backoff: Backoff,
}

/// An attempt that has just ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How it ended.
    pub outcome: AttemptOutcome,
    /// The failure code, when it was answered with one.
    pub code: u16,
    /// Attempts made so far, this one included.
    pub attempts_made: u32,
    /// The present time.
    pub now: SimTime,
    /// The latest end of the call; [`SimTime::MAX`] without a deadline.
    pub deadline: SimTime,
}

/// What to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Nothing: the call succeeded.
    Succeed,
    /// Another attempt after this wait.
    RetryAfter(SimDuration),
    /// Nothing: the call failed.
    GiveUp(FailureReason),
}

impl RetryRule {
    /// Decides. `state` is the memory of the backoff, which a retry moves on by one.
    #[inline(always)]
    pub fn decide(&self, ended: &Ended, state: &mut BackoffState, draws: &mut Draws) -> Decision {
        let reason = match ended.outcome {
            AttemptOutcome::Ok => {
                if self.starts_anew() {
                    *state = BackoffState::default();
                }
                return Decision::Succeed;
            }
            AttemptOutcome::DeadlineExceeded => return Decision::GiveUp(FailureReason::Deadline),
            AttemptOutcome::Error if !self.retry_on.contains(ended.outcome, ended.code) => {
                return Decision::GiveUp(FailureReason::PermanentError);
            }
            AttemptOutcome::Error => FailureReason::Error,
            AttemptOutcome::Refused => FailureReason::Refused,
            AttemptOutcome::QueueFull => FailureReason::QueueFull,
            AttemptOutcome::TimedOut => FailureReason::Timeout,
        };
        if !self.max_attempts.allows_after(ended.attempts_made)
            || !self.retry_on.contains(ended.outcome, ended.code)
        {
            return Decision::GiveUp(reason);
        }
        let before = *state;
        let delay = self.backoff.next_delay(state, draws);
        if ended.now + delay >= ended.deadline {
            // A retry that is not made leaves no trace in what the client remembers.
            *state = before;
            return Decision::GiveUp(FailureReason::Deadline);
        }
        Decision::RetryAfter(delay)
    }
}

impl RetryRule {
    /// Whether a success takes the backoff of a client back to its start.
    fn starts_anew(&self) -> bool {
        matches!(
            self.backoff.shape().state,
            StateOwner::Client(Client {
                reset: Reset::Success
            })
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, Purpose};

    const BASE: Ended = Ended {
        outcome: AttemptOutcome::TimedOut,
        code: 0,
        attempts_made: 1,
        now: SimTime::from_nanos(100),
        deadline: SimTime::MAX,
    };

    fn decide(ended: Ended) -> Decision {
        let rule = RetryRule {
            max_attempts: MaxAttempts::AtMost(3),
            retry_on: RetryOn::default(),
            backoff: Backoff::Immediate,
        };
        let mut draws = Key::root(1, 1).draws(Purpose::Jitter);
        rule.decide(&ended, &mut BackoffState::default(), &mut draws)
    }

    #[test]
    fn attempts_are_counted_with_the_first() {
        assert_eq!(
            decide(Ended {
                attempts_made: 2,
                ..BASE
            }),
            Decision::RetryAfter(SimDuration::ZERO)
        );
        assert_eq!(
            decide(Ended {
                attempts_made: 3,
                ..BASE
            }),
            Decision::GiveUp(FailureReason::Timeout)
        );
    }

    #[test]
    fn a_permanent_code_ends_the_call_at_once() {
        let answered = |code| {
            decide(Ended {
                outcome: AttemptOutcome::Error,
                code,
                ..BASE
            })
        };
        assert_eq!(
            answered(404),
            Decision::GiveUp(FailureReason::PermanentError)
        );
        assert_eq!(answered(503), Decision::RetryAfter(SimDuration::ZERO));
    }

    #[test]
    fn a_retry_that_would_start_at_the_deadline_is_not_made() {
        let at = |deadline| {
            decide(Ended {
                deadline: SimTime::from_nanos(deadline),
                ..BASE
            })
        };
        assert_eq!(at(100), Decision::GiveUp(FailureReason::Deadline));
        assert_eq!(at(101), Decision::RetryAfter(SimDuration::ZERO));
    }
}
