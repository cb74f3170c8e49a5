//! Clients that give up at any moment while they wait, and a server that knows it: the Erlang A queue.
//!
//! Some give up early and some late, which an exponential patience of rate θ describes without memory. The
//! rest is as in [`impatience`](super::impatience). Sources: Palm (1957); Garnett, Mandelbaum and Reiman (2002),
//! "Designing a call center with impatient customers", Manufacturing & Service Operations Management 4.

use super::birth_death::{Law, beyond};

/// An M/M/c queue with exponential patience.
#[derive(Clone, Debug, PartialEq)]
pub struct ErlangA {
    service_rate: f64,
    servers: u32,
    impatience: f64,
    law: Law,
}

impl ErlangA {
    /// The queue with arrival rate λ ≥ 0, rate μ > 0 of one server, c ≥ 1 servers, and rate `impatience` θ > 0
    /// at which each waiting request leaves. `None` for other arguments, and when more than 250,000 states
    /// would count.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        impatience: f64,
    ) -> Option<Self> {
        let sound = |rate: f64| rate > 0.0 && rate.is_finite();
        let arrivals = arrival_rate >= 0.0 && arrival_rate.is_finite();
        if !arrivals || !sound(service_rate) || !sound(impatience) || servers == 0 {
            return None;
        }
        let c = u64::from(servers);
        let departures = |n: u64| n.min(c) as f64 * service_rate + beyond(n, c) * impatience;
        Some(Self {
            service_rate,
            servers,
            impatience,
            law: Law::new(u64::MAX, |n| arrival_rate / departures(n))?,
        })
    }

    /// The probability that an arrival finds all servers busy, whether it is served later or not.
    pub fn p_wait(&self) -> f64 {
        self.law.at_least(u64::from(self.servers))
    }

    /// The share of arrivals that leave before their service. Each arrival that makes m wait is undone once, by
    /// somebody who leaves with probability mθ / (cμ + mθ) and by the end of a service otherwise.
    pub fn p_abandon(&self) -> f64 {
        let c = u64::from(self.servers);
        let capacity = f64::from(self.servers) * self.service_rate;
        self.law.mean(|n| {
            let leaving = self.impatience * beyond(n + 1, c);
            leaving / (capacity + leaving)
        })
    }

    /// Requests served per unit of time.
    pub fn throughput(&self) -> f64 {
        self.service_rate * self.mean_busy()
    }

    /// Mean time in the queue, of those who leave and those who are served.
    pub fn mean_time_in_queue(&self) -> f64 {
        self.p_abandon() / self.impatience
    }

    /// Mean number waiting.
    pub fn mean_queue(&self) -> f64 {
        self.law.mean(|n| beyond(n, u64::from(self.servers)))
    }

    /// Mean number of busy servers.
    pub fn mean_busy(&self) -> f64 {
        self.law.mean(|n| n.min(u64::from(self.servers)) as f64)
    }

    /// Mean number waiting and in service.
    pub fn mean_in_system(&self) -> f64 {
        self.mean_queue() + self.mean_busy()
    }

    /// The share of its time that a server is busy.
    pub fn utilisation(&self) -> f64 {
        self.mean_busy() / f64::from(self.servers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::queues::{Mmc, erlang_b};
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_exponential_patience_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_erlang_a.csv") {
            let given = |key| number(&row, key).unwrap();
            let servers = row["servers"].parse().unwrap();
            let impatience = given("abandon_rate_per_waiter_per_s");
            let queue = ErlangA::new(
                given("lambda_per_s"),
                given("mu_per_s"),
                servers,
                impatience,
            );
            let queue = queue.unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("p_wait", queue.p_wait());
            expect("p_abandon", queue.p_abandon());
            expect("throughput_per_s", queue.throughput());
            expect("mean_time_in_queue_all_s", queue.mean_time_in_queue());
            expect("mean_queue", queue.mean_queue());
            expect("mean_in_system", queue.mean_in_system());
            expect("server_utilisation", queue.utilisation());
            seen += 1;
        }
        assert_eq!(seen, 7);
    }

    #[test]
    fn endless_patience_is_a_plain_queue_and_none_at_all_is_a_loss() {
        for (arrivals, servers) in [(0.8, 1), (4.0, 5), (90.0, 100)] {
            let plain = Mmc::new(arrivals, 1.0, servers).unwrap();
            let patient = ErlangA::new(arrivals, 1.0, servers, 1e-9).unwrap();
            assert!((patient.mean_queue() / plain.mean_queue() - 1.0).abs() < 1e-6);
            let hasty = ErlangA::new(arrivals, 1.0, servers, 1e9).unwrap();
            assert!((hasty.p_abandon() / erlang_b(arrivals, servers) - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn overload_abandons_the_surplus_whatever_the_size() {
        for scale in [1e-100, 1.0, 1e100] {
            let queue = ErlangA::new(2e3 * scale, scale, 1_000, 0.1 * scale).unwrap();
            assert!((queue.p_abandon() - 0.5).abs() < 1e-9, "{queue:?}");
        }
        assert_eq!(ErlangA::new(0.0, 1.0, 1, 1.0).unwrap().p_abandon(), 0.0);
        // 10^6 wait, give or take 10^3, and only these states count; 10^15, give or take 30 million, are too many.
        assert!(ErlangA::new(1e4, 1.0, 1, 1e-2).is_some());
        assert_eq!(ErlangA::new(1e6, 1.0, 1, 1e-9), None);
    }

    #[test]
    fn senseless_patience_is_refused() {
        for (arrivals, service, servers, impatience) in [
            (-1.0, 1.0, 1, 1.0),
            (f64::NAN, 1.0, 1, 1.0),
            (f64::INFINITY, 1.0, 1, 1.0),
            (1.0, 0.0, 1, 1.0),
            (1.0, f64::INFINITY, 1, 1.0),
            (1.0, 1.0, 0, 1.0),
            (1.0, 1.0, 1, 0.0),
            (1.0, 1.0, 1, f64::NAN),
            (1.0, 1.0, 1, f64::INFINITY),
        ] {
            assert_eq!(ErlangA::new(arrivals, service, servers, impatience), None);
        }
    }
}
