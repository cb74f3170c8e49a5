//! The decision after an attempt: done, again, or give up and why.
//!
//! It stands in one function, [`RetryRule::decide`], in one order: classify → note the outcome → attempts left →
//! draw the delay → does it fit the deadline → budget → again. Nothing else decides about retries. Breakers and
//! throttles are asked again when the retry is about to be sent ([`Guards::admit`]).

use super::{
    Backoff, BackoffState, Client, DeadlineCheck, Guards, Hints, Kind, MaxAttempts, Meeting, Reset,
    RetryOn, Seen, StateOwner, Told,
};
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
    /// Outcomes by which the service asks for fewer attempts.
    pub throttled_on: RetryOn,
    /// The wait before each retry.
    pub backoff: Backoff,
    /// When the deadline is looked at.
    pub deadline_check: DeadlineCheck,
    /// What to make of a delay that the service tells.
    pub hints: Hints,
    /// What outlives a request.
    pub guards: Guards,
}

impl Default for RetryRule {
    /// One attempt.
    fn default() -> Self {
        Self {
            max_attempts: MaxAttempts::AtMost(1),
            retry_on: RetryOn::default(),
            throttled_on: RetryOn::too_many_requests(),
            backoff: Backoff::Immediate,
            deadline_check: DeadlineCheck::BeforeWait,
            hints: Hints::default(),
            guards: Guards::default(),
        }
    }
}

/// Whether a failure with this code may pass by itself, whatever the client makes of it: 408, 429, 5xx and broken
/// connections.
fn may_pass(code: u16) -> bool {
    matches!(code, 408 | 429 | 500..=602)
}

/// What a decision remembers.
#[derive(Debug)]
pub struct Memory<'a> {
    /// The backoff of the request or its client.
    pub backoff: &'a mut BackoffState,
    /// What outlives the request, when there is such a thing.
    pub guards: Option<Meeting<'a>>,
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
    /// Whether the budget counts it as a retry.
    pub retry: bool,
    /// When the service said it should be tried again, if it said so.
    pub hint: Option<SimDuration>,
    /// When it was sent.
    pub sent_at: SimTime,
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
    /// Decides. A retry moves the backoff on by one.
    #[inline(always)]
    pub fn decide(&self, ended: &Ended, memory: &mut Memory<'_>, draws: &mut Draws) -> Decision {
        let retryable = self.retry_on.contains(ended.outcome, ended.code);
        if let Some(meeting) = &mut memory.guards
            && !ended.outcome.is_local()
        {
            self.note(ended, retryable, meeting);
        }
        if ended.outcome == AttemptOutcome::Ok {
            if self.starts_anew() {
                *memory.backoff = BackoffState::default();
            }
            return Decision::Succeed;
        }
        if !retryable || !self.max_attempts.allows_after(ended.attempts_made) {
            return Decision::GiveUp(ended.reason(retryable));
        }
        let before = *memory.backoff;
        let own = self.backoff.next_delay(memory.backoff, draws);
        let delay = match self.wait(own, ended, memory, draws) {
            Told::Wait(delay) => delay,
            Told::Abort => {
                *memory.backoff = before;
                return Decision::GiveUp(ended.reason(retryable));
            }
        };
        // Without a deadline a wait for ever fits too; its request stays open.
        let in_time = ended.now + delay < ended.deadline || ended.deadline == SimTime::MAX;
        let fits = in_time
            || match self.deadline_check {
                DeadlineCheck::BeforeWait => false,
                DeadlineCheck::BetweenAttempts => ended.now < ended.deadline,
                // The wait ends at the deadline, and the request with it.
                DeadlineCheck::DuringWait => {
                    return Decision::RetryAfter(ended.deadline - ended.now);
                }
            };
        let granted = fits
            && memory.guards.as_mut().is_none_or(|meeting| {
                let kind = self.kind_of(ended.outcome, ended.code);
                self.guards.grant(meeting, ended.now, kind)
            });
        if granted {
            return Decision::RetryAfter(delay);
        }
        // A retry that is not made leaves no trace in what the client remembers.
        *memory.backoff = before;
        Decision::GiveUp(if fits {
            FailureReason::Budget
        } else {
            FailureReason::Deadline
        })
    }

    /// Tells the guards how the attempt ended.
    #[inline(always)]
    fn note(&self, ended: &Ended, retryable: bool, meeting: &mut Meeting<'_>) {
        let late = ended.outcome == AttemptOutcome::DeadlineExceeded;
        let counts = self.guards.breaker_counts();
        let failed = counts.map_or(retryable || late, |counts| {
            counts.contains(ended.outcome, ended.code)
        });
        let kind = self.kind_of(ended.outcome, ended.code);
        let seen = ended.seen(kind, retryable);
        self.guards.note(meeting, &seen, failed);
    }

    /// The wait that follows from the own delay, the health of the target and what the service told.
    #[inline(always)]
    fn wait(
        &self,
        own: SimDuration,
        ended: &Ended,
        memory: &mut Memory<'_>,
        draws: &mut Draws,
    ) -> Told {
        let own = match &mut memory.guards {
            Some(meeting) => match self.guards.stretch(meeting, ended.now) {
                1.0 => own,
                stretch => own.scale(stretch),
            },
            None => own,
        };
        let Some(hint) = ended.hint else {
            return Told::Wait(own);
        };
        if self.hints.heeds(hint) && self.hints.resets() {
            *memory.backoff = BackoffState::default();
        }
        self.hints.delay(own, Some(hint), draws.unit())
    }

    /// What the end of an attempt means to budgets and breakers.
    #[inline(always)]
    pub fn kind_of(&self, outcome: AttemptOutcome, code: u16) -> Kind {
        match outcome {
            // That another one was answered first says nothing against it.
            AttemptOutcome::Ok | AttemptOutcome::Superseded => Kind::Ok,
            AttemptOutcome::TimedOut | AttemptOutcome::DeadlineExceeded => Kind::Timeout,
            _ if self.throttled_on.contains(outcome, code) => Kind::Throttled,
            AttemptOutcome::Error if !may_pass(code) && !self.retry_on.contains(outcome, code) => {
                Kind::Permanent
            }
            _ => Kind::Transient,
        }
    }
}

impl Ended {
    /// Why the request has failed, if this was its last attempt.
    #[inline]
    fn reason(&self, retryable: bool) -> FailureReason {
        match self.outcome {
            AttemptOutcome::Error if !retryable => FailureReason::PermanentError,
            AttemptOutcome::Ok | AttemptOutcome::Error | AttemptOutcome::Superseded => {
                FailureReason::Error
            }
            AttemptOutcome::Refused => FailureReason::Refused,
            AttemptOutcome::QueueFull => FailureReason::QueueFull,
            AttemptOutcome::TimedOut => FailureReason::Timeout,
            AttemptOutcome::DeadlineExceeded => FailureReason::Deadline,
            AttemptOutcome::Shed => FailureReason::Shed,
            AttemptOutcome::BreakerOpen => FailureReason::BreakerOpen,
            AttemptOutcome::Throttled => FailureReason::Throttled,
            AttemptOutcome::RateLimited => FailureReason::RateLimited,
        }
    }

    fn seen(&self, kind: Kind, retryable: bool) -> Seen {
        Seen {
            now: self.now,
            took: self.now - self.sent_at,
            kind,
            retryable,
            retry: self.retry,
        }
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
    use super::super::testing::backoff;
    use super::*;
    use crate::rng::{Key, Purpose};

    const BASE: Ended = Ended {
        outcome: AttemptOutcome::TimedOut,
        code: 0,
        attempts_made: 1,
        retry: false,
        hint: None,
        sent_at: SimTime::ZERO,
        now: SimTime::from_nanos(100),
        deadline: SimTime::MAX,
    };

    fn decide(ended: Ended) -> Decision {
        let rule = RetryRule {
            max_attempts: MaxAttempts::AtMost(3),
            ..RetryRule::default()
        };
        let mut draws = Key::root(1, 1).draws(Purpose::Jitter);
        let mut memory = Memory {
            backoff: &mut BackoffState::default(),
            guards: None,
        };
        rule.decide(&ended, &mut memory, &mut draws)
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

    #[test]
    fn a_wait_for_ever_leaves_a_request_open_unless_it_has_a_deadline() {
        let rule = RetryRule {
            max_attempts: MaxAttempts::AtMost(3),
            backoff: backoff("{ exponential = { base = \"1h\", factor = 1e30, start = 100 } }"),
            ..RetryRule::default()
        };
        let after = |deadline| {
            let mut draws = Key::root(1, 1).draws(Purpose::Jitter);
            let mut memory = Memory {
                backoff: &mut BackoffState::default(),
                guards: None,
            };
            rule.decide(&Ended { deadline, ..BASE }, &mut memory, &mut draws)
        };
        let for_ever = Decision::RetryAfter(SimDuration::MAX);
        assert_eq!(after(SimTime::MAX), for_ever);
        let late = SimTime::from_nanos(u64::MAX - 1);
        assert_eq!(after(late), Decision::GiveUp(FailureReason::Deadline));
    }
}
