//! What circuit breakers and clients that throttle themselves let through, against formulas and another simulation.

use crate::judge::{Judge, exact, simulated};
use crate::support::{Row, Sample, assemble, number, replication, rows};
use retrystorm::experiment::log_attempts;
use retrystorm::metrics::Tally;
use retrystorm::model::{AttemptLog, AttemptRecord};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::scenario::Plan;

/// One client that makes one attempt for each request, at random times. Requests after the warm-up count.
fn world(
    row: &Row,
    (warmup, counted): (f64, f64),
    service: &str,
    guard: &str,
    seed: usize,
) -> Plan {
    assemble(&format!(
        "[run]\nduration = \"{:?}s\"\nwarmup = \"{warmup:?}s\"\ndrain = \"1m\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 1\narrivals.poisson = {{ rate = \"{}/s\" }}\n\
         [service.api]\n{service}\n[[strategy]]\nname = \"s\"\nmax_attempts = 1\n{guard}\n",
        warmup + counted,
        row["lambda_per_s"],
    ))
    .1
}

/// A service that needs no time and fails with probability `p`.
fn fails(p: &str) -> String {
    format!(
        "workers = \"unlimited\"\nservice_time = \"0s\"\nfailures = [{{ code = 503, probability = {p} }}]"
    )
}

/// Independent runs, in rounds until a figure is known well enough.
struct Runs<T, F> {
    run: F,
    done: Vec<T>,
    round: u32,
    most: u32,
}

impl<T, F: Fn(u32) -> T> Runs<T, F> {
    fn new([round, most]: [u32; 2], run: F) -> Self {
        let done = (0..round).map(&run).collect();
        Self {
            run,
            done,
            round,
            most,
        }
    }

    /// A sample of a figure whose error is at most `small`, if that takes no more runs than it may.
    fn sample(&mut self, small: f64, figure: impl Fn(&T) -> f64) -> Sample {
        loop {
            let sample = Sample::of(self.done.iter().map(&figure));
            let done = self.done.len() as u32;
            if sample.error() <= small || done >= self.most {
                return sample;
            }
            self.done.extend((done..done + self.round).map(&self.run));
        }
    }
}

/// What had happened by a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    seconds: f64,
    requests: f64,
    sent: f64,
    succeeded: f64,
}

/// Counts the openings of a breaker, and what happens between the first and the last: whole cycles, so that it
/// makes no difference where in a cycle a run begins and ends. No opening is so short that no request comes in
/// it.
#[derive(Clone, Debug, Default)]
struct Openings {
    now: Totals,
    first: Totals,
    last: Totals,
    count: f64,
    /// Attempts that were sent since the breaker was last open.
    burst: f64,
    /// Whether the first of them, a probe, has closed it.
    closed: bool,
    /// Openings from closed, and the requests that it took.
    from_closed: f64,
    to_open: f64,
}

impl AttemptLog for Openings {
    const ENABLED: bool = true;

    fn record(&mut self, record: AttemptRecord) {
        if record.outcome == Some(AttemptOutcome::BreakerOpen) {
            if self.burst > 0.0 {
                self.opened();
            }
            self.now.requests += 1.0;
            return;
        }
        let ok = record.outcome == Some(AttemptOutcome::Ok);
        if self.burst == 0.0 {
            self.closed = ok;
        }
        self.burst += 1.0;
        self.now.seconds = record.sent_at.as_secs_f64();
        self.now.requests += 1.0;
        self.now.sent += 1.0;
        self.now.succeeded += f64::from(ok);
    }
}

impl Openings {
    fn opened(&mut self) {
        if self.count == 0.0 {
            // There was no probe before the first opening.
            self.first = self.now;
            (self.from_closed, self.to_open) = (1.0, self.burst);
        } else if self.closed {
            self.from_closed += 1.0;
            self.to_open += self.burst - 1.0;
        }
        self.last = self.now;
        self.count += 1.0;
        self.burst = 0.0;
    }

    fn between(&self, what: fn(&Totals) -> f64) -> f64 {
        what(&self.last) - what(&self.first)
    }

    fn share(&self, what: fn(&Totals) -> f64) -> f64 {
        self.between(what) / self.between(|totals| totals.requests)
    }

    fn rate(&self, count: f64) -> f64 {
        count / self.between(|totals| totals.seconds)
    }
}

fn check_breaker(row: &Row, seed: usize, judge: &mut Judge) {
    judge.row();
    let guard = format!(
        "breaker.consecutive = {{ failures = {}, open_for = \"{}s\" }}",
        row["consecutive_failures_to_open"], row["open_time_s"]
    );
    let seconds = 100_000.0 / number(row, "lambda_per_s");
    let plan = world(row, (0.0, seconds), &fails(&row["p_fail"]), &guard, seed);
    let mut runs = Runs::new([30, 150], |run| {
        log_attempts(&plan, 0, run, Openings::default()).unwrap().1
    });
    let mut check = |column: &str, figure: fn(&Openings) -> f64| {
        let expected = exact(row, column);
        let sample = runs.sample(0.01 * expected.value, figure);
        let what = format!("{column} of {}", row["case_id"]);
        if sample.error() <= 0.01 * expected.value {
            judge.agrees(&what, &sample, expected);
        } else {
            judge.agrees_roughly(&what, &sample, expected.value, 0.03);
        }
    };
    check("fraction_ok_of_all_arrivals", |o| o.share(|t| t.succeeded));
    check("fraction_sent", |o| o.share(|t| t.sent));
    check("fraction_shed", |o| o.share(|t| t.requests - t.sent));
    check("sent_rate_per_s", |o| o.rate(o.between(|t| t.sent)));
    check("open_transitions_per_s", |o| o.rate(o.count - 1.0));
    check("mean_requests_from_closed_to_open", |o| {
        o.to_open / o.from_closed
    });
}

#[test]
fn a_breaker_of_failures_in_a_row_lets_through_what_its_cycle_says() {
    let mut judge = Judge::of("05_breaker_consecutive.csv");
    let rows = rows("05_breaker_consecutive.csv");
    for (i, row) in rows.iter().enumerate() {
        check_breaker(row, i + 1, &mut judge);
    }
    judge.report(6, rows.len());
}

fn sent_share(tally: &Tally) -> f64 {
    tally.attempts as f64 / tally.requests as f64
}

fn held_share(tally: &Tally) -> f64 {
    tally.held_back() as f64 / tally.requests as f64
}

fn ok_share(tally: &Tally) -> f64 {
    tally.succeeded as f64 / tally.requests as f64
}

/// Windows that are discarded, for the first can begin with bad luck that lasts; half of them where a service
/// accepts all that it can.
const WARM: f64 = 10.0;

/// A bucket of tokens one second deep that refuses what it cannot pay for is a worker with a place for each
/// token: one attempt fits in whenever a token's worth of work is done. Its answers come up to a second late,
/// in a window of two minutes.
fn backend(row: &Row) -> String {
    match row["backend_capacity_per_s"].as_str() {
        "" => fails(&row["p_fail"]),
        capacity => {
            let per_second: f64 = capacity.parse().unwrap();
            format!(
                "workers = 1\nqueue.capacity = {}\nservice_time = \"{:?}ms\"",
                per_second - 1.0,
                1e3 / per_second
            )
        }
    }
}

fn check_throttle(row: &Row, seed: usize, judge: &mut Judge) {
    judge.row();
    let case = &row["case_id"];
    let window = number(row, "window_s");
    let rate = number(row, "lambda_per_s");
    let (warm, counted) = if row["backend_capacity_per_s"].is_empty() {
        (WARM, 60.0)
    } else {
        (WARM / 2.0, 5.0)
    };
    let times = (warm * window, counted * window);
    let guard = format!(
        "throttle = {{ k = {}, window = \"{window:?}s\" }}",
        row["K"]
    );
    let plan = world(row, times, &backend(row), &guard, seed);
    let mut runs = Runs::new([8, 200], |run| replication(&plan, 0, run.into()));
    for (what, column, interval, unit, figure) in [
        (
            "sent",
            "mc_sent_per_s",
            "mc_sent_ci95",
            rate,
            sent_share as fn(&Tally) -> f64,
        ),
        (
            "accepted",
            "mc_accepted_per_s",
            "mc_accepted_ci95",
            rate,
            ok_share,
        ),
        (
            "held back",
            "mc_local_reject_fraction",
            "mc_local_reject_ci95",
            1.0,
            held_share,
        ),
    ] {
        let expected = simulated(row, column, interval);
        let what = format!("{case} {what}");
        let small = expected.error.max(0.01 * expected.value);
        let sample = runs.sample(small, |tally| unit * figure(tally));
        judge.simulated(&what, &sample, expected);
        if column == "mc_sent_per_s" {
            check_formula(row, &sample, judge);
        }
    }
}

/// The attempts that are sent are also what the formula says, where that is no approximation of noise.
fn check_formula(row: &Row, sent: &Sample, judge: &mut Judge) {
    let theory = number(row, "theory_sent_per_s");
    let what = format!("{}: {}", row["case_id"], row["formula"]);
    if row["formula"].starts_with("sent = min") {
        assert!(
            (sent.mean - theory).abs() < 0.005 * theory,
            "{what}, {sent:?}"
        );
    } else if row["formula"].starts_with("no accepts") {
        judge.agrees_roughly(&what, sent, theory, 0.05);
    }
}

#[test]
fn a_client_that_throttles_itself_sends_a_multiple_of_what_is_accepted() {
    let mut judge = Judge::of("05_adaptive_throttling.csv");
    let rows = rows("05_adaptive_throttling.csv");
    for (i, row) in rows.iter().enumerate() {
        check_throttle(row, i + 1, &mut judge);
    }
    judge.report(11, rows.len());
}
