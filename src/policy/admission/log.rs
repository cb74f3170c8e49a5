//! The times of the latest attempts, for "at most so many in any minute".
//!
//! A sum over the recent past says whether there is room. A limiter must also say when there will be, which is
//! when the oldest of the counted attempts leaves. Beyond 4094 attempts several that follow each other share a
//! place and leave together with the latest of them, so memory is bounded and the limit is never exceeded.

use crate::time::{SimDuration, SimTime};
use std::collections::VecDeque;

/// Places at the most.
const MOST_PLACES: u32 = 4096;

/// The latest `most` attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Log {
    places: VecDeque<(SimTime, u32)>,
    held: u32,
}

impl Log {
    /// Forgets attempts that are as old as `length` or older.
    pub(super) fn forget(&mut self, length: SimDuration, now: SimTime) {
        while let Some(&(at, attempts)) = self.places.front()
            && at + length <= now
        {
            self.held -= attempts;
            self.places.pop_front();
        }
    }

    /// How many attempts are remembered.
    pub(super) fn held(&self) -> u32 {
        self.held
    }

    /// Remembers an attempt and, when there are `most` already, forgets the oldest for it. `most` is at least 1 and
    /// always the same; time never goes back.
    pub(super) fn add(&mut self, most: u32, now: SimTime) {
        if self.held >= most
            && let Some((_, attempts)) = self.places.front_mut()
        {
            *attempts -= 1;
            self.held -= 1;
            if *attempts == 0 {
                self.places.pop_front();
            }
        }
        self.held += 1;
        // Two places less than there are: the first may be half empty and the last half full.
        let in_a_place = most.div_ceil(MOST_PLACES - 2);
        if let Some((at, attempts)) = self.places.back_mut()
            && *attempts < in_a_place
        {
            (*at, *attempts) = (now, *attempts + 1);
            return;
        }
        self.places.push_back((now, 1));
    }

    /// When the oldest attempt is as old as `length`; `None` when there is none.
    pub(super) fn leaves(&self, length: SimDuration) -> Option<SimTime> {
        self.places.front().map(|&(at, _)| at + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded_however_many_attempts_are_remembered() {
        for most in [1, 4_094, 4_095, 8_192, 1_000_000] {
            let mut log = Log::default();
            for i in 0..u64::from(most) * 2 + 5_000 {
                log.add(most, SimTime::from_nanos(i));
                assert!(log.places.len() <= MOST_PLACES as usize, "{most}");
            }
            assert_eq!(log.held(), most);
        }
        // Beside 16 bytes for each place.
        assert_eq!(size_of::<Log>(), 40);
        assert_eq!(size_of::<(SimTime, u32)>(), 16);
    }

    #[test]
    fn attempts_that_share_a_place_leave_with_the_latest_of_them() {
        let most = 2 * (MOST_PLACES - 2);
        let length = SimDuration::from_nanos(100);
        let mut log = Log::default();
        for at in [0, 10, 20] {
            log.add(most, SimTime::from_nanos(at));
        }
        log.forget(length, SimTime::from_nanos(109));
        assert_eq!(log.held(), 3);
        log.forget(length, SimTime::from_nanos(110));
        assert_eq!(log.held(), 1);
        assert_eq!(log.leaves(length), Some(SimTime::from_nanos(120)));
    }
}
