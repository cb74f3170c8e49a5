//! `validate`: is this scenario sound?

use super::messages::tell_problems;
use super::terminal::{clean, print};
use super::{Failure, ValidateArguments};
use crate::decode::{Place, Problem, Severity, nearest, shown};
use crate::experiment::{border, window_warnings};
use crate::report::border_lines;
use crate::scenario::{Plan, Scenario, load};
use crate::time::SimDuration;
use std::path::Path;

pub(super) fn validate(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut all_sound = true;
    for file in &arguments.files {
        match read(file, &arguments.set) {
            Some((scenario, plan)) => print(&describe(file, &scenario, &plan))?,
            None => all_sound = false,
        }
    }
    if all_sound {
        Ok(())
    } else {
        Err(Failure::Input)
    }
}

/// Reads a scenario and makes it ready; tells everything that is wrong or suspicious.
pub(super) fn read(file: &Path, settings: &[String]) -> Option<(Scenario, Plan)> {
    let scenario = match load(file, settings) {
        Ok(scenario) => scenario,
        Err(error) => {
            tell_problems(&error.document, &error.problems);
            return None;
        }
    };
    tell_problems(&scenario.document, &scenario.warnings);
    match Plan::assemble(&scenario) {
        Ok(plan) => {
            tell_problems(&scenario.document, &window_warnings(&scenario, &plan));
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

/// Which requests count, and how time is cut.
fn windows(plan: &Plan) -> String {
    let world = &plan.world;
    let drain = match world.drain {
        SimDuration::ZERO => "no drain".into(),
        drain => format!("a drain of {drain}"),
    };
    format!(
        "counted: requests that start from {} to {}; {drain}; bins of {}",
        world.warmup, world.duration, world.bin
    )
}

fn describe(file: &Path, scenario: &Scenario, plan: &Plan) -> String {
    let strategies = plan.compared.len();
    let clients: u64 = scenario
        .spec
        .clients
        .0
        .iter()
        .map(|group| group.count)
        .sum();
    let mut text = format!("{}: sound\n", clean(&file.display().to_string()));
    if !scenario.question.is_empty() {
        text += &format!("  {}\n", clean(&scenario.question));
    }
    text += &format!(
        "  {clients} clients, about {:.0} requests a replication, {strategies} {}, {} {}\n",
        plan.estimate.requests,
        if strategies == 1 {
            "strategy"
        } else {
            "strategies"
        },
        plan.replications,
        if plan.replications == 1 {
            "replication"
        } else {
            "replications"
        },
    );
    text += &format!("  {}\n", windows(plan));
    text += &match plan.checks.len() {
        0 => String::new(),
        1 => "  1 check\n".into(),
        n => format!("  {n} checks\n"),
    };
    let borders: Vec<_> = plan
        .compared
        .iter()
        .map(|&i| (plan.strategies[i].name.as_str(), border(plan, i)))
        .collect();
    for line in border_lines(borders.iter().map(|(name, border)| (*name, border))) {
        text += &format!("  {}\n", clean(&line.replace('\u{a0}', " ")));
    }
    for note in &plan.notes {
        text += &format!("  {}\n", clean(note));
    }
    text
}
