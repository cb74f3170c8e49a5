//! The circuit breaker: when it opens, for how long, and what gets through then.

use super::case::Case;
use super::page::Section;
use super::words::{count, counted, each, glue, number, owners, percent, sentence};
use crate::outcome::AttemptOutcome;
use crate::policy::breaker::{
    Around, BreakerCommon, HalfOpen, Judge, ProbeLimit, Probes, RateWindow,
};
use crate::policy::{CircuitBreaker, Scope};
use crate::time::SimDuration;

pub(super) fn section(case: &Case<'_>) -> Section {
    let Some(breaker) = &case.strategy.rule.guards.breaker else {
        return Section::default();
    };
    let common = breaker.common();
    let lines = vec![
        format!(
            "{} {}",
            opens(breaker),
            sentence(&owners(case, common.scope))
        ),
        while_open(case, breaker),
        total_failure(case, breaker),
    ];
    Section::of("Breaker", lines)
}

/// Failures that open a closed breaker when nothing else comes.
pub(super) fn failures_to_open(breaker: &CircuitBreaker) -> u64 {
    match breaker {
        CircuitBreaker::Consecutive(form) => form.failures.into(),
        CircuitBreaker::FailureRate(form) => form.needed().max(1),
    }
}

fn opens(breaker: &CircuitBreaker) -> String {
    let common = breaker.common();
    let what = match common.around {
        Around::Attempt => "",
        Around::Call => " A request counts once, with all its attempts.",
    };
    let counted_ones = match &common.counts {
        Some(counts) if common.around == Around::Attempt => {
            let names = counts.names().join(", ").replace('_', " ");
            format!(" (it counts {names})")
        }
        _ => String::new(),
    };
    match breaker {
        CircuitBreaker::Consecutive(form) => format!(
            "It opens after {} in a row{counted_ones}; a success between them starts the count anew.{what}",
            counted(form.failures.into(), "failure", "failures")
        ),
        CircuitBreaker::FailureRate(form) => {
            let window = match form.window {
                RateWindow::Count(window) => {
                    format!(
                        "the last {}",
                        counted(window.calls.into(), "result", "results")
                    )
                }
                RateWindow::Time(window) => format!("the results of the last {}", window.length),
            };
            let slow = form.slow.map_or(String::new(), |slow| {
                format!(
                    ", or when {} take longer than {}",
                    percent(slow.rate.get()),
                    slow.after
                )
            });
            format!(
                "It opens when {} of {window} are failures{counted_ones}{slow}, judged from {} on.{what}",
                percent(form.rate.get()),
                counted(form.needed(), "result", "results")
            )
        }
    }
}

fn while_open(case: &Case<'_>, breaker: &CircuitBreaker) -> String {
    let common = breaker.common();
    let longer = match common.open_factor {
        1.0 => String::new(),
        factor => format!(
            ", {} times longer each time it cannot close{}",
            number(factor),
            common
                .open_longest
                .map_or(String::new(), |most| format!(", up to {most}"))
        ),
    };
    let after = match &common.half_open {
        HalfOpen::Everybody => "then it closes and everybody passes".to_owned(),
        HalfOpen::Probes(probes) => probe_words(breaker, probes),
    };
    let ramp = common.ramp.map_or(String::new(), |ramp| {
        format!(". After closing, the share that passes grows evenly over {ramp}")
    });
    let again = case
        .strategy
        .rule
        .retry_on
        .contains(AttemptOutcome::BreakerOpen, 0);
    let held = match (common.around, again && case.attempts > 1) {
        (Around::Call, _) => "a request that finds it open fails at once",
        (Around::Attempt, true) => "an attempt that it holds back is a try, and is retried",
        (Around::Attempt, false) => "a request whose attempt it holds back fails at once",
    };
    format!(
        "It stays open for {}{longer}; {after}{ramp}. While open, {held}.",
        common.open_for
    )
}

/// What passes when it has been open long enough, and what comes of it.
fn probe_words(breaker: &CircuitBreaker, probes: &Probes) -> String {
    let limit = match probes.limit {
        ProbeLimit::Unlimited => "any number of probes".to_owned(),
        ProbeLimit::AtMost(most) => counted(most.into(), "probe", "probes"),
    };
    let judged = match (probes.judge, breaker) {
        (Judge::Each, _) => {
            let close = match probes.successes {
                1 => "one good probe closes".to_owned(),
                n => format!("{} close", counted(n.into(), "good probe", "good probes")),
            };
            format!("at a time: {close} it, a failed one opens it again")
        }
        (Judge::Share, CircuitBreaker::Consecutive(_)) => {
            "in all: when none of them fails it closes, else it opens again".to_owned()
        }
        (Judge::Share, CircuitBreaker::FailureRate(_)) => {
            "in all: they are judged together by the same shares".to_owned()
        }
    };
    let hangs = probes.timeout.map_or(String::new(), |timeout| {
        format!(", as does one without a result for {timeout}")
    });
    format!("then {limit} may pass {judged}{hangs}")
}

/// How many failures open all of them, and what still reaches a dead service.
fn total_failure(case: &Case<'_>, breaker: &CircuitBreaker) -> String {
    let common = breaker.common();
    let needed = failures_to_open(breaker);
    let what = match common.around {
        Around::Attempt => ("failed attempt", "failed attempts"),
        Around::Call => ("failed request", "failed requests"),
    };
    let Some(states) = case.states(common.scope) else {
        return match case.attempts {
            most if needed >= most => {
                "When everything fails, a request has made all its attempts before its breaker opens, and the next one starts closed.".into()
            }
            _ => format!(
                "When everything fails, each request is cut short after {}; the next one starts closed.",
                counted(needed, what.0, what.1)
            ),
        };
    };
    let all = match states {
        1 => format!("it is open after {}", counted(needed, what.0, what.1)),
        states => format!(
            "all are open after at least {} {}",
            glue(&format!(
                "{} × {} = {}",
                count(states),
                count(needed),
                count(states.saturating_mul(needed))
            )),
            what.1
        ),
    };
    format!(
        "When everything fails, {all}; {}.",
        still_sent(common, states)
    )
}

/// What a breaker that cannot close lets through.
fn still_sent(common: &BreakerCommon, states: u64) -> String {
    let probes = match &common.half_open {
        HalfOpen::Everybody => {
            return format!(
                "every {} they close, and as many failures are made again",
                common.open_for
            )
            .replace(
                "they close",
                if states == 1 {
                    "it closes"
                } else {
                    "they close"
                },
            );
        }
        HalfOpen::Probes(probes) => probes,
    };
    let ProbeLimit::AtMost(limit) = probes.limit else {
        return "then whatever comes before the first probe has failed gets through".into();
    };
    let open = match common.open_factor {
        1.0 => common.open_for,
        _ => common.open_longest.unwrap_or(SimDuration::MAX),
    };
    let rate = f64::from(limit) / open.as_secs_f64();
    if open == SimDuration::MAX {
        return "then probes come ever more rarely".into();
    }
    if !rate.is_finite() {
        return "then probes follow each other at once".into();
    }
    let per = match common.scope {
        Scope::Call => return "then its probes".into(),
        scope => each(scope),
    };
    let in_all = match states {
        1 => String::new(),
        states => format!(", about {} a second in all", number(rate * states as f64)),
    };
    format!(
        "then at most {} in {open} {per}{in_all}",
        counted(limit.into(), "probe", "probes")
    )
}
