//! What retry budgets let through at a share of failures, against Markov chains: one request at a time, for long.

use crate::budgets::{World, fails};
use crate::judge::{Judge, is_rare_count};
use crate::support::{Row, Sample, exactly, millis, number, replication, rows};
use retrystorm::metrics::Bin;
use retrystorm::scenario::Plan;

/// Requests of a bin, one at a time, a thousand a second.
const BIN: usize = 40;
/// Bins that are discarded, of 200,000 requests.
const WARM: usize = 5_000;
/// Bins that are counted in a run.
const COUNTED: usize = 20_000;
/// Runs at the most.
const MOST_RUNS: u64 = 6;
/// Bins of a batch, in which a budget forgets what was before it.
const BATCH: usize = 1_000;

/// A client at a share of failures for long: bins in which a request ends before the next one begins.
pub(crate) struct Chain {
    plan: Plan,
    bins: Vec<Bin>,
    runs: u64,
    /// Bins that are discarded, bins that are counted, and bins of a batch.
    shape: [usize; 3],
}

impl Chain {
    pub(crate) fn new(p: f64, attempts: &str, budget: &str, seed: usize) -> Self {
        // Without a budget there is nothing to forget.
        let shape = if budget.is_empty() {
            [1, COUNTED / 5, BATCH / 20]
        } else {
            [WARM, COUNTED, BATCH]
        };
        let world = World {
            arrivals: "periodic = { rate = \"1000/s\" }",
            warmup: 0.0,
            counted: (BIN * (shape[0] + shape[1])) as f64 / 1e3,
            service: fails(p),
            strategy: format!("max_attempts = {attempts}\n{budget}"),
            seed,
        };
        let mut plan = world.plan();
        plan.world.bin = millis(BIN as u64);
        let mut chain = Self {
            plan,
            bins: Vec::new(),
            runs: 0,
            shape,
        };
        chain.run();
        chain
    }

    /// Another run, after a warm-up of its own.
    fn run(&mut self) {
        let tally = replication(&self.plan, 0, self.runs);
        self.runs += 1;
        let [warm, counted, _] = self.shape;
        let bins = &tally.timeline.bins()[warm..][..counted];
        assert!(bins.iter().all(|bin| bin.first_tries == BIN as u64));
        self.bins.extend(bins);
    }

    /// Requests that count.
    pub(crate) fn requests(&self) -> f64 {
        (BIN * self.bins.len()) as f64
    }

    /// The mean of a figure over the bins, from its batches.
    pub(crate) fn each(&self, figure: impl Fn(&Bin) -> f64) -> Sample {
        let batches = self.bins.chunks(self.shape[2]);
        Sample::of(batches.map(|bins| bins.iter().map(&figure).sum::<f64>() / bins.len() as f64))
    }

    /// Holds the mean of a figure against what is expected, with as many runs as it takes to know it to 1 %, or to
    /// 5 % if that would take too many.
    pub(crate) fn agrees(
        &mut self,
        what: &str,
        figure: impl Fn(&Bin) -> f64,
        expected: f64,
        judge: &mut Judge,
    ) {
        let mut sample = self.each(&figure);
        while sample.error() > 0.01 * expected && self.runs < MOST_RUNS {
            self.run();
            sample = self.each(&figure);
        }
        if sample.error() <= 0.01 * expected {
            judge.agrees(what, &sample, exactly(expected));
        } else {
            judge.agrees_roughly(what, &sample, expected, 0.05);
        }
    }
}

/// Retries for each request.
pub(crate) fn retried(bin: &Bin) -> f64 {
    bin.retries as f64 / BIN as f64
}

/// The share of requests that succeed.
fn succeeded(bin: &Bin) -> f64 {
    bin.succeeded as f64 / BIN as f64
}

/// Retries and successes of a row. Retries that are too few to vary as they should are counted: they come one by one.
fn check_chain(row: &Row, chain: &mut Chain, judge: &mut Judge) {
    judge.row();
    let case = &row["case_id"];
    let expected = number(row, "amplification") - 1.0;
    if expected * chain.requests() < 1_000.0 {
        let mean = (expected * chain.requests()).max(1e-9);
        let count = (chain.each(retried).mean * chain.requests()).round() as u64;
        println!("{case}: {count} retries, {mean:.2} expected");
        assert!(is_rare_count(count, mean), "{case}: {count} retries");
    } else {
        chain.agrees(&format!("{case} retries"), retried, expected, judge);
    }
    let expected = number(row, "p_success");
    chain.agrees(&format!("{case} success"), succeeded, expected, judge);
}

/// A share of the bins: a rare one is rare, and another is met.
fn check_share(
    what: &str,
    chain: &mut Chain,
    is: impl Fn(&Bin) -> bool,
    expected: f64,
    judge: &mut Judge,
) {
    let share = |bin: &Bin| f64::from(is(bin));
    if expected < 0.01 {
        let seen = chain.each(share).mean;
        assert!(seen < 0.001, "{what}: {seen} instead of {expected}");
    } else {
        chain.agrees(what, share, expected, judge);
    }
}

/// The same without the budget.
fn check_unbounded(row: &Row, seed: usize, columns: [&str; 2], judge: &mut Judge) {
    let mut chain = Chain::new(number(row, "p_fail"), &row["attempts_k"], "", seed);
    let what = format!("{} without its budget", row["case_id"]);
    let expected = number(row, columns[0]) - 1.0;
    chain.agrees(&what, retried, expected, judge);
    chain.agrees(&what, succeeded, number(row, columns[1]), judge);
}

/// The bound chain of a row.
pub(crate) fn failure_tokens(row: &Row, seed: usize) -> Chain {
    let budget = format!(
        "budget.failure_tokens = {{ max = {}, ratio = {} }}",
        row["max_tokens"], row["token_ratio"]
    );
    Chain::new(number(row, "p_fail"), &row["attempts_k"], &budget, seed)
}

fn check_tokens(row: &Row, seed: usize, judge: &mut Judge) {
    let mut chain = failure_tokens(row, seed);
    check_chain(row, &mut chain, judge);
    // The level is that of the tokens above half, as it is when a request starts.
    let above = |bin: &Bin| bin.budget_level_ppm > 0;
    let what = format!("{} above half", row["case_id"]);
    let expected = number(row, "p_tokens_above_half_at_request_start");
    check_share(&what, &mut chain, above, expected, judge);
    let columns = [
        "amplification_without_throttle",
        "p_success_without_throttle",
    ];
    check_unbounded(row, seed, columns, judge);
    let ratio = number(row, "token_ratio");
    let threshold = number(row, "drift_threshold_p");
    assert!((ratio / (1.0 + ratio) - threshold).abs() < 1e-9);
}

#[test]
fn tokens_that_failures_take_follow_their_chain() {
    let mut judge = Judge::of("05_grpc_throttle_chain.csv");
    let rows = rows("05_grpc_throttle_chain.csv");
    for (i, row) in rows.iter().enumerate() {
        check_tokens(row, i + 1, &mut judge);
    }
    judge.report(9, rows.len());
}

fn check_quota(row: &Row, seed: usize, judge: &mut Judge) {
    let (capacity, cost) = (number(row, "capacity"), number(row, "retry_cost"));
    let budget = format!(
        "budget.quota = {{ capacity = {capacity}, cost.transient = {cost}, first_try_success = {} }}",
        row["increment_on_first_try_success"]
    );
    let mut chain = Chain::new(number(row, "p_fail"), &row["attempts_k"], &budget, seed);
    check_chain(row, &mut chain, judge);
    let case = &row["case_id"];
    let tokens = |bin: &Bin| (bin.budget_level_ppm as f64 / 1e6 * capacity).round();
    let expected = number(row, "mean_tokens_at_request_start");
    chain.agrees(&format!("{case} tokens"), tokens, expected, judge);
    let short = |bin: &Bin| tokens(bin) < cost;
    let expected = number(row, "p_less_than_one_retry_left");
    check_share(&format!("{case} short"), &mut chain, short, expected, judge);
    let columns = ["amplification_without_quota", "p_success_without_quota"];
    check_unbounded(row, seed, columns, judge);
}

#[test]
fn a_quota_that_successes_give_back_follows_its_chain() {
    let mut judge = Judge::of("05_retry_quota_chain.csv");
    let rows = rows("05_retry_quota_chain.csv");
    for (i, row) in rows.iter().enumerate() {
        check_quota(row, i + 1, &mut judge);
    }
    judge.report(20, rows.len());
}
