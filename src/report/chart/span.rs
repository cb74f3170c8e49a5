//! From where to where an axis reaches.
//!
//! An axis that starts just below the data makes a mountain of every bump; one that always starts at zero hides a
//! difference between 98 % and 99 %. So zero is shown whenever the data come near it, and not otherwise.

use super::frame::ticks;

/// Where an axis lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// From left to right.
    Across,
    /// From the bottom up. Its ends are round.
    Upwards,
}

/// Whether a value can be drawn at all.
pub(super) fn usable(value: f64) -> bool {
    /// Beyond this no chart means anything, and sums of it might overflow.
    const ENORMOUS: f64 = 1e100;
    value.abs() <= ENORMOUS
}

/// The least and the greatest of the values that can be drawn.
fn extent(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values
        .filter(|&value| usable(value))
        .fold(None, |found, value| match found {
            None => Some((value, value)),
            Some((low, high)) => Some((value.min(low), value.max(high))),
        })
}

/// The ends of an even axis for these values. A `share` does not go far beyond 1.
pub(super) fn linear(values: &[f64], side: Side, share: bool) -> (f64, f64) {
    let (mut low, mut high) = extent(values.iter().copied()).unwrap_or((0.0, 1.0));
    let near_zero = if side == Side::Upwards { 0.6 } else { 0.35 };
    if low > 0.0 && low <= near_zero * high {
        low = 0.0;
    }
    if high < 0.0 && high >= near_zero * low {
        high = 0.0;
    }
    if high - low <= 1e-9 * high.abs().max(low.abs()) {
        let aside = if high == 0.0 { 0.5 } else { high.abs() * 0.1 };
        (low, high) = (low - aside, high + aside);
    }
    let spread = high - low;
    let (bottom, top) = match side {
        Side::Across => (low - spread * 0.025, high + spread * 0.025),
        Side::Upwards => rounded(low, high + spread * 0.02),
    };
    let bottom = if low >= 0.0 { bottom.max(0.0) } else { bottom };
    let bottom = if low == 0.0 { 0.0 } else { bottom };
    if share && high <= 1.0 && top > 1.0 {
        return (bottom, 1.0 + (1.0 - bottom) * 0.03);
    }
    (bottom, top)
}

/// The round numbers around a range.
fn rounded(low: f64, high: f64) -> (f64, f64) {
    let found = ticks(&(low..high), 6);
    let step = match found[..] {
        [first, second, ..] => second - first,
        _ => high - low,
    };
    let floor = (low / step + 1e-9).floor() * step;
    (floor, (high / step - 1e-9).ceil() * step)
}

/// The logarithms of the ends of an axis for the values above zero.
pub(super) fn log(values: &[f64], side: Side) -> (f64, f64) {
    let logs = values.iter().filter(|&&v| v > 0.0).map(|v| v.log10());
    let (mut low, mut high) = extent(logs).unwrap_or((-1.0, 0.0));
    if high - low < 0.05 {
        (low, high) = (low - 0.3, high + 0.3);
    }
    match side {
        Side::Across => {
            let aside = (high - low) * 0.03;
            (low - aside, high + aside)
        }
        Side::Upwards => (-round_log_up(-low), round_log_up(high)),
    }
}

/// The next logarithm of one, two or five times a power of ten.
fn round_log_up(log: f64) -> f64 {
    let decade = (log + 1e-9).floor();
    let part = log - decade;
    let places = [0.0, 2f64.log10(), 5f64.log10(), 1.0];
    let next = places.into_iter().find(|place| part <= place + 1e-9);
    decade + next.unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_is_on_the_axis_when_the_data_come_near_it() {
        assert_eq!(linear(&[100.0, 900.0], Side::Upwards, false), (0.0, 1000.0));
        let (low, high) = linear(&[0.98, 0.995], Side::Upwards, true);
        assert!(low > 0.9 && low < 0.980_001 && (0.995..=1.001).contains(&high));
        let (low, high) = linear(&[-5.0, -1.0], Side::Upwards, false);
        assert!(low <= -5.0 && high >= 0.0);
    }

    #[test]
    fn a_share_does_not_go_far_beyond_all() {
        let (low, high) = linear(&[0.0, 1.0], Side::Upwards, true);
        assert_eq!(low, 0.0);
        assert!((1.0..=1.05).contains(&high), "{high}");
    }

    #[test]
    fn one_value_none_and_enormous_ones_still_make_an_axis() {
        for values in [
            &[][..],
            &[0.0],
            &[7.0],
            &[-7.0],
            &[f64::NAN],
            &[f64::INFINITY, 1.0],
            &[f64::MAX],
            &[1e100, -1e100],
            &[1e-300],
        ] {
            for side in [Side::Across, Side::Upwards] {
                let (low, high) = linear(values, side, false);
                assert!(low < high && low.is_finite() && high.is_finite());
                let (low, high) = log(values, side);
                assert!(low < high && low.is_finite() && high.is_finite());
            }
        }
    }

    #[test]
    fn a_logarithmic_axis_upwards_ends_at_one_two_or_five() {
        let (low, high) = log(&[0.03, 700.0], Side::Upwards);
        assert!((low - 0.02f64.log10()).abs() < 1e-9, "{low}");
        assert!((high - 3.0).abs() < 1e-9);
        let (low, high) = log(&[0.0, -4.0, 10.0, 100.0], Side::Across);
        assert!(low < 1.0 && low > 0.9 && high > 2.0 && high < 2.1);
    }
}
