//! Waiting in front of c equal servers: Erlang B, Erlang C and the M/M/c queue.
//!
//! Arrivals are Poisson with rate λ, service is exponential with rate μ per server, the offered load is
//! a = λ/μ. Sources: A. K. Erlang (1917); Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing
//! Theory", 4th edition, §2.2 to §2.5; the recursion for Erlang B in Cooper, "Introduction to Queueing
//! Theory", §3.3.

use statrs::function::gamma::ln_gamma;

/// Erlang B: the share of arrivals lost when `servers` servers with offered load `load` ≥ 0 have no room to
/// wait. One step per server and no overflow: B(n) = a B(n−1) / (n + a B(n−1)), B(0) = 1.
pub fn erlang_b(load: f64, servers: u32) -> f64 {
    (1..=servers).fold(1.0, |blocked, n| {
        let offered = load * blocked;
        offered / (f64::from(n) + offered)
    })
}

/// Erlang C: the probability to wait when there is unlimited room: B / (1 − ρ (1 − B)). One when the load
/// reaches the number of servers.
pub fn erlang_c(load: f64, servers: u32) -> f64 {
    let utilisation = load / f64::from(servers);
    if utilisation >= 1.0 {
        return 1.0;
    }
    let blocked = erlang_b(load, servers);
    blocked / (1.0 - utilisation * (1.0 - blocked))
}

/// The time in which a queue of this utilisation ρ and capacity μ (all servers together) forgets how it started:
/// 1 / (μ (1 − √ρ)²), infinite from ρ = 1 on.
///
/// Source: Cohen, "The Single Server Queue", §III.7: the slowest mode of M/M/1. It is used for c servers as for one
/// fast one.
pub fn relaxation_time(utilisation: f64, capacity: f64) -> f64 {
    let slack = 1.0 - utilisation.min(1.0).sqrt();
    1.0 / (capacity * slack * slack)
}

/// A stable M/M/c queue, served in order of arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mmc {
    arrival_rate: f64,
    service_rate: f64,
    servers: u32,
    p_wait: f64,
}

impl Mmc {
    /// The queue with arrival rate λ, service rate μ of one server and c servers. `None` unless
    /// 0 ≤ λ < c μ, because a queue without slack has no steady state.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32) -> Option<Self> {
        let capacity = f64::from(servers) * service_rate;
        let stable = arrival_rate >= 0.0 && arrival_rate < capacity && capacity.is_finite();
        stable.then(|| Self {
            arrival_rate,
            service_rate,
            servers,
            p_wait: erlang_c(arrival_rate / service_rate, servers),
        })
    }

    /// λ / (c μ).
    pub fn utilisation(&self) -> f64 {
        self.load() / f64::from(self.servers)
    }

    /// The probability that an arrival waits (Erlang C).
    pub fn p_wait(&self) -> f64 {
        self.p_wait
    }

    /// The probability that nobody is there: C (1 − ρ) c! / a^c.
    pub fn p_empty(&self) -> f64 {
        if self.arrival_rate == 0.0 {
            return 1.0;
        }
        let c = f64::from(self.servers);
        let logarithm = ln_gamma(c + 1.0) - c * self.load().ln();
        self.p_wait * (1.0 - self.utilisation()) * logarithm.exp()
    }

    /// Mean wait before service, C / (cμ − λ).
    pub fn mean_wait(&self) -> f64 {
        self.p_wait / self.slack()
    }

    /// Standard deviation of the wait: variance C (2 − C) / (cμ − λ)².
    pub fn sd_wait(&self) -> f64 {
        (self.p_wait * (2.0 - self.p_wait)).sqrt() / self.slack()
    }

    /// The time that a share `q` < 1 of arrivals do not wait longer than: max(0, ln(C / (1 − q)) / (cμ − λ)).
    pub fn wait_quantile(&self, q: f64) -> f64 {
        (self.p_wait.ln() - (-q).ln_1p()).max(0.0) / self.slack()
    }

    /// Mean time from arrival to the end of service.
    pub fn mean_sojourn(&self) -> f64 {
        self.mean_wait() + 1.0 / self.service_rate
    }

    /// Standard deviation of that time; wait and service are independent.
    pub fn sd_sojourn(&self) -> f64 {
        self.sd_wait().hypot(1.0 / self.service_rate)
    }

    /// P(sojourn > t): (1 − C) e^(−μt) plus, with probability C, an exponential wait and a service.
    pub fn sojourn_tail(&self, t: f64) -> f64 {
        let service = (-self.service_rate * t).exp();
        // x = c − 1 − a; the wait ends at rate μ (x + 1).
        let x = f64::from(self.servers) - 1.0 - self.load();
        let spread = self.service_rate * t * x;
        let waiting = if spread.abs() < 1e-8 {
            service * self.service_rate * t * (1.0 - 0.5 * spread)
        } else if spread.abs() < 1.0 {
            service * -(-spread).exp_m1() / x
        } else {
            (service - (-self.slack() * t).exp()) / x
        };
        service + self.p_wait * waiting
    }

    /// The time by which a share `q` < 1 of arrivals are served, by bisection of [`Mmc::sojourn_tail`].
    pub fn sojourn_quantile(&self, q: f64) -> f64 {
        let tail = 1.0 - q;
        let mut high = self.mean_sojourn();
        while self.sojourn_tail(high) > tail && high.is_finite() {
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if self.sojourn_tail(middle) > tail {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Mean number waiting (Little's law).
    pub fn mean_queue(&self) -> f64 {
        self.arrival_rate * self.mean_wait()
    }

    /// Mean number waiting and in service (Little's law).
    pub fn mean_in_system(&self) -> f64 {
        self.arrival_rate * self.mean_sojourn()
    }

    fn load(&self) -> f64 {
        self.arrival_rate / self.service_rate
    }

    fn slack(&self) -> f64 {
        f64::from(self.servers) * self.service_rate - self.arrival_rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_queue_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_mmc.csv") {
            let given = |key| number(&row, key).unwrap();
            let servers = row["servers"].parse().unwrap();
            let queue = Mmc::new(given("lambda_per_s"), given("mu_per_s"), servers).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("utilisation", queue.utilisation());
            expect("p_wait_erlang_c", queue.p_wait());
            expect("mean_wait_s", queue.mean_wait());
            expect("mean_sojourn_s", queue.mean_sojourn());
            expect("mean_queue", queue.mean_queue());
            expect("mean_in_system", queue.mean_in_system());
            expect("sd_wait_s", queue.sd_wait());
            expect("sd_sojourn_s", queue.sd_sojourn());
            expect("sojourn_p50_s", queue.sojourn_quantile(0.5));
            expect("sojourn_p90_s", queue.sojourn_quantile(0.9));
            expect("sojourn_p95_s", queue.sojourn_quantile(0.95));
            expect("sojourn_p99_s", queue.sojourn_quantile(0.99));
            expect("sojourn_p999_s", queue.sojourn_quantile(0.999));
            expect("wait_p50_s", queue.wait_quantile(0.5));
            expect("wait_p90_s", queue.wait_quantile(0.9));
            expect("wait_p99_s", queue.wait_quantile(0.99));
            expect("p_empty", queue.p_empty());
            seen += 1;
        }
        assert_eq!(seen, 10);
    }

    #[test]
    fn a_hundred_thousand_servers_neither_overflow_nor_underflow() {
        let servers = 100_000;
        let queue = Mmc::new(99_900.0, 1.0, servers).unwrap();
        // Halfin and Whitt (1981): C → 1 / (1 + β Φ(β)/φ(β)) with β = (1 − ρ) √c = 0.3162.
        let beta = 1e-3 * f64::from(servers).sqrt();
        let below = 0.624_086;
        let density = (-0.5 * beta * beta).exp() / (2.0 * std::f64::consts::PI).sqrt();
        let limit = 1.0 / (1.0 + beta * below / density);
        assert!((queue.p_wait() - limit).abs() < 2e-3, "{}", queue.p_wait());
        assert!(queue.sojourn_quantile(0.999).is_finite());
        assert!((0.0..1e-300).contains(&queue.p_empty()));
        assert!(erlang_b(1e6, servers) > 0.89 && erlang_b(1.0, servers) == 0.0);
    }

    #[test]
    fn a_queue_without_slack_is_refused_and_an_unused_one_is_empty() {
        assert_eq!(Mmc::new(2.0, 1.0, 2), None);
        assert_eq!(Mmc::new(1.0, 1.0, 0), None);
        assert_eq!(Mmc::new(f64::NAN, 1.0, 2), None);
        assert_eq!(erlang_c(5.0, 3), 1.0);
        let unused = Mmc::new(0.0, 2.0, 3).unwrap();
        assert_eq!((unused.p_wait(), unused.p_empty()), (0.0, 1.0));
        assert_eq!(
            (unused.wait_quantile(0.99), unused.mean_sojourn()),
            (0.0, 0.5)
        );
    }

    #[test]
    fn the_tail_is_continuous_where_its_formula_divides_by_zero() {
        // c − 1 − a passes through zero at λ = 4.
        let tail = |arrivals| Mmc::new(arrivals, 1.0, 5).unwrap().sojourn_tail(3.0);
        assert!((tail(4.0) - tail(4.0 + 1e-10)).abs() < 1e-9);
        assert!((tail(4.0) - tail(4.0 - 1e-7)).abs() < 1e-6);
        assert!((tail(4.0) - tail(4.0 + 1e-7)).abs() < 1e-6);
    }
}
