//! What a limit on the queue costs: the M/M/c/K queue, which refuses whoever finds it full.
//!
//! A short queue trades long waits for refusals. Arrivals are Poisson with rate λ, service is exponential with
//! rate μ per server, c servers, and room for K requests, waiting and in service together; order of arrival.
//! K = c is Erlang's loss system. Source: Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing
//! Theory", 4th edition, §2.5 and §2.6.
//!
//! An accepted arrival finds the law of the same queue with one place less, which exists for any load.

use super::birth_death::{Law, MOST_STATES, beyond};
use super::sojourn::Sojourn;

/// An M/M/c/K queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Mmck {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    /// What an accepted arrival finds.
    found: Law,
    /// π(K) / (1 − π(K)).
    odds_full: f64,
    sojourn: Sojourn,
}

impl Mmck {
    /// The queue with arrival rate λ ≥ 0, service rate μ > 0 of one server, c ≥ 1 servers and `room` for
    /// K ≥ c requests waiting and in service. `None` for other arguments, and when more than 250,000
    /// states would count.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32, room: u64) -> Option<Self> {
        let load = arrival_rate / service_rate;
        let sound = arrival_rate >= 0.0 && service_rate > 0.0 && service_rate.is_finite();
        let c = u64::from(servers);
        let places = room.checked_sub(c)?;
        if !sound || !load.is_finite() || servers == 0 || places > MOST_STATES {
            return None;
        }
        let ratio = |n: u64| load / n.min(c) as f64;
        let found = Law::new(room - 1, ratio)?;
        Some(Self {
            arrival_rate,
            service_rate,
            servers,
            odds_full: found.share(room - 1) * ratio(room),
            sojourn: Sojourn::new(&found, c, places),
            found,
        })
    }

    /// The share of arrivals refused, π(K).
    pub fn p_blocked(&self) -> f64 {
        self.odds_full / (1.0 + self.odds_full)
    }

    /// The share of arrivals accepted, 1 − π(K), with all its digits.
    pub fn p_accepted(&self) -> f64 {
        1.0 / (1.0 + self.odds_full)
    }

    /// Requests served per unit of time, λ (1 − π(K)).
    pub fn throughput(&self) -> f64 {
        self.arrival_rate * self.p_accepted()
    }

    /// The probability that an accepted request waits.
    pub fn p_wait_accepted(&self) -> f64 {
        self.found.at_least(u64::from(self.servers))
    }

    /// The probability that nobody is there.
    pub fn p_empty(&self) -> f64 {
        self.found.share(0) * self.p_accepted()
    }

    /// Mean wait of accepted requests before their service.
    pub fn mean_wait_accepted(&self) -> f64 {
        let c = u64::from(self.servers);
        let departures = self.found.mean(|n| beyond(n + 1, c));
        departures / (f64::from(self.servers) * self.service_rate)
    }

    /// Mean time of accepted requests from arrival to the end of service.
    pub fn mean_sojourn_accepted(&self) -> f64 {
        self.mean_wait_accepted() + 1.0 / self.service_rate
    }

    /// P(sojourn > t) of accepted requests, t ≥ 0.
    pub fn sojourn_tail_accepted(&self, t: f64) -> f64 {
        self.sojourn.later_than(self.ticks_until(t))
    }

    /// P(sojourn ≤ t) of accepted requests, t ≥ 0. Keeps its digits where it is tiny.
    pub fn sojourn_within_accepted(&self, t: f64) -> f64 {
        self.sojourn.within(self.ticks_until(t))
    }

    /// The time by which a share `q` < 1 of accepted requests are served, by bisection.
    pub fn sojourn_quantile_accepted(&self, q: f64) -> f64 {
        let tail = 1.0 - q;
        let mut high = self.mean_sojourn_accepted();
        while self.sojourn_tail_accepted(high) > tail && high.is_finite() {
            high *= 2.0;
        }
        let mut low = 0.0;
        // Twelve digits are enough, and long queues make each look cost some microseconds.
        while high - low > 1e-12 * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.sojourn_tail_accepted(middle) > tail {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Mean number of busy servers.
    pub fn mean_busy(&self) -> f64 {
        self.throughput() / self.service_rate
    }

    /// Mean number waiting (Little's law).
    pub fn mean_queue(&self) -> f64 {
        self.throughput() * self.mean_wait_accepted()
    }

    /// Mean number waiting and in service (Little's law).
    pub fn mean_in_system(&self) -> f64 {
        self.throughput() * self.mean_sojourn_accepted()
    }

    /// The mean number of ticks up to t.
    fn ticks_until(&self, t: f64) -> f64 {
        f64::from(self.servers) * self.service_rate * t.max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::queues::{Mmc, erlang_b};
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_loss_queue_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_mmck_loss.csv") {
            let given = |key| number(&row, key).unwrap();
            let servers = row["servers"].parse().unwrap();
            let room = row["max_in_system_K"].parse().unwrap();
            let queue = Mmck::new(given("lambda_per_s"), given("mu_per_s"), servers, room).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("p_blocked", queue.p_blocked());
            expect("throughput_per_s", queue.throughput());
            expect("mean_wait_accepted_s", queue.mean_wait_accepted());
            expect("mean_sojourn_accepted_s", queue.mean_sojourn_accepted());
            expect("mean_queue", queue.mean_queue());
            expect("mean_in_system", queue.mean_in_system());
            expect("mean_busy_servers", queue.mean_busy());
            expect("p_empty", queue.p_empty());
            for (q, key) in [
                (0.5, "sojourn_p50_accepted_s"),
                (0.95, "sojourn_p95_accepted_s"),
                (0.99, "sojourn_p99_accepted_s"),
            ] {
                if number(&row, key).is_some() {
                    expect(key, queue.sojourn_quantile_accepted(q));
                }
            }
            seen += 1;
        }
        assert_eq!(seen, 12);
    }

    #[test]
    fn with_ample_room_the_law_of_the_sojourn_is_that_of_the_unlimited_queue() {
        for (arrivals, servers) in [(0.8, 1), (4.0, 5), (18.0, 20), (290.0, 300)] {
            let limited = Mmck::new(arrivals, 1.0, servers, 5_000).unwrap();
            let unlimited = Mmc::new(arrivals, 1.0, servers).unwrap();
            for t in [0.0, 0.1, 1.0, 3.0, 10.0] {
                let (tail, expected) =
                    (limited.sojourn_tail_accepted(t), unlimited.sojourn_tail(t));
                assert!((tail / expected - 1.0).abs() < 1e-9, "{tail} {expected}");
                let within = limited.sojourn_within_accepted(t);
                assert!((within + tail - 1.0).abs() < 1e-12);
            }
            let quantile = limited.sojourn_quantile_accepted(0.999);
            assert!((quantile / unlimited.sojourn_quantile(0.999) - 1.0).abs() < 1e-9);
            assert!((limited.p_wait_accepted() / unlimited.p_wait() - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn two_servers_and_one_place_by_hand() {
        // Found by the accepted at load 1: weights 1, 1, 1/2. With one departure to wait for (rate 2) and a
        // service (rate 1), P(S > t) = 2 e^(−t) − e^(−2t).
        let queue = Mmck::new(1.0, 1.0, 2, 3).unwrap();
        assert!((queue.p_wait_accepted() - 0.2).abs() < 1e-15);
        assert!((queue.p_blocked() - 0.25 / 2.75).abs() < 1e-15);
        for t in [0.0f64, 0.5, 2.0, 30.0, 700.0] {
            let expected = (-t).exp() * (0.8 + 0.2 * (2.0 - (-t).exp()));
            let tail = queue.sojourn_tail_accepted(t);
            assert!((tail / expected - 1.0).abs() < 1e-11, "{t}: {tail}");
        }
    }

    #[test]
    fn without_places_to_wait_a_sojourn_is_a_service_however_late() {
        let queue = Mmck::new(900.0, 1.0, 1_000, 1_000).unwrap();
        // Seven units of time are beyond the reach of a mean over ticks, four are not.
        for t in [1e-6f64, 4.0, 7.0, 50.0, 600.0] {
            let tail = queue.sojourn_tail_accepted(t);
            assert!((tail / (-t).exp() - 1.0).abs() < 1e-10, "{t}: {tail}");
        }
    }

    #[test]
    fn extreme_queues_stay_finite_and_agree_with_erlang_b() {
        for (load, servers) in [(1e5, 100_000), (2e4, 10_000), (1.0, 1_000_000)] {
            let queue = Mmck::new(load, 1.0, servers, u64::from(servers)).unwrap();
            let expected = erlang_b(load, servers);
            assert!((queue.p_blocked() - expected).abs() <= 1e-9 * expected);
        }
        for load in [0.0, 1e-300, 0.999_999, 1.0, 1.5, 1e300] {
            let queue = Mmck::new(load, 1.0, 1, 200_000).unwrap();
            let quantile = queue.sojourn_quantile_accepted(0.99);
            assert!(quantile > 4.6 && quantile < 210_000.0, "{quantile}");
            assert!(queue.mean_in_system() <= 200_000.1);
            assert_eq!(queue.sojourn_tail_accepted(f64::INFINITY), 0.0);
            assert_eq!(queue.sojourn_within_accepted(0.0), 0.0);
        }
    }

    #[test]
    fn senseless_and_oversized_queues_are_refused() {
        for (arrivals, service, servers, room) in [
            (-1.0, 1.0, 1, 1),
            (f64::NAN, 1.0, 1, 1),
            (1.0, 0.0, 1, 1),
            (1.0, f64::INFINITY, 1, 1),
            (1e300, 1e-300, 1, 1),
            (1.0, 1.0, 0, 1),
            (1.0, 1.0, 2, 1),
            (1.0, 1.0, 1, u64::MAX),
        ] {
            assert_eq!(Mmck::new(arrivals, service, servers, room), None);
        }
    }
}
