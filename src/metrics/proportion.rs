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

/// How far the share `first` (successes, trials) is above `second`, with Newcombe's hybrid score interval: the distances
/// from each share to the ends of its Wilson interval, squared and added. It keeps a width when all trials went alike.
///
/// Source: R. G. Newcombe, "Interval estimation for the difference between independent proportions: comparison of eleven
/// methods", Statistics in Medicine 17 (1998), method 10. Shares of paired trials that go together are known better.
pub fn newcombe(first: (u64, u64), second: (u64, u64), confidence: f64) -> (f64, f64) {
    let share = |(successes, trials): (u64, u64)| successes as f64 / (trials as f64).max(1.0);
    let (p, q) = (share(first), share(second));
    let (p_low, p_high) = wilson(first.0, first.1, confidence);
    let (q_low, q_high) = wilson(second.0, second.1, confidence);
    (
        p - q - (p - p_low).hypot(q_high - q),
        p - q + (p_high - p).hypot(q - q_low),
    )
}

/// Trials after which Wilson's interval no longer holds `bound`, if the share stays what it is. `None` when no number
/// of trials does that: the two are equal.
///
/// The interval holds every p with |p̂ − p| ≤ z √(p(1 − p)/n), so `bound` is outside from n = z² p(1 − p)/(p̂ − p)² on.
pub fn trials_to_tell(share: f64, bound: f64, confidence: f64) -> Option<f64> {
    let z = Normal::standard().inverse_cdf(0.5 + 0.5 * confidence);
    let trials = z * z * bound * (1.0 - bound) / (share - bound).powi(2);
    trials.is_finite().then_some(trials)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn every_reference_interval_is_reproduced() {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/tests/data/reference/02_wilson.csv"
        );
        let mut reader = csv::Reader::from_path(path).unwrap();
        let mut seen = 0;
        for row in reader.deserialize::<BTreeMap<String, String>>() {
            let row = row.unwrap();
            let number = |column: &str| row[column].parse::<f64>().unwrap();
            let count = |column: &str| row[column].parse().unwrap();
            let (low, high) = wilson(count("successes"), count("trials"), number("confidence"));
            for (value, column) in [(low, "wilson_low"), (high, "wilson_high")] {
                let expected = number(column);
                assert!(
                    (value - expected).abs() <= 1e-9 * expected,
                    "{column}: {row:?}"
                );
            }
            seen += 1;
        }
        assert_eq!(seen, 21);
    }

    #[test]
    fn the_examples_of_newcombe_are_reproduced() {
        // Table II of the paper, method 10: 56/70 - 48/80, 9/10 - 3/10, 10/10 - 0/10.
        for (first, second, low, high) in [
            ((56, 70), (48, 80), 0.0524, 0.3339),
            ((9, 10), (3, 10), 0.1705, 0.8090),
            ((10, 10), (0, 10), 0.6075, 1.0),
        ] {
            let found = newcombe(first, second, 0.95);
            assert!((found.0 - low).abs() < 6e-5, "{found:?}");
            assert!((found.1 - high).abs() < 6e-5, "{found:?}");
        }
    }

    #[test]
    fn without_trials_nothing_is_known() {
        assert_eq!(wilson(0, 0, 0.95), (0.0, 1.0));
    }

    #[test]
    fn trials_to_tell_are_the_first_whose_interval_is_on_one_side() {
        for (share, bound, confidence) in [
            (0.25, 0.4, 0.95),
            (0.0, 0.05, 0.99),
            (1.0, 0.9, 0.95),
            (0.5, 0.45, 0.9),
        ] {
            let holds = |trials: u64| {
                let (low, high) = wilson((share * trials as f64) as u64, trials, confidence);
                (low..=high).contains(&bound)
            };
            // Shares are fourths, so these numbers of trials have them exactly.
            let first = (1..).map(|i| 4 * i).find(|&trials| !holds(trials));
            let trials = trials_to_tell(share, bound, confidence).unwrap();
            let first = first.unwrap() as f64;
            assert!(trials <= first && trials > first - 4.0, "{trials}, {first}");
        }
        assert_eq!(trials_to_tell(0.5, 0.5, 0.95), None);
    }
}
