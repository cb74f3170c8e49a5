//! What a directory is a sweep of.
//!
//! Cells of two different sweeps in one directory would be a result of neither. So the directory says which scenario,
//! which seed, which program and which files it is of, and a sweep goes on only where all of that is the same.

use crate::scenario::{Scenario, differences};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Differences that are named; the rest is counted.
const NAMED: usize = 3;

/// The description of a sweep, beside its resolved scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// The program and its version: another one may give other numbers.
    program: String,
    /// How many cells there are.
    cells: u32,
    /// The strategies that were asked for by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    only: Vec<String>,
    /// The content of each file that the scenario names: size and checksum.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    files: BTreeMap<String, String>,
}

impl Manifest {
    /// The description of a sweep of `scenario`.
    pub(super) fn of(scenario: &Scenario, cells: u32, only: &[String]) -> Self {
        let resolved: toml::Table =
            toml::from_str(&scenario.resolved()).expect("a resolved scenario is written as TOML");
        let mut names = Vec::new();
        files_in(&resolved, &mut names);
        let content = |name: String| {
            let content = checksum(&scenario.base.join(&name));
            (name, content)
        };
        Self {
            program: concat!("retrystorm ", env!("CARGO_PKG_VERSION")).into(),
            cells,
            only: only.to_vec(),
            files: names.into_iter().map(content).collect(),
        }
    }

    /// Reads a description.
    pub(super) fn parse(text: &str) -> Option<Self> {
        toml::from_str(text).ok()
    }

    /// The description as text.
    pub(super) fn text(&self) -> String {
        let body = toml::to_string(self).expect("every part of it can be written as TOML");
        format!("# What this sweep is of. The same command goes on where it has ended.\n{body}")
    }

    /// What of another sweep, described by `self` and `resolved`, differs from this one: nothing, or a clause.
    pub(super) fn difference(
        &self,
        resolved: &str,
        here: &Self,
        resolved_here: &str,
    ) -> Option<String> {
        if self.program != here.program {
            let (there, here) = (&self.program, &here.program);
            return Some(format!("it holds a sweep by {there}, this is {here}"));
        }
        let differences: Vec<String> = differences(resolved, resolved_here)
            .iter()
            .map(|difference| {
                let value =
                    |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
                let (there, here) = (value(&difference.a), value(&difference.b));
                format!("`{}` is {there} there and {here} here", difference.path)
            })
            .collect();
        if !differences.is_empty() {
            let more = differences.len().saturating_sub(NAMED);
            let named = differences.iter().take(NAMED);
            let named = named.map(String::as_str).collect::<Vec<_>>().join("; ");
            let more = match more {
                0 => String::new(),
                more => format!("; and {more} more"),
            };
            return Some(format!(
                "it holds a sweep of another scenario: {named}{more}"
            ));
        }
        if resolved != resolved_here {
            return Some("it holds a sweep with its parts in another order".into());
        }
        if self.only != here.only {
            return Some("it holds a sweep of other strategies (--only)".into());
        }
        let changed = |name: &&String| self.files.get(*name) != here.files.get(*name);
        if let Some(name) = here.files.keys().find(changed) {
            return Some(format!("`{name}` had another content then"));
        }
        (self.cells != here.cells).then(|| format!("it holds a sweep of {} cells", self.cells))
    }
}

/// The names of files below a table: what stands under a key `file`, and the values of an axis over one.
fn files_in(table: &toml::Table, names: &mut Vec<String>) {
    let is_file = |key: &str| key == "file" || key.ends_with(".file");
    let sweeps_file = table
        .get("key")
        .and_then(toml::Value::as_str)
        .is_some_and(is_file);
    for (key, value) in table {
        match value {
            toml::Value::String(name) if key == "file" => names.push(name.clone()),
            toml::Value::Table(inner) => files_in(inner, names),
            toml::Value::Array(items) => {
                for item in items {
                    match item {
                        toml::Value::Table(inner) => files_in(inner, names),
                        toml::Value::String(name) if sweeps_file && key == "values" => {
                            names.push(name.clone());
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}

/// The size of a file and the CRC-32 of its content, or why there is none.
fn checksum(path: &Path) -> String {
    let mut crc = flate2::Crc::new();
    let read = std::fs::File::open(path).and_then(|mut file| {
        let mut part = vec![0; 1 << 16];
        loop {
            match file.read(&mut part)? {
                0 => return Ok(()),
                n => crc.update(&part[..n]),
            }
        }
    });
    match read {
        Ok(()) => format!("{} bytes, crc32 {:08x}", crc.amount(), crc.sum()),
        Err(_) => "not readable".into(),
    }
}
