//! Thundering herds against the reference: N clients fail together at time 0 and come back, one server with a
//! fixed service time answers again from D on.

use crate::support::{Expected, Row, Sample, agrees, assemble, number, rows};
use retrystorm::experiment::record_attempts;
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::scenario::Plan;
use std::collections::BTreeMap;

/// Replications of a row in which something is random come in rounds, until every figure is known to 1 %.
const ROUND: u32 = 50;
const MOST_ROUNDS: u32 = 60;

/// What is compared, as the columns of the file have it, with their intervals.
const COLUMNS: [(&str, &str); 9] = [
    ("peak_arrivals_per_bucket_after_t0", "peak_ci95"),
    ("peak_arrivals_per_bucket_after_D", "peak_after_D_ci95"),
    ("arrivals_in_first_bucket_after_D", "first_bucket_ci95"),
    ("total_attempts_incl_t0", "attempts_ci95"),
    ("refused_after_D", "refused_ci95"),
    ("max_in_system", "max_in_system_ci95"),
    ("t50_after_D_s", "t50_ci95"),
    ("t99_after_D_s", "t99_ci95"),
    ("drain_time_after_D_s", "drain_ci95"),
];

fn backoff(row: &Row) -> String {
    let base = format!("base = \"{}s\"", row["base_s"]);
    let cap = match row["cap_s"].as_str() {
        "" => String::new(),
        cap => format!(", cap = \"{cap}s\""),
    };
    let ratio = &row["jitter_fraction"];
    match row["strategy"].as_str() {
        "fixed" => format!("backoff.fixed.delay = \"{}s\"", row["base_s"]),
        "fixed_proportional" => {
            format!(
                "backoff.fixed = {{ delay = \"{}s\", jitter.proportional.ratio = {ratio} }}",
                row["base_s"]
            )
        }
        "exponential" => format!("backoff.exponential = {{ {base}{cap} }}"),
        "proportional" => {
            format!("backoff.exponential = {{ {base}{cap}, jitter.proportional.ratio = {ratio} }}")
        }
        "decorrelated" => format!("backoff.decorrelated = {{ {base}{cap} }}"),
        jitter => format!("backoff.exponential = {{ {base}{cap}, jitter = \"{jitter}\" }}"),
    }
}

/// The world of a row. The place in service counts among the K in the system.
fn world(row: &Row, seed: usize) -> Plan {
    let outage = match row["outage_end_D_s"].as_str() {
        "0" => "1ns".into(),
        end => format!("{end}s"),
    };
    let queue = match row["max_in_system_K"].as_str() {
        "" => String::new(),
        k => format!("queue.capacity = {}", k.parse::<u32>().unwrap() - 1),
    };
    let text = format!(
        "[run]\nduration = \"1s\"\ndrain = \"10m\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {}\narrivals.burst = {{ at = \"0s\" }}\n\
         [service.api]\nworkers = 1\n{queue}\nservice_time = \"{:?}ms\"\n\
         [[fault]]\nat = \"0s\"\nlasts = \"{outage}\"\noutage = \"refuse\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\n{}\n",
        row["clients"],
        1e3 / number(row, "server_rate_C_per_s"),
        backoff(row),
    );
    assemble(&text).1
}

/// Largest number of attempts in a bucket of `width` counted from `start`.
fn peak(sent: impl Iterator<Item = u64>, start: u64, width: u64) -> f64 {
    let mut buckets = BTreeMap::new();
    for at in sent {
        *buckets.entry((at - start) / width).or_insert(0u64) += 1;
    }
    buckets.values().copied().max().unwrap_or(0) as f64
}

/// The figures of one run, in the order of [`COLUMNS`].
fn figures(row: &Row, records: &[AttemptRecord], in_system_max: u64) -> [f64; 9] {
    let nanos = |column: &str| (number(row, column) * 1e9).round() as u64;
    let (end, width) = (nanos("outage_end_D_s"), nanos("bucket_s"));
    let sent = || records.iter().map(|record| record.sent_at.as_nanos());
    let after = || sent().filter(|&at| at > 0 && at >= end);
    let mut served: Vec<f64> = records
        .iter()
        .filter(|record| record.next == Next::Succeeded)
        .map(|record| (record.ended_at.as_nanos() - end) as f64 / 1e9)
        .collect();
    served.sort_unstable_by(f64::total_cmp);
    assert_eq!(served.len(), row["clients"].parse::<usize>().unwrap());
    let share = |percent: usize| served[(served.len() * percent).div_ceil(100) - 1];
    let refused = records
        .iter()
        .filter(|record| record.outcome == Some(AttemptOutcome::QueueFull))
        .count();
    [
        peak(sent().filter(|&at| at > 0), 0, width),
        peak(after(), end, width),
        after().filter(|&at| at < end + width).count() as f64,
        records.len() as f64,
        refused as f64,
        in_system_max as f64,
        share(50),
        share(99),
        share(100),
    ]
}

/// The figures of as many runs as it takes.
fn sample(row: &Row, plan: &Plan) -> [Sample; 9] {
    let mut samples = [Sample::default(); 9];
    for round in 0..MOST_ROUNDS {
        for run in 0..if is_deterministic(row) { 2 } else { ROUND } {
            let (tally, records) = record_attempts(plan, 0, round * ROUND + run).unwrap();
            let figures = figures(row, &records, tally.in_system_max);
            samples
                .iter_mut()
                .zip(figures)
                .for_each(|(sample, figure)| sample.add(figure));
        }
        let known = COLUMNS
            .iter()
            .zip(&samples)
            .all(|((column, interval), sample)| {
                let own = number(row, interval) / 1.96;
                sample.error() <= (0.01 * number(row, column)).max(own)
            });
        if known {
            break;
        }
    }
    samples
}

/// Compares all rows that `wanted` picks; gives how many.
fn check(wanted: impl Fn(&Row) -> bool) -> usize {
    let rows = rows("06_thundering_herd.csv");
    assert_eq!(rows.len(), 49);
    let mut covered = 0;
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| wanted(row)) {
        covered += 1;
        let plan = world(row, i + 1);
        let samples = sample(row, &plan);
        for ((column, interval), sample) in COLUMNS.iter().zip(samples) {
            let expected = Expected {
                value: number(row, column),
                error: number(row, interval) / 1.96,
            };
            agrees(
                &format!("{column} of {}", row["case_id"]),
                sample.mean,
                sample.error(),
                expected,
            );
        }
    }
    covered
}

/// Whether nothing is random in a row.
fn is_deterministic(row: &Row) -> bool {
    ["fixed", "exponential"].contains(&row["strategy"].as_str())
}

fn is(row: &Row, strategy: &str) -> bool {
    row["strategy"] == strategy
}

#[test]
fn herds_without_jitter_are_as_computed() {
    let covered = check(is_deterministic);
    println!("06_thundering_herd.csv, no jitter: {covered} of 14 rows");
    assert_eq!(covered, 14);
}

#[test]
fn herds_with_full_jitter_are_as_simulated_elsewhere() {
    let covered = check(|row| is(row, "full"));
    println!("06_thundering_herd.csv, full jitter: {covered} of 7 rows");
    assert_eq!(covered, 7);
}

#[test]
fn herds_with_equal_and_decorrelated_jitter_are_as_simulated_elsewhere() {
    let covered = check(|row| is(row, "equal") || is(row, "decorrelated"));
    println!("06_thundering_herd.csv, equal and decorrelated jitter: {covered} of 14 rows");
    assert_eq!(covered, 14);
}

#[test]
fn herds_with_proportional_jitter_are_as_simulated_elsewhere() {
    let covered = check(|row| row["strategy"].ends_with("proportional"));
    println!("06_thundering_herd.csv, proportional jitter: {covered} of 14 rows");
    assert_eq!(covered, 14);
}
