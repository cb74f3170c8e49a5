//! Backoff delays as whole runs measure them, against their laws.

use crate::support::{Row, Sample, agrees, exactly, number, records, rows};
use retrystorm::metrics::Moments;
use retrystorm::model::{AttemptRecord, Next};
use std::collections::BTreeMap;

/// The backoff of a row, as a user would write it.
fn backoff(row: &Row) -> String {
    let base = format!("base = \"{}ms\"", row["base_ms"]);
    let cap = match row["cap_ms"].as_str() {
        "" => String::new(),
        cap => format!(", cap = \"{cap}ms\""),
    };
    match row["strategy"].as_str() {
        "none" => "backoff = \"immediate\"".into(),
        "fixed" => format!("backoff.fixed.delay = \"{}ms\"", row["base_ms"]),
        "linear" => format!("backoff.linear = {{ {base}{cap} }}"),
        "exponential" => format!("backoff.exponential = {{ {base}{cap} }}"),
        "proportional" => {
            let ratio = &row["jitter_fraction"];
            format!("backoff.exponential = {{ {base}{cap}, jitter.proportional.ratio = {ratio} }}")
        }
        "exponential_random" => format!("backoff.memoryless.mean = \"{}ms\"", row["base_ms"]),
        "decorrelated" => format!("backoff.decorrelated = {{ {base}{cap} }}"),
        jitter => format!("backoff.exponential = {{ {base}{cap}, jitter = \"{jitter}\" }}"),
    }
}

/// A world in which attempts fail with probability `p`, whatever the load.
fn world(requests: u64, p: &str, attempts: &str, backoff: &str) -> String {
    format!(
        "[run]\nduration = \"1s\"\ndrain = \"1h\"\nreplications = 1\nseed = 1\n\
         [clients]\ncount = {requests}\narrivals.burst = {{ at = \"0s\", spread = \"1s\" }}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
         failures = [{{ code = 503, probability = {p} }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = {attempts}\n{backoff}\n"
    )
}

/// What became of each request: its delays in turn, in milliseconds, and whether it succeeded.
fn fold<T: Default + Clone>(
    records: &[AttemptRecord],
    add: impl Fn(&mut (T, bool), f64),
) -> Vec<(T, bool)> {
    let most = records.iter().map(|record| record.request).max().unwrap();
    let mut requests = vec![(T::default(), false); most as usize + 1];
    for record in records {
        let request = &mut requests[record.request as usize];
        match record.next {
            Next::RetryAfter(delay) => add(request, delay.as_millis_f64()),
            next => request.1 = next == Next::Succeeded,
        }
    }
    requests
}

fn delays(records: &[AttemptRecord]) -> Vec<(Vec<f64>, bool)> {
    fold(records, |(delays, _): &mut (Vec<f64>, bool), delay| {
        delays.push(delay)
    })
}

fn totals(records: &[AttemptRecord]) -> Vec<(f64, bool)> {
    fold(records, |(total, _): &mut (f64, bool), delay| {
        *total += delay
    })
}

/// Values whose mean and standard deviation are compared, and the error of the latter.
struct Values {
    sample: Sample,
    sd_error: f64,
}

impl Values {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Self {
        let sample = Sample::of(values.clone());
        let sd_error = sample.sd_error(values);
        Self { sample, sd_error }
    }

    fn mean_agrees(&self, row: &Row, column: &str) {
        let what = format!("{column} of {row:?}");
        agrees(
            &what,
            self.sample.mean,
            self.sample.error(),
            exactly(number(row, column)),
        );
    }

    fn sd_agrees(&self, row: &Row, column: &str) {
        let what = format!("{column} of {row:?}");
        let expected = number(row, column);
        if expected == 0.0 {
            assert!(self.sample.sd() < 1e-9, "{what}");
        } else {
            agrees(&what, self.sample.sd(), self.sd_error, exactly(expected));
        }
    }

    /// The counts of the run say the same.
    fn counted_alike(&self, counted: &Moments) {
        assert_eq!(counted.count as f64, self.sample.count);
        let tolerance = 1e-6 * self.sample.mean.max(1.0);
        assert!((counted.mean_s() * 1e3 - self.sample.mean).abs() < tolerance);
        let (seen, counted) = (self.sample.sd(), counted.sd_s() * 1e3);
        assert!(
            (counted - seen).abs() < 1e-4 * seen.max(1.0),
            "{counted} {seen} {:?}",
            self.sample
        );
    }
}

#[test]
fn every_row_of_the_delay_before_each_retry_is_reproduced() {
    let rows = rows("02_backoff_delay_per_retry.csv");
    let mut by_backoff: BTreeMap<String, Vec<&Row>> = BTreeMap::new();
    rows.iter()
        .for_each(|row| by_backoff.entry(backoff(row)).or_default().push(row));
    for (backoff, rows) in by_backoff {
        let (tally, records) = records(&world(60_000, "1.0", "10", &backoff), 0);
        let requests = delays(&records);
        assert!(requests.iter().all(|(delays, _)| delays.len() == 9));
        for row in rows {
            let i: usize = row["retry_index"].parse().unwrap();
            let delay = Values::of(requests.iter().map(|(delays, _)| delays[i - 1]));
            delay.counted_alike(&tally.delays[i - 1]);
            let so_far = Values::of(requests.iter().map(|(delays, _)| delays[..i].iter().sum()));
            delay.mean_agrees(row, "mean_delay_ms");
            so_far.mean_agrees(row, "mean_cumulative_ms");
            if !row["sd_delay_ms"].is_empty() {
                delay.sd_agrees(row, "sd_delay_ms");
            }
            if !row["sd_cumulative_ms"].is_empty() {
                so_far.sd_agrees(row, "sd_cumulative_ms");
            }
        }
    }
    println!("02_backoff_delay_per_retry.csv: {} of 162 rows", rows.len());
    assert_eq!(rows.len(), 162);
}

/// Requests of a row: the rarer retries are, the more it takes for 1 %.
fn requests(p: f64) -> u64 {
    match p {
        p if p < 0.2 => 800_000,
        p if p < 0.5 => 400_000,
        p if p < 0.8 => 120_000,
        _ => 60_000,
    }
}

#[test]
fn every_row_of_the_total_delay_of_a_request_is_reproduced() {
    let rows = rows("02_backoff_delay_total.csv");
    let mut all_used: BTreeMap<String, Values> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let p = number(row, "p_fail");
        // Rows of one seed would share their luck.
        let seed = format!("seed = {}", i + 1);
        let text = world(
            requests(p),
            &format!("{p:?}"),
            &row["attempts_k"],
            &backoff(row),
        );
        let (tally, attempts) = records(&text.replace("seed = 1", &seed), 0);
        let requests = totals(&attempts);
        let total = Values::of(requests.iter().map(|request| request.0));
        total.counted_alike(&tally.backoff);
        total.mean_agrees(row, "mean_total_delay_ms");
        if !row["sd_total_delay_ms"].is_empty() {
            total.sd_agrees(row, "sd_total_delay_ms");
        }
        if p < 1.0 {
            let of_successes = Values::of(requests.iter().filter(|r| r.1).map(|r| r.0));
            of_successes.counted_alike(&tally.backoff_of_succeeded);
            of_successes.mean_agrees(row, "mean_total_delay_given_success_ms");
        }
        // All retries are used when every attempt fails.
        let text = world(60_000, "1.0", &row["attempts_k"], &backoff(row));
        let all = all_used.entry(text.clone()).or_insert_with(|| {
            let (tally, attempts) = records(&text, 0);
            let all = Values::of(totals(&attempts).iter().map(|request| request.0));
            all.counted_alike(&tally.backoff);
            all
        });
        all.mean_agrees(row, "mean_total_delay_all_retries_ms");
        if !row["sd_total_delay_all_retries_ms"].is_empty() {
            all.sd_agrees(row, "sd_total_delay_all_retries_ms");
        }
    }
    println!("02_backoff_delay_total.csv: {} of 108 rows", rows.len());
    assert_eq!(rows.len(), 108);
}

#[test]
fn a_published_reconnect_schedule_is_followed() {
    // Factor 1.6, ±20 % after the cap: 1, 1.6, 2.56, … 109.95, 120, 120 s.
    let text = |jitter: &str| {
        let backoff = format!(
            "backoff.exponential = {{ base = \"1s\", factor = 1.6, cap = \"120s\"{jitter} }}"
        );
        world(2_000, "1.0", "14", &backoff)
    };
    let published = [
        1.0, 1.6, 2.56, 4.10, 6.55, 10.49, 16.78, 26.84, 42.95, 68.72, 109.95, 120.0, 120.0,
    ];
    for (delays, _) in delays(&records(&text(""), 0).1) {
        assert!(
            delays
                .iter()
                .zip(published)
                .all(|(ms, s)| (ms / 1e3 - s).abs() < 0.006),
            "{delays:?}"
        );
    }
    let jittered = delays(&records(&text(", jitter.proportional.ratio = 0.2"), 0).1);
    let at_cap = || {
        jittered
            .iter()
            .flat_map(|(delays, _)| &delays[11..])
            .copied()
    };
    let (least, greatest) = at_cap().fold((f64::MAX, 0.0f64), |(a, b), ms| (a.min(ms), b.max(ms)));
    assert!(
        (96e3..96.1e3).contains(&least) && (143.9e3..=144e3).contains(&greatest),
        "{least} {greatest}"
    );
}

#[test]
fn the_next_delay_is_shorter_with_the_probability_of_its_law() {
    // Full jitter doubles its range each time: shorter with 1/4, and with 1/2 once at the cap.
    let backoff = "backoff.exponential = { base = \"1s\", cap = \"4s\", jitter = \"full\" }";
    let requests = delays(&records(&world(100_000, "1.0", "6", backoff), 0).1);
    for (retry, expected) in [(1, 0.25), (2, 0.25), (3, 0.5), (4, 0.5)] {
        let shorter = Sample::of(
            requests
                .iter()
                .map(|(delays, _)| f64::from(delays[retry] < delays[retry - 1])),
        );
        agrees(
            &format!("retry {retry}"),
            shorter.mean,
            shorter.error(),
            exactly(expected),
        );
    }
}

#[test]
fn the_whole_time_of_a_call_is_its_timeouts_and_its_delays() {
    // Base 300 ms, 3 retries, patience 1 s: 4 s and 2.1 s; with full jitter 0 to 2.1, mean 1.05; with equal
    // jitter 1.05 to 2.1, mean 1.575.
    for (jitter, least, mean) in [
        ("none", 6.1, 6.1),
        ("full", 4.0, 5.05),
        ("equal", 5.05, 5.575),
    ] {
        let backoff = format!(
            "attempt_timeout = \"1s\"\nbackoff.exponential = {{ base = \"300ms\", jitter = \"{jitter}\" }}"
        );
        let text = world(50_000, "0.0", "4", &backoff).replace("\"0s\"\nfail", "\"1h\"\nfail");
        let (tally, records) = records(&text, 0);
        assert_eq!(tally.attempts, 200_000);
        let last = records.iter().filter(|record| record.attempt == 4);
        let times = last.map(|record| (record.ended_at - record.intended_at).as_secs_f64());
        assert!(
            times.clone().all(|s| s >= least - 1e-9 && s <= 6.1 + 1e-9),
            "{jitter}"
        );
        let sample = Sample::of(times);
        agrees(jitter, sample.mean, sample.error(), exactly(mean));
    }
}
