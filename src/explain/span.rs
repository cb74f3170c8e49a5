//! How long a request takes whose attempts all fail, and how many attempts fit.

use super::case::Case;
use super::page::Section;
use super::words::{count, counted, time};
use crate::policy::DeadlineCheck;
use crate::time::SimDuration;

/// Attempts that are looked at one by one.
const MOST_LOOKED_AT: u64 = 100_000;

pub(super) fn section(case: &Case<'_>) -> Section {
    let lines = [Some(total(case)), on_top(case), attempts_that_fit(case)];
    Section::of("Time", lines.into_iter().flatten().collect())
}

/// What makes waits longer that is not in the formula; nothing where the deadline bounds them.
fn on_top(case: &Case<'_>) -> Option<String> {
    let rule = &case.strategy.rule;
    let bounded =
        case.strategy.deadline.is_some() && rule.deadline_check != DeadlineCheck::BetweenAttempts;
    let told = case.plan.world.service.retry_after.is_some() && !rule.hints.is_default();
    let reasons = [
        (rule.guards.limiter.is_some(), "waits for the rate limit"),
        (
            rule.guards.health.is_some(),
            "longer waits while the service fails",
        ),
        (told, "told waits"),
    ];
    let some = reasons.iter().filter(|(is_there, _)| *is_there);
    let some: Vec<String> = some.map(|(_, words)| (*words).to_owned()).collect();
    (!bounded && !some.is_empty())
        .then(|| super::words::sentence(&format!("not counted: {}", super::words::listed(&some))))
}

/// The longest that one attempt takes, if there is such a time.
fn longest_try(case: &Case<'_>) -> Option<SimDuration> {
    let timeout = case.strategy.attempt_timeout.as_ref()?;
    match case.strategy.timeout_covers_wait {
        true => None,
        false => timeout.max(),
    }
}

/// Sums of the least and of the greatest waits over all retries.
fn waits(case: &Case<'_>) -> (SimDuration, SimDuration) {
    if case.retries() == u64::MAX {
        let never = case.backoff().bounds(u64::MAX).1 == SimDuration::ZERO;
        let most = if never {
            SimDuration::ZERO
        } else {
            SimDuration::MAX
        };
        return (SimDuration::ZERO, most);
    }
    let (mut least, mut most) = (SimDuration::ZERO, SimDuration::ZERO);
    for n in 1..=case.retries() {
        let (low, high) = case.backoff().bounds(n);
        least += low;
        most += high;
    }
    (least, most)
}

/// The least and the most time of a request that fails in all attempts, and what ends it.
fn total(case: &Case<'_>) -> String {
    let unlimited = case.attempts == u64::MAX;
    let (least, most) = waits(case);
    let tries = match longest_try(case) {
        Some(longest) if !unlimited => Some(longest.scale(case.attempts as f64)),
        _ => None,
    };
    let most = tries.map_or(SimDuration::MAX, |tries| tries + most);
    let what = match case.attempts {
        1 => "A request whose only attempt fails".to_owned(),
        u64::MAX => "A request whose attempts all fail".to_owned(),
        k => format!(
            "A request that fails in all {}",
            counted(k, "attempt", "attempts")
        ),
    };
    let deadline = case.strategy.deadline;
    let hard = case.strategy.rule.deadline_check != DeadlineCheck::BetweenAttempts;
    let cut = deadline.filter(|&deadline| hard && deadline < most);
    let upper = match (cut, deadline) {
        (Some(deadline), _) => format!("{} at the most: {} ends it", time(deadline), limit(case)),
        (None, Some(deadline)) if !hard && deadline < most => between(case, deadline, most),
        _ if most < SimDuration::MAX => format!("{} at the most{}", time(most), parts(case)),
        _ if unlimited => "has no longest time: attempts have no limit".to_owned(),
        _ if longest_try(case).is_none() => {
            "has no longest time: an attempt may take any time".to_owned()
        }
        _ => "has no longest time: a wait may be of any length".to_owned(),
    };
    let least = match deadline {
        _ if unlimited => None,
        Some(deadline) if least >= deadline && hard => None,
        _ => Some(least),
    };
    let network = ", beside the way to the service and back";
    match least {
        None => format!("{what} takes {upper}.").replace("takes has", "has"),
        Some(least) => format!(
            "{what} takes {} at the least, when each is refused at once{}, and {upper}.",
            time(least),
            match case.plan.world.service.request_delay.is_some() {
                true => network,
                false => "",
            }
        ),
    }
}

/// What ends a request in the end.
fn limit(case: &Case<'_>) -> &'static str {
    let patience = case.spec.callers.filter(|callers| callers.cancels);
    let first = |patience| {
        case.spec
            .deadline
            .is_none_or(|deadline| patience < deadline)
    };
    match patience {
        Some(callers) if first(callers.patience) => "the going of its caller",
        _ => "the deadline",
    }
}

/// "(5 × 1s of attempts and 15 s of waits)".
fn parts(case: &Case<'_>) -> String {
    let Some(longest) = longest_try(case).filter(|_| case.attempts > 1) else {
        return String::new();
    };
    let waits = match waits(case).1 {
        SimDuration::ZERO => String::new(),
        most => format!(" and {} of waits", time(most)),
    };
    let tries = format!("{} × {longest}", count(case.attempts));
    format!(
        " ({} of attempts that time out{waits})",
        super::words::glue(&tries)
    )
}

/// The longest time where the deadline is looked at after failed attempts only: one more wait and attempt follow.
fn between(case: &Case<'_>, deadline: SimDuration, most: SimDuration) -> String {
    let wait = (1..=case.retries().min(MOST_LOOKED_AT))
        .map(|n| case.backoff().bounds(n).1)
        .max()
        .unwrap_or_default();
    match longest_try(case) {
        Some(longest) if wait < SimDuration::MAX => format!(
            "{} at the most: the deadline of {deadline} stops retries only after a failed attempt, so a wait and an attempt may follow",
            time((deadline + wait + longest).min(most))
        ),
        _ => "has no longest time: the deadline does not end a wait or an attempt".to_owned(),
    }
}

/// How many attempts fit when all time out, with the shortest and the longest waits.
fn attempts_that_fit(case: &Case<'_>) -> Option<String> {
    let deadline = case.strategy.deadline?;
    let timeout = case.strategy.attempt_timeout.as_ref()?;
    let (each, drawn) = match timeout.constant() {
        Some(time) => (time, ""),
        None => (
            SimDuration::from_secs_f64(timeout.mean()),
            " at the mean timeout",
        ),
    };
    if case.attempts == 1 || each == SimDuration::ZERO {
        return None;
    }
    let fit = |longest: bool| fitting(case, deadline, each, longest);
    let (many, few) = (fit(false), fit(true));
    let number = match (many, few) {
        (Some(many), Some(few)) if many == few => count(many),
        (Some(many), Some(few)) => format!("{} to {}", count(few), count(many)),
        (None, Some(few)) => format!("{} or more", count(few)),
        _ => return None,
    };
    let of = match case.attempts {
        u64::MAX => String::new(),
        k => format!(" of {}", count(k)),
    };
    let limit = limit(case);
    let enough = few == Some(case.attempts);
    let so = match enough {
        true => format!("so the limit on attempts ends the request, not {limit}"),
        false if many == Some(case.attempts) => format!(
            "so with long waits {limit} ends the request, with short ones the limit on attempts"
        ),
        false if case.attempts == u64::MAX => format!("then {limit} ends the request"),
        false => format!("so {limit} ends the request, not the limit on attempts"),
    };
    Some(format!(
        "When all time out after {each}{drawn}, {number}{of} attempts start within {deadline}, {so}."
    ))
}

/// Attempts that start in time when each takes `each` and waits are all short or all long; `None` when too many to
/// look at.
fn fitting(
    case: &Case<'_>,
    deadline: SimDuration,
    each: SimDuration,
    longest: bool,
) -> Option<u64> {
    let between = case.strategy.rule.deadline_check == DeadlineCheck::BetweenAttempts;
    let mut ends = each;
    for attempt in 1..case.attempts {
        if attempt > MOST_LOOKED_AT {
            return None;
        }
        let (low, high) = case.backoff().bounds(attempt);
        let starts = ends + if longest { high } else { low };
        let asked_at = if between { ends } else { starts };
        if asked_at >= deadline {
            return Some(attempt);
        }
        ends = starts + each;
    }
    Some(case.attempts)
}
