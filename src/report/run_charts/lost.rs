//! Where requests were lost: what their failures are called, strategy by strategy.

use super::super::chart::{Bar, Bars, Form};
use super::super::number::percent;
use super::source::{Rows, Source, axis};
use crate::metrics::{FailureReason, SummaryRow};

/// Kinds with a look of their own; the rest is put together.
const MOST_KINDS: usize = 8;

/// Requests that were lost, by reason; drawn when some were.
pub(super) fn lost(source: &Source<'_>) -> Option<Bars> {
    let losses: Vec<Vec<(String, u64)>> = source
        .strategies
        .iter()
        .map(|rows| losses(rows.summary))
        .collect();
    let (kinds, together) = kinds(&losses);
    let rows = source.strategies.iter().zip(&losses);
    let note = "Failed requests by what ended them, and dead letters, as shares of all requests that ended. Requests that were \
                still in flight at the end are not in it.";
    let chart = Bars {
        words: source.words("Where were requests lost?", note),
        x: axis("requests lost, % of those that ended", Form::Share),
        rows: rows
            .map(|(rows, losses)| bar(rows, losses, &kinds, together))
            .collect(),
        kinds: kinds
            .iter()
            .cloned()
            .chain(together.then(|| "other reasons".into()))
            .collect(),
    };
    (!kinds.is_empty()).then_some(chart)
}

/// The reasons that occur, those that cost most first, and whether there are more than can be shown.
fn kinds(losses: &[Vec<(String, u64)>]) -> (Vec<String>, bool) {
    let mut sums: Vec<(String, u64)> = Vec::new();
    for (name, count) in losses.iter().flatten().filter(|(_, count)| *count > 0) {
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += count,
            None => sums.push((name.clone(), *count)),
        }
    }
    sums.sort_by_key(|&(_, sum)| std::cmp::Reverse(sum));
    let together = sums.len() > MOST_KINDS;
    sums.truncate(if together { MOST_KINDS - 1 } else { MOST_KINDS });
    (sums.into_iter().map(|(name, _)| name).collect(), together)
}

fn bar(rows: &Rows<'_>, losses: &[(String, u64)], kinds: &[String], together: bool) -> Bar {
    let row = rows.summary;
    let ended = (row.succeeded + row.failed + row.dead_lettered).max(1) as f64;
    let of = |kind: &String| losses.iter().find(|(name, _)| name == kind);
    let parts = kinds.iter().map(|kind| of(kind).map_or(0, |loss| loss.1));
    let mut parts: Vec<u64> = parts.collect();
    let all: u64 = losses.iter().map(|loss| loss.1).sum();
    if together {
        parts.push(all - parts.iter().sum::<u64>());
    }
    Bar {
        name: rows.name(),
        parts: parts.into_iter().map(|part| part as f64 / ended).collect(),
        sum: match all {
            0 => "nothing lost".into(),
            all => percent(all as f64 / ended),
        },
    }
}

/// What a row of `summary.csv` says of failures and dead letters.
fn losses(row: &SummaryRow) -> Vec<(String, u64)> {
    use FailureReason as R;
    let failed = [
        (R::Error, row.failed_error),
        (R::PermanentError, row.failed_permanent_error),
        (R::Refused, row.failed_refused),
        (R::QueueFull, row.failed_queue_full),
        (R::Timeout, row.failed_timeout),
        (R::Deadline, row.failed_deadline),
        (R::NotStarted, row.failed_not_started),
        (R::Shed, row.failed_shed),
        (R::Budget, row.failed_budget),
        (R::BreakerOpen, row.failed_breaker_open),
        (R::Throttled, row.failed_throttled),
        (R::RateLimited, row.failed_rate_limited),
        (R::Expired, row.failed_expired),
        (R::CallerLeft, row.failed_caller_left),
    ];
    let letters = ("dead letters".to_owned(), row.dead_lettered);
    let failed = failed.map(|(reason, count)| (reason.words().to_owned(), count));
    failed.into_iter().chain([letters]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn reasons_add_up_and_only_those_that_occur_are_named() {
        let mut result = sample::herd();
        let chart = lost(&Source::of(&result)).unwrap();
        assert_eq!(chart.kinds, ["timeouts", "a full queue"]);
        for (bar, rows) in chart.rows.iter().zip(Source::of(&result).strategies) {
            let success = rows.summary.succeeded as f64
                / (rows.summary.succeeded + rows.summary.failed) as f64;
            let sum: f64 = bar.parts.iter().sum();
            assert!((sum + success - 1.0).abs() < 1e-9, "{}", bar.name);
        }
        let row = &mut result.strategies[0].summary;
        for count in [
            &mut row.failed_error,
            &mut row.failed_refused,
            &mut row.failed_deadline,
            &mut row.failed_shed,
            &mut row.failed_budget,
            &mut row.failed_breaker_open,
            &mut row.failed_expired,
        ] {
            *count = 5;
            row.failed += 5;
        }
        let chart = lost(&Source::of(&result)).unwrap();
        assert_eq!(chart.kinds.len(), 8);
        assert_eq!(chart.kinds.last().unwrap(), "other reasons");
        assert!(chart.rows.iter().all(|bar| bar.parts.len() == 8));
        assert_eq!(lost(&Source::of(&sample::silent())), None);
    }
}
