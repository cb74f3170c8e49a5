//! The CSV files of a run. Their columns are the fields of the rows, so they cannot drift apart.
//!
//! Cells are data as it is: a name that starts with `=` is quoted where CSV asks for it and not changed, since a
//! program that reads the file must get the name back.

use super::checks::CheckRow;
use crate::experiment::RunResult;
use crate::metrics::{AttemptsRow, LatencyRow, attempts_rows, latency_rows, timeline_rows};
use serde::Serialize;
use std::io::Write;

/// Writes `summary.csv`: a row a strategy, in the order of the scenario.
///
/// # Errors
/// When `out` cannot be written to.
pub fn summary_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    write(out, result.strategies.iter().map(|s| &s.summary))
}

/// Writes `timeline.csv`: a row a strategy and bin of time.
///
/// # Errors
/// When `out` cannot be written to.
pub fn timeline_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    let rows = result.strategies.iter().flat_map(|s| {
        timeline_rows(
            &s.summary.strategy,
            &s.total,
            result.replications,
            result.horizon,
        )
    });
    write(out, rows)
}

/// Writes `replications.csv`: a row a strategy and replication.
///
/// # Errors
/// When `out` cannot be written to.
pub fn replications_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    let each = result.strategies.iter().flat_map(|s| &s.each);
    write(out, each.map(|headline| &headline.row))
}

/// Writes `comparison.csv`: a row a strategy other than the baseline and figure.
///
/// # Errors
/// When `out` cannot be written to.
pub fn comparison_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    write(out, &result.comparison.rows)
}

/// Writes `theory.csv`: a row a strategy and figure that a formula predicts.
///
/// # Errors
/// When `out` cannot be written to.
pub fn theory_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    write(out, result.strategies.iter().flat_map(|s| &s.theory_rows))
}

/// Writes `checks.csv`: a row a check and strategy that has to keep it.
///
/// # Errors
/// When `out` cannot be written to.
pub fn checks_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    write(out, result.checks.iter().map(CheckRow::from))
}

/// Writes `attempts.csv`: a row a strategy and number of attempts that some request made.
///
/// # Errors
/// When `out` cannot be written to.
pub fn attempts_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    let rows = result.strategies.iter();
    let rows = rows.flat_map(|s| attempts_rows(&s.summary.strategy, &s.total));
    let blank = AttemptsRow {
        strategy: "",
        attempts: 0,
        succeeded: 0,
        failed: 0,
    };
    write_or_header(out, rows, blank)
}

/// Writes `latency.csv`: a row a strategy and quantile of the latencies of its successes.
///
/// # Errors
/// When `out` cannot be written to.
pub fn latency_csv(result: &RunResult, out: impl Write) -> csv::Result<()> {
    let rows = result.strategies.iter();
    let rows = rows.flat_map(|s| latency_rows(&s.summary.strategy, &s.total.latency));
    let blank = LatencyRow {
        strategy: "",
        quantile: 0.0,
        latency_ms: 0.0,
    };
    write_or_header(out, rows, blank)
}

/// Writes rows, or where there are none the header line alone, which a blank row is given for.
fn write_or_header<R: Serialize>(
    mut out: impl Write,
    rows: impl Iterator<Item = R>,
    blank: R,
) -> csv::Result<()> {
    let mut rows = rows.peekable();
    if rows.peek().is_some() {
        return write(out, rows);
    }
    let mut bytes = Vec::new();
    write(&mut bytes, [blank])?;
    let header = bytes.split_inclusive(|&byte| byte == b'\n').next();
    Ok(out.write_all(header.unwrap_or_default())?)
}

pub(super) fn write(
    out: impl Write,
    rows: impl IntoIterator<Item = impl Serialize>,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    for row in rows {
        writer.serialize(row)?;
    }
    Ok(writer.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    fn text(write: impl Fn(&mut Vec<u8>) -> csv::Result<()>) -> String {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    fn fields(row: impl Serialize) -> Vec<String> {
        let value = serde_json::to_value(row).unwrap();
        let mut keys: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys
    }

    fn header(text: &str) -> Vec<String> {
        let line = text.lines().next().unwrap();
        let mut keys: Vec<_> = line.split(',').map(String::from).collect();
        keys.sort();
        keys
    }

    #[test]
    fn headers_are_the_fields_of_the_rows() {
        let result = sample::herd();
        let first = &result.strategies[0];
        let summary = text(|out| summary_csv(&result, out));
        assert_eq!(header(&summary), fields(&first.summary));
        assert_eq!(summary.lines().count(), 1 + result.strategies.len());

        let timeline = text(|out| timeline_csv(&result, out));
        let row = timeline_rows("", &first.total, 1, result.horizon).next();
        assert_eq!(header(&timeline), fields(row));
        let bins = first.total.timeline.bins().len();
        assert_eq!(timeline.lines().count(), 1 + bins * result.strategies.len());

        let attempts = text(|out| attempts_csv(&result, out));
        assert_eq!(
            header(&attempts),
            fields(attempts_rows("", &first.total).next())
        );
        let latency = text(|out| latency_csv(&result, out));
        let row = latency_rows("", &first.total.latency).next();
        assert_eq!(header(&latency), fields(row));
    }

    #[test]
    fn what_does_not_exist_is_empty_and_a_header_stands_alone() {
        let result = sample::silent();
        let summary = text(|out| summary_csv(&result, out));
        assert!(summary.lines().nth(1).unwrap().contains(",,,"));
        assert_eq!(
            text(|out| attempts_csv(&result, out)),
            "strategy,attempts,succeeded,failed\n"
        );
        assert_eq!(
            text(|out| latency_csv(&result, out)),
            "strategy,quantile,latency_ms\n"
        );
    }

    #[test]
    fn awkward_names_come_back_as_they_were() {
        let mut result = sample::herd();
        let names = ["=1+2", "a,b \"c\"", "two\nlines", "@x", "指数"];
        for (strategy, name) in result.strategies.iter_mut().zip(names) {
            strategy.summary.strategy = name.into();
        }
        let summary = text(|out| summary_csv(&result, out));
        let mut reader = csv::Reader::from_reader(summary.as_bytes());
        let read: Vec<_> = reader
            .records()
            .map(|r| r.unwrap()[0].to_string())
            .collect();
        assert_eq!(read, names);
    }
}
