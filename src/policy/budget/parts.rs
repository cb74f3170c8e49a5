//! Shares of counts, exact as they are written.
//!
//! A fifth of five requests must buy one retry, and in binary fractions three tenths of ten are less than three.
//! Shares are taken in whole trillionths, so that a comparison at the border comes out as it does on paper.

use crate::units::Ratio;

/// One, in trillionths.
pub(super) const ONE: u128 = 1_000_000_000_000;

/// The share `ratio` of a count, in trillionths.
#[inline]
pub(super) fn share(ratio: Ratio, count: u64) -> u128 {
    amount(ratio.get()) * u128::from(count)
}

/// A number that is not negative, in trillionths, to the nearest; large ones saturate.
#[inline]
pub(super) fn amount(number: f64) -> u128 {
    (number * ONE as f64).round() as u128
}

/// A count in trillionths.
#[inline]
pub(super) fn whole(count: u64) -> u128 {
    u128::from(count) * ONE
}

/// The part of what is allowed that is not used, from 0 to 1; 0 when nothing is allowed.
pub(super) fn left(used: u128, allowed: u128) -> f64 {
    if used >= allowed {
        return 0.0;
    }
    1.0 - used as f64 / allowed as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_counts_are_whole_where_they_are_on_paper() {
        for percent in 0..=100_u64 {
            let ratio = Ratio::new(percent as f64 / 100.0).unwrap();
            for count in [0, 1, 5, 10, 100, 999_999, u64::MAX] {
                assert_eq!(
                    share(ratio, count) * 100,
                    whole(count) * u128::from(percent)
                );
            }
        }
        assert_eq!(amount(f64::INFINITY), u128::MAX);
    }

    #[test]
    fn what_is_left_goes_from_one_to_zero() {
        assert_eq!(left(whole(0), whole(4)), 1.0);
        assert_eq!(left(whole(1), whole(4)), 0.75);
        assert_eq!(left(whole(5), whole(4)), 0.0);
        assert_eq!(left(0, 0), 0.0);
    }
}
