//! `sweep.csv`, one row for each cell, strategy and figure, and the parts of it that cells leave behind.
//!
//! A cell is written as soon as it is complete and read again when all are. So what is written must come back as the
//! same bytes, and a file that is not whole must be noticed.

use crate::experiment::{RunResult, figures};
use crate::scenario::{Axis, Cell, Plan, Sweep};
use std::io::{BufRead, Write};

/// Columns before and after those of the axes.
const BEFORE: [&str; 1] = ["cell"];
const AFTER: [&str; 6] = ["strategy", "metric", "value", "low", "high", "predicted"];

/// The names of the columns.
pub(super) fn header(sweep: &Sweep) -> Vec<String> {
    let axes = sweep.axes.iter().map(Axis::column);
    let before = BEFORE.into_iter().map(str::to_owned);
    before.chain(axes).chain(AFTER.map(str::to_owned)).collect()
}

/// Writes the header and the rows of a cell.
///
/// # Errors
/// When `out` cannot be written to.
pub fn cell_csv(
    sweep: &Sweep,
    cell: &Cell,
    plan: &Plan,
    result: &RunResult,
    out: impl Write,
) -> csv::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(header(sweep))?;
    let text = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let number = cell.number.to_string();
    for (&index, strategy) in plan.compared.iter().zip(&result.strategies) {
        for figure in figures(plan, index, strategy) {
            let axes = sweep.axes.iter().zip(&cell.coordinates);
            let axes = axes.map(|(axis, at)| axis.cell_text(at));
            let mut record = vec![number.clone()];
            record.extend(axes);
            record.extend([strategy.summary.strategy.clone(), figure.metric.to_owned()]);
            let values = [figure.value, figure.low, figure.high, figure.predicted];
            record.extend(values.map(text));
            writer.write_record(&record)?;
        }
    }
    Ok(writer.flush()?)
}

/// Copies the file of a cell without its header to `out`, after checking that it is whole: of this sweep, of this cell,
/// and with rows. Returns whether it was.
///
/// # Errors
/// When something cannot be read or written.
pub(super) fn copy_rows(
    header: &[String],
    number: u32,
    file: impl BufRead,
    out: &mut impl Write,
) -> std::io::Result<bool> {
    let mut reader = csv::Reader::from_reader(file);
    let mut writer = csv::WriterBuilder::new()
        .has_headers(false)
        .from_writer(out);
    let number = number.to_string();
    if reader.headers().ok().is_none_or(|found| found != header) {
        return Ok(false);
    }
    let mut rows = 0;
    for record in reader.records() {
        let Ok(record) = record else {
            return Ok(false);
        };
        if record.get(0) != Some(&number) {
            return Ok(false);
        }
        writer.write_record(&record)?;
        rows += 1;
    }
    writer.flush()?;
    Ok(rows > 0)
}
