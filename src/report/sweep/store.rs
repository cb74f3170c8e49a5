//! The directory of a sweep, which grows cell by cell.
//!
//! A sweep may take hours, and anything may end it. So each cell is a file of its own, which gets its name only when all
//! of it is on disk: whatever happens, a cell is there or it is not. What is there is not run again.

use super::manifest::{Manifest, Stamp};
use super::rows::{cell_csv, copy_rows, header};
use crate::experiment::RunResult;
use crate::metrics::metric;
use crate::report::folder::{OutputError, TEMPORARY, replace, sync_directory, target_of, trouble};
use crate::scenario::{Cell, Plan, Scenario, Sweep};
use std::fs::{self, File, TryLockError};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

const LOCK: &str = ".lock";
const MANIFEST: &str = "manifest.toml";
const SCENARIO: &str = "scenario.toml";
const CELLS: &str = "cells";
const TABLE: &str = "sweep.csv";

/// The directory of one sweep. While it is open no other process writes there.
#[derive(Debug)]
pub struct SweepStore {
    dir: PathBuf,
    manifest: Manifest,
    stamps: Vec<Stamp>,
    header: Vec<String>,
    cells: u32,
    /// Held for its lock.
    _lock: File,
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
        let dir = target_of(dir, is_sweep)?;
        fs::create_dir_all(&dir).map_err(|error| trouble(&dir, &error))?;
        // Nothing in it is touched, or even looked at, before the lock is held.
        let lock = locked(&dir)?;
        // Stamps come before checksums: what is touched in between shows.
        let names = Manifest::of(scenario, sweep.len(), only);
        let stamps = names.stamps(scenario);
        let store = Self {
            manifest: Manifest::of(scenario, sweep.len(), only),
            stamps,
            header: header(sweep),
            cells: sweep.len(),
            dir,
            _lock: lock,
        };
        let resolved = scenario.resolved();
        if store.path(MANIFEST).is_file() && !fresh {
            store.compare(&resolved)?;
        } else {
            store.clear().map_err(|error| trouble(&store.dir, &error))?;
        }
        store.clean().map_err(|error| trouble(&store.dir, &error))?;
        // The manifest comes last: without it the directory counts as empty.
        store.put(SCENARIO, resolved.as_bytes())?;
        store.put(MANIFEST, store.manifest.text().as_bytes())?;
        Ok(store)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    fn path_of(&self, cell: u32) -> PathBuf {
        self.path(CELLS).join(format!("{cell:06}.csv"))
    }

    /// Throws away what an earlier sweep has left, its manifest first.
    fn clear(&self) -> io::Result<()> {
        for name in [MANIFEST, SCENARIO, TABLE] {
            if self.path(name).exists() {
                fs::remove_file(self.path(name))?;
            }
        }
        fs::create_dir_all(self.path(CELLS))?;
        for entry in fs::read_dir(self.path(CELLS))? {
            fs::remove_file(entry?.path())?;
        }
        self.remove_charts(&[])
    }

    /// Takes away what a process left behind that was killed while it wrote.
    fn clean(&self) -> io::Result<()> {
        for folder in [self.dir.clone(), self.path(CELLS)] {
            for entry in fs::read_dir(folder)? {
                let entry = entry?;
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(TEMPORARY.as_bytes()) {
                    fs::remove_file(entry.path())?;
                }
            }
        }
        Ok(())
    }

    /// Takes away all charts but those of these names: a sweep may be drawn in another way.
    fn remove_charts(&self, but: &[String]) -> io::Result<()> {
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_chart(&name) && !but.contains(&name) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    /// Refuses to go on with another sweep.
    fn compare(&self, resolved_here: &str) -> Result<(), OutputError> {
        let refuse = |what: String| OutputError {
            path: self.dir.clone(),
            what,
            remedy:
                "choose another --out, or start anew with --fresh, which throws away what is there"
                    .into(),
        };
        let read = |name: &str| {
            let path = self.path(name);
            fs::read_to_string(&path).map_err(|error| trouble(&path, &error))
        };
        let there = Manifest::parse(&read(MANIFEST)?)
            .ok_or_else(|| refuse(format!("its {MANIFEST} is damaged")))?;
        match there.difference(&read(SCENARIO)?, &self.manifest, resolved_here) {
            Some(difference) => Err(refuse(difference)),
            None => Ok(()),
        }
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

    /// Keeps the result of a cell, unless a file that it may have read was touched since the sweep began.
    ///
    /// # Errors
    /// When one was, or it cannot be written.
    pub fn keep(
        &self,
        sweep: &Sweep,
        cell: &Cell,
        plan: &Plan,
        result: &RunResult,
    ) -> Result<(), OutputError> {
        if let Some(name) = self.stamps.iter().find_map(Stamp::touched) {
            return Err(OutputError {
                path: self.path_of(cell.number),
                what: format!("`{name}` has changed while the sweep ran"),
                remedy: "put it back and give the same command, or start anew with --fresh".into(),
            });
        }
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
    fn put(&self, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
        write_file(&self.path(name), |file| file.write_all(bytes))
    }

    /// Writes charts, each with its name, as `draw` gives them, and takes away those of another drawing.
    ///
    /// # Errors
    /// When one cannot be drawn or written.
    pub fn put_charts(
        &self,
        draw: impl FnOnce(&mut dyn FnMut(&str, &[u8]) -> io::Result<()>) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        let mut names = Vec::new();
        let mut put = |name: &str, bytes: &[u8]| {
            names.push(name.to_owned());
            replace(&self.path(name), |file| file.write_all(bytes))
        };
        draw(&mut put)
            .and_then(|()| self.remove_charts(&names))
            .map_err(|error| trouble(&self.dir, &error))
    }

    /// The table of all cells.
    pub fn table(&self) -> PathBuf {
        self.dir.join(TABLE)
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

/// Whether a name is that of a chart of a sweep: `FIGURE-by-AXIS.svg`.
fn is_chart(name: &str) -> bool {
    let drawn = name.ends_with(".svg") || name.ends_with(".png");
    let figure = name.split_once("-by-").map(|(figure, _)| figure);
    drawn && figure.is_some_and(|figure| metric(figure).is_some())
}

/// Whether a directory has nothing in it but hidden files, or is the directory of a sweep and nothing else.
fn is_sweep(dir: &Path) -> io::Result<bool> {
    let (mut empty, mut ours, mut foreign) = (true, false, false);
    for entry in fs::read_dir(dir)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        ours |= name == LOCK || name == MANIFEST;
        if !name.starts_with('.') {
            empty = false;
            let known = [MANIFEST, SCENARIO, CELLS, TABLE].contains(&&*name);
            foreign |= !known && !is_chart(&name);
            foreign |= name == CELLS && has_foreign_cells(&dir.join(CELLS))?;
        }
    }
    Ok(empty || ours && !foreign)
}

/// Whether anything but files of cells lies among them.
fn has_foreign_cells(cells: &Path) -> io::Result<bool> {
    for entry in fs::read_dir(cells)? {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_suffix(".csv");
        let ours = number.is_some_and(|n| n.len() == 6 && n.bytes().all(|b| b.is_ascii_digit()));
        if !ours && !name.starts_with(TEMPORARY) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// A file in the directory with a lock, which the system gives back when the process ends, however it does.
fn locked(dir: &Path) -> Result<File, OutputError> {
    let path = dir.join(LOCK);
    let open = File::options().create(true).append(true).open(&path);
    let file = open.map_err(|error| trouble(&path, &error))?;
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
