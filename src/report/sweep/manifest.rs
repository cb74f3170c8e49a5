//! What a directory is a sweep of.
//!
//! Cells of two different sweeps in one directory would be a result of neither. So the directory says which scenario,
//! which seed, which program and which files it is of, and a sweep goes on only where all of that is the same.

use crate::scenario::{Difference, Scenario, differences};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::Read;
use std::path::{Path, PathBuf};

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
        let content = |name: String| {
            let content = checksum(&scenario.base.join(&name));
            (name, content)
        };
        let names = files_of(&resolved, &scenario.base);
        Self {
            program: concat!("retrystorm ", env!("CARGO_PKG_VERSION")).into(),
            cells,
            only: only.to_vec(),
            files: names.into_iter().map(content).collect(),
        }
    }

    /// The files, each with its size and the time of its last change, if it is there.
    pub(super) fn stamps(&self, scenario: &Scenario) -> Vec<Stamp> {
        let stamp = |name: &String| {
            let path = scenario.base.join(name);
            Stamp {
                name: name.clone(),
                seen: std::fs::metadata(&path).ok(),
                path,
            }
        };
        self.files.keys().map(stamp).collect()
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
        if let Some(clause) = other_scenario(resolved, resolved_here) {
            return Some(clause);
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

/// A file as it was when the sweep began.
#[derive(Clone, Debug)]
pub(super) struct Stamp {
    name: String,
    path: PathBuf,
    seen: Option<Metadata>,
}

impl Stamp {
    /// Its name, if it was touched since: a cell may then have read anything.
    pub(super) fn touched(&self) -> Option<&str> {
        let now = std::fs::metadata(&self.path).ok();
        let stamp = |about: &Metadata| (about.len(), about.modified().ok());
        let same = now.as_ref().map(stamp) == self.seen.as_ref().map(stamp);
        (!same).then_some(self.name.as_str())
    }
}

/// Parts of a scenario that no cell depends on: how a sweep is drawn and what is asked of a run.
const NO_MATTER: [&str; 3] = ["check", "compare", "sweep.chart"];

/// In what two scenarios differ, as far as it matters to cells.
fn other_scenario(there: &str, here: &str) -> Option<String> {
    let matters = |key: &Difference| !NO_MATTER.iter().any(|part| key.is_below(part));
    let differences: Vec<String> = differences(there, here)
        .iter()
        .filter(|key| matters(key))
        .map(|difference| {
            let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".into());
            let (there, here) = (value(&difference.a), value(&difference.b));
            format!("`{}` is {there} there and {here} here", difference.path)
        })
        .collect();
    let named = differences.iter().take(NAMED);
    let named = named.map(String::as_str).collect::<Vec<_>>().join("; ");
    match differences.len() {
        0 if essence(there) == essence(here) => None,
        0 => Some("it holds a sweep with its parts in another order".into()),
        n if n > NAMED => Some(format!(
            "it holds a sweep of another scenario: {named}; and {} more",
            n - NAMED
        )),
        _ => Some(format!("it holds a sweep of another scenario: {named}")),
    }
}

/// A scenario without the parts that do not matter to cells.
fn essence(resolved: &str) -> Option<toml::Table> {
    let mut table: toml::Table = toml::from_str(resolved).ok()?;
    for part in NO_MATTER {
        match part.split_once('.') {
            Some((outer, inner)) => {
                let outer = table.get_mut(outer).and_then(toml::Value::as_table_mut);
                outer.and_then(|outer| outer.remove(inner));
            }
            None => {
                table.remove(part);
            }
        }
    }
    Some(table)
}

/// The names of the files that a scenario or one of its cells reads: what stands under a key `file`, and every text
/// among the values of an axis that is the name of a file.
fn files_of(resolved: &toml::Table, base: &Path) -> Vec<String> {
    let mut names = Vec::new();
    texts_in(
        &toml::Value::Table(resolved.clone()),
        "",
        &mut |key, text| {
            if key == "file" {
                names.push(text.to_owned());
            }
        },
    );
    let swept = resolved.get("sweep").cloned();
    if let Some(swept) = swept {
        texts_in(&swept, "", &mut |_, text| {
            if base.join(text).is_file() {
                names.push(text.to_owned());
            }
        });
    }
    names
}

/// Gives every text below a value to `take`, with the key that it stands under.
fn texts_in(value: &toml::Value, key: &str, take: &mut impl FnMut(&str, &str)) {
    match value {
        toml::Value::String(text) => take(key, text),
        toml::Value::Array(items) => items.iter().for_each(|item| texts_in(item, key, take)),
        toml::Value::Table(table) => {
            table
                .iter()
                .for_each(|(key, value)| texts_in(value, key, take));
        }
        _ => {}
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
