//! The order of events against a sorted map, for any schedule.

use super::entry::Entry;
use super::{Lane, Scheduler, Ticket};
use crate::time::SimTime;
use proptest::prelude::*;
use rand::rngs::SmallRng;
use rand::{Rng, RngExt, SeedableRng};
use std::collections::BTreeMap;

/// The scheduler beside the simplest thing that does the same.
struct Pair {
    scheduler: Scheduler<u64>,
    lanes: [Lane; 3],
    sorted: BTreeMap<(u64, u64), u64>,
    scheduled: u64,
    now: u64,
    /// What can be cancelled, and its place in the order.
    tickets: Vec<(Lane, Ticket, (u64, u64))>,
}

impl Pair {
    fn new() -> Self {
        let mut scheduler = Scheduler::new();
        let lanes = [scheduler.lane(), scheduler.lane(), scheduler.lane()];
        Self {
            scheduler,
            lanes,
            sorted: BTreeMap::new(),
            scheduled: 0,
            now: 0,
            tickets: Vec::new(),
        }
    }

    /// Cancels one of the events that ever had a ticket; it may have happened or been cancelled before.
    fn cancel(&mut self, which: usize) {
        if let Some(&(lane, ticket, place)) = self.tickets.get(which % self.tickets.len().max(1)) {
            self.scheduler.cancel(lane, ticket);
            self.sorted.remove(&place);
            assert_eq!(self.scheduler.pending(), self.sorted.len());
        }
    }

    /// Schedules an event after `delay`, in the lane of that number if there is one.
    fn push(&mut self, delay: u64, lane: usize) {
        self.scheduled += 1;
        let event = self.scheduled.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let time = self.now.saturating_add(delay);
        self.sorted.insert((time, self.scheduled), event);
        match self.lanes.get(lane) {
            Some(&lane) => {
                let ticket = self.scheduler.at_in(lane, SimTime::from_nanos(time), event);
                if ticket != Ticket::NONE {
                    self.tickets.push((lane, ticket, (time, self.scheduled)));
                }
            }
            None => self.scheduler.at(SimTime::from_nanos(time), event),
        }
    }

    /// Takes the next event that is not after `limit` from both.
    fn pop(&mut self, limit: u64) -> bool {
        let expected = self
            .sorted
            .first_entry()
            .filter(|first| first.key().0 <= limit)
            .map(|first| first.remove_entry());
        let found = self.scheduler.pop(limit);
        if let Some(((time, _), _)) = expected {
            self.now = time;
        }
        assert_eq!(found, expected.map(|((time, _), event)| (time, event)));
        assert_eq!(self.scheduler.now().as_nanos(), self.now);
        assert_eq!(self.scheduler.pending(), self.sorted.len());
        expected.is_some()
    }

    fn pass(&mut self, by: u64) {
        let end = self.now.saturating_add(by);
        if let Some(limit) = end.checked_sub(1) {
            while self.pop(limit) {}
        }
        self.scheduler.pass_until(end);
        self.now = end;
    }
}

#[derive(Clone, Debug)]
enum Op {
    Push {
        count: usize,
        delay: u64,
        step: u64,
        lane: usize,
    },
    Pop {
        count: usize,
    },
    Pass {
        by: u64,
    },
    Cancel {
        first: usize,
        step: usize,
        count: usize,
    },
}

/// Delays of every size: the size is drawn first, and small ones make ties.
fn delay() -> impl Strategy<Value = u64> {
    prop_oneof![
        2 => Just(0),
        2 => 0..4_u64,
        8 => (0..64_u32, any::<u64>()).prop_map(|(size, bits)| bits >> size),
        8 => (24..50_u32, any::<u64>()).prop_map(|(size, bits)| bits >> size),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let count = prop_oneof![4 => 1..4_usize, 2 => 1..60_usize, 1 => 1..1500_usize];
    prop_oneof![
        5 => (count.clone(), delay(), delay(), 0..6_usize)
            .prop_map(|(count, delay, step, lane)| Op::Push { count, delay, step, lane }),
        4 => count.clone().prop_map(|count| Op::Pop { count }),
        3 => (any::<usize>(), 0..7_usize, count)
            .prop_map(|(first, step, count)| Op::Cancel { first, step, count }),
        1 => delay().prop_map(|by| Op::Pass { by: by >> 8 }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_schedule_comes_out_sorted(ops in prop::collection::vec(op(), 1..60)) {
        let mut pair = Pair::new();
        for op in ops {
            match op {
                Op::Push { count, delay, step, lane } => {
                    for nth in 0..count as u64 {
                        // Scattered below `step`, so that a batch is neither sorted nor all ties.
                        let scatter = nth.wrapping_mul(0xD134_2543_DE82_EF95) % step.max(1);
                        pair.push(delay.saturating_add(scatter), lane);
                    }
                }
                Op::Pop { count } => {
                    for _ in 0..count {
                        pair.pop(u64::MAX);
                    }
                }
                Op::Pass { by } => pair.pass(by),
                Op::Cancel { first, step, count } => {
                    for nth in 0..count {
                        pair.cancel(first.wrapping_add(nth.wrapping_mul(step)));
                    }
                }
            }
        }
        while pair.pop(u64::MAX) {}
    }
}

/// Takes `steps` events; each is followed by `next` delays and lanes drawn by the closure, and the
/// number pending is steered towards `pending`.
fn churn(seed: u64, steps: usize, pending: usize, draw: impl Fn(&mut SmallRng) -> (u64, usize)) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut pair = Pair::new();
    for _ in 0..steps {
        let births = match pair.sorted.len() {
            few if few < pending => rng.random_range(1..=3),
            _ => rng.random_range(0..=1),
        };
        for _ in 0..births {
            let (delay, lane) = draw(&mut rng);
            pair.push(delay, lane);
        }
        pair.pop(u64::MAX);
    }
    while pair.pop(u64::MAX) {}
}

fn scattered(rng: &mut impl Rng, largest_bits: u32) -> u64 {
    rng.random::<u64>() >> rng.random_range(64 - largest_bits..64)
}

#[test]
fn a_million_steps_with_thousands_pending_come_out_sorted() {
    churn(1, 1_000_000, 5_000, |rng| {
        (scattered(rng, 34), rng.random_range(0..9))
    });
}

#[test]
fn the_border_of_few_pending_events_keeps_the_order() {
    for pending in [3, 30, 40, 70, 500, 700] {
        churn(pending as u64, 40_000, pending, |rng| {
            (rng.random_range(0..1_000_000), rng.random_range(0..9))
        });
    }
}

#[test]
fn a_coarse_clock_full_of_ties_keeps_the_order() {
    churn(3, 300_000, 2_000, |rng| {
        let millis = rng.random_range(0..20) * 1_000_000;
        (millis, rng.random_range(0..9))
    });
}

#[test]
fn constant_delays_in_lanes_keep_the_order() {
    churn(4, 300_000, 3_000, |rng| match rng.random_range(0..4) {
        lane @ 0..3 => ([1_000, 70_000, 2_000_000][lane], lane),
        _ => (scattered(rng, 24), 9),
    });
}

/// Far more than could be moved one by one past each other in the time a test may take.
const HERD: u64 = 300_000;

#[test]
fn a_herd_at_one_future_instant_is_cheap() {
    let mut pair = Pair::new();
    for _ in 0..HERD {
        pair.push(1_000_000_007, 9);
    }
    // Others on both sides of it, some of them scheduled when it is near.
    for nth in 0..HERD {
        pair.push(1_000_000_000 + nth % 15, 9);
    }
    pair.push(999_999_999, 0);
    pair.pop(u64::MAX);
    for nth in 0..HERD {
        pair.push(nth % 9, 9);
    }
    while pair.pop(u64::MAX) {}
}

#[test]
fn a_herd_at_the_present_instant_is_cheap() {
    let mut pair = Pair::new();
    pair.push(12_345_678, 9);
    pair.pop(u64::MAX);
    for _ in 0..HERD {
        pair.push(0, 9);
    }
    for _ in 0..HERD {
        pair.pop(u64::MAX);
        pair.push(0, 9);
    }
    while pair.pop(u64::MAX) {}
}

#[test]
fn a_crowd_just_before_a_herd_is_cheap() {
    let mut pair = Pair::new();
    for _ in 0..HERD {
        pair.push(1_000_000, 9);
    }
    // A lane keeps time from jumping to the herd, and every step adds to the run before it.
    for nth in 0..HERD {
        pair.push(999_000 + nth / (HERD / 100), 0);
    }
    for nth in 0..HERD {
        pair.pop(u64::MAX);
        let left = 1_000_000 - pair.now;
        pair.push(left - nth % left.min(50), 9);
    }
    while pair.pop(u64::MAX) {}
}

#[test]
#[should_panic(expected = "into the past")]
fn the_past_is_closed() {
    let mut scheduler = Scheduler::new();
    scheduler.pass_until(5);
    scheduler.at(SimTime::from_nanos(4), ());
}

#[test]
fn an_entry_is_three_words() {
    assert_eq!(size_of::<Entry<u64>>(), 24);
}
