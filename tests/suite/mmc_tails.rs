//! Tails of plain queues against Erlang's formulas: how long the slowest of a thousand stay, and how long most wait.
//!
//! Quantiles of single runs lean to one side, as runs are short beside what a queue remembers. So what is averaged
//! over runs is the share beyond the expected quantile, and the quantile follows from it by the density there. Shares
//! settle slowly too: each run is cleared of how far its moments lie from the exact ones, which `mmc.rs` holds by
//! themselves.

use crate::judge::{Judge, clear, exact};
use crate::support::{Row, Sample, assemble, number, rows};
use retrystorm::experiment::record_attempts;
use retrystorm::scenario::Plan;
use retrystorm::time::SimTime;

/// Runs come in rounds, until every quantile is known to 1 %.
const ROUND: u32 = 48;
const MOST_ROUNDS: u32 = 6;

/// The part of a run that is not counted.
const QUIET: f64 = 0.05;

/// Requests of a run: many times what it takes a queue to forget.
fn requests(row: &Row) -> f64 {
    match number(row, "utilisation") {
        rho if rho > 0.92 => 5e5,
        rho if rho > 0.85 => 2e5,
        _ => 1e5,
    }
}

fn world(row: &Row, seed: usize) -> Plan {
    let seconds = requests(row) / number(row, "lambda_per_s");
    let quiet = QUIET * seconds;
    assemble(&format!(
        "[run]\nduration = \"{seconds:?}s\"\nwarmup = \"{quiet:?}s\"\ndrain = \"{quiet:?}s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 1000\narrivals.poisson = {{ rate = \"{}/s\" }}\n\
         [service.api]\nworkers = {}\nservice_time.exponential = {{ mean = \"{:?}ms\" }}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
        row["lambda_per_s"],
        row["servers"],
        1e3 / number(row, "mu_per_s"),
    ))
    .1
}

/// A quantile of a row: its column, the share below it, and the density there as the share beyond it falls per second.
struct Quantile {
    column: &'static str,
    below: f64,
    density: f64,
    of_sojourns: bool,
}

/// The share of stays longer than `t`: (1 + C (1 − e^(−μt (c − 1 − a))) / (c − 1 − a)) e^(−μt), a = λ/μ.
fn stay_beyond(row: &Row, t: f64) -> f64 {
    let (mu, wait) = (number(row, "mu_per_s"), number(row, "p_wait_erlang_c"));
    let spare = number(row, "servers") - 1.0 - number(row, "lambda_per_s") / mu;
    let factor = if spare.abs() < 1e-9 {
        mu * t
    } else {
        (1.0 - (-mu * t * spare).exp()) / spare
    };
    (-mu * t).exp() * (1.0 + wait * factor)
}

/// The quantiles of a row above zero.
fn quantiles(row: &Row) -> Vec<Quantile> {
    let waits = [
        ("wait_p50_s", 0.5),
        ("wait_p90_s", 0.9),
        ("wait_p99_s", 0.99),
    ];
    let spare = number(row, "servers") * number(row, "mu_per_s") - number(row, "lambda_per_s");
    let waits = waits.into_iter().map(|(column, below)| Quantile {
        column,
        below,
        density: (1.0 - below) * spare,
        of_sojourns: false,
    });
    let mut quantiles: Vec<Quantile> = waits
        .filter(|quantile| number(row, quantile.column) > 0.0)
        .collect();
    let column = "sojourn_p999_s";
    let (t, step) = (number(row, column), 1e-4 * number(row, column));
    let density = (stay_beyond(row, t - step) - stay_beyond(row, t + step)) / (2.0 * step);
    quantiles.push(Quantile {
        column,
        below: 0.999,
        density,
        of_sojourns: true,
    });
    quantiles
}

/// What a run is cleared of: the share that waits, the mean wait, and its second moment.
fn controls(row: &Row) -> [f64; 3] {
    let (mean, sd) = (number(row, "mean_wait_s"), number(row, "sd_wait_s"));
    [number(row, "p_wait_erlang_c"), mean, sd * sd + mean * mean]
}

/// The quantiles of one run, and its moments in the order of [`controls`].
fn figures(row: &Row, plan: &Plan, quantiles: &[Quantile], run: u32) -> Vec<f64> {
    let (tally, records) = record_attempts(plan, 0, run).unwrap();
    assert_eq!((tally.unfinished, tally.succeeded), (0, tally.requests));
    let from = SimTime::ZERO + plan.world.warmup;
    let expected: Vec<f64> = quantiles.iter().map(|q| number(row, q.column)).collect();
    let mut beyond = vec![0.0; quantiles.len()];
    let [mut n, mut waited, mut sum, mut squares] = [0.0; 4];
    for record in records.iter().filter(|record| record.intended_at >= from) {
        let wait = (record.started_at.unwrap() - record.sent_at).as_secs_f64();
        let stay = (record.ended_at - record.sent_at).as_secs_f64();
        n += 1.0;
        waited += f64::from(wait > 0.0);
        sum += wait;
        squares += wait * wait;
        for ((quantile, at), beyond) in quantiles.iter().zip(&expected).zip(&mut beyond) {
            let time = if quantile.of_sojourns { stay } else { wait };
            *beyond += f64::from(time > *at);
        }
    }
    assert_eq!(n as u64, tally.waits.count);
    let shares = quantiles.iter().zip(&expected).zip(&beyond);
    shares
        .map(|((quantile, at), beyond)| {
            at + (beyond / n - (1.0 - quantile.below)) / quantile.density
        })
        .chain([waited / n, sum / n, squares / n])
        .collect()
}

/// Samples of figures, cleared of the controls behind them: of the last one, then of what that leaves of the one before.
fn cleared(found: &[Vec<f64>], expected: [f64; 3]) -> Vec<Sample> {
    let mut found = found.to_vec();
    for expected in expected.into_iter().rev() {
        let control = found.pop().unwrap();
        found
            .iter_mut()
            .for_each(|values| clear(values, &control, expected));
    }
    found.into_iter().map(Sample::of).collect()
}

fn check_row(row: &Row, seed: usize, judge: &mut Judge) {
    judge.row();
    let plan = world(row, seed);
    let quantiles = quantiles(row);
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); quantiles.len() + 3];
    let mut samples = Vec::new();
    for round in 0..MOST_ROUNDS {
        for run in round * ROUND..(round + 1) * ROUND {
            let figures = figures(row, &plan, &quantiles, run);
            let lists = found.iter_mut().zip(figures);
            lists.for_each(|(list, figure)| list.push(figure));
        }
        samples = cleared(&found, controls(row));
        let known = |(sample, quantile): (&Sample, &Quantile)| {
            sample.error() <= 0.01 * number(row, quantile.column)
        };
        if samples.iter().zip(&quantiles).all(known) {
            break;
        }
    }
    for (sample, Quantile { column, .. }) in samples.iter().zip(&quantiles) {
        let what = format!("{column} of {}", row["case_id"]);
        judge.agrees(&what, sample, exact(row, column));
    }
    // A quantile of zero says that at least that share does not wait.
    let no_wait = Sample::of(found[quantiles.len()].iter().map(|waited| 1.0 - waited));
    for (column, below) in [("wait_p50_s", 0.5), ("wait_p90_s", 0.9)] {
        let at_least = no_wait.mean + 4.0 * no_wait.error() >= below;
        let what = format!("{column} of {}: {no_wait:?} do not wait", row["case_id"]);
        assert!(at_least == (number(row, column) == 0.0), "{what}");
        assert!(no_wait.error() < 0.01, "{what}");
    }
}

fn check(count: usize, wanted: impl Fn(&Row) -> bool) {
    let mut judge = Judge::of("03_mmc.csv");
    let rows = rows("03_mmc.csv");
    for (i, row) in rows.iter().enumerate().filter(|(_, row)| wanted(row)) {
        check_row(row, i + 1, &mut judge);
    }
    judge.report(count, rows.len());
}

fn is_heavy(row: &Row) -> bool {
    number(row, "utilisation") > 0.92
}

#[test]
fn waits_and_the_longest_stays_have_the_quantiles_that_erlang_says() {
    check(9, |row| !is_heavy(row));
}

#[test]
fn waits_have_them_in_a_queue_that_is_ninety_five_per_cent_busy_too() {
    check(1, is_heavy);
}
