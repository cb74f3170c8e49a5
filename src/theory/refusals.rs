//! A full service that refuses, and clients that try again a limited number of times.
//!
//! A short queue with retries is in between a loss system and a retrial queue: a refusal is not final, but
//! each retry that is refused too is load for nothing. Arrivals are Poisson with rate λ, c servers with
//! exponential service of rate μ, room for K requests waiting and in service; a refused client returns after
//! an exponential time with rate θ, for up to k attempts in all. There is no closed form; a chain is solved.

use super::loss::Mmck;
use super::refusal_chain::{Chain, MOST_STATES};

/// The share of time at a limit of waiting clients that is too small to matter.
const NEGLIGIBLE: f64 = 1e-11;

/// The steady state of a service that refuses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefusalRetry {
    /// The probability that the first attempt is refused.
    pub p_refused_at_first: f64,
    /// The probability that one of the attempts is accepted.
    pub p_success: f64,
    /// Mean attempts of a request.
    pub mean_attempts: f64,
    /// Requests served per unit of time.
    pub throughput: f64,
    /// Mean number of clients that wait for their next attempt.
    pub mean_waiting_to_retry: f64,
    /// Mean number of requests waiting and in service.
    pub mean_in_system: f64,
}

impl RefusalRetry {
    /// Arrival rate λ > 0, rate μ > 0 of one server, c ≥ 1 servers, `room` for K ≥ c requests, rate θ > 0 at
    /// which each refused client returns, k ≥ 1 attempts. `None` for other arguments, and when more than
    /// 60,000 states count (soon the case for k > 3) or the chain is slow to settle (many clients waiting).
    /// Eight digits; may take half a second for k > 2.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        room: u64,
        return_rate: f64,
        attempts: u64,
    ) -> Option<Self> {
        let sound = |rate: f64| rate > 0.0 && rate.is_finite();
        if !sound(arrival_rate) || !sound(arrival_rate / return_rate) || attempts == 0 {
            return None;
        }
        let queue = Mmck::new(arrival_rate, service_rate, servers, room)?;
        if attempts == 1 {
            return Some(Self::without_retries(&queue));
        }
        let stages = usize::try_from(attempts - 1).ok()?;
        // Each stage has two lengths at least.
        if room > MOST_STATES as u64 || stages > 16 {
            return None;
        }
        let departures = (0..=room)
            .map(|n| n.min(u64::from(servers)) as f64 * service_rate)
            .collect();
        let mut refused = arrival_rate * queue.p_blocked();
        let mut limits = Vec::new();
        for _ in 0..stages {
            // Bursts of refusals are longer than a Poisson variable.
            let mean = refused / return_rate;
            limits.push(mean + 8.0 * mean.sqrt() + 12.0);
            refused *= queue.p_blocked();
        }
        let mut chain = Chain::new(arrival_rate, return_rate, departures);
        loop {
            chain.reset(&limits)?;
            chain.settle()?;
            let too_short: Vec<bool> = (0..stages)
                .map(|stage| chain.at_limit(stage) > NEGLIGIBLE)
                .collect();
            if !too_short.contains(&true) {
                return Some(Self::of(&chain, arrival_rate, return_rate));
            }
            for (limit, _) in limits.iter_mut().zip(too_short).filter(|(_, short)| *short) {
                *limit *= 1.3;
            }
        }
    }

    fn of(chain: &Chain, arrival_rate: f64, return_rate: f64) -> Self {
        let throughput = chain.throughput();
        let waiting = chain.mean_waiting();
        Self {
            p_refused_at_first: chain.full(),
            p_success: throughput / arrival_rate,
            mean_attempts: 1.0 + return_rate * waiting / arrival_rate,
            throughput,
            mean_waiting_to_retry: waiting,
            mean_in_system: chain.mean_in_system(),
        }
    }

    fn without_retries(queue: &Mmck) -> Self {
        Self {
            p_refused_at_first: queue.p_blocked(),
            p_success: queue.p_accepted(),
            mean_attempts: 1.0,
            throughput: queue.throughput(),
            mean_waiting_to_retry: 0.0,
            mean_in_system: queue.mean_in_system(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_refusal_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_refusal_retry_ctmc.csv") {
            let given = |key| number(&row, key).unwrap();
            let arrivals = given("lambda_per_s");
            let steady = RefusalRetry::new(
                arrivals,
                given("mu_per_s"),
                row["servers"].parse().unwrap(),
                row["max_in_system_K"].parse().unwrap(),
                given("retry_rate_per_s"),
                row["attempts_k"].parse().unwrap(),
            );
            let steady = steady.unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("p_first_attempt_refused", steady.p_refused_at_first);
            expect("p_success", steady.p_success);
            expect("mean_attempts", steady.mean_attempts);
            expect(
                "offered_attempt_rate_per_s",
                arrivals * steady.mean_attempts,
            );
            expect("throughput_per_s", steady.throughput);
            expect("mean_waiting_to_retry", steady.mean_waiting_to_retry);
            expect("mean_in_system", steady.mean_in_system);
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn without_retries_it_is_a_loss_system_and_with_one_the_first_refusals_return() {
        let queue = Mmck::new(3.0, 1.0, 2, 4).unwrap();
        let once = RefusalRetry::new(3.0, 1.0, 2, 4, 0.5, 1).unwrap();
        assert_eq!(
            (once.p_success, once.mean_attempts),
            (queue.p_accepted(), 1.0)
        );
        let twice = RefusalRetry::new(3.0, 1.0, 2, 4, 0.5, 2).unwrap();
        assert!((twice.mean_attempts - 1.0 - twice.p_refused_at_first).abs() < 1e-9);
        assert!(twice.p_success > once.p_success);
    }

    #[test]
    fn slow_retries_are_a_poisson_stream_of_their_own() {
        let slow = RefusalRetry::new(0.8, 1.0, 1, 2, 2e-3, 2).unwrap();
        let mut blocked = 0.0;
        for _ in 0..100 {
            blocked = Mmck::new(0.8 * (1.0 + blocked), 1.0, 1, 2)
                .unwrap()
                .p_blocked();
        }
        assert!((slow.p_refused_at_first / blocked - 1.0).abs() < 2e-3);
        assert!((slow.p_success - (1.0 - blocked * blocked)).abs() < 2e-3);
    }

    #[test]
    fn senseless_and_oversized_chains_are_refused() {
        for (arrivals, service, servers, room, returns, attempts) in [
            (0.0, 1.0, 1, 1, 1.0, 2),
            (f64::NAN, 1.0, 1, 1, 1.0, 2),
            (1.0, 0.0, 1, 1, 1.0, 2),
            (1.0, 1.0, 0, 1, 1.0, 2),
            (1.0, 1.0, 2, 1, 1.0, 2),
            (1.0, 1.0, 1, 1, 0.0, 2),
            (1.0, 1.0, 1, 1, 1.0, 0),
            (1.0, 1.0, 1, 1, 1e-9, 2),
            (1.0, 1.0, 1, 1, 1.0, u64::MAX),
            (1.0, 1.0, 1, 100_000, 1.0, 2),
        ] {
            let chain = RefusalRetry::new(arrivals, service, servers, room, returns, attempts);
            assert_eq!(chain, None);
        }
    }
}
