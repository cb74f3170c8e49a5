//! Vegas: the limit follows the length of the queue, told from how much slower attempts are than the fastest.
//!
//! By Little's law, when attempts take r where an unhindered one takes r₀, a share 1 − r₀/r of the limit L waits: the
//! queue is q = ⌈L(1 − r₀/r)⌉. A short queue lets the limit grow, a long one shrinks it. As a server may become slower
//! for good, r₀ is measured anew from time to time; when that happens under load the queue counts as part of the
//! server.
//!
//! Source: `VegasLimit` of Netflix concurrency-limits.

use super::bounds::check_bounds;
use super::sample::Sample;
use crate::decode::{Check, Reader};
use crate::record;
use crate::time::SimDuration;

record! {
    /// A limit that keeps the queue at three to six times the logarithm of the limit.
    #[derive(Copy)]
    pub struct Vegas {
        /// The limit at first, in attempts.
        initial: u32 = 20,
        /// The highest limit, in attempts.
        max: u32 = 1_000,
        /// After at most so many attempts per unit of the limit the fastest time is measured anew.
        probe_multiplier: u32 = 30,
    }
}

impl Check for Vegas {
    fn check(&self, reader: &mut Reader) {
        check_bounds(self.initial, 1, self.max, reader);
        if self.probe_multiplier == 0 {
            let reason = "every attempt is a new measurement, so the limit never moves";
            reader.warn_at(&["probe_multiplier"], reason, "give a number like 30");
        }
    }
}

/// What the rule remembers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasState {
    pub(super) limit: f64,
    /// The time of an unhindered attempt; zero before it is known.
    unhindered: SimDuration,
    /// Attempts since it was measured anew.
    since_probe: u64,
    /// The share of the longest distance between measurements after which the next one is due; zero before it
    /// is drawn.
    probe_share: f64,
}

impl Vegas {
    pub(super) fn fresh(&self) -> VegasState {
        VegasState {
            limit: f64::from(self.initial),
            unhindered: SimDuration::ZERO,
            since_probe: 0,
            probe_share: 0.0,
        }
    }

    pub(super) fn note(&self, state: &mut VegasState, sample: &Sample) {
        let new_share = 0.5 + 0.5 * sample.luck;
        if state.probe_share <= 0.0 {
            state.probe_share = new_share;
        }
        let rtt = sample.rtt.max(SimDuration::from_nanos(1));
        state.since_probe = state.since_probe.saturating_add(1);
        let due = state.probe_share * f64::from(self.probe_multiplier) * state.limit;
        if due <= state.since_probe as f64 {
            (state.probe_share, state.since_probe) = (new_share, 0);
            state.unhindered = rtt;
            return;
        }
        if state.unhindered == SimDuration::ZERO || rtt < state.unhindered {
            state.unhindered = rtt;
            return;
        }
        let limit = state.limit + step(state.limit, state.unhindered, sample);
        state.limit = limit.min(f64::from(self.max)).max(1.0);
    }
}

/// By how much the limit moves.
fn step(limit: f64, unhindered: SimDuration, sample: &Sample) -> f64 {
    let unit = root(limit);
    if sample.dropped {
        return -unit;
    }
    if 2.0 * f64::from(sample.in_flight) < limit {
        // Too little is inside to tell.
        return 0.0;
    }
    let queue = (limit * (1.0 - unhindered.as_nanos() as f64 / sample.nanos())).ceil();
    if queue <= unit {
        6.0 * unit
    } else if queue < 3.0 * unit {
        unit
    } else if queue > 6.0 * unit {
        -unit
    } else {
        0.0
    }
}

/// The whole part of the decimal logarithm of the limit, at least 1. The library takes the square root from 1000 on,
/// which by default is met at the highest limit only; here it is the logarithm throughout.
fn root(limit: f64) -> f64 {
    f64::from((limit as u32).max(10).ilog10())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::admission::testing::{form, ms};

    /// A state long before its next measurement.
    fn state(limit: f64) -> VegasState {
        VegasState {
            limit,
            unhindered: ms(100),
            since_probe: 0,
            probe_share: 1.0,
        }
    }

    fn sample(rtt: u64, in_flight: u32) -> Sample {
        Sample {
            rtt: ms(rtt),
            in_flight,
            dropped: false,
            luck: 0.5,
        }
    }

    /// The limit after one attempt; an unhindered one takes 100 ms.
    fn after(limit: f64, sample: Sample) -> f64 {
        let rule: Vegas = form("{}");
        let mut state = state(limit);
        rule.note(&mut state, &sample);
        state.limit
    }

    #[test]
    fn the_limit_follows_the_length_of_the_queue() {
        // L = 100, so the unit is 2. The queue is ⌈100 (1 − 100/rtt)⌉.
        assert_eq!(after(100.0, sample(100, 100)), 112.0, "no queue");
        assert_eq!(after(100.0, sample(102, 100)), 112.0, "a queue of 2");
        assert_eq!(after(100.0, sample(103, 100)), 102.0, "a queue of 3");
        assert_eq!(after(100.0, sample(105, 100)), 102.0, "a queue of 5");
        assert_eq!(after(100.0, sample(106, 100)), 100.0, "a queue of 6");
        assert_eq!(after(100.0, sample(113, 100)), 100.0, "a queue of 12");
        assert_eq!(after(100.0, sample(114, 100)), 98.0, "a queue of 13");
        assert_eq!(after(20.0, sample(100, 20)), 26.0, "the unit of 20 is 1");
        assert_eq!(after(5.0, sample(500, 5)), 5.0, "a queue of 4");
        assert_eq!(after(8.0, sample(900, 8)), 7.0, "the unit is at least 1");
    }

    #[test]
    fn below_half_of_the_limit_nothing_moves_but_by_drops() {
        assert_eq!(after(100.0, sample(100, 49)), 100.0);
        assert_eq!(after(100.0, sample(100, 50)), 112.0);
        let dropped = Sample {
            dropped: true,
            ..sample(100, 1)
        };
        assert_eq!(after(100.0, dropped), 98.0);
    }

    #[test]
    fn the_limit_stays_between_one_and_the_highest() {
        assert_eq!(after(995.0, sample(100, 995)), 1_000.0);
        let dropped = Sample {
            dropped: true,
            ..sample(100, 1)
        };
        assert_eq!(after(1.0, dropped), 1.0);
    }

    #[test]
    fn a_faster_attempt_is_the_new_measure_and_moves_nothing() {
        let rule: Vegas = form("{}");
        let mut first = rule.fresh();
        rule.note(&mut first, &sample(300, 20));
        assert_eq!((first.limit, first.unhindered), (20.0, ms(300)));
        rule.note(&mut first, &sample(200, 20));
        assert_eq!((first.limit, first.unhindered), (20.0, ms(200)));
        rule.note(&mut first, &sample(200, 20));
        assert_eq!((first.limit, first.unhindered), (26.0, ms(200)));
    }

    #[test]
    fn the_measure_is_taken_anew_after_a_random_number_of_attempts() {
        // From half of 30 · 20 attempts on, in a queue so long that the limit stays.
        let rule: Vegas = form("{}");
        for (luck, due) in [(0.0, 300), (0.5, 450), (1.0, 600)] {
            let slow = Sample {
                luck,
                ..sample(125, 20)
            };
            let mut state = rule.fresh();
            rule.note(
                &mut state,
                &Sample {
                    rtt: ms(100),
                    ..slow
                },
            );
            (2..due).for_each(|_| rule.note(&mut state, &slow));
            assert_eq!((state.limit, state.unhindered), (20.0, ms(100)), "{luck}");
            rule.note(&mut state, &slow);
            assert_eq!((state.limit, state.unhindered), (20.0, ms(125)), "{luck}");
            assert_eq!(state.since_probe, 0);
        }
    }
}
