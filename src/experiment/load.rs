//! How much is asked of the service, and how much it can do, without any fault.

use crate::metrics::VerdictRule;
use crate::outcome::AttemptOutcome;
use crate::policy::MaxAttempts;
use crate::scenario::Plan;
use crate::theory::retries;
use crate::time::SimTime;

/// The steady load of a scenario under one strategy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Requests a second, if they come at a steady rate whatever happens to them.
    pub requests_per_s: Option<f64>,
    /// Attempts a second that the service can finish, if there is a limit.
    pub capacity_per_s: Option<f64>,
    /// Attempts per request when attempts fail by themselves only.
    pub healthy_amplification: f64,
    /// Share of the attempts that take service time.
    pub working_share: f64,
}

impl Load {
    /// The load of a strategy.
    pub fn of(plan: &Plan, strategy: usize) -> Self {
        let rates = plan
            .world
            .groups
            .iter()
            .map(|group| group.arrivals.steady_rate(group.count));
        let service = &plan.world.service;
        let mean = service.service_time.mean();
        let limited = service.workers < u32::MAX && mean > 0.0 && mean.is_finite();
        Self {
            requests_per_s: rates.sum(),
            capacity_per_s: limited.then(|| f64::from(service.workers) / mean),
            healthy_amplification: retries::mean_attempts(
                retried_failures(plan, strategy),
                attempts(plan, strategy),
            ),
            working_share: if service.failures_take_time {
                1.0
            } else {
                1.0 - plan.failure_probability
            },
        }
    }

    /// Offered attempts that take service time ÷ capacity, if both are known.
    pub fn utilisation(&self) -> Option<f64> {
        let attempts = self.requests_per_s? * self.healthy_amplification;
        Some(attempts * self.working_share / self.capacity_per_s?)
    }
}

/// Whether all requests start at one moment.
fn is_one_wave(plan: &Plan) -> bool {
    let mut starts = plan
        .world
        .groups
        .iter()
        .map(|group| group.arrivals.moment());
    let first = starts.next().flatten();
    first.is_some() && starts.all(|start| start == first)
}

/// Probability of an attempt failing by itself in a way that is followed by another one.
pub fn retried_failures(plan: &Plan, strategy: usize) -> f64 {
    let retry_on = &plan.strategies[strategy].rule.retry_on;
    let shares = plan.world.service.failures.usual();
    shares
        .filter(|&(_, code)| retry_on.contains(AttemptOutcome::Error, code))
        .map(|(share, _)| share)
        .sum()
}

/// Whether some client group always uses another strategy.
pub(super) fn is_mixed(plan: &Plan, strategy: usize) -> bool {
    let mut pinned = plan.pinned.iter().flatten();
    pinned.any(|&pinned| pinned != strategy)
}

/// The success that failures of the service alone leave: 1 − pᵏ when all of them are retried, and (1 − p) times
/// the attempts that are made when only some are.
pub(super) fn promised(plan: &Plan, strategy: usize) -> f64 {
    let again = retried_failures(plan, strategy);
    (1.0 - plan.failure_probability) * retries::mean_attempts(again, attempts(plan, strategy))
}

/// The most attempts of a request; [`u64::MAX`] is unlimited.
pub fn attempts(plan: &Plan, strategy: usize) -> u64 {
    match plan.strategies[strategy].rule.max_attempts {
        MaxAttempts::AtMost(most) => u64::from(most),
        MaxAttempts::Unlimited => u64::MAX,
    }
}

/// What the runs of a strategy are judged by.
pub fn verdict_rule(plan: &Plan, strategy: usize) -> VerdictRule {
    let world = &plan.world;
    let arrivals_end = SimTime::ZERO + world.duration;
    let faults = world.faults.faults().iter();
    let within = faults
        .flat_map(|fault| fault.spans().take_while(|&(from, _)| from < arrivals_end))
        .map(|(from, to)| (from, to.min(arrivals_end)))
        .reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    VerdictRule {
        measured_from: SimTime::ZERO + world.warmup,
        arrivals_end,
        faults: within,
        settle: plan.settle,
        one_wave: is_one_wave(plan),
        promised: promised(plan, strategy),
        too_much_load: Load::of(plan, strategy)
            .utilisation()
            .is_some_and(|utilisation| utilisation >= 1.0),
    }
}
