//! The command line: one file a command. Results go to standard output, progress and messages to standard
//! error. Exit codes: 0 done, 1 a check does not hold or is undecided, 2 the scenario or the usage is wrong, 3 the run or the file system failed.

mod checks;
mod compare;
mod events;
mod excerpt;
mod explain;
mod interrupt;
mod list;
mod messages;
mod new;
mod progress;
mod reading;
mod run;
mod shell;
mod sweep;
mod terminal;
mod trace;
mod validate;

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// What ended a command early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Failure {
    /// The runs are done, and a check does not hold or is undecided.
    Checks,
    /// The scenario or the usage is wrong.
    Input,
    /// The run or the file system failed.
    Run,
}

#[derive(Debug, Parser)]
#[command(
    name = "retrystorm",
    version,
    about = "Shows what retries do to a service before production does.",
    long_about = "Shows what retries do to a service before production does.\n\nA scenario (a TOML file) describes clients, a service, faults and several retry strategies. Every strategy is\nrun against the same random world; the result is a ranked table, CSV files and charts.",
    after_help = "Examples:\n  retrystorm run scenarios/restart_herd.toml\n  retrystorm validate scenarios/restart_herd.toml\n  retrystorm explain scenarios/restart_herd.toml\n  retrystorm sweep scenarios/hidden_capacity.toml\n  retrystorm compare before/restart_herd after/restart_herd\n  retrystorm list backoffs\n  retrystorm new mine.toml\n\nExit codes: 0 done, 1 a check does not hold or is undecided, 2 the scenario or the usage is wrong, 3 the run or the file system failed, 130 interrupted."
)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run scenarios and write tables, CSV files and charts.
    Run(RunArguments),
    /// Run a scenario with many values: every combination of the axes of its [sweep].
    Sweep(SweepArguments),
    /// Compare two output folders of `run`, before and after a change.
    Compare(CompareArguments),
    /// Say what each strategy of a scenario does, in words and numbers, without running it.
    Explain(ExplainArguments),
    /// Check scenarios without running them.
    Validate(ValidateArguments),
    /// Show the life of one request under each strategy.
    Trace(trace::TraceArguments),
    /// Look up what can stand in a scenario: arrivals, backoffs, budgets, faults, figures and all keys.
    List(list::ListArguments),
    /// Write a scenario to begin with, or a copy of one of the gallery.
    New(new::NewArguments),
    /// Print the JSON Schema of scenarios, for editors.
    Schema(shell::SchemaArguments),
    /// Print completions for a shell.
    Completions(shell::CompletionsArguments),
    /// Print the manual page.
    Man(shell::ManArguments),
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  retrystorm run scenarios/restart_herd.toml\n  retrystorm run scenarios/restart_herd.toml --replications 5 --set service.api.workers=80\n  retrystorm run scenarios/restart_herd.toml --only \"full jitter\" --no-charts\n  retrystorm run scenarios/restart_herd.toml --only immediate --precision 0.5% --no-charts\n  retrystorm run scenarios/restart_herd.toml --baseline exponential --no-charts\n  retrystorm run scenarios/restart_herd.toml --json --quiet\n  retrystorm run scenarios/retry_gate.toml --until-decided --junit checks.xml\n\nExit codes: 0 done, 1 a check does not hold or is undecided, 2 the scenario or the usage is wrong, 3 the run or the file system\nfailed, 130 interrupted."
)]
struct RunArguments {
    /// Scenario files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The folder for results; each scenario gets a folder of its name in it.
    #[arg(long, value_name = "DIR", default_value = "output")]
    out: PathBuf,
    /// The seed that all random numbers follow from, instead of the scenario's.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Independent repetitions of each strategy, instead of the scenario's.
    #[arg(long, value_name = "NUMBER")]
    replications: Option<u64>,
    /// Repeat until the 95 % intervals of success (in points) and of attempts per request are no wider to either side than
    /// this, like 1%.
    #[arg(long, value_name = "SHARE")]
    precision: Option<String>,
    /// Repeat until every check of the scenario is decided, at most run.max_replications times.
    #[arg(long)]
    until_decided: bool,
    /// Do not fail because of checks that are undecided.
    #[arg(long)]
    allow_undecided: bool,
    /// Write what came of the checks to this file, as JUnit XML.
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Threads; 0 uses every processor. The results do not depend on it.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    threads: usize,
    /// Run only the strategy of this name; may be given several times.
    #[arg(long, value_name = "STRATEGY")]
    only: Vec<String>,
    /// The strategy that all others are compared with, instead of the scenario's or the best.
    #[arg(long, value_name = "STRATEGY")]
    baseline: Option<String>,
    /// Set a key of the scenario, like run.duration=30s or strategy[0].max_attempts=3; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write events.jsonl: a JSON line for each attempt. One replication, unless --replications says more.
    #[arg(long)]
    events: bool,
    /// Do not draw charts.
    #[arg(long)]
    no_charts: bool,
    /// Print no table, progress or notes; errors and checks that fail are still printed.
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON instead of a table.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  retrystorm sweep scenarios/brooker_retries.toml\n  retrystorm sweep scenarios/brooker_retries.toml --replications 5 --no-charts\n  retrystorm sweep scenarios/brooker_retries.toml --fresh --threads 1\n\nA sweep that was ended goes on where it was when the same command is given again."
)]
struct SweepArguments {
    /// The scenario file; it has a [sweep] table.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The folder for results; the sweep gets a folder in it, named after the scenario with -sweep behind it.
    #[arg(long, value_name = "DIR", default_value = "output")]
    out: PathBuf,
    /// Throw away what an earlier sweep has left in the folder.
    #[arg(long)]
    fresh: bool,
    /// The seed that all random numbers follow from, instead of the scenario's.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Independent repetitions of each strategy in each cell, instead of the scenario's.
    #[arg(long, value_name = "NUMBER")]
    replications: Option<u64>,
    /// Threads; 0 uses every processor. The results do not depend on it.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    threads: usize,
    /// Run only the strategy of this name; may be given several times.
    #[arg(long, value_name = "STRATEGY")]
    only: Vec<String>,
    /// Set a key of the scenario, like run.duration=30s; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Do not draw charts.
    #[arg(long)]
    no_charts: bool,
    /// Print no table, progress or notes; errors are still printed.
    #[arg(long)]
    quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Both folders are the output of `run`. Strategies belong together by their names, or when each folder has one.\nDifferences are paired when both runs have the same seed and world; otherwise it is said what differs.\n\nExamples:\n  retrystorm compare before/restart_herd after/restart_herd\n  retrystorm compare before/restart_herd after/restart_herd --csv change.csv\n  retrystorm compare before/restart_herd after/restart_herd --json"
)]
struct CompareArguments {
    /// The output folder of the run before the change.
    #[arg(value_name = "A")]
    a: PathBuf,
    /// The output folder of the run after it.
    #[arg(value_name = "B")]
    b: PathBuf,
    /// Write the differences to a CSV file as well.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print the differences as JSON instead of tables.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  retrystorm validate scenarios/restart_herd.toml")]
struct ValidateArguments {
    /// Scenario files.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Set a key of the scenario, like run.duration=30s; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "For each strategy: its formula, every wait with its spread, the time of a request, expected attempts and success,\nand what its budget, breaker and other rules come to. Nothing is simulated and nothing is written.\n\nExamples:\n  retrystorm explain scenarios/restart_herd.toml\n  retrystorm explain scenarios/restart_herd.toml --only \"full jitter\"\n  retrystorm explain scenarios/restart_herd.toml --only immediate --set strategy[1].max_attempts=3"
)]
struct ExplainArguments {
    /// The scenario file.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Explain only the strategy of this name; may be given several times.
    #[arg(long, value_name = "STRATEGY")]
    only: Vec<String>,
    /// Set a key of the scenario, like strategy[0].max_attempts=3; may be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
}

/// Does what the command line asks for.
pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Sweep(arguments) => sweep::sweep(&arguments),
        Command::Compare(arguments) => compare::compare(&arguments),
        Command::Explain(arguments) => explain::explain(&arguments),
        Command::Validate(arguments) => validate::validate(&arguments),
        Command::Trace(arguments) => trace::trace(&arguments),
        Command::List(arguments) => list::list(&arguments),
        Command::New(arguments) => new::new(&arguments),
        Command::Schema(_) => shell::schema(),
        Command::Completions(arguments) => shell::completions(&arguments),
        Command::Man(_) => shell::man(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Checks) => ExitCode::from(1),
        Err(Failure::Input) => ExitCode::from(2),
        Err(Failure::Run) => ExitCode::from(3),
    }
}
