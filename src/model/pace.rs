//! Arrivals whose rate changes with time.
//!
//! A process of constant rate runs in its own, operational time; the clock of the run passes `rate(t)` of it
//! each nanosecond. The next arrival after an operational gap g is where the area under the rate from now
//! reaches g (inversion of the cumulated rate, Çinlar 1975), exact for piecewise linear rates. No arrival is
//! drawn and thrown away, and without any change of rate the mapping is the identity, bit for bit.

use crate::time::SimTime;

/// A stretch of time in which the rate changes linearly.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Segment {
    start: f64,
    rate: f64,
    slope: f64,
}

/// A rate over time, in operational nanoseconds (or events) a nanosecond.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pace {
    segments: Vec<Segment>,
}

impl Pace {
    /// The rate 1 for ever.
    pub(super) fn identity() -> Self {
        Self::default()
    }

    /// Linear pieces between `times` (sorted; the first is the start of the run), with the rate just after
    /// and just before each time given by `rate`. The last piece lasts for ever.
    pub(super) fn new(times: &[SimTime], rate: impl Fn(SimTime) -> f64) -> Self {
        let pieces = times.iter().enumerate().map(|(i, &start)| {
            let first = rate(start);
            let slope = times.get(i + 1).map_or(0.0, |&next| {
                let last = SimTime::from_nanos(next.as_nanos() - 1);
                let length = (last - start).as_nanos() as f64;
                if length > 0.0 {
                    (rate(last) - first) / length
                } else {
                    0.0
                }
            });
            Segment {
                start: start.as_nanos() as f64,
                rate: first,
                slope,
            }
        });
        Self {
            segments: pieces.collect(),
        }
    }

    /// The operational time that has passed by `end`.
    pub(super) fn passed(&self, end: SimTime) -> f64 {
        let end = end.as_nanos() as f64;
        if self.segments.is_empty() {
            return end;
        }
        let area = |(i, segment): (usize, &Segment)| {
            let stop = self
                .segments
                .get(i + 1)
                .map_or(end, |next| next.start.min(end));
            let length = (stop - segment.start).max(0.0);
            (segment.rate + segment.slope / 2.0 * length) * length
        };
        self.segments.iter().enumerate().map(area).sum()
    }

    /// The time at which `gap` of operational time has passed since `now`; `None` if that never happens.
    #[inline]
    pub(super) fn after(&self, now: SimTime, gap: f64) -> Option<SimTime> {
        if self.segments.is_empty() {
            return later(now, gap);
        }
        self.after_changes(now, gap)
    }

    fn after_changes(&self, now: SimTime, gap: f64) -> Option<SimTime> {
        let from = now.as_nanos() as f64;
        let mut i = self
            .segments
            .partition_point(|segment| segment.start <= from)
            .saturating_sub(1);
        let (mut at, mut left) = (from, gap);
        loop {
            let segment = self.segments[i];
            let rate = (segment.rate + segment.slope * (at - segment.start)).max(0.0);
            let end = self.segments.get(i + 1).map(|next| next.start);
            let area =
                end.map(|end| ((rate + segment.slope / 2.0 * (end - at)) * (end - at)).max(0.0));
            match (area, end) {
                (Some(area), Some(end)) if area < left => (at, left, i) = (end, left - area, i + 1),
                _ => return later(now, at - from + within(rate, segment.slope, left)),
            }
        }
    }
}

/// How long it takes to pass `area` at a rate that starts at `rate` and changes by `slope`.
fn within(rate: f64, slope: f64, area: f64) -> f64 {
    if area <= 0.0 {
        return 0.0;
    }
    // The root of rate·x + slope/2·x² = area that does not cancel.
    2.0 * area / (rate + (rate * rate + 2.0 * slope * area).max(0.0).sqrt())
}

#[inline]
fn later(now: SimTime, gap: f64) -> Option<SimTime> {
    let next = now + crate::time::SimDuration::from_nanos_f64(gap);
    (gap.is_finite() && next < SimTime::MAX).then_some(next)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> SimTime {
        SimTime::from_nanos(ns)
    }

    #[test]
    fn without_changes_time_is_itself() {
        assert_eq!(Pace::identity().after(at(5), 7.0), Some(at(12)));
    }

    #[test]
    fn steps_stretch_and_shrink_gaps() {
        let rate = |t: SimTime| {
            if (100..200).contains(&t.as_nanos()) {
                4.0
            } else {
                1.0
            }
        };
        let pace = Pace::new(&[at(0), at(100), at(200)], rate);
        assert_eq!(pace.after(at(0), 50.0), Some(at(50)));
        assert_eq!(pace.after(at(0), 140.0), Some(at(110)));
        assert_eq!(pace.after(at(50), 50.0 + 400.0 + 25.0), Some(at(225)));
    }

    #[test]
    fn a_ramp_is_inverted_exactly() {
        // The rate grows from 0 to 2 over 1,000,000 ns: the area up to t is t²/1,000,000.
        let pace = Pace::new(&[at(0), at(1_000_001)], |t| {
            2.0 * (t.as_nanos() as f64 / 1e6).min(1.0)
        });
        for t in [100_000u64, 500_000, 900_000] {
            let area = (t as f64).powi(2) / 1e6;
            let found = pace.after(at(0), area).unwrap().as_nanos();
            assert!(found.abs_diff(t) <= 2, "{t}: {found}");
        }
    }

    #[test]
    fn a_rate_of_zero_to_the_end_never_arrives() {
        let pace = Pace::new(
            &[at(0), at(10)],
            |t| if t.as_nanos() < 10 { 1.0 } else { 0.0 },
        );
        assert_eq!(pace.after(at(0), 5.0), Some(at(5)));
        assert_eq!(pace.after(at(0), 11.0), None);
    }
}
