//! The three phases of a breaker and the ways between them.
//!
//! ```text
//!            failures                  cooldown over
//!   Closed ───────────▶ Open ───────────────────────────▶ HalfOpen
//!     ▲                  ▲ │                                │  │
//!     │                  └─┼── bad or hung probe ───────────┘  │
//!     └────────────────────┴── good probes, or everybody ──────┘
//! ```
//!
//! A result may come back when the breaker is in another phase than when it let the attempt in: a success from before
//! an outage says nothing about a service that has failed since. So phases are numbered, what is let in
//! carries the number of its phase, and results of an older one are ignored, as in gobreaker.
//!
//! Nothing happens by itself: what is due is done when the breaker is next told or asked something, with effect
//! from the moment when it was due.

use super::common::BreakerCommon;
use super::half_open::{Probing, Tally, Verdict};
use super::recent::Recent;
use crate::policy::window::Window;
use crate::time::{SimDuration, SimTime};
use std::num::NonZeroU32;

/// What a breaker lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Everything, while it counts; only a share while a ramp lasts.
    Closed,
    /// Nothing.
    Open,
    /// Probes.
    HalfOpen,
}

/// Leave to go out: in which phase of the breaker it was given, and to which probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    generation: NonZeroU32,
    /// The number of the probe from 1 on; 0 for what is none.
    probe: u32,
}

impl Pass {
    /// Whether it was given to a probe of a half-open breaker.
    pub fn is_probe(self) -> bool {
        self.probe > 0
    }
}

/// One that was let in and has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    pub(super) now: SimTime,
    pub(super) failed: bool,
    pub(super) slow: bool,
}

/// What a breaker counts while closed. Nothing is counted while it is open or half-open, and it closes with fresh counts.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Counts {
    /// Failures in a row.
    Row(u32),
    /// The last so many.
    Last(Box<Recent>),
    /// Those of the recent past: ended, failed, slow.
    Past(Box<Window<3>>),
}

/// What makes a breaker open.
pub(super) trait Form {
    /// The settings that every breaker shares.
    fn common(&self) -> &BreakerCommon;

    /// Counts of nothing.
    fn counts(&self) -> Counts;

    /// Whether one that took so long was too slow.
    fn is_slow(&self, _took: SimDuration) -> bool {
        false
    }

    /// Counts one that ended. Says whether the breaker opens.
    fn count(&self, counts: &mut Counts, ended: Ended) -> bool;

    /// Whether probes that went so, taken together, open the breaker again.
    fn reopens(&self, tally: Tally) -> bool;
}

#[derive(Clone, Debug, PartialEq)]
enum Stage {
    Closed(Counts),
    /// Closed, and a share is let through while the ramp lasts that began then.
    Ramping(Box<(SimTime, Counts)>),
    Open {
        until: SimTime,
    },
    HalfOpen(Box<Probing>),
}

/// What a breaker remembers; made by [`CircuitBreaker::fresh`](super::CircuitBreaker::fresh).
#[derive(Clone, Debug, PartialEq)]
pub struct BreakerState {
    stage: Stage,
    /// How long the present or the next opening lasts.
    open_for: SimDuration,
    /// The number of the present phase.
    generation: NonZeroU32,
}

impl BreakerState {
    pub(super) fn fresh(form: &impl Form) -> Self {
        Self {
            stage: Stage::Closed(form.counts()),
            open_for: form.common().open_for,
            generation: NonZeroU32::MIN,
        }
    }

    #[inline]
    pub(super) fn admit(
        &mut self,
        form: &impl Form,
        now: SimTime,
        luck: impl FnOnce() -> f64,
    ) -> Option<Pass> {
        self.settle(form, now);
        let common = form.common();
        let probe = match &mut self.stage {
            Stage::Closed(_) => 0,
            Stage::Open { .. } => return None,
            Stage::Ramping(ramping) => {
                let (passed, ramp) = (now - ramping.0, common.ramp.unwrap_or_default());
                if luck() * ramp.as_nanos() as f64 >= passed.as_nanos() as f64 {
                    return None;
                }
                0
            }
            Stage::HalfOpen(probing) => probing.send(common.probes()?, now)?.checked_add(1)?,
        };
        Some(Pass {
            generation: self.generation,
            probe,
        })
    }

    #[inline]
    pub(super) fn note(&mut self, form: &impl Form, pass: Pass, ended: Ended) {
        self.settle(form, ended.now);
        if pass.generation != self.generation {
            return;
        }
        let common = form.common();
        match &mut self.stage {
            Stage::Closed(counts) => {
                if form.count(counts, ended) {
                    self.open(ended.now);
                }
            }
            Stage::Ramping(ramping) => {
                if form.count(&mut ramping.1, ended) {
                    self.open(ended.now);
                }
            }
            Stage::HalfOpen(probing) => {
                let (Some(probes), Some(number)) = (common.probes(), pass.probe.checked_sub(1))
                else {
                    return;
                };
                let end = (ended.failed, ended.slow);
                match probing.end(probes, number, end, |tally| form.reopens(tally)) {
                    Verdict::Wait => {}
                    Verdict::Close => self.close(form, ended.now),
                    Verdict::Reopen => self.reopen(common, ended.now),
                }
            }
            // Nothing is let in while open, so no pass is of this phase.
            Stage::Open { .. } => {}
        }
    }

    pub(super) fn phase(&self, common: &BreakerCommon, now: SimTime) -> Phase {
        let open_until = |until| {
            if now < until {
                Phase::Open
            } else {
                Phase::HalfOpen
            }
        };
        match (&self.stage, common.probes()) {
            (Stage::Closed(_) | Stage::Ramping(_), _) => Phase::Closed,
            (Stage::Open { until }, None) if now >= *until => Phase::Closed,
            (Stage::Open { until }, _) => open_until(*until),
            (Stage::HalfOpen(probing), probes) => {
                match probes.and_then(|probes| probing.hangs_at(probes)) {
                    Some(at) if now >= at => open_until(at + common.longer(self.open_for)),
                    _ => Phase::HalfOpen,
                }
            }
        }
    }

    /// Does what was due by now.
    #[inline]
    fn settle(&mut self, form: &impl Form, now: SimTime) {
        if !matches!(self.stage, Stage::Closed(_)) {
            self.settle_phase(form, now);
        }
    }

    fn settle_phase(&mut self, form: &impl Form, now: SimTime) {
        let common = form.common();
        if let (Stage::HalfOpen(probing), Some(probes)) = (&self.stage, common.probes())
            && let Some(at) = probing.hangs_at(probes)
            && now >= at
        {
            self.reopen(common, at);
        }
        if let Stage::Open { until } = self.stage
            && now >= until
        {
            match common.probes() {
                Some(probes) => self.enter(Stage::HalfOpen(Box::new(Probing::new(probes)))),
                None => self.close(form, until),
            }
        }
        if let Stage::Ramping(ramping) = &mut self.stage
            && now - ramping.0 >= common.ramp.unwrap_or_default()
        {
            // The end of the ramp is no new phase: what it let in still counts.
            self.stage = Stage::Closed(std::mem::replace(&mut ramping.1, Counts::Row(0)));
        }
    }

    fn open(&mut self, now: SimTime) {
        self.enter(Stage::Open {
            until: now + self.open_for,
        });
    }

    fn reopen(&mut self, common: &BreakerCommon, now: SimTime) {
        self.open_for = common.longer(self.open_for);
        self.open(now);
    }

    fn close(&mut self, form: &impl Form, now: SimTime) {
        self.open_for = form.common().open_for;
        let counts = form.counts();
        self.enter(match form.common().ramp {
            None => Stage::Closed(counts),
            Some(_) => Stage::Ramping(Box::new((now, counts))),
        });
    }

    fn enter(&mut self, stage: Stage) {
        self.stage = stage;
        // After 2^32 phases the numbers start anew; nothing is on its way for so long.
        self.generation = self.generation.checked_add(1).unwrap_or(NonZeroU32::MIN);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_small_and_a_pass_is_eight_bytes() {
        assert!(
            size_of::<BreakerState>() <= 32,
            "{}",
            size_of::<BreakerState>()
        );
        assert_eq!(size_of::<Pass>(), 8);
        assert_eq!(size_of::<Option<Pass>>(), 8);
    }
}
