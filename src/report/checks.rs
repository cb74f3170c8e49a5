//! What came of the checks, in words and in rows.
//!
//! A build that fails is read by somebody in a hurry. So each line says what was asked, what came, how far off that
//! is, and, where nothing is decided, what would decide it. Colour only repeats the first word.

use super::number::{count, factor, latency, percent, points, thousands};
use super::replications_words;
use super::text::{Paint, Style, glue, wrap};
use crate::experiment::{CheckOutcome, CheckResult, RunResult};
use crate::metrics::Unit;
use crate::scenario::MOST_REPLICATIONS;
use serde::Serialize;

/// A row of `checks.csv`.
#[derive(Debug, Serialize)]
pub(super) struct CheckRow<'a> {
    check: usize,
    strategy: &'a str,
    metric: &'a str,
    relation: &'a str,
    value: f64,
    outcome: &'a str,
    figure: Option<f64>,
    figure_low: Option<f64>,
    figure_high: Option<f64>,
    confidence: f64,
    interval_confidence: f64,
    replications: u32,
    replications_to_decide: Option<u64>,
    note: &'a str,
}

impl<'a> From<&'a CheckResult> for CheckRow<'a> {
    fn from(check: &'a CheckResult) -> Self {
        Self {
            check: check.number,
            strategy: &check.strategy,
            metric: check.metric.0.name,
            relation: check.relation.sign(),
            value: check.bound,
            outcome: check.outcome.name(),
            figure: check.estimate.map(|figure| figure.mean),
            figure_low: check.estimate.and_then(|figure| figure.low),
            figure_high: check.estimate.and_then(|figure| figure.high),
            confidence: check.confidence,
            interval_confidence: check.interval_confidence,
            replications: check.replications,
            replications_to_decide: check.replications_to_decide,
            note: &check.note,
        }
    }
}

/// The outcome as it stands at the start of a line.
fn word(outcome: CheckOutcome) -> &'static str {
    match outcome {
        CheckOutcome::Holds => "holds",
        CheckOutcome::DoesNotHold => "DOES NOT HOLD",
        CheckOutcome::Undecided => "undecided",
        CheckOutcome::NotChecked => "not checked",
    }
}

/// What came of a check: the figure with its interval, and how far it is from where it should be.
pub fn check_words(check: &CheckResult) -> String {
    let unit = check.metric.0.unit;
    let mut parts = Vec::new();
    if let Some(figure) = check.estimate {
        let ends = figure.low.zip(figure.high);
        let interval = ends.map_or_else(String::new, |(low, high)| {
            let (low, high) = (amount(low, unit), amount(high, unit));
            format!(" ({} to {})", glue(&low), glue(&high))
        });
        parts.push(format!("{}{interval}", glue(&amount(figure.mean, unit))));
    }
    match (check.outcome, check.misses_by) {
        (CheckOutcome::DoesNotHold, Some(by)) => {
            parts.push(format!("misses by {}", glue(&distance(by, unit))));
        }
        (CheckOutcome::Holds, Some(by)) => {
            parts.push(format!("{} to spare", glue(&distance(-by, unit))));
        }
        _ => {}
    }
    parts.extend(check.replications_to_decide.map(|needed| {
        let most = u64::from(MOST_REPLICATIONS);
        let needed = match needed > most {
            true => format!("more than {}", count(most)),
            false => format!("about {}", count(needed)),
        };
        format!("{needed} replications would decide")
    }));
    parts.extend(Some(check.note.clone()).filter(|note| !note.is_empty()));
    parts.join("; ")
}

/// A line about a check, for a place where it stands alone.
pub fn check_line(check: &CheckResult) -> String {
    let words = check_words(check).replace('\u{a0}', " ");
    let CheckResult {
        strategy,
        words: asked,
        outcome,
        ..
    } = check;
    format!("{}: {strategy}: {asked}: {words}", word(*outcome))
}

/// A figure as people read it.
fn amount(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Share => percent(value),
        Unit::Factor => factor(value),
        Unit::PerSecond => format!("{}/s", thousands(value)),
        Unit::Milliseconds => latency(value),
        Unit::Seconds if value == 0.0 => "0 s".into(),
        Unit::Seconds => latency(value * 1e3),
        Unit::Count | Unit::Money => thousands(value),
    }
}

/// How far apart two figures are.
fn distance(value: f64, unit: Unit) -> String {
    // Less than what is shown is nothing, on either side.
    let value = value.max(0.0);
    match unit {
        Unit::Share => format!("{} points", points(value)),
        unit => amount(value, unit),
    }
}

/// The section of the table: how many hold, and a line for each check and strategy. Nothing without checks.
pub(super) fn checks(result: &RunResult, width: usize, style: Style) -> String {
    if result.checks.is_empty() {
        return String::new();
    }
    let (left_out, checked): (Vec<_>, Vec<_>) = result
        .checks
        .iter()
        .partition(|check| check.outcome == CheckOutcome::NotChecked);
    let words = checked.iter().map(|check| word(check.outcome).len());
    let widest = words.max().unwrap_or(0);
    let mut lines = vec![wrap(&style.say(&summary(result)), width, "  ")];
    let told = checked.iter();
    lines.extend(told.map(|check| line(check, widest, width, style)));
    if !left_out.is_empty() {
        let each = left_out.iter();
        let each = each.map(|check| format!("{} of {}", check.words, check.strategy));
        let text = format!(
            "not checked, as not run: {}",
            each.collect::<Vec<_>>().join(", ")
        );
        lines.push(wrap(&style.say(&text), width, "  "));
    }
    lines.join("\n")
}

fn line(check: &CheckResult, widest: usize, width: usize, style: Style) -> String {
    let word = word(check.outcome);
    let gap = glue(&" ".repeat(widest - word.len()));
    let (strategy, asked) = (&check.strategy, glue(&check.words));
    let text = format!(
        "{}{gap} {strategy}: {asked}: {}",
        glue(word),
        check_words(check)
    );
    let wrapped = wrap(&style.say(&text), width, "  ");
    let paint = match check.outcome {
        CheckOutcome::Holds => Paint::Best,
        CheckOutcome::DoesNotHold => Paint::Bad,
        CheckOutcome::Undecided | CheckOutcome::NotChecked => Paint::Unsure,
    };
    let rest = wrapped.strip_prefix(word).unwrap_or_default();
    format!("{}{rest}", style.paint(paint, word))
}

/// "Checks: 3 hold, 1 does not hold, 1 undecided."
fn summary(result: &RunResult) -> String {
    let of = |outcome| {
        result
            .checks
            .iter()
            .filter(move |c| c.outcome == outcome)
            .count()
    };
    let parts = [
        (CheckOutcome::Holds, "holds", "hold"),
        (CheckOutcome::DoesNotHold, "does not hold", "do not hold"),
        (CheckOutcome::Undecided, "undecided", "undecided"),
        (CheckOutcome::NotChecked, "not checked", "not checked"),
    ];
    let parts = parts.map(|(outcome, one, several)| match of(outcome) {
        0 => String::new(),
        1 => glue(&format!("1 {one}")),
        n => glue(&format!("{n} {several}")),
    });
    let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let text = format!("Checks: {}.", told.join(", "));
    match (of(CheckOutcome::Undecided), result.looks) {
        (0, _) => text,
        (_, None) => format!("{text} --until-decided runs as many replications as decide them."),
        (_, Some(_)) => {
            let ran = glue(&replications_words(result.replications));
            format!("{text} After {ran} the limit was reached; run.max_replications raises it.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const PLAIN: Style = Style {
        colour: false,
        unicode: true,
    };

    #[test]
    fn every_outcome_has_its_line() {
        insta::assert_snapshot!(checks(&sample::checked(), 80, PLAIN), @r"
        Checks: 1 holds, 1 does not hold, 1 undecided, 1 not checked. --until-decided
          runs as many replications as decide them.
        holds         exponential, no jitter: success_rate >= 85%: 87.33 % (86.59 % to
          88.07 %); 2.3 points to spare
        DOES NOT HOLD exponential, no jitter: success_rate >= 99%: 87.33 % (86.59 % to
          88.07 %); misses by 11.7 points
        undecided     exponential, no jitter: latency_p99_ms < 1s: 1.03 s (975 ms to
          1.08 s); about 15 replications would decide
        not checked, as not run: success_rate >= 85% of no retries
        ");
    }

    #[test]
    fn colour_only_repeats_the_first_word() {
        let colour = Style {
            colour: true,
            unicode: true,
        };
        let text = checks(&sample::checked(), 80, colour);
        for word in [
            "\u{1b}[32mholds",
            "\u{1b}[31mDOES NOT HOLD",
            "\u{1b}[33mundecided",
        ] {
            assert!(text.contains(word), "{word}: {text}");
        }
        let codes = ["\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m", "\u{1b}[0m"];
        let bare = codes.iter().fold(text, |text, code| text.replace(code, ""));
        assert_eq!(bare, checks(&sample::checked(), 80, PLAIN));
    }

    #[test]
    fn a_limit_that_was_reached_is_told() {
        let mut result = sample::checked();
        result.looks = Some(3);
        assert!(summary(&result).contains("run.max_replications"));
        result
            .checks
            .retain(|check| check.outcome == CheckOutcome::Holds);
        assert_eq!(summary(&result).replace('\u{a0}', " "), "Checks: 1 holds.");
        result.checks.clear();
        assert_eq!(checks(&result, 80, PLAIN), "");
    }

    #[test]
    fn figures_have_the_unit_of_their_name() {
        let shown = [
            amount(0.9993, Unit::Share),
            amount(1.417, Unit::Factor),
            amount(812.4, Unit::PerSecond),
            amount(20_400.0, Unit::Milliseconds),
            amount(0.0, Unit::Seconds),
            amount(61.25, Unit::Seconds),
            amount(1234.0, Unit::Count),
            amount(0.02468, Unit::Money),
        ];
        let expected = [
            "99.93 %", "1.42×", "812/s", "20.4 s", "0 s", "61.2 s", "1,234", "0.0247",
        ];
        assert_eq!(shown, expected);
        assert_eq!(distance(0.0012, Unit::Share), "0.12 points");
    }
}
