//! The attempts of a request that are in flight at a time.

use crate::rng::Key;
use crate::time::SimTime;

/// An attempt of a round that is in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Live {
    pub(super) key: Key,
    pub(super) job: u32,
    pub(super) number: u32,
    /// Whether the budget counts it as a retry.
    pub(super) retry: bool,
    pub(super) sent_at: SimTime,
}

/// The present round of a request.
#[derive(Clone, Debug, Default)]
pub(super) struct Round {
    pub(super) live: Vec<Live>,
    /// Hedges sent in this round, and in all rounds since the request began.
    pub(super) sent: u32,
    pub(super) all: u32,
    /// The number of the attempt that ended the round, and whether the budget counts it as a retry.
    pub(super) answered: (u32, bool),
    /// When the next hedge is due; an event at another time is out of date.
    pub(super) due: Option<SimTime>,
}
