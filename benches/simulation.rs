//! Whole runs: one replication of the storm and of a plain queue, and several replications on threads.
//!
//! A storm of 10,000 clients makes about 85,000 attempts in its 60 seconds; the queue serves 100,000
//! customers. Time a full-size run as a process, as docs/speed.md says.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use retrystorm::experiment;
use retrystorm::scenario::{Plan, Scenario};
use std::hint::black_box;
use std::path::Path;

const STORM: &str = include_str!("../scenarios/speed_storm.toml");
const QUEUE: &str = include_str!("../scenarios/speed_queue.toml");

/// A scenario with some values of its text replaced.
fn scenario(text: &str, replacements: &[(&str, &str)]) -> (Scenario, Plan) {
    let text = replacements
        .iter()
        .fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "the scenario has `{from}`");
            text.replace(from, to)
        });
    let scenario = Scenario::parse("bench", &text, Path::new(".")).expect("the scenario is sound");
    let plan = Plan::assemble(&scenario).expect("the scenario needs no files");
    (scenario, plan)
}

/// Attempts of one run.
fn run(scenario: &Scenario, plan: &Plan, threads: usize) -> u64 {
    let result = experiment::run(scenario, plan, threads, &|| ()).expect("the world moves on");
    result
        .strategies
        .iter()
        .map(|strategy| strategy.total.attempts)
        .sum()
}

const SMALL_STORM: &[(&str, &str)] = &[
    ("count = 100000", "count = 10000"),
    ("workers = 179", "workers = 18"),
    ("capacity = 716", "capacity = 72"),
];

fn one_run(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("one_run");
    group.sample_size(20);
    for (name, text, changes) in [
        ("storm_10k_clients", STORM, SMALL_STORM),
        (
            "mm10_100k_customers",
            QUEUE,
            &[("duration = \"125000s\"", "duration = \"12500s\"")],
        ),
    ] {
        let (scenario, plan) = scenario(text, changes);
        group.throughput(Throughput::Elements(run(&scenario, &plan, 1)));
        group.bench_function(name, |bencher| {
            bencher.iter(|| black_box(run(&scenario, &plan, 1)))
        });
    }
    group.finish();
}

fn replications(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("eight_replications");
    group.sample_size(10);
    let changes: Vec<_> = SMALL_STORM
        .iter()
        .copied()
        .chain([("replications = 1", "replications = 8")])
        .collect();
    let (scenario, plan) = scenario(STORM, &changes);
    for threads in [1, 2] {
        group.bench_function(format!("{threads}_threads"), |bencher| {
            bencher.iter_batched(
                || threads,
                |threads| black_box(run(&scenario, &plan, threads)),
                BatchSize::PerIteration,
            );
        });
    }
    group.finish();
}

criterion_group!(benches, one_run, replications);
criterion_main!(benches);
