//! How long a chain that moves one step up or down stays in each state.
//!
//! Most queues here are such chains, and their weights span hundreds of powers of ten: products from state 0
//! overflow where the load is high and vanish where there are many servers. So the weights start at the most
//! likely state, go both ways, and stop where they no longer count. Source: detailed balance,
//! π(n) = π(n − 1) · up(n − 1) / down(n); Kelly, "Reversibility and Stochastic Networks", §1.3.

/// The most states that are added up, which takes a few milliseconds.
pub(super) const MOST_STATES: u64 = 250_000;

/// Weights this far below the greatest one are zero.
const NEGLIGIBLE: f64 = 1e-300;

/// The stationary probabilities of the states that count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Law {
    first: u64,
    shares: Vec<f64>,
}

impl Law {
    /// The law on the states 0, 1, … `last`, where `ratio(n)` = up(n − 1) / down(n) for n ≥ 1 must not be
    /// negative, not NaN, and must not grow with n. `None` when too many states count.
    pub(super) fn new(last: u64, ratio: impl Fn(u64) -> f64) -> Option<Self> {
        // So that one more can be counted.
        let last = last.min(u64::MAX - 1);
        let mode = mode(last, &ratio);
        let mut below = Vec::new();
        let mut weight = 1.0;
        for n in (1..=mode).rev() {
            weight /= ratio(n);
            if weight < NEGLIGIBLE {
                break;
            }
            below.push(weight);
            if below.len() as u64 > MOST_STATES {
                return None;
            }
        }
        let first = mode - below.len() as u64;
        below.reverse();
        let mut shares = below;
        shares.push(1.0);
        weight = 1.0;
        for n in mode + 1..=last {
            weight *= ratio(n);
            if weight < NEGLIGIBLE {
                break;
            }
            shares.push(weight);
            if shares.len() as u64 > MOST_STATES {
                return None;
            }
        }
        let total: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= total;
        }
        Some(Self { first, shares })
    }

    /// π(n).
    pub(super) fn share(&self, n: u64) -> f64 {
        let index = n.checked_sub(self.first);
        index
            .and_then(|i| self.shares.get(usize::try_from(i).ok()?))
            .map_or(0.0, |&share| share)
    }

    /// Σ π(n) f(n).
    pub(super) fn mean(&self, f: impl Fn(u64) -> f64) -> f64 {
        let weighted = |(i, share): (usize, &f64)| share * f(self.first + i as u64);
        // Zero has no sign.
        0.0 + self.shares.iter().enumerate().map(weighted).sum::<f64>()
    }

    /// Σ π(m) over m ≥ n.
    pub(super) fn at_least(&self, n: u64) -> f64 {
        let skipped = n.saturating_sub(self.first);
        let skipped = usize::try_from(skipped).unwrap_or(usize::MAX);
        // Zero has no sign.
        0.0 + self.shares.iter().skip(skipped).sum::<f64>()
    }

    /// Σ π(m) over m < n.
    pub(super) fn below(&self, n: u64) -> f64 {
        let taken = n.saturating_sub(self.first);
        let taken = usize::try_from(taken).unwrap_or(usize::MAX);
        // Zero has no sign.
        0.0 + self.shares.iter().take(taken).sum::<f64>()
    }
}

/// The most likely state: the last n with ratio(n) ≥ 1, by bisection.
fn mode(last: u64, ratio: impl Fn(u64) -> f64) -> u64 {
    let (mut low, mut high) = (0, last);
    while low < high {
        let middle = high - (high - low) / 2;
        if ratio(middle) >= 1.0 {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// n − m as a number; zero when m is greater.
pub(super) fn beyond(n: u64, m: u64) -> f64 {
    n.saturating_sub(m) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_of_a_poisson_chain_has_its_mean_and_variance() {
        for load in [1e-3, 1.0, 50.0, 1e6] {
            let law = Law::new(u64::MAX, |n| load / n as f64).unwrap();
            let mean = law.mean(|n| n as f64);
            let variance = law.mean(|n| (n as f64 - load).powi(2));
            assert!((mean / load - 1.0).abs() < 1e-10, "{mean}");
            assert!((variance / load - 1.0).abs() < 1e-9, "{variance}");
            assert!((law.at_least(0) - 1.0).abs() < 1e-10);
        }
    }

    #[test]
    fn three_states_by_hand() {
        let law = Law::new(2, |n| [f64::NAN, 2.0, 0.5][n as usize]).unwrap();
        assert_eq!(
            [law.share(0), law.share(1), law.share(2), law.share(3)],
            [0.25, 0.5, 0.25, 0.0]
        );
        assert_eq!((law.at_least(1), law.at_least(9)), (0.75, 0.0));
        assert_eq!((law.below(2), law.below(0)), (0.75, 0.0));
    }

    #[test]
    fn a_law_that_never_thins_out_is_refused_and_an_extreme_one_is_a_point() {
        assert_eq!(Law::new(u64::MAX, |_| 1.0), None);
        let up = Law::new(7, |_| f64::INFINITY).unwrap();
        assert_eq!((up.share(7), up.share(6)), (1.0, 0.0));
        let down = Law::new(u64::MAX, |_| 0.0).unwrap();
        assert_eq!((down.share(0), down.share(1)), (1.0, 0.0));
    }
}
