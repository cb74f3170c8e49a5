//! Exact order for everything without a lane: a sorted run of the near future before a wheel of the rest.
//!
//! The wheel is cheap but rough, a sorted list exact but slow when it is long. So only the events before
//! the *horizon* are sorted, a few dozen, and when they are used up the wheel's earliest slot is
//! sorted next. A slot with too many events is dealt to finer slots first; small neighbours are taken
//! together. A model with few pending events never needs the wheel: its horizon is the end of time.
//!
//! Kept at all times:
//! * entries in the run come before entries in the wheel; in the run no time is past the horizon, in
//!   the wheel none is before it (equal times are decided by who was scheduled first);
//! * the wheel's origin is not later than the present. [`Timeline::open`] therefore enters a slot only
//!   when the next event, of a lane or of anything, cannot be earlier than the slot's first time.

use super::entry::Entry;
use super::sort::Sorter;
use super::wheel::{Place, Wheel};

// Measured on the hold model with 10 to 10^6 pending events; the optima are flat.

/// A slot with at most this many entries is sorted; a fuller one is dealt to the level below.
const SORTABLE: usize = 512;
/// Slots are taken together until the run has this many entries.
const ENOUGH: usize = 32;
/// With at most this many entries in the wheel, all of them are sorted.
const FEW: usize = 24;
/// In a run of at most this many entries, the place of a new one is found without a branch.
const TINY_RUN: usize = 16;
/// Insertions that moved this many entries show that the run is too long for its use.
const PATIENCE: usize = 1024;
/// A run this long is then shortened.
const LONG_RUN: usize = 48;
/// What is left of it.
const SHORT_RUN: usize = 24;
/// A used-up run with room for more entries than this gives its memory back.
const KEPT_CAPACITY: usize = 4096;

/// All pending events that are in no lane.
#[derive(Debug)]
pub(super) struct Timeline<E> {
    /// The near future, the earliest entry last.
    run: Vec<Entry<E>>,
    /// New entries before this time belong in the run, others in the wheel.
    horizon: u64,
    /// Entries moved by insertions since the run was last filled or shortened.
    moves: usize,
    wheel: Wheel<E>,
    /// Where slots are collected before they are sorted.
    gathered: Vec<Entry<E>>,
    sorter: Sorter,
}

impl<E: Copy> Timeline<E> {
    pub(super) fn new() -> Self {
        Self {
            run: Vec::new(),
            horizon: u64::MAX,
            moves: 0,
            wheel: Wheel::new(),
            gathered: Vec::new(),
            sorter: Sorter::new(),
        }
    }

    /// Adds an entry, the newest of all. It is put together in its place: one that is made elsewhere and copied
    /// at once makes the processor wait.
    #[inline]
    pub(super) fn push(&mut self, time: u64, seq: u64, event: E) {
        if self.moves >= PATIENCE && time < self.horizon {
            self.shed();
        }
        if time < self.horizon {
            self.insert(time, seq, event);
        } else {
            self.wheel.push(Entry { time, seq, event });
        }
    }

    /// Puts an entry after all in the run that are not later: it was scheduled after them.
    #[inline]
    fn insert(&mut self, time: u64, seq: u64, event: E) {
        let length = self.run.len();
        self.run.push(Entry { time, seq, event });
        let at = if length <= TINY_RUN {
            self.make_room_tiny(time, length)
        } else {
            self.make_room_from_end(time, length)
        };
        self.moves += length - at;
        let place = &mut self.run[at];
        place.time = time;
        place.seq = seq;
        place.event = event;
    }

    /// Touches every entry, but no branch depends on what it finds; a wrong guess costs more than that.
    #[inline]
    fn make_room_tiny(&mut self, time: u64, length: usize) -> usize {
        let later = |pending: &&Entry<E>| pending.time > time;
        let at = self.run[..length].iter().filter(later).count();
        self.run.copy_within(at..length, at + 1);
        at
    }

    #[inline]
    fn make_room_from_end(&mut self, time: u64, length: usize) -> usize {
        let mut at = length;
        while at > 0 && self.run[at - 1].time <= time {
            self.run[at] = self.run[at - 1];
            at -= 1;
        }
        at
    }

    /// The earliest entry of the run.
    #[inline]
    pub(super) fn first(&self) -> Option<&Entry<E>> {
        self.run.last()
    }

    /// Takes the entry of [`Self::first`].
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Entry<E>> {
        self.run.pop()
    }

    /// Whether the run is used up and the wheel may hold something that is not after `limit`.
    #[inline]
    pub(super) fn is_due(&self, limit: u64) -> bool {
        self.run.is_empty() && self.horizon <= limit
    }

    /// Moves the later part of a long run into the wheel, so that the next entries find a short one.
    #[cold]
    #[inline(never)]
    fn shed(&mut self) {
        self.moves = 0;
        if self.run.len() < LONG_RUN {
            return;
        }
        let kept = self.run.len() - SHORT_RUN;
        self.horizon = self.run[kept].time;
        for entry in self.run.drain(..kept).rev() {
            self.wheel.push(entry);
        }
    }

    /// Fills the used-up run from the wheel, unless everything in it is after `limit`. Nothing may
    /// happen before `limit` but what is in this timeline.
    #[cold]
    #[inline(never)]
    pub(super) fn open(&mut self, limit: u64) {
        self.moves = 0;
        if self.run.capacity() > KEPT_CAPACITY {
            self.run = Vec::new();
        }
        if self.wheel.len() <= FEW {
            self.wheel.take_all(&mut self.run);
            self.horizon = u64::MAX;
            self.sort();
            return;
        }
        while let Some((place, start)) = self.wheel.first() {
            if start > limit {
                self.horizon = self.horizon.max(start);
                return;
            }
            self.wheel.enter(place);
            if self.wheel.len_of(place) <= SORTABLE {
                self.gather(place, start);
                return;
            }
            if let Some(time) = self.wheel.instant_of(place) {
                // New entries for this instant come after all of these, so they can wait in the wheel.
                self.horizon = time;
                self.wheel.take(place, &mut self.run);
                self.sort();
                return;
            }
            self.wheel.deal(place);
        }
    }

    /// Sorts the slot at `place` and as many of its neighbours as make a useful run.
    fn gather(&mut self, mut place: Place, start: u64) {
        self.wheel.take(place, &mut self.gathered);
        while self.gathered.len() < ENOUGH
            && let Some(next) = self.wheel.next_on_level(place)
            && self.wheel.len_of(next) <= SORTABLE
        {
            place = next;
            self.wheel.take(place, &mut self.gathered);
        }
        let last = self.wheel.last_of(place);
        self.horizon = last.saturating_add(1);
        self.sorter.sort(&self.gathered, &mut self.run, start, last);
        self.gathered.clear();
    }

    fn sort(&mut self) {
        self.run.sort_unstable_by_key(|entry| !entry.key());
    }
}
