//! The rows of a CSV file, plain or compressed, within limits.
//!
//! A few kilobytes of gzip can hold gigabytes, and one missing quote makes the rest of a file a single field.
//! A guard below the CSV reader counts what passes and stops both before memory fills up.

use super::{ColumnError, Limits};
use csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// Why a guard stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    File,
    Row,
    Binary,
}

/// Counts bytes and lines on their way to the CSV reader, which miscounts lines after blank ones.
struct Guard {
    inner: Box<dyn Read>,
    limits: Limits,
    /// The bytes passed on last; the current row ends in them.
    chunk: Vec<u8>,
    lines_before_chunk: u64,
    total: u64,
    row_start: u64,
    row_line: u64,
    since_row: u64,
    /// Why it stopped, and on which line.
    refusal: Option<(Refusal, u64)>,
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

impl Guard {
    fn new(inner: Box<dyn Read>, limits: Limits) -> Self {
        Self {
            inner,
            limits,
            chunk: Vec::new(),
            lines_before_chunk: 0,
            total: 0,
            row_start: 0,
            row_line: 1,
            since_row: 0,
            refusal: None,
        }
    }

    /// Notes that a row starts at byte `start`.
    fn start_row(&mut self, start: u64) {
        self.row_start = start;
        self.since_row = 0;
    }

    fn index(&self, offset: u64) -> usize {
        let start = self.total - self.chunk.len() as u64;
        (offset.saturating_sub(start) as usize).min(self.chunk.len())
    }

    /// The line, from 1, of a byte of the last chunk.
    fn line_at(&self, offset: u64) -> u64 {
        self.lines_before_chunk + newlines(&self.chunk[..self.index(offset)]) + 1
    }

    fn pass(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if self.since_row == 0 {
            // A row can seem to start between \r and \n.
            let split = self.chunk.get(self.index(self.row_start)) == Some(&b'\n');
            self.row_line = self.line_at(self.row_start + u64::from(split));
        }
        self.lines_before_chunk += newlines(&self.chunk);
        self.chunk.clear();
        self.chunk.extend_from_slice(bytes);
        self.total += bytes.len() as u64;
        self.since_row += bytes.len() as u64;
    }

    fn find_refusal(&self) -> Option<(Refusal, u64)> {
        if let Some(zero) = self.chunk.iter().position(|byte| *byte == 0) {
            let line = self.lines_before_chunk + newlines(&self.chunk[..zero]) + 1;
            return Some((Refusal::Binary, line));
        }
        if self.total > self.limits.bytes {
            return Some((Refusal::File, self.line_at(self.total)));
        }
        (self.since_row > self.limits.row_bytes).then_some((Refusal::Row, self.row_line))
    }
}

impl Read for Guard {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.pass(&buffer[..count]);
        self.refusal = self.find_refusal();
        match self.refusal {
            Some(_) => Err(io::ErrorKind::InvalidData.into()),
            None => Ok(count),
        }
    }
}

/// A CSV file and its current row.
pub(super) struct Source {
    path: PathBuf,
    rows: Reader<Guard>,
    row: ByteRecord,
}

impl Source {
    /// Opens a file; gzip is recognised by its first two bytes.
    pub(super) fn open(path: &Path, limits: Limits) -> Result<Self, ColumnError> {
        // A pipe without a writer would never open, and a device may never end.
        if let Ok(meta) = path.metadata()
            && !meta.is_file()
            && !meta.is_dir()
        {
            return Err(ColumnError {
                path: path.into(),
                line: None,
                reason: "it is a pipe or a device".into(),
                remedy: "name a file".into(),
            });
        }
        let opened = File::open(path).map(BufReader::new);
        let inner = opened.and_then(|mut file| {
            let packed = file.fill_buf()?.starts_with(&[0x1f, 0x8b]);
            Ok(if packed {
                Box::new(MultiGzDecoder::new(file)) as Box<dyn Read>
            } else {
                Box::new(file)
            })
        });
        let inner = inner.map_err(|error| unreadable(path, &error))?;
        let rows = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .buffer_capacity(1 << 16)
            .from_reader(Guard::new(inner, limits));
        Ok(Self {
            path: path.into(),
            rows,
            row: ByteRecord::new(),
        })
    }

    /// Goes to the next row that is not blank; false at the end of the file.
    pub(super) fn next(&mut self) -> Result<bool, ColumnError> {
        loop {
            let start = self.rows.position().byte();
            self.rows.get_mut().start_row(start);
            match self.rows.read_byte_record(&mut self.row) {
                Ok(false) => return Ok(false),
                Ok(true) => {}
                Err(error) => return Err(self.refused(error)),
            }
            if std::str::from_utf8(self.row.as_slice()).is_err() {
                let remedy = "save the file as UTF-8";
                return Err(self.error(Some(self.line()), "this row is not valid UTF-8", remedy));
            }
            if self.row.iter().any(|cell| !cell.trim_ascii().is_empty()) {
                return Ok(true);
            }
        }
    }

    /// The line on which the current row ends, from 1. Not free: for messages.
    pub(super) fn line(&self) -> u64 {
        let end = self.rows.position().byte();
        self.rows.get_ref().line_at(end.saturating_sub(1))
    }

    /// The cells of the current row, without the blanks around them.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.row.len()).map(|index| self.cell(index).unwrap_or_default())
    }

    /// A cell of the current row, without the blanks around it.
    pub(super) fn cell(&self, index: usize) -> Option<&str> {
        // A border between cells inside a character passes the check of the whole row.
        std::str::from_utf8(self.row.get(index)?.trim_ascii()).ok()
    }

    /// An error about this file.
    pub(super) fn error(
        &self,
        line: Option<u64>,
        reason: impl Into<String>,
        remedy: impl Into<String>,
    ) -> ColumnError {
        ColumnError {
            path: self.path.clone(),
            line,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }

    /// Explains why the CSV reader could not go on.
    fn refused(&self, error: csv::Error) -> ColumnError {
        let guard = self.rows.get_ref();
        let limits = guard.limits;
        let Some((refusal, line)) = guard.refusal else {
            return match error.into_kind() {
                ErrorKind::Io(error) => unreadable(&self.path, &error),
                kind => self.error(
                    Some(self.line()),
                    format!("this is not CSV: {kind:?}"),
                    "separate values by commas, one row a line",
                ),
            };
        };
        let (reason, remedy) = match refusal {
            Refusal::Binary => (
                "this is a binary file and not text".into(),
                "give a CSV file in UTF-8, plain or compressed with gzip",
            ),
            Refusal::File => (
                format!("the file holds more than {}, the limit", size(limits.bytes)),
                "use a part or a sample of it",
            ),
            Refusal::Row => (
                format!("a row is longer than {}, the limit", size(limits.row_bytes)),
                "close an open quote, or break the line",
            ),
        };
        self.error(Some(line), reason, remedy)
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        b if b >= 1 << 30 => format!("{} GiB", b >> 30),
        b if b >= 1 << 20 => format!("{} MiB", b >> 20),
        b => format!("{b} bytes"),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> ColumnError {
    let remedy = match error.kind() {
        io::ErrorKind::NotFound => "check the name; it is relative to the scenario",
        io::ErrorKind::PermissionDenied => "allow this user to read it",
        io::ErrorKind::IsADirectory => "name a file",
        _ => "it may be damaged or cut short; make it again",
    };
    let reason = match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".into(),
        io::ErrorKind::IsADirectory => "it is a directory".into(),
        _ => format!("the file cannot be read: {error}"),
    };
    ColumnError {
        path: path.into(),
        line: None,
        reason,
        remedy: remedy.into(),
    }
}
