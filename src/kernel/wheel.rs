//! A rough order for the far future: slots by the highest digit of the time.
//!
//! Sorting an event among all pending ones when it is scheduled would cost more the more of them there
//! are. The wheel only drops it into a slot: time is written in base 64, and an event lies on the level
//! of the highest digit in which its time differs from the wheel's *origin*, in the slot of that digit.
//! Near events lie on low levels in fine slots, far ones on high levels in coarse slots. Nothing is
//! configured: eleven levels span every `u64`, and dense times are dealt down until they are sparse.

use super::entry::Entry;

/// Binary digits of a digit.
const BITS: u32 = 6;
/// Slots of a level.
const SLOTS: usize = 1 << BITS;
/// Digits of a `u64`.
const LEVELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// Entries of a full block. Doubling a vector of a million entries would take room for two million
/// and copy them; blocks of one size are used again and again.
const BLOCK: usize = 512;

/// Where a slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    level: usize,
    digit: usize,
}

type Slots<T> = [[Vec<T>; SLOTS]; LEVELS];

fn empty_slots<T>() -> Box<Slots<T>> {
    Box::new(std::array::from_fn(|_| std::array::from_fn(|_| Vec::new())))
}

/// Slots of entries that are not before the origin.
#[derive(Debug)]
pub(super) struct Wheel<E> {
    /// Every entry's level and digit are relative to this time.
    origin: u64,
    /// Bit `digit` of word `level` is set if that slot holds something.
    occupied: [u64; LEVELS],
    /// The latest entries of each slot, at most a block.
    slots: Box<Slots<Entry<E>>>,
    /// The full blocks of each slot before those.
    full: Box<Slots<Vec<Entry<E>>>>,
    /// Empty blocks for the next slots that fill up.
    spare: Vec<Vec<Entry<E>>>,
    len: usize,
}

impl<E: Copy> Wheel<E> {
    pub(super) fn new() -> Self {
        Self {
            origin: 0,
            occupied: [0; LEVELS],
            slots: empty_slots(),
            full: empty_slots(),
            spare: Vec::new(),
            len: 0,
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

    /// Inlined, so that an entry made in registers is not written to memory twice.
    #[inline(always)]
    fn place(&mut self, entry: Entry<E>) {
        let level = level_of(entry.time ^ self.origin);
        let digit = digit_of(entry.time, level);
        self.occupied[level] |= 1 << digit;
        if self.slots[level][digit].len() == BLOCK {
            self.start_block(Place { level, digit });
        }
        self.slots[level][digit].push(entry);
    }

    /// Puts the full block of a slot aside.
    #[cold]
    #[inline(never)]
    fn start_block(&mut self, Place { level, digit }: Place) {
        let fresh = self.spare.pop().unwrap_or_default();
        let full = std::mem::replace(&mut self.slots[level][digit], fresh);
        self.full[level][digit].push(full);
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
        let Place { level, digit } = place;
        self.slots[level][digit].len() + self.full[level][digit].len() * BLOCK
    }

    /// Makes the slot at `place`, the earliest one, the one that the origin lies in.
    pub(super) fn enter(&mut self, place: Place) {
        self.origin = self.start_of(place);
    }

    /// Moves the entries of the slot at `place` to the end of `run`, in no useful order.
    #[inline]
    pub(super) fn take(&mut self, place: Place, run: &mut Vec<Entry<E>>) {
        let Place { level, digit } = place;
        self.occupied[level] &= !(1 << digit);
        self.len -= self.len_of(place);
        if !self.full[level][digit].is_empty() {
            self.take_full(place, run);
        }
        let slot = &mut self.slots[level][digit];
        run.extend_from_slice(slot);
        slot.clear();
    }

    #[cold]
    fn take_full(&mut self, place: Place, run: &mut Vec<Entry<E>>) {
        run.reserve_exact(self.len_of(place));
        for block in std::mem::take(&mut self.full[place.level][place.digit]) {
            run.extend_from_slice(&block);
            self.recycle(block);
        }
    }

    /// Keeps a block for the next slot that needs one, but not more than an eighth of the memory in use.
    fn recycle(&mut self, mut block: Vec<Entry<E>>) {
        if self.spare.len() * BLOCK <= self.len / 8 {
            block.clear();
            self.spare.push(block);
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
        let Place { level, digit } = place;
        let slot = &self.slots[level][digit];
        let time = slot.first()?.time;
        let same = |entries: &Vec<Entry<E>>| entries.iter().all(|entry| entry.time == time);
        (same(slot) && self.full[level][digit].iter().all(same)).then_some(time)
    }

    /// Deals the entries of the slot at `place`, which the origin lies in, to lower levels.
    pub(super) fn deal(&mut self, place: Place) {
        let Place { level, digit } = place;
        debug_assert!(level > 0);
        self.occupied[level] &= !(1 << digit);
        for block in std::mem::take(&mut self.full[level][digit]) {
            self.deal_block(&block);
            self.recycle(block);
        }
        let mut rest = std::mem::take(&mut self.slots[level][digit]);
        self.deal_block(&rest);
        rest.clear();
        self.slots[level][digit] = rest;
    }

    fn deal_block(&mut self, block: &[Entry<E>]) {
        for &entry in block {
            self.place(entry);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel_of(times: impl IntoIterator<Item = u64>) -> Wheel<()> {
        let mut wheel = Wheel::new();
        for (time, seq) in times.into_iter().zip(1..) {
            wheel.push(Entry {
                time,
                seq,
                event: (),
            });
        }
        wheel
    }

    fn first_times(wheel: &mut Wheel<()>) -> Vec<u64> {
        let mut taken = Vec::new();
        if let Some((place, _)) = wheel.first() {
            wheel.take(place, &mut taken);
        }
        taken.iter().map(|entry| entry.time).collect()
    }

    #[test]
    fn slots_come_up_in_the_order_of_time() {
        let mut wheel = wheel_of([u64::MAX, 70, 3, 4_096, 64, 1 << 59]);
        assert_eq!(wheel.len(), 6);
        for slot in [&[3][..], &[70, 64], &[4_096], &[1 << 59], &[u64::MAX], &[]] {
            assert_eq!(first_times(&mut wheel), slot);
        }
        assert_eq!(wheel.len(), 0);
    }

    #[test]
    fn a_slot_knows_its_times() {
        let mut wheel = wheel_of([5 * 4_096 + 100]);
        let (place, start) = wheel.first().expect("it holds one entry");
        assert_eq!((start, wheel.last_of(place)), (5 * 4_096, 6 * 4_096 - 1));
        wheel.enter(place);
        wheel.deal(place);
        let (place, start) = wheel.first().expect("dealing loses nothing");
        assert_eq!(
            (start, wheel.last_of(place)),
            (5 * 4_096 + 64, 5 * 4_096 + 127)
        );
        let last = wheel_of([u64::MAX]).first().map(|(place, _)| place);
        assert_eq!(last.map(|place| wheel.last_of(place)), Some(u64::MAX));
    }

    #[test]
    fn a_full_slot_is_dealt_whole_and_its_memory_is_not_kept() {
        let count = 200 * BLOCK as u64 + 7;
        let mut wheel = wheel_of((0..count).map(|n| (1 << 30) + n * 31));
        let (place, _) = wheel.first().expect("it is full");
        assert_eq!(wheel.len_of(place), count as usize);
        wheel.enter(place);
        wheel.deal(place);
        assert!(wheel.spare.len() <= 200 / 8 + 1);
        let mut times = Vec::new();
        while wheel.len() > 0 {
            times.extend(first_times(&mut wheel));
        }
        assert!(times.is_sorted_by_key(|time| time / 4_096));
        assert_eq!(times.len() as u64, count);
        assert!(wheel.spare.len() <= 200 / 8 + 1);
    }
}
