//! What must not be true of a strategy in its scenario: no time for an answer, and retries that stop the clock.

use super::rules::Rules;
use super::spec::ScenarioSpec;
use crate::dist::{Distribution, Form};
use crate::model::{FailureSpec, FaultSchedule, FaultSpec, Outage, ServiceSpec, StrategySpec};
use crate::outcome::AttemptOutcome;
use crate::policy::{Backoff, MaxAttempts};
use crate::time::{SimDuration, SimTime};

pub(super) fn check_strategy(
    spec: &ScenarioSpec,
    strategy: &StrategySpec,
    path: &str,
    rules: &mut Rules<'_>,
) {
    let at = |key: &str| format!("{path}.{key}");
    let constant = strategy.attempt_timeout.as_ref().and_then(always);
    if constant == Some(SimDuration::ZERO) {
        let reason = "a timeout of zero leaves no time for any answer";
        let remedy = "give a longer one, or leave it out";
        rules.error(&at("attempt_timeout"), &[], reason, remedy);
        return;
    }
    let Some((_, service)) = spec.service.0.first() else {
        return;
    };
    if strategy.max_attempts == MaxAttempts::Unlimited
        && never_waits(&strategy.backoff)
        && repeats_at_once(spec, service, strategy)
    {
        let reason = "immediate retries without a limit, against a refusal or failure that takes no time, would stop the clock";
        let remedy = "limit max_attempts, add a backoff, or give the service's network a delay";
        let parts = [&at("backoff") as &str, "service", "fault"];
        rules.error(&at("max_attempts"), &parts, reason, remedy);
    }
}

/// The time, when a distribution has only one.
pub(super) fn always(distribution: &Distribution) -> Option<SimDuration> {
    match &distribution.0 {
        Form::Zero => Some(SimDuration::ZERO),
        Form::Empirical(_) => None,
        // Whatever its form, a distribution without a mean has only zeros, and this one needs no file.
        _ => {
            let sampler = distribution.sampler(std::path::Path::new("")).ok()?;
            sampler.constant()
        }
    }
}

/// Whether from some retry on no retry ever waits.
pub(super) fn never_waits(backoff: &Backoff) -> bool {
    backoff.bounds(u64::MAX).1 == SimDuration::ZERO
}

/// Failures this likely may repeat without an end that anybody waits for.
pub(super) const SURE: f64 = 0.999;

/// Whether attempts can end again and again in no time at all, in a way that `strategy` tries again after.
pub(super) fn repeats_at_once(
    spec: &ScenarioSpec,
    service: &ServiceSpec,
    strategy: &StrategySpec,
) -> bool {
    if tries_again_when_held_back(strategy) {
        return true;
    }
    let instant = |distribution: &Distribution| always(distribution) == Some(SimDuration::ZERO);
    if !instant(&service.network.request) || !instant(&service.network.response) {
        return false;
    }
    let retried = strategy.retried();
    let tries_after = |outcome, code| retried.contains(outcome, code);
    let limited = service.queue.capacity.0.is_some() && service.workers.0.is_some();
    let out = |fault: &FaultSpec| fault.outage == Some(Outage::Refuse);
    let refused = spec.fault.iter().any(out) && tries_after(AttemptOutcome::Refused, 0);
    let full = limited && tries_after(AttemptOutcome::QueueFull, 0);
    let limits_rate = service.rate_limit.is_some() && tries_after(AttemptOutcome::Error, 429);
    let shed = sheds(service) && tries_after(AttemptOutcome::Shed, 0);
    let sure = |fault: &FaultSpec| {
        fault.surely_fails(SURE) && tries_after(AttemptOutcome::Error, fault.code.0)
    };
    let tried = |failure: &&FailureSpec| tries_after(AttemptOutcome::Error, failure.code.0);
    let sum_of = |failures: &[FailureSpec]| -> f64 {
        let tried = failures.iter().filter(tried);
        tried.map(|failure| failure.probability.get()).sum()
    };
    let under_load = service.failures_under_load.as_ref();
    let own = sum_of(&service.failures).max(under_load.map_or(0.0, |u| sum_of(&u.failures)));
    let at_once = !service.failures_take_time || instant(&service.service_time);
    // Faults that overlap, and the service's own failures, add up.
    let together = || {
        let end = SimTime::ZERO + spec.run.duration + spec.run.drain;
        let added = FaultSchedule::new(spec.fault.clone()).worst_error_rate(end);
        1.0 - (1.0 - own) * (1.0 - added) > SURE
    };
    refused || full || limits_rate || shed || at_once && (spec.fault.iter().any(sure) || together())
}

/// Whether the service sheds attempts at once, beside a full queue.
fn sheds(service: &ServiceSpec) -> bool {
    service.concurrency_limit.is_some()
        || service.queue.codel.is_some()
        || service.queue.retry_places.is_some()
}

/// Whether a client may hold attempts back and try again after that.
fn tries_again_when_held_back(strategy: &StrategySpec) -> bool {
    let retried = strategy.retried();
    let rules = [
        (strategy.breaker.is_some(), AttemptOutcome::BreakerOpen),
        (strategy.throttle.is_some(), AttemptOutcome::Throttled),
        (strategy.rate_limit.is_some(), AttemptOutcome::RateLimited),
    ];
    let mut rules = rules.iter();
    rules.any(|&(exists, outcome)| exists && retried.contains(outcome, 0))
}
