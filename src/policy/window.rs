//! Sums over the recent past.
//!
//! "Twenty per cent of the requests of the last ten seconds" needs to know when each of them was. Counts are
//! kept with their times, and leave the sums as they grow too old. Counts that lie closer together than a
//! 4096th of the window share a place, so memory is bounded however busy the time was, and the error is too
//! small to see.

use crate::time::{SimDuration, SimTime};
use std::collections::VecDeque;

/// Places at the most.
const MOST_PLACES: u64 = 4096;

/// `N` kinds of counts over the window (now - length, now].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window<const N: usize> {
    places: VecDeque<(u64, [u32; N])>,
    sums: [u64; N],
}

impl<const N: usize> Default for Window<N> {
    fn default() -> Self {
        Self {
            places: VecDeque::new(),
            sums: [0; N],
        }
    }
}

/// How long a window is, and how coarsely it looks at time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    length: u64,
    slice: u64,
    sliced: bool,
}

impl Span {
    /// A window that slides with every nanosecond.
    pub fn sliding(length: SimDuration) -> Self {
        let length = length.as_nanos();
        Self {
            length,
            slice: length.div_ceil(MOST_PLACES),
            sliced: false,
        }
    }

    /// A window of `slices` equal slices, the present one included, that moves on by a slice at a time.
    pub fn sliced(length: SimDuration, slices: u32) -> Self {
        let length = length.as_nanos();
        Self {
            length,
            slice: length.div_ceil(u64::from(slices.max(1))).max(1),
            sliced: true,
        }
    }
}

impl Span {
    /// The time that counts as now, in nanoseconds: in a sliced window the start of the slice.
    #[inline]
    fn start(self, now: SimTime) -> u64 {
        let now = now.as_nanos();
        if self.sliced {
            now - now % self.slice
        } else {
            now
        }
    }

    /// Whether what was counted `at` has grown too old.
    #[inline]
    fn is_over(self, at: u64, now: u64) -> bool {
        now.saturating_sub(at) >= self.length
    }
}

impl<const N: usize> Window<N> {
    /// Counts `amounts` now. Time never goes back.
    #[inline]
    pub fn add(&mut self, span: Span, now: SimTime, amounts: [u32; N]) {
        self.advance(span, now);
        let at = span.start(now);
        for (sum, amount) in self.sums.iter_mut().zip(amounts) {
            *sum += u64::from(amount);
        }
        if let Some((last, held)) = self.places.back_mut()
            && at - *last < span.slice
        {
            for (held, amount) in held.iter_mut().zip(amounts) {
                *held = held.saturating_add(amount);
            }
            return;
        }
        self.places.push_back((at, amounts));
    }

    /// The sums of the window that ends now.
    #[inline]
    pub fn sums(&mut self, span: Span, now: SimTime) -> [u64; N] {
        self.advance(span, now);
        self.sums
    }

    /// The same without forgetting what has grown too old, for those who only look.
    pub fn seen(&self, span: Span, now: SimTime) -> [u64; N] {
        let now = span.start(now);
        let old = self
            .places
            .iter()
            .take_while(|(at, _)| span.is_over(*at, now));
        let mut sums = self.sums;
        for (_, amounts) in old {
            for (sum, amount) in sums.iter_mut().zip(amounts) {
                *sum -= u64::from(*amount);
            }
        }
        sums
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn advance(&mut self, span: Span, now: SimTime) {
        let now = span.start(now);
        while let Some(&(at, amounts)) = self.places.front()
            && span.is_over(at, now)
        {
            for (sum, amount) in self.sums.iter_mut().zip(amounts) {
                *sum -= u64::from(amount);
            }
            self.places.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    #[test]
    fn a_sliding_window_forgets_each_count_when_it_is_as_old_as_the_window() {
        let span = Span::sliding(SimDuration::from_secs(10));
        let mut window = Window::default();
        window.add(span, at(0), [1, 0]);
        window.add(span, at(4_000), [1, 5]);
        assert_eq!(window.sums(span, at(9_999)), [2, 5]);
        assert_eq!(window.sums(span, at(10_000)), [1, 5]);
        assert_eq!(window.sums(span, at(14_000)), [0, 0]);
    }

    #[test]
    fn a_sliced_window_forgets_a_slice_at_a_time() {
        let span = Span::sliced(SimDuration::from_secs(10), 10);
        let mut window = Window::default();
        window.add(span, at(900), [1]);
        window.add(span, at(1_100), [1]);
        assert_eq!(
            window.sums(span, at(9_999)),
            [2],
            "history reaches over 9 to 10 slices"
        );
        assert_eq!(window.sums(span, at(10_000)), [1]);
        assert_eq!(window.sums(span, at(10_999)), [1]);
        assert_eq!(window.sums(span, at(11_000)), [0]);
    }

    #[test]
    fn memory_is_bounded_however_busy_the_window_is() {
        let span = Span::sliding(SimDuration::from_secs(1));
        let mut window = Window::default();
        for i in 0..200_000_u64 {
            window.add(span, SimTime::from_nanos(i * 10_000), [1]);
        }
        assert!(
            window.places.len() as u64 <= MOST_PLACES + 1,
            "{}",
            window.places.len()
        );
        let [sum] = window.sums(span, SimTime::from_nanos(1_999_990_000));
        assert!((99_970..=100_000).contains(&sum), "{sum}");
    }
}
