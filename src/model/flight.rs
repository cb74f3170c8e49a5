//! What is in flight: requests, and the jobs that their attempts are for the service.

use super::slab::NONE;
use crate::kernel::Ticket;
use crate::outcome::AttemptOutcome;
use crate::policy::BackoffState;
use crate::rng::Key;
use crate::time::{SimDuration, SimTime};

const _: () = assert!(size_of::<Job>() == 64 && size_of::<Request>() == 128);

/// What a request is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing: the place is free.
    Ended,
    /// Waiting for a place in its client's pool.
    InPool,
    /// An attempt is in flight.
    Attempting,
    /// Waiting for its next attempt.
    BackingOff,
    /// It has failed and is kept as a letter.
    DeadLettered,
}

/// A request in flight. A power of two bytes makes its address a shift of its index.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Request {
    pub(super) number: u64,
    /// What its attempts derive their random numbers from.
    pub(super) key: Key,
    /// The key of the present attempt: an answer with another key comes too late.
    pub(super) attempt_key: Key,
    pub(super) intended_at: SimTime,
    pub(super) sent_at: SimTime,
    /// When the client stops waiting for the present attempt or for a place.
    pub(super) gives_up_at: SimTime,
    pub(super) deadline: SimTime,
    pub(super) backoff: BackoffState,
    pub(super) backed_off: SimDuration,
    pub(super) client: u32,
    pub(super) attempts: u32,
    pub(super) job: u32,
    /// Its neighbours in the line for a place in the pool.
    pub(super) next_in_pool: u32,
    pub(super) previous_in_pool: u32,
    /// The bin of the timeline in which it started.
    pub(super) bin: u32,
    /// Attempts that were sent: the client may hold some back, and letters begin to count anew.
    pub(super) sent: u32,
    /// How often it has come back as a letter.
    pub(super) redrives: u32,
    pub(super) group: u16,
    pub(super) stage: Stage,
    /// Whether it is inside the measuring window.
    pub(super) counted: bool,
    /// Whether its present attempt may have hedges beside it.
    pub(super) hedges: bool,
    /// The event that ends its patience, if that is in the lane for such events.
    pub(super) give_up: Ticket,
}

impl Request {
    /// A request that has done nothing yet.
    pub(super) const BLANK: Self = Self {
        number: 0,
        key: Key::NOBODY,
        attempt_key: Key::NOBODY,
        intended_at: SimTime::ZERO,
        sent_at: SimTime::ZERO,
        gives_up_at: SimTime::MAX,
        deadline: SimTime::MAX,
        backoff: BackoffState::NEW,
        backed_off: SimDuration::ZERO,
        client: 0,
        attempts: 0,
        job: NONE,
        next_in_pool: NONE,
        previous_in_pool: NONE,
        bin: 0,
        sent: 0,
        redrives: 0,
        group: 0,
        stage: Stage::Ended,
        counted: false,
        hedges: false,
        give_up: Ticket::NONE,
    };
}

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Whereabouts {
    Travelling,
    Waiting,
    InService,
    /// Its answer is on the way back.
    Returning,
    /// Its worker was told to stop, or the work was lost.
    Stopped,
}

/// An attempt as the service sees it. It outlives the request when nobody waits for it any more. One cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(super) struct Job {
    pub(super) key: Key,
    pub(super) request: u32,
    pub(super) client: u32,
    pub(super) group: u16,
    pub(super) whereabouts: Whereabouts,
    pub(super) retry: bool,
    pub(super) counted: bool,
    pub(super) outcome: AttemptOutcome,
    /// The code of its answer; before that, the one of a fault that has decided.
    pub(super) code: u16,
    /// Whether a fault has already decided that it fails.
    pub(super) doomed: bool,
    /// How many attempts were inside when it was admitted, itself included, up to the range of the type.
    pub(super) inside: u16,
    /// The wait that its client is told, in milliseconds; 0 when none is.
    pub(super) told_ms: u32,
    /// Its place in the queue.
    pub(super) ticket: u64,
    pub(super) reached_at: SimTime,
    /// When its service started; [`SimTime::MAX`] before that.
    pub(super) started_at: SimTime,
    /// When its service ends, or its answer reaches the client.
    pub(super) done_at: SimTime,
}

impl Job {
    /// The present attempt of a request, leaving at `now`.
    #[inline(always)]
    pub(super) fn of(request: &Request, index: u32, now: SimTime) -> Self {
        Self {
            key: request.attempt_key,
            request: index,
            client: request.client,
            group: request.group,
            whereabouts: Whereabouts::Travelling,
            retry: request.attempts > 1,
            counted: request.counted,
            outcome: AttemptOutcome::Ok,
            code: 0,
            doomed: false,
            inside: 0,
            told_ms: 0,
            ticket: 0,
            reached_at: now,
            started_at: SimTime::MAX,
            done_at: SimTime::MAX,
        }
    }

    /// When the service of the attempt with `key` started, if this is its job: the place of a job that has gone holds it
    /// until another takes the place.
    pub(super) fn start_with(&self, key: Key) -> Option<SimTime> {
        let started = self.key == key && self.started_at < SimTime::MAX;
        started.then_some(self.started_at)
    }

    /// The wait that its client is told with an answer like this, if any.
    #[inline]
    pub(super) fn told(&self, outcome: AttemptOutcome) -> Option<SimDuration> {
        let is_refusal = matches!(
            outcome,
            AttemptOutcome::Error | AttemptOutcome::Shed | AttemptOutcome::QueueFull
        );
        (is_refusal && self.told_ms > 0).then(|| SimDuration::from_millis(u64::from(self.told_ms)))
    }

    /// Whether the client still waits for this attempt of `request`.
    #[inline(always)]
    pub(super) fn is_awaited_by(&self, request: &Request) -> bool {
        request.stage == Stage::Attempting && request.attempt_key == self.key
    }
}
