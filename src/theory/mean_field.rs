//! Why the same load can be harmless for weeks and fatal after a hiccup.
//!
//! Attempts that time out are repeated, and repeated attempts make others time out. At some loads this
//! feeds on itself: a light load stays light and a heavy one stays heavy, at the same rate of requests. If
//! retries are taken for a Poisson stream of their own, each such state solves one equation. Source: the idea
//! is that of fixed points for blocking in networks, Kelly (1986), "Blocking probabilities in large circuit-
//! switched networks", Advances in Applied Probability 18; the queue is that of [`unaware`](super::unaware).

use super::poisson::reach;
use super::unaware::unaware_timeout_success;

/// The most loads to look at in search of fixed points.
const MOST_LOADS: u32 = 1_000;
/// The most services within a timeout, of which each look takes account.
const MOST_SERVICES: f64 = 1e5;

/// A load that reproduces itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPoint {
    /// Attempts offered per unit of time, x.
    pub offered: f64,
    /// The probability that an attempt succeeds.
    pub p_attempt: f64,
    /// The probability that one of the attempts of a request succeeds.
    pub p_request: f64,
    /// Whether the load returns here after a small disturbance.
    pub stable: bool,
}

/// The loads x = λ (1 − f(x)^k) / (1 − f(x)) of a server that never learns of a timeout, ascending; f(x) is
/// the failure probability of [`unaware_timeout_success`] at load x. More than one stable load means that a
/// service can be pushed from good to bad, and stays there.
///
/// A mean-field *approximation*: retries are taken for a Poisson stream of their own, which needs long random
/// backoff. Arguments as there, with λ > 0 and k ≥ 1; unlimited room is allowed at any load, an overloaded
/// queue then answers nobody in time. Pairs of fixed points closer together than about a hundredth may be
/// overlooked (a tenth, where thousands of services fit into the timeout). Empty for other arguments, and when
/// more than 100,000 services fit into the timeout and into the room.
pub fn fixed_points(
    arrival_rate: f64,
    service_rate: f64,
    room: Option<u64>,
    timeout: f64,
    attempts: u64,
) -> Vec<FixedPoint> {
    let loop_of = Loop {
        arrival_rate,
        service_rate,
        room,
        timeout,
        attempts,
    };
    let greatest = attempts as f64 * arrival_rate;
    let sound = arrival_rate > 0.0 && attempts > 0 && greatest.is_finite();
    let Some(steps) = loop_of.steps() else {
        return Vec::new();
    };
    if !sound || loop_of.returned(greatest).is_none() {
        return Vec::new();
    }
    let load =
        |step: u32| arrival_rate * (attempts as f64).powf(f64::from(step) / f64::from(steps));
    let mut points = Vec::new();
    let (mut low, mut rising) = (arrival_rate, true);
    for step in 1..=steps {
        let high = load(step);
        // At the greatest load at most that much comes back, whatever the rounding.
        let rises = step < steps && loop_of.rises(high);
        if rises != rising {
            points.push(loop_of.point(low, high, rising));
        }
        (low, rising) = (high, rises);
    }
    points
}

struct Loop {
    arrival_rate: f64,
    service_rate: f64,
    room: Option<u64>,
    timeout: f64,
    attempts: u64,
}

impl Loop {
    /// The success of an attempt at load x.
    fn p_attempt(&self, x: f64) -> Option<f64> {
        let drowned = self.room.is_none() && x >= self.service_rate && self.timeout >= 0.0;
        if drowned && self.service_rate > 0.0 {
            return Some(0.0);
        }
        unaware_timeout_success(x, self.service_rate, self.room, self.timeout)
    }

    /// Attempts that load x leads to, λ (1 − f^k) / (1 − f).
    fn returned(&self, x: f64) -> Option<f64> {
        let p = self.p_attempt(x)?;
        let attempts = if p == 0.0 {
            self.attempts as f64
        } else {
            self.p_request(p) / p
        };
        Some(self.arrival_rate * attempts)
    }

    /// 1 − (1 − p)^k, accurate for small p.
    fn p_request(&self, p: f64) -> f64 {
        0.0 - (self.attempts as f64 * (-p).ln_1p()).exp_m1()
    }

    /// Whether load x leads to more than x.
    fn rises(&self, x: f64) -> bool {
        self.returned(x).is_some_and(|returned| returned > x)
    }

    /// How many loads to look at, so that all together take some milliseconds. `None` when one takes too long.
    fn steps(&self) -> Option<u32> {
        let services = self.service_rate * self.timeout;
        let at_a_glance = |room: u64| services - reach(services) > room as f64 + 1.0;
        if services.is_infinite() || self.room.is_none_or(at_a_glance) {
            return Some(MOST_LOADS);
        }
        let steps = 4_000.0 / (1.0 + services.sqrt());
        // Between 40 and 1000, so it fits.
        (services <= MOST_SERVICES).then(|| steps.clamp(40.0, f64::from(MOST_LOADS)) as u32)
    }

    /// The fixed point between two loads, by bisection.
    fn point(&self, mut low: f64, mut high: f64, stable: bool) -> FixedPoint {
        while high - low > 1e-13 * high {
            let middle = 0.5 * (low + high);
            if self.rises(middle) == stable {
                low = middle;
            } else {
                high = middle;
            }
        }
        let p_attempt = self.p_attempt(high).unwrap_or(0.0);
        FixedPoint {
            offered: high,
            p_attempt,
            p_request: self.p_request(p_attempt),
            stable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};
    use crate::theory::stability::Amplifier;

    #[test]
    fn every_reference_fixed_point_is_reproduced() {
        let mut seen = 0;
        for row in rows("04_meanfield_fixed_points.csv") {
            let given = |key| number(&row, key).unwrap();
            let whole = |key: &str| row[key].parse::<usize>().unwrap();
            let arrivals = given("lambda_per_s");
            let points = fixed_points(
                arrivals,
                given("mu_per_s"),
                Some(whole("max_in_system_K") as u64),
                given("client_timeout_s"),
                whole("attempts_k") as u64,
            );
            assert_eq!(points.len(), whole("fixed_points"), "{row:?}");
            let point = points[whole("index") - 1];
            assert_eq!(point.stable, row["stability"] == "stable", "{row:?}");
            let expect = |key, value| close(value, number(&row, key), 1e-6, &row);
            expect("offered_attempt_rate_per_s", point.offered);
            expect("p_attempt_success", point.p_attempt);
            expect("p_request_success", point.p_request);
            expect("amplification", point.offered / arrivals);
            seen += 1;
        }
        assert_eq!(seen, 17);
    }

    #[test]
    fn hidden_capacity_tells_where_an_unlimited_queue_may_collapse() {
        let collapsed = |arrivals: f64, k| {
            let points = fixed_points(arrivals, 1.0, None, 50.0, k);
            let last = points.last().unwrap();
            (last.stable && last.p_attempt == 0.0).then_some(last.offered)
        };
        for k in [2, 3, 10] {
            let hidden = Amplifier::new(k, None, 1).unwrap().hidden_capacity(1.0);
            assert_eq!(collapsed(0.9 * hidden, k), None);
            let offered = collapsed(1.2 * hidden, k).unwrap();
            assert!((offered - 1.2).abs() < 1e-9);
        }
    }

    #[test]
    fn loads_without_retries_or_without_choice_have_one_fixed_point() {
        let once = fixed_points(0.7, 1.0, Some(20), 5.0, 1);
        assert_eq!(once.len(), 1);
        assert!((once[0].offered - 0.7).abs() < 1e-12 && once[0].stable);
        assert!((once[0].p_attempt / once[0].p_request - 1.0).abs() < 1e-12);
        let generous = fixed_points(0.1, 1.0, Some(20), f64::INFINITY, u64::MAX);
        assert_eq!(generous[0].p_request, 1.0);
        let hopeless = fixed_points(0.5, 1.0, Some(20), 0.0, 4);
        assert_eq!((hopeless.len(), hopeless[0].p_request), (1, 0.0));
        assert!((hopeless[0].offered - 2.0).abs() < 1e-9);
    }

    #[test]
    fn senseless_and_oversized_loops_have_no_fixed_points() {
        for (arrivals, service, room, timeout, attempts) in [
            (0.0, 1.0, None, 1.0, 3),
            (f64::NAN, 1.0, None, 1.0, 3),
            (1e308, 1.0, None, 1.0, 3),
            (0.5, 0.0, None, 1.0, 3),
            (0.5, 1.0, Some(0), 1.0, 3),
            (0.5, 1.0, None, -1.0, 3),
            (0.5, 1.0, Some(9), f64::NAN, 3),
            (0.5, 1.0, None, 1.0, 0),
            (0.5, 1.0, Some(u64::MAX), 1e6, 3),
        ] {
            let points = fixed_points(arrivals, service, room, timeout, attempts);
            assert_eq!(
                points,
                [],
                "{arrivals} {service} {room:?} {timeout} {attempts}"
            );
        }
    }
}
