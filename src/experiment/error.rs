//! Why a run ends without a result.

use crate::model::MOST_IN_FLIGHT;
use crate::time::SimTime;
use thiserror::Error;

/// Why a run has no result.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RunError {
    /// A world did not move on in time.
    #[error(
        "\"{strategy}\" stands still at {at}: {events} events at one instant (replication {replication})"
    )]
    Stuck {
        /// The strategy.
        strategy: String,
        /// The replication.
        replication: u32,
        /// When.
        at: SimTime,
        /// How many events happened then.
        events: u64,
    },
    /// It made more attempts than allowed.
    #[error(
        "\"{strategy}\" makes more than {limit} attempts by {at} (replication {replication}); slow the retries down, shorten the run, or raise `run.max_requests`"
    )]
    Endless {
        /// The strategy.
        strategy: String,
        /// The replication.
        replication: u32,
        /// When.
        at: SimTime,
        /// Attempts allowed.
        limit: u64,
    },
    /// Work piled up without bound.
    #[error(
        "\"{strategy}\" piles up more than {MOST_IN_FLIGHT} requests or attempts by {at} (replication {replication}); bound the queue, the retries or the run"
    )]
    Crowded {
        /// The strategy.
        strategy: String,
        /// The replication.
        replication: u32,
        /// When.
        at: SimTime,
    },
    /// A bug.
    #[error("\"{strategy}\" failed in replication {replication}: {message}")]
    Panicked {
        /// The strategy.
        strategy: String,
        /// The replication.
        replication: u32,
        /// What the program said.
        message: String,
    },
    /// The threads could not be started.
    #[error("the threads could not be started: {0}")]
    Threads(String),
}
