//! A fixed number of clients that wait for their answer before they ask again.
//!
//! Such a closed loop slows itself down: the more requests wait, the fewer clients are left to send. There are
//! N clients, each idle for an exponential time with rate ν before it sends its next request, and c servers
//! with exponential service of rate μ. A request finds the law of the loop with one client less (Sevcik and
//! Mitrani, 1981). Sources: Engset (1918); Gross, Shortle, Thompson and Harris, "Fundamentals of Queueing
//! Theory", 4th edition, §2.8.

use super::birth_death::{Law, beyond};

/// Clients, servers and an unlimited queue between them (the machine repair model).
#[derive(Clone, Debug, PartialEq)]
pub struct FiniteSource {
    service_rate: f64,
    servers: u64,
    law: Law,
    /// What a request finds.
    found: Law,
}

impl FiniteSource {
    /// N ≥ 1 `clients` with rate ν > 0 while idle, rate μ > 0 of one server and c ≥ 1 servers. `None` for
    /// other arguments, and when more than 250,000 states would count.
    pub fn new(clients: u64, think_rate: f64, service_rate: f64, servers: u32) -> Option<Self> {
        let load = sound_load(clients, think_rate, service_rate, servers)?;
        let servers = u64::from(servers);
        let law = |clients: u64| {
            let busy = |n: u64| n.min(servers) as f64;
            Law::new(clients, |n| load * beyond(clients, n - 1) / busy(n))
        };
        Some(Self {
            service_rate,
            servers,
            law: law(clients)?,
            found: law(clients - 1)?,
        })
    }

    /// Requests served per unit of time.
    pub fn throughput(&self) -> f64 {
        self.service_rate * self.law.mean(|n| n.min(self.servers) as f64)
    }

    /// The share of its time that a server is busy.
    pub fn utilisation(&self) -> f64 {
        self.throughput() / self.capacity()
    }

    /// The probability that a request waits.
    pub fn p_wait(&self) -> f64 {
        self.found.at_least(self.servers)
    }

    /// Mean wait of a request before its service.
    pub fn mean_wait(&self) -> f64 {
        self.found.mean(|n| beyond(n + 1, self.servers)) / self.capacity()
    }

    /// Mean time of a request from arrival to the end of service.
    pub fn mean_sojourn(&self) -> f64 {
        self.mean_wait() + 1.0 / self.service_rate
    }

    /// Mean number waiting.
    pub fn mean_queue(&self) -> f64 {
        self.law.mean(|n| beyond(n, self.servers))
    }

    /// Mean number waiting and in service.
    pub fn mean_in_system(&self) -> f64 {
        self.law.mean(|n| n as f64)
    }

    /// The probability that all clients are idle.
    pub fn p_empty(&self) -> f64 {
        self.law.share(0)
    }

    fn capacity(&self) -> f64 {
        self.service_rate * self.servers as f64
    }
}

/// Clients and servers without a queue: who finds all servers busy goes idle again, without a retry.
#[derive(Clone, Debug, PartialEq)]
pub struct Engset {
    think_rate: f64,
    service_rate: f64,
    clients: u64,
    servers: u64,
    law: Law,
    /// What an attempt finds.
    found: Law,
}

impl Engset {
    /// N ≥ 1 `clients` with rate ν > 0 while idle, rate μ > 0 of one server and c ≥ 1 servers. `None` for
    /// other arguments, and when more than 250,000 states would count.
    pub fn new(clients: u64, think_rate: f64, service_rate: f64, servers: u32) -> Option<Self> {
        let load = sound_load(clients, think_rate, service_rate, servers)?;
        let servers = u64::from(servers);
        let law = |clients: u64| {
            let ratio = |n: u64| load * beyond(clients, n - 1) / n as f64;
            Law::new(clients.min(servers), ratio)
        };
        Some(Self {
            think_rate,
            service_rate,
            clients,
            servers,
            law: law(clients)?,
            found: law(clients - 1)?,
        })
    }

    /// The share of time that all servers are busy.
    pub fn p_all_busy(&self) -> f64 {
        self.law.share(self.servers)
    }

    /// The share of attempts that find all servers busy: less than the share of time, because a busy client
    /// sends nothing.
    pub fn p_blocked(&self) -> f64 {
        self.found.share(self.servers)
    }

    /// Attempts per unit of time, blocked or not.
    pub fn attempt_rate(&self) -> f64 {
        self.think_rate * self.law.mean(|n| beyond(self.clients, n))
    }

    /// Requests served per unit of time.
    pub fn throughput(&self) -> f64 {
        self.service_rate * self.mean_busy()
    }

    /// Mean number of busy servers.
    pub fn mean_busy(&self) -> f64 {
        self.law.mean(|n| n as f64)
    }
}

/// ν/μ, if the arguments make sense.
fn sound_load(clients: u64, think_rate: f64, service_rate: f64, servers: u32) -> Option<f64> {
    let load = think_rate / service_rate;
    let sound = think_rate > 0.0 && service_rate > 0.0 && load.is_finite() && load > 0.0;
    (sound && clients > 0 && servers > 0).then_some(load)
}

/// Requests per unit of time of `clients` that never meet: each pauses, makes its attempts one after the
/// other, each of which takes `latency`, and backs off between them. N / (Z + E(A) L + E(D)), by the renewal
/// reward theorem (Ross, "Introduction to Probability Models", §7.4); only means matter. `None` when a round
/// takes no time or a negative one.
pub fn renewal_rate(
    clients: u64,
    mean_think: f64,
    mean_attempts: f64,
    latency: f64,
    mean_backoff: f64,
) -> Option<f64> {
    let round = mean_think + mean_attempts * latency + mean_backoff;
    (round > 0.0).then(|| clients as f64 / round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{Row, close, number, rows};
    use crate::theory::retries;

    #[test]
    fn every_reference_closed_loop_with_a_queue_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_closed_finite_source.csv") {
            let given = |key| number(&row, key).unwrap();
            let whole = |key: &str| row[key].parse().unwrap();
            let think = given("request_rate_when_idle_per_s");
            let servers = row["servers"].parse().unwrap();
            let queue = FiniteSource::new(whole("sources"), think, given("mu_per_s"), servers);
            let queue = queue.unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("throughput_per_s", queue.throughput());
            expect("server_utilisation", queue.utilisation());
            expect("mean_wait_s", queue.mean_wait());
            expect("mean_response_s", queue.mean_sojourn());
            expect("mean_queue", queue.mean_queue());
            expect("mean_in_system", queue.mean_in_system());
            expect("p_wait_seen_by_arrival", queue.p_wait());
            expect("p_empty", queue.p_empty());
            seen += 1;
        }
        assert_eq!(seen, 6);
    }

    #[test]
    fn every_reference_closed_loop_without_a_queue_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_engset_loss.csv") {
            let given = |key| number(&row, key).unwrap();
            let clients = row["sources"].parse().unwrap();
            let servers = row["servers_no_queue"].parse().unwrap();
            let think = given("request_rate_when_idle_per_s");
            let loss = Engset::new(clients, think, given("mu_per_s"), servers).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("p_all_busy_time_average", loss.p_all_busy());
            expect("p_blocked_seen_by_arrival", loss.p_blocked());
            expect("attempt_rate_per_s", loss.attempt_rate());
            expect("throughput_per_s", loss.throughput());
            expect("mean_busy", loss.mean_busy());
            seen += 1;
        }
        assert_eq!(seen, 5);
    }

    /// The mean delay before each retry, from the conventions of the reference file.
    fn delays(row: &Row) -> Vec<(f64, f64)> {
        let given = |key| number(row, key).unwrap();
        let doubled = |i: i32| given("cap_s").min(given("base_s") * 2f64.powi(i));
        let retries = row["attempts_k"].parse::<i32>().unwrap() - 1;
        assert_eq!(given("jitter_fraction"), 0.0);
        let mean = |i| match row["backoff"].as_str() {
            "none" => 0.0,
            "fixed" => given("base_s"),
            "exponential" => doubled(i),
            "full" => doubled(i) / 2.0,
            "equal" => doubled(i) * 0.75,
            other => panic!("{other}"),
        };
        (0..retries).map(|i| (mean(i), 0.0)).collect()
    }

    #[test]
    fn every_reference_loop_of_independent_clients_is_reproduced() {
        let mut seen = 0;
        for row in rows("02_closed_loop_rate.csv") {
            let given = |key| number(&row, key).unwrap();
            let (p, k) = (given("p_fail"), row["attempts_k"].parse().unwrap());
            let clients = row["clients"].parse().unwrap();
            let attempts = retries::mean_attempts(p, k);
            let backoff = retries::total_backoff(p, &delays(&row)).mean;
            let (think, latency) = (given("mean_think_time_s"), given("attempt_latency_s"));
            let rate = renewal_rate(clients, think, attempts, latency, backoff).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            expect("mean_attempts", attempts);
            expect("mean_backoff_per_request_s", backoff);
            expect("mean_cycle_s", clients as f64 / rate);
            expect("request_rate_per_s", rate);
            expect("attempt_rate_per_s", rate * attempts);
            expect("success_rate_per_s", rate * retries::success(p, k));
            expect("mean_request_duration_s", clients as f64 / rate - think);
            seen += 1;
        }
        assert_eq!(seen, 6);
        assert_eq!(renewal_rate(1, 0.0, 1.0, 0.0, 0.0), None);
        assert_eq!(renewal_rate(1, f64::NAN, 1.0, 1.0, 0.0), None);
    }

    #[test]
    fn what_a_request_finds_agrees_with_littles_law() {
        for clients in [1, 3, 100, 100_000] {
            for (think, servers) in [(1e-3, 1), (0.2, 7), (5.0, 30)] {
                let queue = FiniteSource::new(clients, think, 1.0, servers).unwrap();
                let rate = queue.throughput();
                // N = X (1/ν + R), and L = X R.
                let round = 1.0 / think + queue.mean_sojourn();
                assert!((rate * round / clients as f64 - 1.0).abs() < 1e-9);
                let within = rate * queue.mean_sojourn();
                assert!((within / queue.mean_in_system() - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn countless_clients_are_a_poisson_stream_and_senseless_ones_are_refused() {
        let many = 1_000_000_000_000;
        let loss = Engset::new(many, 10.0 / many as f64, 1.0, 10).unwrap();
        let expected = crate::theory::queues::erlang_b(10.0, 10);
        assert!((loss.p_blocked() / expected - 1.0).abs() < 1e-9);
        let crowd = FiniteSource::new(u64::MAX, 1.0, 1.0, 1).unwrap();
        assert!((crowd.throughput() - 1.0).abs() < 1e-12 && crowd.mean_in_system() > 1e19);
        let few = Engset::new(2, 1.0, 1.0, 3).unwrap();
        assert_eq!((few.p_all_busy(), few.p_blocked()), (0.0, 0.0));
        for (clients, think, service, servers) in [
            (0, 1.0, 1.0, 1),
            (1, 0.0, 1.0, 1),
            (1, 1.0, 0.0, 1),
            (1, 1.0, f64::INFINITY, 1),
            (1, f64::NAN, 1.0, 1),
            (1, 1.0, 1.0, 0),
        ] {
            assert_eq!(FiniteSource::new(clients, think, service, servers), None);
            assert_eq!(Engset::new(clients, think, service, servers), None);
        }
    }
}
