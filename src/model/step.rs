//! Where a request, or a job of it, is on its way.

use crate::outcome::{AttemptOutcome, FailureReason};

/// What happens next, at this moment.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// Nothing: time has to pass.
    Rest,
    /// A request sends its next attempt.
    Attempt(u32),
    /// A job is at the service.
    Reach(u32),
    /// The service answers a job.
    Answer {
        job: u32,
        outcome: AttemptOutcome,
        code: u16,
    },
    /// The answer to a job is at the client.
    Answered(u32),
    /// The present attempt of a request has ended for its client.
    Settle {
        request: u32,
        outcome: AttemptOutcome,
        code: u16,
    },
    /// A request has failed without another attempt.
    GiveUp { request: u32, reason: FailureReason },
}
