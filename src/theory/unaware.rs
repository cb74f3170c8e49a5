//! Clients that give up while the server works on for nobody.
//!
//! Most servers do not learn that their client has gone, and finish the work all the same. Then a timeout
//! saves nothing, and beyond some load nearly all work is wasted. Arrivals are Poisson with rate λ, one server
//! of rate μ, order of arrival, room for K requests waiting and in service; an attempt succeeds when it is
//! accepted and its sojourn is at most T.
//!
//! Who finds n requests stays for n + 1 services, so P(success) = Σ π(n) P(Erlang(n + 1, μ) ≤ T) over n < K,
//! where π is the law of the M/M/1/K queue (PASTA; Wolff, 1982). Elementary; see Gross, Shortle, Thompson and
//! Harris, "Fundamentals of Queueing Theory", 4th edition, §2.2 and §2.5.

use super::poisson::{GREATEST_MEAN, expectation, reach};

/// P(success) of an attempt with arrival rate λ ≥ 0, service rate μ > 0, `room` for K ≥ 1 requests (`None`:
/// unlimited) and timeout T ≥ 0. `None` for other arguments, for unlimited room unless λ < μ, and where more
/// than ten million services fit into T and into the room.
///
/// With J services during T it is E Σ π(n) over n < min(J, K), J a Poisson variable.
pub fn unaware_timeout_success(
    arrival_rate: f64,
    service_rate: f64,
    room: Option<u64>,
    timeout: f64,
) -> Option<f64> {
    let load = arrival_rate / service_rate;
    let services = service_rate * timeout;
    let sound = arrival_rate >= 0.0 && service_rate > 0.0 && service_rate.is_finite();
    if !sound || !load.is_finite() || services.is_nan() || services < 0.0 {
        return None;
    }
    let Some(room) = room else {
        let slack = service_rate - arrival_rate;
        // Zero has no sign.
        return (slack > 0.0).then(|| 0.0 - (-slack * timeout).exp_m1());
    };
    if room == 0 {
        return None;
    }
    let places = room as f64 + 1.0;
    let share = shares_below(load.ln(), places);
    let below = |j: u64| share(j.min(room) as f64);
    if services.is_infinite() || services - reach(services) > places {
        return Some(below(room));
    }
    (services <= GREATEST_MEAN).then(|| expectation(services, below))
}

/// Σ ρⁿ over n < j divided by Σ ρⁿ over n < `places`, for 0 ≤ j ≤ `places` and ln ρ.
fn shares_below(logarithm: f64, places: f64) -> impl Fn(f64) -> f64 {
    // For ρ > 1 counted from the other end, where the terms are greatest.
    let size = -logarithm.abs();
    let all = (size * places).exp_m1();
    move |j| {
        if j == 0.0 {
            0.0
        } else if logarithm == 0.0 {
            j / places
        } else if logarithm < 0.0 {
            (size * j).exp_m1() / all
        } else {
            (size * j).exp_m1() * (size * (places - j)).exp() / all
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::loss::Mmck;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_exact_reference_timeout_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_timeout_server_unaware.csv") {
            if number(&row, "p_success_exact").is_none() {
                continue;
            }
            let given = |key| number(&row, key).unwrap();
            let (arrivals, service) = (given("lambda_per_s"), given("mu_per_s"));
            let timeout = given("client_timeout_s");
            let room = row["max_in_system_K"].parse().ok();
            let success = unaware_timeout_success(arrivals, service, room, timeout).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            expect("p_success_exact", success);
            expect("goodput_exact_per_s", arrivals * success);
            let (rejected, wasted) = room.map_or((0.0, 1.0 - success), |room| {
                let queue = Mmck::new(arrivals, service, 1, room).unwrap();
                (queue.p_blocked(), queue.sojourn_tail_accepted(timeout))
            });
            expect("p_rejected_exact", rejected);
            expect("wasted_fraction_of_served_exact", wasted);
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    #[test]
    fn the_closed_form_agrees_with_the_law_of_the_sojourn() {
        for load in [0.0, 0.3, 0.999_999_999, 1.0, 1.000_000_001, 1.7, 40.0] {
            for (room, timeout) in [(1, 0.7), (5, 3.0), (40, 10.0), (300, 280.0), (7, 900.0)] {
                let success = unaware_timeout_success(load, 1.0, Some(room), timeout).unwrap();
                let queue = Mmck::new(load, 1.0, 1, room).unwrap();
                let expected = queue.p_accepted() * queue.sojourn_within_accepted(timeout);
                assert!(
                    (success / expected - 1.0).abs() < 1e-10,
                    "{success} {expected}"
                );
            }
        }
    }

    #[test]
    fn extremes_and_senseless_arguments() {
        let success = unaware_timeout_success;
        assert_eq!(success(0.0, 1.0, Some(u64::MAX), f64::INFINITY), Some(1.0));
        assert_eq!(success(1e300, 1.0, Some(3), 0.0), Some(0.0));
        let full = success(2.0, 1.0, Some(50), f64::INFINITY).unwrap();
        assert!((full - 0.5).abs() < 1e-12);
        let endless = success(0.5, 1.0, Some(u64::MAX), 4.0).unwrap();
        let unlimited = success(0.5, 1.0, None, 4.0).unwrap();
        assert!((endless - unlimited).abs() < 1e-14);
        assert_eq!(success(0.5, 1.0, None, f64::INFINITY), Some(1.0));
        assert_eq!(success(1.0, 1.0, Some(u64::MAX), 1e12), None);
        for (arrivals, service, room, timeout) in [
            (1.0, 1.0, None, 1.0),
            (-1.0, 1.0, None, 1.0),
            (f64::NAN, 1.0, Some(2), 1.0),
            (0.5, 0.0, Some(2), 1.0),
            (0.5, 1.0, Some(0), 1.0),
            (0.5, 1.0, Some(2), -1.0),
            (0.5, 1.0, None, f64::NAN),
        ] {
            assert_eq!(success(arrivals, service, room, timeout), None);
        }
    }
}
