//! Means over a Poisson variable, without the factorials that overflow.
//!
//! The time that a busy group of servers needs for n departures is an Erlang variable, and
//! P(Erlang(n, r) ≤ t) = P(Poisson(r t) ≥ n). So laws of waits become means over a Poisson variable.

/// Terms this far below the greatest one are zero.
const NEGLIGIBLE: f64 = 1e-300;

/// The greatest mean that [`expectation`] should be asked for: some hundred thousand terms.
pub(super) const GREATEST_MEAN: f64 = 1e7;

/// How far a Poisson variable is from its mean at the very most (probability below 10^−280).
pub(super) fn reach(mean: f64) -> f64 {
    40.0 * mean.sqrt() + 500.0
}

/// E f(J), where J is a Poisson variable with a mean ≥ 0. The weights start with 1 at the mode and are
/// divided by their sum, which keeps all digits.
pub(super) fn expectation(mean: f64, f: impl Fn(u64) -> f64) -> f64 {
    // A mean within the documented range fits.
    let mode = mean as u64;
    let (mut total, mut sum) = (1.0, f(mode));
    let mut weight = 1.0;
    for j in (0..mode).rev() {
        weight *= (j + 1) as f64 / mean;
        if weight < NEGLIGIBLE {
            break;
        }
        total += weight;
        sum += weight * f(j);
    }
    weight = 1.0;
    for j in mode + 1.. {
        weight *= mean / j as f64;
        if weight < NEGLIGIBLE {
            break;
        }
        total += weight;
        sum += weight * f(j);
    }
    sum / total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_generating_function_of_a_poisson_variable() {
        for mean in [0.0, 0.3, 7.5, 1e3, 1e6] {
            let first = expectation(mean, |j| j as f64);
            assert!((first - mean).abs() <= 1e-10 * mean, "{first}");
            let variance = expectation(mean, |j| (j as f64 - mean).powi(2));
            assert!((variance - mean).abs() <= 1e-9 * mean, "{variance}");
        }
        // E z^J = e^(mean (z − 1)), far out in the tail.
        let far = expectation(100.0, |j| 0.01f64.powi(j as i32));
        assert!((far / (-99.0f64).exp() - 1.0).abs() < 1e-12, "{far}");
    }

    #[test]
    fn nothing_lies_beyond_the_reach() {
        for mean in [0.0, 1.0, 100.0, 1e6] {
            let (low, high) = (mean - reach(mean), mean + reach(mean));
            let beyond = expectation(mean, |j| f64::from((j as f64) < low || (j as f64) > high));
            assert!(beyond < 1e-280, "{mean}: {beyond}");
        }
    }
}
