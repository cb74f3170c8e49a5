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
}

impl AttemptOutcome {
    /// Every outcome, in the order of their numbers.
    pub const ALL: [Self; 6] = [
        Self::Ok,
        Self::Error,
        Self::Refused,
        Self::QueueFull,
        Self::TimedOut,
        Self::DeadlineExceeded,
    ];

    /// The name in scenarios and output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
            Self::Refused => "refused",
            Self::QueueFull => "queue_full",
            Self::TimedOut => "timeout",
            Self::DeadlineExceeded => "deadline",
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
}

impl FailureReason {
    /// Every reason, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Error,
        Self::PermanentError,
        Self::Refused,
        Self::QueueFull,
        Self::Timeout,
        Self::Deadline,
        Self::NotStarted,
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
