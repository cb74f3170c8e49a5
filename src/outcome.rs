//! How attempts and requests end.

/// How one attempt ended, as its client saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum AttemptOutcome {
    /// Answered successfully in time.
    Ok,
    /// Answered with a failure code.
    Error,
    /// Refused at once: the service was down.
    Refused,
    /// Refused at once: the service's queue was full.
    QueueFull,
    /// No answer within the attempt timeout.
    TimedOut,
    /// The deadline of the whole call ended it.
    DeadlineExceeded,
    /// Refused at once: the service protects itself.
    Shed,
    /// Held back by the client: its circuit breaker was open.
    BreakerOpen,
    /// Held back by the client: it throttles itself.
    Throttled,
    /// Held back by the client: its own rate limit would have made it wait too long.
    RateLimited,
    /// Not waited for any longer: another attempt of the request was answered first.
    Superseded,
}

impl AttemptOutcome {
    /// Every outcome, in the order of their numbers.
    pub const ALL: [Self; 11] = [
        Self::Ok,
        Self::Error,
        Self::Refused,
        Self::QueueFull,
        Self::TimedOut,
        Self::DeadlineExceeded,
        Self::Shed,
        Self::BreakerOpen,
        Self::Throttled,
        Self::RateLimited,
        Self::Superseded,
    ];

    /// Whether the client held the attempt back: it was never sent.
    #[inline]
    pub const fn is_local(self) -> bool {
        matches!(
            self,
            Self::BreakerOpen | Self::Throttled | Self::RateLimited
        )
    }

    /// The name in scenarios and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::QueueFull => "queue_full",
            Self::TimedOut => "timeout",
            Self::DeadlineExceeded => "deadline",
            Self::Shed => "shed",
            Self::BreakerOpen => "breaker_open",
            Self::Throttled => "throttled",
            Self::RateLimited => "rate_limited",
            Self::Superseded => "superseded",
        }
    }
}

/// Why a request failed: what ended its last attempt, or what kept it from making one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum FailureReason {
    /// The last attempt was answered with a failure code that may be retried.
    Error,
    /// A failure code that is not retried ended the request.
    PermanentError,
    /// The last attempt was refused by an outage.
    Refused,
    /// The last attempt found the queue full.
    QueueFull,
    /// The last attempt timed out.
    Timeout,
    /// The deadline passed, or the next attempt would not have fitted into it.
    Deadline,
    /// It never started: the client's limit on requests in flight left no place in time.
    NotStarted,
    /// The last attempt was refused by a service that protects itself.
    Shed,
    /// The retry budget was spent.
    Budget,
    /// The circuit breaker was open.
    BreakerOpen,
    /// The client throttled itself.
    Throttled,
    /// The client's own rate limit would have made it wait too long.
    RateLimited,
    /// It was a dead letter for as long as letters are kept.
    Expired,
    /// It succeeded after its caller had gone away.
    CallerLeft,
}

impl FailureReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 14] = [
        Self::Error,
        Self::PermanentError,
        Self::Refused,
        Self::QueueFull,
        Self::Timeout,
        Self::Deadline,
        Self::NotStarted,
        Self::Shed,
        Self::Budget,
        Self::BreakerOpen,
        Self::Throttled,
        Self::RateLimited,
        Self::Expired,
        Self::CallerLeft,
    ];

    /// The name in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::PermanentError => "permanent_error",
            Self::Refused => "refused",
            Self::QueueFull => "queue_full",
            Self::Timeout => "timeout",
            Self::Deadline => "deadline",
            Self::NotStarted => "not_started",
            Self::Shed => "shed",
            Self::Budget => "budget",
            Self::BreakerOpen => "breaker_open",
            Self::Throttled => "throttled",
            Self::RateLimited => "rate_limited",
            Self::Expired => "expired",
            Self::CallerLeft => "caller_left",
        }
    }

    /// The reason in words, as in "12 % of requests were lost to …".
    pub const fn words(self) -> &'static str {
        match self {
            Self::Error => "failure codes",
            Self::PermanentError => "permanent failure codes",
            Self::Refused => "the outage",
            Self::QueueFull => "a full queue",
            Self::Timeout => "timeouts",
            Self::Deadline => "the deadline",
            Self::NotStarted => "no place to start",
            Self::Shed => "load shedding",
            Self::Budget => "a spent retry budget",
            Self::BreakerOpen => "an open breaker",
            Self::Throttled => "client-side throttling",
            Self::RateLimited => "the client's rate limit",
            Self::Expired => "letters kept too long",
            Self::CallerLeft => "callers that had gone",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_lists_agree() {
        for (i, outcome) in AttemptOutcome::ALL.iter().enumerate() {
            assert_eq!(*outcome as usize, i);
        }
        for (i, reason) in FailureReason::ALL.iter().enumerate() {
            assert_eq!(*reason as usize, i);
        }
    }
}
