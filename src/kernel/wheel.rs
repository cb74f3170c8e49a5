//! A rough order for the far future: slots by the highest digit of the time.
//!
//! Sorting an event among all pending ones when it is scheduled would cost more the more of them there
//! are. The wheel only drops it into a slot: time is written in base 64, and an event lies on the level
//! of the highest digit in which its time differs from the wheel's *origin*, in the slot of that digit.
//! Near events lie on low levels in fine slots, far ones on high levels in coarse slots. Nothing is
//! configured: eleven levels span every `u64`, and dense times are dealt down until they are sparse.

use super::entry::{Entry, growth};

/// Binary digits of a digit.
const BITS: u32 = 6;
/// Slots of a level.
const SLOTS: usize = 1 << BITS;
/// Digits of a `u64`.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// An emptied slot with room for more entries than this gives its memory back.
const KEPT_CAPACITY: usize = 4096;

/// Where a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    level: usize,
    digit: usize,
}

/// Slots of entries that are not before the origin.
#[derive(Debug)]
pub(super) struct Wheel<E> {
    /// Every entry's level and digit are relative to this time.
    origin: u64,
    /// Bit `digit` of word `level` is set if that slot holds something.
    occupied: [u64; LEVELS],
    slots: Box<[[Vec<Entry<E>>; SLOTS]; LEVELS]>,
    len: usize,
    /// Memory of the last large slot that was dealt, for the next one that grows large.
    spare: Vec<Entry<E>>,
}

impl<E: Copy> Wheel<E> {
    pub(super) fn new() -> Self {
        Self {
            origin: 0,
            occupied: [0; LEVELS],
            slots: Box::new(std::array::from_fn(|_| std::array::from_fn(|_| Vec::new()))),
            len: 0,
            spare: Vec::new(),
        }
    }

    /// How many entries it holds.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds `entry`, whose time must not be before the origin.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry<E>) {
        debug_assert!(entry.time >= self.origin);
        self.len += 1;
        self.place(entry);
    }

    #[inline]
    fn place(&mut self, entry: Entry<E>) {
        let level = level_of(entry.time ^ self.origin);
        let digit = digit_of(entry.time, level);
        self.occupied[level] |= 1 << digit;
        let slot = &mut self.slots[level][digit];
        if slot.len() == slot.capacity() {
            grow(slot, &mut self.spare);
        }
        slot.push(entry);
    }

    /// Moves the origin of an empty wheel to `time`.
    pub(super) fn restart(&mut self, time: u64) {
        debug_assert_eq!(self.len, 0);
        self.origin = time;
    }

    /// The earliest slot that holds something, and the first time that belongs to it.
    ///
    /// Entries of a level differ from the origin in no higher digit, so those of lower levels are earlier.
    #[inline]
    pub(super) fn first(&self) -> Option<(Place, u64)> {
        let level = self.occupied.iter().position(|&word| word != 0)?;
        let digit = self.occupied[level].trailing_zeros() as usize;
        let place = Place { level, digit };
        Some((place, self.start_of(place)))
    }

    /// The next slot after `place` on the same level that holds something.
    #[inline]
    pub(super) fn next_on_level(&self, place: Place) -> Option<Place> {
        let later = self.occupied[place.level] & (!1 << place.digit);
        (later != 0).then(|| Place {
            level: place.level,
            digit: later.trailing_zeros() as usize,
        })
    }

    /// First time that belongs to the slot at `place`.
    fn start_of(&self, place: Place) -> u64 {
        let shift = place.level as u32 * BITS;
        let higher = u64::MAX.checked_shl(shift + BITS).unwrap_or(0);
        (self.origin & higher) | ((place.digit as u64) << shift)
    }

    /// Last time that belongs to the slot at `place`.
    pub(super) fn last_of(&self, place: Place) -> u64 {
        let lower = (1 << (place.level as u32 * BITS)) - 1;
        self.start_of(place) | lower
    }

    /// How many entries the slot at `place` holds.
    #[inline]
    pub(super) fn len_of(&self, place: Place) -> usize {
        self.slots[place.level][place.digit].len()
    }

    /// Makes the slot at `place`, the earliest one, the one that the origin lies in.
    pub(super) fn enter(&mut self, place: Place) {
        self.origin = self.start_of(place);
    }

    /// Moves the entries of the slot at `place` to the end of `run`, in no useful order.
    #[inline]
    pub(super) fn take(&mut self, place: Place, run: &mut Vec<Entry<E>>) {
        let slot = &mut self.slots[place.level][place.digit];
        self.len -= slot.len();
        self.occupied[place.level] &= !(1 << place.digit);
        run.extend_from_slice(slot);
        slot.clear();
        if slot.capacity() > KEPT_CAPACITY {
            *slot = Vec::new();
        }
    }

    /// Moves everything to the end of `run`, in no useful order.
    pub(super) fn take_all(&mut self, run: &mut Vec<Entry<E>>) {
        while let Some((place, _)) = self.first() {
            self.take(place, run);
        }
    }

    /// If all entries of the slot at `place` have the same time, that time.
    pub(super) fn instant_of(&self, place: Place) -> Option<u64> {
        let slot = &self.slots[place.level][place.digit];
        let time = slot.first()?.time;
        slot.iter().all(|entry| entry.time == time).then_some(time)
    }

    /// Deals the entries of the slot at `place`, which the origin lies in, to lower levels.
    pub(super) fn deal(&mut self, place: Place) {
        debug_assert!(place.level > 0);
        self.occupied[place.level] &= !(1 << place.digit);
        let mut dealt = std::mem::take(&mut self.slots[place.level][place.digit]);
        if dealt.len() > KEPT_CAPACITY.max(self.len / 8) {
            self.deal_sparingly(&mut dealt);
        }
        for &entry in &dealt {
            self.place(entry);
        }
        dealt.clear();
        if dealt.capacity() <= KEPT_CAPACITY {
            self.slots[place.level][place.digit] = dealt;
        } else if dealt.capacity() > self.spare.capacity() {
            self.spare = dealt;
        }
    }

    /// Deals most of a very full slot from its end, giving memory back on the way, so that the entries are
    /// not in memory twice.
    #[cold]
    fn deal_sparingly(&mut self, dealt: &mut Vec<Entry<E>>) {
        while dealt.len() > KEPT_CAPACITY {
            let half = dealt.len() / 2;
            for &entry in &dealt[half..] {
                self.place(entry);
            }
            dealt.truncate(half);
            dealt.shrink_to_fit();
        }
    }
}

/// The level for a time that differs from the origin in these bits.
#[inline]
fn level_of(difference: u64) -> usize {
    ((difference | 1).ilog2() / BITS) as usize
}

#[inline]
fn digit_of(time: u64, level: usize) -> usize {
    (time >> (level as u32 * BITS)) as usize % SLOTS
}

/// Makes room in a full slot: with the spare memory if that is larger, else by a quarter.
#[cold]
#[inline(never)]
fn grow<E: Copy>(slot: &mut Vec<Entry<E>>, spare: &mut Vec<Entry<E>>) {
    let Some(room) = growth(slot.len()) else {
        return;
    };
    if spare.capacity() > slot.len() + room {
        spare.extend_from_slice(slot);
        std::mem::swap(slot, spare);
        spare.clear();
    } else {
        slot.reserve_exact(room);
    }
}
