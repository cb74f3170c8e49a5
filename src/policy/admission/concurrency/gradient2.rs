//! Gradient: the limit shrinks in proportion to how much slower attempts have become.
//!
//! The measure is not the fastest attempt but the average of many: the ratio of the two, with some tolerance, is the
//! gradient g. The limit L goes towards g L + queue, so that without slowing down it grows by a constant and with it
//! finds a balance. A slowdown that lasts becomes the new average, and the limit grows again.
//!
//! Source: `Gradient2Limit` of Netflix concurrency-limits.

use super::bounds::check_bounds;
use super::sample::Sample;
use crate::decode::{Check, Reader};
use crate::record;
use crate::units::Ratio;

/// Samples that are averaged plainly before the moving average begins.
const WARM_UP: u32 = 10;

record! {
    /// A limit that compares each attempt with the average of many.
    #[derive(Copy)]
    pub struct Gradient2 {
        /// The limit at first, in attempts.
        initial: u32 = 20,
        /// The lowest limit, in attempts.
        min: u32 = 20,
        /// The highest limit, in attempts.
        max: u32 = 200,
        /// The share of the way to its new value that the limit goes with each attempt.
        smoothing: Ratio = Ratio::new(0.2).expect("lies between 0 and 1"),
        /// How many times slower than the average an attempt may be before the limit shrinks, at least 1.
        tolerance: f64 = 1.5,
        /// Attempts that may wait: what the limit is raised by while there is no slowing down.
        queue: u32 = 4,
        /// Attempts that the moving average covers.
        long_window: u32 = 600,
    }
}

impl Check for Gradient2 {
    fn check(&self, reader: &mut Reader) {
        check_bounds(self.initial, self.min, self.max, reader);
        if self.smoothing == Ratio::ZERO {
            let reason = "the limit never moves";
            reader.warn_at(&["smoothing"], reason, "give a share like 0.2");
        }
        if self.tolerance < 1.0 {
            let reason = format!(
                "with a tolerance of {} the limit shrinks without cause",
                self.tolerance
            );
            reader.error_at(&["tolerance"], reason, "give a number from 1 on, like 1.5");
        }
        if self.queue == 0 {
            let reason = "the limit never grows";
            reader.warn_at(&["queue"], reason, "give a number of attempts, like 4");
        }
        if self.long_window == 0 {
            let reason = "an average of nothing is none";
            reader.error_at(
                &["long_window"],
                reason,
                "give a number of attempts, like 600",
            );
        }
    }
}

/// What the rule remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gradient2State {
    pub(super) limit: f64,
    /// The average time, in nanoseconds.
    average: f64,
    /// The sum of the times of the warm-up, in nanoseconds.
    sum: f64,
    /// Attempts of the warm-up so far.
    seen: u32,
}

impl Gradient2 {
    pub(super) fn fresh(&self) -> Gradient2State {
        Gradient2State {
            limit: f64::from(self.initial),
            average: 0.0,
            sum: 0.0,
            seen: 0,
        }
    }

    pub(super) fn note(&self, state: &mut Gradient2State, sample: &Sample) {
        let short = sample.nanos();
        let long = state.add(short, self.long_window);
        if long / short > 2.0 {
            // Times have become much shorter: the average follows faster.
            state.average *= 0.95;
        }
        if f64::from(sample.in_flight) < state.limit / 2.0 {
            return;
        }
        let gradient = (self.tolerance * long / short).clamp(0.5, 1.0);
        let target = state.limit * gradient + f64::from(self.queue);
        let smoothing = self.smoothing.get();
        let limit = state.limit * (1.0 - smoothing) + target * smoothing;
        state.limit = limit.min(f64::from(self.max)).max(f64::from(self.min));
    }
}

impl Gradient2State {
    /// Takes a time into the average and gives the average.
    fn add(&mut self, nanos: f64, window: u32) -> f64 {
        if self.seen < WARM_UP {
            self.seen += 1;
            self.sum += nanos;
            self.average = self.sum / f64::from(self.seen);
        } else {
            let weight = 2.0 / (f64::from(window) + 1.0);
            self.average = self.average * (1.0 - weight) + nanos * weight;
        }
        self.average
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::admission::testing::{form, ms};

    fn sample(rtt: u64, in_flight: u32) -> Sample {
        Sample {
            rtt: ms(rtt),
            in_flight,
            dropped: false,
            luck: 0.5,
        }
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9 * b.abs(), "{a} is not {b}");
    }

    /// The limit after an attempt of `rtt` ms when 100 have just taken 100 ms each.
    fn after(limit: f64, rtt: u64, in_flight: u32) -> Gradient2State {
        let rule: Gradient2 = form("{ long_window = 199 }");
        let mut state = rule.fresh();
        (0..100).for_each(|_| rule.note(&mut state, &sample(100, 1)));
        close(state.average, 100e6);
        state.limit = limit;
        rule.note(&mut state, &sample(rtt, in_flight));
        state
    }

    #[test]
    fn the_limit_goes_a_fifth_of_the_way_to_gradient_times_limit_plus_queue() {
        // No slowing down beyond the tolerance: 0.8 · 100 + 0.2 · (100 + 4).
        close(after(100.0, 100, 100).limit, 100.8);
        close(after(100.0, 149, 100).limit, 100.8);
        // The average of 100 and 200 with weight 1 %: 101, so g = 1.5 · 101/200 = 0.7575.
        close(after(100.0, 200, 100).limit, 80.0 + 0.2 * 79.75);
        // g is at least 1/2.
        close(after(100.0, 10_000, 100).limit, 80.0 + 0.2 * 54.0);
        close(after(199.9, 100, 200).limit, 200.0);
        close(after(21.0, 10_000, 100).limit, 20.0);
    }

    #[test]
    fn below_half_of_the_limit_only_the_average_moves() {
        let state = after(100.0, 200, 49);
        close(state.limit, 100.0);
        close(state.average, 101e6);
        close(after(100.0, 100, 50).limit, 100.8);
    }

    #[test]
    fn the_average_follows_faster_when_times_have_halved() {
        // 0.99 · 100 + 0.01 · 40 = 99.4, more than twice 40.
        close(after(100.0, 40, 1).average, 99.4e6 * 0.95);
        close(after(100.0, 50, 1).average, 99.5e6);
    }

    #[test]
    fn the_first_ten_times_are_averaged_plainly() {
        let rule: Gradient2 = form("{}");
        let mut state = rule.fresh();
        (1..=10).for_each(|i| rule.note(&mut state, &sample(100 + i, 1)));
        close(state.average, 105.5e6);
        rule.note(&mut state, &sample(200, 1));
        close(state.average, 105.5e6 + (200e6 - 105.5e6) * 2.0 / 601.0);
    }

    #[test]
    fn drops_are_not_heeded() {
        let rule: Gradient2 = form("{}");
        let mut state = rule.fresh();
        let dropped = Sample {
            dropped: true,
            ..sample(100, 20)
        };
        rule.note(&mut state, &dropped);
        close(state.limit, 20.8);
    }
}
