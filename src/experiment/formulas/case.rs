//! A scenario as queueing theory sees it.

use super::{attempts, is_mixed, retried_failures};
use crate::dist::Sampler;
use crate::model::{ArrivalPlan, Discipline, OnAbandon, ServicePlan, Strategy};
use crate::outcome::AttemptOutcome;
use crate::scenario::Plan;
use crate::time::SimTime;

/// A warm-up lasts so many times what is slowest, ...
const SETTLED: f64 = 3.0;
/// ... and the measured time so many times.
const SEEN: f64 = 10.0;

/// How requests come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// A Poisson process of this rate.
    Poisson(f64),
    /// So many clients that pause for an exponential time of this mean.
    Closed(u64, f64),
    /// So many clients at once.
    Herd(u64),
}

impl Source {
    /// How the requests of `clients` come, if formulas know of it.
    fn of(arrivals: &ArrivalPlan, clients: u32) -> Option<Self> {
        if let Some(rate) = arrivals.poisson_rate() {
            Some(Self::Poisson(rate))
        } else if let Some((pause, true)) = arrivals.pause() {
            Some(Self::Closed(clients.into(), pause))
        } else {
            arrivals.is_one_burst().then(|| Self::Herd(clients.into()))
        }
    }
}

/// What formulas need to know of a scenario without surprises.
#[derive(Debug)]
pub(super) struct Case<'a> {
    pub(super) source: Source,
    pub(super) service: &'a ServicePlan,
    pub(super) strategy: &'a Strategy,
    /// The most attempts; [`u64::MAX`] is unlimited.
    pub(super) attempts: u64,
    /// Probability of an attempt failing by itself.
    pub(super) p: f64,
    /// The part of it that is followed by another attempt.
    pub(super) retried: f64,
    /// How long requests warm up and are then measured, in seconds.
    pub(super) windows: (f64, f64),
    /// When requests stop to arrive.
    pub(super) arrivals_end: SimTime,
    /// The end of an outage that refuses from the start, if there is one and nothing else.
    pub(super) outage_end: Option<SimTime>,
}

impl<'a> Case<'a> {
    /// The case of a strategy, or the first thing that no formula knows of.
    pub(super) fn of(plan: &'a Plan, strategy: usize) -> Result<Self, String> {
        let no = |why: &str| Err(why.to_owned());
        let [group] = plan.world.groups.as_slice() else {
            return no("there is more than one group of clients");
        };
        if is_mixed(plan, strategy) {
            return no("the clients use another strategy");
        }
        if group.pool.is_some() {
            return no("a pool limits the requests in flight");
        }
        let service = &plan.world.service;
        if service.request_delay.is_some() || service.response_delay.is_some() {
            return no("the network takes time");
        }
        if service.sheds() || service.retry_after.is_some() {
            return no("the service protects itself");
        }
        if service.failures.depend_on_load() {
            return no("failures depend on the load");
        }
        let outage_end = match plan.world.faults.faults() {
            [] => None,
            [only] if only.refuses_from_the_start() => only.spans().next().map(|(_, to)| to),
            _ => return no("a fault changes the world"),
        };
        let Some(source) = Source::of(&group.arrivals, group.count) else {
            return no(
                "requests come neither as a Poisson process nor from clients with exponential pauses",
            );
        };
        if outage_end.is_some() && !matches!(source, Source::Herd(_)) {
            return no("a fault changes the world");
        }
        let strategy_plan = &plan.strategies[strategy];
        if let Some(why) = unknown_rule(strategy_plan) {
            return no(why);
        }
        Ok(Self {
            source,
            service,
            strategy: strategy_plan,
            attempts: attempts(plan, strategy),
            p: plan.failure_probability,
            retried: retried_failures(plan, strategy),
            windows: (
                plan.world.warmup.as_secs_f64(),
                plan.world
                    .duration
                    .saturating_sub(plan.world.warmup)
                    .as_secs_f64(),
            ),
            arrivals_end: SimTime::ZERO + plan.world.duration,
            outage_end,
        })
    }

    /// Whether something that takes `slowest` seconds is settled after the warm-up, and seen often enough.
    pub(super) fn is_settled(&self, slowest: f64) -> bool {
        let (warmup, measured) = self.windows;
        warmup >= SETTLED * slowest && measured >= SEEN * slowest
    }

    /// The rate of one worker, if service times are exponential.
    pub(super) fn exponential_rate(&self) -> Option<f64> {
        self.service
            .service_time
            .is_exponential()
            .map(|mean| 1.0 / mean.as_secs_f64())
    }

    /// Waiting places, if they are limited.
    pub(super) fn places(&self) -> Option<u64> {
        let places = self.service.queue_capacity;
        (places < u32::MAX).then_some(places.into())
    }

    /// Workers, if they are limited.
    pub(super) fn workers(&self) -> Option<u32> {
        (self.service.workers < u32::MAX).then_some(self.service.workers)
    }

    /// Whether attempts with this outcome, which has no code, are followed by another.
    pub(super) fn retries(&self, outcome: AttemptOutcome) -> bool {
        self.attempts > 1 && self.strategy.rule.retry_on.contains(outcome, 0)
    }

    /// Whether some failure that the service answers with is followed by another attempt.
    pub(super) fn retries_failures(&self) -> bool {
        self.attempts > 1 && self.retried > 0.0
    }

    /// Whether every failure that the service answers with is followed by another attempt, while some are left.
    pub(super) fn retries_all_failures(&self) -> bool {
        self.p - self.retried < 1e-12
    }

    /// The attempt timeout.
    pub(super) fn timeout(&self) -> Option<&Sampler> {
        self.strategy.attempt_timeout.as_ref()
    }

    /// Whether callers are served in the order in which they came, and nobody's work is stopped or skipped.
    pub(super) fn is_plain_fifo(&self) -> bool {
        self.service.discipline == Discipline::Fifo
            && self.service.on_abandon == OnAbandon::Continue
    }
}

/// What no formula knows of in a strategy.
fn unknown_rule(strategy: &Strategy) -> Option<&'static str> {
    let rules = [
        (
            strategy.deadline.is_some(),
            "a deadline cuts requests short",
        ),
        (
            !strategy.rule.guards.is_empty(),
            "rules that outlive a request decide on its retries",
        ),
        (strategy.redrives(), "dead letters come back"),
        (
            strategy.callers_leave_after.is_some(),
            "callers go away while their requests go on",
        ),
    ];
    let found = rules.into_iter().find(|(is_there, _)| *is_there);
    found.map(|(_, why)| why)
}
