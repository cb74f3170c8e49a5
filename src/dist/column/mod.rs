//! Reads times from a column of a CSV file: traces of arrivals, and measured lengths.
//!
//! Measurements come in many shapes: epoch numbers in four units, dates, seconds since some start, counts
//! per minute; with and without a header; compressed; hand-made. Most shapes can be recognised, but a wrong
//! guess of the unit makes a study worthless without a sign. So everything guessed is returned as a sentence
//! for the user, what stays unclear is an error that names the line, and numbers are read as decimals:
//! nanoseconds since 1970 need 61 bits and a float has 53.

mod layout;
mod number;
mod source;
mod stamp;

pub use number::TimeUnit;

use crate::time::SimDuration;
use crate::units::LONGEST;
use layout::{Amount, Format, Layout};
use source::Source;
use std::fmt;
use std::path::{Path, PathBuf};

/// What the values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Instants, like arrivals: they become offsets from the earliest, in order. A second column `count` or
    /// `rps` says how many arrivals an interval has.
    Instants,
    /// Lengths, like latencies: they stay as they are.
    Lengths,
}

/// Which column to read, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnSpec {
    /// The name in the header or the position from 1; else the first usual name, else the only column.
    pub column: Option<String>,
    /// The unit of the numbers; else by the name of the column, by size for epoch stamps, or seconds.
    pub unit: Option<TimeUnit>,
    /// What the values are.
    pub content: Content,
}

/// What was read; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Offsets from the earliest row, ascending; or lengths in the order of the file.
    pub values: Vec<SimDuration>,
    /// How many instants stood after a later one. They were sorted.
    pub unsorted: usize,
    /// Rows of data.
    pub rows: usize,
    /// What was guessed, as clauses joined by `; `. Empty when nothing was.
    pub assumed: String,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnError {
    /// The file.
    pub path: PathBuf,
    /// The line from 1, if one is to blame.
    pub line: Option<u64>,
    /// What is wrong, as a clause.
    pub reason: String,
    /// What to do about it.
    pub remedy: String,
}

impl fmt::Display for ColumnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ": {}; {}", self.reason, self.remedy)
    }
}

impl std::error::Error for ColumnError {}

/// How much a file may hold.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Bytes after decompression.
    bytes: u64,
    /// Bytes of one row.
    row_bytes: u64,
    /// Rows, and values after expanding counts.
    values: u64,
}

const LIMITS: Limits = Limits {
    bytes: 2 << 30,
    row_bytes: 1 << 20,
    values: 50_000_000,
};

/// Reads the times in a CSV file, which may be compressed with gzip.
///
/// # Errors
/// The first thing that is wrong: no such file or column, a value that is no time, a limit exceeded
/// (50 million values, 2 GiB after decompression, a year).
pub fn read_times(path: &Path, spec: &ColumnSpec) -> Result<Column, ColumnError> {
    read_within(path, spec, LIMITS)
}

fn read_within(path: &Path, spec: &ColumnSpec, limits: Limits) -> Result<Column, ColumnError> {
    let mut source = Source::open(path, limits)?;
    if !source.next()? {
        return Err(source.error(None, "the file is empty", "give it one row for each value"));
    }
    let mut layout = Layout::of_first_row(&source, spec)?;
    if layout.header && !source.next()? {
        let remedy = "add rows below the header";
        return Err(source.error(None, "the file has a header but no values", remedy));
    }
    let format = layout.detect_format(&source, spec)?;
    let mut rows = Rows::default();
    loop {
        rows.add(&source, &layout, format, limits)?;
        if !source.next()? {
            break;
        }
    }
    match spec.content {
        Content::Lengths => Ok(rows.into_lengths(layout.assumed)),
        Content::Instants => rows.into_offsets(&source, layout, limits),
    }
}

/// The rows read so far: nanoseconds since 1970 or since some start, and how many arrivals each stands for.
#[derive(Debug)]
struct Rows {
    nanos: Vec<i64>,
    amounts: Vec<f64>,
    unsorted: usize,
    earliest: i64,
    latest: i64,
}

impl Default for Rows {
    fn default() -> Self {
        Self {
            nanos: Vec::new(),
            amounts: Vec::new(),
            unsorted: 0,
            earliest: i64::MAX,
            latest: i64::MIN,
        }
    }
}

fn lossless(nanos: i64) -> SimDuration {
    SimDuration::from_nanos(nanos.unsigned_abs())
}

impl Rows {
    fn add(
        &mut self,
        source: &Source,
        layout: &Layout,
        format: Format,
        limits: Limits,
    ) -> Result<(), ColumnError> {
        if self.nanos.len() as u64 >= limits.values {
            return Err(too_many(source, Some(source.line()), limits));
        }
        let nanos = layout.time(source, format)?;
        self.unsorted += usize::from(nanos < self.latest);
        self.earliest = self.earliest.min(nanos);
        self.latest = self.latest.max(nanos);
        let reach = match format {
            // A length counts from zero, a stamp from the earliest stamp.
            Format::Length(_) => nanos.unsigned_abs(),
            Format::Epoch(_) | Format::Stamp => self.latest.abs_diff(self.earliest),
        };
        if SimDuration::from_nanos(reach) > LONGEST {
            let reason = match format {
                Format::Length(_) => "this time is longer than 366d",
                _ => "this time is more than 366d away from that of another row",
            };
            let remedy = "correct the row, or check the unit of the column";
            return Err(source.error(Some(source.line()), reason, remedy));
        }
        self.nanos.push(nanos);
        if let Some(amount) = &layout.amount {
            self.amounts.push(layout.amount(source, *amount)?);
        }
        Ok(())
    }

    fn into_lengths(self, assumed: Vec<String>) -> Column {
        Column {
            rows: self.nanos.len(),
            values: self.nanos.into_iter().map(lossless).collect(),
            unsorted: 0,
            assumed: assumed.join("; "),
        }
    }

    fn into_offsets(
        mut self,
        source: &Source,
        mut layout: Layout,
        limits: Limits,
    ) -> Result<Column, ColumnError> {
        let (rows, unsorted) = (self.nanos.len(), self.unsorted);
        let values = match layout.amount {
            None => {
                if unsorted > 0 {
                    self.nanos.sort_unstable();
                }
                let earliest = self.earliest;
                self.nanos
                    .into_iter()
                    .map(|n| lossless(n - earliest))
                    .collect()
            }
            Some(amount) => self.spread(amount, source, &mut layout.assumed, limits)?,
        };
        let assumed = layout.assumed.join("; ");
        Ok(Column {
            values,
            unsorted,
            rows,
            assumed,
        })
    }

    /// Spreads the arrivals of each interval evenly over it, each in the middle of its share.
    fn spread(
        self,
        amount: Amount,
        source: &Source,
        assumed: &mut Vec<String>,
        limits: Limits,
    ) -> Result<Vec<SimDuration>, ColumnError> {
        let start = |nanos: i64| nanos.abs_diff(self.earliest);
        let mut intervals: Vec<(u64, f64)> = self
            .nanos
            .iter()
            .map(|n| start(*n))
            .zip(self.amounts)
            .collect();
        intervals.sort_by_key(|(start, _)| *start);
        let gaps = intervals.windows(2).map(|pair| pair[1].0 - pair[0].0);
        let Some(length) = gaps.filter(|gap| *gap > 0).min() else {
            let remedy = "give at least two intervals, with 0 if nothing happens in the last";
            return Err(source.error(
                None,
                "one interval alone does not say how long it is",
                remedy,
            ));
        };
        let shown = SimDuration::from_nanos(length);
        assumed.push(format!(
            "intervals last {shown}, the least gap between two rows; their arrivals are spread evenly"
        ));
        let counts = whole_counts(&intervals, amount, length);
        let total = counts
            .iter()
            .fold(0, |sum: u64, count| sum.saturating_add(*count));
        if total > limits.values {
            return Err(too_many(source, None, limits));
        }
        if total == 0 {
            let remedy = "give at least one interval a count above 0";
            return Err(source.error(None, "all counts are zero", remedy));
        }
        let mut values = Vec::with_capacity(total as usize);
        for (&(start, _), &count) in intervals.iter().zip(&counts) {
            let middle = |i| u128::from(length) * (2 * i + 1) / (2 * u128::from(count));
            let arrivals = (0..u128::from(count)).map(|i| start + middle(i) as u64);
            values.extend(arrivals.map(SimDuration::from_nanos));
        }
        // Only two rows for one interval leave something to sort.
        values.sort_unstable();
        Ok(values)
    }
}

/// The arrivals of each interval. Fractions of a rate are carried on, so that their sum stays right.
fn whole_counts(intervals: &[(u64, f64)], amount: Amount, length: u64) -> Vec<u64> {
    let seconds = SimDuration::from_nanos(length).as_secs_f64();
    let mut carried = 0.0;
    let mut count = |amount_value: f64| {
        if let Amount::Count(_) = amount {
            return amount_value as u64;
        }
        carried += amount_value * seconds;
        let whole = (carried + 0.5_f64).floor();
        carried -= whole;
        whole as u64
    };
    intervals.iter().map(|(_, amount)| count(*amount)).collect()
}

fn too_many(source: &Source, line: Option<u64>, limits: Limits) -> ColumnError {
    let reason = format!("the file has more than {} values, the limit", limits.values);
    source.error(line, reason, "use a part or a sample of it")
}

#[cfg(test)]
mod tests;
