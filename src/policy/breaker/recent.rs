//! The last so many results, a bit each.

/// Failures and slow ones among the last `size` results. Two bits a result; a step costs the same at any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recent {
    /// Pairs of words: which failed, which were slow.
    words: Box<[[u64; 2]]>,
    size: u32,
    held: u32,
    /// Where the next one goes, over the oldest when full.
    next: u32,
    sums: [u32; 2],
}

impl Recent {
    /// Room for `size` results, at least one.
    pub(super) fn new(size: u32) -> Self {
        let size = size.max(1);
        Self {
            words: vec![[0; 2]; size.div_ceil(64) as usize].into(),
            size,
            held: 0,
            next: 0,
            sums: [0; 2],
        }
    }

    /// Adds a result. Gives how many are held, how many of them failed, and how many were slow.
    #[inline]
    pub(super) fn add(&mut self, failed: bool, slow: bool) -> [u64; 3] {
        let word = &mut self.words[(self.next / 64) as usize];
        let bit = self.next % 64;
        let full = self.held == self.size;
        for ((word, sum), new) in word.iter_mut().zip(&mut self.sums).zip([failed, slow]) {
            // Bits of results that are not held are left over from before a clearing.
            let old = full && *word >> bit & 1 == 1;
            *sum = *sum + u32::from(new) - u32::from(old);
            *word = *word & !(1 << bit) | u64::from(new) << bit;
        }
        self.held += u32::from(!full);
        self.next = (self.next + 1) % self.size;
        [self.held, self.sums[0], self.sums[1]].map(u64::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Key, Purpose};

    #[test]
    fn sums_are_those_of_a_plain_list_of_the_last_results() {
        for size in [1, 2, 63, 64, 65, 100, 129] {
            let mut draws = Key::root(1, u64::from(size)).draws(Purpose::Failure);
            let mut recent = Recent::new(size);
            let mut list: Vec<(bool, bool)> = Vec::new();
            for step in 0..2_000 {
                if step % 701 == 700 {
                    recent = Recent::new(size);
                    list.clear();
                }
                let result = (draws.unit() < 0.3, draws.unit() < 0.6);
                list.push(result);
                let last = &list[list.len().saturating_sub(size as usize)..];
                let failed = last.iter().filter(|result| result.0).count() as u64;
                let slow = last.iter().filter(|result| result.1).count() as u64;
                let sums = recent.add(result.0, result.1);
                assert_eq!(sums, [last.len() as u64, failed, slow], "{size}, {step}");
            }
        }
    }
}
