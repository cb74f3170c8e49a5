//! The ranked table of a run, for a terminal of any width.
//!
//! It answers one question a part: which is best, by how much, and why. Names that are cut in the table stand in full in
//! the lines below it.

use super::checks::checks;
use super::comparison::comparison;
use super::grid::{Column, first_that_fits, grid};
use super::number::{count, factor, fixed, latency, percent, places};
use super::text::{Paint, Style, glue, shared_lines, wrap};
use super::theory::formula_words;
use super::verdict::{more_replications, two_kinds, winner};
use super::{border_lines, ranked, replications_words, theory_words, verdict_words};
use crate::experiment::{NO_FORMULA, RunResult, StrategyResult};
use crate::metrics::SummaryRow;
use crate::time::SimDuration;

/// Fewer columns than this hold no table; text is laid out for so many then.
pub(super) const NARROWEST: usize = 76;

/// The result as text of at most `width` columns (at least 76): what was asked, strategies from best to worst,
/// what theory says about each, and whether they keep what is asked of them. Ends with a line break.
pub fn table(result: &RunResult, width: usize, style: Style) -> String {
    let width = width.max(NARROWEST);
    let strategies = ranked(result);
    let mut parts = vec![heading(result, width, style)];
    if strategies.is_empty() {
        parts.push("There is no strategy to show.".into());
    } else {
        parts.push(ranking(result, &strategies, width, style));
    }
    let say = |text: String| wrap(&style.say(&text), width, "  ");
    parts.extend(winner(result, &strategies).map(say));
    parts.extend(comparison(result, &strategies, width, style));
    parts.extend(strategies.iter().filter_map(|s| two_kinds(s)).map(say));
    parts.extend(more_replications(result).map(say));
    parts.extend(not_ended(&strategies).into_iter().map(say));
    parts.push(borders(&strategies, width, style));
    parts.push(theory(&strategies, width, style));
    parts.push(no_formula(&strategies, width, style));
    parts.push(checks(result, width, style));
    parts.retain(|part| !part.is_empty());
    format!("{}\n", parts.join("\n\n"))
}

fn heading(result: &RunResult, width: usize, style: Style) -> String {
    let title = match result.question.trim() {
        "" => result.name.clone(),
        question => format!("{}: {question}", result.name),
    };
    let meaning = match result.replications {
        1 => "A single replication has no interval.".into(),
        _ => format!("{} interval over them, in points.", glue("± is the 95 %")),
    };
    let runs = glue(&replications_words(result.replications));
    let seed = glue(&format!("seed {}", result.seed));
    let window = if result.warmup == SimDuration::ZERO {
        String::new()
    } else {
        format!(
            " Requests that start from {} to {} count.",
            glue(&result.warmup.to_string()),
            glue(&result.duration.to_string())
        )
    };
    let facts = format!("{runs}, {seed}. {meaning} Latency is of successes.{window}");
    let lines = |text: &str, paint| {
        let wrapped = wrap(&style.say(text), width, "");
        let painted: Vec<_> = wrapped
            .lines()
            .map(|line| style.paint(paint, line))
            .collect();
        painted.join("\n")
    };
    format!(
        "{}\n{}",
        lines(&title, Paint::Heading),
        lines(&facts, Paint::Faint)
    )
}

/// The ranked strategies. In a narrow terminal the peak and the median go first, then the interval of the cost.
fn ranking(
    result: &RunResult,
    strategies: &[&StrategyResult],
    width: usize,
    style: Style,
) -> String {
    let mut whole = without_cost(strategies, style);
    let Some(currency) = &result.currency else {
        return grid(whole, width, true, style);
    };
    let cost = |sure: bool| {
        let summaries: Vec<_> = strategies.iter().map(|s| &s.summary).collect();
        Column::numbers([COST, currency], costs(&summaries, sure), style)
    };
    let short = whole.clone();
    whole.insert(COST_AT, cost(true));
    let without = |gone: &[usize], sure: bool| {
        let mut short = short.clone();
        for &column in gone {
            short.remove(column);
        }
        short.insert(COST_AT, cost(sure));
        short
    };
    let tables = vec![
        whole,
        without(&[PEAK], true),
        without(&[PEAK, MEDIAN], true),
        without(&[PEAK, MEDIAN], false),
    ];
    grid(first_that_fits(tables, width), width, true, style)
}

/// The columns of every table.
fn without_cost(strategies: &[&StrategyResult], style: Style) -> Vec<Column> {
    let each = |cell: &dyn Fn(&SummaryRow) -> String| -> Vec<String> {
        strategies.iter().map(|s| cell(&s.summary)).collect()
    };
    let optional = |value: Option<f64>, words: fn(f64) -> String| value.map_or("-".into(), words);
    let numbers = |heading, cells| Column::numbers(heading, cells, style);
    let success = strategies
        .iter()
        .map(|strategy| success(strategy))
        .collect();
    let (p50, p99) = (
        each(&|s| optional(s.latency_p50_ms, latency)),
        each(&|s| optional(s.latency_p99_ms, latency)),
    );
    let amplification = each(&|s| optional(s.amplification, factor));
    let peak = |s: &SummaryRow| Some(s.offered_peak_per_s / s.offered_mean_per_s);
    let peak = |s: &SummaryRow| optional(peak(s).filter(|peak| peak.is_finite()), factor);
    vec![
        numbers(["", "#"], each(&|s| s.rank.to_string())),
        Column::names(["", "strategy"], each(&|s| s.strategy.clone()), style),
        numbers(["", "success"], success),
        Column::words(["", "verdict"], each(&|s| s.verdict.into()), style),
        numbers(["latency", "p50"], p50),
        numbers(["latency", "p99"], p99),
        numbers(["ampli-", "fication"], amplification),
        numbers(["peak ÷", "mean"], each(&peak)),
    ]
}

/// The heading of the cost of a thousand requests.
const COST: &str = "cost/1000";
/// Where it stands in the table, beside success.
const COST_AT: usize = 3;
/// Where the median and the peak stand without it.
const MEDIAN: usize = 4;
const PEAK: usize = 7;

/// "12.3" or "12.3 ± 0.4", all with the same decimals.
fn costs(summaries: &[&SummaryRow], with_interval: bool) -> Vec<String> {
    let costs = summaries.iter().filter_map(|s| s.cost_per_1000_requests);
    let places = places(costs.fold(0.0, f64::max));
    let cost = |summary: &&SummaryRow| {
        let Some(cost) = summary.cost_per_1000_requests else {
            return "-".into();
        };
        let mean = fixed(cost, places);
        match summary.cost_per_1000_requests_high {
            Some(high) if with_interval => format!("{mean} ± {}", fixed(high - cost, places)),
            _ => mean,
        }
    };
    summaries.iter().map(cost).collect()
}

/// "83.19 % ± 0.42"; the interval is cut at 0 and 1, so its wider side is shown.
fn success(strategy: &StrategyResult) -> String {
    let Some(estimate) = strategy.success else {
        return "-".into();
    };
    let mean = percent(estimate.mean);
    match (estimate.low, estimate.high) {
        (Some(low), Some(high)) => {
            let half = (estimate.mean - low).max(high - estimate.mean);
            format!("{mean} ± {:.2}", half * 100.0)
        }
        _ => mean,
    }
}

/// Requests that ended neither way would be missed in a success rate, or misread; so they are named.
pub(super) fn not_ended(strategies: &[&StrategyResult]) -> Vec<String> {
    let named = |what: &str, requests: fn(&SummaryRow) -> u64| {
        let some: Vec<_> = strategies
            .iter()
            .map(|strategy| (&strategy.summary.strategy, requests(&strategy.summary)))
            .filter(|(_, requests)| *requests > 0)
            .map(|(name, requests)| format!("{name} {}", glue(&format!("({})", count(requests)))))
            .collect();
        (!some.is_empty()).then(|| format!("{what}: {}.", some.join(", ")))
    };
    let open = named(
        "Requests still open at the end, not in the success rate",
        |row| row.unfinished,
    );
    let letters = named(
        "Dead letters at the end, in the success rate as failures",
        |row| row.dead_lettered,
    );
    open.into_iter().chain(letters).collect()
}

/// The load up to which the scenario comes back by itself, where anything is known about it.
fn borders(strategies: &[&StrategyResult], width: usize, style: Style) -> String {
    if strategies.iter().all(|strategy| strategy.border.is_err()) {
        return String::new();
    }
    let borders = strategies
        .iter()
        .map(|strategy| (strategy.summary.strategy.as_str(), &strategy.border));
    let lines = border_lines(borders);
    let lines = lines.iter().map(|line| wrap(&style.say(line), width, "  "));
    lines.collect::<Vec<_>>().join("\n")
}

fn theory(strategies: &[&StrategyResult], width: usize, style: Style) -> String {
    let lines: Vec<_> = strategies
        .iter()
        .map(|strategy| {
            let name = &strategy.summary.strategy;
            let text = match verdict_words(strategy).as_str() {
                "" => format!("{name}: {}", theory_words(strategy)),
                verdict => format!("{name}: {verdict}; {}", theory_words(strategy)),
            };
            let text = match formula_words(strategy) {
                Some(formula) => format!("{text}; {formula}"),
                None => text,
            };
            wrap(&style.say(&text), width, "  ")
        })
        .collect();
    lines.join("\n")
}

/// Why no formula of queueing applies, where none does.
fn no_formula(strategies: &[&StrategyResult], width: usize, style: Style) -> String {
    let told = strategies.iter().flat_map(|strategy| {
        let none = strategy
            .theory_rows
            .iter()
            .filter(|row| row.formula == NO_FORMULA);
        none.map(|row| (strategy.summary.strategy.as_str(), row.note.clone()))
    });
    let lines = shared_lines(told).into_iter();
    let lines = lines.map(|line| wrap(&style.say(&line), width, "  "));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::text::columns;
    use super::*;
    use crate::report::sample;

    const PLAIN: Style = Style {
        colour: false,
        unicode: true,
    };

    /// Two strategies are enough for a golden text.
    fn pair() -> RunResult {
        let mut result =
            sample::herd_named(&["fixed 100ms", "exponential backoff without any jitter"]);
        result.strategies[1].summary.unfinished = 1234;
        result
    }

    #[test]
    fn a_terminal_of_eighty_columns() {
        insta::assert_snapshot!(table(&pair(), 80, PLAIN), @r"
        restart-herd: Which backoff lets a service come back after a restart?
        4 replications, seed 42. ± is the 95 % interval over them, in points. Latency is
        of successes.

                                                      latency  latency    ampli-  peak ÷
        #  strategy               success  verdict        p50      p99  fication    mean
        ────────────────────────────────────────────────────────────────────────────────
        1  fixed 100ms     47.90 % ± 0.40  collapsed   1.19 s   4.66 s     3.72×   1.29×
        2  exponential b…  87.33 % ± 0.74  recovered   266 ms   1.03 s     1.28×   3.77×

        Best success: fixed 100ms, 0.00 ± 0.00 points above exponential backoff without
          any jitter (paired).

        Ranking by success: fixed 100ms < exponential backoff without any jitter

        Against fixed 100ms (paired differences, 95 % intervals):
                                    success   amplification  latency p50     latency p99
        strategy                     points                           ms               s
        ────────────────────────────────────────────────────────────────────────────────
        exponential backo…  +39.44 ± 0.34 ✓  -2.44 ± 0.00 ✓   -925 ± 0 ✓  -3.63 ± 0.00 ✓

        > and ✓ better, ✗ worse: real differences; ≈ below the threshold (0.10 points of
          a share, 1 % of another figure); ~ could be chance.

        Requests still open at the end, not in the success rate: exponential backoff
          without any jitter (1,234).

        fixed 100ms: collapsed; promised 100.00 % (1 − pᵏ with p = 2 %, no limit on
          attempts), came 47.90 %: 17.3 points lost to a full queue, 34.8 to timeouts;
          the formula does not hold because the outage and the queue fail many attempts
          together
        exponential backoff without any jitter: recovered 22.0 s after the last fault
          (22.0 to 22.0 s); promised >99.99 % (1 − pᵏ with p = 2 %, k = 6), came
          87.33 %: 4.2 points lost to a full queue, 8.5 to timeouts; the formula does
          not hold because the outage and the queue fail many attempts together
        ");
    }

    #[test]
    fn a_terminal_of_a_hundred_and_twenty_columns() {
        insta::assert_snapshot!(table(&pair(), 120, PLAIN), @r"
        restart-herd: Which backoff lets a service come back after a restart?
        4 replications, seed 42. ± is the 95 % interval over them, in points. Latency is of successes.

                                                                              latency  latency    ampli-  peak ÷
        #  strategy                                       success  verdict        p50      p99  fication    mean
        ────────────────────────────────────────────────────────────────────────────────────────────────────────
        1  fixed 100ms                             47.90 % ± 0.40  collapsed   1.19 s   4.66 s     3.72×   1.29×
        2  exponential backoff without any jitter  87.33 % ± 0.74  recovered   266 ms   1.03 s     1.28×   3.77×

        Best success: fixed 100ms, 0.00 ± 0.00 points above exponential backoff without any jitter (paired).

        Ranking by success: fixed 100ms < exponential backoff without any jitter

        Against fixed 100ms (paired differences, 95 % intervals):
                                             success   amplification  latency p50     latency p99     goodput          collapsed
        strategy                              points                           ms               s       per s             points
        ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────
        exponential backoff withou…  +39.44 ± 0.34 ✓  -2.44 ± 0.00 ✓   -925 ± 0 ✓  -3.63 ± 0.00 ✓  +316 ± 3 ✓  -100.00 ± 69.28 ✓

        > and ✓ better, ✗ worse: real differences; ≈ below the threshold (0.10 points of a share, 1 % of another figure); ~
          could be chance.

        Requests still open at the end, not in the success rate: exponential backoff without any jitter (1,234).

        fixed 100ms: collapsed; promised 100.00 % (1 − pᵏ with p = 2 %, no limit on attempts), came 47.90 %: 17.3 points lost to
          a full queue, 34.8 to timeouts; the formula does not hold because the outage and the queue fail many attempts together
        exponential backoff without any jitter: recovered 22.0 s after the last fault (22.0 to 22.0 s); promised >99.99 %
          (1 − pᵏ with p = 2 %, k = 6), came 87.33 %: 4.2 points lost to a full queue, 8.5 to timeouts; the formula does not
          hold because the outage and the queue fail many attempts together
        ");
    }

    #[test]
    fn plain_ascii() {
        let ascii = Style {
            colour: false,
            unicode: false,
        };
        let text = table(&pair(), 80, ascii);
        assert!(text.is_ascii());
        insta::assert_snapshot!(text, @r"
        restart-herd: Which backoff lets a service come back after a restart?
        4 replications, seed 42. +- is the 95 % interval over them, in points. Latency
        is of successes.

                                                      latency  latency    ampli-  peak /
        #  strategy               success  verdict        p50      p99  fication    mean
        --------------------------------------------------------------------------------
        1  fixed 100ms    47.90 % +- 0.40  collapsed   1.19 s   4.66 s     3.72x   1.29x
        2  exponentia...  87.33 % +- 0.74  recovered   266 ms   1.03 s     1.28x   3.77x

        Best success: fixed 100ms, 0.00 +- 0.00 points above exponential backoff without
          any jitter (paired).

        Ranking by success: fixed 100ms < exponential backoff without any jitter

        Against fixed 100ms (paired differences, 95 % intervals):
                                 success    amplification  latency p50      latency p99
        strategy                  points                            ms                s
        -------------------------------------------------------------------------------
        exponential...  +39.44 +- 0.34 +  -2.44 +- 0.00 +  -925 +- 0 +  -3.63 +- 0.00 +

        > and + better, ! worse: real differences; = below the threshold (0.10 points of
          a share, 1 % of another figure); ~ could be chance.

        Requests still open at the end, not in the success rate: exponential backoff
          without any jitter (1,234).

        fixed 100ms: collapsed; promised 100.00 % (1 - p^k with p = 2 %, no limit on
          attempts), came 47.90 %: 17.3 points lost to a full queue, 34.8 to timeouts;
          the formula does not hold because the outage and the queue fail many attempts
          together
        exponential backoff without any jitter: recovered 22.0 s after the last fault
          (22.0 to 22.0 s); promised >99.99 % (1 - p^k with p = 2 %, k = 6), came
          87.33 %: 4.2 points lost to a full queue, 8.5 to timeouts; the formula does
          not hold because the outage and the queue fail many attempts together
        ");
    }

    #[test]
    fn colour_changes_nothing_but_colour() {
        let coloured = table(
            &pair(),
            80,
            Style {
                colour: true,
                unicode: true,
            },
        );
        assert!(coloured.contains("\u{1b}[1m"));
        let bare = ["\u{1b}[1m", "\u{1b}[2m", "\u{1b}[32m", "\u{1b}[0m"]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        assert_eq!(bare, table(&pair(), 80, PLAIN));
        assert!(!bare.contains('\u{1b}'));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let sixty = "n".repeat(60);
        let wide = "指数退避".repeat(15);
        let result = sample::herd_named(&[&sixty, &wide, "emoji 👩‍👩‍👧 ☎️", "tab\tand\nline", ""]);
        for style in [
            PLAIN,
            Style {
                colour: false,
                unicode: false,
            },
        ] {
            for width in [0, 72, 80, 81, 100, 200] {
                let text = table(&result, width, style);
                for line in text.lines() {
                    assert!(columns(line) <= width.max(NARROWEST), "{width}: {line}");
                }
            }
        }
    }

    #[test]
    fn columns_stay_aligned_beside_wide_characters() {
        let result = sample::herd_named(&["指数退避", "plain", "混ぜた mixed"]);
        let text = table(&result, 80, PLAIN);
        let rule = text.lines().position(|line| line.starts_with('─')).unwrap();
        let rows: Vec<_> = text.lines().skip(rule + 1).take(3).collect();
        let before = |row: &str| columns(row.split_once('±').unwrap().0);
        assert!(
            rows.iter().all(|row| before(row) == before(rows[0])),
            "{text}"
        );
    }

    #[test]
    fn a_single_replication_says_that_it_has_no_interval() {
        let text = table(&sample::silent(), 80, PLAIN);
        assert!(text.contains("1 replication, seed 42. A single replication has no interval."));
        assert!(!text.contains('±'));
        assert!(text.contains("nobody"));
    }
}
