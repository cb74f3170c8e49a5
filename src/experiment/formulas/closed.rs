//! Formulas for requests that wait for each other: clients with pauses, and a herd.

use super::case::Case;
use super::chance::{MOST_RETRIES, mean_backoff};
use super::prediction::{Fit, found, no};
use crate::metrics::Quantity::{
    AttemptsPerRequest, BusyWorkers, DrainS, QueueLength, RefusedShare, SojournMeanS,
    ThroughputPerS,
};
use crate::model::OnAbandon;
use crate::outcome::AttemptOutcome;
use crate::theory::{
    herd::Herd,
    retries,
    sources::{Engset, FiniteSource, renewal_rate},
};

/// Clients begin with a pause, so that much of what is slow has settled at the start.
const SHARE_OF_SLOWEST: f64 = 2.0;

/// Clients that pause, ask and wait for their answer.
pub(super) fn closed(case: &Case, clients: u64, pause: f64) -> Fit {
    if case.timeout().is_some() {
        return no("clients with pauses time out");
    }
    let service = case.service.service_time.mean();
    let slowest = pause.max(service * case.attempts.min(MOST_RETRIES) as f64);
    if !case.is_settled(slowest / SHARE_OF_SLOWEST) {
        return no("the warm-up or the window is short against pauses or service times");
    }
    let think_rate = 1.0 / pause;
    let Some(workers) = case.workers() else {
        return unlimited(case, clients, pause);
    };
    let Some(service_rate) = case.exponential_rate() else {
        return no("service times are not exponential");
    };
    if case.retries_failures() {
        return no("failed attempts are made again");
    }
    if case.p > 0.0 && !case.service.failures_take_time {
        return no("failures take no service time");
    }
    match case.places() {
        Some(0) if !case.retries(AttemptOutcome::QueueFull) => {
            match Engset::new(clients, think_rate, service_rate, workers) {
                Some(queue) => found(
                    "Engset",
                    [
                        (RefusedShare, queue.p_blocked()),
                        (BusyWorkers, queue.mean_busy()),
                    ],
                ),
                None => no("there are too many clients for the chain"),
            }
        }
        Some(_) => no("the queue is limited"),
        None => match FiniteSource::new(clients, think_rate, service_rate, workers) {
            Some(queue) => found(
                "finite source (machine repair)",
                [
                    (ThroughputPerS, queue.throughput() * (1.0 - case.p)),
                    (SojournMeanS, queue.mean_sojourn()),
                    (QueueLength, queue.mean_queue()),
                ],
            ),
            None => no("there are too many clients for the chain"),
        },
    }
}

/// Nobody waits: each client takes its pause, its attempts and its delays in turn.
fn unlimited(case: &Case, clients: u64, pause: f64) -> Fit {
    if case.attempts > 1 && !case.retries_all_failures() {
        return no("some failures are not retried");
    }
    let latency = case.service.service_time.mean();
    let mean = retries::mean_attempts(case.p, case.attempts);
    let backoff = mean_backoff(case.p, case.attempts, &case.strategy.rule.backoff);
    let rate = backoff.and_then(|d| renewal_rate(clients, pause, mean, latency, d));
    match rate {
        Some(rate) if case.service.failures_take_time => found(
            "closed loop (renewal reward)",
            [(
                ThroughputPerS,
                rate * retries::success(case.p, case.attempts),
            )],
        ),
        _ => no("delays have no known mean"),
    }
}

/// All clients together against an outage, and then one worker.
pub(super) fn herd(case: &Case, clients: u64) -> Fit {
    let Some(outage_end) = case.outage_end.filter(|&end| end <= case.arrivals_end) else {
        return no(
            "a herd has a formula only against an outage that refuses from the start and ends before arrivals do",
        );
    };
    let backoff = &case.strategy.rule.backoff;
    let service = case.service.service_time.constant();
    let (Some(service), Some(1)) = (service.filter(|s| s.as_nanos() > 0), case.workers()) else {
        return no("a herd has a formula only for one worker with a constant service time");
    };
    let steady = case.timeout().is_none() && case.p == 0.0 && case.attempts == u64::MAX;
    let steady = steady && case.retries(AttemptOutcome::Refused);
    if !steady || case.service.on_abandon != OnAbandon::Continue || case.places().is_some() {
        return no(
            "a herd has a formula only for unlimited attempts, an unlimited queue and no timeout",
        );
    }
    let herd = Herd {
        clients,
        rate: 1.0 / service.as_secs_f64(),
        outage_end: outage_end.as_secs_f64(),
    };
    let delays = (1..=MOST_RETRIES).map(|n| {
        let (least, most) = backoff.bounds(n);
        (least == most).then(|| least.as_secs_f64())
    });
    match herd.first_return(delays.map_while(|delay| delay)) {
        Some(back) => found(
            "herd in lockstep",
            [
                (DrainS, herd.drain(back)),
                (AttemptsPerRequest, back.attempts as f64),
            ],
        ),
        None => no("jitter parts the herd, or it does not come back"),
    }
}
