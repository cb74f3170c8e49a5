//! What charts need of `sweep.csv`, read line by line.
//!
//! The file may have millions of rows; a chart is about one figure or two. Only those are kept.

use std::io::{self, BufRead};

/// One figure of a strategy in a cell; what is not there is NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) predicted: f64,
}

const NOTHING: Seen = Seen {
    value: f64::NAN,
    low: f64::NAN,
    high: f64::NAN,
    predicted: f64::NAN,
};

/// Some figures of all strategies in all cells.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The names of the strategies, in the order of the scenario.
    pub(super) strategies: Vec<String>,
    cells: usize,
    wanted: usize,
    /// By strategy, cell and figure.
    seen: Vec<Seen>,
}

impl Table {
    /// Reads the figures `wanted` of a sweep with so many axes and cells.
    ///
    /// # Errors
    /// When the file cannot be read or is not a table of a sweep.
    pub(super) fn read(
        file: impl BufRead,
        axes: usize,
        cells: u32,
        wanted: &[&str],
    ) -> io::Result<Self> {
        let mut reader = csv::Reader::from_reader(file);
        let mut table = Self {
            cells: cells as usize,
            wanted: wanted.len(),
            ..Self::default()
        };
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record)? {
            let field = |i: usize| record.get(i).unwrap_or_default();
            let name = field(1 + axes);
            let strategy = table.strategies.iter().position(|known| known == name);
            let strategy = strategy.unwrap_or_else(|| {
                table.strategies.push(name.to_owned());
                table.grow();
                table.strategies.len() - 1
            });
            let Some(figure) = wanted.iter().position(|wanted| *wanted == field(2 + axes)) else {
                continue;
            };
            let cell: usize = field(0).parse().map_err(io::Error::other)?;
            let number = |i: usize| field(i).parse().unwrap_or(f64::NAN);
            let at = table.index(cell, strategy, figure);
            if let Some(seen) = table.seen.get_mut(at) {
                *seen = Seen {
                    value: number(3 + axes),
                    low: number(4 + axes),
                    high: number(5 + axes),
                    predicted: number(6 + axes),
                };
            }
        }
        Ok(table)
    }

    fn grow(&mut self) {
        let more = self.cells * self.wanted;
        self.seen.resize(self.seen.len() + more, NOTHING);
    }

    fn index(&self, cell: usize, strategy: usize, figure: usize) -> usize {
        (strategy * self.cells + cell) * self.wanted + figure
    }

    /// A figure of a strategy in a cell.
    pub(super) fn get(&self, cell: u32, strategy: usize, figure: usize) -> Seen {
        let at = self.index(cell as usize, strategy, figure);
        self.seen.get(at).copied().unwrap_or(NOTHING)
    }
}
