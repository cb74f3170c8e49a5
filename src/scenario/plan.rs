//! A scenario made ready to run.

use super::check::CheckSpec;
use super::cost::CostSpec;
use super::estimate::{Estimate, Parts};
use super::load::Scenario;
use super::spec::{LEAST_TO_ESTIMATE, RunSpec, ScenarioSpec};
use super::validate::group_path;
use crate::decode::{Place, Problem, Severity};
use crate::metrics::Prices;
use crate::model::{
    ArrivalPlan, Arrivals, FaultSchedule, GroupPlan, MOST_IN_FLIGHT, ServicePlan, ServiceSpec,
    Strategy, WorldPlan,
};
use crate::time::{SimDuration, SimTime};
use std::path::Path;

/// Everything a run needs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The world without strategy and seed.
    pub world: WorldPlan,
    /// All strategies, in the order of the scenario.
    pub strategies: Vec<Strategy>,
    /// Which of them are compared.
    pub compared: Vec<usize>,
    /// The strategy of each client group that always uses the same.
    pub pinned: Vec<Option<usize>>,
    /// Independent repetitions, to begin with.
    pub replications: u32,
    /// The half-width of intervals that more repetitions are run for, and the most of them.
    pub precision: Option<(f64, u32)>,
    /// The seed.
    pub seed: u64,
    /// For how long success has to stay back to count as recovered.
    pub settle: SimDuration,
    /// Probability of an attempt failing by itself.
    pub failure_probability: f64,
    /// What things cost, if the scenario says so.
    pub prices: Option<Prices>,
    /// What strategies are compared with.
    pub comparison: Comparison,
    /// What they have to keep.
    pub checks: Vec<PlannedCheck>,
    /// Whether more repetitions are run until every check is decided.
    pub until_decided: bool,
    /// What one replication needs, about.
    pub estimate: Estimate,
    /// What was assumed about the files that the scenario names.
    pub notes: Vec<String>,
}

impl Plan {
    /// Reads the files that the scenario names and puts everything together.
    ///
    /// # Errors
    /// Everything that is wrong with those files, or an estimate that is above the limits.
    pub fn assemble(scenario: &Scenario) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut keep =
            |place: String, error: String| problems.push(file_problem(scenario, &place, error));
        let spec = &scenario.spec;
        let faults = FaultSchedule::new(spec.fault.clone());
        let (groups, notes) = assemble_groups(scenario, &faults, &mut keep);
        let (name, service) = spec
            .service
            .0
            .first()
            .expect("a sound scenario has one service");
        let strategies = assemble_strategies(scenario, &mut keep);
        let service_plan = service.assemble(name, &scenario.base);
        let service_plan = service_plan
            .map_err(|error| {
                let part = unusable_part(service, &scenario.base);
                keep(format!("service.\"{name}\".{part}.empirical.file"), error);
            })
            .ok();
        let Some(service_plan) = service_plan.filter(|_| problems.is_empty()) else {
            problems.sort_by_key(|problem| match &problem.place {
                Place::File(span) => span.start,
                _ => 0,
            });
            return Err(problems);
        };
        let parts = Parts {
            scenario,
            groups: &groups,
            service: &service_plan,
            strategies: &strategies,
        };
        let estimate = parts.estimate()?;
        let compared = |&i: &usize| spec.strategy[i].compare;
        let checks = spec.check.iter().map(|check| PlannedCheck::of(check, spec));
        Ok(Self {
            world: world_plan(&spec.run, service_plan, groups, faults),
            strategies,
            compared: (0..spec.strategy.len()).filter(compared).collect(),
            pinned: pinned(spec),
            replications: spec.run.first_replications(),
            precision: spec.run.wanted_precision(),
            seed: spec.run.seed.0,
            settle: spec.run.settle,
            failure_probability: service.failure_probability(),
            prices: spec.cost.as_ref().map(CostSpec::prices),
            comparison: Comparison::of(spec),
            checks: checks.collect(),
            until_decided: false,
            estimate,
            notes,
        })
    }
}

/// The world without strategy and seed.
fn world_plan(
    run: &RunSpec,
    service: ServicePlan,
    groups: Vec<GroupPlan>,
    faults: FaultSchedule,
) -> WorldPlan {
    WorldPlan {
        warmup: run.warmup.unwrap_or_default(),
        duration: run.duration,
        drain: run.drain,
        bin: run.bin_width(),
        service,
        groups,
        faults,
        most_attempts: run.max_requests,
        most_in_flight: MOST_IN_FLIGHT,
    }
}

/// What strategies are compared with, and which differences matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// The strategy they are compared with, if it is not the best.
    pub baseline: Option<usize>,
    /// A smaller difference of success does not matter.
    pub success: f64,
    /// A smaller difference of another figure, as a share of the baseline's, likewise.
    pub relative: f64,
}

impl Comparison {
    /// As a scenario says it.
    pub fn of(spec: &ScenarioSpec) -> Self {
        let compare = &spec.compare;
        let position = |wanted: &String| spec.strategy.iter().position(|s| s.name == *wanted);
        Self {
            baseline: compare.baseline.as_ref().and_then(position),
            success: compare.success.get(),
            relative: compare.relative.get(),
        }
    }
}

/// A check made ready.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedCheck {
    /// The check as written.
    pub spec: CheckSpec,
    /// The strategies that have to keep it.
    pub strategies: Vec<usize>,
    /// Its value in the unit of its figure.
    pub bound: f64,
}

impl PlannedCheck {
    fn of(check: &CheckSpec, spec: &ScenarioSpec) -> Self {
        let meant = |s: &crate::model::StrategySpec| {
            s.compare && check.strategy.as_ref().is_none_or(|name| *name == s.name)
        };
        let strategies = (0..spec.strategy.len()).filter(|&i| meant(&spec.strategy[i]));
        Self {
            strategies: strategies.collect(),
            bound: check.bound(),
            spec: check.clone(),
        }
    }
}

/// All strategies; what is wrong goes to `keep`.
fn assemble_strategies(
    scenario: &Scenario,
    keep: &mut impl FnMut(String, String),
) -> Vec<Strategy> {
    let mut strategies = Vec::new();
    for (i, strategy) in scenario.spec.strategy.iter().enumerate() {
        match strategy.assemble(&scenario.base) {
            Ok(strategy) => strategies.push(strategy),
            Err(error) => keep(
                format!("strategy[{i}].attempt_timeout.empirical.file"),
                error,
            ),
        }
    }
    strategies
}

/// The strategy of each client group that always uses the same.
fn pinned(spec: &ScenarioSpec) -> Vec<Option<usize>> {
    let position = |wanted: &String| spec.strategy.iter().position(|s| s.name == *wanted);
    let groups = spec.clients.0.iter();
    groups
        .map(|group| group.strategy.as_ref().and_then(position))
        .collect()
}

/// The part of a service whose file cannot be used.
fn unusable_part(service: &ServiceSpec, base: &Path) -> &'static str {
    let parts = [
        ("network.request", &service.network.request),
        ("network.response", &service.network.response),
    ];
    let unusable = parts.iter().find(|(_, d)| d.sampler(base).is_err());
    match unusable {
        Some((part, _)) if service.service_time.sampler(base).is_ok() => part,
        _ => "service_time",
    }
}

/// The client groups, and what was assumed about their files; what is wrong goes to `keep`.
fn assemble_groups(
    scenario: &Scenario,
    faults: &FaultSchedule,
    keep: &mut impl FnMut(String, String),
) -> (Vec<GroupPlan>, Vec<String>) {
    let (mut groups, mut notes) = (Vec::new(), Vec::new());
    let end = SimTime::ZERO + scenario.spec.run.duration;
    for (i, group) in scenario.spec.clients.0.iter().enumerate() {
        match ArrivalPlan::assemble(&group.arrivals, group.count, faults, end, &scenario.base) {
            Ok((arrivals, note)) => {
                notes.extend(note);
                groups.push(GroupPlan::new(group, arrivals));
            }
            Err(error) => {
                let part = match &group.arrivals {
                    Arrivals::ClosedLoop(_) => "closed_loop.think.empirical",
                    _ => "trace",
                };
                let path = group_path(&scenario.spec, i);
                keep(format!("{path}.arrivals.{part}.file"), error);
            }
        }
    }
    (groups, notes)
}

fn file_problem(scenario: &Scenario, path: &str, reason: String) -> Problem {
    // The message of a file ends in its remedy, behind a semicolon.
    let (reason, remedy) = match reason.split_once("; ") {
        Some((reason, remedy)) => (reason.to_owned(), remedy.to_owned()),
        None => (reason, String::new()),
    };
    Problem {
        severity: Severity::Error,
        place: scenario.document.place_of(path),
        path: path.replace('"', ""),
        reason,
        remedy,
    }
}

impl Plan {
    /// Runs more repetitions until every check is decided, at most as many as the scenario allows; the first few have to
    /// be enough to tell how many more.
    pub fn run_until_decided(&mut self, run: &RunSpec) {
        let first = LEAST_TO_ESTIMATE.min(run.max_replications);
        self.replications = self.replications.max(first);
        self.until_decided = true;
    }

    /// The end of the run.
    pub fn end(&self) -> SimTime {
        self.world.end()
    }

    /// Keeps only the compared strategies with these names. A baseline that is not among them is none any more.
    ///
    /// # Errors
    /// The first name that no compared strategy has.
    pub fn keep_only(&mut self, names: &[String]) -> Result<(), String> {
        let has = |name: &String| {
            self.compared
                .iter()
                .any(|&i| self.strategies[i].name == *name)
        };
        if let Some(unknown) = names.iter().find(|name| !has(name)) {
            return Err(unknown.clone());
        }
        if !names.is_empty() {
            self.compared
                .retain(|&i| names.contains(&self.strategies[i].name));
        }
        let baseline = self.comparison.baseline;
        self.comparison.baseline = baseline.filter(|baseline| self.compared.contains(baseline));
        Ok(())
    }
}
