//! Refused clients that come back until they are served: the retrial queue.
//!
//! Without a queue the clients themselves are the queue: refused ones wait in an *orbit* and try again. Each
//! retry that meets a full service is load that serves nobody. Arrivals are Poisson with rate λ, c servers
//! with exponential service of rate μ, no places to wait; each client in orbit returns after an exponential
//! time with rate θ, independently of the others, without limit. Source: Falin and Templeton (1997),
//! "Retrial Queues", §1.2 (one server, closed form) and §2.2 (several servers).

/// The most states (servers busy and clients in orbit) that are solved: some milliseconds.
const MOST_STATES: usize = 1 << 18;
/// The share of time beyond the last orbit that is looked at.
const NEGLIGIBLE: f64 = 1e-13;
/// Weights greater than this are scaled down.
const GREAT: f64 = 1e150;

/// A stable retrial queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Retrial {
    arrival_rate: f64,
    service_rate: f64,
    return_rate: f64,
    p_refused: f64,
    mean_orbit: f64,
}

impl Retrial {
    /// The queue with arrival rate λ > 0, rate μ > 0 of one server, c ≥ 1 servers and rate θ > 0 at which each
    /// client in orbit returns. `None` for other arguments, unless λ < cμ, and when more than 260,000 states
    /// count.
    pub fn new(
        arrival_rate: f64,
        service_rate: f64,
        servers: u32,
        return_rate: f64,
    ) -> Option<Self> {
        let sound = |rate: f64| rate > 0.0 && rate.is_finite();
        let load = arrival_rate / service_rate;
        let patience = arrival_rate / return_rate;
        let returns = return_rate / service_rate;
        let rates = [arrival_rate, service_rate, return_rate];
        let all_sound = rates
            .into_iter()
            .chain([load, patience, returns])
            .all(sound);
        if !all_sound || load >= f64::from(servers) {
            return None;
        }
        let (p_refused, mean_orbit) = match servers {
            1 => (load, load * (load + patience) / (1.0 - load)),
            _ => orbit(load, servers, returns)?,
        };
        Some(Self {
            arrival_rate,
            service_rate,
            return_rate,
            p_refused,
            mean_orbit,
        })
    }

    /// The probability that the first attempt is refused; ρ for one server.
    pub fn p_refused_at_first(&self) -> f64 {
        self.p_refused
    }

    /// Mean number of clients in orbit; ρ (ρ + λ/θ) / (1 − ρ) for one server.
    pub fn mean_orbit(&self) -> f64 {
        self.mean_orbit
    }

    /// Mean number of clients in orbit and in service.
    pub fn mean_in_system(&self) -> f64 {
        self.mean_orbit + self.arrival_rate / self.service_rate
    }

    /// Mean time from the first attempt to the start of service (Little's law).
    pub fn mean_wait(&self) -> f64 {
        self.mean_orbit / self.arrival_rate
    }

    /// Mean time from the first attempt to the end of service.
    pub fn mean_sojourn(&self) -> f64 {
        self.mean_wait() + 1.0 / self.service_rate
    }

    /// Mean attempts of a request, 1 + θ E(orbit) / λ.
    pub fn mean_attempts(&self) -> f64 {
        1.0 + self.mean_retries()
    }

    /// The share of all attempts that are refused.
    pub fn p_refused(&self) -> f64 {
        self.mean_retries() / self.mean_attempts()
    }

    fn mean_retries(&self) -> f64 {
        self.return_rate * self.mean_wait()
    }
}

/// P(all servers busy) and the mean orbit of c servers, in units of a mean service.
///
/// The orbit grows only when all servers are busy. So the states with j clients in orbit follow, up to a
/// factor, from those with j + 1, and the factor from the balance of steps between j and j + 1. The orbit is
/// cut off where its share is negligible.
fn orbit(load: f64, servers: u32, return_rate: f64) -> Option<(f64, f64)> {
    let c = servers as usize;
    let mut longest = 64;
    while (c + 1) * longest <= MOST_STATES {
        let busy = busy_by_orbit(load, c, return_rate, longest);
        // The weights span many powers of ten, so they are logarithms until the greatest is known.
        let mut weight = 0.0;
        let mut weights = vec![weight];
        for (j, busy) in (1..=longest).zip(&busy) {
            weight += (busy * load / (j as f64 * return_rate)).ln();
            weights.push(weight);
        }
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        let (mut total, mut all_busy, mut clients, mut last) = (0.0, 0.0, 0.0, 0.0);
        for (j, (busy, weight)) in busy.iter().zip(weights).enumerate() {
            let free = (weight - greatest).exp();
            last = free * (1.0 + busy);
            total += last;
            all_busy += free * busy;
            clients += j as f64 * last;
        }
        if last * longest as f64 <= NEGLIGIBLE * clients.max(total) {
            return Some((all_busy / total, clients / total));
        }
        longest *= 2;
    }
    None
}

/// With 0, 1, … `longest` clients in orbit: the time with all servers busy, relative to that with a free one.
fn busy_by_orbit(load: f64, c: usize, return_rate: f64, longest: usize) -> Vec<f64> {
    // How the time with a free server is shared by the number of busy ones; nothing lies above the last.
    let mut above = vec![0.0; c];
    let mut shares = vec![0.0; c];
    let mut pivots = vec![0.0; c];
    let mut busy = vec![0.0; longest + 1];
    for j in (0..=longest).rev() {
        let all_busy = solve(
            load,
            j as f64 * return_rate,
            &above,
            &mut pivots,
            &mut shares,
        );
        let free: f64 = shares.iter().sum();
        busy[j] = all_busy / free;
        for (above, share) in above.iter_mut().zip(&shares) {
            *above = share / free;
        }
    }
    busy
}

/// Balance of the states with i < c servers busy,
///
/// (a + i + jθ) x(i) = a x(i − 1) + (i + 1) x(i + 1) + a x(c) above(i − 1),
///
/// by elimination from i = 0 upwards; all terms are positive, so nothing cancels. Returns x(c), which is one
/// unless the others would overflow.
fn solve(load: f64, returns: f64, above: &[f64], pivots: &mut [f64], x: &mut [f64]) -> f64 {
    // After elimination: (a + excess) x(i) = (i + 1) x(i + 1) + inflow · x(c).
    let (mut excess, mut inflow) = (returns, 0.0);
    for i in 0..x.len() {
        if i > 0 {
            let before = pivots[i - 1];
            excess = returns + i as f64 * excess / before;
            inflow = load * above[i - 1] + load / before * inflow;
        }
        pivots[i] = load + excess;
        x[i] = inflow;
    }
    let (mut all_busy, mut next) = (1.0, 1.0);
    for i in (0..x.len()).rev() {
        next = (x[i] * all_busy + (i + 1) as f64 * next) / pivots[i];
        x[i] = next;
        if next > GREAT {
            all_busy /= GREAT;
            next /= GREAT;
            x[i..].iter_mut().for_each(|x| *x /= GREAT);
        }
    }
    all_busy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::queues::{Mmc, erlang_b};
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_retrial_queue_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_retrial_infinite.csv") {
            let given = |key| number(&row, key).unwrap();
            let servers = row["servers_no_queue"].parse().unwrap();
            let returns = given("retry_rate_per_orbiting_customer_per_s");
            let queue = Retrial::new(given("lambda_per_s"), given("mu_per_s"), servers, returns);
            let queue = queue.unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            expect("p_first_attempt_refused", queue.p_refused_at_first());
            expect("mean_orbit", queue.mean_orbit());
            expect("mean_orbit_plus_service", queue.mean_in_system());
            expect("mean_time_before_service_s", queue.mean_wait());
            expect("mean_total_time_s", queue.mean_sojourn());
            expect("mean_attempts", queue.mean_attempts());
            expect("p_any_attempt_refused", queue.p_refused());
            seen += 1;
        }
        assert_eq!(seen, 12);
    }

    #[test]
    fn the_chain_agrees_with_the_closed_form_for_one_server() {
        for (load, returns) in [
            (0.3, 0.5),
            (0.7, 2.0),
            (0.8, 10.0),
            (0.6, 0.01),
            (0.95, 3.0),
        ] {
            let (refused, mean) = orbit(load, 1, returns).unwrap();
            assert!((refused / load - 1.0).abs() < 1e-10, "{refused}");
            let expected = load * (load + load / returns) / (1.0 - load);
            assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
        }
    }

    #[test]
    fn hasty_clients_are_a_queue_and_slow_ones_a_poisson_stream() {
        // θ → ∞: the orbit is the queue of M/M/c.
        let queue = Mmc::new(4.0, 1.0, 5).unwrap();
        let hasty = Retrial::new(4.0, 1.0, 5, 1e7).unwrap();
        assert!((hasty.mean_orbit() / queue.mean_queue() - 1.0).abs() < 1e-5);
        assert!((hasty.p_refused_at_first() / queue.p_wait() - 1.0).abs() < 1e-5);
        // θ → 0: retries are a Poisson stream of their own, B(a x) with x = 1 / (1 − B).
        let slow = Retrial::new(2.0, 1.0, 5, 1e-3).unwrap();
        let mut blocked = 0.0;
        for _ in 0..100 {
            blocked = erlang_b(2.0 / (1.0 - blocked), 5);
        }
        assert!((slow.p_refused_at_first() / blocked - 1.0).abs() < 2e-3);
    }

    #[test]
    fn many_servers_are_solved_and_too_many_are_refused() {
        let many = Retrial::new(450.0, 1.0, 500, 2.0).unwrap();
        let queue = Mmc::new(450.0, 1.0, 500).unwrap();
        assert!(many.p_refused_at_first() < queue.p_wait());
        assert!(many.mean_attempts() > 1.0 && many.mean_orbit() < 1.0);
        let idle = Retrial::new(1e-200, 1.0, 500, 2.0).unwrap();
        assert_eq!(
            (idle.p_refused_at_first(), idle.mean_attempts()),
            (0.0, 1.0)
        );
        let rare = Retrial::new(100.0, 1.0, 500, 2.0).unwrap();
        // Hardly ever full, but who was refused makes it a little more likely.
        let ratio = rare.p_refused_at_first() / erlang_b(100.0, 500);
        assert!(ratio > 1.0 && ratio < 1.1, "{ratio}");
        for (arrivals, service, servers, returns) in [
            (1.0, 1.0, 1, 1.0),
            (0.0, 1.0, 1, 1.0),
            (0.5, 0.0, 1, 1.0),
            (0.5, 1.0, 0, 1.0),
            (0.5, 1.0, 1, 0.0),
            (0.5, 1.0, 1, f64::NAN),
            (f64::NAN, 1.0, 1, 1.0),
            (0.5, 1.0, u32::MAX, 1.0),
            (4.999_999_99, 1.0, 5, 1.0),
        ] {
            assert_eq!(Retrial::new(arrivals, service, servers, returns), None);
        }
    }
}
