//! What became of a strategy, and whether any strategy won, in words.
//!
//! A mean of runs of which some collapsed is a number that never happened: it is announced as such. A winner is
//! named only where paired differences leave no doubt.

use super::number::{count, percent, points, short_percent};
use super::text::glue;
use crate::experiment::{RunResult, StrategyResult, replications_for};
use crate::metrics::Verdict;
use crate::scenario::MOST_REPLICATIONS;

/// The verdicts of a strategy's replications as a sentence part: "recovered 5.0 s after the last fault (4.8 to 5.2)".
/// A strategy with several verdicts is given by their counts.
pub fn verdict_words(strategy: &StrategyResult) -> String {
    let summary = &strategy.summary;
    let recovery = || match (
        summary.recovery_s,
        summary.recovery_s_low,
        summary.recovery_s_high,
    ) {
        (Some(0.0), ..) => " as soon as the last fault ended".into(),
        (Some(mean), Some(low), Some(high)) => format!(
            " {} after the last fault ({} to {} s)",
            glue(&format!("{mean:.1} s")),
            seconds(low.max(0.0)),
            seconds(high),
        ),
        (Some(mean), ..) => format!(" {} after the last fault", glue(&format!("{mean:.1} s"))),
        _ => String::new(),
    };
    let counts: Vec<(Verdict, u32)> = counts(strategy);
    match counts.as_slice() {
        [] => String::new(),
        [(Verdict::Recovered, _)] => format!("recovered{}", recovery()),
        [(Verdict::Overloaded, _)] => "overloaded from the start".into(),
        [(verdict, _)] => verdict.name().into(),
        several => {
            let parts: Vec<String> = several
                .iter()
                .map(|(verdict, n)| match verdict {
                    Verdict::Recovered => format!("{n} recovered{}", recovery()),
                    _ => format!("{n} {}", verdict.name()),
                })
                .collect();
            format!(
                "of {} replications {}",
                summary.replications,
                parts.join(", ")
            )
        }
    }
}

fn seconds(s: f64) -> String {
    format!("{s:.1}")
}

/// Verdicts that occurred, from best to worst.
fn counts(strategy: &StrategyResult) -> Vec<(Verdict, u32)> {
    let summary = &strategy.summary;
    let of = |verdict| match verdict {
        Verdict::Stable => summary.stable_replications,
        Verdict::Recovered => summary.recovered_replications,
        Verdict::Degraded => summary.degraded_replications,
        Verdict::Collapsed => summary.collapsed_replications,
        Verdict::Overloaded => summary.overloaded_replications,
    };
    let all = Verdict::ALL.map(|verdict| (verdict, of(verdict)));
    all.into_iter().filter(|&(_, n)| n > 0).collect()
}

/// A warning about a strategy of which some replications collapsed and some did not.
pub(super) fn two_kinds(strategy: &StrategyResult) -> Option<String> {
    let summary = &strategy.summary;
    let (collapsed, all) = (summary.collapsed_replications, summary.replications);
    (collapsed > 0 && collapsed < all).then(|| {
        format!(
            "{}: {collapsed} of {all} replications collapsed (95 % interval {} to {}). Means over both kinds of \
             replications describe neither; see replications.csv.",
            summary.strategy,
            glue(&percent(summary.collapsed_share_low)),
            glue(&percent(summary.collapsed_share_high)),
        )
    })
}

/// Success known no better than this is told how many replications would help.
const WIDE: f64 = 0.01;

/// How many replications a useful interval needs, when it is wide; or that a wanted precision was not reached.
pub(super) fn more_replications(result: &RunResult) -> Option<String> {
    let wanted = result.precision.unwrap_or(WIDE);
    if result.replications == 1 {
        return None;
    }
    if result.precision.is_none() && result.strategies.iter().any(|s| two_kinds(s).is_some()) {
        // A mean that describes nothing is not worth more precision.
        return None;
    }
    let unknown = |s: &StrategyResult| s.success.is_none();
    if result.precision.is_some() && result.strategies.iter().any(unknown) {
        return Some("A strategy of which no request ended has no precision to reach.".into());
    }
    let parts = result.strategies.iter().map(|s| s.each.as_slice());
    let needed = replications_for(wanted, parts)?;
    let half = short_percent(wanted);
    if needed > MOST_REPLICATIONS {
        let most = count(u64::from(MOST_REPLICATIONS));
        return Some(match result.precision {
            Some(_) => format!(
                "The wanted ± {half} was not reached: it takes more than {most} replications."
            ),
            None => {
                format!("Intervals of ± {half} or less would take more than {most} replications.")
            }
        });
    }
    let replications = count(u64::from(needed));
    let most = glue(&format!("--set run.max_replications={needed}"));
    let option = glue(&format!("--precision {}", half.replace(' ', "")));
    Some(match result.precision {
        Some(_) => format!(
            "The wanted ± {half} was not reached: it takes about {replications} replications ({most})."
        ),
        None if needed > result.max_replications => {
            format!(
                "Intervals of ± {half} or less would take about {replications} replications ({option} {most})."
            )
        }
        None => format!(
            "Intervals of ± {half} or less would take about {replications} replications ({option})."
        ),
    })
}

/// Which strategy has the best success, or why none is named.
pub(super) fn winner(result: &RunResult, ranked: &[&StrategyResult]) -> Option<String> {
    let [best, others @ ..] = ranked else {
        return None;
    };
    let next = others.first()?;
    best.summary.success_rate?;
    if result.replications == 1 {
        return Some("A single replication names no winner; --replications gives more.".into());
    }
    let tied: Vec<&str> = others
        .iter()
        .filter(|other| other.summary.ties_with_best)
        .map(|other| other.summary.strategy.as_str())
        .collect();
    let apart = |other: &StrategyResult| {
        let mean = other.summary.success_behind_best.unwrap_or(0.0);
        let low = other.summary.success_behind_best_low.unwrap_or(mean);
        let half = format!("{} ± {} points", points(mean.abs()), points(mean - low));
        glue(&half)
    };
    if tied.is_empty() {
        return Some(format!(
            "Best success: {}, {} above {} (paired).",
            best.summary.strategy,
            apart(next),
            next.summary.strategy,
        ));
    }
    let most = others.iter().filter(|other| other.summary.ties_with_best);
    let widest = most
        .max_by(|a, b| {
            let size = |s: &StrategyResult| s.summary.success_behind_best.unwrap_or(0.0).abs();
            size(a).total_cmp(&size(b))
        })
        .map(|other| apart(other));
    Some(format!(
        "No winner by success: {} and {} are {} apart (paired), which is within the interval or below {} points.",
        best.summary.strategy,
        tied.join(", "),
        widest.unwrap_or_default(),
        points(result.comparison.success),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::{ranked, sample};
    use super::*;

    #[test]
    fn each_verdict_has_its_words() {
        let result = sample::herd();
        let words: Vec<String> = ranked(&result).into_iter().map(verdict_words).collect();
        insta::assert_debug_snapshot!(words, @r#"
        [
            "recovered as soon as the last fault ended",
            "recovered as soon as the last fault ended",
            "recovered as soon as the last fault ended",
            "recovered 22.0\u{a0}s after the last fault (22.0 to 22.0 s)",
            "collapsed",
        ]
        "#);
    }

    #[test]
    fn a_mean_over_two_kinds_is_warned_of() {
        let mut strategy = sample::herd().strategies.remove(0);
        strategy.summary.replications = 20;
        (
            strategy.summary.collapsed_replications,
            strategy.summary.recovered_replications,
        ) = (9, 11);
        (
            strategy.summary.collapsed_share_low,
            strategy.summary.collapsed_share_high,
        ) = (0.258, 0.658);
        insta::assert_snapshot!(two_kinds(&strategy).unwrap(), @r"
        fixed 100ms: 9 of 20 replications collapsed (95 % interval 25.80 % to 65.80 %). Means over both kinds of replications describe neither; see replications.csv.
        ");
        strategy.summary.collapsed_replications = 20;
        assert_eq!(two_kinds(&strategy), None);
    }

    #[test]
    fn equal_strategies_have_no_winner() {
        let mut result = sample::herd_named(&["a", "b"]);
        for strategy in &mut result.strategies {
            strategy.summary.success_behind_best = Some(0.0);
            strategy.summary.success_behind_best_low = Some(-0.0004);
            strategy.summary.success_behind_best_high = Some(0.0004);
            strategy.summary.ties_with_best = strategy.summary.rank > 1;
        }
        insta::assert_snapshot!(winner(&result, &ranked(&result)).unwrap(), @r"
        No winner by success: a and b are 0.00 ± 0.04 points apart (paired), which is within the interval or below 0.10 points.
        ");
        result.strategies[1].summary.ties_with_best = false;
        result.strategies[1].summary.success_behind_best = Some(0.0132);
        result.strategies[1].summary.success_behind_best_low = Some(0.0112);
        insta::assert_snapshot!(winner(&result, &ranked(&result)).unwrap(), @r"
        Best success: a, 1.3 ± 0.20 points above b (paired).
        ");
    }
}
