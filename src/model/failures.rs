//! How attempts fail by themselves, and how that changes with the load.

use crate::decode::{Check, Reader};
use crate::policy::Code;
use crate::record;
use crate::units::Ratio;

record! {
    /// One way for an attempt to fail.
    pub struct FailureSpec {
        /// The code it is answered with.
        code: Code,
        /// How likely it is.
        probability: Ratio,
    }
}

impl Check for FailureSpec {}

record! {
    /// How failures change with the load.
    pub struct UnderLoad {
        /// Attempts inside per worker up to which attempts fail as they usually do.
        from: f64 = 1.0,
        /// Attempts inside per worker from which on they fail as it is said here; in between the two are mixed in proportion.
        to: f64,
        /// Failure codes and their probabilities under load.
        failures: Vec<FailureSpec>,
    }
}

impl Check for UnderLoad {
    fn check(&self, reader: &mut Reader) {
        let sensible = |load: f64| (0.0..=1e9).contains(&load);
        for (key, load) in [("from", self.from), ("to", self.to)] {
            if !sensible(load) {
                reader.error_at(
                    &[key],
                    format!("`{key}` is a number of attempts per worker, from 0 to 1000000000"),
                    "1 is a service whose workers are all busy and whose queue is empty",
                );
            }
        }
        if sensible(self.from) && sensible(self.to) && self.from > self.to {
            let (from, to) = (self.from, self.to);
            reader.error_at(
                &["to", "from"],
                format!("the load goes from {from} to {to}, which is less"),
                "give a greater `to`",
            );
        }
        check_sum(&self.failures, "failures", reader);
    }
}

/// Notes probabilities that exclude each other and come to more than one.
pub(super) fn check_sum(failures: &[FailureSpec], key: &str, reader: &mut Reader) {
    let sum: f64 = failures.iter().map(|f| f.probability.get()).sum();
    if sum > 1.0 + 1e-12 {
        // Half a billionth more than everything must not read as 100 %.
        let percent = (sum * 1e6).ceil() / 1e4;
        reader.error_at(
            &[key],
            format!("the probabilities of `{key}` add up to {percent} %"),
            "they exclude each other, so they may add up to 100 % at most",
        );
    }
}

/// Probability of an attempt failing in one of these ways.
pub(super) fn total(failures: &[FailureSpec]) -> f64 {
    let probabilities = failures.iter().map(|failure| failure.probability.get());
    probabilities.fold(0.0, |sum: f64, p| (sum + p).min(1.0))
}

/// Codes, and how likely each is.
type Shares = Vec<(f64, u16)>;

/// The failures of a service, ready to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Failures {
    usual: Shares,
    /// From which load to which the others take their place.
    under_load: Option<(f64, f64, Shares)>,
}

impl Failures {
    /// From what a scenario says.
    pub fn new(usual: &[FailureSpec], under_load: Option<&UnderLoad>) -> Self {
        let shares = |failures: &[FailureSpec]| -> Shares {
            let share = |failure: &FailureSpec| (failure.probability.get(), failure.code.0);
            let possible = failures.iter().map(share).filter(|&(p, _)| p > 0.0);
            possible.collect()
        };
        Self {
            usual: shares(usual),
            under_load: under_load.map(|u| (u.from, u.to, shares(&u.failures))),
        }
    }

    /// Whether the load changes how attempts fail.
    pub fn depend_on_load(&self) -> bool {
        self.under_load.is_some()
    }

    /// Whether no attempt ever fails by itself.
    #[inline]
    pub fn never_happen(&self) -> bool {
        self.usual.is_empty() && self.under_load.is_none()
    }

    /// The most likely that an attempt fails, whatever the load.
    pub fn worst(&self) -> f64 {
        let sum = |shares: &Shares| shares.iter().map(|&(share, _)| share).sum::<f64>();
        let others = self.under_load.as_ref().map_or(0.0, |u| sum(&u.2));
        sum(&self.usual).max(others)
    }

    /// The failures that can happen without load: how likely each is, and its code.
    pub fn usual(&self) -> impl Iterator<Item = (f64, u16)> {
        self.usual.iter().copied()
    }

    /// The code that an attempt fails with. `luck` is uniform from 0 to 1; `load` gives the attempts inside per worker.
    ///
    /// # Errors
    /// Without a failure, the probability that there had been one.
    #[inline]
    pub fn draw(&self, luck: f64, load: impl FnOnce() -> f64) -> Result<u16, f64> {
        let Some((from, to, others)) = &self.under_load else {
            return find(&self.usual, 1.0, luck, 0.0);
        };
        let load = load();
        let weight = if load >= *to {
            1.0
        } else {
            ((load - from) / (to - from)).clamp(0.0, 1.0)
        };
        find(&self.usual, 1.0 - weight, luck, 0.0)
            .or_else(|below| find(others, weight, luck, below))
    }
}

/// The code whose share of the unit interval, from `below` on, `luck` falls into; else the end of all shares.
#[inline]
fn find(shares: &[(f64, u16)], weight: f64, luck: f64, below: f64) -> Result<u16, f64> {
    let mut upper = below;
    for &(share, code) in shares {
        upper += weight * share;
        if luck < upper {
            return Ok(code);
        }
    }
    Err(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 % of 503 up to a load of 1, half 503 and a fifth 504 from a load of 3 on.
    fn loaded() -> Failures {
        let failure = |code, probability: f64| FailureSpec {
            code: Code(code),
            probability: Ratio::new(probability).expect("it is a share"),
        };
        let under_load = UnderLoad {
            from: 1.0,
            to: 3.0,
            failures: vec![failure(503, 0.5), failure(504, 0.2)],
        };
        Failures::new(&[failure(503, 0.01)], Some(&under_load))
    }

    #[test]
    fn the_mixture_moves_in_proportion_with_the_load() {
        let failures = loaded();
        for (load, p503, p504) in [
            (0.0, 0.01, 0.0),
            (1.0, 0.01, 0.0),
            (2.0, 0.255, 0.1),
            (2.5, 0.3775, 0.15),
            (3.0, 0.5, 0.2),
            (f64::INFINITY, 0.5, 0.2),
        ] {
            let n = 100_000;
            let mut seen = [0.0; 2];
            for i in 0..n {
                match failures.draw((f64::from(i) + 0.5) / f64::from(n), || load) {
                    Ok(code) => seen[usize::from(code - 503)] += 1.0 / f64::from(n),
                    Err(p) => assert!((p - p503 - p504).abs() < 1e-12, "{load}: {p}"),
                }
            }
            assert!((seen[0] - p503).abs() < 2e-5, "{load}: {seen:?}");
            assert!((seen[1] - p504).abs() < 2e-5, "{load}: {seen:?}");
        }
    }

    #[test]
    fn a_step_needs_no_way_between() {
        let failures = Failures {
            under_load: Some((2.0, 2.0, vec![(1.0, 500)])),
            ..Failures::default()
        };
        assert_eq!(failures.draw(0.5, || 1.999), Err(0.0));
        assert_eq!(failures.draw(0.5, || 2.0), Ok(500));
    }
}
