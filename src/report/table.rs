//! The ranked table of a run, for a terminal of any width.
//!
//! A line that wraps turns a table into noise, so names give way: numbers keep their columns and names are cut to
//! what is left. The full names stand in the theory lines below.

use super::checks::checks;
use super::number::{count, factor, latency, percent};
use super::text::{Paint, Style, columns, fit, glue, shared_lines, wrap};
use super::theory::formula_words;
use super::verdict::{more_replications, two_kinds, winner};
use super::{border_lines, ranked, replications_words, theory_words, verdict_words};
use crate::experiment::{NO_FORMULA, RunResult, StrategyResult};
use crate::time::SimDuration;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

/// Fewer columns than this hold no table; text is laid out for so many then.
const NARROWEST: usize = 76;
/// Names keep this many columns, however narrow the terminal.
const SHORTEST_NAME: usize = 8;
/// The column of the verdict, which is a word.
const VERDICT: usize = 3;
/// Spaces between columns.
const GAP: u16 = 2;

/// The result as text of at most `width` columns (at least 76): what was asked, strategies from best to worst,
/// what theory says about each, and whether they keep what is asked of them. Ends with a line break.
pub fn table(result: &RunResult, width: usize, style: Style) -> String {
    let width = width.max(NARROWEST);
    let strategies = ranked(result);
    let mut parts = vec![heading(result, width, style)];
    if strategies.is_empty() {
        parts.push("There is no strategy to show.".into());
    } else {
        parts.push(ranking(&strategies, width, style));
    }
    let say = |text: String| wrap(&style.say(&text), width, "  ");
    parts.extend(winner(result, &strategies).map(say));
    parts.extend(strategies.iter().filter_map(|s| two_kinds(s)).map(say));
    parts.extend(more_replications(result).map(say));
    parts.extend(unfinished(&strategies, width, style));
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

/// Two lines of heading a column.
const HEADINGS: [&str; 8] = [
    "\n#",
    "\nstrategy",
    "\nsuccess",
    "\nverdict",
    "latency\np50",
    "latency\np99",
    "ampli-\nfication",
    "peak ÷\nmean",
];

fn ranking(strategies: &[&StrategyResult], width: usize, style: Style) -> String {
    let mut rows: Vec<[String; 8]> = strategies
        .iter()
        .map(|strategy| cells(strategy).map(|cell| style.say(&cell)))
        .collect();
    let headings = HEADINGS.map(|heading| {
        heading
            .split('\n')
            .map(|line| style.say(line))
            .collect::<Vec<_>>()
    });
    let widest = |column: usize| {
        let heading = headings[column].iter().map(|line| columns(line));
        let cells = rows.iter().map(|row| columns(&row[column]));
        heading.chain(cells).max().unwrap_or(0)
    };
    let numbers: usize = (0..HEADINGS.len())
        .filter(|&column| column != 1)
        .map(|column| widest(column) + usize::from(GAP))
        .sum();
    let names = width.saturating_sub(numbers).max(SHORTEST_NAME);
    for row in &mut rows {
        row[1] = fit(&row[1], names, style.ellipsis());
    }
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled)
        .set_header(headings.iter().map(|lines| Cell::new(lines.join("\n"))));
    table.add_rows(rows);
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, if i + 1 == HEADINGS.len() { 0 } else { GAP }));
        if i != 1 && i != VERDICT {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    painted(&table.trim_fmt(), style)
}

/// The laid out table with a rule below its heading and its colours.
fn painted(table: &str, style: Style) -> String {
    let rule = if style.unicode { "─" } else { "-" };
    let long = table.lines().map(columns).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (i, line) in table.lines().enumerate() {
        match i {
            0 | 1 => lines.push(style.paint(Paint::Heading, line)),
            2 => {
                lines.push(style.paint(Paint::Faint, &rule.repeat(long)));
                lines.push(style.paint(Paint::Best, line));
            }
            _ => lines.push(line.into()),
        }
    }
    lines.join("\n")
}

fn cells(strategy: &StrategyResult) -> [String; 8] {
    let summary = &strategy.summary;
    let none = || "-".to_string();
    let peak = summary.offered_peak_per_s / summary.offered_mean_per_s;
    [
        summary.rank.to_string(),
        summary.strategy.clone(),
        success(strategy),
        summary.verdict.into(),
        summary.latency_p50_ms.map_or_else(none, latency),
        summary.latency_p99_ms.map_or_else(none, latency),
        summary.amplification.map_or_else(none, factor),
        if peak.is_finite() {
            factor(peak)
        } else {
            none()
        },
    ]
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

/// Requests that ended neither way would be missed in a success rate; so they are named.
fn unfinished(strategies: &[&StrategyResult], width: usize, style: Style) -> Option<String> {
    let open: Vec<_> = strategies
        .iter()
        .filter(|strategy| strategy.summary.unfinished > 0)
        .map(|strategy| {
            let requests = count(strategy.summary.unfinished);
            format!(
                "{} {}",
                strategy.summary.strategy,
                glue(&format!("({requests})"))
            )
        })
        .collect();
    let text = format!(
        "Requests still open at the end, not in the success rate: {}.",
        open.join(", ")
    );
    (!open.is_empty()).then(|| wrap(&style.say(&text), width, "  "))
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
