//! Counts since the beginning, or over the recent past.

use crate::policy::window::{Span, Window};
use crate::time::{SimDuration, SimTime};

/// `N` kinds of counts, since the beginning or over a sliding window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts<const N: usize> {
    /// Since the beginning.
    All([u64; N]),
    /// Over a sliding window.
    Recent(Box<Window<N>>),
}

impl<const N: usize> Counts<N> {
    /// Nothing counted yet; over `window`, or since the beginning.
    pub(super) fn fresh(window: Option<SimDuration>) -> Self {
        match window {
            None => Self::All([0; N]),
            Some(_) => Self::Recent(Box::default()),
        }
    }

    /// Counts `amounts` now. `window` is what it was made with.
    #[inline]
    pub(super) fn add(&mut self, window: Option<SimDuration>, now: SimTime, amounts: [u32; N]) {
        match self {
            Self::All(sums) => {
                for (sum, amount) in sums.iter_mut().zip(amounts) {
                    *sum = sum.saturating_add(u64::from(amount));
                }
            }
            Self::Recent(recent) => recent.add(span(window), now, amounts),
        }
    }

    /// The counts as they stand now. `window` is what it was made with.
    #[inline]
    pub(super) fn sums(&mut self, window: Option<SimDuration>, now: SimTime) -> [u64; N] {
        match self {
            Self::All(sums) => *sums,
            Self::Recent(recent) => recent.sums(span(window), now),
        }
    }

    /// The same without forgetting anything.
    pub(super) fn seen(&self, window: Option<SimDuration>, now: SimTime) -> [u64; N] {
        match self {
            Self::All(sums) => *sums,
            Self::Recent(recent) => recent.seen(span(window), now),
        }
    }
}

fn span(window: Option<SimDuration>) -> Span {
    Span::sliding(window.unwrap_or(SimDuration::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_over_a_window_forget() {
        let second = SimDuration::from_secs(1);
        for (window, later) in [(None, [1, 2]), (Some(second), [0, 0])] {
            let mut counts = Counts::fresh(window);
            counts.add(window, SimTime::ZERO, [1, 0]);
            counts.add(window, SimTime::ZERO, [0, 2]);
            assert_eq!(
                counts.sums(window, SimTime::from_nanos(999_999_999)),
                [1, 2]
            );
            assert_eq!(counts.sums(window, SimTime::ZERO + second), later);
        }
    }
}
