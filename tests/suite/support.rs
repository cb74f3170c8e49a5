//! Running scenarios, reading reference figures, and judging numbers.

use retrystorm::decode::{Decode, Document, Reader, Value};
use retrystorm::experiment::{RunResult, record_attempts, run};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::model::{AttemptRecord, Next, NoLog, Strategy, run_world};
use retrystorm::policy::Backoff;
use retrystorm::rng::Key;
use retrystorm::scenario::{Plan, Scenario};
use retrystorm::time::{SimDuration, SimTime};
use std::collections::BTreeMap;
use std::path::Path;

/// A scenario and what it comes to.
pub(crate) fn assemble(text: &str) -> (Scenario, Plan) {
    assemble_in(text, Path::new("."))
}

/// The same, with files looked for below `base`.
pub(crate) fn assemble_in(text: &str, base: &Path) -> (Scenario, Plan) {
    // Every request counts, unless a test says otherwise.
    let text = &if text.contains("warmup") {
        text.to_owned()
    } else {
        text.replacen("[run]\n", "[run]\nwarmup = \"0s\"\n", 1)
    };
    let scenario = Scenario::parse("test", text, base)
        .unwrap_or_else(|error| panic!("{:#?}\n{text}", error.problems));
    let plan = Plan::assemble(&scenario).unwrap_or_else(|problems| panic!("{problems:#?}\n{text}"));
    (scenario, plan)
}

/// Runs all strategies of a scenario.
pub(crate) fn results(text: &str) -> RunResult {
    let (scenario, plan) = assemble(text);
    run(&scenario, &plan, 2, &|| ()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The counts of a scenario with one strategy.
pub(crate) fn total(text: &str) -> Tally {
    results(text).strategies.swap_remove(0).total
}

/// Every attempt of the first replication of a strategy.
pub(crate) fn records(text: &str, strategy: usize) -> (Tally, Vec<AttemptRecord>) {
    record_attempts(&assemble(text).1, strategy, 0)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// One replication of a strategy, counted only.
pub(crate) fn replication(plan: &Plan, strategy: usize, number: u64) -> Tally {
    let used = |pinned: &Option<usize>| &plan.strategies[pinned.unwrap_or(strategy)];
    let strategies: Vec<&Strategy> = plan.pinned.iter().map(used).collect();
    let root = Key::root(plan.seed, number);
    run_world(&plan.world, &strategies, root, NoLog).unwrap().0
}

/// Attempts as text, in the order of their ends: `0.1 10-35 error, again after 32`, times in milliseconds.
pub(crate) fn log(text: &str) -> Vec<String> {
    records(text, 0).1.iter().map(line).collect()
}

fn line(record: &AttemptRecord) -> String {
    let ms = |time: SimTime| (time - SimTime::ZERO).as_millis_f64();
    let outcome = record.outcome.map_or("in flight", |outcome| outcome.name());
    let next = match record.next {
        Next::Succeeded => String::new(),
        Next::RetryAfter(delay) => format!(", again after {}", delay.as_millis_f64()),
        Next::GaveUp(reason) => format!(", gave up: {}", reason.name()),
        Next::Hedged => ", hedged".into(),
        Next::Unfinished => ", unfinished".into(),
    };
    let AttemptRecord {
        request, attempt, ..
    } = record;
    format!(
        "{request}.{attempt} {}-{} {outcome}{next}",
        ms(record.sent_at),
        ms(record.ended_at)
    )
}

/// The backoff written as a TOML value.
pub(crate) fn backoff(value: &str) -> Backoff {
    let document = Document::parse("backoff.toml", &format!("backoff = {value}")).unwrap();
    let Value::Table(table) = &document.root.value else {
        panic!("a document is a table");
    };
    let mut reader = Reader::new();
    let read = Backoff::decode(table.get("backoff").unwrap(), &mut reader);
    let problems = reader.into_problems();
    assert!(problems.is_empty(), "{value}: {problems:?}");
    read.unwrap()
}

/// What came of the requests that arrived, and the attempts that were sent, from one time to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) requests: f64,
    /// Share of the requests that succeeded.
    pub(crate) success: f64,
    /// Attempts of these requests, each.
    pub(crate) attempts: f64,
    /// Attempts sent, a second.
    pub(crate) offered: f64,
}

impl Window {
    /// The window between two times in seconds. Every request that arrives in it has ended.
    pub(crate) fn of(records: &[AttemptRecord], (from, to): (f64, f64)) -> Self {
        let inside = |time: SimTime| (from..to).contains(&time.as_secs_f64());
        let [mut sent, mut attempts, mut requests, mut succeeded] = [0.0; 4];
        for record in records {
            sent += f64::from(inside(record.sent_at));
            if inside(record.intended_at) {
                attempts += 1.0;
                requests += f64::from(record.attempt == 1);
                succeeded += f64::from(record.next == Next::Succeeded);
            }
        }
        Self {
            requests,
            success: succeeded / requests,
            attempts: attempts / requests,
            offered: sent / (to - from),
        }
    }

    /// Whether fewer than half of its requests succeeded.
    pub(crate) fn is_stuck(&self) -> bool {
        self.success < 0.5
    }
}

pub(crate) fn millis(ms: u64) -> SimDuration {
    SimDuration::from_millis(ms)
}

/// The area under a level in milliseconds.
pub(crate) fn area_ms(tally: &Tally, gauge: Gauge) -> f64 {
    tally.timeline.area(gauge) as f64 / 1e6
}

/// A row of a reference file by column name.
pub(crate) type Row = BTreeMap<String, String>;

/// All rows of a reference file.
pub(crate) fn rows(file: &str) -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/reference");
    let mut reader = csv::Reader::from_path(folder.join(file)).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

/// A number of a row.
pub(crate) fn number(row: &Row, column: &str) -> f64 {
    row[column]
        .parse()
        .unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

/// A mean of independent values.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    pub(crate) count: f64,
    pub(crate) mean: f64,
    squares: f64,
}

impl Sample {
    pub(crate) fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut sample = Self::default();
        values.into_iter().for_each(|value| sample.add(value));
        sample
    }

    pub(crate) fn add(&mut self, value: f64) {
        self.count += 1.0;
        let away = value - self.mean;
        self.mean += away / self.count;
        self.squares += away * (value - self.mean);
    }

    pub(crate) fn sd(&self) -> f64 {
        (self.squares / (self.count - 1.0).max(1.0)).sqrt()
    }

    /// Standard error of the standard deviation, from the values again.
    pub(crate) fn sd_error(&self, values: impl Iterator<Item = f64>) -> f64 {
        let fourth = values.map(|v| (v - self.mean).powi(4)).sum::<f64>() / self.count;
        let first = ((fourth - self.sd().powi(4)) / self.count).max(0.0).sqrt()
            / (2.0 * self.sd().max(1e-9));
        // What is left when the first order vanishes, as for two values of equal probability.
        first + 2.0 * self.sd() / self.count
    }

    /// Standard error of the mean.
    pub(crate) fn error(&self) -> f64 {
        self.sd() / self.count.sqrt()
    }
}

/// What a number should be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected {
    pub(crate) value: f64,
    /// Standard error of the reference; zero when it is exact.
    pub(crate) error: f64,
}

/// Asserts that `mean`, known to ± `error`, is the expected value: within four standard errors, which are
/// small; equal when nothing varies.
pub(crate) fn agrees(what: &str, mean: f64, error: f64, expected: Expected) {
    let Expected { value, error: own } = expected;
    let together = error.hypot(own);
    let rounding = 1e-9 * value.abs().max(1e-9);
    if together <= rounding {
        let printed = 1e-8 * value.abs().max(1e-3);
        assert!(
            (mean - value).abs() <= printed,
            "{what}: {mean} instead of {value}"
        );
        return;
    }
    let small = (0.01 * value.abs()).max(own);
    assert!(
        error <= small,
        "{what}: {mean} ± {error} is too vague for {value}"
    );
    let z = (mean - value) / together;
    assert!(
        z.abs() < 4.0,
        "{what}: {mean} ± {error} instead of {value} ± {own}, z = {z:.2}"
    );
}

/// An exact expected value.
pub(crate) fn exactly(value: f64) -> Expected {
    Expected { value, error: 0.0 }
}
