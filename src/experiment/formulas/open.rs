//! Formulas for requests that come whatever happens to them: a Poisson process in front of one queue.

use super::case::Case;
use super::prediction::{Fit, found, no};
use crate::dist::Sampler;
use crate::metrics::Quantity::{
    AttemptsPerRequest, BusyWorkers, QueueLength, RefusedShare, SojournMeanS, SuccessRate,
    TimedOutShare, WaitMeanS, WaitProbability, WaitingInBackoff,
};
use crate::model::OnAbandon;
use crate::outcome::AttemptOutcome;
use crate::theory::{
    erlang_a::ErlangA,
    general::Mg1,
    impatience::FixedPatience,
    loss::Mmck,
    queues::{Mmc, relaxation_time},
    refusals::RefusalRetry,
    retrial::Retrial,
    unaware::unaware_timeout_success,
};

/// A Poisson process of this rate.
pub(super) fn open(case: &Case, rate: f64) -> Fit {
    if case.retries_failures() {
        return no("retries after failures come in bunches");
    }
    let patience = case.timeout().map_or(0.0, Sampler::mean);
    if !case.is_settled(case.service.service_time.mean().max(patience)) {
        return no("the warm-up or the window is short against service times or patience");
    }
    if case.p > 0.0 && !case.service.failures_take_time {
        return no("failures take no service time");
    }
    let Some(workers) = case.workers() else {
        return unlimited(case, rate);
    };
    let refused_again = case.places().is_some() && case.retries(AttemptOutcome::QueueFull);
    match (case.timeout(), refused_again) {
        (None, false) => patient(case, rate, workers),
        (None, true) => retrial(case, rate, workers),
        (Some(_), false) => impatient(case, rate, workers),
        (Some(_), true) => no("refused callers try again and time out"),
    }
}

/// Unlimited workers: nobody waits, and busy workers are Poisson whatever the service time (M/G/∞).
fn unlimited(case: &Case, rate: f64) -> Fit {
    let mean = case.service.service_time.mean();
    if case.timeout().is_some() && case.attempts > 1 {
        return no("timeouts bring retries");
    }
    if case.timeout().is_some() && case.service.on_abandon != OnAbandon::Continue {
        return no("abandoned work stops");
    }
    found("M/G/∞", [(BusyWorkers, rate * mean), (WaitMeanS, 0.0)])
}

/// Callers that wait as long as it takes.
fn patient(case: &Case, rate: f64, workers: u32) -> Fit {
    let Some(service_rate) = case.exponential_rate() else {
        return general(case, rate, workers);
    };
    let Some(places) = case.places() else {
        let Some(queue) = Mmc::new(rate, service_rate, workers) else {
            return no("the queue has no steady state: more work comes than is done");
        };
        if !case.is_settled(relaxation_time(
            queue.utilisation(),
            f64::from(workers) * service_rate,
        )) {
            return no("the warm-up or the window is short against the relaxation of the queue");
        }
        let figures = vec![
            (WaitProbability, queue.p_wait()),
            (WaitMeanS, queue.mean_wait()),
            (SojournMeanS, queue.mean_sojourn()),
            (BusyWorkers, rate / service_rate),
            (QueueLength, queue.mean_queue()),
        ];
        return found("M/M/c (Erlang C)", figures);
    };
    let Some(queue) = Mmck::new(rate, service_rate, workers, u64::from(workers) + places) else {
        return no("the queue is too large for its chain");
    };
    found(
        if places == 0 {
            "M/M/c/c (Erlang B)"
        } else {
            "M/M/c/K"
        },
        [
            (RefusedShare, queue.p_blocked()),
            (WaitMeanS, queue.mean_wait_accepted()),
            (SojournMeanS, queue.mean_sojourn_accepted()),
            (BusyWorkers, queue.mean_busy()),
            (QueueLength, queue.mean_queue()),
        ],
    )
}

/// Service times of a greater squared coefficient of variation need more runs than anybody makes.
const MOST_SPREAD: f64 = 20.0;

/// Any service time, one worker: Pollaczek and Khinchine.
fn general(case: &Case, rate: f64, workers: u32) -> Fit {
    if workers != 1 || case.places().is_some() {
        return no(
            "service times are not exponential, and there is more than one worker or a limit to the queue",
        );
    }
    let (mean, variance) = (
        case.service.service_time.mean(),
        case.service.service_time.variance(),
    );
    if variance > MOST_SPREAD * mean * mean {
        return no("service times scatter too much for their mean to show");
    }
    if !case.is_settled(relaxation_time(rate * mean, 1.0 / mean) * (1.0 + variance / (mean * mean)))
    {
        return no("the warm-up or the window is short against the relaxation of the queue");
    }
    match Mg1::new(rate, mean, variance + mean * mean, None) {
        Some(queue) => found(
            "M/G/1 (Pollaczek–Khinchine)",
            [
                (WaitMeanS, queue.mean_wait()),
                (SojournMeanS, queue.mean_sojourn()),
                (BusyWorkers, rate * mean),
            ],
        ),
        None => no("the queue has no steady state, or service times have no variance"),
    }
}

/// Callers that are refused and come back after a memoryless time.
fn retrial(case: &Case, rate: f64, workers: u32) -> Fit {
    let Some(service_rate) = case.exponential_rate() else {
        return no("service times are not exponential");
    };
    let Some(mean) = case.strategy.rule.backoff.memoryless() else {
        return no("refused callers do not come back after a memoryless time");
    };
    if case.p > 0.0 {
        return no("some attempts fail");
    }
    // Callers come back until they are served, or until their attempts are used up.
    let slack = 1.0 - (rate / (service_rate * f64::from(workers))).min(0.999);
    let rounds = (case.attempts as f64).min(1.0 / slack);
    if !case.is_settled(mean.as_secs_f64() * rounds) {
        return no("the warm-up or the window is short against the delays of refused callers");
    }
    let (again, places) = (1.0 / mean.as_secs_f64(), case.places().unwrap_or(0));
    if case.attempts == u64::MAX && places == 0 {
        return match Retrial::new(rate, service_rate, workers, again) {
            Some(queue) => found(
                "retrial queue",
                [
                    (WaitingInBackoff, queue.mean_orbit()),
                    (AttemptsPerRequest, queue.mean_attempts()),
                    (BusyWorkers, rate / service_rate),
                ],
            ),
            None => no("the retrial queue has no steady state, or is too large"),
        };
    }
    let room = u64::from(workers) + places;
    match RefusalRetry::new(rate, service_rate, workers, room, again, case.attempts) {
        Some(queue) => found(
            "refusals with at most k attempts (Markov chain)",
            [
                (SuccessRate, queue.p_success),
                (AttemptsPerRequest, queue.mean_attempts),
                (WaitingInBackoff, queue.mean_waiting_to_retry),
            ],
        ),
        None => no("the chain of refused callers is too large"),
    }
}

/// Callers that lose patience, once.
fn impatient(case: &Case, rate: f64, workers: u32) -> Fit {
    if case.retries(AttemptOutcome::TimedOut) {
        return no("timeouts bring retries");
    }
    let (Some(service_rate), Some(timeout)) = (case.exponential_rate(), case.timeout()) else {
        return no("service times are not exponential");
    };
    if case.strategy.timeout_covers_wait {
        return impatient_waiting(case, rate, service_rate, workers);
    }
    let Some(limit) = timeout.constant() else {
        return no("the timeout is drawn and covers service");
    };
    if workers != 1 || !case.is_plain_fifo() {
        return no("a timeout over service has a formula for one worker in order of arrival only");
    }
    let room = case.places().map(|places| places + 1);
    match unaware_timeout_success(rate, service_rate, room, limit.as_secs_f64()) {
        Some(success) => found(
            "M/M/1/K with a timeout unknown to the service",
            [(SuccessRate, success * (1.0 - case.p))],
        ),
        None => no("the queue has no steady state, or is too large"),
    }
}

/// Callers that leave the queue: after a fixed time, or after an exponential one (Erlang A).
fn impatient_waiting(case: &Case, rate: f64, service_rate: f64, workers: u32) -> Fit {
    if case.places().is_some() {
        return no("the queue is limited, and callers leave it");
    }
    let timeout = case.timeout().ok_or("there is no timeout")?;
    if let Some(limit) = timeout.constant() {
        return match FixedPatience::new(rate, service_rate, workers, limit.as_secs_f64()) {
            Some(queue) if case.is_plain_fifo() => found(
                "M/M/c with fixed patience",
                [
                    (TimedOutShare, queue.p_timeout()),
                    (WaitMeanS, queue.mean_wait_served()),
                ],
            ),
            _ => no("the queue is too large, or not in order of arrival"),
        };
    }
    let Some(patience) = timeout.is_exponential() else {
        return no("patience is neither fixed nor exponential");
    };
    match ErlangA::new(rate, service_rate, workers, 1.0 / patience.as_secs_f64()) {
        Some(queue) => found(
            "M/M/c with exponential patience (Erlang A)",
            [
                (TimedOutShare, queue.p_abandon()),
                (BusyWorkers, queue.mean_busy()),
                (QueueLength, queue.mean_queue()),
            ],
        ),
        None => no("the queue is too large"),
    }
}
