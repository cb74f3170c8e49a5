//! Many cells, spread over the threads.
//!
//! A sweep has from a handful to a hundred thousand cells. When there are many, each thread runs cells of its own, from
//! the first replication to the last: nobody waits for anybody. When there are few, they run one after another and
//! share the threads inside. Either way a cell is the run that it would be alone, and it is handed over as soon as it
//! is complete, so that nothing but what is in flight can be lost.

use super::error::RunError;
use super::result::RunResult;
use super::run::run_with;
use super::workers::Workers;
use crate::decode::{Place, Problem, Severity, shown};
use crate::scenario::{Cell, LoadError, Plan, Scenario, Sweep};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};

/// With this many cells for each thread, threads run cells of their own.
const MANY: usize = 4;

/// Why a sweep ended before its last cell.
#[derive(Debug)]
pub enum SweepError<E> {
    /// The scenario of a cell is wrong.
    Scenario(Cell, Box<LoadError>),
    /// The files that it names are, or it needs too much.
    Plan(Cell, Box<Scenario>, Vec<Problem>),
    /// Its run ended without a result.
    Run(Cell, RunError),
    /// Its result could not be kept.
    Keep(E),
    /// The threads could not be started.
    Threads(String),
}

impl<E> SweepError<E> {
    /// The cell that it is about.
    pub fn of_cell(&self) -> Option<&Cell> {
        match self {
            Self::Scenario(cell, _) | Self::Plan(cell, ..) | Self::Run(cell, _) => Some(cell),
            Self::Keep(_) | Self::Threads(_) => None,
        }
    }

    /// The number of its cell; one that belongs to none comes first.
    fn number(&self) -> u32 {
        self.of_cell().map_or(0, |cell| cell.number)
    }
}

/// A cell made ready to run: its scenario, and its plan with only the strategies that `only` names (all when empty).
///
/// # Errors
/// Everything that is wrong with it.
pub fn prepare_cell<E>(
    base: &Scenario,
    sweep: &Sweep,
    cell: &Cell,
    only: &[String],
) -> Result<(Scenario, Plan), SweepError<E>> {
    let scenario = sweep
        .scenario(base, cell)
        .map_err(|error| SweepError::Scenario(cell.clone(), error))?;
    match Plan::assemble(&scenario) {
        Ok(mut plan) => match plan.keep_only(only) {
            Ok(()) => Ok((scenario, plan)),
            Err(unknown) => {
                let problem = no_strategy(&unknown);
                Err(SweepError::Plan(
                    cell.clone(),
                    Box::new(scenario),
                    vec![problem],
                ))
            }
        },
        Err(problems) => Err(SweepError::Plan(cell.clone(), Box::new(scenario), problems)),
    }
}

/// Says that a cell has no strategy of a name that was asked for.
fn no_strategy(name: &str) -> Problem {
    Problem {
        severity: Severity::Error,
        place: Place::Nowhere,
        path: String::new(),
        reason: format!("there is no compared strategy \"{}\" to run", shown(name)),
        remedy: "a sweep that renames strategies cannot be asked for one of them".into(),
    }
}

/// What the cells of a sweep need.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SweepCheck {
    /// Requests of all cells, strategies and replications, about.
    pub requests: f64,
    /// Memory that the largest cell needs for each thread, about.
    pub most_bytes: f64,
}

/// Cells whose mistakes are told; the mistakes of the others are likely the same.
const MOST_WRONG: usize = 50;

/// Makes every cell ready once, so that a mistake in the last one costs no run.
///
/// # Errors
/// What is wrong, of the first cells that are.
pub fn check_cells<E: Send>(
    base: &Scenario,
    sweep: &Sweep,
    only: &[String],
    threads: usize,
) -> Result<SweepCheck, Vec<SweepError<E>>> {
    let workers = Workers::new(threads).map_err(|error| vec![thread_error(error)])?;
    let next = AtomicU32::new(0);
    let found = Mutex::new((SweepCheck::default(), Vec::new()));
    workers.on_each_thread(&|| {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= sweep.len() {
                return;
            }
            let ready = prepare_cell(base, sweep, &sweep.cell(number), only);
            let mut found = lock(&found);
            match ready {
                Ok((_, plan)) => found.0.add(&plan),
                Err(error) => found.1.push(error),
            }
            if found.1.len() > MOST_WRONG {
                return;
            }
        }
    });
    let (check, mut errors) = found
        .into_inner()
        .unwrap_or_else(|poison| poison.into_inner());
    if errors.is_empty() {
        return Ok(check);
    }
    errors.sort_by_key(SweepError::number);
    errors.truncate(MOST_WRONG);
    Err(errors)
}

impl SweepCheck {
    fn add(&mut self, plan: &Plan) {
        let runs = plan.compared.len() as f64 * f64::from(plan.replications);
        self.requests += runs * plan.estimate.requests;
        self.most_bytes = self.most_bytes.max(plan.estimate.bytes_at_once());
    }
}

/// What runs a sweep.
pub struct SweepRun<'a, E> {
    /// The scenario with its sweep.
    pub base: &'a Scenario,
    /// The cells.
    pub sweep: &'a Sweep,
    /// The strategies that are run; all when empty.
    pub only: &'a [String],
    /// How many threads; zero uses every processor.
    pub threads: usize,
    /// Takes the result of a cell, from any thread and in any order.
    pub keep: &'a (dyn Fn(&Cell, &Plan, &RunResult) -> Result<(), E> + Sync),
    /// Called [`PARTS`](super::PARTS) times in each replication, from any thread.
    pub progress: &'a (dyn Fn() + Sync),
}

impl<E> std::fmt::Debug for SweepRun<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SweepRun")
            .field("only", &self.only)
            .field("threads", &self.threads)
            .finish_non_exhaustive()
    }
}

impl<E: Send> SweepRun<'_, E> {
    /// Runs these cells.
    ///
    /// # Errors
    /// The first thing that went wrong, in the order of the cells. Cells that were complete have been kept.
    pub fn run(&self, cells: &[u32]) -> Result<(), SweepError<E>> {
        let workers = Workers::new(self.threads).map_err(thread_error)?;
        let threads = workers.threads();
        if threads == 1 || cells.len() < MANY * threads {
            return cells
                .iter()
                .try_for_each(|&cell| self.one(cell, &workers, 1));
        }
        let failed = Failed::default();
        let crowded = Mutex::new(Vec::new());
        let next = AtomicUsize::new(0);
        let work = || {
            while let Some(&cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                if failed.any.load(Ordering::Relaxed) {
                    return;
                }
                match self.one(cell, &Workers::Here, threads) {
                    Ok(()) => {}
                    // The worlds that run at once share the memory; a cell that needs more gets all of it later.
                    Err(SweepError::Run(cell, RunError::Crowded { .. })) => {
                        lock(&crowded).push(cell.number);
                    }
                    Err(error) => failed.note(error),
                }
            }
        };
        workers.on_each_thread(&work);
        if let Some(error) = failed.into_first() {
            return Err(error);
        }
        let mut crowded = crowded
            .into_inner()
            .unwrap_or_else(|poison| poison.into_inner());
        crowded.sort_unstable();
        crowded
            .into_iter()
            .try_for_each(|cell| self.one(cell, &workers, 1))
    }

    /// Runs one cell, while so many worlds share the memory.
    fn one(&self, number: u32, workers: &Workers, sharing: usize) -> Result<(), SweepError<E>> {
        let cell = self.sweep.cell(number);
        let (scenario, plan) = prepare_cell(self.base, self.sweep, &cell, self.only)?;
        let result = run_with(&scenario, &plan, workers, sharing, self.progress)
            .map_err(|error| SweepError::Run(cell.clone(), error))?;
        (self.keep)(&cell, &plan, &result).map_err(SweepError::Keep)
    }
}

fn thread_error<E>(error: RunError) -> SweepError<E> {
    SweepError::Threads(error.to_string())
}

/// A lock that a panic elsewhere does not close: what it guards is only ever pushed to.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poison| poison.into_inner())
}

/// What went wrong so far.
struct Failed<E> {
    any: AtomicBool,
    first: Mutex<Option<SweepError<E>>>,
}

impl<E> Default for Failed<E> {
    fn default() -> Self {
        Self {
            any: AtomicBool::new(false),
            first: Mutex::new(None),
        }
    }
}

impl<E> Failed<E> {
    fn note(&self, error: SweepError<E>) {
        self.any.store(true, Ordering::Relaxed);
        let mut first = lock(&self.first);
        if first
            .as_ref()
            .is_none_or(|known| error.number() < known.number())
        {
            *first = Some(error);
        }
    }

    fn into_first(self) -> Option<SweepError<E>> {
        self.first
            .into_inner()
            .unwrap_or_else(|poison| poison.into_inner())
    }
}
