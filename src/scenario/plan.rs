//! A scenario made ready to run.

use super::load::Scenario;
use crate::decode::{Problem, Severity};
use crate::model::{ArrivalPlan, FaultSchedule, GroupPlan, Strategy, WorldPlan};
use crate::time::SimTime;

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
    /// Independent repetitions.
    pub replications: u32,
    /// The seed.
    pub seed: u64,
    /// Probability of an attempt failing by itself.
    pub failure_probability: f64,
    /// Requests of one replication, about.
    pub expected_requests: f64,
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
        let arrivals_end = SimTime::ZERO + spec.run.duration;
        let (mut groups, mut notes, mut expected) = (Vec::new(), Vec::new(), 0.0);
        for (i, group) in spec.clients.0.iter().enumerate() {
            match ArrivalPlan::assemble(
                &group.arrivals,
                group.count,
                &faults,
                arrivals_end,
                &scenario.base,
            ) {
                Ok((arrivals, note)) => {
                    expected += arrivals.expected_requests(group.count, arrivals_end);
                    notes.extend(note);
                    groups.push(GroupPlan::new(group, arrivals));
                }
                Err(error) => keep(format!("clients[{i}].arrivals"), error),
            }
        }
        let (name, service) = spec
            .service
            .0
            .first()
            .expect("a sound scenario has one service");
        let service_plan = service.assemble(name, &scenario.base);
        let mut strategies = Vec::new();
        for (i, strategy) in spec.strategy.iter().enumerate() {
            match strategy.assemble(&scenario.base) {
                Ok(strategy) => strategies.push(strategy),
                Err(error) => keep(format!("strategy[{i}].attempt_timeout"), error),
            }
        }
        let service_plan = service_plan
            .map_err(|error| keep(format!("service.{name}"), error))
            .ok();
        if expected > spec.run.max_requests as f64 {
            problems.push(too_many(scenario, expected));
        }
        let Some(service_plan) = service_plan.filter(|_| problems.is_empty()) else {
            return Err(problems);
        };
        let position = |wanted: &String| {
            spec.strategy
                .iter()
                .position(|strategy| strategy.name == *wanted)
        };
        Ok(Self {
            world: WorldPlan {
                warmup: spec.run.warmup,
                duration: spec.run.duration,
                drain: spec.run.drain,
                bin: spec.run.bin_width(),
                service: service_plan,
                groups,
                faults,
            },
            strategies,
            compared: (0..spec.strategy.len())
                .filter(|&i| spec.strategy[i].compare)
                .collect(),
            pinned: spec
                .clients
                .0
                .iter()
                .map(|group| group.strategy.as_ref().and_then(position))
                .collect(),
            replications: spec.run.replications,
            seed: spec.run.seed,
            failure_probability: service.failure_probability(),
            expected_requests: expected,
            notes,
        })
    }
}

fn file_problem(scenario: &Scenario, path: &str, reason: String) -> Problem {
    Problem {
        severity: Severity::Error,
        place: scenario.document.place_of(path),
        path: path.into(),
        reason,
        remedy: "paths are relative to the scenario's folder".into(),
    }
}

fn too_many(scenario: &Scenario, expected: f64) -> Problem {
    let limit = scenario.spec.run.max_requests;
    Problem {
        severity: Severity::Error,
        place: scenario.document.place_of("run"),
        path: "run.max_requests".into(),
        reason: format!(
            "one replication would have about {expected:.3e} requests; the limit is {limit}"
        ),
        remedy:
            "shorten the run, lower the rate or the number of clients, or raise `run.max_requests`"
                .into(),
    }
}

impl Plan {
    /// The end of the run.
    pub fn end(&self) -> SimTime {
        self.world.end()
    }

    /// Keeps only the compared strategies with these names.
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
        Ok(())
    }
}
