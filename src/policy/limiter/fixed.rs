//! A given rate with a given burst.
//!
//! A bucket of tokens would have to hold negative amounts for the attempts that wait, and to be filled up at each look.
//! Its mirror image needs one instant: when the next attempt would be due if all were sent at the even rate. An attempt
//! may be sent earlier than that by the time in which the burst but one flows in, and each moves the instant on by one
//! interval (the generic cell rate algorithm, ITU-T I.371). So in any time t at most rate · t + burst attempts are
//! sent, to within the nanosecond of the clock.

use super::{Held, HoldBack};
use crate::decode::{Check, Reader};
use crate::policy::tokens::Tokens;
use crate::record;
use crate::time::{NANOS_PER_SEC, SimDuration, SimTime};
use crate::units::Rate;

/// Parts of a nanosecond, as binary digits: the interval of a high rate is not a whole number of nanoseconds.
const FRACTION: u32 = 32;
/// Longer than all time that can be simulated, with room above for sums.
const FOR_EVER: u128 = 1 << 97;

record! {
    /// Attempts are sent at a given rate at the most, but for a burst.
    pub struct FixedRate {
        /// Attempts per unit of time, like "100/s".
        rate: Rate,
        /// Attempts that may be sent at once after a quiet time, at least 1.
        burst: Tokens = Tokens::ONE;
        /// Settings that every rate limiter shares.
        flatten common: HoldBack,
    }
}

impl Check for FixedRate {
    fn check(&self, reader: &mut Reader) {
        if self.rate.as_per_second() == 0.0 {
            let remedy = "give a rate above zero, like \"100/s\"";
            reader.error_at(&["rate"], "no turn ever comes at a rate of zero", remedy);
        }
        if self.burst < Tokens::ONE {
            let reason = format!("a burst of {} never lets an attempt go", self.burst.get());
            reader.error_at(&["burst"], reason, "give at least 1");
        }
    }
}

/// When the next attempt would be due at the even rate: nanoseconds since the start, times 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due(u128);

const fn fixed_point(nanos: u64) -> u128 {
    (nanos as u128) << FRACTION
}

impl FixedRate {
    /// From one attempt to the next at the even rate; rounded up, so that the rate is kept.
    #[inline]
    fn interval(&self) -> u128 {
        let nanos = NANOS_PER_SEC as f64 / self.rate.as_per_second();
        ((nanos * fixed_point(1) as f64).ceil() as u128).clamp(1, FOR_EVER)
    }

    /// How much earlier than due an attempt may be sent.
    #[inline]
    fn advance(&self) -> u128 {
        let interval = self.interval();
        let more = u128::from(self.burst.minus(Tokens::ONE).millionths());
        let one = u128::from(Tokens::ONE.millionths());
        // The product fits below this; above, what the division loses is less than a part in 10^15.
        if interval < 1 << 70 {
            interval * more / one
        } else {
            interval / one * more
        }
    }

    #[inline]
    pub(super) fn take(&self, due: &mut Due, now: SimTime) -> Held {
        let now = fixed_point(now.as_nanos());
        let at = due.0.max(now);
        let wait = at.saturating_sub(self.advance()).saturating_sub(now);
        let wait = u64::try_from(wait.div_ceil(fixed_point(1))).unwrap_or(u64::MAX);
        let held = self.common.held(SimDuration::from_nanos(wait));
        if held != Held::Refuse {
            due.0 = at.saturating_add(self.interval());
        }
        held
    }

    pub(super) fn level(&self, due: &Due, now: SimTime) -> f64 {
        let ahead = due.0.saturating_sub(fixed_point(now.as_nanos())) as f64;
        let taken = ahead / self.interval() as f64;
        (1.0 - taken / self.burst.get().max(1.0)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::scope::Scope;
    use proptest::prelude::*;

    fn limiter(per_second: f64, burst: f64, longest_wait: Option<SimDuration>) -> FixedRate {
        FixedRate {
            rate: Rate::per_second(per_second).unwrap(),
            burst: Tokens::new(burst).unwrap(),
            common: HoldBack {
                longest_wait,
                scope: Scope::Client,
            },
        }
    }

    fn ms(ms: u64) -> SimDuration {
        SimDuration::from_millis(ms)
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + ms(millis)
    }

    #[test]
    fn a_burst_goes_at_once_and_the_others_wait_one_behind_the_other() {
        let form = limiter(10.0, 2.0, Some(ms(250)));
        let mut due = Due::default();
        let mut take = |now| form.take(&mut due, at(now));
        assert_eq!(take(0), Held::Send);
        assert_eq!(take(0), Held::Send);
        assert_eq!(take(0), Held::Wait(ms(100)));
        assert_eq!(take(50), Held::Wait(ms(150)));
        assert_eq!(take(50), Held::Wait(ms(250)));
        assert_eq!(take(50), Held::Refuse);
        assert_eq!(take(51), Held::Refuse, "a refusal reserves nothing");
        assert_eq!(take(400), Held::Send);
        assert_eq!(take(600), Held::Send);
        assert_eq!(take(600), Held::Send);
        assert_eq!(take(600), Held::Wait(ms(100)));
    }

    #[test]
    fn the_level_is_what_may_go_at_once() {
        let form = limiter(10.0, 4.0, None);
        let mut due = Due::default();
        for left in [1.0, 0.75, 0.5, 0.25, 0.0, 0.0] {
            let level = form.level(&due, at(1_000));
            assert!((level - left).abs() < 1e-9, "{level}");
            form.take(&mut due, at(1_000));
        }
        // Six were taken, and four have come back.
        let level = form.level(&due, at(1_400));
        assert!((level - 0.5).abs() < 1e-9, "{level}");
    }

    #[test]
    fn a_rate_is_kept_whose_interval_is_no_whole_number_of_nanoseconds() {
        let form = limiter(7e8, 1.0, None);
        let mut due = Due::default();
        let waits = (0..700_001).map(|_| match form.take(&mut due, SimTime::ZERO) {
            Held::Wait(wait) => wait,
            _ => SimDuration::ZERO,
        });
        let last = waits.last().map_or(0, SimDuration::as_nanos);
        assert!((1_000_000..=1_000_001).contains(&last), "{last} ns");
    }

    #[test]
    fn the_greatest_numbers_saturate() {
        for (rate, burst) in [(1e9, 1e9), (1e-300, 1.0), (1e-300, 1e9), (1e-9, 1e9)] {
            let form = limiter(rate, burst, None);
            let mut due = Due::default();
            let end = SimTime::MAX;
            for now in [SimTime::ZERO, end, end, end] {
                form.take(&mut due, now);
                assert!((0.0..=1.0).contains(&form.level(&due, now)));
            }
        }
        let form = limiter(1e-300, 2.0, None);
        let mut due = Due::default();
        assert_eq!(form.take(&mut due, SimTime::ZERO), Held::Send);
        assert_eq!(form.take(&mut due, SimTime::MAX), Held::Send);
        for _ in 0..1_000_000 {
            assert_eq!(
                form.take(&mut due, SimTime::MAX),
                Held::Wait(SimDuration::MAX)
            );
        }
    }

    proptest! {
        #[test]
        fn no_window_holds_more_than_its_rate_and_burst_and_nobody_overtakes(
            rate in prop_oneof![1e-3..1e3_f64, 1e3..1e9_f64],
            burst in prop_oneof![Just(1.0), 1.0..20.0_f64],
            gaps in prop::collection::vec(0.0..3.0_f64, 1..80),
            longest in prop::option::of(0.0..5.0_f64),
        ) {
            let interval = 1.0 / rate;
            let longest = longest.map(|n| SimDuration::from_secs_f64(n * interval));
            let form = limiter(rate, burst, longest);
            let (mut due, mut now) = (Due::default(), SimTime::ZERO);
            let mut sent: Vec<SimTime> = Vec::new();
            for gap in gaps {
                // Many at one instant, and pauses now and then.
                let gap = if gap < 2.0 { 0.0 } else { (gap - 2.0) * 10.0 };
                now += SimDuration::from_secs_f64(gap * interval);
                match form.take(&mut due, now) {
                    Held::Send => sent.push(now),
                    Held::Wait(wait) => {
                        prop_assert!(longest.is_none_or(|longest| wait <= longest));
                        sent.push(now + wait);
                    }
                    Held::Refuse => prop_assert!(longest.is_some()),
                }
            }
            prop_assert!(sent.is_sorted());
            for (i, &from) in sent.iter().enumerate() {
                for (j, &to) in sent.iter().enumerate().skip(i) {
                    let nanos = (to - from).as_nanos() + 1;
                    let most = rate * nanos as f64 / 1e9 + burst;
                    prop_assert!((j - i + 1) as f64 <= most + 1e-5, "{i} to {j}: {nanos} ns");
                }
            }
        }
    }
}
