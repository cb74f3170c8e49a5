//! The directory of a sweep, which grows cell by cell.
//!
//! A sweep may take hours, and anything may end it. So each cell is a file of its own, which gets its name only when all
//! of it is on disk: whatever happens, a cell is there or it is not. What is there is not run again.

use super::manifest::Manifest;
use super::rows::{cell_csv, copy_rows, header};
use crate::experiment::RunResult;
use crate::report::folder::{
    OutputError, TEMPORARY, replace, swap, sync_directory, target_of, temporary_in, trouble,
};
use crate::scenario::{Cell, Plan, Scenario, Sweep};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

const MANIFEST: &str = "manifest.toml";
const SCENARIO: &str = "scenario.toml";
const CELLS: &str = "cells";
const TABLE: &str = "sweep.csv";

/// The directory of one sweep. While it is open no other process writes there.
#[derive(Debug)]
pub struct SweepStore {
    dir: PathBuf,
    header: Vec<String>,
    cells: u32,
    /// Held for its lock.
    _manifest: File,
}

impl SweepStore {
    /// Opens the directory of a sweep, or makes it. With `fresh` what an earlier sweep has left there is thrown away.
    ///
    /// # Errors
    /// When it holds another sweep or anything else, or when it cannot be written to.
    pub fn open(
        dir: &Path,
        scenario: &Scenario,
        sweep: &Sweep,
        only: &[String],
        fresh: bool,
    ) -> Result<Self, OutputError> {
        let target = target_of(dir, is_sweep)?;
        let manifest = Manifest::of(scenario, sweep.len(), only);
        let resolved = scenario.resolved();
        let there = target.join(MANIFEST).is_file();
        if there && !fresh {
            compare(&target, &manifest, &resolved)?;
        } else {
            make(&target, &manifest, &resolved)?;
        }
        let store = Self {
            _manifest: locked(&target)?,
            dir: target,
            header: header(sweep),
            cells: sweep.len(),
        };
        store.clean().map_err(|error| trouble(&store.dir, &error))?;
        Ok(store)
    }

    fn path_of(&self, cell: u32) -> PathBuf {
        self.dir.join(CELLS).join(format!("{cell:06}.csv"))
    }

    /// Takes away what a process left behind that was killed while it wrote.
    fn clean(&self) -> io::Result<()> {
        for folder in [self.dir.clone(), self.dir.join(CELLS)] {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                if entry
                    .file_name()
                    .as_encoded_bytes()
                    .starts_with(TEMPORARY.as_bytes())
                {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// The cells that are not there yet, or not whole.
    pub fn missing(&self) -> Vec<u32> {
        let whole = |&cell: &u32| {
            let file = File::open(self.path_of(cell)).map(BufReader::new);
            let read = file.and_then(|file| copy_rows(&self.header, cell, file, &mut io::sink()));
            read.unwrap_or(false)
        };
        (0..self.cells).filter(|cell| !whole(cell)).collect()
    }

    /// Keeps the result of a cell.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn keep(
        &self,
        sweep: &Sweep,
        cell: &Cell,
        plan: &Plan,
        result: &RunResult,
    ) -> Result<(), OutputError> {
        let mut text = Vec::new();
        cell_csv(sweep, cell, plan, result, &mut text).expect("memory can be written to");
        write_file(&self.path_of(cell.number), |file| file.write_all(&text))
    }

    /// Puts the rows of all cells together.
    ///
    /// # Errors
    /// When a cell is missing or something cannot be written.
    pub fn gather(&self) -> Result<PathBuf, OutputError> {
        let path = self.table();
        write_file(&path, |file| {
            let mut out = BufWriter::new(file);
            let mut writer = csv::Writer::from_writer(&mut out);
            writer.write_record(&self.header)?;
            drop(writer);
            for cell in 0..self.cells {
                let from = self.path_of(cell);
                let file = BufReader::new(File::open(&from)?);
                if !copy_rows(&self.header, cell, file, &mut out)? {
                    let damaged = format!("{} is damaged", from.display());
                    return Err(io::Error::other(damaged));
                }
            }
            out.flush()
        })?;
        sync_directory(&self.dir.join(CELLS));
        sync_directory(&self.dir);
        Ok(path)
    }

    /// Writes a file beside the table.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
        write_file(&self.dir.join(name), |file| file.write_all(bytes))
    }

    /// The table of all cells.
    pub fn table(&self) -> PathBuf {
        self.dir.join(TABLE)
    }

    /// What went wrong here, and what to do about it.
    pub fn trouble(&self, error: &io::Error) -> OutputError {
        let inner = error
            .get_ref()
            .and_then(|inner| inner.downcast_ref::<OutputError>());
        inner.cloned().unwrap_or_else(|| trouble(&self.dir, error))
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), OutputError> {
    replace(path, write).map_err(|error| trouble(path, &error))
}

/// Whether a directory is empty or the directory of a sweep and nothing else.
fn is_sweep(dir: &Path) -> io::Result<bool> {
    let (mut empty, mut has_manifest, mut has_foreign) = (true, false, false);
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        empty = false;
        has_manifest |= name == MANIFEST;
        let is_chart = name.ends_with(".svg") || name.ends_with(".png");
        let known = [MANIFEST, SCENARIO, CELLS, TABLE].contains(&&*name);
        has_foreign |= !(known || is_chart || name.starts_with(TEMPORARY));
    }
    Ok(empty || has_manifest && !has_foreign)
}

/// Refuses to go on with another sweep.
fn compare(dir: &Path, here: &Manifest, resolved_here: &str) -> Result<(), OutputError> {
    let refuse = |what: String| OutputError {
        path: dir.into(),
        what,
        remedy: "choose another --out, or start anew with --fresh, which throws away what is there"
            .into(),
    };
    let read = |name: &str| {
        let path = dir.join(name);
        fs::read_to_string(&path).map_err(|error| trouble(&path, &error))
    };
    let there = Manifest::parse(&read(MANIFEST)?)
        .ok_or_else(|| refuse(format!("its {MANIFEST} is damaged")))?;
    match there.difference(&read(SCENARIO)?, here, resolved_here) {
        Some(difference) => Err(refuse(difference)),
        None => Ok(()),
    }
}

/// Makes the directory of a sweep without cells, complete or not at all.
fn make(target: &Path, manifest: &Manifest, resolved: &str) -> Result<(), OutputError> {
    let parent = target.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| trouble(parent, &error))?;
    let fresh = temporary_in(parent).map_err(|error| trouble(parent, &error))?;
    fs::create_dir(fresh.path().join(CELLS)).map_err(|error| trouble(target, &error))?;
    for (name, text) in [(MANIFEST, manifest.text()), (SCENARIO, resolved.to_owned())] {
        write_file(&fresh.path().join(name), |file| {
            file.write_all(text.as_bytes())
        })?;
    }
    swap(fresh, target, parent).map_err(|error| trouble(target, &error))
}

/// The manifest with a lock, which the system gives back when the process ends, however it does.
fn locked(dir: &Path) -> Result<File, OutputError> {
    let path = dir.join(MANIFEST);
    let file = File::open(&path).map_err(|error| trouble(&path, &error))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(OutputError {
            path: dir.into(),
            what: "another sweep is being written there".into(),
            remedy: "wait for its end, or choose another --out".into(),
        }),
        // Some file systems have no locks, which is no reason to fail.
        _ => Ok(file),
    }
}
