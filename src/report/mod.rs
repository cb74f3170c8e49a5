//! Everything a run shows or writes: the terminal table, CSV, JSON, charts and the output directory.
//!
//! A figure that cannot be read is a figure that was not measured. So a success rate always stands beside the
//! latency, an interval always says what it is of, and theory is put in words. Nothing here prints: functions
//! return text, or write to a place that the caller names, and the same result gives the same bytes.

mod before_after;
mod border;
pub mod chart;
mod checks;
mod comparison;
mod csv;
mod file;
mod folder;
mod grid;
mod json;
mod junit;
mod layout;
mod life;
mod number;
mod output;
mod page;
mod read;
mod run_charts;
#[cfg(test)]
pub(crate) mod sample;
mod sweep;
mod table;
mod text;
mod theory;
mod verdict;

pub use self::csv::{
    attempts_csv, checks_csv, comparison_csv, latency_csv, replications_csv, summary_csv,
    theory_csv, timeline_csv,
};
pub use before_after::{BEFORE_AFTER, before_after_csv, before_after_json, before_after_table};
pub use border::border_lines;
pub use checks::{check_line, check_words};
pub use file::{check_file, write_file};
pub use folder::OutputError;
pub use json::{SCHEMA_VERSION, json};
pub use junit::{JUNIT, JunitSuite, junit};
pub use layout::{figures, heading, paragraphs, title};
pub use life::{Life, life};
pub use output::{Extra, OutputOptions, check_target, write_output};
pub use read::{ReadError, read_output};
pub use sweep::{SweepStore, cell_csv, sweep_charts, sweep_table};
pub use table::table;
pub use text::{Style, wrap};
pub use theory::theory_words;
pub use verdict::verdict_words;

use crate::experiment::{RunResult, StrategyResult};

/// The strategies from best to worst; those of equal rank keep the order of the scenario.
fn ranked(result: &RunResult) -> Vec<&StrategyResult> {
    let places = ranked_places(result).into_iter();
    places.map(|(_, strategy)| strategy).collect()
}

/// The same with their places in the order of the scenario.
fn ranked_places(result: &RunResult) -> Vec<(usize, &StrategyResult)> {
    let mut strategies: Vec<_> = result.strategies.iter().enumerate().collect();
    strategies.sort_by_key(|(_, strategy)| strategy.summary.rank);
    strategies
}

/// The places in the order of the scenario of the strategies from best to worst.
pub fn places_by_rank(result: &RunResult) -> Vec<usize> {
    let places = ranked_places(result).into_iter();
    places.map(|(place, _)| place).collect()
}

/// "20 replications", "1 replication".
fn replications_words(replications: u32) -> String {
    let ending = if replications == 1 { "" } else { "s" };
    let count = number::count(u64::from(replications));
    format!("{count} replication{ending}")
}
