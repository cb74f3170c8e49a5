//! Expected attempts and success when attempts fail by themselves.

use super::case::Case;
use super::page::Section;
use super::words::{count, glue, listed, number, percent};
use crate::theory::retries;

/// The probability that is looked at where attempts do not fail by themselves.
const WHAT_IF: f64 = 0.5;

pub(super) fn section(case: &Case<'_>) -> Section {
    let (p, q, k) = (case.plan.failure_probability, case.retried, case.attempts);
    let line = if p == 0.0 {
        let success = retries::success(WHAT_IF, k);
        format!(
            "Attempts do not fail by themselves here (p = 0): one attempt and success {}. If one in two failed: success {} = {}, {} = {} attempts a request.",
            percent(1.0),
            formula_of_success(WHAT_IF, k),
            percent(success),
            formula_of_attempts(WHAT_IF, k),
            number(retries::mean_attempts(WHAT_IF, k)),
        )
    } else if p >= 1.0 && q >= 1.0 && k == u64::MAX {
        "Every attempt fails: no request succeeds, and attempts go on while there is time.".into()
    } else if (p - q).abs() < 1e-9 {
        format!(
            "An attempt fails with p = {}: success {} = {}, {} = {} attempts a request.",
            percent(p),
            formula_of_success(p, k),
            percent(retries::success(p, k)),
            formula_of_attempts(p, k),
            number(retries::mean_attempts(p, k)),
        )
    } else {
        let attempts = retries::mean_attempts(q, k);
        format!(
            "An attempt fails with p = {}, and with q = {} in a way that is retried: {} = {} attempts a request, success (1 − p) × that = {}.",
            percent(p),
            percent(q),
            formula_of_attempts(q, k),
            number(attempts),
            percent((1.0 - p) * attempts),
        )
    };
    let mut lines = vec![line];
    let why = doubts(case);
    if !why.is_empty() {
        lines.push(format!(
            "It holds for failures that are independent of each other. Here {} may make them depend on the time or the load, and then it promises too much.",
            listed(&why)
        ));
    }
    Section::of("Chance", lines)
}

/// "1 − 0.3^3".
fn formula_of_success(p: f64, k: u64) -> String {
    match k {
        u64::MAX => glue("1 − pᵏ without a limit"),
        k => glue(&format!("1 − {}^{}", number(p), count(k))),
    }
}

/// "(1 − 0.3^3) ÷ (1 − 0.3)".
fn formula_of_attempts(p: f64, k: u64) -> String {
    let p = number(p);
    match k {
        u64::MAX => glue(&format!("1 ÷ (1 − {p})")),
        k => glue(&format!("(1 − {p}^{}) ÷ (1 − {p})", count(k))),
    }
}

/// What makes failures depend on each other.
fn doubts(case: &Case<'_>) -> Vec<String> {
    let world = &case.plan.world;
    let service = &world.service;
    let guards = &case.strategy.rule.guards;
    let timed = case.strategy.attempt_timeout.is_some() || case.strategy.deadline.is_some();
    let reasons = [
        (
            service.failures.depend_on_load(),
            "failures that change with the load",
        ),
        (!world.faults.faults().is_empty(), "faults"),
        (timed && service.workers < u32::MAX, "timeouts in a queue"),
        (
            service.queue_capacity < u32::MAX && service.workers < u32::MAX,
            "a full queue",
        ),
        (service.sheds(), "the protection of the service"),
        (
            case.attempts > 1 && (guards.budget.is_some() || guards.breaker.is_some())
                || guards.throttle.is_some()
                || guards.limiter.is_some(),
            "limits that the requests share",
        ),
    ];
    let found = reasons.iter().filter(|(is_there, _)| *is_there);
    found.map(|(_, words)| (*words).to_owned()).collect()
}
