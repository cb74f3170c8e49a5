//! The waiting line of a service.
//!
//! Callers may leave from anywhere in the line. Searching for them would cost its length, so their places
//! become tombstones that no longer count, and the line is swept once half of it is tombstones.

use crate::choice;
use crate::policy::admission::AdaptiveLifo;
use crate::rng::Draws;
use crate::time::SimTime;
use std::collections::VecDeque;

choice! {
    /// Which waiting attempt is served next.
    pub enum Discipline as "queue discipline" {
        /// The one that has waited longest.
        Fifo = "fifo", r#""fifo""#;
        /// The one that came last.
        Lifo = "lifo", r#""lifo""#;
        /// Any, with equal probability.
        Random = "random", r#""random""#;
        /// The one that has waited longest; the one that came last while a queue lasts.
        AdaptiveLifo(AdaptiveLifo) = "adaptive_lifo", r#"{ adaptive_lifo = { after = "100ms" } }"#;
    }
}

/// Stands for a caller that has left; never a job's index.
const GONE: u32 = u32::MAX;

/// A place in the line. Tickets grow with the order of arrival.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ticket: u64,
    job: u32,
}

/// Waiting jobs by index, with the number of those that have not left.
#[derive(Debug)]
pub(super) struct JobQueue {
    line: VecDeque<Waiting>,
    live: u32,
    next_ticket: u64,
    discipline: Discipline,
    /// When the line was last empty.
    empty_until: SimTime,
}

impl JobQueue {
    pub(super) fn new(discipline: Discipline) -> Self {
        Self {
            line: VecDeque::new(),
            live: 0,
            next_ticket: 0,
            discipline,
            empty_until: SimTime::ZERO,
        }
    }

    /// Jobs waiting.
    #[inline]
    pub(super) fn len(&self) -> u32 {
        self.live
    }

    /// Adds a job at the end and gives it a ticket, with which it may [`leave`](Self::leave).
    #[inline]
    pub(super) fn push(&mut self, job: u32, now: SimTime) -> u64 {
        if self.live == 0 {
            self.empty_until = now;
        }
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        self.line.push_back(Waiting { ticket, job });
        self.live += 1;
        ticket
    }

    /// Takes the next job. `draws` is used by the random discipline alone.
    #[inline]
    pub(super) fn pop(&mut self, draws: &mut Draws, now: SimTime) -> Option<u32> {
        while self.live > 0 {
            let next = match &self.discipline {
                Discipline::Fifo => self.line.pop_front(),
                Discipline::Lifo => self.line.pop_back(),
                Discipline::AdaptiveLifo(rule) if rule.newest_first(now - self.empty_until) => {
                    self.line.pop_back()
                }
                Discipline::AdaptiveLifo(_) => self.line.pop_front(),
                Discipline::Random => self
                    .line
                    .swap_remove_back(draws.below(self.line.len() as u64) as usize),
            }?;
            if next.job != GONE {
                self.live -= 1;
                return Some(next.job);
            }
        }
        self.line.clear();
        None
    }

    /// Lets the job with `ticket` leave: O(log n), or O(n) under random order, which shuffles the line.
    pub(super) fn leave(&mut self, ticket: u64) {
        let place = match self.discipline {
            Discipline::Random => self
                .line
                .iter()
                .position(|waiting| waiting.ticket == ticket),
            _ => self
                .line
                .binary_search_by_key(&ticket, |waiting| waiting.ticket)
                .ok(),
        };
        let Some(waiting) = place.and_then(|place| self.line.get_mut(place)) else {
            return;
        };
        waiting.job = GONE;
        self.live -= 1;
        if self.line.len() > 32 && (self.live as usize) < self.line.len() / 2 {
            self.line.retain(|waiting| waiting.job != GONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, Purpose};

    fn served(discipline: Discipline, leaving: &[u32]) -> Vec<u32> {
        let mut draws = Key::root(1, 1).draws(Purpose::QueueOrder);
        let mut queue = JobQueue::new(discipline);
        let tickets: Vec<u64> = (0..6).map(|job| queue.push(job, SimTime::ZERO)).collect();
        leaving
            .iter()
            .for_each(|&job| queue.leave(tickets[job as usize]));
        assert_eq!(queue.len() as usize, 6 - leaving.len());
        std::iter::from_fn(|| queue.pop(&mut draws, SimTime::ZERO)).collect()
    }

    #[test]
    fn disciplines_serve_in_their_order_and_skip_those_who_left() {
        assert_eq!(served(Discipline::Fifo, &[0, 3]), [1, 2, 4, 5]);
        assert_eq!(served(Discipline::Lifo, &[5, 3]), [4, 2, 1, 0]);
        let mut random = served(Discipline::Random, &[2]);
        random.sort_unstable();
        assert_eq!(random, [0, 1, 3, 4, 5]);
    }

    #[test]
    fn a_line_of_tombstones_is_swept_and_stays_in_order() {
        let mut draws = Key::root(1, 1).draws(Purpose::QueueOrder);
        let mut queue = JobQueue::new(Discipline::Fifo);
        let tickets: Vec<u64> = (0..1000)
            .map(|job| queue.push(job, SimTime::ZERO))
            .collect();
        tickets
            .iter()
            .filter(|&&ticket| ticket % 10 != 0)
            .for_each(|&ticket| queue.leave(ticket));
        assert!(queue.line.len() < 210, "{}", queue.line.len());
        let rest: Vec<u32> = std::iter::from_fn(|| queue.pop(&mut draws, SimTime::ZERO)).collect();
        assert_eq!(rest, (0..1000).step_by(10).collect::<Vec<_>>());
    }
}
