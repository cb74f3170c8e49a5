//! A record of every attempt, for those who ask for it.

use crate::outcome::{AttemptOutcome, FailureReason};
use crate::policy::Decision;
use crate::time::{SimDuration, SimTime};

/// What the client did after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The request succeeded.
    Succeeded,
    /// It tries again after this wait.
    RetryAfter(SimDuration),
    /// The request failed.
    GaveUp(FailureReason),
    /// Another attempt of the request was in flight, or ended it.
    Hedged,
    /// The run ended first.
    Unfinished,
}

impl From<Decision> for Next {
    fn from(decision: Decision) -> Self {
        match decision {
            Decision::Succeed => Self::Succeeded,
            Decision::RetryAfter(delay) => Self::RetryAfter(delay),
            Decision::GiveUp(reason) => Self::GaveUp(reason),
        }
    }
}

/// One attempt, told when it has ended for its client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttemptRecord {
    /// The client group.
    pub group: u16,
    /// The number of the request in its group: its identity under every strategy.
    pub request: u64,
    /// The client.
    pub client: u32,
    /// 1 for the first try.
    pub attempt: u32,
    /// How often the request had come back as a dead letter; attempts count anew each time.
    pub redrives: u32,
    /// When the request was meant to start.
    pub intended_at: SimTime,
    /// When the attempt was sent.
    pub sent_at: SimTime,
    /// When its service started, if it had when the attempt ended for the client.
    pub started_at: Option<SimTime>,
    /// When it ended for the client.
    pub ended_at: SimTime,
    /// How it ended; `None` when the run ended first.
    pub outcome: Option<AttemptOutcome>,
    /// The failure code, if it was answered with one.
    pub code: u16,
    /// What came next.
    pub next: Next,
}

/// Takes records of attempts. With [`NoLog`] the calls vanish.
pub trait AttemptLog {
    /// Whether records are wanted at all.
    const ENABLED: bool;
    /// Takes one.
    fn record(&mut self, record: AttemptRecord);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl AttemptLog for NoLog {
    const ENABLED: bool = false;
    fn record(&mut self, _record: AttemptRecord) {}
}

impl AttemptLog for Vec<AttemptRecord> {
    const ENABLED: bool = true;
    fn record(&mut self, record: AttemptRecord) {
        self.push(record);
    }
}
