//! Expected attempts and success when attempts fail by themselves.

use super::case::Case;
use super::page::Section;
use super::words::{count, glue, listed, number, percent};
use crate::theory::retries;

/// The probability that is looked at where attempts do not fail by themselves.
const WHAT_IF: f64 = 0.5;

pub(super) fn section(case: &Case<'_>) -> Section {
    let (p, q, k) = (case.plan.failure_probability, case.retried, case.attempts);
    let line = if p == 0.0 && k == 1 {
        format!(
            "Attempts do not fail by themselves here (p = 0): success {}.",
            percent(1.0)
        )
    } else if p == 0.0 {
        format!(
            "Attempts do not fail by themselves here (p = 0): success {}, 1 attempt a request. If one in two failed: {}.",
            percent(1.0),
            alike(WHAT_IF, k)
        )
    } else if k == 1 {
        let (p, success) = (percent(p), percent(1.0 - p));
        format!("An attempt fails with p = {p}, so success is 1 − p = {success}.")
    } else if q <= 0.0 {
        let (p, success) = (percent(p), percent(1.0 - p));
        format!(
            "An attempt fails with p = {p}, in ways that are never retried: 1 attempt a request, and success is 1 − p = {success}."
        )
    } else if p >= 1.0 && q >= 1.0 && k == u64::MAX {
        "Every attempt fails: no request succeeds, and attempts go on while there is time.".into()
    } else if (p - q).abs() < 1e-9 {
        format!("An attempt fails with p = {}: {}.", percent(p), alike(p, k))
    } else {
        let attempts = retries::mean_attempts(q, k);
        format!(
            "An attempt fails with p = {}, and with q = {} in a way that is retried: {}, {}; success {}, which is 1 − p times that.",
            percent(p),
            percent(q),
            attempts_words(attempts),
            formula_of_attempts(q, k),
            percent((1.0 - p) * attempts),
        )
    };
    let mut lines = vec![line];
    if case.strategy.deadline.is_some() && case.attempts > 1 {
        lines.push("That takes all attempts to fit into the time that the request has.".into());
    }
    let why = doubts(case);
    if !why.is_empty() {
        lines.push(format!(
            "That holds while attempts fail independently of each other. Here {} may make them fail together, and then it promises too much.",
            listed(&why)
        ));
    }
    Section::of("Chance", lines)
}

/// Success and attempts when every failure is tried again.
fn alike(p: f64, k: u64) -> String {
    format!(
        "success {}, {}; {}, {}",
        percent(retries::success(p, k)),
        formula_of_success(p, k),
        attempts_words(retries::mean_attempts(p, k)),
        formula_of_attempts(p, k)
    )
}

/// "1.39 attempts a request".
fn attempts_words(mean: f64) -> String {
    let mean = number(mean);
    let noun = if mean == "1" { "attempt" } else { "attempts" };
    format!("{} a request", glue(&format!("{mean} {noun}")))
}

/// "1 − 0.3^3".
fn formula_of_success(p: f64, k: u64) -> String {
    match k {
        u64::MAX => glue("as attempts have no limit"),
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
