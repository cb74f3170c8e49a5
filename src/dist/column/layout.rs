//! Finds out which column holds the times, and in what form.

use super::number::{Decimal, TimeUnit};
use super::source::Source;
use super::stamp::parse_stamp;
use super::{ColumnError, ColumnSpec, Content};
use crate::decode::nearest;

/// Usual names of a column of times, the most telling first.
const NAMES: [&str; 9] = [
    "timestamp",
    "time",
    "ts",
    "date",
    "offset",
    "duration",
    "latency",
    "elapsed",
    "value",
];

/// How a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// A length, or an instant since some start of its own.
    Length(TimeUnit),
    /// An instant as a number.
    Epoch(TimeUnit),
    /// An instant as a date and time.
    Stamp,
}

/// A column that says how much happens in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// Arrivals in the interval.
    Count(usize),
    /// Arrivals a second.
    Rate(usize),
}

/// Where things stand in a row.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// Whether the first row is a header.
    pub(super) header: bool,
    /// The column of how many, if there is one.
    pub(super) amount: Option<Amount>,
    /// What was guessed.
    pub(super) assumed: Vec<String>,
    time: usize,
    named_unit: Option<TimeUnit>,
}

/// A name without its unit, and the unit: `latency_ms` is `latency` in milliseconds.
fn split_unit(name: &str) -> (&str, Option<TimeUnit>) {
    let split = name
        .rsplit_once('_')
        .and_then(|(stem, unit)| Some((stem, unit.parse().ok()?)));
    split.map_or((name, None), |(stem, unit)| (stem, Some(unit)))
}

fn is_time(cell: &str) -> bool {
    // `nan` and `inf` are values too, though bad ones.
    cell.parse::<f64>().is_ok() || parse_stamp(cell).is_some()
}

impl Layout {
    /// From the current row of `source`, which is the first: a header if no cell of it is a time.
    pub(super) fn of_first_row(source: &Source, spec: &ColumnSpec) -> Result<Self, ColumnError> {
        let cells: Vec<String> = source.cells().map(str::to_ascii_lowercase).collect();
        let mut layout = Self {
            header: !source.cells().any(is_time),
            amount: None,
            assumed: Vec::new(),
            time: 0,
            named_unit: None,
        };
        if layout.header && spec.content == Content::Instants {
            let position = |name| cells.iter().position(|cell| cell == name);
            let rate = || position("rps").map(Amount::Rate);
            layout.amount = position("count").map(Amount::Count).or_else(rate);
        }
        layout.time = match &spec.column {
            Some(name) => layout.named(&name.trim().to_ascii_lowercase(), &cells, source)?,
            None => layout.usual(&cells, source)?,
        };
        if layout.header {
            layout.named_unit = split_unit(&cells[layout.time]).1;
        }
        let taken = layout.time;
        layout.amount = layout.amount.filter(|amount| amount.column() != taken);
        Ok(layout)
    }

    /// The column that the scenario names, by its header or by its position.
    fn named(&self, name: &str, cells: &[String], source: &Source) -> Result<usize, ColumnError> {
        let by_header = || cells.iter().position(|cell| self.header && cell == name);
        let by_position = || name.parse::<usize>().ok()?.checked_sub(1);
        if let Some(found) = by_header()
            .or_else(by_position)
            .filter(|i| *i < cells.len())
        {
            return Ok(found);
        }
        let remedy = if self.header {
            let near = nearest(name, cells.iter().map(String::as_str));
            near.map_or_else(|| list(cells), |near| format!("did you mean `{near}`?"))
        } else {
            format!(
                "there is no header; use a position from 1 to {}",
                cells.len()
            )
        };
        let reason = format!("there is no column `{}`", name.escape_debug());
        Err(source.error(Some(source.line()), reason, remedy))
    }

    /// The column with a usual name, else the only one.
    fn usual(&mut self, cells: &[String], source: &Source) -> Result<usize, ColumnError> {
        let amount = self.amount.map(Amount::column);
        let free: Vec<usize> = (0..cells.len()).filter(|i| Some(*i) != amount).collect();
        let named = NAMES.iter().find_map(|name| {
            let fits = |i: &&usize| self.header && split_unit(&cells[**i]).0 == *name;
            free.iter().find(fits).copied()
        });
        match (named, free.as_slice()) {
            (Some(found), [_]) => Ok(found),
            (Some(found), _) => {
                self.assumed
                    .push(format!("the times are in column `{}`", cells[found]));
                Ok(found)
            }
            (None, [only]) => Ok(*only),
            _ if self.header => Err(source.error(
                Some(source.line()),
                "it is not clear which column holds the times",
                format!("name it with `column`; {}", list(cells)),
            )),
            _ => Err(source.error(
                Some(source.line()),
                "there are several columns and no header to choose by",
                "add a header, or give the position, like column = \"1\"",
            )),
        }
    }

    /// How the times are written, by the current row of `source`, which is the first with values.
    pub(super) fn detect_format(
        &mut self,
        source: &Source,
        spec: &ColumnSpec,
    ) -> Result<Format, ColumnError> {
        let cell = self.cell(self.time, source)?;
        let instants = spec.content == Content::Instants;
        if instants && parse_stamp(cell).is_some() {
            if !cell.ends_with(['Z', 'z', 'C']) && !cell[10..].contains(['+', '-']) {
                self.assumed
                    .push("time stamps without a zone are UTC".into());
            }
            return Ok(Format::Stamp);
        }
        let number = decimal(cell, source)?;
        let by_size = TimeUnit::of_epoch(number).filter(|_| instants);
        let given = spec.unit.or(self.named_unit);
        let unit = given.or(by_size).unwrap_or(TimeUnit::Seconds);
        if given.is_none() {
            let since = by_size.map_or("", |_| " since 1970, by their size");
            self.assumed
                .push(format!("numbers are {}{since}", unit.word()));
        } else if spec.unit.is_none() {
            self.assumed.push(format!(
                "numbers are {}, by the name of the column",
                unit.word()
            ));
        }
        Ok(if instants {
            Format::Epoch(unit)
        } else {
            Format::Length(unit)
        })
    }

    fn cell<'a>(&self, index: usize, source: &'a Source) -> Result<&'a str, ColumnError> {
        source
            .cell(index)
            .filter(|cell| !cell.is_empty())
            .ok_or_else(|| {
                let reason = format!("this row has no value in column {}", index + 1);
                source.error(Some(source.line()), reason, "fill it in, or remove the row")
            })
    }

    /// The time in the current row, in nanoseconds.
    pub(super) fn time(&self, source: &Source, format: Format) -> Result<i64, ColumnError> {
        let cell = self.cell(self.time, source)?;
        match format {
            Format::Stamp => parse_stamp(cell).ok_or_else(|| {
                let remedy = "write it like the first row, as in 2024-05-01T12:30:00Z";
                let reason = format!("`{}` is not a time stamp", shown(cell));
                source.error(Some(source.line()), reason, remedy)
            }),
            Format::Length(unit) | Format::Epoch(unit) => {
                decimal(cell, source)?.nanos(unit).ok_or_else(|| {
                    let reason = format!("{} is too large for {}", shown(cell), unit.word());
                    source.error(Some(source.line()), reason, "check the unit of the column")
                })
            }
        }
    }

    /// How many arrivals, or how many a second, the current row stands for.
    pub(super) fn amount(&self, source: &Source, amount: Amount) -> Result<f64, ColumnError> {
        let cell = self.cell(amount.column(), source)?;
        let (what, rule): (_, fn(f64) -> bool) = match amount {
            Amount::Count(_) => ("a whole number, zero or more", |n| n.fract() == 0.0),
            Amount::Rate(_) => ("a number, zero or more", |_| true),
        };
        let number = cell.parse::<f64>().ok();
        number
            .filter(|n| n.is_finite() && *n >= 0.0 && rule(*n))
            .ok_or_else(|| {
                let reason = format!("`{}` is not {what}", shown(cell));
                source.error(
                    Some(source.line()),
                    reason,
                    "say how many arrivals there are",
                )
            })
    }
}

impl Amount {
    const fn column(self) -> usize {
        match self {
            Self::Count(index) | Self::Rate(index) => index,
        }
    }
}

/// A number that is not negative.
fn decimal(cell: &str, source: &Source) -> Result<Decimal, ColumnError> {
    match Decimal::parse(cell) {
        Some(number) if !number.negative => Ok(number),
        Some(_) => {
            let reason = format!("{} is negative", shown(cell));
            Err(source.error(
                Some(source.line()),
                reason,
                "correct or remove the row; times are zero or more",
            ))
        }
        None => {
            let reason = format!("`{}` is not a time", shown(cell));
            let remedy = if cell.contains([';', '\t']) {
                "separate columns by commas"
            } else {
                "write a number like 0.25, with a point and no unit, or a time stamp like 2024-05-01T12:30:00Z"
            };
            Err(source.error(Some(source.line()), reason, remedy))
        }
    }
}

/// The beginning of a cell, fit to print.
fn shown(cell: &str) -> String {
    cell.chars().take(40).flat_map(char::escape_debug).collect()
}

fn list(cells: &[String]) -> String {
    let names: Vec<String> = cells
        .iter()
        .take(20)
        .map(|cell| format!("`{}`", shown(cell)))
        .collect();
    format!("columns: {}", names.join(", "))
}
