//! Queues for events that come up in the order they were scheduled.
//!
//! Most pending events of a retry storm are attempt timeouts, and nearly all of them are stale by the
//! time they come up. They share one delay, so their order is known without comparing anything: adding
//! and taking one costs a few nanoseconds, however many wait. A stream of arrivals is a lane with
//! one entry.

use super::entry::{Entry, NEVER};
use std::collections::VecDeque;

/// Entries from which a full queue is large.
const LARGE: usize = 1024;

/// A queue of its own for events scheduled in the order they happen; see
/// [`Scheduler::lane`](super::Scheduler::lane).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(u16);

/// All lanes. The least key among their heads is always at hand.
#[derive(Debug)]
pub(super) struct Lanes<E> {
    queues: Vec<VecDeque<Entry<E>>>,
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
        self.queues.push(VecDeque::new());
        self.heads.push(NEVER);
        Lane(number)
    }

    /// Key of the earliest entry in any lane, [`NEVER`] if there is none.
    #[inline]
    pub(super) fn first_key(&self) -> u128 {
        self.first_key
    }

    /// Adds `entry`, the newest of all, to the end of `lane`. False, and nothing is done, if the lane
    /// already holds a later one.
    #[inline]
    pub(super) fn push(&mut self, lane: Lane, entry: Entry<E>) -> bool {
        let number = usize::from(lane.0);
        let queue = &mut self.queues[number];
        match queue.back() {
            Some(tail) if entry.time < tail.time => return false,
            Some(_) => {}
            None => {
                self.heads[number] = entry.key();
                if entry.key() < self.first_key {
                    self.first_key = entry.key();
                    self.first = number;
                }
            }
        }
        if queue.len() == queue.capacity() {
            grow(queue);
        }
        queue.push_back(entry);
        true
    }

    /// Takes the entry of [`Self::first_key`].
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        let queue = self.queues.get_mut(self.first)?;
        let entry = queue.pop_front()?;
        self.heads[self.first] = queue.front().map_or(NEVER, Entry::key);
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
            assert!(lanes.push(lane, entry(time, seq as u64 + 1)));
        }
        let order: Vec<_> = std::iter::from_fn(|| lanes.pop().map(|e| e.seq)).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
        assert_eq!(lanes.first_key(), NEVER);
    }

    #[test]
    fn an_entry_before_the_tail_is_refused() {
        let mut lanes = Lanes::new();
        let lane = lanes.open();
        assert!(lanes.push(lane, entry(5, 1)));
        assert!(!lanes.push(lane, entry(4, 2)));
        assert!(lanes.push(lane, entry(5, 3)));
        lanes.pop();
        lanes.pop();
        assert!(
            lanes.push(lane, entry(1, 4)),
            "an empty lane takes anything"
        );
    }
}
