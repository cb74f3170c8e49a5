//! `report.md`: table, verdicts, theory and all charts of a run on one page.
//!
//! Names are somebody's input, and Markdown has a meaning for many characters. So whatever is not a word of this page is
//! escaped, and nobody's strategy becomes a link, a column or a heading.

use super::number::{count, factor, latency, percent};
use super::run_charts::Chart;
use super::table::not_ended;
use super::text::printable;
use super::theory::formula_words;
use super::verdict::{more_replications, two_kinds, winner};
use super::{border_lines, check_line, ranked, replications_words, theory_words, verdict_words};
use crate::experiment::{RunResult, StrategyResult};

/// What begins or ends something in Markdown or HTML.
const MEANT: &str = "\\`*_{}[]<>#|~&!$";

/// The page, with the charts that lie beside it.
pub(super) fn page(result: &RunResult, charts: &[Chart]) -> String {
    let strategies = ranked(result);
    let mut parts = vec![format!("# {}", escaped(&result.name))];
    let question = escaped(result.question.trim());
    parts.extend(Some(question).filter(|question| !question.is_empty()));
    parts.push(facts(result));
    parts.push(table(&strategies));
    parts.extend(winner(result, &strategies).map(|text| escaped(&text)));
    let warnings = strategies.iter().filter_map(|strategy| two_kinds(strategy));
    let warnings = warnings.chain(more_replications(result));
    let warnings = warnings.chain(not_ended(&strategies));
    parts.extend(warnings.map(|text| escaped(&text)));
    if !result.checks.is_empty() {
        parts.push("## Does it hold what is asked?".into());
        parts.push(list(
            result
                .checks
                .iter()
                .map(|check| escaped(&check_line(check))),
        ));
    }
    if !strategies.is_empty() {
        parts.push("## What became of it, and what theory says".into());
        parts.push(list(strategies.iter().map(|strategy| theory(strategy))));
    }
    if strategies.iter().any(|strategy| strategy.border.is_ok()) {
        let borders = strategies.iter();
        let borders = borders.map(|strategy| (&strategy.summary.strategy[..], &strategy.border));
        let lines = border_lines(borders);
        parts.push(list(lines.iter().map(|line| escaped(line))));
    }
    for chart in charts {
        let title = escaped(&chart.title);
        parts.push(format!("## {title}\n\n![{title}]({}.svg)", chart.name));
    }
    parts.join("\n\n") + "\n"
}

fn facts(result: &RunResult) -> String {
    let interval = match result.replications {
        1 => "A single replication has no interval.",
        _ => "In brackets are 95 % intervals.",
    };
    format!(
        "{}, seed {}. {interval} Latency is of successes. The numbers of this page are in the CSV files beside it, and the \
         scenario with every default is `scenario.toml`.",
        replications_words(result.replications),
        result.seed,
    )
}

fn table(strategies: &[&StrategyResult]) -> String {
    let mut lines = vec![
        "| rank | strategy | requests | success | attempts per request | p50 latency | p99 latency | verdict |".to_owned(),
        "| ---: | --- | ---: | ---: | ---: | ---: | ---: | --- |".to_owned(),
    ];
    let ms = |value: Option<f64>| value.map_or("–".into(), latency);
    lines.extend(strategies.iter().map(|strategy| {
        let row = &strategy.summary;
        let interval = row.success_rate_low.zip(row.success_rate_high);
        let interval = interval.map_or_else(String::new, |(low, high)| {
            format!(" ({} to {})", percent(low), percent(high))
        });
        let success = row.success_rate.map_or("–".into(), percent);
        format!(
            "| {} | {} | {} | {success}{interval} | {} | {} | {} | {} |",
            row.rank,
            escaped(&row.strategy),
            count(row.requests),
            row.amplification.map_or("–".into(), factor),
            ms(row.latency_p50_ms),
            ms(row.latency_p99_ms),
            escaped(row.verdict),
        )
    }));
    lines.join("\n")
}

/// What became of a strategy, and what theory says about it.
fn theory(strategy: &StrategyResult) -> String {
    let parts = [
        Some(verdict_words(strategy)),
        Some(theory_words(strategy)),
        formula_words(strategy),
    ];
    let parts: Vec<String> = parts
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .collect();
    let name = escaped(&strategy.summary.strategy);
    format!("**{name}**: {}", escaped(&parts.join("; ")))
}

fn list(lines: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = lines.map(|line| format!("- {line}")).collect();
    items.join("\n")
}

/// A text on one line that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().map(printable) {
        // A space that holds words together is a space here.
        let c = if c == '\u{a0}' { ' ' } else { c };
        if MEANT.contains(c) {
            shown.push('\\');
        }
        shown.push(c);
    }
    // What looks like an address would become a link.
    shown.trim().replace("://", "\\:\\/\\/")
}

#[cfg(test)]
mod tests {
    use super::super::run_charts::run_charts;
    use super::super::sample;
    use super::*;

    #[test]
    fn everything_is_on_the_page() {
        let result = sample::checked();
        let charts = run_charts(&result, &[]);
        let text = page(&result, &charts);
        for part in [
            "# restart-herd\n\nWhich backoff lets a service come back after a restart?\n\n4 replications, seed 42.",
            "| 1 | exponential, full jitter | 384,",
            "Best success: exponential, full jitter",
            "- DOES NOT HOLD: exponential, no jitter: success\\_rate \\>= 99%",
            "- **fixed 100ms**: collapsed; promised 100.00 %",
            "## How much load does each strategy put on the service?\n\n![How much load does each strategy put on the service?](load.svg)\n",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert_eq!(text.matches("](").count(), charts.len());
        assert!(!text.contains('\u{a0}'));
    }

    #[test]
    fn names_stay_in_their_cells_and_mean_nothing() {
        let names = [
            "a | b",
            "`code` [x](http://example.org) <b>&amp;</b>",
            "# head\n- item\r\n\n| x |",
            "指数退避と再試行",
            "\\",
            "**bold** _it_ ~~no~~ ![i](j)",
        ];
        let mut result = sample::herd_named(&names);
        result.question = "What | about\nthis?".into();
        let text = page(&result, &[]);
        let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("| ")).collect();
        assert_eq!(rows.len(), 2 + names.len());
        let cells = |row: &str| {
            row.replace("\\\\", "")
                .replace("\\|", "")
                .matches('|')
                .count()
        };
        assert!(rows.iter().all(|row| cells(row) == 9), "{rows:?}");
        assert!(text.contains("| 指数退避と再試行 |"));
        assert!(text.contains("| \\\\ |"));
        assert!(
            text.contains("\\`code\\` \\[x\\](http\\:\\/\\/example.org) \\<b\\>\\&amp;\\</b\\>")
        );
        assert!(text.contains("What \\| about this?"));
        let headings = text.lines().filter(|line| line.starts_with('#'));
        assert_eq!(headings.count(), 2, "{text}");
        let page_of_none = page(&sample::silent(), &[]);
        assert!(
            page_of_none.contains("| 1 | nobody | 0 | – | – | – | – |"),
            "{page_of_none}"
        );
    }
}
