//! The threads that replications and cells run on.

use super::error::RunError;

/// More threads than this only cost.
pub const MOST_THREADS: usize = 1_024;

/// What `work` makes of each item, in their order, with so many threads; at least one.
///
/// # Panics
/// When `work` does.
pub fn side_by_side<T: Sync, R: Send>(
    items: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let share = items.len().div_ceil(threads.max(1)).max(1);
    let work = &work;
    std::thread::scope(|scope| {
        let parts = items.chunks(share);
        let parts =
            parts.map(|part| scope.spawn(move || part.iter().map(work).collect::<Vec<R>>()));
        let parts: Vec<_> = parts.collect();
        let done = parts.into_iter().flat_map(|part| {
            let done = part.join();
            done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        done.collect()
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_keep_their_order_on_any_number_of_threads() {
        let items: Vec<u32> = (0..7).collect();
        for threads in [0, 1, 2, 3, 100] {
            let twice = side_by_side(&items, threads, |item| 2 * item);
            assert_eq!(twice, [0, 2, 4, 6, 8, 10, 12], "{threads}");
        }
        assert!(side_by_side(&[], 4, |item: &u32| *item).is_empty());
    }
}
