//! The clock and the list of what will happen, as a model sees them.

use super::entry::{Entry, time_of};
use super::lanes::{Lane, Lanes, Ticket};
use super::timeline::Timeline;
use crate::time::{SimDuration, SimTime};

/// Knows the time and takes new events. Events at the same time happen in the order they were scheduled.
#[derive(Debug)]
pub struct Scheduler<E: Copy> {
    now: u64,
    /// Events scheduled so far; the number of the newest.
    scheduled: u64,
    /// Events taken out so far.
    taken: u64,
    /// Events cancelled so far.
    cancelled: u64,
    timeline: Timeline<E>,
    lanes: Lanes<E>,
}

impl<E: Copy> Scheduler<E> {
    pub(super) fn new() -> Self {
        Self {
            now: 0,
            scheduled: 0,
            taken: 0,
            cancelled: 0,
            timeline: Timeline::new(),
            lanes: Lanes::new(),
        }
    }

    /// The present: the time of the event being handled.
    #[inline]
    pub fn now(&self) -> SimTime {
        SimTime::from_nanos(self.now)
    }

    /// Lets `event` happen at `time`.
    ///
    /// # Panics
    ///
    /// If `time` is in the past.
    #[inline]
    pub fn at(&mut self, time: SimTime, event: E) {
        let entry = self.entry(time, event);
        self.timeline.push(entry.time, entry.seq, entry.event);
    }

    /// Lets `event` happen after `delay`.
    #[inline]
    pub fn after(&mut self, delay: SimDuration, event: E) {
        self.at(self.now() + delay, event);
    }

    /// A new lane. Give one to each source of events that are scheduled in the order they happen, such as
    /// a constant delay or a stream of arrivals; it makes them cheaper and changes nothing else.
    ///
    /// # Panics
    ///
    /// If there are already 65,536 lanes. A handful is sensible: every lane makes the others slower.
    pub fn lane(&mut self) -> Lane {
        self.lanes.open()
    }

    /// Lets `event` happen at `time`, expecting that it is not before the last one in `lane`. If it is,
    /// it still happens at its time, but cannot be cancelled: its ticket is [`Ticket::NONE`].
    ///
    /// # Panics
    ///
    /// If `time` is in the past, or `lane` was made by another scheduler.
    #[inline(always)]
    pub fn at_in(&mut self, lane: Lane, time: SimTime, event: E) -> Ticket {
        let Entry { time, seq, event } = self.entry(time, event);
        let ticket = self.lanes.push(lane, time, seq, event);
        ticket.unwrap_or_else(|| {
            self.timeline.push(time, seq, event);
            Ticket::NONE
        })
    }

    /// Lets `event` happen after `delay`, which should be the same for all in `lane`.
    ///
    /// # Panics
    ///
    /// If `lane` was made by another scheduler.
    #[inline]
    pub fn after_in(&mut self, lane: Lane, delay: SimDuration, event: E) -> Ticket {
        self.at_in(lane, self.now() + delay, event)
    }

    /// Lets the event with `ticket` in `lane` never happen. Does nothing if it has happened, was cancelled or
    /// never was in a lane.
    ///
    /// # Panics
    ///
    /// If `lane` was made by another scheduler.
    #[inline]
    pub fn cancel(&mut self, lane: Lane, ticket: Ticket) {
        self.cancelled += u64::from(self.lanes.cancel(lane, ticket));
    }

    /// How many events are yet to happen.
    pub fn pending(&self) -> usize {
        (self.scheduled - self.taken - self.cancelled) as usize
    }

    /// How many events have been taken out.
    #[inline]
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    #[inline]
    fn entry(&mut self, time: SimTime, event: E) -> Entry<E> {
        let time = time.as_nanos();
        assert!(time >= self.now, "an event was scheduled into the past");
        self.scheduled += 1;
        Entry {
            time,
            seq: self.scheduled,
            event,
        }
    }

    /// Takes the next event, if it is not after `limit`, and makes its time the present.
    #[inline(always)]
    pub(super) fn pop(&mut self, limit: u64) -> Option<(u64, E)> {
        let lane_key = self.lanes.first_key();
        let limit_of_run = time_of(lane_key).min(limit);
        if self.timeline.is_due(limit_of_run) {
            self.timeline.open(limit_of_run);
        }
        let entry = match self.timeline.first() {
            Some(entry) if entry.key() < lane_key => {
                if entry.time > limit {
                    return None;
                }
                self.timeline.pop()?
            }
            _ => {
                if time_of(lane_key) > limit {
                    return None;
                }
                self.lanes.pop()?
            }
        };
        self.now = entry.time;
        self.taken += 1;
        Some((entry.time, entry.event))
    }

    /// Lets time pass until `time`, before which nothing may be pending.
    pub(super) fn pass_until(&mut self, time: u64) {
        self.now = self.now.max(time);
    }
}
