//! Whole-number arithmetic of delays that saturates, and a check of settings.

use crate::decode::Reader;
use crate::time::SimDuration;

/// `base` · 2^`exponent`, saturating.
#[inline]
pub(super) fn doubled(base: SimDuration, exponent: u64) -> SimDuration {
    let nanos = base.as_nanos();
    SimDuration::from_nanos(
        if exponent <= u64::from(nanos.leading_zeros()) && exponent < 64 {
            nanos << exponent
        } else if nanos == 0 {
            0
        } else {
            u64::MAX
        },
    )
}

/// `delay` · `count`, saturating.
#[inline]
pub(super) fn times(delay: SimDuration, count: u64) -> SimDuration {
    SimDuration::from_nanos(delay.as_nanos().saturating_mul(count))
}

/// F(0), F(1), …, and at the end the greatest number in place of the first that does not fit.
const FIBONACCI: [u64; 95] = {
    let mut numbers = [1; 95];
    numbers[0] = 0;
    let mut n = 2;
    while n < numbers.len() {
        numbers[n] = u64::saturating_add(numbers[n - 1], numbers[n - 2]);
        n += 1;
    }
    numbers
};

/// F(`n`) of Fibonacci's numbers, saturating.
#[inline]
pub(super) fn fibonacci(n: u32) -> u64 {
    FIBONACCI[(n as usize).min(FIBONACCI.len() - 1)]
}

/// Notes that the setting `key` must not be below `least`.
pub(super) fn check_least(key: &str, value: f64, least: f64, reader: &mut Reader) {
    if value < least {
        reader.error_at(
            &[key],
            format!("`{key}` = {value} is below {least}"),
            format!("give {least} or more"),
        );
    }
}
