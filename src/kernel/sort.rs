//! Sorting a slot in about linear time.
//!
//! Times in a slot lie about evenly, because it is a short piece of the future. So the place of an
//! entry can be computed from its time, nearly, and one pass of insertion puts right the rest. Where
//! the guess fails, because many entries crowd together, an ordinary sort takes over.

use super::entry::Entry;

/// Entries that may share a bucket before the ordinary sort is the better one.
const CROWD: u16 = 16;
/// Up to so many entries go without buckets.
const SMALL: usize = 12;

/// Sorts slots; keeps its working memory between calls.
#[derive(Debug)]
pub(super) struct Sorter {
    /// For each bucket its size, then where its next entry goes.
    places: Vec<u16>,
}

impl Sorter {
    pub(super) const fn new() -> Self {
        Self { places: Vec::new() }
    }

    /// Sorts `from`, of fewer than 65,536 entries with times in `start..=last`, into the empty `run`,
    /// the earliest entry last.
    pub(super) fn sort<E: Copy>(
        &mut self,
        from: &[Entry<E>],
        run: &mut Vec<Entry<E>>,
        start: u64,
        last: u64,
    ) {
        if from.len() <= SMALL {
            run.extend(from.iter().rev());
            insertion(run);
            return;
        }
        let wanted = (4 * from.len()).ilog2();
        let shift = (u64::BITS - (last - start).leading_zeros()).saturating_sub(wanted);
        let bucket = |entry: &Entry<E>| ((entry.time - start) >> shift) as usize;
        let buckets = ((last - start) >> shift) as usize + 1;
        self.places.clear();
        self.places.resize(buckets, 0);
        for entry in from {
            self.places[bucket(entry)] += 1;
        }
        let (mut total, mut crowd) = (0, 0);
        for place in self.places.iter_mut().rev() {
            crowd = crowd.max(*place);
            (*place, total) = (total, total + *place);
        }
        run.resize(from.len(), from[0]);
        for entry in from.iter().rev() {
            let place = &mut self.places[bucket(entry)];
            run[usize::from(*place)] = *entry;
            *place += 1;
        }
        if crowd <= CROWD {
            insertion(run);
        } else {
            run.sort_unstable_by_key(|entry| !entry.key());
        }
    }
}

/// Sorts a nearly sorted run, the earliest entry last.
fn insertion<E: Copy>(run: &mut [Entry<E>]) {
    for sorted in 1..run.len() {
        let entry = run[sorted];
        let key = entry.key();
        let mut at = sorted;
        while at > 0 && run[at - 1].key() < key {
            run[at] = run[at - 1];
            at -= 1;
        }
        run[at] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::rngs::SmallRng;
    use rand::{RngExt, SeedableRng};

    /// Sorts entries with these times by both ways.
    fn check(times: &[u64], start: u64, last: u64) {
        let from: Vec<_> = times
            .iter()
            .zip(1..)
            .map(|(&time, seq)| Entry {
                time,
                seq,
                event: seq,
            })
            .collect();
        let keys = |run: &[Entry<u64>]| run.iter().map(Entry::key).collect::<Vec<_>>();
        let mut expected = keys(&from);
        expected.sort_unstable_by(|a, b| b.cmp(a));
        let mut run = Vec::new();
        Sorter::new().sort(&from, &mut run, start, last);
        assert_eq!(keys(&run), expected);
        assert!(run.iter().all(|entry| entry.event == entry.seq));
    }

    #[test]
    fn entries_come_out_latest_first_wherever_they_crowd() {
        let mut rng = SmallRng::seed_from_u64(5);
        for length in [0, 1, 2, SMALL, SMALL + 1, 40, 500] {
            for width in [1, 2, 63, 4096, 1 << 40] {
                let start = 1 << 50;
                let last = start + width - 1;
                let mut draw = |width| start + rng.random_range(0..width);
                let even: Vec<u64> = (0..length).map(|_| draw(width)).collect();
                check(&even, start, last);
                let crowded: Vec<u64> = (0..length).map(|_| draw(width.min(3))).collect();
                check(&crowded, start, last);
            }
        }
    }

    #[test]
    fn the_whole_range_of_time_can_be_sorted() {
        let times: Vec<u64> = (0..50)
            .map(|n| u64::MAX - (n % 25) * (u64::MAX / 24))
            .collect();
        check(&times, 0, u64::MAX);
    }
}
