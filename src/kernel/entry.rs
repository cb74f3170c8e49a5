//! One pending event with its place in the order.

/// An event, when it happens, and the how-manieth scheduled event it is (from 1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<E> {
    /// Nanoseconds since the start.
    pub(super) time: u64,
    /// Number of this event among all that were ever scheduled; never zero.
    pub(super) seq: u64,
    /// What happens.
    pub(super) event: E,
}

/// A key later than that of any entry that can exist.
pub(super) const NEVER: u128 = u128::MAX;

impl<E> Entry<E> {
    /// The place in the order as one number: the time first, then the order of scheduling.
    #[inline]
    pub(super) fn key(&self) -> u128 {
        key_of(self.time, self.seq)
    }
}

/// The key of an entry for `time` that was scheduled as number `seq`.
#[inline]
pub(super) fn key_of(time: u64, seq: u64) -> u128 {
    (u128::from(time) << 64) | u128::from(seq)
}

/// The time of a key.
#[inline]
pub(super) fn time_of(key: u128) -> u64 {
    (key >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_time_and_then_by_scheduling() {
        let key = |time, seq| {
            Entry {
                time,
                seq,
                event: (),
            }
            .key()
        };
        assert!(key(1, 9) < key(2, 1));
        assert!(key(2, 1) < key(2, 2));
        assert!(key(u64::MAX, u64::MAX - 1) < NEVER);
        assert_eq!(time_of(key(7, 3)), 7);
    }
}
