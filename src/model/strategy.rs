//! A retry strategy as written in a scenario: patience of the client and its rule for retries.

use super::callers::Callers;
use super::clients::check_name;
use super::letters::DeadLetters;
use crate::decode::{Check, Reader};
use crate::dist::{Distribution, Sampler};
use crate::policy::{
    Backoff, CircuitBreaker, DeadlineCheck, Guards, Hedge, Hints, MaxAttempts, RateLimiter,
    RetryBudget, RetryOn, RetryRule, TargetHealth, Throttle,
};
use crate::time::SimDuration;
use crate::{choice, record};
use std::path::Path;

choice! {
    /// What an attempt timeout is measured over.
    pub enum TimeoutCovers as "timeout cover" {
        /// From sending the attempt to its answer.
        Attempt = "attempt", r#""attempt""#;
        /// From sending the attempt to the start of service: the caller leaves the queue when it is over.
        Wait = "wait", r#""wait""#;
    }
}

record! {
    /// One `[[strategy]]` of a scenario.
    pub struct StrategySpec {
        /// Its name in every output.
        name: String,
        /// Attempts a request may make, the first included: 1 to 1,000,000, or "unlimited".
        max_attempts: MaxAttempts,
        /// How long the client waits for an answer to one attempt; for ever without it.
        attempt_timeout: Option<Distribution> = None,
        /// What the attempt timeout is measured over.
        timeout_covers: TimeoutCovers = TimeoutCovers::Attempt,
        /// The latest end of a request after its start, over all its attempts.
        deadline: Option<SimDuration> = None,
        #[serde(skip_serializing_if = "is_before_wait")]
        /// When the deadline is looked at.
        deadline_check: DeadlineCheck = DeadlineCheck::BeforeWait,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Who waits for a request, and goes away after a time.
        callers: Option<Callers> = None,
        /// The wait before each retry.
        backoff: Backoff = Backoff::Immediate,
        /// Outcomes worth another attempt: codes, ranges like "5xx", and names.
        retry_on: RetryOn = RetryOn::default(),
        #[serde(skip_serializing_if = "RetryOn::is_empty")]
        /// Outcomes of `retry_on` that are not worth another attempt all the same.
        never_retry: RetryOn = RetryOn::nothing(),
        #[serde(skip_serializing_if = "RetryOn::is_too_many_requests")]
        /// Outcomes by which the service asks for fewer attempts; budgets may price them differently.
        throttled_on: RetryOn = RetryOn::too_many_requests(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// What bounds the retries of all requests in its scope together.
        budget: Option<RetryBudget> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// What keeps attempts from a service that has failed often enough.
        breaker: Option<CircuitBreaker> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Clients hold attempts back by themselves, the more the fewer are accepted.
        throttle: Option<Throttle> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The rate at which clients send attempts, first ones too.
        rate_limit: Option<RateLimiter> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// A longer backoff while the service is seen to fail.
        health: Option<TargetHealth> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// More attempts of a request at a time: another one is sent before the first has failed.
        hedge: Option<Hedge> = None,
        #[serde(skip_serializing_if = "Hints::is_default")]
        /// What clients make of a delay that the service tells them.
        hints: Hints = Hints::default(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Requests that have failed are kept, and may be tried again later.
        dead_letters: Option<DeadLetters> = None,
        /// All clients draw their jitter from so many distinct streams; without it every client has its own.
        generators: Option<u64> = None,
        /// Whether the strategy is compared with the others; `false` when it only serves a client group.
        compare: bool = true,
    }
}

/// Whether the deadline is looked at as usual.
fn is_before_wait(check: &DeadlineCheck) -> bool {
    *check == DeadlineCheck::BeforeWait
}

impl Check for StrategySpec {
    fn check(&self, reader: &mut Reader) {
        check_name(&self.name, "a strategy's name", reader);
        if self.generators == Some(0) {
            reader.error_at(
                &["generators"],
                "`generators` must be at least 1",
                "leave it out to give every client its own stream",
            );
        }
        if self.deadline == Some(SimDuration::ZERO) {
            reader.error_at(
                &["deadline"],
                "a deadline of zero leaves no time for any attempt",
                "give a longer one or leave it out",
            );
        }
        if self.max_attempts == MaxAttempts::AtMost(1) && self.backoff != Backoff::Immediate {
            let reason = "the backoff has no effect: `max_attempts = 1` means no retries";
            let remedy = "raise max_attempts, or leave the backoff out";
            reader.warn_at(&["backoff", "max_attempts"], reason, remedy);
        }
        if self.deadline_check != DeadlineCheck::BeforeWait && self.deadline.is_none() {
            reader.warn_at(
                &["deadline_check", "deadline"],
                "`deadline_check` has no effect without `deadline`",
                "add a deadline",
            );
        }
        if self.timeout_covers == TimeoutCovers::Wait && self.attempt_timeout.is_none() {
            reader.warn_at(
                &["timeout_covers", "attempt_timeout"],
                "`timeout_covers` has no effect without `attempt_timeout`",
                "add attempt_timeout",
            );
        }
    }
}

/// A strategy ready to run.
#[derive(Clone, Debug)]
pub struct Strategy {
    /// Its name.
    pub name: String,
    /// Patience with one attempt.
    pub attempt_timeout: Option<Sampler>,
    /// Whether that patience is over the wait only.
    pub timeout_covers_wait: bool,
    /// Patience with the whole request.
    pub deadline: Option<SimDuration>,
    /// When nobody waits for the request any more, though it goes on.
    pub callers_leave_after: Option<SimDuration>,
    /// When to try again.
    pub rule: RetryRule,
    /// What is kept of requests that have failed.
    pub dead_letters: Option<DeadLetters>,
    /// Distinct jitter streams; zero gives every attempt its own.
    pub generators: u64,
}

impl StrategySpec {
    /// The latest end of a request after its start, by its deadline or by a caller whose going ends it.
    fn ends_at(&self) -> Option<SimDuration> {
        let caller = self.callers.filter(|callers| callers.cancels);
        let patience = caller.map(|callers| callers.patience);
        [self.deadline, patience].into_iter().flatten().min()
    }

    /// Outcomes worth another attempt.
    pub fn retried(&self) -> RetryOn {
        self.retry_on.without(&self.never_retry)
    }

    /// Makes the strategy ready. Files are looked for below `base`.
    ///
    /// # Errors
    /// When a file of an empirical distribution cannot be used.
    pub fn assemble(&self, base: &Path) -> Result<Strategy, String> {
        Ok(Strategy {
            name: self.name.clone(),
            attempt_timeout: self
                .attempt_timeout
                .as_ref()
                .map(|timeout| timeout.sampler(base))
                .transpose()?,
            timeout_covers_wait: self.timeout_covers == TimeoutCovers::Wait,
            deadline: self.ends_at(),
            callers_leave_after: self.callers.filter(|c| !c.cancels).map(|c| c.patience),
            rule: RetryRule {
                max_attempts: self.max_attempts,
                retry_on: self.retried(),
                throttled_on: self.throttled_on.clone(),
                backoff: self.backoff.clone(),
                deadline_check: match self.callers {
                    Some(Callers { cancels: true, .. }) => DeadlineCheck::DuringWait,
                    _ => self.deadline_check,
                },
                hints: self.hints,
                guards: Guards {
                    budget: self.budget.clone(),
                    breaker: self.breaker.clone(),
                    throttle: self.throttle.clone(),
                    limiter: self.rate_limit.clone(),
                    health: self.health.clone(),
                    hedge: self.hedge,
                },
            },
            dead_letters: self.dead_letters,
            generators: self.generators.unwrap_or(0),
        })
    }
}

impl Strategy {
    /// Whether failed requests come back, with attempts beyond those of the rule.
    pub fn redrives(&self) -> bool {
        self.dead_letters.is_some_and(|kept| kept.may_come_back(0))
    }

    /// Whether the deadline ends an attempt in flight.
    pub(super) fn deadline_ends_attempts(&self) -> bool {
        self.rule.deadline_check != DeadlineCheck::BetweenAttempts
    }

    /// Whether every wait before a retry is as long as any other, so that they end in order.
    pub(super) fn waits_alike(&self) -> bool {
        let rule = &self.rule;
        rule.backoff.constant().is_some() && rule.guards.health.is_none() && rule.hints.is_default()
    }

    /// Whether clients give up on attempts in the order in which they sent them, so that their timeouts keep
    /// themselves in order.
    pub(super) fn gives_up_in_order(&self) -> bool {
        self.attempt_timeout
            .as_ref()
            .map_or(self.deadline.is_some(), |timeout| {
                timeout.constant().is_some()
            })
    }
}
