//! The retry budget: what it does, what a full one pays for, and what a total failure costs.

use super::case::Case;
use super::page::Section;
use super::words::{count, counted, each, glue, number, owners, percent, sentence};
use crate::policy::budget::{
    Charged, Costs, CountWindow, DepositAt, FixedLimit, Limit, Quota, ShareOf, TokenBucket,
    WireShare,
};
use crate::policy::{RetryBudget, Scope, Tokens};

pub(super) fn section(case: &Case<'_>) -> Section {
    let Some(budget) = &case.strategy.rule.guards.budget else {
        return Section::default();
    };
    if case.attempts == 1 && case.strategy.rule.guards.hedge.is_none() {
        let line = "The budget has no effect: there are no retries.".to_owned();
        return Section::of("Budget", vec![line]);
    }
    let scope = budget.common().scope;
    let charged = match budget.common().charged {
        Charged::Decision => "",
        Charged::Send => " A retry pays when it is sent, so any number may wait.",
    };
    let rule = format!(
        "{} {}{charged}",
        sentence(&rule(budget)),
        sentence(&owners(case, scope))
    );
    Section::of(
        "Budget",
        vec![rule, at_once(case, budget), total_failure(case, budget)],
    )
}

/// What it grants.
fn rule(budget: &RetryBudget) -> String {
    match budget {
        RetryBudget::TokenBucket(form) => token_bucket(form),
        RetryBudget::Quota(form) => quota(form),
        RetryBudget::FailureTokens(form) => format!(
            "{} tokens; a failed attempt takes 1, a successful request puts back {}, and retries are made while more than half are left, so they stop when there are more than {} failures for each success",
            tokens(form.max),
            tokens(form.ratio),
            tokens(form.ratio)
        ),
        RetryBudget::WindowRatio(form) => format!(
            "retries up to {} of {} of the last {}, and {} a second besides",
            percent(form.ratio.get()),
            match form.deposit_at {
                DepositAt::Start => "the requests",
                DepositAt::Success => "the successful requests",
            },
            form.window,
            number(form.min_per_second.as_per_second())
        ),
        RetryBudget::Concurrency(form) => format!(
            "retries outstanding at once: {}{}",
            match form.limit {
                Limit::Share(WireShare { of, min }) => format!(
                    "up to {} of the attempts on the wire, and {} in any case",
                    percent(of.get()),
                    count(min.into())
                ),
                Limit::Fixed(FixedLimit { retries }) => format!("up to {}", count(retries.into())),
            },
            match form.counts_waiting {
                true => ", those that wait included",
                false => ", those that wait not counted",
            }
        ),
        RetryBudget::RetryCount(form) => format!(
            "{} in each {} of {}",
            counted(form.retries.into(), "retry", "retries"),
            match form.window {
                CountWindow::Fixed => "window",
                CountWindow::Sliding => "sliding window",
            },
            form.per
        ),
        RetryBudget::RetryShare(form) => format!(
            "retries while they are less than {} of {}, {}",
            percent(form.ratio.get()),
            match form.of {
                ShareOf::FirstAttempts => "the requests",
                ShareOf::AllAttempts => "the requests and retries together",
            },
            counted_over(form.window)
        ),
        RetryBudget::FailureShare(form) => format!(
            "retries while failed attempts are at most {} of the requests, {}",
            percent(form.above.get()),
            counted_over(form.window)
        ),
    }
}

fn quota(form: &Quota) -> String {
    let Costs {
        transient,
        timeout,
        throttled,
    } = form.cost;
    let asked = match throttled == transient {
        true => String::new(),
        false => format!(", {} after a plea for fewer attempts", tokens(throttled)),
    };
    let refund = match form.refund {
        true => ", one that succeeds after retries what its last one took",
        false => "",
    };
    format!(
        "a quota of {} tokens. A retry takes {}, {} after a timeout{asked}. A request that succeeds at the first try puts back {}{refund}",
        tokens(form.capacity),
        tokens(transient),
        tokens(timeout),
        tokens(form.first_try_success)
    )
}

fn counted_over(window: Option<crate::time::SimDuration>) -> String {
    match window {
        Some(window) => format!("counted over the last {window}"),
        None => "counted since the beginning".into(),
    }
}

fn token_bucket(form: &TokenBucket) -> String {
    let mut inflow = Vec::new();
    if form.per_request > Tokens::ZERO {
        inflow.push(format!("each request puts in {}", tokens(form.per_request)));
    }
    if form.per_success > Tokens::ZERO {
        inflow.push(format!("each success puts in {}", tokens(form.per_success)));
    }
    if let Some(rate) = form.refill {
        inflow.push(format!("{} a second flow in", number(rate.as_per_second())));
    }
    if inflow.is_empty() {
        inflow.push("nothing is ever put in".into());
    }
    let start = match form.start {
        Some(start) => format!(", {} at first", tokens(start)),
        None => String::new(),
    };
    let above = match form.above {
        Some(above) => format!(" and needs more than {} to be there", tokens(above)),
        None => String::new(),
    };
    format!(
        "a bucket of {} tokens{start}; {}, a retry takes {}{above}",
        tokens(form.capacity),
        super::words::listed(&inflow),
        tokens(form.cost)
    )
}

fn tokens(tokens: Tokens) -> String {
    number(tokens.get())
}

/// Retries that one full state grants when nothing is put in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Grant {
    /// So many.
    Retries(u64),
    /// So many after failures, and so many after timeouts.
    ByFailure(u64, u64),
    /// Any number.
    Any,
    /// One for so many requests before.
    PerRequests(f64),
    /// Any number while few attempts fail, else none.
    WhileWell,
}

/// Tokens in millionths, as they are counted.
fn millionths(tokens: Tokens) -> u64 {
    (tokens.get() * 1e6).round() as u64
}

/// How often a cost fits into what there is.
fn fits(held: Tokens, cost: Tokens) -> Option<u64> {
    millionths(held).checked_div(millionths(cost))
}

/// What one full state grants.
pub(super) fn full(budget: &RetryBudget) -> Grant {
    let some = |fits: Option<u64>| fits.map_or(Grant::Any, Grant::Retries);
    match budget {
        RetryBudget::TokenBucket(form) => {
            // The last retry may leave what has to be more than `above` before it.
            let need = form.above.map_or(0, |above| millionths(above) + 1);
            let need = need.max(millionths(form.cost));
            let held = millionths(form.capacity);
            match held.checked_sub(need) {
                None => Grant::Retries(0),
                Some(rest) => some(rest.checked_div(millionths(form.cost)).map(|more| more + 1)),
            }
        }
        RetryBudget::Quota(form) => {
            let by = |cost| fits(form.capacity, cost);
            match (by(form.cost.transient), by(form.cost.timeout)) {
                (Some(a), Some(b)) if a != b => Grant::ByFailure(a, b),
                (transient, _) => some(transient),
            }
        }
        RetryBudget::FailureTokens(form) => {
            // Every failure takes one before its retry is asked for.
            let half = millionths(form.max) / 2;
            let rest = millionths(form.max).saturating_sub(half + 1);
            Grant::Retries(rest / 1_000_000)
        }
        RetryBudget::WindowRatio(form) => {
            let reserve = form.min_per_second.as_per_second() * form.window.as_secs_f64();
            Grant::Retries((reserve + 1e-9) as u64)
        }
        RetryBudget::Concurrency(form) => Grant::Retries(u64::from(match form.limit {
            Limit::Share(share) => share.min,
            Limit::Fixed(fixed) => fixed.retries,
        })),
        RetryBudget::RetryCount(form) => Grant::Retries(form.retries.into()),
        RetryBudget::RetryShare(form) => match form.ratio.get() {
            0.0 => Grant::Retries(0),
            ratio => Grant::PerRequests(1.0 / ratio),
        },
        RetryBudget::FailureShare(_) => Grant::WhileWell,
    }
}

/// How many retries it grants at once, to all clients.
fn at_once(case: &Case<'_>, budget: &RetryBudget) -> String {
    let scope = budget.common().scope;
    let all = |one: u64| match case.states(scope) {
        None | Some(1) => String::new(),
        Some(states) => format!(
            ", {} for all clients",
            super::words::glue(&format!(
                "{} × {} = {}",
                count(states),
                count(one),
                count(states.saturating_mul(one))
            ))
        ),
    };
    let grants = |one: u64| counted(one, "retry", "retries");
    let whole = match budget {
        RetryBudget::Concurrency(_) => "With little on the wire it grants",
        RetryBudget::WindowRatio(_) => "Without any request in the window it grants",
        _ => "A full one grants",
    };
    match full(budget) {
        Grant::Retries(one) => format!("{whole} {} at once{}.", grants(one), all(one)),
        Grant::ByFailure(transient, timeout) => format!(
            "{whole} {} at once{}; after timeouts {}{}.",
            grants(transient),
            all(transient),
            count(timeout),
            all(timeout)
        ),
        Grant::Any => format!("{whole} any number of retries at once."),
        Grant::PerRequests(requests) => format!(
            "It holds nothing at first and grants one retry for about {} requests; what is not used is {}.",
            number(requests),
            match budget {
                RetryBudget::RetryShare(form) if form.window.is_none() => "kept for ever",
                _ => "lost with the window",
            }
        ),
        Grant::WhileWell => {
            "It grants any number of retries while few attempts fail, and none otherwise.".into()
        }
    }
}

/// Retries a second of one state that do not depend on requests.
fn by_time(budget: &RetryBudget) -> f64 {
    match budget {
        RetryBudget::TokenBucket(form) => {
            form.refill.map_or(0.0, |rate| rate.as_per_second())
                / form.cost.get().max(f64::MIN_POSITIVE)
        }
        RetryBudget::WindowRatio(form) => form.min_per_second.as_per_second(),
        RetryBudget::RetryCount(form) => {
            f64::from(form.retries) / form.per.as_secs_f64().max(f64::MIN_POSITIVE)
        }
        RetryBudget::Quota(_)
        | RetryBudget::FailureTokens(_)
        | RetryBudget::Concurrency(_)
        | RetryBudget::RetryShare(_)
        | RetryBudget::FailureShare(_) => 0.0,
    }
}

/// Retries for each request that do not depend on their rate; `None` when that is no number.
fn by_request(budget: &RetryBudget) -> Option<f64> {
    match budget {
        RetryBudget::TokenBucket(form) if form.cost > Tokens::ZERO => {
            Some(form.per_request.get() / form.cost.get())
        }
        RetryBudget::WindowRatio(form) => Some(match form.deposit_at {
            DepositAt::Start => form.ratio.get(),
            DepositAt::Success => 0.0,
        }),
        RetryBudget::RetryCount(_) => Some(0.0),
        RetryBudget::TokenBucket(_)
        | RetryBudget::Quota(_)
        | RetryBudget::FailureTokens(_)
        | RetryBudget::Concurrency(_)
        | RetryBudget::RetryShare(_)
        | RetryBudget::FailureShare(_) => budget.sustained(),
    }
}

/// Attempts per request for ever when everything fails.
fn total_failure(case: &Case<'_>, budget: &RetryBudget) -> String {
    let most = case.retries() as f64;
    let scope = budget.common().scope;
    if scope == Scope::Call {
        return "When everything fails, every request has a full one, so it bounds the retries of a request and not those of all.".into();
    }
    let unbounded = match case.retries() {
        u64::MAX => "without a limit".to_owned(),
        retries => format!("up to all {}", counted(retries, "retry", "retries")),
    };
    let Some(share) = by_request(budget) else {
        return match budget {
            RetryBudget::Concurrency(_) => "When everything fails, retries go on: as many as it lets be outstanding, again and again.".into(),
            _ => format!("When everything fails, it bounds nothing for ever: {unbounded} a request."),
        };
    };
    let flow = by_time(budget) * case.states(scope).unwrap_or(0) as f64;
    if matches!(budget, RetryBudget::FailureShare(_)) {
        return "When everything fails, there are no retries: 1\u{a0}attempt a request until failures are few again.".into();
    }
    if flow == 0.0 {
        return constant(share.min(most), share > most);
    }
    let flowing = format!(
        "{} retries a second {}{}",
        number(by_time(budget)),
        each(scope),
        match case.states(scope) {
            Some(1) | None => String::new(),
            Some(_) => format!(", {} a second in all", number(flow)),
        }
    );
    let per_request = match case.requests_per_s {
        None => String::new(),
        Some(rate) => {
            let retries = share + flow / rate;
            format!(
                ": at {} requests a second up to {} attempts a request{}",
                number(rate),
                glue(&format!(
                    "1 + {} = {}",
                    number(retries.min(most)),
                    number(1.0 + retries.min(most))
                )),
                if retries > most {
                    ", all that a request may make"
                } else {
                    ""
                }
            )
        }
    };
    let besides = match share {
        0.0 => String::new(),
        share => format!(" and {} for each request", number(share)),
    };
    format!("When everything fails, it goes on to grant {flowing}{besides}{per_request}.")
}

fn constant(retries: f64, all: bool) -> String {
    match retries {
        0.0 => "When everything fails and what it holds is spent, there are no retries: 1 attempt a request until requests succeed again.".into(),
        retries => format!(
            "When everything fails and what it holds is spent: {} attempts a request for ever{}.",
            glue(&format!("1 + {} = {}", number(retries), number(1.0 + retries))),
            if all { ", all that a request may make" } else { "" }
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document, Reader};

    fn budget(text: &str) -> RetryBudget {
        let document = Document::parse("a.toml", text).unwrap();
        RetryBudget::decode(&document.root, &mut Reader::new()).unwrap()
    }

    #[test]
    fn a_full_budget_grants_what_is_counted_by_hand() {
        for (text, grant) in [
            (
                "token_bucket = { capacity = 100, per_request = 0.1 }",
                Grant::Retries(100),
            ),
            (
                "token_bucket = { capacity = 10, cost = 3 }",
                Grant::Retries(3),
            ),
            (
                "token_bucket = { capacity = 10, cost = 1, above = 5 }",
                Grant::Retries(5),
            ),
            ("token_bucket = { capacity = 10, cost = 0 }", Grant::Any),
            (
                "token_bucket = { capacity = 1, cost = 2 }",
                Grant::Retries(0),
            ),
            ("quota = {}", Grant::ByFailure(100, 50)),
            (
                "quota = { capacity = 50, cost.timeout = 5 }",
                Grant::Retries(10),
            ),
            ("failure_tokens = {}", Grant::Retries(4)),
            ("failure_tokens = { max = 3 }", Grant::Retries(1)),
            ("window_ratio = { ratio = \"20%\" }", Grant::Retries(100)),
            ("concurrency = {}", Grant::Retries(3)),
            (
                "concurrency = { limit.fixed.retries = 7 }",
                Grant::Retries(7),
            ),
            (
                "count = { retries = 60, per = \"60s\" }",
                Grant::Retries(60),
            ),
            ("share = { ratio = \"10%\" }", Grant::PerRequests(10.0)),
            ("failure_share = { above = \"10%\" }", Grant::WhileWell),
        ] {
            assert_eq!(full(&budget(text)), grant, "{text}");
        }
    }

    /// The same, asked of the budget itself.
    #[test]
    fn a_full_budget_grants_what_it_says() {
        use crate::policy::Kind;
        use crate::time::SimTime;
        for text in [
            "token_bucket = { capacity = 100, per_request = 0.1 }",
            "token_bucket = { capacity = 10, cost = 0.3, above = 4.5 }",
            "token_bucket = { capacity = 10, cost = 3, above = 1 }",
            "quota = {}",
            "window_ratio = { ratio = \"20%\", min_per_second = \"0.7/s\" }",
            "count = { retries = 60, per = \"60s\" }",
        ] {
            let budget = budget(text);
            let mut state = budget.fresh();
            let granted = (0..1_000)
                .take_while(|_| {
                    budget
                        .ask(&mut state, SimTime::ZERO, Kind::Transient)
                        .is_some()
                })
                .count() as u64;
            match full(&budget) {
                Grant::Retries(n) | Grant::ByFailure(n, _) => assert_eq!(n, granted, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }
}
