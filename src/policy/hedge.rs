//! Hedging: a second attempt before the first has failed.
//!
//! Most of a latency tail is bad luck of one attempt, and another one sent a little later is usually faster than waiting
//! for it. It costs load just when the service is slow. A hedge after a fixed time stands for every attempt that takes
//! longer; one after an observed quantile moves with the service, and if what is observed includes the hedges'
//! own effect, it may chase its own tail.
//!
//! Dean and Barroso, "The Tail at Scale", Communications of the ACM 56 (2), 2013.

use super::scope::Scope;
use crate::decode::{Check, Reader};
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;
use crate::{choice, record};

/// Hedges beside one attempt at the most.
pub const MOST_HEDGES: u32 = 9;

record! {
    /// A fixed time.
    #[derive(Copy)]
    pub struct HedgeDelay {
        /// The time; zero sends all at once.
        delay: SimDuration,
    }
}

impl Check for HedgeDelay {}

choice! {
    /// What a quantile is taken of.
    #[derive(Copy)]
    pub enum QuantileOf as "observed time" {
        /// Of single attempts that succeeded.
        Attempt = "attempt", r#""attempt""#;
        /// Of whole requests that succeeded, retries and hedges included.
        Request = "request", r#""request""#;
    }
}

record! {
    /// A quantile of the times seen in the window before.
    #[derive(Copy)]
    pub struct HedgeQuantile {
        /// The quantile.
        q: Ratio,
        /// What it is taken of.
        of: QuantileOf = QuantileOf::Attempt,
        /// The length of a window: each one's quantile holds in the next, if it saw ten times or more.
        window: SimDuration = SimDuration::from_secs(10),
        /// The time until a first window has ended.
        start: SimDuration,
    }
}

impl Check for HedgeQuantile {
    fn check(&self, reader: &mut Reader) {
        if self.window == SimDuration::ZERO {
            let remedy = "give a positive length, like \"10s\"";
            reader.error_at(&["window"], "a window of no length sees nothing", remedy);
        }
    }
}

choice! {
    /// How long an attempt is waited for before another one is sent beside it.
    #[derive(Copy)]
    pub enum HedgeAfter as "time of a hedge" {
        /// Always as long.
        Fixed(HedgeDelay) = "fixed", r#"{ fixed = { delay = "100ms" } }"#;
        /// As long as most take.
        Quantile(HedgeQuantile) = "quantile", r#"{ quantile = { q = "95%", start = "100ms" } }"#;
    }
}

record! {
    /// More attempts of a request at a time. The first success ends them all.
    #[derive(Copy)]
    pub struct Hedge {
        /// How long an attempt is waited for before another one is sent beside it.
        after: HedgeAfter,
        /// Attempts sent beside the first at the most, from 1 to 9.
        most: u32 = 1,
        /// Whether the others are cancelled at the service when one has succeeded.
        cancel: bool = true,
        /// Whether each of them is asked for and paid from the retry budget.
        from_budget: bool = true,
        /// Who shares what is observed.
        scope: Scope = Scope::Shared,
    }
}

impl Check for Hedge {
    fn check(&self, reader: &mut Reader) {
        if self.most == 0 || self.most > MOST_HEDGES {
            let reason = format!("`most` is a number from 1 to {MOST_HEDGES}");
            reader.error_at(&["most"], reason, "1 is usual");
        }
    }
}

/// Sixteen bins for each doubling.
const BINS: usize = 64 * 16;
/// Fewer times than this say nothing of a quantile.
const FEWEST: u32 = 10;

/// What hedging has observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    counts: Box<[u32]>,
    total: u32,
    since: SimTime,
    delay: SimDuration,
}

impl Hedge {
    /// Nothing observed yet.
    pub fn fresh(&self) -> Observed {
        let (bins, delay) = match self.after {
            HedgeAfter::Fixed(HedgeDelay { delay }) => (0, delay),
            HedgeAfter::Quantile(HedgeQuantile { start, .. }) => (BINS, start),
        };
        Observed {
            counts: vec![0; bins].into(),
            total: 0,
            since: SimTime::ZERO,
            delay,
        }
    }

    /// What a state takes beside its own size, in bytes.
    pub fn bins_bytes(&self) -> usize {
        match self.after {
            HedgeAfter::Fixed(_) => 0,
            HedgeAfter::Quantile(_) => BINS * size_of::<u32>(),
        }
    }

    /// How long an attempt that is sent now is waited for.
    #[inline]
    pub fn delay(&self, observed: &mut Observed, now: SimTime) -> SimDuration {
        self.roll(observed, now);
        observed.delay
    }

    /// An attempt, or a request, has succeeded.
    #[inline]
    pub fn note(&self, observed: &mut Observed, now: SimTime, of: QuantileOf, took: SimDuration) {
        let HedgeAfter::Quantile(rule) = self.after else {
            return;
        };
        if rule.of == of {
            self.roll(observed, now);
            let bin = &mut observed.counts[bin_of(took)];
            *bin = bin.saturating_add(1);
            observed.total = observed.total.saturating_add(1);
        }
    }

    /// Closes the window, if it is over.
    fn roll(&self, observed: &mut Observed, now: SimTime) {
        let HedgeAfter::Quantile(rule) = self.after else {
            return;
        };
        if now - observed.since < rule.window {
            return;
        }
        if observed.total >= FEWEST {
            observed.delay = quantile(&observed.counts, observed.total, rule.q.get());
            observed.counts.fill(0);
            observed.total = 0;
        }
        observed.since = now;
    }
}

/// The bin of a time: its highest bit, and the four bits behind it.
fn bin_of(time: SimDuration) -> usize {
    let nanos = time.as_nanos();
    if nanos < 16 {
        return nanos as usize;
    }
    let high = 63 - nanos.leading_zeros();
    let next = (nanos >> (high - 4)) as usize & 15;
    ((high - 3) as usize) * 16 + next
}

/// The greatest time of a bin.
fn end_of(bin: usize) -> SimDuration {
    if bin < 16 {
        return SimDuration::from_nanos(bin as u64);
    }
    let (high, next) = ((bin / 16 + 3) as u32, (bin % 16) as u64);
    let start = (16 + next) << (high - 4);
    SimDuration::from_nanos(start + ((1_u64 << (high - 4)) - 1))
}

/// The least time that a share `q` of the counted ones do not exceed, up to the width of a bin.
fn quantile(counts: &[u32], total: u32, q: f64) -> SimDuration {
    let wanted = (q * f64::from(total)).ceil().max(1.0) as u64;
    let mut seen = 0;
    let bin = counts.iter().position(|&count| {
        seen += u64::from(count);
        seen >= wanted
    });
    end_of(bin.unwrap_or(counts.len().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_lies_in_its_bin() {
        for nanos in [0, 1, 15, 16, 17, 31, 32, 1_000, 123_456_789, u64::MAX] {
            let time = SimDuration::from_nanos(nanos);
            let bin = bin_of(time);
            assert!(bin < BINS, "{nanos}");
            assert!(time <= end_of(bin), "{nanos}");
            assert!(bin == 0 || time > end_of(bin - 1), "{nanos}");
        }
    }

    #[test]
    fn the_quantile_of_a_window_holds_in_the_next() {
        let hedge = Hedge {
            after: HedgeAfter::Quantile(HedgeQuantile {
                q: Ratio::new(0.9).unwrap(),
                of: QuantileOf::Attempt,
                window: SimDuration::from_secs(1),
                start: SimDuration::from_millis(7),
            }),
            most: 1,
            cancel: true,
            from_budget: true,
            scope: Scope::Shared,
        };
        let at = |ms| SimTime::ZERO + SimDuration::from_millis(ms);
        let mut observed = hedge.fresh();
        for ms in 1..=100 {
            let took = SimDuration::from_millis(ms);
            hedge.note(&mut observed, at(ms), QuantileOf::Attempt, took);
            hedge.note(&mut observed, at(ms), QuantileOf::Request, took.scale(9.0));
        }
        assert_eq!(
            hedge.delay(&mut observed, at(999)),
            SimDuration::from_millis(7)
        );
        let delay = hedge.delay(&mut observed, at(1_000)).as_millis_f64();
        assert!((90.0..96.0).contains(&delay), "{delay}");
        // A window that saw next to nothing changes nothing.
        assert_eq!(hedge.delay(&mut observed, at(9_000)).as_millis_f64(), delay);
    }
}
