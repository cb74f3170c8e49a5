//! Settings of a strategy that change nothing in its scenario, and time that is not enough for what is planned.

use super::rules::Rules;
use super::spec::ScenarioSpec;
use super::strategies::{always, never_waits};
use crate::model::{OnAbandon, ServiceSpec, StrategySpec};
use crate::outcome::AttemptOutcome;
use crate::policy::{Backoff, HedgeAfter, MaxAttempts};
use crate::time::SimDuration;

/// A limit on the whole request: its name, its key and its length.
type Limit<'a> = (&'a str, &'a str, SimDuration);
/// More attempts than this are not added up.
const MOST_LOOKED_AT: u32 = 10_000;

/// Warns of what has no effect.
pub(super) fn check_effects(
    spec: &ScenarioSpec,
    strategy: &StrategySpec,
    path: &str,
    rules: &mut Rules<'_>,
) {
    check_retries(strategy, path, rules);
    check_time(strategy, path, rules);
    check_hedge(strategy, path, rules);
    let at = |key: &str| format!("{path}.{key}");
    if strategy.health.is_some() && never_waits(&strategy.backoff) {
        let reason =
            "`health` has no effect: it stretches the backoff, and there is none to stretch";
        let remedy = "give a backoff that waits";
        rules.warn(&at("health"), &[&at("backoff")], reason, remedy);
    }
    let Some((_, service)) = spec.service.0.first() else {
        return;
    };
    if !strategy.hints.is_default() && service.retry_after.is_none() {
        let reason = "`hints` has no effect: no service tells clients when to come back";
        let remedy = "give the service a `retry_after`, or remove `hints`";
        rules.warn(&at("hints"), &["service"], reason, remedy);
    }
}

/// Warns of settings about retries where none is ever made.
fn check_retries(strategy: &StrategySpec, path: &str, rules: &mut Rules<'_>) {
    let (why, part, remedy) = if strategy.max_attempts == MaxAttempts::AtMost(1) {
        let remedy = "allow more attempts, or remove it";
        ("one attempt leaves no retry", "max_attempts", remedy)
    } else if strategy.retried().holds_nothing() {
        let remedy = "name outcomes in `retry_on`, or remove it";
        ("no outcome is retried", "retry_on", remedy)
    } else {
        return;
    };
    let at = |key: &str| format!("{path}.{key}");
    let settings = [
        // With one attempt the strategy says so by itself.
        (
            "backoff",
            part != "max_attempts" && strategy.backoff != Backoff::Immediate,
        ),
        (
            "budget",
            strategy.budget.is_some() && strategy.hedge.is_none(),
        ),
        ("hints", !strategy.hints.is_default()),
        ("health", strategy.health.is_some()),
    ];
    for (key, _) in settings.iter().filter(|(_, set)| *set) {
        let reason = format!("`{key}` has no effect: {why}");
        rules.warn(&at(key), &[&at(part)], reason, remedy);
    }
}

/// Warns when attempts, each as long as it may take, do not fit into the time that the request has.
fn check_time(strategy: &StrategySpec, path: &str, rules: &mut Rules<'_>) {
    let at = |key: &str| format!("{path}.{key}");
    let deadline = (strategy.deadline).map(|time| ("the deadline", "deadline", time));
    let patience = strategy.callers.as_ref().map(|callers| callers.patience);
    let patience = patience.map(|time| ("the patience of callers", "callers.patience", time));
    if let (Some((_, _, deadline)), Some((_, key, patience))) = (deadline, patience)
        && patience >= deadline
    {
        let reason = format!(
            "callers who wait for {patience} never leave: the deadline of {deadline} is first"
        );
        let parts = [&at("deadline") as &str];
        rules.warn(&at(key), &parts, reason, "shorten it, or remove it");
    }
    let least = |limit: &Limit<'_>| limit.2;
    let limit = deadline.into_iter().chain(patience).min_by_key(least);
    let timeout = strategy.attempt_timeout.as_ref().and_then(always);
    let (Some(limit), Some(timeout)) = (limit, timeout) else {
        return;
    };
    if timeout > limit.2 {
        let (name, key, length) = limit;
        let reason = format!("the attempt timeout of {timeout} is longer than {name} of {length}");
        let remedy = format!("shorten it: {name} ends every attempt first");
        rules.warn(&at("attempt_timeout"), &[&at(key)], reason, &remedy);
    } else {
        check_attempts_fit(strategy, path, (limit, timeout), rules);
    }
}

/// Warns when the attempts that are allowed cannot all time out in time.
fn check_attempts_fit(
    strategy: &StrategySpec,
    path: &str,
    ((name, key, length), timeout): (Limit<'_>, SimDuration),
    rules: &mut Rules<'_>,
) {
    let MaxAttempts::AtMost(most) = strategy.max_attempts else {
        return;
    };
    // Hedges do not wait for each other, and what is not retried takes no more time.
    if strategy.hedge.is_some() || !strategy.retried().contains(AttemptOutcome::TimedOut, 0) {
        return;
    }
    let mut waits = SimDuration::ZERO;
    for attempt in 2..=most.min(MOST_LOOKED_AT) {
        waits += strategy.backoff.bounds(u64::from(attempt) - 1).0;
        let end = timeout.scale(f64::from(attempt)) + waits;
        if end <= length {
            continue;
        }
        let with = match waits {
            SimDuration::ZERO => String::new(),
            waits => format!(" and {waits} of waits"),
        };
        let reason = format!(
            "{most} attempts do not fit: if they time out, number {attempt} ends after {end} ({attempt} × {timeout}{with}), and {name} is {length}"
        );
        let remedy =
            "shorten `attempt_timeout`, allow fewer attempts, or give the request more time";
        let at = |key: &str| format!("{path}.{key}");
        let parts = [&at(key) as &str, &at("attempt_timeout"), &at("backoff")];
        rules.warn(&at("max_attempts"), &parts, reason, remedy);
        return;
    }
}

/// Warns of hedges that come when their attempt is over.
fn check_hedge(strategy: &StrategySpec, path: &str, rules: &mut Rules<'_>) {
    let timeout = strategy.attempt_timeout.as_ref().and_then(always);
    if let (Some(hedge), Some(timeout)) = (&strategy.hedge, timeout)
        && let HedgeAfter::Fixed(fixed) = hedge.after
        && fixed.delay >= timeout
    {
        let reason = format!(
            "no hedge is ever sent: it waits for {}, and the attempt before times out after {timeout}",
            fixed.delay
        );
        let (place, part) = (
            format!("{path}.hedge.after"),
            format!("{path}.attempt_timeout"),
        );
        rules.warn(&place, &[&part], reason, "shorten the wait of `hedge`");
    }
}

/// Warns of what the service does about a deadline that no strategy has.
pub(super) fn check_service(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    let Some((name, service)) = spec.service.0.first() else {
        return;
    };
    let ServiceSpec { on_abandon, .. } = service;
    let strategies = &spec.strategy;
    if *on_abandon == OnAbandon::StopAtDeadline && strategies.iter().all(|s| s.deadline.is_none()) {
        let path = format!("service.{name}.on_abandon");
        let reason = "nothing is stopped: no strategy has a deadline";
        let remedy = "give one a `deadline`, or choose another way";
        rules.warn(&path, &["strategy"], reason, remedy);
    }
}
