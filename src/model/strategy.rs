//! A retry strategy as written in a scenario: patience of the client and its rule for retries.

use super::clients::check_name;
use crate::decode::{Check, Reader};
use crate::dist::{Distribution, Sampler};
use crate::policy::{Backoff, MaxAttempts, RetryOn, RetryRule};
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
        /// The wait before each retry.
        backoff: Backoff = Backoff::Immediate,
        /// Outcomes worth another attempt: codes, ranges like "5xx", and error, refused, queue_full, timeout.
        retry_on: RetryOn = RetryOn::default(),
        /// All clients draw their jitter from so many distinct streams; without it every client has its own.
        generators: Option<u64> = None,
        /// Whether the strategy is compared with the others; `false` when it only serves a client group.
        compare: bool = true,
    }
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
    /// When to try again.
    pub rule: RetryRule,
    /// Distinct jitter streams; zero gives every attempt its own.
    pub generators: u64,
}

impl StrategySpec {
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
            deadline: self.deadline,
            rule: RetryRule {
                max_attempts: self.max_attempts,
                retry_on: self.retry_on.clone(),
                backoff: self.backoff.clone(),
            },
            generators: self.generators.unwrap_or(0),
        })
    }
}

impl Strategy {
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
