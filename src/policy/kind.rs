//! What the end of an attempt means to the rules that outlive a request.
//!
//! Budgets, breakers and throttles do not care about codes. They ask whether an attempt succeeded, whether the
//! failure may pass, and whether it cost a whole timeout or was a plea to slow down: those three are priced
//! and counted apart by real libraries.

use crate::time::{SimDuration, SimTime};

/// How an attempt ended, for rules that count attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It succeeded.
    Ok,
    /// It failed in a way that may pass: a failure code, a refusal, a full queue.
    Transient,
    /// It got no answer in time.
    Timeout,
    /// The service asked for fewer attempts, as code 429 does.
    Throttled,
    /// It failed in a way that will not pass.
    Permanent,
}

/// An attempt that reached the network and has ended, as seen by rules that count attempts. Attempts that the
/// client itself held back are never seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// When it ended.
    pub now: SimTime,
    /// How long it took, from sending it to its end for the client.
    pub took: SimDuration,
    /// How it ended.
    pub kind: Kind,
    /// Whether the rule of the request would try again after such an end, attempts permitting.
    pub retryable: bool,
    /// Whether it was a retry.
    pub retry: bool,
}
