//! Attempts and total backoff of one request whose attempts fail independently with probability p.
//!
//! The number of attempts A is a geometric variable cut off at k, the greatest number of attempts, the
//! first included: P(A = j) = p^(j−1) (1 − p) for j < k and p^(k−1) for j = k. Retry i, the wait before
//! attempt i + 1, happens with probability p^i. Elementary; see Feller, "An Introduction to Probability
//! Theory and Its Applications" I, chapter VI.
//!
//! Everywhere 0 ≤ p ≤ 1 and k ≥ 1; `u64::MAX` stands for "unlimited".

/// p^k: all attempts failed.
pub fn exhausted(p: f64, k: u64) -> f64 {
    p.powf(k as f64)
}

/// 1 − p^k: some attempt succeeded. Accurate even when p^k is far below the precision of 1.
pub fn success(p: f64, k: u64) -> f64 {
    // Zero has no sign.
    0.0 - (k as f64 * p.ln()).exp_m1()
}

/// E(A) = (1 − p^k) / (1 − p); k when p = 1.
pub fn mean_attempts(p: f64, k: u64) -> f64 {
    if p == 1.0 {
        k as f64
    } else {
        success(p, k) / (1.0 - p)
    }
}

/// P(A = j); zero unless 1 ≤ j ≤ k.
pub fn attempts_probability(p: f64, k: u64, j: u64) -> f64 {
    match j {
        0 => 0.0,
        j if j < k => at_least_attempts(p, k, j) * (1.0 - p),
        j => at_least_attempts(p, k, j),
    }
}

/// P(A ≥ j) = p^(j−1) up to j = k.
pub fn at_least_attempts(p: f64, k: u64, j: u64) -> f64 {
    match j {
        0 => 1.0,
        j if j <= k => p.powf((j - 1) as f64),
        _ => 0.0,
    }
}

/// Below this k (1 − p) closed forms lose digits to cancellation, and sums are used.
const CANCELLATION: f64 = 1e-2;
/// The longest sum.
const MOST_TERMS: u64 = 1_000_000;

/// Whether sums of k terms are needed and short enough.
fn sum_instead(p: f64, k: u64) -> bool {
    k as f64 * (1.0 - p) < CANCELLATION && k <= MOST_TERMS
}

/// Standard deviation of A: variance (p − (2k − 1)(1 − p) p^k − p^(2k)) / (1 − p)².
///
/// Ten digits for k up to 10^6 and for unlimited attempts; fewer when k is greater and k (1 − p) small.
pub fn sd_attempts(p: f64, k: u64) -> f64 {
    let (q, all) = (1.0 - p, exhausted(p, k));
    if q == 0.0 {
        return 0.0;
    }
    let variance = if sum_instead(p, k) {
        let mean = mean_attempts(p, k);
        (1..=k)
            .map(|j| attempts_probability(p, k, j) * (j as f64 - mean).powi(2))
            .sum()
    } else {
        let last = (2.0 * k as f64 - 1.0) * q * all;
        (p - last - all * all) / (q * q)
    };
    f64::max(variance, 0.0).sqrt()
}

/// E(A | success) = 1 / (1 − p) − k p^k / (1 − p^k). `None` when success is impossible.
pub fn mean_attempts_given_success(p: f64, k: u64) -> Option<f64> {
    if p == 1.0 {
        return None;
    }
    if sum_instead(p, k) {
        let weighted: f64 = (1..=k).map(|j| j as f64 * p.powf((j - 1) as f64)).sum();
        return Some(weighted * (1.0 - p) / success(p, k));
    }
    let failures = k as f64 * exhausted(p, k) / success(p, k);
    Some(1.0 / (1.0 - p) - failures)
}

/// The waits of one request, summed; in the unit of the moments given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TotalBackoff {
    /// E(D) = Σ p^i E(dᵢ), over all requests.
    pub mean: f64,
    /// Standard deviation of D, if the delays are independent of each other.
    pub sd: f64,
    /// E(D | success) = Σ (p^i − p^k) E(dᵢ) / (1 − p^k); `None` when success is impossible.
    pub mean_given_success: Option<f64>,
    /// E(D) when every retry is made, which is what p = 1 does.
    pub mean_all_retries: f64,
    /// Standard deviation of the same, if the delays are independent of each other.
    pub sd_all_retries: f64,
}

/// The total backoff of a request with failure probability `p` and one attempt more than `delays` has
/// entries: mean and standard deviation of the delay before retry 1, 2, …
///
/// From the last retry backwards: a wait X that happens with probability p is p E(X) in the mean, and its
/// variance is p Var(X) + p (1 − p) E(X)². All terms are positive, so nothing cancels.
pub fn total_backoff(p: f64, delays: &[(f64, f64)]) -> TotalBackoff {
    let k = delays.len() as u64 + 1;
    let failure = exhausted(p, k);
    let (mut mean, mut variance) = (0.0, 0.0);
    for (delay, sd) in delays.iter().rev() {
        let wait = delay + mean;
        variance = p * (variance + sd * sd) + p * (1.0 - p) * wait * wait;
        mean = p * wait;
    }
    let (mut reached, mut given_success) = (1.0, 0.0);
    for (delay, _) in delays {
        reached *= p;
        given_success += (reached - failure) * delay;
    }
    TotalBackoff {
        mean,
        sd: variance.sqrt(),
        mean_given_success: (p < 1.0).then(|| given_success / success(p, k)),
        mean_all_retries: delays.iter().map(|(delay, _)| delay).sum(),
        sd_all_retries: delays.iter().map(|(_, sd)| sd * sd).sum::<f64>().sqrt(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_success_is_reproduced() {
        let mut seen = 0;
        for row in rows("02_retry_success.csv") {
            let p = number(&row, "p_fail").unwrap();
            let k = row["attempts_k"].parse().unwrap();
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            expect("p_success", success(p, k));
            expect("p_exhausted", exhausted(p, k));
            expect("mean_attempts", mean_attempts(p, k));
            expect("sd_attempts", sd_attempts(p, k));
            expect("p_used_all_k_attempts", at_least_attempts(p, k, k));
            match mean_attempts_given_success(p, k) {
                Some(mean) => expect("mean_attempts_given_success", mean),
                None => assert_eq!(number(&row, "mean_attempts_given_success"), None),
            }
            seen += 1;
        }
        assert_eq!(seen, 16);
    }

    #[test]
    fn every_reference_probability_of_attempts_is_reproduced() {
        let mut seen = 0;
        for row in rows("02_attempt_distribution.csv") {
            let p = number(&row, "p_fail").unwrap();
            let whole = |key: &str| row[key].parse().unwrap();
            let (k, j) = (whole("attempts_k"), whole("attempts_used"));
            let expect = |key, value| close(value, number(&row, key), 1e-9, &row);
            expect("probability", attempts_probability(p, k, j));
            expect("p_at_least", at_least_attempts(p, k, j));
            seen += 1;
        }
        assert_eq!(seen, 93);
    }

    #[test]
    fn closed_forms_and_sums_agree_where_they_meet() {
        for k in [2, 10, 1_000, 1_000_000] {
            let k_f64 = k as f64;
            let below = |x: f64| 1.0 - x / k_f64;
            for f in [sd_attempts, |p, k| {
                mean_attempts_given_success(p, k).unwrap()
            }] {
                let (closed, summed) = (f(below(0.010_000_1), k), f(below(0.009_999_9), k));
                assert!(
                    (closed / summed - 1.0).abs() < 2e-5,
                    "{k}: {closed} {summed}"
                );
            }
        }
    }

    #[test]
    fn tiny_probabilities_and_unlimited_attempts_keep_their_digits() {
        assert!((success(1.0 - 1e-12, 3) / 3e-12 - 1.0).abs() < 1e-3);
        assert!((exhausted(1e-3, 100) / 1e-300 - 1.0).abs() < 1e-12);
        assert_eq!(
            (success(0.5, u64::MAX), mean_attempts(0.5, u64::MAX)),
            (1.0, 2.0)
        );
        assert!((sd_attempts(0.5, u64::MAX) - 2f64.sqrt()).abs() < 1e-12);
        assert_eq!(mean_attempts_given_success(0.75, u64::MAX), Some(4.0));
        assert_eq!(
            (success(0.0, 1), success(1.0, 7), mean_attempts(1.0, 7)),
            (1.0, 0.0, 7.0)
        );
    }

    #[test]
    fn total_backoff_by_hand_for_two_retries() {
        // p = 1/2, delays 1 and 2 exactly: D = 0, 1, 3 with probabilities 1/2, 1/4, 1/4.
        let total = total_backoff(0.5, &[(1.0, 0.0), (2.0, 0.0)]);
        assert!((total.mean - 1.0).abs() < 1e-15);
        assert!((total.sd - 1.5f64.sqrt()).abs() < 1e-15);
        // Success after 1, 2, 3 attempts: 4/7, 2/7, 1/7.
        assert!((total.mean_given_success.unwrap() - 5.0 / 7.0).abs() < 1e-15);
        assert_eq!((total.mean_all_retries, total.sd_all_retries), (3.0, 0.0));
        assert_eq!(total_backoff(1.0, &[(1.0, 0.0)]).mean_given_success, None);
    }
}
