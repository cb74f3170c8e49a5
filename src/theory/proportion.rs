//! How well a share is known after so many independent trials.
//!
//! The usual interval p̂ ± 1.96 √(p̂(1 − p̂)/n) has no width when every trial succeeded, which is just when
//! a simulator is asked. Wilson's score interval is honest there.

use statrs::distribution::{ContinuousCDF, Normal};

/// Wilson's score interval for `successes` out of `trials`, without continuity correction; `confidence`
/// lies strictly between 0 and 1. No trials give (0, 1).
///
/// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22
/// (1927). (p̂ + z²/2n ± z √(p̂(1 − p̂)/n + z²/4n²)) / (1 + z²/n).
pub fn wilson(successes: u64, trials: u64, confidence: f64) -> (f64, f64) {
    if trials == 0 {
        return (0.0, 1.0);
    }
    let z = Normal::standard().inverse_cdf(0.5 + 0.5 * confidence);
    let (n, share) = (trials as f64, successes as f64 / trials as f64);
    let room = z * z / n;
    let middle = share + 0.5 * room;
    let half = z * (share * (1.0 - share) / n + 0.25 * room / n).sqrt();
    let low = if successes == 0 {
        0.0
    } else {
        (middle - half) / (1.0 + room)
    };
    let high = if successes == trials {
        1.0
    } else {
        (middle + half) / (1.0 + room)
    };
    (low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theory::reference::{close, number, rows};

    #[test]
    fn every_reference_interval_is_reproduced() {
        let mut seen = 0;
        for row in rows("02_wilson.csv") {
            let trials = row["trials"].parse().unwrap();
            let (low, high) = wilson(
                row["successes"].parse().unwrap(),
                trials,
                number(&row, "confidence").unwrap(),
            );
            close(low, number(&row, "wilson_low"), 1e-9, &row);
            close(high, number(&row, "wilson_high"), 1e-9, &row);
            seen += 1;
        }
        assert_eq!(seen, 21);
    }

    #[test]
    fn without_trials_nothing_is_known() {
        assert_eq!(wilson(0, 0, 0.95), (0.0, 1.0));
    }
}
