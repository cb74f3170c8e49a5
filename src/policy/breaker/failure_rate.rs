//! A breaker that opens when too large a share of the recent results are failures, or slow.
//!
//! A share needs a past to be taken over, the last so many results or those of the last so many seconds, and enough
//! results in it to mean something. After resilience4j, it is judged at every result, success or not.

use super::common::BreakerCommon;
use super::half_open::Tally;
use super::recent::Recent;
use super::state::{Counts, Ended, Form};
use crate::decode::{Check, Reader};
use crate::policy::window::{Span, Window};
use crate::time::SimDuration;
use crate::units::Ratio;
use crate::{choice, record};

/// The largest window in results: 250 kB a breaker.
const MOST_CALLS: u32 = 1_000_000;
/// Results that are needed unless said otherwise.
const MIN_CALLS: u32 = 100;

record! {
    /// A window over a number of results.
    #[derive(Copy)]
    pub struct CountWindow {
        /// How many of the last results it holds, from 1 to 1000000.
        calls: u32,
    }
}

impl Check for CountWindow {
    fn check(&self, reader: &mut Reader) {
        if !(1..=MOST_CALLS).contains(&self.calls) {
            let reason = format!("a window cannot hold {} results", self.calls);
            reader.error_at(&["calls"], reason, "give a number from 1 to 1000000");
        }
    }
}

record! {
    /// A window over a length of time.
    #[derive(Copy)]
    pub struct TimeWindow {
        /// How far back it reaches.
        length: SimDuration,
    }
}

impl Check for TimeWindow {
    fn check(&self, reader: &mut Reader) {
        if self.length == SimDuration::ZERO {
            let remedy = "give a time above 0s, like \"10s\"";
            reader.error_at(&["length"], "a window of no length holds nothing", remedy);
        }
    }
}

choice! {
    /// The past over which a share is taken.
    #[derive(Copy)]
    pub enum RateWindow as "window" {
        /// The last so many results.
        Count(CountWindow) = "count", r#"{ count = { calls = 100 } }"#;
        /// The results of the last so many seconds.
        Time(TimeWindow) = "time", r#"{ time = { length = "10s" } }"#;
    }
}

record! {
    /// When slowness opens a breaker.
    #[derive(Copy)]
    pub struct Slow {
        /// What takes longer than this is slow.
        after: SimDuration,
        /// The share of slow results that opens the breaker.
        rate: Ratio,
    }
}

impl Check for Slow {
    fn check(&self, reader: &mut Reader) {
        check_rate(self.rate, reader);
    }
}

record! {
    /// Opens when the share of failures among the recent results reaches a limit.
    pub struct FailureRate {
        /// The past over which shares are taken.
        window: RateWindow,
        /// The share of failures that opens the breaker.
        rate: Ratio,
        /// Results that the window must hold before they are judged; 100 when left out, and never more than the
        /// window can hold.
        min_calls: Option<u32> = None,
        /// When slowness opens the breaker; never when left out.
        slow: Option<Slow> = None;
        /// Settings that every breaker shares.
        flatten common: BreakerCommon,
    }
}

impl Check for FailureRate {
    fn check(&self, reader: &mut Reader) {
        check_rate(self.rate, reader);
        match (self.min_calls, self.window) {
            (Some(0), _) => {
                let remedy = "give at least 1";
                reader.error_at(&["min_calls"], "a share needs a result", remedy);
            }
            (Some(min), RateWindow::Count(window)) if min > window.calls => {
                let reason = format!(
                    "the window never holds {min} results: it is judged at {}",
                    window.calls
                );
                let remedy = "lower `min_calls`, or enlarge the window";
                reader.warn_at(&["min_calls", "window"], reason, remedy);
            }
            _ => {}
        }
    }
}

fn check_rate(rate: Ratio, reader: &mut Reader) {
    if rate == Ratio::ZERO {
        let remedy = "give a share above 0, like \"50%\"";
        reader.error_at(&["rate"], "every result opens the breaker", remedy);
    }
}

impl FailureRate {
    /// Results that the window must hold before they are judged.
    #[inline]
    pub fn needed(&self) -> u64 {
        let min = self.min_calls.unwrap_or(MIN_CALLS);
        u64::from(match self.window {
            RateWindow::Count(window) => min.min(window.calls),
            RateWindow::Time(_) => min,
        })
    }

    /// Whether so many failed and slow ones among `ended` are too many.
    #[inline]
    fn is_too_much(&self, [ended, failed, slow]: [u64; 3]) -> bool {
        // A quotient is rounded as the share in the settings is: 7 of 100 reach 7 %, where 0.07 · 100 > 7.
        let share = |part: u64| part as f64 / ended as f64;
        share(failed) >= self.rate.get()
            || self
                .slow
                .is_some_and(|limit| share(slow) >= limit.rate.get())
    }
}

impl Form for FailureRate {
    fn common(&self) -> &BreakerCommon {
        &self.common
    }

    fn counts(&self) -> Counts {
        match self.window {
            RateWindow::Count(window) => Counts::Last(Box::new(Recent::new(window.calls))),
            RateWindow::Time(_) => Counts::Past(Box::default()),
        }
    }

    #[inline]
    fn is_slow(&self, took: SimDuration) -> bool {
        self.slow.is_some_and(|limit| took > limit.after)
    }

    fn count(&self, counts: &mut Counts, ended: Ended) -> bool {
        let (failed, slow) = (ended.failed, ended.slow);
        let sums = match (counts, self.window) {
            (Counts::Last(recent), RateWindow::Count(_)) => recent.add(failed, slow),
            (Counts::Past(window), RateWindow::Time(TimeWindow { length })) => {
                let span = Span::sliding(length);
                Window::add(
                    window,
                    span,
                    ended.now,
                    [1, u32::from(failed), u32::from(slow)],
                );
                window.sums(span, ended.now)
            }
            _ => unreachable!("a breaker is called with a state that it made"),
        };
        sums[0] >= self.needed() && self.is_too_much(sums)
    }

    fn reopens(&self, tally: Tally) -> bool {
        self.is_too_much([tally.ended, tally.failed, tally.slow].map(u64::from))
    }
}
