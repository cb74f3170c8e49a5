//! Who tries when: the attempts of the first clients in one replication.
//!
//! They are recorded in a run of their own, so that the runs that count need no log and no result depends on it.

use super::error::RunError;
use super::run::{log_attempts, simulate};
use super::workers::Workers;
use crate::model::{AttemptLog, AttemptRecord};
use crate::outcome::AttemptOutcome;
use crate::scenario::Plan;
use crate::time::SimTime;
use rayon::prelude::*;

/// Attempts of clients with lower numbers are kept.
pub const TRIES_CLIENTS: u32 = 200;
/// Of a strategy no more attempts are kept.
const MOST_KEPT: usize = 50_000;
/// More strategies than this are not recorded: no chart shows them.
const MOST_STRATEGIES: usize = 8;
/// With fewer replications than this the run costs hardly more than its record, ...
const FEW_REPLICATIONS: u32 = 3;
/// ... which does not matter when it has no more requests than this, a second's work at the most.
const FEW_REQUESTS: f64 = 300_000.0;

/// An attempt that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Try {
    /// Its client, from 0.
    pub client: u32,
    /// When it was sent.
    pub at: SimTime,
    /// Whether it was another than the first of its request.
    pub retry: bool,
}

/// The attempts of the first clients under one strategy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tries {
    /// The strategy's place among those that are compared.
    pub strategy: usize,
    /// The attempts in the order of their ends.
    pub tries: Vec<Try>,
}

/// Keeps the attempts of the first clients of the first group.
#[derive(Debug, Default)]
struct FirstClients {
    tries: Vec<Try>,
}

impl AttemptLog for FirstClients {
    const ENABLED: bool = true;
    fn record(&mut self, record: AttemptRecord) {
        let sent = !record.outcome.is_some_and(AttemptOutcome::is_local);
        let ours = record.group == 0 && record.client < TRIES_CLIENTS && sent;
        if ours && self.tries.len() < MOST_KEPT {
            self.tries.push(Try {
                client: record.client,
                at: record.sent_at,
                retry: record.attempt > 1 || record.redrives > 0,
            });
        }
    }
}

/// The attempts of the first clients in the first replication, under some of the compared strategies, which are named
/// by their places: eight at the most. Nothing when recording them would cost about as much as the run of
/// `replications` itself. `threads` of zero uses every processor.
///
/// # Errors
/// When a world stands still or the program fails.
pub fn first_tries(
    plan: &Plan,
    replications: u32,
    places: &[usize],
    threads: usize,
) -> Result<Vec<Tries>, RunError> {
    let requests = plan.estimate.requests * places.len() as f64;
    if replications < FEW_REPLICATIONS && requests > FEW_REQUESTS {
        return Ok(Vec::new());
    }
    let workers = Workers::new(threads)?;
    let mut world = plan.world.clone();
    world.most_in_flight /= workers.threads();
    let one = |&place: &usize| {
        let strategy = plan.compared[place];
        let log = FirstClients::default();
        let done = match simulate(plan, &world, strategy, 0, log, &|| ()) {
            // The worlds that run at once share the memory; one that needs more gets all of it.
            Err(RunError::Crowded { .. }) => {
                log_attempts(plan, strategy, 0, FirstClients::default())
            }
            done => done,
        };
        done.map(|(_, log)| Tries {
            strategy: place,
            tries: log.tries,
        })
    };
    let places = &places[..places.len().min(MOST_STRATEGIES)];
    match workers {
        Workers::Here => places.iter().map(one).collect(),
        Workers::Pool(pool) => pool.install(|| places.par_iter().map(one).collect()),
    }
}
