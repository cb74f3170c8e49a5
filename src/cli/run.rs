//! `run`: every strategy of a scenario against the same worlds.

use super::checks::{Gate, check_options, repeat};
use super::events::{EventsError, MOST_LOGGED, write_events};
use super::interrupt::Interrupt;
use super::progress;
use super::reading::{keep_only, read, usage_problem};
use super::terminal::{Look, clean, not_written, print, tell};
use super::{Failure, RunArguments};
use crate::decode::shown;
use crate::experiment::{MOST_THREADS, RunResult, Tries, first_tries, run as run_plan};
use crate::report::{
    Extra, OutputOptions, Style, check_target, json, places_by_rank, table, write_output,
};
use crate::scenario::{MOST_MEMORY, Plan, Scenario};
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let interrupt = Interrupt::listen("nothing incomplete is left behind");
    let settings = settings(arguments);
    // Everything is read first: a mistake in the last file should not cost the runs before it.
    let ready: Vec<Option<(Scenario, Plan)>> = arguments
        .files
        .iter()
        .map(|file| ready(file, &settings, arguments))
        .collect();
    let ready: Vec<(Scenario, Plan)> = ready
        .into_iter()
        .collect::<Option<_>>()
        .ok_or(Failure::Input)?;
    check_distinct(&ready)?;
    for (scenario, _) in &ready {
        check_target(&arguments.out.join(&scenario.name))
            .map_err(|error| not_written(&error.to_string(), &error.remedy))?;
    }
    check_options(&ready, arguments)?;
    let mut gate = Gate::default();
    for (i, (scenario, plan)) in ready.iter().enumerate() {
        if i > 0 && !arguments.quiet && !arguments.json {
            print("\n")?;
        }
        let result = run_one(scenario, plan, arguments, &interrupt)?;
        gate.add(scenario, &result, arguments);
    }
    let _busy = interrupt.hold();
    gate.close(arguments)
}

/// `--seed` and `--replications` are settings like any other, so that they meet the same checks and stand in
/// the resolved scenario. A log of attempts is of one replication unless more are asked for.
fn settings(arguments: &RunArguments) -> Vec<String> {
    let mut settings = arguments.set.clone();
    // As TOML, in quotes: a name may have quotes of its own.
    let quoted = |name: &String| format!("compare.baseline={}", toml::Value::from(name.as_str()));
    settings.extend(arguments.baseline.as_ref().map(quoted));
    settings.extend(arguments.seed.map(|seed| format!("run.seed={seed}")));
    let asked = arguments.replications.or(arguments.events.then_some(1));
    let precision = arguments.precision.as_ref();
    settings.extend(precision.map(|precision| format!("run.precision=\"{precision}\"")));
    settings.extend(asked.map(|replications| format!("run.replications={replications}")));
    settings
}

fn ready(file: &Path, settings: &[String], arguments: &RunArguments) -> Option<(Scenario, Plan)> {
    let (scenario, mut plan) = read(file, settings)?;
    let baseline = plan.comparison.baseline;
    keep_only(&scenario, &mut plan, &arguments.only)?;
    if let Some(lost) = baseline.filter(|_| plan.comparison.baseline.is_none()) {
        left_out(&scenario, &plan, lost, arguments)?;
    }
    if arguments.events && plan.estimate.requests > MOST_LOGGED as f64 {
        let reason = format!("a log of more than {MOST_LOGGED} attempts would fill the disk");
        let remedy =
            "leave --events out, or shorten the run with --set run.duration=...".to_owned();
        usage_problem(&scenario, reason, remedy);
        return None;
    }
    if arguments.until_decided && !plan.checks.is_empty() {
        plan.run_until_decided(&scenario.spec.run);
    }
    if !arguments.quiet {
        plan.notes.iter().for_each(|note| tell(note));
    }
    Some((scenario, plan))
}

/// The baseline is not among the strategies that are run: wrong when the command line names both, and worth a note when
/// it stands in the file.
fn left_out(scenario: &Scenario, plan: &Plan, lost: usize, arguments: &RunArguments) -> Option<()> {
    let name = shown(&plan.strategies[lost].name);
    if arguments.baseline.is_some() {
        let reason = format!("the baseline \"{name}\" is not one of the strategies to run --only");
        let remedy = format!("add --only \"{name}\", or name another --baseline");
        usage_problem(scenario, reason, remedy);
        return None;
    }
    if !arguments.quiet && plan.compared.len() > 1 {
        tell(&format!(
            "the baseline \"{name}\" is not run: strategies are compared with the best one"
        ));
    }
    Some(())
}

/// Two scenarios of one name would share a folder.
fn check_distinct(ready: &[(Scenario, Plan)]) -> Result<(), Failure> {
    for (i, (scenario, _)) in ready.iter().enumerate() {
        if ready[..i]
            .iter()
            .any(|(other, _)| other.name == scenario.name)
        {
            let reason = format!(
                "two scenarios are named \"{}\" and would share a folder",
                scenario.name
            );
            usage_problem(
                scenario,
                reason,
                "run them one by one with different --out folders".into(),
            );
            return Err(Failure::Input);
        }
    }
    Ok(())
}

fn run_one(
    scenario: &Scenario,
    plan: &Plan,
    arguments: &RunArguments,
    interrupt: &Interrupt,
) -> Result<RunResult, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        tell(&format!("error: {}: {error}", scenario.name));
        Failure::Run
    };
    let runs = plan.compared.len() as u64 * u64::from(plan.replications);
    let bar = progress::bar(
        &scenario.name,
        runs,
        plan.precision.is_some() || plan.until_decided,
        arguments.quiet,
    );
    let threads = threads(plan, arguments.threads);
    let result = run_plan(scenario, plan, threads, &|| progress::advance(&bar));
    bar.finish_and_clear();
    let result = result.map_err(|error| {
        let failure = failed(&error);
        let command = repeat(scenario, plan.seed, arguments);
        tell(&clean(&format!("  repeat it with: {command}")));
        failure
    })?;
    let dir = arguments.out.join(&scenario.name);
    let written = write(plan, &dir, &result, arguments, interrupt);
    interrupt.leave_if_asked();
    let written = written.map_err(|error| not_written(&error.0, &error.1))?;
    show(&result, arguments)?;
    if !arguments.quiet {
        tell(&format!(
            "wrote {} files to {}",
            written.len(),
            dir.display()
        ));
    }
    Ok(result)
}

/// As many threads as were asked for, but not more than there is memory and work for. Zero asks for one for
/// each processor.
fn threads(plan: &Plan, asked: usize) -> usize {
    let runs = plan.compared.len() as u64 * u64::from(plan.replications);
    most_threads(plan.estimate.bytes_at_once(), runs, asked)
}

/// The same for `runs` runs that need so many bytes each.
pub(super) fn most_threads(bytes: f64, runs: u64, asked: usize) -> usize {
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = if asked == 0 { processors() } else { asked };
    let fit = (MOST_MEMORY / bytes) as usize;
    let runs = usize::try_from(runs).unwrap_or(usize::MAX);
    asked.min(fit).min(runs).clamp(1, MOST_THREADS)
}

fn show(result: &RunResult, arguments: &RunArguments) -> Result<(), Failure> {
    if arguments.json {
        return print(&json(result));
    }
    if arguments.quiet {
        return Ok(());
    }
    let look = Look::of_stdout();
    let style = Style {
        colour: look.colour,
        unicode: look.unicode,
    };
    print(&table(result, look.width, style))
}

/// Writes the folder of a scenario, complete or not at all. An error is a message and a remedy.
fn write(
    plan: &Plan,
    dir: &Path,
    result: &RunResult,
    arguments: &RunArguments,
    interrupt: &Interrupt,
) -> Result<Vec<PathBuf>, (String, String)> {
    let log = if arguments.events {
        Some(event_log(plan, result.replications, dir, interrupt)?)
    } else {
        None
    };
    let _busy = interrupt.hold();
    let mut extra = Vec::new();
    if let Some(log) = &log {
        extra.push(("events.jsonl", Extra::Copy(log.path())));
    }
    let charts = !arguments.no_charts;
    let options = OutputOptions {
        charts,
        threads: threads(plan, arguments.threads),
        tries: if charts {
            tries(plan, result, arguments.threads)?
        } else {
            Vec::new()
        },
    };
    write_output(dir, result, &options, &extra).map_err(|error| (error.to_string(), error.remedy))
}

/// The attempts of the first clients, for the chart of who tries when.
fn tries(plan: &Plan, result: &RunResult, asked: usize) -> Result<Vec<Tries>, (String, String)> {
    let places = places_by_rank(result);
    let threads = threads(plan, asked);
    first_tries(plan, result.replications, &places, threads).map_err(|error| {
        let remedy = "run it again with --no-charts".to_owned();
        (error.to_string(), remedy)
    })
}

/// The log of attempts in a temporary file beside the output folder, so that it need not fit into memory.
fn event_log(
    plan: &Plan,
    replications: u32,
    dir: &Path,
    interrupt: &Interrupt,
) -> Result<tempfile::NamedTempFile, (String, String)> {
    let remedy =
        || "check the folder and the space on its disk, or choose another --out".to_owned();
    let failed = |error: &dyn std::fmt::Display| (error.to_string(), remedy());
    let parent = dir
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(|error| failed(&error))?;
    let mut file = tempfile::NamedTempFile::new_in(parent).map_err(|error| failed(&error))?;
    interrupt.remove_at_exit(file.path());
    let mut out = BufWriter::new(&mut file);
    write_events(plan, replications, &mut out)
        .and_then(|()| out.flush().map_err(EventsError::from))
        .map_err(|error| failed(&error))?;
    drop(out);
    Ok(file)
}
