//! How many attempts, what ends them, and what is tried again.

use super::case::Case;
use super::page::Section;
use super::words::{counted, glue, listed, seconds};
use crate::model::Callers;
use crate::policy::{DeadlineCheck, RetryOn};

pub(super) fn section(case: &Case<'_>) -> Section {
    let first = format!(
        "{} {} {}",
        attempts(case),
        an_attempt(case),
        a_request(case)
    );
    let mut lines = vec![first];
    if case.clients == 0 {
        lines.push("No client uses it.".into());
    }
    if case.attempts > 1 {
        lines.push(retried(case));
    }
    Section::of("", lines)
}

fn attempts(case: &Case<'_>) -> String {
    match case.attempts {
        1 => "One attempt, no retry.".into(),
        u64::MAX => "Attempts without a limit.".into(),
        most => format!(
            "Up to {}: the first and {}.",
            counted(most, "attempt", "attempts"),
            counted(most - 1, "retry", "retries")
        ),
    }
}

/// What ends an attempt.
fn an_attempt(case: &Case<'_>) -> String {
    let Some(timeout) = &case.strategy.attempt_timeout else {
        return "An attempt waits for its answer however long it takes.".into();
    };
    let after = match timeout.constant() {
        Some(time) => format!("after {time}"),
        None => format!(
            "after a drawn time of {} on average",
            seconds(timeout.mean())
        ),
    };
    if case.strategy.timeout_covers_wait {
        format!("An attempt leaves the queue {after}; once in service it waits for its answer.")
    } else {
        format!("An attempt ends {after} without an answer.")
    }
}

/// What ends a request.
fn a_request(case: &Case<'_>) -> String {
    let mut ends = Vec::new();
    if let Some(deadline) = case.spec.deadline {
        let check = match case.strategy.rule.deadline_check {
            DeadlineCheck::BeforeWait => {
                "a retry that would start later is not waited for, and an attempt in flight ends then"
            }
            DeadlineCheck::DuringWait => "it ends a wait or an attempt at that very moment",
            DeadlineCheck::BetweenAttempts => {
                "it is looked at only after an attempt has failed, so waits and attempts may go on beyond it"
            }
        };
        ends.push(format!("The deadline is {deadline}: {check}."));
    }
    if let Some(Callers { patience, cancels }) = case.spec.callers {
        ends.push(match cancels {
            true => format!("Its caller leaves after {patience}, which ends the request."),
            false => format!(
                "Its caller leaves after {patience}; the request goes on, and a later success counts as failed."
            ),
        });
    }
    if ends.is_empty() {
        return "The request has no deadline.".into();
    }
    ends.join(" ")
}

/// What is tried again, and what is not.
fn retried(case: &Case<'_>) -> String {
    let mut text = match names(&case.spec.retry_on) {
        names if names.is_empty() => "Nothing is retried.".into(),
        names => format!("Retried: {}.", listed(&names)),
    };
    let never = names(&case.spec.never_retry);
    text += &match never.is_empty() {
        true => " Never: all else.".into(),
        false => format!(" Never: {}, and all else.", never.join(", ")),
    };
    let own: Vec<String> = case
        .plan
        .world
        .service
        .failures
        .usual()
        .filter(|&(_, code)| !case.strategy.rule.retry_on.contains(ERROR, code))
        .map(|(share, code)| format!("{} ({})", named(code), super::words::percent(share)))
        .collect();
    if !own.is_empty() {
        text += &format!(
            " Of the service's own failures {} is never retried.",
            listed(&own)
        );
    }
    text
}

const ERROR: crate::outcome::AttemptOutcome = crate::outcome::AttemptOutcome::Error;

fn named(code: u16) -> String {
    crate::policy::name_of_code(code).map_or_else(|| glue(&format!("code {code}")), Into::into)
}

/// The entries of a set of outcomes, as written but for words.
fn names(set: &RetryOn) -> Vec<String> {
    let names = set.names().into_iter();
    names.map(|name| name.replace('_', "\u{a0}")).collect()
}
