//! A scenario from its file, for any command: read, made ready, and everything told that is wrong with it.

use super::messages::tell_problems;
use crate::decode::{Place, Problem, Severity, nearest, shown};
use crate::experiment::window_warnings;
use crate::scenario::{Plan, Scenario, load};
use std::path::Path;

/// Reads a scenario and makes it ready; tells everything that is wrong or suspicious.
pub(super) fn read(file: &Path, settings: &[String]) -> Option<(Scenario, Plan)> {
    read_telling(file, settings, |_| true)
}

/// The same, telling only those warnings that are `wanted`.
pub(super) fn read_telling(
    file: &Path,
    settings: &[String],
    wanted: impl Fn(&Problem) -> bool,
) -> Option<(Scenario, Plan)> {
    let scenario = match load(file, settings) {
        Ok(scenario) => scenario,
        Err(error) => {
            tell_problems(&error.document, &error.problems);
            return None;
        }
    };
    let tell_wanted = |warnings: &[Problem]| {
        let wanted = warnings.iter().filter(|problem| wanted(problem));
        tell_problems(&scenario.document, &wanted.cloned().collect::<Vec<_>>());
    };
    tell_wanted(&scenario.warnings);
    match Plan::assemble(&scenario) {
        Ok(plan) => {
            tell_wanted(&window_warnings(&scenario, &plan));
            Some((scenario, plan))
        }
        Err(problems) => {
            tell_problems(&scenario.document, &problems);
            None
        }
    }
}

/// Keeps only the strategies that were asked for; tells when there is none of a name.
pub(super) fn keep_only(scenario: &Scenario, plan: &mut Plan, only: &[String]) -> Option<()> {
    let Err(unknown) = plan.keep_only(only) else {
        return Some(());
    };
    let names = || {
        let compared = plan.compared.iter();
        compared.map(|&i| plan.strategies[i].name.as_str())
    };
    let remedy = nearest(&unknown, names()).map_or_else(
        || {
            let all: Vec<String> = names().map(|name| format!("\"{name}\"")).collect();
            format!("it has {}", all.join(", "))
        },
        |near| format!("did you mean \"{near}\"?"),
    );
    let reason = format!("there is no strategy \"{}\" to run --only", shown(&unknown));
    usage_problem(scenario, reason, remedy);
    None
}

/// A problem of the command line rather than of the file.
pub(super) fn usage_problem(scenario: &Scenario, reason: String, remedy: String) {
    let place = Place::Nowhere;
    let problem = Problem {
        severity: Severity::Error,
        place,
        path: String::new(),
        reason,
        remedy,
    };
    tell_problems(&scenario.document, &[problem]);
}
