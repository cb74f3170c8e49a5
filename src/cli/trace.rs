//! `trace`: the life of one request under each strategy.

use super::Failure;
use super::reading::{keep_only, read};
use super::terminal::{Look, print, tell};
use crate::experiment::log_attempts;
use crate::model::{AttemptLog, AttemptRecord};
use crate::report::{Life, Style, life};
use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Requests are numbered from 0 in the order in which they come, in each group of clients.\n\nExamples:\n  retrystorm trace scenarios/restart_herd.toml --request 24200\n  retrystorm trace scenarios/restart_herd.toml --request 24200 --only \"full jitter\" --replication 3"
)]
pub(super) struct TraceArguments {
    /// The scenario file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The number of the request in its group of clients.
    #[arg(long, value_name = "NUMBER")]
    request: u64,
    /// The group of clients, when there are several; the first when left out.
    #[arg(long, value_name = "NAME")]
    group: Option<String>,
    /// The replication, from 0 on.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    replication: u32,
    /// Show only the strategy of this name; may be given several times.
    #[arg(long, value_name = "STRATEGY")]
    only: Vec<String>,
    /// Set a key of the scenario, like run.duration=30s; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Keeps the records of one request.
struct One {
    group: u16,
    request: u64,
    /// The number of the last request seen in the group.
    last: Option<u64>,
    records: Vec<AttemptRecord>,
}

/// More attempts of one request are not kept.
const MOST_KEPT: usize = 1_000;

impl AttemptLog for One {
    const ENABLED: bool = true;

    fn record(&mut self, record: AttemptRecord) {
        if record.group != self.group {
            return;
        }
        self.last = self.last.max(Some(record.request));
        if record.request == self.request && self.records.len() < MOST_KEPT {
            self.records.push(record);
        }
    }
}

pub(super) fn trace(arguments: &TraceArguments) -> Result<(), Failure> {
    let Some((scenario, mut plan)) = read(&arguments.file, &arguments.set) else {
        return Err(Failure::Input);
    };
    keep_only(&scenario, &mut plan, &arguments.only).ok_or(Failure::Input)?;
    let groups = &plan.world.groups;
    let group = match &arguments.group {
        None => Some(0),
        Some(name) => groups.iter().position(|group| group.name == *name),
    };
    let Some(group) = group else {
        let names: Vec<&str> = groups.iter().map(|group| group.name.as_str()).collect();
        tell("error: there is no group of clients of this name");
        tell(&format!("  help: there is {}", names.join(", ")));
        return Err(Failure::Input);
    };
    let look = Look::of_stdout();
    let style = Style {
        colour: look.colour,
        unicode: look.unicode,
    };
    let mut text = String::new();
    let mut last = None;
    for &strategy in &plan.compared {
        let log = One {
            group: group as u16,
            request: arguments.request,
            last: None,
            records: Vec::new(),
        };
        let (_, log) =
            log_attempts(&plan, strategy, arguments.replication, log).map_err(|error| {
                tell(&format!("error: {error}"));
                Failure::Run
            })?;
        last = last.max(log.last);
        text += &life(
            &Life {
                strategy: &plan.strategies[strategy].name,
                records: &log.records,
                faults: plan.world.faults.faults(),
            },
            look.width,
            style,
        );
    }
    if last.is_none_or(|last| last < arguments.request) {
        let reason = format!("there is no request {}", arguments.request);
        tell(&format!("error: {reason}"));
        let last = last.map_or("no request made an attempt".into(), |n| {
            format!("the last is {n}")
        });
        tell(&format!("  help: {last}"));
        return Err(Failure::Input);
    }
    print(&text)
}
