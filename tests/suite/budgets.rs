//! What retry budgets let through while everything fails, against formulas and another simulation.

use crate::judge::{Judge, Rounds, simulated};
use crate::support::{Expected, Row, Sample, assemble, millis, number, replication, rows};
use retrystorm::metrics::{Bin, Tally};
use retrystorm::scenario::Plan;

/// One client, to a service that answers at once and fails with a probability. Requests that start in the last
/// `counted` seconds count.
pub(crate) struct World<'a> {
    pub(crate) arrivals: &'a str,
    pub(crate) warmup: f64,
    pub(crate) counted: f64,
    pub(crate) service: String,
    pub(crate) strategy: String,
    pub(crate) seed: usize,
}

impl World<'_> {
    pub(crate) fn plan(&self) -> Plan {
        assemble(&format!(
            "[run]\nduration = \"{:?}s\"\nwarmup = \"{:?}s\"\ndrain = \"1m\"\nreplications = 1\nseed = {}\n\
             [clients]\ncount = 1\narrivals.{}\n[service.api]\nworkers = \"unlimited\"\n{}\n\
             [[strategy]]\nname = \"s\"\n{}\n",
            self.warmup + self.counted,
            self.warmup,
            self.seed,
            self.arrivals,
            self.service,
            self.strategy,
        ))
        .1
    }

    fn run(&self) -> Tally {
        replication(&self.plan(), 0, 0)
    }
}

/// A service that needs no time and fails with probability `p`.
pub(crate) fn fails(p: f64) -> String {
    format!("service_time = \"0s\"\nfailures = [{{ code = 503, probability = {p:?} }}]")
}

fn retries(tally: &Tally) -> f64 {
    (tally.attempts - tally.requests) as f64
}

fn retries_each(tally: &Tally) -> f64 {
    retries(tally) / tally.requests as f64
}

/// The budget that a row of the outage is about, and how many retries it grants in a burst of failures.
fn outage_budget(row: &Row) -> (&'static str, Option<f64>) {
    let parameters = row["parameters"].as_str();
    match row["policy"].as_str() {
        "AWS-style quota" => ("quota = {}", Some(100.0)),
        "gRPC throttling" => ("failure_tokens = { max = 10, ratio = 0.1 }", None),
        "Finagle/tower budget" if parameters.contains("min 10 ") => (
            "window_ratio = { ratio = \"20%\", min_per_second = \"10/s\", window = \"10s\" }",
            None,
        ),
        "Finagle/tower budget" => (
            "window_ratio = { ratio = \"20%\", min_per_second = \"0/s\", window = \"10s\" }",
            None,
        ),
        "fixed window" => ("count = { retries = 60, per = \"60s\" }", Some(60.0)),
        "SRE per-client ratio" if parameters.ends_with("of all attempts") => {
            ("share = { ratio = \"10%\", of = \"all_attempts\" }", None)
        }
        "SRE per-client ratio" => ("share = { ratio = \"10%\", of = \"first_attempts\" }", None),
        "token bucket by rate" => (
            "token_bucket = { capacity = 20, refill = \"5/s\" }",
            Some(20.0),
        ),
        other => panic!("{other}"),
    }
}

/// Seconds to spend what was saved up, and then seconds to count in: whole windows of a minute, and a multiple of 90
/// requests at every rate.
const SPAN: f64 = 180.0;

/// With even arrivals everything repeats itself, and is met to the last retry.
fn check_steady(row: &Row, judge: &mut Judge) {
    let (budget, burst) = outage_budget(row);
    let arrivals = format!("periodic = {{ rate = \"{}/s\" }}", row["lambda_per_s"]);
    let mut world = World {
        arrivals: &arrivals,
        warmup: SPAN,
        counted: SPAN,
        service: fails(1.0),
        strategy: format!("max_attempts = {}\nbudget.{budget}", row["attempts_k"]),
        seed: 1,
    };
    let late = world.run();
    let what = format!(
        "{} {}, {}",
        row["policy"], row["parameters"], row["lambda_per_s"]
    );
    let equal = |figure: &str, value: f64, expected: f64| {
        judge.equals(&format!("{figure}: {what}"), &Sample::of([value]), expected);
    };
    equal(
        "requests",
        late.requests as f64,
        number(row, "lambda_per_s") * SPAN,
    );
    equal(
        "attempts",
        late.amplification().unwrap(),
        number(row, "amplification_steady"),
    );
    equal(
        "rate",
        retries(&late) / SPAN,
        number(row, "retry_rate_per_s"),
    );
    world.warmup = 0.0;
    let early = retries(&world.run());
    let column = "one_off_retries_from_full_bucket";
    if row[column].is_empty() {
        assert!((early - retries(&late)).abs() < 1.0, "{what}: {early}");
        return;
    }
    let one_off = number(row, column);
    let demand = number(row, "lambda_per_s") * (number(row, "attempts_k") - 1.0);
    match row["policy"].as_str() {
        "AWS-style quota" | "gRPC throttling" => equal("one-off", early, one_off),
        // Less what would have flowed in before the first request, and flows in after the last.
        "token bucket by rate" if demand > 5.0 => {
            let above = early - retries(&late);
            let lost = 2.0 * 5.0 / number(row, "lambda_per_s");
            let range = one_off - lost - 1.0..=one_off;
            assert!(range.contains(&above), "{what}: {above}");
        }
        // The first request comes after a gap.
        _ => assert!(
            (early - retries(&late)).abs() < number(row, "attempts_k"),
            "{what}: {early}"
        ),
    }
    if let Some(burst) = burst {
        assert_eq!(burst, one_off, "{what}");
        world.arrivals = "burst = { requests = 1000 }";
        equal("burst", retries(&world.run()), one_off);
    }
}

/// At random arrivals the formula is what can be had at the most, as an allowance that a quiet moment leaves
/// unused is not made up for.
fn check_finagle(row: &Row, seed: usize, judge: &mut Judge) {
    let rate = number(row, "lambda_per_s");
    let arrivals = format!("poisson = {{ rate = \"{rate:?}/s\" }}");
    let world = World {
        arrivals: &arrivals,
        warmup: 30.0,
        counted: (20_000.0 / rate).max(60.0),
        service: fails(1.0),
        strategy: format!(
            "max_attempts = {}\nbudget.{}",
            row["attempts_k"],
            outage_budget(row).0
        ),
        seed,
    };
    let mut expected = simulated(row, "mc_amplification", "mc_ci95");
    expected.value -= 1.0;
    let rounds = Rounds { runs: 10, most: 10 };
    let sample = &rounds.sample(&world.plan(), &[expected], |tally| {
        Some(vec![retries_each(tally)])
    })[0];
    let what = format!(
        "{}, {rate}/s, {} attempts",
        row["parameters"], row["attempts_k"]
    );
    judge.simulated(&what, sample, expected);
    let most = number(row, "amplification_steady") - 1.0;
    assert!(
        sample.mean <= most + 4.0 * sample.error(),
        "{what}: {sample:?}"
    );
}

#[test]
fn in_an_outage_budgets_grant_what_their_formulas_say() {
    let mut judge = Judge::of("05_budget_total_failure.csv");
    let rows = rows("05_budget_total_failure.csv");
    for (i, row) in rows.iter().enumerate() {
        judge.row();
        if row["mc_amplification"].is_empty() {
            check_steady(row, &mut judge);
        } else {
            check_finagle(row, i + 1, &mut judge);
        }
    }
    judge.report(96, rows.len());
}

/// Random arrivals leave some of the allowance of a window or a bucket unused: 2.855 instead of 3 attempts,
/// 3.493 instead of 3.5, by the same reference, which gives three digits.
#[test]
fn at_random_arrivals_a_window_and_a_bucket_grant_a_little_less() {
    let mut judge = Judge::of("random arrivals");
    for (rate, attempts, budget, most, expected) in [
        (
            0.5,
            3,
            "count = { retries = 60, per = \"60s\" }",
            3.0,
            2.855,
        ),
        (
            2.0,
            5,
            "token_bucket = { capacity = 20, refill = \"5/s\" }",
            3.5,
            3.493,
        ),
    ] {
        judge.row();
        let world = World {
            arrivals: &format!("poisson = {{ rate = \"{rate:?}/s\" }}"),
            warmup: 600.0,
            counted: 60_000.0,
            service: fails(1.0),
            strategy: format!("max_attempts = {attempts}\nbudget.{budget}"),
            seed: attempts,
        };
        let plan = world.plan();
        let each = |run| replication(&plan, 0, run).amplification().unwrap();
        let sample = Sample::of((0..15).map(each));
        let rounded = Expected {
            value: expected,
            error: 0.0005 / 3.0_f64.sqrt(),
        };
        judge.agrees(budget, &sample, rounded);
        assert!(
            sample.mean + 4.0 * sample.error() < most,
            "{budget}: {sample:?}"
        );
    }
    judge.report(2, 2);
}

/// After a timeout a retry costs 10 of the 500 tokens.
#[test]
fn a_full_quota_pays_for_fifty_retries_after_timeouts() {
    let world = World {
        arrivals: "periodic = { rate = \"2/s\" }",
        warmup: 0.0,
        counted: SPAN,
        service: "service_time = \"10s\"".into(),
        strategy: "max_attempts = 3\nattempt_timeout = \"100ms\"\nbudget.quota = {}".into(),
        seed: 1,
    };
    assert_eq!(retries(&world.run()), 50.0);
}

fn check_concurrency(row: &Row, seed: usize, judge: &mut Judge) {
    judge.row();
    let [rate, takes, backoff] =
        ["lambda_per_s", "attempt_time_s", "fixed_backoff_s"].map(|column| number(row, column));
    assert_eq!(rate * takes, number(row, "mean_first_attempts_on_the_wire"));
    let share = number(row, "budget_fraction");
    let world = World {
        arrivals: &format!("poisson = {{ rate = \"{rate:?}/s\" }}"),
        // Attempts that start together end together: the wave of the start goes on for hundreds of them.
        warmup: 400.0,
        counted: 500.0,
        service: format!(
            "service_time = \"{takes:?}s\"\nfailures = [{{ code = 503, probability = 1.0 }}]"
        ),
        strategy: format!(
            "max_attempts = {}\nbackoff.fixed.delay = \"{backoff:?}s\"\n\
             budget.concurrency.limit.share = {{ of = {share:?}, min = 0 }}",
            row["attempts_k"]
        ),
        seed,
    };
    // Attempts are counted as they come, for those of the last requests meet a wire that empties.
    let mut plan = world.plan();
    plan.world.bin = millis(1_000);
    let seconds = world.warmup as usize..(world.warmup + world.counted) as usize;
    let sample = Sample::of((0..6).map(|run| {
        let tally = replication(&plan, 0, run);
        let bins = &tally.timeline.bins()[seconds.clone()];
        let sum = |count: fn(&Bin) -> u64| bins.iter().map(count).sum::<u64>() as f64;
        sum(|bin| bin.retries) / sum(|bin| bin.first_tries)
    }));
    let mut expected = simulated(row, "mc_amplification", "mc_ci95");
    expected.value -= 1.0;
    // The reference does not say which time it counted. With a thousand on the wire the wave is slow to go: from the
    // second minute to the last the share falls from 0.2496 to 0.2494.
    if rate * takes >= 1_000.0 {
        expected.error = expected.error.hypot(1e-4);
    }
    judge.agrees(&row["case_id"], &sample, expected);
    // Whole retries make the difference to the fluid.
    let fluid = 1.0 + share * takes / (takes * (1.0 - share) + backoff);
    let printed = number(row, "amplification_fluid_formula");
    assert!((fluid - printed).abs() < 1e-8, "{fluid}, {printed}");
    assert!(
        (sample.mean + 1.0 - fluid).abs() < 0.02 * fluid,
        "{sample:?}"
    );
}

#[test]
fn retries_outstanding_are_a_share_of_what_is_on_the_wire() {
    let mut judge = Judge::of("05_concurrency_budget.csv");
    let rows = rows("05_concurrency_budget.csv");
    for (i, row) in rows.iter().enumerate() {
        check_concurrency(row, i + 1, &mut judge);
    }
    judge.report(5, rows.len());
}
