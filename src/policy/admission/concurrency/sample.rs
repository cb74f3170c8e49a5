//! What a limit learns from an attempt.

use crate::time::SimDuration;

/// An attempt that has left the server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// How long it was inside, from its admission to its end.
    pub rtt: SimDuration,
    /// How many attempts were inside when it was admitted, itself included.
    pub in_flight: u32,
    /// Whether it failed for want of capacity: dropped from a queue, or not done in time.
    pub dropped: bool,
    /// A random number, uniform from 0 to 1.
    pub luck: f64,
}

impl Sample {
    /// Its time inside in nanoseconds, at least one, so that it can be divided by.
    pub(super) fn nanos(&self) -> f64 {
        self.rtt.as_nanos().max(1) as f64
    }
}
