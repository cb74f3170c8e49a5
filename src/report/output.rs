//! The output directory of a run, which is there complete or not at all.
//!
//! Half a result looks like a result. So everything is written into a temporary directory beside the target, and
//! only when that is safely on disk the two change places. Whatever goes wrong before, the earlier output stays.

use super::folder::{OutputError, swap, sync_directory, target_of, temporary_in, trouble};
use super::page::page;
use super::run_charts::{CHARTS, Chart, run_charts};
use super::{
    attempts_csv, chart, checks_csv, comparison_csv, latency_csv, replications_csv, summary_csv,
    theory_csv, timeline_csv,
};
use crate::experiment::{RunResult, Tries, side_by_side};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What to write.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputOptions {
    /// Whether to draw the charts.
    pub charts: bool,
    /// The attempts of the first clients, for the chart of who tries when; it is left out without them.
    pub tries: Vec<Tries>,
    /// Threads that draw them; no file depends on it.
    pub threads: usize,
}

/// The content of an extra file.
#[derive(Clone, Copy, Debug)]
pub enum Extra<'a> {
    /// A copy of this file.
    Copy(&'a Path),
    /// These bytes.
    Bytes(&'a [u8]),
}

/// Writes the directory `dir` anew: the resolved scenario, the CSV files, the charts if asked for and every
/// extra (plain file name, content). Returns the paths of the files. A directory that an earlier run has written is
/// replaced as a whole; directories above `dir` are made.
///
/// # Errors
/// When `dir` holds anything but the output of a run, or something cannot be written.
pub fn write_output(
    dir: &Path,
    result: &RunResult,
    options: &OutputOptions,
    extra: &[(&str, Extra<'_>)],
) -> Result<Vec<PathBuf>, OutputError> {
    let target = target_of(dir, is_output)?;
    let parent = target
        .parent()
        .expect("a path with a file name has a parent");
    fs::create_dir_all(parent).map_err(|error| trouble(parent, &error))?;
    let fresh = temporary_in(parent).map_err(|error| trouble(parent, &error))?;
    let names = fill(fresh.path(), &target, result, options, extra)?;
    swap(fresh, &target, parent).map_err(|error| trouble(&target, &error))?;
    Ok(names.iter().map(|name| dir.join(name)).collect())
}

/// Whether `dir` may be written anew, to be asked before a long run.
///
/// # Errors
/// When it holds anything but the output of a run.
pub fn check_target(dir: &Path) -> Result<(), OutputError> {
    target_of(dir, is_output).map(|_| ())
}

/// Every file that a run writes, without its charts.
const OURS: [&str; 11] = [
    "report.md",
    "scenario.toml",
    "summary.csv",
    "comparison.csv",
    "timeline.csv",
    "attempts.csv",
    "latency.csv",
    "replications.csv",
    "theory.csv",
    "checks.csv",
    "events.jsonl",
];

/// Whether a run writes a file of this name.
fn is_ours(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let picture = name.strip_suffix(".svg").or(name.strip_suffix(".png"));
    OURS.contains(&name) || picture.is_some_and(|name| CHARTS.contains(&name))
}

/// Whether a directory is empty or is the output of an earlier run and nothing else: somebody's notes are not
/// thrown away.
fn is_output(dir: &Path) -> io::Result<bool> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type()?.is_dir() || name.as_encoded_bytes().starts_with(b".") {
            return Ok(false);
        }
        names.push(name);
    }
    let has = |name: &str| names.iter().any(|n| n == OsStr::new(name));
    let ours = names.iter().all(|name| is_ours(name));
    Ok(names.is_empty() || (ours && has("scenario.toml") && has("summary.csv")))
}

/// Writes every file into `dir`, which will be `target`, and on to the disk; returns their names.
fn fill(
    dir: &Path,
    target: &Path,
    result: &RunResult,
    options: &OutputOptions,
    extra: &[(&str, Extra<'_>)],
) -> Result<Vec<String>, OutputError> {
    let mut names = Vec::new();
    let mut put = |name: &str, write: &dyn Fn(&mut File) -> io::Result<()>| {
        let path = dir.join(name);
        let written = File::create(&path).and_then(|mut file| {
            write(&mut file)?;
            file.sync_all()
        });
        names.push(name.to_string());
        written.map_err(|error| trouble(&target.join(name), &error))
    };
    put("scenario.toml", &|f| {
        f.write_all(result.resolved.as_bytes())
    })?;
    put("summary.csv", &|f| Ok(summary_csv(result, f)?))?;
    put("timeline.csv", &|f| Ok(timeline_csv(result, f)?))?;
    put("attempts.csv", &|f| Ok(attempts_csv(result, f)?))?;
    put("latency.csv", &|f| Ok(latency_csv(result, f)?))?;
    put("replications.csv", &|f| Ok(replications_csv(result, f)?))?;
    put("theory.csv", &|f| Ok(theory_csv(result, f)?))?;
    if result.comparison.baseline.is_some() {
        put("comparison.csv", &|f| Ok(comparison_csv(result, f)?))?;
    }
    if !result.checks.is_empty() {
        put("checks.csv", &|f| Ok(checks_csv(result, f)?))?;
    }
    let charts = if options.charts {
        run_charts(result, &options.tries)
    } else {
        Vec::new()
    };
    let picture = |chart: &Chart| chart::png(&chart.svg);
    let pictures = side_by_side(&charts, options.threads, picture);
    for (chart, png) in charts.iter().zip(pictures) {
        let (name, svg) = (chart.name, &chart.svg);
        put(&format!("{name}.svg"), &|f| f.write_all(svg.as_bytes()))?;
        put(&format!("{name}.png"), &|f| f.write_all(&png))?;
    }
    put("report.md", &|f| {
        f.write_all(page(result, &charts).as_bytes())
    })?;
    for (name, content) in extra {
        put(name, &|f| match content {
            Extra::Bytes(bytes) => f.write_all(bytes),
            Extra::Copy(from) => io::copy(&mut open(from)?, f).map(|_| ()),
        })?;
    }
    sync_directory(dir);
    Ok(names)
}

/// Opens a file to copy; an error names it, for it is not the file that is written.
fn open(from: &Path) -> io::Result<File> {
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", from.display()));
    File::open(from).map_err(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    const PLAIN: OutputOptions = OutputOptions {
        charts: false,
        threads: 2,
        tries: Vec::new(),
    };

    fn names_in(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn every_file_is_written_with_directories_above() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("output/herd");
        let extra = [("events.jsonl", Extra::Bytes(b"{}\n"))];
        let result = sample::herd();
        let with_charts = OutputOptions {
            charts: true,
            ..PLAIN
        };
        let paths = write_output(&dir, &result, &with_charts, &extra).unwrap();
        let expected = [
            "attempts.csv",
            "comparison.csv",
            "events.jsonl",
            "latency.csv",
            "latency.png",
            "latency.svg",
            "load.png",
            "load.svg",
            "lost.png",
            "lost.svg",
            "price.png",
            "price.svg",
            "replications.csv",
            "report.md",
            "scenario.toml",
            "success.png",
            "success.svg",
            "success_over_time.png",
            "success_over_time.svg",
            "summary.csv",
            "theory.csv",
            "timeline.csv",
            "waiting.png",
            "waiting.svg",
        ];
        assert_eq!(names_in(&dir), expected);
        assert_eq!(paths.len(), expected.len());
        assert!(
            paths
                .iter()
                .all(|path| path.starts_with(&dir) && path.is_file())
        );
        assert_eq!(
            fs::read_to_string(dir.join("scenario.toml")).unwrap(),
            result.resolved
        );
        assert_eq!(names_in(dir.parent().unwrap()), ["herd"]);
    }

    #[test]
    fn earlier_output_is_replaced_as_a_whole() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("run");
        let result = sample::silent();
        let extra = [("events.jsonl", Extra::Bytes(b"old"))];
        write_output(&dir, &result, &PLAIN, &extra).unwrap();
        write_output(&dir, &result, &PLAIN, &[]).unwrap();
        assert_eq!(
            names_in(&dir),
            [
                "attempts.csv",
                "latency.csv",
                "replications.csv",
                "report.md",
                "scenario.toml",
                "summary.csv",
                "theory.csv",
                "timeline.csv"
            ]
        );
        assert_eq!(names_in(home.path()), ["run"]);
    }

    #[test]
    fn an_error_leaves_earlier_output_and_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let dir = home.path().join("run");
        let mut result = sample::silent();
        write_output(&dir, &result, &PLAIN, &[]).unwrap();
        let before = result.resolved.clone();
        result.resolved = "changed".into();
        let gone = home.path().join("gone");
        let error = write_output(
            &dir,
            &result,
            &PLAIN,
            &[("events.jsonl", Extra::Copy(&gone))],
        );
        let error = error.unwrap_err();
        assert!(error.path.ends_with("run/events.jsonl"), "{error}");
        assert!(error.what.contains("gone"), "{error}");
        assert_eq!(
            fs::read_to_string(dir.join("scenario.toml")).unwrap(),
            before
        );
        assert_eq!(names_in(home.path()), ["run"]);
    }

    #[test]
    fn what_was_there_is_put_back_when_the_swap_fails() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("run");
        write_output(&target, &sample::silent(), &PLAIN, &[]).unwrap();
        let fresh = temporary_in(home.path()).unwrap();
        fs::remove_dir(fresh.path()).unwrap();
        swap(fresh, &target, home.path()).unwrap_err();
        assert!(target.join("summary.csv").is_file());
        assert_eq!(names_in(home.path()), ["run"]);
    }

    #[test]
    fn what_is_not_ours_is_never_replaced() {
        let home = tempfile::tempdir().unwrap();
        let result = sample::silent();
        let refused = |dir: &Path, part: &str| {
            let error = write_output(dir, &result, &PLAIN, &[]).unwrap_err();
            assert!(error.what.contains(part), "{error}");
            assert!(error.remedy.contains("--out"), "{error:?}");
        };
        let foreign = home.path().join("thesis");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join("chapter.tex"), "years of work").unwrap();
        refused(&foreign, "not the output of a run");
        assert_eq!(names_in(&foreign), ["chapter.tex"]);

        let project = home.path().join("project");
        write_output(&project, &result, &PLAIN, &[]).unwrap();
        fs::create_dir(project.join("src")).unwrap();
        refused(&project, "not the output of a run");

        let file = home.path().join("file");
        fs::write(&file, "text").unwrap();
        refused(&file, "there is a file of that name");
        assert!(write_output(&file.join("below"), &result, &PLAIN, &[]).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "text");
        refused(Path::new("/"), "not the name");
        refused(Path::new(".."), "not the name");
        assert_eq!(names_in(home.path()), ["file", "project", "thesis"]);
    }

    #[test]
    fn an_empty_directory_is_filled() {
        let home = tempfile::tempdir().unwrap();
        write_output(&home.path().join("new"), &sample::silent(), &PLAIN, &[]).unwrap();
        let empty = home.path().join("empty");
        fs::create_dir(&empty).unwrap();
        write_output(&empty, &sample::silent(), &PLAIN, &[]).unwrap();
        assert_eq!(names_in(&empty), names_in(&home.path().join("new")));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_keeps_pointing_to_the_output() {
        let home = tempfile::tempdir().unwrap();
        let (real, link) = (home.path().join("real"), home.path().join("latest"));
        write_output(&real, &sample::silent(), &PLAIN, &[]).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let mut result = sample::silent();
        result.resolved = "second".into();
        write_output(&link, &result, &PLAIN, &[]).unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(
            fs::read_to_string(real.join("scenario.toml")).unwrap(),
            "second"
        );
    }
}
