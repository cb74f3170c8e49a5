//! What holds attempts back by chance or by rate, and what stretches waits.

use super::case::Case;
use super::page::Section;
use super::words::{counted, each, number, owners, percent, sentence};
use crate::outcome::AttemptOutcome;
use crate::policy::{RateLimiter, TargetHealth, Throttle};

pub(super) fn section(case: &Case<'_>) -> Section {
    let guards = &case.strategy.rule.guards;
    let lines = [
        guards.throttle.as_ref().map(|rule| throttle(case, rule)),
        guards.limiter.as_ref().map(|rule| limiter(case, rule)),
        guards.health.as_ref().map(|rule| health(case, rule)),
    ];
    Section::of("Holding back", lines.into_iter().flatten().collect())
}

/// What becomes of a request whose attempt is held back.
fn held(case: &Case<'_>, outcome: AttemptOutcome) -> &'static str {
    let again = case.strategy.rule.retry_on.contains(outcome, 0) && case.attempts > 1;
    match again {
        true => "What is held back is a try, and is retried.",
        false => "A request whose attempt is held back has failed.",
    }
}

fn throttle(case: &Case<'_>, rule: &Throttle) -> String {
    let states = case.states(rule.scope);
    let rest = match states {
        None => String::new(),
        Some(states) => format!(
            " When everything fails, about one attempt in {} still goes out {}, {} a second in all.",
            rule.window,
            each(rule.scope),
            number(states as f64 / rule.window.as_secs_f64())
        ),
    };
    format!(
        "Throttle: an attempt is turned away with probability (requests − {k} × accepted) ÷ (requests + 1), counted over {}; {}. A service that accepts C a second is sent {k} × C at the most.{rest} {}",
        rule.window,
        owners(case, rule.scope),
        held(case, AttemptOutcome::Throttled),
        k = number(rule.k),
    )
}

fn limiter(case: &Case<'_>, rule: &RateLimiter) -> String {
    let common = rule.common();
    let how = match rule {
        RateLimiter::Fixed(form) => {
            let rate = form.rate.as_per_second();
            let in_all = match case.states(common.scope) {
                None | Some(1) => String::new(),
                Some(states) => format!(", {} a second in all", number(rate * states as f64)),
            };
            let asked = match (case.states(common.scope), case.requests_per_s) {
                (Some(states), Some(asked)) => format!(
                    "; {} requests a second are {} of that before any retry",
                    number(asked),
                    percent(asked / (rate * states as f64))
                ),
                _ => String::new(),
            };
            format!(
                "attempts go out at {} a second {}{in_all}, with bursts of {}{asked}",
                number(rate),
                each(common.scope),
                number(form.burst.get())
            )
        }
        RateLimiter::Adaptive(_) => "attempts go out freely until the service asks for fewer; then at seven tenths of the rate of answers, and faster again along a cubic curve, at least one in 2s".to_owned(),
    };
    let wait = match common.longest_wait {
        None => "Others wait for their turn however long it takes.".to_owned(),
        Some(wait) => format!(
            "Others wait for their turn up to {wait}, or are held back. {}",
            held(case, AttemptOutcome::RateLimited)
        ),
    };
    format!(
        "{} {} {wait}",
        sentence(&format!("rate limit: {how}")),
        sentence(&owners(case, common.scope))
    )
}

fn health(case: &Case<'_>, rule: &TargetHealth) -> String {
    format!(
        "Health: waits are {} times as long while more than {} of the attempts of the last {} have failed, from {} on; {}.",
        number(rule.factor),
        percent(rule.above.get()),
        rule.window,
        counted(rule.min_attempts.into(), "attempt", "attempts"),
        owners(case, rule.scope)
    )
}
