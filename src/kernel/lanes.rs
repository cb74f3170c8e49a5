//! Queues for events that come up in the order they were scheduled.
//!
//! Most pending events of a retry storm are attempt timeouts, and nearly all of them are not wanted any more
//! by the time they come up. They share one delay, so their order is known without comparing anything:
//! adding and taking one costs a few nanoseconds, however many wait, and one that is cancelled is marked
//! where it stands and never comes up. A stream of arrivals is a lane with one entry.

use super::entry::{Entry, NEVER};
use std::collections::VecDeque;

/// Entries from which a full queue is large.
const LARGE: usize = 1024;

/// A queue of its own for events scheduled in the order they happen; see
/// [`Scheduler::lane`](super::Scheduler::lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(u16);

/// Names an event in a lane, to [cancel](super::Scheduler::cancel) it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u64);

impl Ticket {
    /// Names no event in any lane.
    pub const NONE: Self = Self(u64::MAX);
}

/// The order number of entries that were cancelled.
const CANCELLED: u64 = 0;

/// One lane. Its first entry is never a cancelled one.
#[derive(Debug)]
struct Queue<E> {
    line: VecDeque<Entry<E>>,
    /// Entries that have left the front: the ticket of the first one in the line.
    left: u64,
}

/// All lanes. The least key among their heads is always at hand.
#[derive(Debug)]
pub(super) struct Lanes<E> {
    queues: Vec<Queue<E>>,
    /// Key of the head of each queue; [`NEVER`] for an empty one.
    heads: Vec<u128>,
    /// The queue with the least head.
    first: usize,
    /// The least head.
    first_key: u128,
}

impl<E: Copy> Lanes<E> {
    pub(super) const fn new() -> Self {
        Self {
            queues: Vec::new(),
            heads: Vec::new(),
            first: 0,
            first_key: NEVER,
        }
    }

    /// Adds an empty lane.
    pub(super) fn open(&mut self) -> Lane {
        let number = u16::try_from(self.queues.len()).expect("a model makes a handful of lanes");
        self.queues.push(Queue {
            line: VecDeque::new(),
            left: 0,
        });
        self.heads.push(NEVER);
        Lane(number)
    }

    /// Key of the earliest entry in any lane, [`NEVER`] if there is none.
    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.first_key
    }

    /// Adds `entry`, the newest of all, to the end of `lane`. `None`, and nothing is done, if the lane
    /// already holds a later one.
    #[inline]
    pub(super) fn push(&mut self, lane: Lane, entry: Entry<E>) -> Option<Ticket> {
        let number = usize::from(lane.0);
        let queue = &mut self.queues[number];
        match queue.line.back() {
            Some(tail) if entry.time < tail.time => return None,
            Some(_) => {}
            None => {
                self.heads[number] = entry.key();
                if entry.key() < self.first_key {
                    self.first_key = entry.key();
                    self.first = number;
                }
            }
        }
        if queue.line.len() == queue.line.capacity() {
            grow(&mut queue.line);
        }
        queue.line.push_back(entry);
        Some(Ticket(queue.left + queue.line.len() as u64 - 1))
    }

    /// Takes the entry with `ticket` out of `lane`. False if it is not there any more.
    #[inline]
    pub(super) fn cancel(&mut self, lane: Lane, ticket: Ticket) -> bool {
        let number = usize::from(lane.0);
        let queue = &mut self.queues[number];
        let place = ticket.0.wrapping_sub(queue.left) as usize;
        let Some(entry) = queue.line.get_mut(place) else {
            return false;
        };
        let was_there = entry.seq != CANCELLED;
        entry.seq = CANCELLED;
        if place == 0 {
            self.heads[number] = queue.next_head();
            self.find_first();
        }
        was_there
    }

    /// Takes the entry of [`Self::first_key`].
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        let queue = self.queues.get_mut(self.first)?;
        let entry = queue.line.pop_front()?;
        queue.left += 1;
        self.heads[self.first] = queue.next_head();
        self.find_first();
        Some(entry)
    }

    #[inline]
    fn find_first(&mut self) {
        (self.first, self.first_key) = (0, NEVER);
        for (number, &key) in self.heads.iter().enumerate() {
            if key < self.first_key {
                (self.first, self.first_key) = (number, key);
            }
        }
    }
}

impl<E: Copy> Queue<E> {
    /// Drops cancelled entries from the front and gives the key of the first that is left.
    #[inline]
    fn next_head(&mut self) -> u128 {
        while let Some(head) = self.line.front() {
            if head.seq != CANCELLED {
                return head.key();
            }
            self.line.pop_front();
            self.left += 1;
        }
        NEVER
    }
}

/// Lets a large full queue grow by a quarter: doubling would take room for two million entries to hold
/// one million.
#[cold]
fn grow<E>(queue: &mut VecDeque<Entry<E>>) {
    if queue.len() >= LARGE {
        queue.reserve_exact(queue.len() / 4);
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::time_of;
    use super::*;

    fn entry(time: u64, seq: u64) -> Entry<()> {
        Entry {
            time,
            seq,
            event: (),
        }
    }

    #[test]
    fn lanes_are_merged_by_time_and_then_by_scheduling() {
        let mut lanes = Lanes::new();
        let (slow, fast) = (lanes.open(), lanes.open());
        for (seq, (lane, time)) in [(slow, 5), (fast, 5), (fast, 6), (slow, 9), (fast, 9)]
            .into_iter()
            .enumerate()
        {
            assert!(lanes.push(lane, entry(time, seq as u64 + 1)).is_some());
        }
        let order: Vec<_> = std::iter::from_fn(|| lanes.pop().map(|e| e.seq)).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
        assert_eq!(lanes.first_key(), NEVER);
    }

    #[test]
    fn an_entry_before_the_tail_is_refused() {
        let mut lanes = Lanes::new();
        let lane = lanes.open();
        assert!(lanes.push(lane, entry(5, 1)).is_some());
        assert!(lanes.push(lane, entry(4, 2)).is_none());
        assert!(lanes.push(lane, entry(5, 3)).is_some());
        lanes.pop();
        lanes.pop();
        assert!(
            lanes.push(lane, entry(1, 4)).is_some(),
            "an empty lane takes anything"
        );
    }

    #[test]
    fn a_cancelled_entry_never_comes_up_wherever_it_stands() {
        let mut lanes = Lanes::new();
        let lane = lanes.open();
        let tickets: Vec<Ticket> = (1..=6)
            .filter_map(|seq| lanes.push(lane, entry(seq, seq)))
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
