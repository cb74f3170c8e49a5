//! A rate that is found from the answers.
//!
//! A client does not know what share of a service is its own. It measures the rate of its answers; when the service
//! asks for fewer attempts it goes back to seven tenths of that, then grows along a cubic curve: fast back towards
//! the rate at which it was stopped, slowly around it, ever faster beyond (Ha, Rhee and Xu, "CUBIC", 2008). This is
//! the adaptive mode of the AWS SDKs, as botocore and smithy-rs have it:
//!
//! * The measured rate moves by 4/5 of the way to count / time in each half second with an answer.
//! * Throttled: w = min(measured, present rate), or what was measured the first time; k = cbrt(3/4 w); rate = 0.7 w.
//!   From the first time on, attempts are held back.
//! * Any other end: rate = 0.4 (t − k)³ + w, t seconds after the service last asked for fewer attempts.
//! * The new rate is at most twice the measured one, and at least 1/2 a second; the bucket holds as many tokens, and
//!   at least one.
//!
//! Attempts take a token each and wait for those that are not there yet at the present rate. A wait is not made anew
//! when the rate changes, so after a rise a later attempt may overtake. A client is taken to be made at its first
//! attempt.

use super::{Held, HoldBack};
use crate::decode::Check;
use crate::policy::kind::{Kind, Seen};
use crate::record;
use crate::time::{NANOS_PER_SEC, SimDuration, SimTime};

/// Share of the rate that is kept when the service asks for fewer attempts.
const KEPT: f64 = 0.7;
/// How fast the cubic curve grows, per cubic second.
const GROWTH: f64 = 0.4;
/// Weight of the latest count in the measured rate.
const LATEST: f64 = 0.8;
/// The measured rate is renewed at multiples of this.
const HALF_SECOND: u64 = NANOS_PER_SEC / 2;
/// The least rate, per second.
const LEAST_RATE: f64 = 0.5;
/// The fewest tokens that a full bucket holds.
const FEWEST: f64 = 1.0;

record! {
    /// The send rate follows the answers: it falls when the service asks for fewer attempts, and grows otherwise.
    pub struct AdaptiveRate {
        ;
        /// Settings that every rate limiter shares.
        flatten common: HoldBack,
    }
}

impl Check for AdaptiveRate {}

/// What an adaptive limiter remembers. Rates are per second, and amounts are tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Answers per second.
    measured: f64,
    /// The rate at which the service last asked for fewer attempts.
    stopped_at: f64,
    /// The rate at which tokens flow in.
    rate: f64,
    /// Tokens that a full bucket holds.
    capacity: f64,
    /// Tokens there are; below zero, those that waiting attempts have reserved.
    tokens: f64,
    /// The time up to which tokens have flowed in.
    filled: SimTime,
    /// When the service last asked for fewer attempts, or the first attempt.
    slowed: SimTime,
    /// The half second up to which answers were measured.
    half_second: u64,
    /// Answers since.
    answers: u32,
    /// Whether anything has been sent yet.
    started: bool,
    /// Whether attempts are held back.
    enabled: bool,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            measured: 0.0,
            stopped_at: 0.0,
            rate: LEAST_RATE,
            capacity: FEWEST,
            tokens: 0.0,
            filled: SimTime::ZERO,
            slowed: SimTime::ZERO,
            half_second: 0,
            answers: 0,
            started: false,
            enabled: false,
        }
    }
}

/// Seconds in which the cubic curve comes back to the rate at which it was stopped.
fn way_back(stopped_at: f64) -> f64 {
    (stopped_at * (1.0 - KEPT) / GROWTH).cbrt()
}

impl Pace {
    fn start(&mut self, now: SimTime) {
        if !self.started {
            self.started = true;
            self.filled = now;
            self.slowed = now;
            // As in botocore, the first count reaches back to a whole second.
            let nanos = now.as_nanos();
            self.half_second = (nanos - nanos % NANOS_PER_SEC) / HALF_SECOND;
        }
    }

    fn fill(&mut self, now: SimTime) {
        let flowed = (now - self.filled).as_secs_f64() * self.rate;
        self.tokens = (self.tokens + flowed).min(self.capacity);
        self.filled = self.filled.max(now);
    }

    fn measure(&mut self, now: SimTime) {
        self.answers = self.answers.saturating_add(1);
        let half_second = now.as_nanos() / HALF_SECOND;
        if half_second > self.half_second {
            let secs = (half_second - self.half_second) as f64 / 2.0;
            let latest = f64::from(self.answers) / secs;
            self.measured = latest * LATEST + self.measured * (1.0 - LATEST);
            self.answers = 0;
            self.half_second = half_second;
        }
    }

    /// The rate after a plea for fewer attempts.
    fn slow_down(&mut self, now: SimTime) -> f64 {
        self.stopped_at = if self.enabled {
            self.measured.min(self.rate)
        } else {
            self.measured
        };
        self.slowed = now;
        self.enabled = true;
        self.stopped_at * KEPT
    }

    /// The rate so long after the last plea for fewer attempts.
    fn speed_up(&self, now: SimTime) -> f64 {
        let since = (now - self.slowed).as_secs_f64();
        GROWTH * (since - way_back(self.stopped_at)).powi(3) + self.stopped_at
    }

    /// Goes on at `rate`; what has flowed in so far did so at the old one.
    fn go_on(&mut self, now: SimTime, rate: f64) {
        self.fill(now);
        self.rate = rate.max(LEAST_RATE);
        self.capacity = rate.max(FEWEST);
        self.tokens = self.tokens.min(self.capacity);
    }
}

impl AdaptiveRate {
    #[inline]
    pub(super) fn take(&self, pace: &mut Pace, now: SimTime) -> Held {
        pace.start(now);
        if !pace.enabled {
            return Held::Send;
        }
        pace.fill(now);
        let missing = ((1.0 - pace.tokens) / pace.rate).max(0.0);
        // Rounded up: a nanosecond early is early.
        let wait = SimDuration::from_nanos((missing * NANOS_PER_SEC as f64).ceil() as u64);
        let held = self.common.held(wait);
        if held != Held::Refuse {
            pace.tokens -= 1.0;
        }
        held
    }

    pub(super) fn note(&self, pace: &mut Pace, seen: &Seen) {
        pace.start(seen.now);
        pace.measure(seen.now);
        let rate = match seen.kind {
            Kind::Throttled => pace.slow_down(seen.now),
            Kind::Ok | Kind::Transient | Kind::Timeout | Kind::Permanent => pace.speed_up(seen.now),
        };
        pace.go_on(seen.now, rate.min(2.0 * pace.measured));
    }

    pub(super) fn level(&self, pace: &Pace, now: SimTime) -> f64 {
        if !pace.enabled {
            return 1.0;
        }
        let mut pace = *pace;
        pace.fill(now);
        (pace.tokens / pace.capacity).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::scope::Scope;

    fn limiter(longest_wait: Option<SimDuration>) -> AdaptiveRate {
        AdaptiveRate {
            common: HoldBack {
                longest_wait,
                scope: Scope::Client,
            },
        }
    }

    fn at(millis: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(millis)
    }

    fn seen(now: SimTime, kind: Kind) -> Seen {
        Seen {
            now,
            took: SimDuration::ZERO,
            kind,
            retryable: kind != Kind::Ok,
            retry: false,
        }
    }

    /// A client that was stopped at `stopped_at` a second, and holds no tokens.
    fn stopped(stopped_at: f64, now: SimTime) -> Pace {
        Pace {
            measured: stopped_at,
            stopped_at,
            rate: stopped_at,
            capacity: stopped_at,
            filled: now,
            slowed: now,
            half_second: now.as_nanos() / HALF_SECOND,
            started: true,
            enabled: true,
            ..Pace::default()
        }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-7, "{value}, not {expected}");
    }

    #[test]
    fn the_way_back_from_ten_and_from_eight() {
        near(way_back(10.0), 1.957_433_8);
        near(way_back(8.0), 1.817_120_6);
        let mut pace = stopped(10.0, at(0));
        pace.measured = 8.0;
        near(pace.slow_down(at(5_000)), 5.6);
        near(pace.speed_up(at(5_000)), 5.6);
        near(pace.stopped_at, 8.0);
    }

    #[test]
    fn the_rate_comes_back_fast_then_slowly_and_grows_ever_faster() {
        let pace = stopped(10.0, at(5_000));
        // 0.4 (t - cbrt 7.5)^3 + 10 for t = 0, 1, ..., 6.
        for (t, rate) in [
            7.0,
            9.648_936_010,
            10.000_030_850,
            10.453_284_521,
            13.408_697_022,
            21.266_268_354,
            36.425_998_517,
        ]
        .into_iter()
        .enumerate()
        {
            near(pace.speed_up(at(5_000 + 1_000 * t as u64)), rate);
        }
    }

    #[test]
    fn a_client_that_is_stopped_twice_has_the_rates_of_the_rules() {
        // Worked out from the rules by an independent program: measured and present rate after each answer.
        let form = limiter(None);
        let mut pace = Pace::default();
        assert_eq!(form.take(&mut pace, at(0)), Held::Send);
        for (kind, millis, measured, rate) in [
            (Kind::Ok, 200, 0.0, 0.5),
            (Kind::Ok, 400, 0.0, 0.5),
            (Kind::Ok, 600, 4.8, 0.5),
            (Kind::Transient, 800, 4.8, 0.5),
            (Kind::Ok, 1_000, 4.16, 0.5),
            (Kind::Timeout, 1_200, 4.16, 0.691_2),
            (Kind::Ok, 1_400, 4.16, 1.097_6),
            (Kind::Ok, 1_600, 5.632, 1.638_4),
            (Kind::Permanent, 1_800, 5.632, 2.332_8),
            (Kind::Throttled, 2_000, 4.326_4, 3.028_48),
            (Kind::Ok, 2_200, 4.326_4, 3.486_639_173),
            (Kind::Ok, 2_400, 4.326_4, 3.821_874_416),
            (Kind::Ok, 2_600, 5.665_28, 4.053_385_728),
            (Kind::Ok, 2_800, 5.665_28, 4.200_373_108),
            (Kind::Throttled, 3_000, 4.333_056, 2.940_261_176),
            (Kind::Ok, 3_200, 4.333_056, 3.388_851_680),
            (Kind::Ok, 3_400, 4.333_056, 3.715_911_884),
            // The curve says more: twice the measured rate is the most.
            (Kind::Ok, 6_000, 1.666_611_2, 3.333_222_4),
        ] {
            let held = form.take(&mut pace.clone(), at(millis));
            assert!(millis > 2_000 || held == Held::Send, "at {millis} ms");
            form.note(&mut pace, &seen(at(millis), kind));
            near(pace.measured, measured);
            near(pace.rate, rate);
            near(pace.capacity, rate.max(1.0));
        }
    }

    #[test]
    fn waiting_attempts_reserve_their_tokens_and_refused_ones_do_not() {
        let form = limiter(Some(SimDuration::from_secs(2)));
        let mut pace = stopped(2.0, at(0));
        let mut take = |millis| form.take(&mut pace, at(millis));
        let wait = |millis| Held::Wait(SimDuration::from_millis(millis));
        assert_eq!(take(0), wait(500));
        assert_eq!(take(0), wait(1_000));
        assert_eq!(take(250), wait(1_250));
        assert_eq!(take(250), wait(1_750));
        assert_eq!(take(250), Held::Refuse);
        assert_eq!(take(500), wait(2_000));
        assert_eq!(take(60_000), Held::Send);
        assert_eq!(take(60_000), Held::Send, "two tokens are the capacity");
        assert_eq!(take(60_000), wait(500));
    }

    #[test]
    fn tokens_flow_in_at_the_old_rate_until_it_changes_and_a_smaller_bucket_spills() {
        let mut pace = stopped(10.0, at(0));
        pace.go_on(at(500), 20.0);
        near(pace.tokens, 5.0);
        pace.go_on(at(500), 0.1);
        near(pace.tokens, 1.0);
        near(pace.rate, 0.5);
        near(limiter(None).level(&pace, at(500)), 1.0);
        pace.tokens = -1.0;
        near(limiter(None).level(&pace, at(3_500)), 0.5);
        near(limiter(None).level(&pace, at(500)), 0.0);
    }

    #[test]
    fn a_client_settles_near_what_the_service_takes() {
        // 200 attempts a second are wanted; the service takes 20 a second from a bucket one second deep.
        let form = limiter(Some(SimDuration::ZERO));
        let mut pace = Pace::default();
        let (mut tokens, mut sent, mut accepted) = (20.0_f64, 0, 0);
        for millis in (0..360_000).step_by(5) {
            tokens = (tokens + 0.1).min(20.0);
            if form.take(&mut pace, at(millis)) != Held::Send {
                continue;
            }
            let taken = tokens >= 1.0;
            tokens -= f64::from(u8::from(taken));
            let kind = if taken { Kind::Ok } else { Kind::Throttled };
            form.note(&mut pace, &seen(at(millis), kind));
            sent += u32::from(millis >= 60_000);
            accepted += u32::from(taken && millis >= 60_000);
        }
        let (sent, accepted) = (f64::from(sent) / 300.0, f64::from(accepted) / 300.0);
        assert!((15.0..=20.01).contains(&accepted), "{accepted}");
        assert!(sent - accepted < 2.0, "{sent} sent, {accepted} accepted");
    }

    #[test]
    fn a_client_made_late_measures_from_its_first_attempt() {
        let form = limiter(None);
        let (start, mut pace) = (1_000_700, Pace::default());
        form.take(&mut pace, at(start));
        form.note(&mut pace, &seen(at(start + 300), Kind::Throttled));
        // One answer in the second that began at 1 000 s.
        near(pace.measured, 0.8);
        near(pace.rate, 0.56);
    }

    #[test]
    fn the_greatest_numbers_saturate() {
        let form = limiter(None);
        let mut pace = Pace::default();
        for now in [SimTime::ZERO, SimTime::MAX, SimTime::MAX] {
            for kind in [Kind::Ok, Kind::Throttled, Kind::Ok] {
                form.take(&mut pace, now);
                form.note(&mut pace, &seen(now, kind));
                assert!(pace.rate.is_finite() && pace.rate >= LEAST_RATE);
                assert!((0.0..=1.0).contains(&form.level(&pace, now)));
            }
        }
        for _ in 0..1_000_000 {
            form.take(&mut pace, SimTime::MAX);
        }
        let Held::Wait(wait) = form.take(&mut pace, SimTime::MAX) else {
            panic!("a million wait before it");
        };
        assert!(wait > SimDuration::from_secs(1_000));
    }
}
