//! The formulas and their conditions.

use super::Prediction;
use super::attempts;
use super::case::{Case, Source};
use crate::metrics::Quantity::{
    self, AttemptsPerRequest, BackoffMeanS, BusyWorkers, DrainS, LatencyP99S, QueueLength,
    RefusedShare, SojournMeanS, SuccessRate, ThroughputPerS, TimedOutShare, WaitMeanS,
    WaitProbability, WaitingInBackoff,
};
use crate::model::OnAbandon;
use crate::outcome::AttemptOutcome;
use crate::policy::{Backoff, StateOwner};
use crate::scenario::Plan;
use crate::theory::{
    erlang_a::ErlangA,
    general::Mg1,
    herd::Herd,
    impatience::FixedPatience,
    loss::Mmck,
    queues::Mmc,
    refusals::RefusalRetry,
    retrial::Retrial,
    retries,
    sources::{Engset, FiniteSource, renewal_rate},
    unaware::unaware_timeout_success,
};

type Fit = Result<Prediction, String>;

fn found(formula: &'static str, figures: impl Into<Vec<(Quantity, f64)>>) -> Fit {
    Ok(Prediction {
        formula,
        figures: figures.into(),
    })
}

fn no(why: &str) -> Fit {
    Err(why.to_owned())
}

/// Retries for which delays are added up.
const MOST_RETRIES: u64 = 10_000;

/// What independent failures make of a request: 1 − pᵏ, (1 − pᵏ)/(1 − p) and the summed delays.
pub(super) fn chance(plan: &Plan, strategy: usize) -> Prediction {
    let (p, k) = (plan.failure_probability, attempts(plan, strategy));
    let mut figures = vec![
        (SuccessRate, retries::success(p, k)),
        (AttemptsPerRequest, retries::mean_attempts(p, k)),
    ];
    figures.extend(
        mean_backoff(p, k, &plan.strategies[strategy].rule.backoff)
            .map(|mean| (BackoffMeanS, mean)),
    );
    Prediction {
        formula: super::CHANCE,
        figures,
    }
}

/// E(D), where the state belongs to the request and every delay has a known mean.
fn mean_backoff(p: f64, k: u64, backoff: &Backoff) -> Option<f64> {
    if k > MOST_RETRIES || backoff.shape().state != StateOwner::Request {
        return None;
    }
    let delays: Option<Vec<(f64, f64)>> = (1..k).map(|n| backoff.moments(n)).collect();
    Some(retries::total_backoff(p, &delays?).mean)
}

/// What the queue does.
pub(super) fn queue(case: &Case) -> Fit {
    match case.source {
        Source::Herd(clients) => herd(case, clients),
        Source::Closed(clients, pause) => closed(case, clients, pause),
        Source::Poisson(rate) => open(case, rate),
    }
}

fn open(case: &Case, rate: f64) -> Fit {
    if case.retries_failures() {
        return no("retries after failures come in bunches");
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
        let mut figures = vec![
            (WaitProbability, queue.p_wait()),
            (WaitMeanS, queue.mean_wait()),
            (SojournMeanS, queue.mean_sojourn()),
            (BusyWorkers, rate / service_rate),
            (QueueLength, queue.mean_queue()),
        ];
        if case.is_plain_fifo() {
            figures.push((LatencyP99S, queue.sojourn_quantile(0.99)));
        }
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

/// Clients that pause, ask and wait for their answer.
fn closed(case: &Case, clients: u64, pause: f64) -> Fit {
    if case.timeout().is_some() {
        return no("clients with pauses time out");
    }
    let think_rate = 1.0 / pause;
    let Some(workers) = case.workers() else {
        if case.attempts > 1 && !case.retries_all_failures() {
            return no("some failures are not retried");
        }
        let latency = case.service.service_time.mean();
        let mean = retries::mean_attempts(case.p, case.attempts);
        let backoff = mean_backoff(case.p, case.attempts, &case.strategy.rule.backoff);
        let rate = backoff.and_then(|d| renewal_rate(clients, pause, mean, latency, d));
        return match rate {
            Some(rate) if case.service.failures_take_time => found(
                "closed loop (renewal reward)",
                [(
                    ThroughputPerS,
                    rate * retries::success(case.p, case.attempts),
                )],
            ),
            _ => no("delays have no known mean"),
        };
    };
    let Some(service_rate) = case.exponential_rate() else {
        return no("service times are not exponential");
    };
    if case.retries_failures() {
        return no("failed attempts are made again");
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

/// All clients together against an outage, and then one worker.
fn herd(case: &Case, clients: u64) -> Fit {
    let Some(outage_end) = case.outage_end else {
        return no("a herd has a formula only against an outage that refuses from the start");
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
