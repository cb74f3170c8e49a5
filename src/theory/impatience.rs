//! Clients that give up while they wait, and a server that knows it.
//!
//! Those who leave make room for those who stay, so a queue with impatience is stable under any load: it
//! pays with abandoned requests instead of endless waits. Arrivals are Poisson with rate λ, c servers with
//! exponential service of rate μ, unlimited room, order of arrival; who waits longer than a patience leaves the
//! queue, and a service that has begun is completed. When the server does not notice that a client left,
//! nothing is saved: that is [`unaware`](super::unaware). Patience of exponential length is
//! [`erlang_a`](super::erlang_a).

use super::queues::erlang_b;

/// A fixed patience T for the wait alone: the M/M/c + D queue.
///
/// The density of the wait that an arrival would have to endure is proportional to e^(−(cμ − λ) x) up to T
/// and to e^(λT − cμx) beyond, where nobody joins any more. Source: Barrer (1957), "Queuing with impatient
/// customers and ordered service", Operations Research 5.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPatience {
    arrival_rate: f64,
    patience: f64,
    p_wait: f64,
    p_timeout: f64,
    p_served: f64,
    /// E(wait; served).
    waited: f64,
}

/// The most servers, for each of which Erlang B takes a step.
const MOST_SERVERS: u32 = 1_000_000;

impl FixedPatience {
    /// The queue with arrival rate λ ≥ 0, rate μ > 0 of one server, 1 ≤ c ≤ 10^6 servers and patience T ≥ 0.
    /// `None` for other arguments.
    pub fn new(arrival_rate: f64, service_rate: f64, servers: u32, patience: f64) -> Option<Self> {
        let sound = arrival_rate >= 0.0 && service_rate > 0.0 && patience >= 0.0;
        let capacity = f64::from(servers) * service_rate;
        let (load, ticks) = (arrival_rate / service_rate, capacity * patience);
        let finite = load.is_finite() && ticks.is_finite() && (arrival_rate * patience).is_finite();
        if !sound || !finite || servers == 0 || servers > MOST_SERVERS {
            return None;
        }
        // In units of the patience; the greatest weight is one, so nothing overflows.
        let drift = (capacity - arrival_rate) * patience;
        let (area, moment, at_end) = below_patience(drift);
        // Relative to the density of the wait at zero, which is λ times the chance of c − 1 busy servers.
        let free = drift.min(0.0).exp();
        let joins = arrival_rate * erlang_b(load, servers - 1);
        let (in_time, late) = (joins * patience * area, joins * at_end / capacity);
        let total = free + in_time + late;
        Some(Self {
            arrival_rate,
            patience,
            p_wait: (in_time + late) / total,
            p_timeout: late / total,
            p_served: (free + in_time) / total,
            waited: in_time / total * (moment / area) * patience,
        })
    }

    /// The probability that an arrival finds all servers busy, whether it is served later or not.
    pub fn p_wait(&self) -> f64 {
        self.p_wait
    }

    /// The share of arrivals whose patience ends before their service begins.
    pub fn p_timeout(&self) -> f64 {
        self.p_timeout
    }

    /// Requests served per unit of time.
    pub fn throughput(&self) -> f64 {
        self.arrival_rate * self.p_served
    }

    /// Mean wait of those who are served, those who need not wait included.
    pub fn mean_wait_served(&self) -> f64 {
        self.waited / self.p_served
    }

    /// Mean time in the queue, of those who leave (T) and those who are served.
    pub fn mean_time_in_queue(&self) -> f64 {
        self.waited + self.patience * self.p_timeout
    }
}

/// ∫ e^(−zx) dx and ∫ x e^(−zx) dx over 0 ≤ x ≤ 1, and e^(−z); all three times e^z where z is negative.
fn below_patience(z: f64) -> (f64, f64, f64) {
    let size = z.abs();
    let decay = (-size).exp();
    let (area, moment) = if size < 1.0 {
        // Σ (−z)^i / (i! (i + 1)) and Σ (−z)^i / (i! (i + 2)); twenty terms leave nothing.
        let mut term = 1.0;
        let (mut area, mut moment) = (0.0, 0.0);
        for i in 0..20 {
            let i = f64::from(i);
            area += term / (i + 1.0);
            moment += term / (i + 2.0);
            term *= -size / (i + 1.0);
        }
        (area, moment)
    } else {
        let area = (1.0 - decay) / size;
        (area, (area - decay) / size)
    };
    if z < 0.0 {
        // Seen from the other end.
        (area, area - moment, 1.0)
    } else {
        (area, moment, decay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::queues::Mmc;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_fixed_patience_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_patience_fixed.csv") {
            let given = |key| number(&row, key).unwrap();
            let servers = row["servers"].parse().unwrap();
            let patience = given("queue_timeout_s");
            let queue =
                FixedPatience::new(given("lambda_per_s"), given("mu_per_s"), servers, patience);
            let queue = queue.unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("p_wait_or_timeout", queue.p_wait());
            expect("p_timeout", queue.p_timeout());
            expect("throughput_per_s", queue.throughput());
            // The last reference row is 2·10^−8 off: with λ = 2 cμ the mean is T − 1/(λ − cμ) up to e^−100.
            let expect = |key, value| close(value, number(&row, key), 3e-8, &row);
            expect("mean_wait_served_s", queue.mean_wait_served());
            expect("mean_time_in_queue_all_s", queue.mean_time_in_queue());
            seen += 1;
        }
        assert_eq!(seen, 6);
    }

    #[test]
    fn patience_that_never_ends_is_a_plain_queue_and_none_at_all_is_a_loss() {
        for (arrivals, servers) in [(0.8, 1), (4.0, 5), (90.0, 100)] {
            let plain = Mmc::new(arrivals, 1.0, servers).unwrap();
            let patient = FixedPatience::new(arrivals, 1.0, servers, 500.0).unwrap();
            assert!((patient.p_wait() / plain.p_wait() - 1.0).abs() < 1e-9);
            assert!((patient.mean_wait_served() / plain.mean_wait() - 1.0).abs() < 1e-9);
            let hasty = FixedPatience::new(arrivals, 1.0, servers, 0.0).unwrap();
            let lost = erlang_b(arrivals, servers);
            assert!((hasty.p_timeout() / lost - 1.0).abs() < 1e-12);
            assert_eq!(
                (hasty.p_wait(), hasty.mean_time_in_queue()),
                (hasty.p_timeout(), 0.0)
            );
        }
    }

    #[test]
    fn integrals_agree_where_series_and_closed_form_meet() {
        for (inside, outside) in [(0.999_999_9, 1.000_000_1), (-0.999_999_9, -1.000_000_1)] {
            let (a, b) = (below_patience(inside), below_patience(outside));
            assert!((a.0 - b.0).abs() < 1e-6 && (a.1 - b.1).abs() < 1e-6);
        }
        assert_eq!(below_patience(0.0), (1.0, 0.5, 1.0));
        // ∫ e^(−2x) = (1 − e^−2) / 2 and ∫ x e^(−2x) = (1 − 3 e^−2) / 4; ∫ x e^(2x) = (e² + 1) / 4.
        let (area, moment, _) = below_patience(2.0);
        let decay = (-2.0f64).exp();
        assert!((area - 0.5 * (1.0 - decay)).abs() < 1e-15);
        assert!((moment - 0.25 * (1.0 - 3.0 * decay)).abs() < 1e-15);
        assert!((below_patience(-2.0).1 - 0.25 * (1.0 + decay)).abs() < 1e-15);
    }

    #[test]
    fn overload_abandons_the_surplus_whatever_the_size() {
        for scale in [1e-100, 1.0, 1e100] {
            let queue = FixedPatience::new(2e3 * scale, scale, 1_000, 50.0 / scale).unwrap();
            assert!((queue.p_timeout() - 0.5).abs() < 1e-9, "{queue:?}");
            assert!((queue.throughput() / (1e3 * scale) - 1.0).abs() < 1e-9);
            // T − 1/(λ − cμ).
            assert!((queue.mean_wait_served() * scale - 49.999).abs() < 1e-9);
        }
        let light = FixedPatience::new(1.0, 1.0, 1_000_000, 1.0).unwrap();
        assert_eq!((light.p_wait(), light.mean_wait_served()), (0.0, 0.0));
    }

    #[test]
    fn senseless_patience_is_refused() {
        for (arrivals, service, servers, last) in [
            (-1.0, 1.0, 1, 1.0),
            (f64::NAN, 1.0, 1, 1.0),
            (f64::INFINITY, 1.0, 1, 1.0),
            (1.0, 0.0, 1, 1.0),
            (1.0, f64::INFINITY, 1, 1.0),
            (1.0, 1.0, 0, 1.0),
            (1.0, 1.0, 1, -1.0),
            (1.0, 1.0, 1, f64::NAN),
            (1.0, 1.0, 1, f64::INFINITY),
        ] {
            assert_eq!(FixedPatience::new(arrivals, service, servers, last), None);
        }
        assert_eq!(FixedPatience::new(1.0, 1.0, u32::MAX, 1.0), None);
    }
}
