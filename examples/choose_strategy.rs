//! Which strategy should a client use, and would the answer pass a gate?
//!
//! Runs a scenario that is built in code, compares its strategies with a baseline and looks at what they have to keep: what
//! the command `run` does, from a program. Run it with `cargo run --release --example choose_strategy`.
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use retrystorm::experiment::{Finding, RunResult, run};
use retrystorm::report::check_line;
use retrystorm::scenario::{Plan, Scenario};
use std::path::Path;
use std::process::ExitCode;

/// A service that is away for five seconds, and three ways to call it.
fn scenario() -> String {
    let world = r#"
        [run]
        duration = "90s"
        replications = 10

        [clients]
        count = 500
        arrivals.poisson = { rate = "200/s" }

        [service.api]
        workers = 16
        queue = { capacity = 100 }
        service_time.exponential = { mean = "50ms" }
        failures = [{ code = 503, probability = "1%" }]

        [[fault]]
        at = "30s"
        lasts = "5s"
        outage = "refuse"

        [compare]
        baseline = "no retries"

        [[check]]
        metric = "success_rate"
        strategy = "full jitter"
        relation = ">="
        value = "99%"

        [[check]]
        metric = "amplification"
        strategy = "full jitter"
        relation = "<="
        value = 1.5
    "#;
    let strategy = |name: &str, rest: &str| {
        format!("[[strategy]]\nname = \"{name}\"\nattempt_timeout = \"1s\"\n{rest}\n")
    };
    let jitter = "{ base = \"500ms\", cap = \"10s\", jitter = \"full\" }";
    [
        world.to_owned(),
        strategy("no retries", "max_attempts = 1"),
        strategy("immediate", "max_attempts = 6\nbackoff = \"immediate\""),
        strategy(
            "full jitter",
            &format!("max_attempts = 6\nbackoff.exponential = {jitter}"),
        ),
    ]
    .join("\n")
}

fn main() -> ExitCode {
    let scenario = match Scenario::parse("choose_strategy", &scenario(), Path::new(".")) {
        Ok(scenario) => scenario,
        Err(error) => {
            println!("the scenario is wrong: {:?}", error.problems);
            return ExitCode::from(2);
        }
    };
    let plan = Plan::assemble(&scenario).expect("it names no files");
    let result = match run(&scenario, &plan, 0, &|| ()) {
        Ok(result) => result,
        Err(error) => {
            println!("{error}");
            return ExitCode::from(3);
        }
    };

    println!("against {}:", baseline_of(&result));
    for row in &result.comparison.rows {
        if row.metric != "success_rate" && row.metric != "amplification" {
            continue;
        }
        let (Some(difference), Some(finding)) = (row.difference, row.verdict) else {
            continue;
        };
        let worth = match finding {
            Finding::Chance => "which could be chance",
            real_or_small => real_or_small.name(),
        };
        println!(
            "  {}: {} differs by {difference:+.4}, {worth}",
            row.strategy, row.metric
        );
    }

    println!("checks:");
    for check in &result.checks {
        println!("  {}", check_line(check));
    }
    match result.checks.iter().any(|check| check.fails(false)) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// The name of the strategy that the others are compared with.
fn baseline_of(result: &RunResult) -> &str {
    let baseline = result.comparison.baseline;
    baseline.map_or("nothing", |i| &result.strategies[i].summary.strategy)
}
