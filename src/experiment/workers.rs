//! The threads that replications and cells run on.

use super::error::RunError;

/// More threads than this only cost.
pub const MOST_THREADS: usize = 1_024;

/// The threads that replications run on.
#[derive(Debug)]
pub(super) enum Workers {
    /// The one that asks.
    Here,
    /// Several.
    Pool(rayon::ThreadPool),
}

impl Workers {
    /// So many threads, [`MOST_THREADS`] at the most; zero uses every processor.
    pub(super) fn new(threads: usize) -> Result<Self, RunError> {
        if threads == 1 {
            return Ok(Self::Here);
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.min(MOST_THREADS))
            .build();
        let pool = pool.map_err(|error| RunError::Threads(error.to_string()))?;
        Ok(Self::Pool(pool))
    }

    /// How many there are.
    pub(super) fn threads(&self) -> usize {
        match self {
            Self::Here => 1,
            Self::Pool(pool) => pool.current_num_threads(),
        }
    }

    /// Runs `work` on each of them and waits for all.
    pub(super) fn on_each_thread(&self, work: &(impl Fn() + Sync)) {
        match self {
            Self::Here => work(),
            Self::Pool(pool) => {
                pool.broadcast(|_| work());
            }
        }
    }
}
