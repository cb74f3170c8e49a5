//! Plain queues in steady state against Erlang's formulas.

use crate::support::{Row, Sample, agrees, assemble, exactly, number, replication, rows};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::scenario::Plan;

/// Replications come in rounds, until every figure is known to 1 %.
const ROUND: u64 = 10;
const MOST_ROUNDS: u64 = 12;

const COLUMNS: [&str; 12] = [
    "p_wait_erlang_c",
    "mean_wait_s",
    "mean_sojourn_s",
    "mean_queue",
    "mean_in_system",
    "utilisation",
    "sd_wait_s",
    "sd_sojourn_s",
    "sojourn_p50_s",
    "sojourn_p90_s",
    "sojourn_p95_s",
    "sojourn_p99_s",
];

/// Requests of one replication: many times what it takes a queue to forget.
fn requests(row: &Row) -> f64 {
    if number(row, "utilisation") > 0.92 {
        2e6
    } else {
        4e5
    }
}

/// One attempt a request, no limit on the queue, and a start that is not counted.
fn world(row: &Row, seed: usize) -> Plan {
    let (lambda, mu) = (number(row, "lambda_per_s"), number(row, "mu_per_s"));
    let seconds = requests(row) / lambda;
    let text = format!(
        "[run]\nduration = \"{seconds:?}s\"\nwarmup = \"{:?}s\"\ndrain = \"{:?}s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 1000\narrivals.poisson = {{ rate = \"{lambda:?}/s\" }}\n\
         [service.api]\nworkers = {}\nservice_time.exponential = {{ mean = \"{:?}ms\" }}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
        0.03 * seconds,
        0.03 * seconds,
        row["servers"],
        1e3 / mu,
    );
    assemble(&text).1
}

/// The figures of one run, in the order of [`COLUMNS`].
fn figures(row: &Row, tally: &Tally) -> [f64; 12] {
    assert_eq!((tally.unfinished, tally.succeeded), (0, tally.requests));
    // All that arrived has drained: levels over the time of arrivals.
    let seconds = requests(row) / number(row, "lambda_per_s");
    let level = |gauge: Gauge| tally.timeline.area(gauge) as f64 / 1e9 / seconds;
    let quantile = |q: f64| tally.latency.quantile_ms(q).unwrap() / 1e3;
    assert!((tally.latency.mean_ms().unwrap() / 1e3 - tally.sojourns.mean_s()).abs() < 1e-9);
    [
        tally.waited as f64 / tally.waits.count as f64,
        tally.waits.mean_s(),
        tally.sojourns.mean_s(),
        level(Gauge::Queue),
        level(Gauge::Queue) + level(Gauge::Busy),
        level(Gauge::Busy) / number(row, "servers"),
        tally.waits.sd_s(),
        tally.sojourns.sd_s(),
        quantile(0.5),
        quantile(0.9),
        quantile(0.95),
        quantile(0.99),
    ]
}

fn sample(row: &Row, plan: &Plan) -> [Sample; 12] {
    let mut samples = [Sample::default(); 12];
    for round in 0..MOST_ROUNDS {
        for run in 0..ROUND {
            let figures = figures(row, &replication(plan, 0, round * ROUND + run));
            samples
                .iter_mut()
                .zip(figures)
                .for_each(|(sample, figure)| sample.add(figure));
        }
        let known =
            |(column, sample): (&&str, &Sample)| sample.error() <= 0.01 * number(row, column);
        if COLUMNS.iter().zip(&samples).all(known) {
            break;
        }
    }
    samples
}

/// Compares the rows that `wanted` picks; gives how many.
fn check(wanted: impl Fn(&Row) -> bool) -> usize {
    let rows = rows("03_mmc.csv");
    assert_eq!(rows.len(), 10);
    let mut covered = 0;
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| wanted(row)) {
        covered += 1;
        let samples = sample(row, &world(row, i + 1));
        for (column, sample) in COLUMNS.iter().zip(samples) {
            let what = format!("{column} of {}", row["case_id"]);
            agrees(
                &what,
                sample.mean,
                sample.error(),
                exactly(number(row, column)),
            );
        }
    }
    covered
}

fn is_heavy(row: &Row) -> bool {
    number(row, "utilisation") > 0.92
}

#[test]
fn queues_up_to_ninety_per_cent_busy_follow_erlang() {
    let covered = check(|row| !is_heavy(row));
    println!("03_mmc.csv, up to 90 %: {covered} of 9 rows");
    assert_eq!(covered, 9);
}

#[test]
fn a_queue_ninety_five_per_cent_busy_follows_erlang() {
    let covered = check(is_heavy);
    println!("03_mmc.csv, 95 %: {covered} of 1 row");
    assert_eq!(covered, 1);
}
