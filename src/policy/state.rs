//! What is remembered between retries. Whose it is, a request's or a client's, its owner decides.

use crate::time::SimDuration;

/// What a request, or a client, remembers of its retries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BackoffState {
    /// Retries since the state was new, up to the range of the type.
    pub retries: u32,
    /// The nominal delay before the last retry; only the decorrelated form uses it.
    pub previous: SimDuration,
}

impl BackoffState {
    /// Before the first retry.
    pub const NEW: Self = Self {
        retries: 0,
        previous: SimDuration::ZERO,
    };
}
