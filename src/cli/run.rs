//! `run`: every strategy of a scenario against the same worlds.

use super::checks::{Gate, check_options, repeat};
use super::events::{EventsError, MOST_LOGGED, write_events};
use super::progress;
use super::terminal::{Look, clean, not_written, print, tell};
use super::validate::{read, usage_problem};
use super::{Failure, RunArguments};
use crate::decode::{nearest, shown};
use crate::experiment::{RunResult, run as run_plan};
use crate::report::{Extra, OutputOptions, Style, check_target, json, table, write_output};
use crate::scenario::{MOST_MEMORY, Plan, Scenario};
use std::fs;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// More threads than this only cost.
const MOST_THREADS: usize = 1_024;

pub(super) fn run(arguments: &RunArguments) -> Result<(), Failure> {
    let interrupt = Interrupt::listen();
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
    settings.extend(arguments.seed.map(|seed| format!("run.seed={seed}")));
    let asked = arguments.replications.or(arguments.events.then_some(1));
    let precision = arguments.precision.as_ref();
    settings.extend(precision.map(|precision| format!("run.precision=\"{precision}\"")));
    settings.extend(asked.map(|replications| format!("run.replications={replications}")));
    settings
}

fn ready(file: &Path, settings: &[String], arguments: &RunArguments) -> Option<(Scenario, Plan)> {
    let (scenario, mut plan) = read(file, settings)?;
    if let Err(unknown) = plan.keep_only(&arguments.only) {
        let names = || {
            plan.compared
                .iter()
                .map(|&i| plan.strategies[i].name.as_str())
        };
        let remedy = nearest(&unknown, names()).map_or_else(
            || {
                let all: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
                format!("it has {}", all.join(", "))
            },
            |near| format!("did you mean \"{near}\"?"),
        );
        let reason = format!("there is no strategy \"{}\" to run --only", shown(&unknown));
        usage_problem(&scenario, reason, remedy);
        return None;
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
    /// Results that wait for their turn, for each thread.
    const WAITING: f64 = 16.0;
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let asked = if asked == 0 { processors() } else { asked };
    let each = plan.estimate.world_bytes + WAITING * plan.estimate.result_bytes;
    let fit = (MOST_MEMORY / each) as usize;
    let runs = plan
        .compared
        .len()
        .saturating_mul(plan.replications as usize);
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
    let options = OutputOptions {
        charts: !arguments.no_charts,
    };
    write_output(dir, result, &options, &extra).map_err(|error| (error.to_string(), error.remedy))
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

/// Ctrl-C. A run is left at once, as nothing of it is on disk but a temporary log; while output is written, the
/// program waits until that is complete.
struct Interrupt {
    asked: Arc<AtomicBool>,
    writing: Arc<Mutex<()>>,
    /// Temporary files.
    litter: Arc<Mutex<Vec<PathBuf>>>,
}

impl Interrupt {
    fn listen() -> Self {
        let interrupt = Self {
            asked: Arc::default(),
            writing: Arc::default(),
            litter: Arc::default(),
        };
        let asked = Arc::clone(&interrupt.asked);
        let writing = Arc::clone(&interrupt.writing);
        let litter = Arc::clone(&interrupt.litter);
        let leave = move || {
            asked.store(true, Ordering::SeqCst);
            let free = writing.try_lock();
            if free.is_ok() {
                tell("\ninterrupted: nothing incomplete is left behind");
            } else {
                tell("\ninterrupted: the output that is being written is completed first");
            }
            drop(free);
            // Waits for a write that is under way.
            let _lock = writing.lock();
            for path in litter.lock().iter().flat_map(|paths| paths.iter()) {
                let _may_be_gone = fs::remove_file(path);
            }
            std::process::exit(130);
        };
        // Without a handler Ctrl-C ends the program in the system's way, which is sound as well.
        let _ = ctrlc::set_handler(leave);
        interrupt
    }

    /// Removes a temporary file on Ctrl-C.
    fn remove_at_exit(&self, path: &Path) {
        if let Ok(mut litter) = self.litter.lock() {
            litter.push(path.into());
        }
    }

    /// Ends the program when it was interrupted while it wrote.
    fn leave_if_asked(&self) {
        while self.asked.load(Ordering::SeqCst) {
            // The handler leaves in a moment.
            std::thread::park();
        }
    }

    /// Keeps the program alive while output is written.
    fn hold(&self) -> Option<std::sync::MutexGuard<'_, ()>> {
        self.writing.lock().ok()
    }
}
