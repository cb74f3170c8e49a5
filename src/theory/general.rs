//! One server whose service times follow any law: the M/G/1 queue.
//!
//! Not only how long a service takes on average but how much it varies decides how long others wait. Arrivals
//! are Poisson with rate λ; S is a service time, ρ = λ E(S). The Pollaczek–Khinchine formulas need moments of
//! S only. Sources: Pollaczek (1930), Khinchine (1932); Gross, Shortle, Thompson and Harris, "Fundamentals of
//! Queueing Theory", 4th edition, §5.1; last come first served: Takács (1963), "Delay distributions for one
//! line with Poisson input, general holding times, and various orders of service", Bell System Technical
//! Journal 42.

/// A stable M/G/1 queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mg1 {
    arrival_rate: f64,
    mean: f64,
    second_moment: f64,
    third_moment: Option<f64>,
}

impl Mg1 {
    /// The queue with arrival rate λ ≥ 0 and E(S) > 0, E(S²) ≥ E(S)² and, if known, E(S³). Moments but the
    /// first may be infinite. `None` for other arguments and unless ρ < 1.
    pub fn new(
        arrival_rate: f64,
        mean: f64,
        second_moment: f64,
        third_moment: Option<f64>,
    ) -> Option<Self> {
        let utilisation = arrival_rate * mean;
        let stable = arrival_rate >= 0.0 && mean > 0.0 && mean.is_finite() && utilisation < 1.0;
        // Moments that were rounded, as those of a constant, are forgiven the last digits.
        let at_least = |moment: f64, least: f64| moment >= least * (1.0 - 1e-9);
        let possible = at_least(second_moment, mean * mean)
            && third_moment.is_none_or(|third| at_least(third, mean * second_moment));
        (stable && possible).then_some(Self {
            arrival_rate,
            mean,
            second_moment,
            third_moment,
        })
    }

    /// ρ, which is also the probability to wait.
    pub fn utilisation(&self) -> f64 {
        self.arrival_rate * self.mean
    }

    /// The probability that an arrival waits, ρ.
    pub fn p_wait(&self) -> f64 {
        self.utilisation()
    }

    /// The squared coefficient of variation of a service time: Var(S) / E(S)².
    pub fn service_scv(&self) -> f64 {
        self.service_variance() / (self.mean * self.mean)
    }

    /// Mean wait before service, λ E(S²) / (2 (1 − ρ)); the same for any order of service that does not look at
    /// the service times.
    pub fn mean_wait(&self) -> f64 {
        self.per_arrival(self.second_moment / (2.0 * self.idle()))
    }

    /// Standard deviation of the wait in order of arrival: E(W²) = 2 E(W)² + λ E(S³) / (3 (1 − ρ)). `None`
    /// without a third moment.
    pub fn sd_wait(&self) -> Option<f64> {
        let mean = self.mean_wait();
        Some((mean * mean + self.residual()?).sqrt())
    }

    /// Standard deviation of the wait when the last to come is served first and no service is interrupted:
    /// E(W²) is 1 / (1 − ρ) times that in order of arrival. `None` without a third moment.
    pub fn sd_wait_lifo(&self) -> Option<f64> {
        let mean = self.mean_wait();
        let second = (2.0 * mean * mean + self.residual()?) / self.idle();
        // E(W²) ≥ 2 E(W)², so nothing cancels.
        Some((second - mean * mean).max(0.0).sqrt())
    }

    /// Mean time from arrival to the end of service.
    pub fn mean_sojourn(&self) -> f64 {
        self.mean_wait() + self.mean
    }

    /// Standard deviation of that time in order of arrival. `None` without a third moment.
    pub fn sd_sojourn(&self) -> Option<f64> {
        Some(self.sd_wait()?.hypot(self.service_variance().sqrt()))
    }

    /// The same when the last to come is served first. `None` without a third moment.
    pub fn sd_sojourn_lifo(&self) -> Option<f64> {
        Some(self.sd_wait_lifo()?.hypot(self.service_variance().sqrt()))
    }

    /// Mean number waiting (Little's law).
    pub fn mean_queue(&self) -> f64 {
        self.per_arrival(self.mean_wait())
    }

    /// Mean number waiting and in service (Little's law).
    pub fn mean_in_system(&self) -> f64 {
        self.mean_queue() + self.utilisation()
    }

    fn idle(&self) -> f64 {
        1.0 - self.utilisation()
    }

    fn service_variance(&self) -> f64 {
        (self.second_moment - self.mean * self.mean).max(0.0)
    }

    /// λ E(S³) / (3 (1 − ρ)).
    fn residual(&self) -> Option<f64> {
        Some(self.per_arrival(self.third_moment? / (3.0 * self.idle())))
    }

    /// λ x, where no arrivals make nothing of an infinite x.
    fn per_arrival(&self, x: f64) -> f64 {
        if self.arrival_rate == 0.0 {
            0.0
        } else {
            self.arrival_rate * x
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{Row, close, number, rows};

    /// E(Sⁿ) of the service law of a row, from its shape alone.
    fn moment(row: &Row, n: i32) -> f64 {
        let mean = number(row, "mean_service_s").unwrap();
        let shape = || number(row, "shape_parameter").unwrap();
        let order = f64::from(n);
        let in_means = match row["service"].as_str() {
            "deterministic" => 1.0,
            "exponential" => (1..=n).map(f64::from).product(),
            "uniform" => 2f64.powi(n) / (order + 1.0),
            "lognormal" => (1.0 + shape() * shape()).powf(order * (order - 1.0) / 2.0),
            "pareto" if shape() <= order => f64::INFINITY,
            "pareto" => {
                let minimum = (shape() - 1.0) / shape();
                shape() * minimum.powi(n) / (shape() - order)
            }
            other => panic!("{other}"),
        };
        in_means * mean.powi(n)
    }

    #[test]
    fn every_reference_law_of_service_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_mg1.csv") {
            let arrivals = number(&row, "lambda_per_s").unwrap();
            let [mean, second, third] = [1, 2, 3].map(|n| moment(&row, n));
            let queue = Mg1::new(arrivals, mean, second, Some(third)).unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("utilisation", queue.utilisation());
            if row["service"] == "deterministic" {
                assert!(queue.service_scv() < 1e-15);
            } else {
                expect("service_scv", queue.service_scv());
                expect("sd_service_s", queue.service_variance().sqrt());
            }
            expect("mean_wait_s", queue.mean_wait());
            expect("mean_sojourn_s", queue.mean_sojourn());
            expect("mean_queue", queue.mean_queue());
            expect("mean_in_system", queue.mean_in_system());
            expect("p_no_wait", 1.0 - queue.p_wait());
            let sd = queue.sd_wait().unwrap();
            match row["sd_wait_s"].as_str() {
                "inf" => assert_eq!(sd, f64::INFINITY),
                _ => expect("sd_wait_s", sd),
            }
            seen += 1;
        }
        assert_eq!(seen, 11);
    }

    #[test]
    fn every_reference_discipline_is_reproduced() {
        let mut seen = 0;
        for row in rows("03_fifo_lifo.csv") {
            let mean = 1.0 / number(&row, "mu_per_s").unwrap();
            let third = Some(6.0 * mean.powi(3));
            let arrivals = number(&row, "lambda_per_s").unwrap();
            let queue = Mg1::new(arrivals, mean, 2.0 * mean * mean, third).unwrap();
            let (sd, sd_sojourn) = match row["discipline"].as_str() {
                "fifo" => (queue.sd_wait(), queue.sd_sojourn()),
                "lifo" => (queue.sd_wait_lifo(), queue.sd_sojourn_lifo()),
                other => panic!("{other}"),
            };
            let expect = |key, value| close(value, number(&row, key), 1e-8, &row);
            expect("utilisation", queue.utilisation());
            expect("mean_wait_s", queue.mean_wait());
            let second = sd.unwrap().powi(2) + queue.mean_wait().powi(2);
            expect("second_moment_wait_s2", second);
            expect("sd_wait_s", sd.unwrap());
            expect("mean_sojourn_s", queue.mean_sojourn());
            expect("sd_sojourn_s", sd_sojourn.unwrap());
            expect("p_wait", queue.p_wait());
            seen += 1;
        }
        assert_eq!(seen, 10);
    }

    #[test]
    fn missing_infinite_and_impossible_moments() {
        let known = Mg1::new(0.5, 1.0, 1.0, None).unwrap();
        assert_eq!((known.mean_wait(), known.sd_wait()), (0.5, None));
        assert_eq!((known.sd_wait_lifo(), known.sd_sojourn()), (None, None));
        let wild = Mg1::new(0.5, 1.0, f64::INFINITY, Some(f64::INFINITY)).unwrap();
        assert_eq!(wild.mean_wait(), f64::INFINITY);
        assert_eq!(wild.sd_wait(), Some(f64::INFINITY));
        let unused = Mg1::new(0.0, 1.0, f64::INFINITY, Some(f64::INFINITY)).unwrap();
        assert_eq!((unused.mean_wait(), unused.sd_wait()), (0.0, Some(0.0)));
        assert_eq!(unused.mean_in_system(), 0.0);
        for (arrivals, mean, second, third) in [
            (1.0, 1.0, 1.0, None),
            (-0.1, 1.0, 1.0, None),
            (0.5, 0.0, 1.0, None),
            (0.5, 1.0, 0.9, None),
            (0.5, 1.0, 2.0, Some(1.0)),
            (f64::NAN, 1.0, 2.0, None),
            (0.5, 1.0, f64::NAN, None),
        ] {
            assert_eq!(Mg1::new(arrivals, mean, second, third), None);
        }
    }
}
