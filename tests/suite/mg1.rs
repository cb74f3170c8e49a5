//! One worker and any service time: waits in steady state against Pollaczek and Khinchine.
//!
//! Waits behind long services settle slowly, and slower than their own spread says: few services make most of the
//! waiting. So each run is cleared of how far the second and third moment of the services that it drew lie from
//! their expectation, at the rate at which they act on waits. Its figures keep their expectation, and what is left
//! varies little, even where the services have no fourth moment.

use crate::judge::{Judge, clear, exact, simulated};
use crate::support::{Expected, Row, Sample, number, records, rows, total};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::model::AttemptRecord;
use retrystorm::time::SimTime;

/// Runs of a row, and requests of one.
fn size(row: &Row) -> (u64, f64) {
    let utilisation = number(row, "utilisation");
    if utilisation > 0.92 {
        (40, 8e5)
    } else if utilisation > 0.85 {
        (48, 3e5)
    } else if number(row, "service_scv") > 2.0 {
        (96, 2e5)
    } else {
        (32, 2e5)
    }
}

fn seconds(row: &Row) -> f64 {
    size(row).1 / number(row, "lambda_per_s")
}

/// The service time, and its third moment in s³ where it has one.
fn service_time(row: &Row) -> (String, Option<f64>) {
    let m = number(row, "mean_service_s");
    let shape: f64 = row["shape_parameter"].parse().unwrap_or(0.0);
    let mean = format!("mean = \"{:?}ms\"", 1e3 * m);
    let (text, cubes) = match row["service"].as_str() {
        "deterministic" => (format!(".constant.value = \"{:?}ms\"", 1e3 * m), 1.0),
        "exponential" => (format!(".exponential = {{ {mean} }}"), 6.0),
        "uniform" => {
            let text = format!(".uniform = {{ min = \"0ms\", max = \"{:?}ms\" }}", 2e3 * m);
            (text, 2.0)
        }
        "lognormal" => {
            let text = format!(".lognormal = {{ {mean}, cv = {shape:?} }}");
            (text, (1.0 + shape * shape).powi(3))
        }
        "pareto" => {
            let text = format!(".pareto = {{ {mean}, alpha = {shape:?} }}");
            let cubes = shape / (shape - 3.0) * ((shape - 1.0) / shape).powi(3);
            (text, if shape > 3.0 { cubes } else { f64::NAN })
        }
        other => panic!("{other}"),
    };
    (text, cubes.is_finite().then_some(cubes * m.powi(3)))
}

/// A hundred bins in which requests arrive, the first tenth of which is not counted, and ten to drain.
fn world(row: &Row, seed: u64) -> String {
    let seconds = seconds(row);
    let (tenth, bin) = (seconds / 10.0, seconds / 100.0);
    format!(
        "[run]\nduration = \"{seconds:?}s\"\nwarmup = \"{tenth:?}s\"\ndrain = \"{tenth:?}s\"\nbin = \"{bin:?}s\"\n\
         replications = 1\nseed = {seed}\n\
         [clients]\ncount = 1000\narrivals.poisson = {{ rate = \"{}/s\" }}\n\
         [service.api]\nworkers = 1\nservice_time{}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
        row["lambda_per_s"],
        service_time(row).0,
    )
}

/// A level while requests count.
fn level(row: &Row, tally: &Tally, gauge: Gauge) -> f64 {
    let bins = &tally.timeline.bins()[10..100];
    let area: i64 = bins.iter().map(|bin| bin.areas[gauge as usize]).sum();
    area as f64 / 1e9 / (0.9 * seconds(row))
}

/// Mean square and mean cube, in s² and s³, of the services of counted requests.
fn moments(row: &Row, records: &[AttemptRecord]) -> (f64, f64) {
    let from = SimTime::from_nanos((0.1 * seconds(row) * 1e9).round() as u64);
    let counted = records.iter().filter(|record| record.intended_at >= from);
    let (mut n, mut squares, mut cubes) = (0.0, 0.0, 0.0);
    for record in counted {
        let started = record.started_at.unwrap();
        let service = (record.ended_at - started).as_secs_f64();
        n += 1.0;
        squares += service.powi(2);
        cubes += service.powi(3);
    }
    (squares / n, cubes / n)
}

/// The figures of one run. Those named in the file are cleared of the moments of the services drawn; `drawn…` are
/// not.
fn figures(row: &Row, seed: u64) -> Vec<(&'static str, f64)> {
    let text = world(row, seed);
    // A service that never varies needs no clearing, and no log.
    let (tally, records) = match number(row, "service_scv") {
        0.0 => (total(&text), Vec::new()),
        _ => records(&text, 0),
    };
    assert_eq!((tally.unfinished, tally.succeeded), (0, tally.requests));
    let mean = number(row, "mean_service_s");
    let (squares, cubes) = match records.as_slice() {
        [] => (mean.powi(2), mean.powi(3)),
        records => moments(row, records),
    };
    let (lambda, rho) = (number(row, "lambda_per_s"), number(row, "utilisation"));
    let more_squares = squares - mean * mean - number(row, "sd_service_s").powi(2);
    let more_wait = lambda / (2.0 * (1.0 - rho)) * more_squares;
    let n = tally.requests as f64;
    let (wait, queue, busy) = (
        tally.waits.mean_s(),
        level(row, &tally, Gauge::Queue) - lambda * more_wait,
        level(row, &tally, Gauge::Busy),
    );
    let mut figures = vec![
        ("drawn mean wait", wait),
        ("mean_wait_s", wait - more_wait),
        ("mean_sojourn_s", tally.sojourns.mean_s() - more_wait),
        ("mean_queue", queue),
        ("mean_in_system", queue + busy),
        ("utilisation", busy),
        ("mean_service_s", tally.work_ns as f64 / 1e9 / n),
        ("p_no_wait", 1.0 - tally.waited as f64 / n),
        ("check_sim_mean_wait_s", wait - more_wait),
    ];
    // Spreads are linear in the second moment, which makes their average over runs that of all runs together.
    let spread = |second: f64, mean: f64, sd: f64| (second + sd * sd - mean * mean) / (2.0 * sd);
    let sd = number(row, "sd_service_s");
    if sd > 0.0 {
        figures.push(("drawn sd of service", spread(squares, mean, sd)));
    }
    if service_time(row).1.is_some() {
        let (mean_wait, sd) = (number(row, "mean_wait_s"), number(row, "sd_wait_s"));
        let second = tally.waits.squares as f64 / 1e18 / tally.waits.count as f64;
        // Less what goes along with the mean, as a standard deviation has it.
        let second = second - 4.0 * mean_wait * more_wait;
        let second = second - 2.0 * mean_wait * (wait - more_wait - mean_wait);
        figures.push(("sd_wait_s", spread(second, mean_wait, sd)));
        figures.push(("mean cube of service", cubes));
    }
    figures
}

/// What a figure is held to; nothing where its spread between runs says nothing of its error.
fn expected(row: &Row, figure: &str) -> Option<Expected> {
    let tail = row["service"] == "pareto";
    match figure {
        "drawn mean wait" if row["note"].is_empty() => Some(exact(row, "mean_wait_s")),
        "drawn sd of service" if !tail => Some(exact(row, "sd_service_s")),
        "check_sim_mean_wait_s" if !tail => Some(simulated(row, figure, "check_sim_ci95")),
        "drawn mean wait"
        | "drawn sd of service"
        | "check_sim_mean_wait_s"
        | "mean cube of service" => None,
        column => Some(exact(row, column)),
    }
}

fn check(row: &Row, row_number: usize, judge: &mut Judge) {
    judge.row();
    let runs: Vec<Vec<(&str, f64)>> = (0..size(row).0)
        .map(|run| figures(row, 100 * row_number as u64 + run))
        .collect();
    let of = |i: usize| -> Vec<f64> { runs.iter().map(|run| run[i].1).collect() };
    for (i, &(figure, _)) in runs[0].iter().enumerate() {
        let mut values = of(i);
        if figure == "sd_wait_s" {
            clear(&mut values, &of(i + 1), service_time(row).1.unwrap());
        }
        let sample = Sample::of(values);
        let what = format!("{figure} of {}", row["case_id"]);
        if let Some(expected) = expected(row, figure) {
            judge.agrees(&what, &sample, expected);
        }
    }
}

fn check_all(count: usize, wanted: impl Fn(&Row) -> bool) {
    let mut judge = Judge::of("03_mg1.csv");
    let rows = rows("03_mg1.csv");
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| wanted(row)) {
        check(row, i + 1, &mut judge);
    }
    assert_eq!(rows.len(), 11);
    judge.report(count, 11);
}

#[test]
fn waits_for_one_worker_follow_the_second_moment_of_service() {
    check_all(8, |row| row["service"] != "pareto");
}

#[test]
fn waits_behind_a_power_tail_follow_it_too() {
    check_all(3, |row| row["service"] == "pareto");
}
