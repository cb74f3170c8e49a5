//! `sweep`: a scenario in every combination of the values of its axes.

use super::interrupt::Interrupt;
use super::messages::tell_problems;
use super::progress;
use super::reading::{keep_only, read, usage_problem};
use super::run::most_threads;
use super::terminal::{Look, not_written, print, tell};
use super::{Failure, SweepArguments};
use crate::decode::{Problem, shown};
use crate::experiment::{RunError, SweepCheck, SweepError, SweepRun, check_cells};
use crate::report::{OutputError, Style, SweepStore, chart, sweep_charts, sweep_table};
use crate::scenario::{Cell, MOST_CELLS, Plan, Scenario, Sweep};

/// Said when a sweep ends before its last cell.
const KEPT: &str = "finished cells are kept; the same command goes on with the others";

/// What `validate` says of the sweep of a scenario, after making every cell ready; nothing when it has none.
pub(super) fn describe_sweep(scenario: &Scenario) -> Result<Option<String>, Failure> {
    let Some(spec) = &scenario.spec.sweep else {
        return Ok(None);
    };
    let sweep = sweep_of(scenario)?;
    let check = sound_cells(scenario, &sweep, &[], 0)?;
    let axes: Vec<String> = spec.axis.iter().map(|axis| axis.title()).collect();
    let cells = match sweep.len() {
        1 => "1 cell".to_owned(),
        n => format!("{n} cells"),
    };
    let (axes, requests) = (axes.join(", "), check.requests);
    Ok(Some(format!(
        "a sweep of {cells} over {axes}, about {requests:.2e} requests in all"
    )))
}

/// Makes every cell ready and tells what is wrong with those that are wrong.
fn sound_cells(
    scenario: &Scenario,
    sweep: &Sweep,
    only: &[String],
    threads: usize,
) -> Result<SweepCheck, Failure> {
    let threads = most_threads(1.0, sweep.len().into(), threads);
    check_cells(scenario, sweep, only, threads).map_err(|errors| {
        tell_wrong_cells(scenario, &errors);
        Failure::Input
    })
}

pub(super) fn sweep(arguments: &SweepArguments) -> Result<(), Failure> {
    let _interrupt = Interrupt::listen(KEPT);
    let mut settings = arguments.set.clone();
    settings.extend(arguments.seed.map(|seed| format!("run.seed={seed}")));
    let replications = arguments.replications;
    settings.extend(replications.map(|number| format!("run.replications={number}")));
    let (scenario, mut plan) = read(&arguments.file, &settings).ok_or(Failure::Input)?;
    keep_only(&scenario, &mut plan, &arguments.only).ok_or(Failure::Input)?;
    let sweep = sweep_of(&scenario)?;
    let check = sound_cells(&scenario, &sweep, &arguments.only, arguments.threads)?;
    let dir = arguments.out.join(format!("{}-sweep", scenario.name));
    let store = SweepStore::open(&dir, &scenario, &sweep, &arguments.only, arguments.fresh);
    let store = store.map_err(|error| not_written(&error.to_string(), &error.remedy))?;
    let missing = store.missing();
    if !arguments.quiet {
        tell(&estimate(&sweep, &plan, &missing, &check));
    }
    run_cells(
        &scenario,
        &sweep,
        (&plan, &check),
        &store,
        &missing,
        arguments,
    )?;
    let table = store.gather().map_err(|error| not_kept(&error))?;
    if !arguments.no_charts {
        draw(&scenario, &sweep, &store).map_err(|error| not_kept(&error))?;
    }
    if !arguments.quiet {
        let look = Look::of_stdout();
        let style = Style {
            colour: look.colour,
            unicode: look.unicode,
        };
        let text = sweep_table(&scenario, &sweep, &table, look.width, style);
        print(&text.map_err(|error| not_written(&error.to_string(), ""))?)?;
        tell(&format!("wrote {}", dir.display()));
    }
    Ok(())
}

fn sweep_of(scenario: &Scenario) -> Result<Sweep, Failure> {
    let (reason, remedy) = match Sweep::of(scenario) {
        Ok(Some(sweep)) => return Ok(sweep),
        Ok(None) => (
            "it has no [sweep]".to_owned(),
            "add one with a [[sweep.axis]] table, or use the command `run`".to_owned(),
        ),
        Err(cells) => (
            format!("the sweep would have {cells} cells; the most is {MOST_CELLS}"),
            "give the axes fewer values, or use design = { latin_hypercube = { cells = 500 } }"
                .into(),
        ),
    };
    usage_problem(scenario, reason, remedy);
    Err(Failure::Input)
}

/// The same mistake in many cells is told once.
fn tell_wrong_cells(scenario: &Scenario, errors: &[SweepError<OutputError>]) {
    let mut told: Vec<Problem> = Vec::new();
    let problems = errors.iter().flat_map(|error| match error {
        SweepError::Scenario(_, error) => error.problems.as_slice(),
        SweepError::Plan(_, _, problems) => problems.as_slice(),
        _ => &[],
    });
    for problem in problems {
        let same = |known: &Problem| (&known.path, &known.place) == (&problem.path, &problem.place);
        if !told.iter().any(same) {
            told.push(problem.clone());
        }
    }
    if let Some(cell) = errors.first().and_then(SweepError::of_cell) {
        tell(&format!(
            "error: a cell of the sweep is wrong, where {}",
            where_is(scenario, cell)
        ));
    }
    tell_problems(&scenario.document, &told);
}

/// "p = 5%, k = 3".
fn where_is(scenario: &Scenario, cell: &Cell) -> String {
    let axes = scenario.spec.sweep.iter().flat_map(|sweep| &sweep.axis);
    let parts = axes.zip(&cell.coordinates).map(|(axis, at)| {
        let (title, value) = (axis.title(), shown(&at.text));
        format!("{} = {value}", shown(&title))
    });
    parts.collect::<Vec<_>>().join(", ")
}

fn estimate(sweep: &Sweep, plan: &Plan, missing: &[u32], check: &SweepCheck) -> String {
    let there = sweep.len() as usize - missing.len();
    let there = match there {
        0 => String::new(),
        1 => "; 1 cell is there already".into(),
        n => format!("; {n} cells are there already"),
    };
    let of = |n: usize, one: &str, many: &str| match n {
        1 => format!("1 {one}"),
        n => format!("{n} {many}"),
    };
    format!(
        "{} × {} × {}, about {:.2e} requests in all{there}",
        of(sweep.len() as usize, "cell", "cells"),
        of(plan.compared.len(), "strategy", "strategies"),
        of(plan.replications as usize, "replication", "replications"),
        check.requests
    )
}

fn run_cells(
    scenario: &Scenario,
    sweep: &Sweep,
    (plan, check): (&Plan, &SweepCheck),
    store: &SweepStore,
    missing: &[u32],
    arguments: &SweepArguments,
) -> Result<(), Failure> {
    let runs = missing.len() as u64 * plan.compared.len() as u64 * u64::from(plan.replications);
    let more = plan.precision.is_some();
    let bar = progress::bar(&scenario.name, runs, more, arguments.quiet);
    let done = SweepRun {
        base: scenario,
        sweep,
        only: &arguments.only,
        threads: most_threads(check.most_bytes, runs, arguments.threads),
        keep: &|cell, plan, result| store.keep(sweep, cell, plan, result),
        progress: &|| progress::advance(&bar),
    }
    .run(missing);
    bar.finish_and_clear();
    done.map_err(|error| match &error {
        SweepError::Keep(error) => not_kept(error),
        SweepError::Run(cell, error) => {
            tell_run_error(scenario, cell, error);
            Failure::Run
        }
        SweepError::Threads(what) => not_written(what, "try again with --threads 1"),
        SweepError::Scenario(..) | SweepError::Plan(..) => {
            // They were sound a moment ago: a file has changed since.
            tell_wrong_cells(scenario, std::slice::from_ref(&error));
            Failure::Input
        }
    })
}

fn tell_run_error(scenario: &Scenario, cell: &Cell, error: &RunError) {
    tell(&format!("error: {}: {error}", scenario.name));
    tell(&format!("  where {}", where_is(scenario, cell)));
    tell(&format!("  {KEPT}, unless the scenario is changed"));
}

fn not_kept(error: &OutputError) -> Failure {
    let failure = not_written(&error.to_string(), &error.remedy);
    tell(&format!("  {KEPT}"));
    failure
}

fn draw(scenario: &Scenario, sweep: &Sweep, store: &SweepStore) -> Result<(), OutputError> {
    store.put_charts(|put| {
        sweep_charts(scenario, sweep, &store.table(), |name, svg| {
            put(&format!("{name}.svg"), svg.as_bytes())?;
            put(&format!("{name}.png"), &chart::png(&svg))
        })
    })
}
