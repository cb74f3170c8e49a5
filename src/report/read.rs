//! The output directory of a run, read back.
//!
//! What is compared with another run has to be whole: a table that was cut off, or is of another program, would give
//! numbers that look as good as any. So every row is checked before any is used.

use super::csv::write;
use crate::experiment::{FIGURES, Recorded};
use crate::metrics::{Metric, ReplicationRow, metric};
use crate::scenario::load;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Why a directory is not the output of a run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}`: {what}", path.display())]
pub struct ReadError {
    /// The file or directory in question.
    pub path: PathBuf,
    /// What is wrong, as a clause.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

const AGAIN: &str = "run the scenario again, and leave its output as it is";
const WHICH: &str = "give a directory that `retrystorm run` has written, like output/restart_herd";

/// Reads the scenario and the replications of a run.
///
/// # Errors
/// When the directory is not the complete output of a run.
pub fn read_output(dir: &Path) -> Result<Recorded, ReadError> {
    let fail = |path: &Path, what: &str, remedy: &str| ReadError {
        path: path.into(),
        what: what.into(),
        remedy: remedy.into(),
    };
    if !dir.is_dir() {
        let what = if dir.exists() {
            "it is not a directory"
        } else {
            "there is no such directory"
        };
        return Err(fail(dir, what, WHICH));
    }
    let [scenario, table] = ["scenario.toml", "replications.csv"].map(|name| dir.join(name));
    for path in [&scenario, &table] {
        if !path.is_file() {
            let name = path.file_name().unwrap_or_default().display();
            let what = format!("it is not the output of a run: there is no {name}");
            return Err(fail(dir, &what, WHICH));
        }
    }
    let rows = read_rows(&table).map_err(|what| fail(&table, &what, AGAIN))?;
    let mut loaded = load(&scenario, &[]).map_err(|error| {
        let first = error.problems.first();
        let reason = first.map_or(String::new(), |problem| {
            format!(": {} {}", problem.path, problem.reason)
        });
        fail(
            &scenario,
            &format!("it is not a sound scenario{reason}"),
            AGAIN,
        )
    })?;
    let place = dir.canonicalize().unwrap_or_else(|_| dir.into());
    if let Some(name) = place.file_name() {
        loaded.name = name.to_string_lossy().into_owned();
    }
    let strategies = by_strategy(rows).map_err(|what| fail(&table, &what, AGAIN))?;
    let known = |name: &String| loaded.spec.strategy.iter().any(|s| s.name == *name);
    if let Some((foreign, _)) = strategies.iter().find(|(name, _)| !known(name)) {
        let what = format!("its strategy \"{foreign}\" is not one of scenario.toml beside it");
        return Err(fail(&table, &what, AGAIN));
    }
    Ok(Recorded {
        scenario: loaded,
        strategies,
    })
}

fn read_rows(path: &Path) -> Result<Vec<ReplicationRow>, String> {
    let file = File::open(path).map_err(|error| format!("it cannot be read: {error}"))?;
    let mut reader = csv::Reader::from_reader(std::io::BufReader::new(file));
    let header = reader
        .headers()
        .map_err(|error| unreadable(&error))?
        .clone();
    if header.is_empty() {
        return Err("it is empty".into());
    }
    let mut rows = Vec::new();
    for row in reader.deserialize::<ReplicationRow>() {
        let row = row.map_err(|error| unreadable(&error))?;
        let mut figures = FIGURES.iter().filter_map(|name| metric(name));
        let no_number = |metric: &&Metric| metric.of(&row).is_some_and(|v| !v.is_finite());
        if let Some(metric) = figures.find(no_number) {
            return Err(format!(
                "{} of \"{}\" is no number",
                metric.name, row.strategy
            ));
        }
        rows.push(row);
    }
    let Some(first) = rows.first() else {
        return Err("it has no rows".into());
    };
    let missing = columns(first)
        .into_iter()
        .find(|column| !header.iter().any(|c| c == column));
    match missing {
        Some(missing) => Err(format!("{OTHER_COLUMNS}: {missing} is missing")),
        None => Ok(rows),
    }
}

const OTHER_COLUMNS: &str = "it has other columns than this version writes";

/// The columns that such a row is written with. A figure that may be empty would be taken for empty where its column is
/// missing.
fn columns(row: &ReplicationRow) -> Vec<String> {
    let mut bytes = Vec::new();
    write(&mut bytes, [row]).expect("memory can be written to");
    let mut reader = csv::Reader::from_reader(bytes.as_slice());
    let header = reader.headers().expect("what was written can be read");
    header.iter().map(str::to_owned).collect()
}

/// What is wrong with a table, in words for somebody who did not write the program that reads it.
fn unreadable(error: &csv::Error) -> String {
    let line = error.position().map_or(0, |position| position.line());
    match error.kind() {
        csv::ErrorKind::UnequalLengths { .. } => {
            format!("line {line} is torn: it has fewer or more cells than the heading")
        }
        csv::ErrorKind::Utf8 { .. } => format!("line {line} is not a text in UTF-8"),
        csv::ErrorKind::Deserialize { err, .. } => match err.kind() {
            csv::DeserializeErrorKind::Message(message) if message.contains("missing field") => {
                format!("{OTHER_COLUMNS}: {message}")
            }
            kind => format!("line {line} is not one of a run: {kind}"),
        },
        _ => format!("it cannot be read: {error}"),
    }
}

/// The rows of each strategy, which are all of its replications in order.
fn by_strategy(rows: Vec<ReplicationRow>) -> Result<Vec<(String, Vec<ReplicationRow>)>, String> {
    let mut strategies: Vec<(String, Vec<ReplicationRow>)> = Vec::new();
    for row in rows {
        match strategies
            .last_mut()
            .filter(|(name, _)| *name == row.strategy)
        {
            Some((_, rows)) => rows.push(row),
            None => strategies.push((row.strategy.clone(), vec![row])),
        }
    }
    let most = strategies.iter().map(|(_, rows)| rows.len()).max();
    for (i, (name, rows)) in strategies.iter().enumerate() {
        if strategies[..i].iter().any(|(other, _)| other == name) {
            return Err(format!("the rows of \"{name}\" do not stand together"));
        }
        let in_order = (0..).zip(rows).all(|(i, row)| row.replication == i);
        if !in_order {
            return Err(format!(
                "the replications of \"{name}\" are not 0, 1, 2 and so on"
            ));
        }
        if Some(rows.len()) != most {
            return Err(format!(
                "it is torn: \"{name}\" has {} of {} replications",
                rows.len(),
                most.unwrap_or(0)
            ));
        }
    }
    Ok(strategies)
}
