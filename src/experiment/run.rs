//! Strategies × replications, in parallel, with the same result for any number of threads.

use super::border::border;
use super::checks::{Look, check_all, replications_for_checks};
use super::comparison::{compare_with_best, comparisons};
use super::error::RunError;
use super::formulas::theory_rows;
use super::load::verdict_rule;
use super::match_theory::match_theory;
use super::precision::{next_step, replications_for};
use super::rank::rank;
use super::result::{CapacityStep, FaultSpan, RunResult, StrategyResult, TheoryLine};
use super::workers::Workers;
use crate::metrics::{
    Headline, Measure, SummaryRow, Tally, success_by_attempt, success_of, summarise,
};
use crate::model::{
    AttemptLog, AttemptRecord, NoLog, Strategy, WorldError, WorldPlan, run_world_telling,
};
use crate::policy::MaxAttempts;
use crate::rng::Key;
use crate::scenario::{Plan, Scenario};
use crate::time::SimTime;
use rayon::prelude::*;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Results waiting for their turn, for each thread: what memory is held at once.
const WINDOW_PER_THREAD: usize = 16;

/// Runs all compared strategies of a scenario. `threads` of zero uses every processor; `progress` is called
/// [`PARTS`](super::PARTS) times in each replication, from any thread.
///
/// # Errors
/// When a world stands still or the program fails.
pub fn run(
    scenario: &Scenario,
    plan: &Plan,
    threads: usize,
    progress: &(dyn Fn() + Sync),
) -> Result<RunResult, RunError> {
    run_with(scenario, plan, &Workers::new(threads)?, 1, progress)
}

/// The same on given threads, while `sharing` runs at once share the memory.
pub(super) fn run_with(
    scenario: &Scenario,
    plan: &Plan,
    workers: &Workers,
    sharing: usize,
    progress: &(dyn Fn() + Sync),
) -> Result<RunResult, RunError> {
    let mut folds: Vec<Fold> = plan
        .compared
        .iter()
        .map(|&strategy| Fold::new(plan, strategy))
        .collect();
    let (mut from, mut to) = (0, plan.replications);
    let mut look = Look {
        number: plan.until_decided.then_some(0),
        asked: scenario.spec.run.replications,
    };
    while from < to {
        let shared = Shared {
            plan,
            workers,
            sharing,
            progress,
        };
        shared.replications(from..to, &mut folds)?;
        from = to;
        look.number = look.number.map(|number| number + 1);
        let steps = [
            step_for_precision(plan, &folds, from),
            step_for_checks(scenario, plan, &folds, look),
        ];
        to = steps.into_iter().flatten().max().unwrap_or(from);
    }
    Ok(gather(scenario, plan, folds, look))
}

/// The next number of replications for a wanted precision, unless that is reached.
fn step_for_precision(plan: &Plan, folds: &[Fold], now: u32) -> Option<u32> {
    let (precision, most) = plan.precision?;
    let parts = folds.iter().map(|fold| fold.each.as_slice());
    let needed = replications_for(precision, parts)?;
    Some(next_step(now, needed, most))
}

/// The next number of replications for checks that shall be decided, unless they are.
fn step_for_checks(scenario: &Scenario, plan: &Plan, folds: &[Fold], look: Look) -> Option<u32> {
    look.number?;
    let now = folds.first()?.each.len() as u32;
    let strategies = strategy_results(plan, folds.to_vec());
    let needed = replications_for_checks(now, &check_all(plan, &strategies, look))?;
    Some(next_step(now, needed, scenario.spec.run.max_replications))
}

/// What all replications of a run have in common.
struct Shared<'a> {
    plan: &'a Plan,
    workers: &'a Workers,
    /// Runs at once that share the memory.
    sharing: usize,
    progress: &'a (dyn Fn() + Sync),
}

/// A strategy and a replication.
type Task = (usize, u32);

impl Shared<'_> {
    /// Worlds at once.
    fn worlds(&self) -> usize {
        self.workers.threads() * self.sharing
    }

    /// Runs some replications of every compared strategy and adds them up in order.
    fn replications(&self, replications: Range<u32>, folds: &mut [Fold]) -> Result<(), RunError> {
        let compared = &self.plan.compared;
        let tasks: Vec<Task> = compared
            .iter()
            .flat_map(|&strategy| replications.clone().map(move |r| (strategy, r)))
            .collect();
        let threads = self.workers.threads();
        for window in tasks.chunks(threads * WINDOW_PER_THREAD) {
            let tallies = self.window(window);
            for (&(strategy, replication), tally) in window.iter().zip(tallies) {
                let tally = match tally.expect("only what comes after an error is left out") {
                    // The worlds that run at once share the memory; one that needs more gets all of it now.
                    Err(RunError::Crowded { .. }) if threads > 1 && self.sharing == 1 => {
                        log_attempts(self.plan, strategy, replication, NoLog)
                            .map(|(tally, _)| tally)
                    }
                    tally => tally,
                };
                let place = compared.iter().position(|&one| one == strategy);
                folds[place.expect("tasks are of compared strategies")].add(&tally?);
            }
        }
        Ok(())
    }

    /// Runs some tasks at once. When one fails those after it are left out, unless they have begun.
    fn window(&self, window: &[Task]) -> Vec<Option<Result<Tally, RunError>>> {
        let mut world = self.plan.world.clone();
        world.most_in_flight = self.plan.world.most_in_flight / self.worlds();
        let first_failed = AtomicUsize::new(usize::MAX);
        let one = |(index, &(strategy, replication)): (usize, &Task)| {
            if index > first_failed.load(Ordering::Relaxed) {
                return None;
            }
            let done = simulate(
                self.plan,
                &world,
                strategy,
                replication,
                NoLog,
                self.progress,
            );
            // One that is only crowded has another chance.
            let crowded = matches!(done, Err(RunError::Crowded { .. }));
            if done.is_err() && !(crowded && self.workers.threads() > 1) {
                first_failed.fetch_min(index, Ordering::Relaxed);
            }
            Some(done.map(|(tally, _)| tally))
        };
        match self.workers {
            Workers::Here => window.iter().enumerate().map(one).collect(),
            Workers::Pool(pool) => {
                pool.install(|| window.par_iter().enumerate().map(one).collect())
            }
        }
    }
}

/// Runs one replication of one strategy and gives a record of every attempt, in the order of their ends.
///
/// # Errors
/// When the world stands still or the program fails.
pub fn record_attempts(
    plan: &Plan,
    strategy: usize,
    replication: u32,
) -> Result<(Tally, Vec<AttemptRecord>), RunError> {
    log_attempts(plan, strategy, replication, Vec::new())
}

/// The same, with each record given to `log` as it comes.
///
/// # Errors
/// When the world stands still or the program fails.
pub fn log_attempts<L: AttemptLog>(
    plan: &Plan,
    strategy: usize,
    replication: u32,
    log: L,
) -> Result<(Tally, L), RunError> {
    simulate(plan, &plan.world, strategy, replication, log, &|| ())
}

/// Runs one replication of one strategy in a world whose limits may be tighter than those of the plan.
pub(super) fn simulate<L: AttemptLog>(
    plan: &Plan,
    world: &WorldPlan,
    index: usize,
    replication: u32,
    log: L,
    progress: &dyn Fn(),
) -> Result<(Tally, L), RunError> {
    let strategies: Vec<&Strategy> = plan
        .pinned
        .iter()
        .map(|pinned| &plan.strategies[pinned.unwrap_or(index)])
        .collect();
    let root = Key::root(plan.seed, u64::from(replication));
    let strategy = || plan.strategies[index].name.clone();
    match catch_unwind(AssertUnwindSafe(|| {
        run_world_telling(world, &strategies, root, log, progress)
    })) {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(WorldError::Stuck(stuck))) => Err(RunError::Stuck {
            strategy: strategy(),
            replication,
            at: stuck.at,
            events: stuck.events,
        }),
        Ok(Err(WorldError::Endless { at })) => Err(RunError::Endless {
            strategy: strategy(),
            replication,
            at,
            limit: world.most_attempts,
        }),
        Ok(Err(WorldError::Crowded { at })) => Err(RunError::Crowded {
            strategy: strategy(),
            replication,
            at,
        }),
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            let message = text.unwrap_or_else(|| "no message".into());
            Err(RunError::Panicked {
                strategy: strategy(),
                replication,
                message,
            })
        }
    }
}

/// The replications of one strategy, added up in order.
#[derive(Clone)]
struct Fold {
    measure: Measure,
    total: Tally,
    each: Vec<Headline>,
}

impl Fold {
    fn new(plan: &Plan, strategy: usize) -> Self {
        Self {
            measure: Measure {
                strategy: plan.strategies[strategy].name.clone(),
                rule: verdict_rule(plan, strategy),
                span: plan.end() - SimTime::ZERO,
                prices: plan.prices,
            },
            total: Tally::new(plan.world.bin, plan.end()),
            each: Vec::new(),
        }
    }

    fn add(&mut self, tally: &Tally) {
        let replication = self.each.len() as u32;
        self.each.push(self.measure.headline(replication, tally));
        self.total.merge(tally);
    }
}

/// What came of each strategy, compared with the others.
fn strategy_results(plan: &Plan, folds: Vec<Fold>) -> Vec<StrategyResult> {
    let span = plan.end() - SimTime::ZERO;
    let mut strategies: Vec<StrategyResult> = plan
        .compared
        .iter()
        .zip(folds)
        .map(|(&index, fold)| {
            let strategy = &plan.strategies[index];
            let success = success_of(&fold.each);
            let theory = match_theory(plan, index, &fold.total, success.map(|s| s.mean));
            let border = border(plan, index);
            let independent = matches!(theory, TheoryLine::Independent { .. });
            StrategyResult {
                summary: SummaryRow {
                    hidden_capacity_per_s: border.as_ref().ok().map(|border| border.per_s),
                    ..summarise(&strategy.name, &fold.total, &fold.each, span)
                },
                success,
                max_attempts: match strategy.rule.max_attempts {
                    MaxAttempts::AtMost(most) => Some(u64::from(most)),
                    MaxAttempts::Unlimited => None,
                },
                success_by_attempt: success_by_attempt(&fold.each),
                theory_rows: theory_rows(plan, index, &fold.each, independent),
                theory,
                border,
                total: fold.total,
                each: fold.each,
            }
        })
        .collect();
    rank(&mut strategies);
    compare_with_best(&mut strategies, plan.comparison.success);
    strategies
}

fn gather(scenario: &Scenario, plan: &Plan, folds: Vec<Fold>, look: Look) -> RunResult {
    let replications = folds.first().map_or(0, |fold| fold.each.len() as u32);
    let strategies = strategy_results(plan, folds);
    let baseline = |&index: &usize| Some(index) == plan.comparison.baseline;
    let baseline = plan.compared.iter().position(baseline);
    RunResult {
        name: scenario.name.clone(),
        question: scenario.question.clone(),
        resolved: scenario.resolved(),
        seed: plan.seed,
        replications,
        precision: plan.precision.map(|(precision, _)| precision),
        max_replications: scenario.spec.run.max_replications,
        warmup: plan.world.warmup,
        duration: plan.world.duration,
        horizon: plan.end() - SimTime::ZERO,
        service: plan.world.service.name.clone(),
        capacity: capacity(plan),
        faults: fault_spans(plan),
        currency: scenario.spec.cost.as_ref().map(|c| c.currency.clone()),
        comparison: comparisons(&strategies, baseline, &plan.comparison),
        checks: check_all(plan, &strategies, look),
        looks: look.number,
        strategies,
    }
}

/// What the service can finish over time: workers ÷ mean service time.
fn capacity(plan: &Plan) -> Vec<CapacityStep> {
    let service = &plan.world.service;
    let mean = service.service_time.mean();
    if service.workers == u32::MAX || mean <= 0.0 || !mean.is_finite() {
        return Vec::new();
    }
    let mut steps: Vec<CapacityStep> = Vec::new();
    for from in std::iter::once(SimTime::ZERO).chain(plan.world.faults.changes(plan.end())) {
        let (workers, slow_down) = plan.world.faults.capacity(from, service.workers);
        let per_s = f64::from(workers) / (mean * slow_down.max(1e-9));
        if steps.last().is_none_or(|last| last.per_s != per_s) {
            steps.push(CapacityStep { from, per_s });
        }
    }
    steps
}

fn fault_spans(plan: &Plan) -> Vec<FaultSpan> {
    let end = plan.end();
    let mut spans: Vec<FaultSpan> = Vec::new();
    for fault in plan.world.faults.faults() {
        let inside = fault.spans().take_while(|&(from, _)| from < end);
        spans.extend(inside.map(|(from, to)| FaultSpan {
            from,
            to: to.min(end),
            label: fault.label(),
        }));
    }
    spans.sort_by_key(|span| (span.from, span.to));
    spans
}
