//! Up to which load does a service come back after a stall?
//!
//! Sweeps the load of a scenario without writing anything: each cell is handed over when it is complete, from any thread and in
//! any order. Run it with `cargo run --release --example sweep_load`.
#![allow(clippy::print_stdout, reason = "an example shows its results")]

use retrystorm::experiment::{SweepRun, check_cells, figures};
use retrystorm::scenario::{Scenario, Sweep};
use std::convert::Infallible;
use std::path::Path;
use std::sync::Mutex;

/// 30 workers × 100 ms: 300 attempts a second. With two attempts a call, 150 calls a second are the border.
const SCENARIO: &str = r#"
    [run]
    duration = "200s"
    replications = 4

    [clients]
    count = 1000
    arrivals.poisson = { rate = "100/s" }

    [service.api]
    workers = 30
    service_time.exponential = { mean = "100ms" }

    [[fault]]
    at = "20s"
    lasts = "10s"
    outage = "stall"

    [[strategy]]
    name = "twice"
    max_attempts = 2
    attempt_timeout = "1s"
    backoff.fixed = { delay = "100ms" }

    [[sweep.axis]]
    name = "load"
    key = "clients.arrivals.poisson.rate"
    range = { from = "100/s", to = "200/s", steps = 6 }
"#;

/// A line of the result: load, share that collapsed, load ÷ border.
type Line = (u32, String, f64, f64);

fn main() {
    let base = Scenario::parse("sweep_load", SCENARIO, Path::new(".")).expect("it is sound");
    let sweep = Sweep::of(&base)
        .expect("it has few cells")
        .expect("it has axes");
    // A mistake in any cell shows before the first one runs.
    let check = check_cells::<Infallible>(&base, &sweep, &[], 0).expect("every cell is sound");
    println!(
        "{} cells, about {:.0} requests",
        sweep.len(),
        check.requests
    );

    let lines: Mutex<Vec<Line>> = Mutex::default();
    let cells: Vec<u32> = (0..sweep.len()).collect();
    let done = SweepRun::<Infallible> {
        base: &base,
        sweep: &sweep,
        only: &[],
        threads: 0,
        keep: &|cell, plan, result| {
            let figures = figures(plan, plan.compared[0], &result.strategies[0]);
            let of = |name: &str| {
                let figure = figures.iter().find(|figure| figure.metric == name);
                figure.and_then(|figure| figure.value).unwrap_or(f64::NAN)
            };
            let load = cell.coordinates[0].text.clone();
            let line = (
                cell.number,
                load,
                of("collapsed_share"),
                of("load_of_border"),
            );
            lines.lock().expect("no thread has failed").push(line);
            Ok(())
        },
        progress: &|| (),
    }
    .run(&cells);
    if let Err(error) = done {
        println!("{error:?}");
        return;
    }

    let mut lines = lines.into_inner().expect("no thread has failed");
    lines.sort_by_key(|(number, ..)| *number);
    for (_, load, collapsed, of_border) in lines {
        println!(
            "{load:>6}: {:>3.0} % of runs collapse, at {of_border:.2} of the border",
            collapsed * 100.0
        );
    }
}
