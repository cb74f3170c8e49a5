//! What theory says about a strategy, in words.
//!
//! "1 − pᵏ" is what retrying promises when attempts fail independently of each other and of the load. In an
//! overload they do not, and the difference is the lesson of the run: so it is named, cause by cause.

use super::number::{percent, points, short_percent, thousands};
use super::text::glue;
use crate::experiment::{CHANCE, Check, Loss, NO_FORMULA, StrategyResult, TheoryLine, TheoryRow};

/// The theory line of a strategy as one sentence, without its name. Spaces that should not be broken at are
/// no-break spaces.
pub fn theory_words(strategy: &StrategyResult) -> String {
    match &strategy.theory {
        TheoryLine::Independent {
            success, attempts, ..
        } => format!(
            "success {} against {} = {}{}, {} {} per request against {}{}",
            glue(&percent(success.observed)),
            glue("1 − pᵏ"),
            glue(&percent(success.predicted)),
            deviation(success),
            thousands(attempts.observed),
            if attempts.observed == 1.0 {
                "attempt"
            } else {
                "attempts"
            },
            thousands(attempts.predicted),
            deviation(attempts),
        ),
        TheoryLine::Dependent {
            why,
            p,
            promised,
            came,
            losses,
        } => {
            let limit = match strategy.max_attempts {
                Some(k) => glue(&format!("k = {k}")),
                None => "no limit on attempts".into(),
            };
            let reason = match why.trim() {
                "" => String::new(),
                // A number and its percent sign stay together.
                why => format!(
                    "; the formula does not hold because {}",
                    why.replace(" %", &glue(" %"))
                ),
            };
            format!(
                "promised {} ({} with {}, {limit}), came {}: {}{reason}",
                glue(&percent(*promised)),
                glue("1 − pᵏ"),
                glue(&format!("p = {}", short_percent(*p))),
                glue(&percent(*came)),
                lost(losses),
            )
        }
        TheoryLine::Nothing => "no request ended, so there is nothing to compare".into(),
    }
}

/// How the figures of a queueing formula compare, if one fits: its name, how many figures, and the farthest one.
pub(super) fn formula_words(strategy: &StrategyResult) -> Option<String> {
    let rows: Vec<&TheoryRow> = strategy
        .theory_rows
        .iter()
        .filter(|row| row.formula != NO_FORMULA && row.formula != CHANCE)
        .collect();
    let formula = rows.first()?.formula;
    // Without scatter any distance is too much.
    let apart = |row: &TheoryRow| match (row.observed, row.predicted) {
        (Some(o), Some(p)) if row.note.is_empty() => (o - p).abs() > 1e-6 * p.abs(),
        _ => false,
    };
    let distance = |row: &TheoryRow| match row.z {
        Some(z) => z.abs(),
        None if apart(row) => f64::INFINITY,
        None => 0.0,
    };
    let farthest = rows
        .iter()
        .filter(|row| row.observed.is_some())
        .max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    let quantity = serde_json::to_value(farthest.quantity).ok()?;
    let check = Check {
        predicted: farthest.predicted?,
        observed: farthest.observed?,
        z: farthest.z,
    };
    let figures = match rows.len() {
        1 => String::new(),
        n => format!("of {n} figures the farthest is "),
    };
    Some(format!(
        "{formula}: {figures}{} {} against {}{}",
        quantity.as_str()?.replace('_', " "),
        thousands(check.observed),
        thousands(check.predicted),
        deviation(&check),
    ))
}

/// How many standard errors lie between what was predicted and what was seen.
fn deviation(check: &Check) -> String {
    let Some(z) = check.z else {
        return String::new();
    };
    let sign = if z <= -0.05 { "−" } else { "" };
    format!(" ({})", glue(&format!("z = {sign}{:.1}", z.abs())))
}

/// "20.1 points lost to a full queue, 8.6 to timeouts".
fn lost(losses: &[Loss]) -> String {
    let parts: Vec<_> = losses
        .iter()
        .enumerate()
        .map(|(i, loss)| {
            let unit = if i == 0 { " points lost" } else { "" };
            format!("{}{unit} to {}", points(loss.share), loss.reason.words())
        })
        .collect();
    if parts.is_empty() {
        "nothing was lost".into()
    } else {
        parts.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::FailureReason;
    use crate::report::sample;

    fn words(theory: TheoryLine, max_attempts: Option<u64>) -> String {
        let mut strategy = sample::herd().strategies.remove(0);
        strategy.theory = theory;
        strategy.max_attempts = max_attempts;
        theory_words(&strategy).replace('\u{a0}', " ")
    }

    #[test]
    fn a_formula_that_holds_is_shown_with_its_deviation() {
        let check = |predicted, observed, z| Check {
            predicted,
            observed,
            z,
        };
        let theory = TheoryLine::Independent {
            p: 0.7,
            k: Some(5),
            success: check(0.83193, 0.8319, Some(0.31)),
            attempts: check(2.7731, 2.7701, Some(-1.06)),
        };
        assert_eq!(
            words(theory, Some(5)),
            "success 83.19 % against 1 − pᵏ = 83.19 % (z = 0.3), 2.77 attempts per request against 2.77 (z = −1.1)"
        );
        let theory = TheoryLine::Independent {
            p: 0.0,
            k: None,
            success: check(1.0, 1.0, None),
            attempts: check(1.0, 1.0, Some(-0.01)),
        };
        assert_eq!(
            words(theory, None),
            "success 100.00 % against 1 − pᵏ = 100.00 %, 1 attempt per request against 1 (z = 0.0)"
        );
    }

    #[test]
    fn a_formula_that_fails_names_every_loss() {
        let loss = |reason, share| Loss { reason, share };
        let theory = |losses| TheoryLine::Dependent {
            why: "the queue ties attempts together".into(),
            p: 0.02,
            promised: 1.0 - 0.02f64.powi(5),
            came: 0.712,
            losses,
        };
        let losses = vec![
            loss(FailureReason::QueueFull, 0.201),
            loss(FailureReason::Timeout, 0.086),
            loss(FailureReason::Error, 0.001),
        ];
        assert_eq!(
            words(theory(losses), Some(5)),
            "promised >99.99 % (1 − pᵏ with p = 2 %, k = 5), came 71.20 %: 20.1 points lost to a full queue, \
             8.6 to timeouts, 0.10 to failure codes; the formula does not hold because the queue ties \
             attempts together"
        );
        assert!(
            words(theory(vec![]), None)
                .contains("no limit on attempts), came 71.20 %: nothing was lost;")
        );
    }

    #[test]
    fn without_ended_requests_it_says_so() {
        assert!(words(TheoryLine::Nothing, None).contains("no request ended"));
    }
}
