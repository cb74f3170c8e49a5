//! Which formula fits a run, and how the run compares with it.
//!
//! 1 − pᵏ holds when attempts fail independently of each other and of the load: nothing refused, nothing
//! timed out, no fault that changes p. Otherwise the line says what was promised, what came, and why.

use super::load::{attempts, is_mixed};
use super::result::{Check, Loss, TheoryLine};
use crate::metrics::Tally;
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::scenario::Plan;
use crate::theory::retries;

/// More requests than this share that are still open at the end could change any figure.
const MOST_OPEN: f64 = 0.05;

/// `success` is the success rate as the table gives it: the mean over replications.
pub(super) fn match_theory(
    plan: &Plan,
    strategy: usize,
    total: &Tally,
    success: Option<f64>,
) -> TheoryLine {
    let (Some(pooled), Some(came)) = (total.success_rate(), success) else {
        return TheoryLine::Nothing;
    };
    let p = plan.failure_probability;
    let k = attempts(plan, strategy);
    if let Some(why) = why_not_independent(plan, strategy, total) {
        return TheoryLine::Dependent {
            why,
            p,
            promised: retries::success(p, k),
            came,
            losses: losses(total),
        };
    }
    TheoryLine::Independent {
        p,
        k: (k < u64::MAX).then_some(k),
        success: check_success(total, retries::success(p, k), pooled),
        attempts: check_attempts(total, p, k),
    }
}

/// Why 1 − pᵏ cannot hold, whatever happens.
fn why_not_alike(plan: &Plan, strategy: usize) -> Option<String> {
    if is_mixed(plan, strategy) {
        return Some("client groups use different strategies".into());
    }
    let retry_on = &plan.strategies[strategy].rule.retry_on;
    if plan.world.service.failures.depend_on_load() {
        return Some("failures depend on the load".into());
    }
    let mut failures = plan.world.service.failures.usual();
    let ends = |&(_, code): &(f64, u16)| !retry_on.contains(AttemptOutcome::Error, code);
    if let Some((_, code)) = failures.find(ends) {
        return Some(format!("code {code} is not retried"));
    }
    if plan
        .world
        .faults
        .faults()
        .iter()
        .any(|fault| fault.changes_failures())
    {
        return Some("a fault changes how attempts fail".into());
    }
    None
}

/// Why 1 − pᵏ does not hold, if it does not.
fn why_not_independent(plan: &Plan, strategy: usize, total: &Tally) -> Option<String> {
    if let Some(why) = why_not_alike(plan, strategy) {
        return Some(why);
    }
    if total.redriven > 0 {
        return Some("dead letters came back".into());
    }
    let attempts = [
        (AttemptOutcome::Refused, "an outage refused"),
        (AttemptOutcome::QueueFull, "a full queue refused"),
        (AttemptOutcome::TimedOut, "timeouts ended"),
        (AttemptOutcome::DeadlineExceeded, "the deadline ended"),
        (AttemptOutcome::Shed, "the service shed"),
        (AttemptOutcome::BreakerOpen, "an open breaker held back"),
        (AttemptOutcome::Throttled, "clients held back"),
        (AttemptOutcome::RateLimited, "a rate limit held back"),
    ]
    .map(|(outcome, words)| (total.outcomes[outcome as usize], words));
    let requests = [
        (FailureReason::Deadline, "the deadline left no time for"),
        (FailureReason::NotStarted, "a full pool kept from starting"),
        (FailureReason::Budget, "the retry budget was spent for"),
        (
            FailureReason::CallerLeft,
            "callers had left before the end of",
        ),
    ]
    .map(|(reason, words)| (total.lost_to(reason), words));
    let most = |causes: &[(u64, &'static str)]| causes.iter().copied().max_by_key(|&(n, _)| n);
    let share = |n: u64, of: u64| percent(n as f64 / of.max(1) as f64);
    // Requests lost without an attempt that shows why weigh more than attempts.
    if let Some((n, words)) = most(&requests).filter(|&(n, _)| n > 0) {
        return Some(format!("{words} {} of requests", share(n, total.requests)));
    }
    if let Some((n, words)) = most(&attempts).filter(|&(n, _)| n > 0) {
        let all = total.attempts + total.held_back();
        return Some(format!("{words} {} of attempts", share(n, all)));
    }
    let open = total.unfinished as f64 > MOST_OPEN * total.requests as f64;
    open.then(|| {
        format!(
            "{} of requests had not ended",
            share(total.unfinished, total.requests)
        )
    })
}

/// A share in words that does not round a few to none.
fn percent(share: f64) -> String {
    if share < 1e-4 {
        "less than 0.01 %".into()
    } else {
        format!("{:.2} %", share * 100.0)
    }
}

fn losses(total: &Tally) -> Vec<Loss> {
    let ended = total.ended().max(1) as f64;
    let all = FailureReason::ALL.iter();
    let mut losses: Vec<Loss> = all
        .map(|&reason| Loss {
            reason,
            share: total.lost_to(reason) as f64 / ended,
        })
        .filter(|loss| loss.share > 0.0)
        .collect();
    losses.sort_by(|a, b| b.share.total_cmp(&a.share));
    losses
}

/// Requests are independent here, so their number gives the standard error. Unfinished ones could have ended
/// either way; z is of the distance that this does not explain.
fn check_success(total: &Tally, predicted: f64, observed: f64) -> Check {
    let n = total.ended() as f64;
    let open = total.unfinished as f64;
    let (least, most) = (
        total.succeeded as f64 / (n + open),
        (total.succeeded as f64 + open) / (n + open),
    );
    let distance = (least - predicted).max(0.0) + (most - predicted).min(0.0);
    let error = (predicted * (1.0 - predicted) / n).sqrt();
    Check {
        predicted,
        observed,
        z: z(distance, error),
    }
}

/// Unfinished requests take from one attempt to all of them; z is of the distance that this does not explain.
fn check_attempts(total: &Tally, p: f64, k: u64) -> Check {
    let (predicted, sd) = (retries::mean_attempts(p, k), retries::sd_attempts(p, k));
    let of = |list: &[u64], first: usize| {
        list.iter()
            .enumerate()
            .map(|(i, &n)| (i + first) as f64 * n as f64)
            .sum::<f64>()
    };
    let n = total.ended() as f64;
    let attempts = of(&total.succeeded_with, 1) + of(&total.failed_with, 0);
    let open = total.unfinished as f64;
    let with_open = |each: f64| (attempts + open * each) / (n + open);
    let (least, most) = (
        with_open(1.0),
        if open > 0.0 {
            with_open(k as f64)
        } else {
            with_open(1.0)
        },
    );
    let distance = (least - predicted).max(0.0) + (most - predicted).min(0.0);
    Check {
        predicted,
        observed: attempts / n,
        z: z(distance, sd / n.sqrt()),
    }
}

fn z(distance: f64, error: f64) -> Option<f64> {
    (error > 0.0 && error.is_finite()).then(|| distance / error)
}
