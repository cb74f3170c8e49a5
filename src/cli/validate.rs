//! `validate`: is this scenario sound?

use super::reading::read;
use super::sweep::describe_sweep;
use super::terminal::{clean, print};
use super::{Failure, ValidateArguments};
use crate::experiment::border;
use crate::report::border_lines;
use crate::scenario::{Plan, Scenario};
use crate::time::SimDuration;
use std::path::Path;

pub(super) fn validate(arguments: &ValidateArguments) -> Result<(), Failure> {
    let mut all_sound = true;
    for file in &arguments.files {
        match read(file, &arguments.set) {
            Some((scenario, plan)) => match describe_sweep(&scenario) {
                Ok(sweep) => print(&describe(file, &scenario, &plan, sweep))?,
                Err(_) => all_sound = false,
            },
            None => all_sound = false,
        }
    }
    if all_sound {
        Ok(())
    } else {
        Err(Failure::Input)
    }
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

fn describe(file: &Path, scenario: &Scenario, plan: &Plan, sweep: Option<String>) -> String {
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
    if let Some(line) = sweep {
        text += &format!("  {}\n", clean(&line));
    }
    for note in &plan.notes {
        text += &format!("  {}\n", clean(note));
    }
    text
}
