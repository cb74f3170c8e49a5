//! What can happen in a world.

/// What happens. Eight bytes, so that an entry of the event list is small.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// The next request of a group's stream arrives.
    Arrival { group: u16 },
    /// A client of a closed loop has paused long enough.
    PauseOver { group: u16, client: u32 },
    /// A job reaches the service.
    Reached { job: u32 },
    /// A job's service ends.
    Served { job: u32 },
    /// The answer to a job reaches the client.
    Answered { job: u32 },
    /// A client's patience with an attempt, or with a request, is over.
    GaveUp { request: u32 },
    /// A client has waited long enough to try again.
    RetryDue { request: u32 },
    /// A pool has a free place.
    PoolFreed { group: u16, pool: u32 },
    /// A request has waited for a place long enough.
    PoolWaitOver { request: u32 },
    /// A bin of the timeline begins, and the levels of budgets and breakers are noted.
    LevelsDue,
    /// A request has waited long enough to send another attempt beside the present one.
    HedgeDue { request: u32 },
    /// A dead letter of a group is due to come back.
    LetterDue { group: u16 },
    /// A dead letter of a group may have been kept for too long.
    LetterExpires { group: u16 },
    /// A fault starts, ends or moves on.
    ConditionsChanged,
}

const _: () = assert!(size_of::<Event>() <= 8);
