//! Queues for events that come up in the order they were scheduled.
//!
//! Most pending events of a retry storm are attempt timeouts, and nearly all of them are not wanted any more
//! by the time they come up. They share one delay, so their order is known without comparing anything:
//! adding and taking one costs a few nanoseconds, however many wait, and one that is cancelled is marked
//! where it stands and never comes up. A stream of arrivals is a lane with one entry.

use super::entry::{Entry, NEVER, key_of};

/// Room in a new lane that is used.
const FIRST_ROOM: usize = 16;

/// A queue of its own for events scheduled in the order they happen; see
/// [`Scheduler::lane`](super::Scheduler::lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(u16);

/// Names an event in a lane, to [cancel](super::Scheduler::cancel) it: the how-manieth of its lane it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// Names no event in any lane.
    pub const NONE: Self = Self(u64::MAX);
}

/// The order number of entries that were cancelled.
const CANCELLED: u64 = 0;

/// One lane: a ring whose length is a power of two. Entry n of the lane is at n modulo the length. The first
/// entry is never a cancelled one.
#[derive(Debug)]
struct Ring<E> {
    entries: Vec<Entry<E>>,
    first: u64,
    end: u64,
    /// The time of the entry added last.
    last_time: u64,
}

/// All lanes. The least key among their heads is always at hand.
#[derive(Debug)]
pub(super) struct Lanes<E> {
    rings: Vec<Ring<E>>,
    /// Key of the head of each ring; [`NEVER`] for an empty one.
    heads: Vec<u128>,
    /// The ring with the least head.
    first: usize,
    /// The least head.
    first_key: u128,
}

impl<E: Copy> Lanes<E> {
    pub(super) const fn new() -> Self {
        Self {
            rings: Vec::new(),
            heads: Vec::new(),
            first: 0,
            first_key: NEVER,
        }
    }

    /// Adds an empty lane.
    pub(super) fn open(&mut self) -> Lane {
        let number = u16::try_from(self.rings.len()).expect("a model makes a handful of lanes");
        self.rings.push(Ring {
            entries: Vec::new(),
            first: 0,
            end: 0,
            last_time: 0,
        });
        self.heads.push(NEVER);
        Lane(number)
    }

    /// Key of the earliest entry in any lane, [`NEVER`] if there is none.
    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.first_key
    }

    /// Adds an entry, the newest of all, to the end of `lane`. `None`, and nothing is done, if the lane
    /// already holds a later one.
    #[inline(always)]
    pub(super) fn push(&mut self, lane: Lane, time: u64, seq: u64, event: E) -> Option<Ticket> {
        let number = usize::from(lane.0);
        let ring = &mut self.rings[number];
        if ring.first == ring.end {
            let key = key_of(time, seq);
            self.heads[number] = key;
            if key < self.first_key {
                (self.first, self.first_key) = (number, key);
            }
        } else if time < ring.last_time {
            return None;
        }
        Some(ring.push(time, seq, event))
    }

    /// Takes the entry with `ticket` out of `lane`. False if it is not there any more.
    #[inline]
    pub(super) fn cancel(&mut self, lane: Lane, ticket: Ticket) -> bool {
        let number = usize::from(lane.0);
        let ring = &mut self.rings[number];
        if ticket.0 < ring.first || ticket.0 >= ring.end {
            return false;
        }
        let entry = ring.at(ticket.0);
        let was_there = entry.seq != CANCELLED;
        entry.seq = CANCELLED;
        if ticket.0 == ring.first {
            self.advance(number);
        }
        was_there
    }

    /// Takes the entry of [`Self::first_key`], if there is one.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        let number = self.first;
        if self.first_key == NEVER {
            return None;
        }
        let ring = &mut self.rings[number];
        let entry = *ring.at(ring.first);
        ring.first += 1;
        self.advance(number);
        Some(entry)
    }

    /// Drops cancelled entries from the front of a lane, and finds the least head anew.
    #[inline]
    fn advance(&mut self, number: usize) {
        self.heads[number] = self.rings[number].next_head();
        (self.first, self.first_key) = (0, NEVER);
        for (number, &key) in self.heads.iter().enumerate() {
            if key < self.first_key {
                (self.first, self.first_key) = (number, key);
            }
        }
    }
}

impl<E: Copy> Ring<E> {
    /// Entry `n` of the lane, which is in it.
    #[inline]
    fn at(&mut self, n: u64) -> &mut Entry<E> {
        let mask = self.entries.len() - 1;
        &mut self.entries[n as usize & mask]
    }

    #[inline]
    fn push(&mut self, time: u64, seq: u64, event: E) -> Ticket {
        if (self.end - self.first) as usize == self.entries.len() {
            self.grow(Entry { time, seq, event });
        }
        let n = self.end;
        let place = self.at(n);
        place.time = time;
        place.seq = seq;
        place.event = event;
        self.end = n + 1;
        self.last_time = time;
        Ticket(n)
    }

    /// Doubles the room; `filler` stands in places that are not in use.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, filler: Entry<E>) {
        let room = (2 * self.entries.len()).max(FIRST_ROOM);
        let mut entries = vec![filler; room];
        for n in self.first..self.end {
            entries[n as usize & (room - 1)] = *self.at(n);
        }
        self.entries = entries;
    }

    /// Drops cancelled entries from the front and gives the key of the first that is left.
    #[inline]
    fn next_head(&mut self) -> u128 {
        while self.first < self.end {
            let first = self.first;
            let head = self.at(first);
            if head.seq != CANCELLED {
                return head.key();
            }
            self.first += 1;
        }
        NEVER
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::time_of;
    use super::*;

    #[test]
    fn lanes_are_merged_by_time_and_then_by_scheduling() {
        let mut lanes = Lanes::new();
        let (slow, fast) = (lanes.open(), lanes.open());
        for (seq, (lane, time)) in [(slow, 5), (fast, 5), (fast, 6), (slow, 9), (fast, 9)]
            .into_iter()
            .enumerate()
        {
            assert!(lanes.push(lane, time, seq as u64 + 1, 0).is_some());
        }
        let order: Vec<_> = std::iter::from_fn(|| lanes.pop().map(|e| e.seq)).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
        assert_eq!(lanes.first_key(), NEVER);
    }

    #[test]
    fn an_entry_before_the_tail_is_refused() {
        let mut lanes = Lanes::new();
        let lane = lanes.open();
        assert!(lanes.push(lane, 5, 1, 0).is_some());
        assert!(lanes.push(lane, 4, 2, 0).is_none());
        assert!(lanes.push(lane, 5, 3, 0).is_some());
        lanes.pop();
        lanes.pop();
        assert!(
            lanes.push(lane, 1, 4, 0).is_some(),
            "an empty lane takes anything"
        );
    }

    #[test]
    fn a_cancelled_entry_never_comes_up_wherever_it_stands() {
        let mut lanes = Lanes::new();
        let lane = lanes.open();
        let tickets: Vec<Ticket> = (1..=6)
            .filter_map(|seq| lanes.push(lane, seq, seq, 0))
            .collect();
        // The middle, the end, then the front with its neighbour already gone.
        for at in [1, 3, 5, 0] {
            assert!(lanes.cancel(lane, tickets[at]));
            assert!(!lanes.cancel(lane, tickets[at]), "once is enough");
        }
        assert_eq!(time_of(lanes.first_key()), 3);
        let order: Vec<_> = std::iter::from_fn(|| lanes.pop().map(|e| e.seq)).collect();
        assert_eq!(order, [3, 5]);
        assert!(!lanes.cancel(lane, tickets[2]), "it has come up");
        assert!(!lanes.cancel(lane, Ticket::NONE));
        assert_eq!(lanes.first_key(), NEVER);
    }
}
