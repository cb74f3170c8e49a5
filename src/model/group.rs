//! The state of a client group while a world runs.

use super::clients::GroupPlan;
use super::event::Event;
use super::letters::LetterBox;
use super::slab::NONE;
use super::strategy::Strategy;
use super::stream::Stream;
use crate::kernel::{Lane, Scheduler};
use crate::policy::BackoffState;
use crate::rng::Key;

/// A line of requests for places in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pool {
    pub(super) in_flight: u32,
    pub(super) first: u32,
    pub(super) last: u32,
    /// Whether an event that lets the next one in is under way.
    pub(super) opening: bool,
}

/// The state of a client group.
#[derive(Debug)]
pub(super) struct Group<'p> {
    pub(super) plan: &'p GroupPlan,
    pub(super) strategy: &'p Strategy,
    pub(super) key: Key,
    pub(super) stream: Stream<'p>,
    /// One bit a client of a thinned closed loop: it has a request in flight.
    pub(super) busy: Vec<u64>,
    /// Requests made by each client of a closed loop with events.
    pub(super) calls: Vec<u32>,
    pub(super) pools: Vec<Pool>,
    /// Backoff that lives on in the client.
    pub(super) backoff: Vec<BackoffState>,
    /// Jitter numbers drawn by each client, when generators are shared.
    pub(super) jitter_drawn: Vec<u32>,
    /// Attempts of each client that reached the service, for faults that count them.
    pub(super) attempts_seen: Vec<u32>,
    /// Requests that have failed and are kept.
    pub(super) letters: LetterBox,
    pub(super) arrival_lane: Lane,
    pub(super) give_up_lane: Option<Lane>,
    pub(super) pause_lane: Option<Lane>,
    pub(super) retry_lane: Option<Lane>,
}
impl<'p> Group<'p> {
    pub(super) fn new(
        plan: &'p GroupPlan,
        strategy: &'p Strategy,
        key: Key,
        counts_attempts: bool,
        scheduler: &mut Scheduler<Event>,
    ) -> Self {
        let clients = plan.count as usize;
        let when = |needed: bool| if needed { clients } else { 0 };
        let pools = plan
            .pool
            .map_or(0, |(_, per_client, _)| if per_client { clients } else { 1 });
        let empty = Pool {
            in_flight: 0,
            first: NONE,
            last: NONE,
            opening: false,
        };
        Self {
            plan,
            strategy,
            key,
            stream: Stream::new(&plan.arrivals, plan.count, key),
            busy: vec![0; when(plan.arrivals.is_thinned()).div_ceil(64)],
            calls: vec![0; when(plan.arrivals.client_pauses().is_some())],
            pools: vec![empty; pools],
            backoff: vec![BackoffState::default(); when(strategy.rule.backoff.uses_client_state())],
            jitter_drawn: vec![0; when(strategy.generators > 0)],
            attempts_seen: vec![0; when(counts_attempts)],
            letters: LetterBox::default(),
            arrival_lane: scheduler.lane(),
            give_up_lane: strategy.gives_up_in_order().then(|| scheduler.lane()),
            pause_lane: plan.arrivals.constant_pause().then(|| scheduler.lane()),
            retry_lane: strategy.waits_alike().then(|| scheduler.lane()),
        }
    }
}
