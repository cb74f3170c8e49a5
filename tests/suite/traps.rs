//! Traps that are known of retry budgets and circuit breakers, as whole simulations: what is counted, who
//! shares it, and what happens at the same moment decide more than the numbers in the settings.

use crate::budgets_chains::{Chain, failure_tokens, retried};
use crate::judge::Judge;
use crate::support::{Row, log, number, records, rows, total};
use retrystorm::metrics::Tally;
use retrystorm::model::AttemptRecord;
use retrystorm::outcome::{AttemptOutcome, FailureReason};

/// A service without limits that fails everything, after `takes`.
fn outage(takes: &str) -> String {
    format!(
        "[service.api]\nworkers = \"unlimited\"\nservice_time = \"{takes}\"\n\
         failures = [{{ code = 503, probability = 1.0 }}]\n"
    )
}

fn scenario(clients: &str, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"200s\"\ndrain = \"1m\"\nreplications = 1\n\
         [clients]\n{clients}\n{service}\n[[strategy]]\nname = \"s\"\n{strategy}\n"
    )
}

fn retries(tally: &Tally) -> u64 {
    tally.attempts - tally.requests
}

/// A thousand attempts fail at the same moment, and a fifth of what is on the wire may be retries. While those
/// that wait for their backoff do not count none is outstanding yet whenever the next one asks, and all are let
/// go. When they do, retry g + 1 is let go with 999 - g on the wire: g + 1 <= 0.2 (1,000 - (g + 1)), so 166
/// are.
#[test]
fn retries_that_wait_must_count_or_a_thousand_failures_at_once_are_all_retried() {
    let herd = "count = 1000\narrivals.burst = {}";
    for (counts, min, granted) in [(false, 3, 1_000), (true, 0, 166)] {
        let tally = total(&scenario(
            herd,
            &outage("1s"),
            &format!(
                "max_attempts = 2\nbackoff.fixed.delay = \"100ms\"\n\
                 budget.concurrency = {{ limit.share = {{ of = \"20%\", min = {min} }}, \
                 counts_waiting = {counts}, scope = \"shared\" }}"
            ),
        ));
        assert_eq!(tally.requests, 1_000);
        assert_eq!(retries(&tally), granted, "counts_waiting = {counts}");
        let denied = tally.failed[FailureReason::Budget as usize];
        assert_eq!(denied, 1_000 - granted);
    }
}

/// Ten tokens of which a failure takes one: four are retried, and the fifth leaves no more than half.
#[test]
fn the_fifth_failed_attempt_stops_retries() {
    let lines = log(&scenario(
        "count = 1\narrivals.periodic.every = \"10s\"",
        &outage("1ms"),
        "max_attempts = 10\nbudget.failure_tokens = { max = 10, ratio = 0.1 }",
    ));
    let retried = |line: &String| line.contains("again after");
    let budget = |line: &String| line.ends_with("gave up: budget");
    assert!(lines[..4].iter().all(retried), "{lines:#?}");
    assert!(lines[4..].iter().all(budget), "{lines:#?}");
    assert!(
        lines.len() > 20 && lines[4].starts_with("0.5 "),
        "{lines:#?}"
    );
}

/// A failure takes a token and a success gives a tenth of one, so they balance at a share of failures of
/// 0.1/1.1 = 9.09 %. At 8 % most of the retries that are wanted are made, at 12 % hardly any, at 20 % none:
/// between the two lies not a limit on retries but a switch.
#[test]
fn failure_tokens_switch_retries_off_above_nine_per_cent_of_failures() {
    let mut judge = Judge::of("05_grpc_throttle_chain.csv, the switch");
    let rows = rows("05_grpc_throttle_chain.csv");
    let mut shares = Vec::new();
    for p in [0.05, 0.08, 0.12] {
        judge.row();
        let is = |row: &&Row| number(row, "p_fail") == p && number(row, "max_tokens") == 10.0;
        let row = rows.iter().find(is).unwrap();
        let mut chain = failure_tokens(row, 77);
        let expected = number(row, "amplification") - 1.0;
        chain.agrees(&format!("{p}"), retried, expected, &mut judge);
        let wanted = number(row, "amplification_without_throttle") - 1.0;
        shares.push(chain.each(retried).mean / wanted);
    }
    assert!(
        shares[0] > 0.98 && shares[1] > 0.65 && shares[2] < 0.03,
        "{shares:?}"
    );
    let tokens = "budget.failure_tokens = { max = 10, ratio = 0.1 }";
    let none = Chain::new(0.2, "3", tokens, 78);
    let count = none.each(retried).mean * none.requests();
    let wanted = 0.24 * none.requests();
    assert!(count < 1e-4 * wanted, "{count} retries of {wanted}");
    judge.report(3, 3);
}

/// Attempts that were sent, and when.
fn sent(records: &[AttemptRecord]) -> Vec<f64> {
    let sent = |record: &&AttemptRecord| record.outcome != Some(AttemptOutcome::BreakerOpen);
    let times = records.iter().filter(sent);
    let mut times: Vec<f64> = times.map(|record| record.sent_at.as_secs_f64()).collect();
    times.sort_by(f64::total_cmp);
    times
}

/// A service hangs, and its callers have a patience of 30 s. The breaker opens at the fifth timeout and is half
/// open a minute later. As long as no probe has failed it does not know better, and at 100 calls a second 3,000
/// are on their way by then.
#[test]
fn probes_without_a_limit_are_an_outage_of_their_own() {
    for (limit, on_their_way) in [("\"unlimited\"", 3_000), ("3", 3)] {
        let (tally, records) = records(
            &scenario(
                "count = 100\narrivals.periodic.rate = \"100/s\"",
                "[service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
                 [[fault]]\nat = \"0s\"\nlasts = \"1h\"\noutage = \"hang\"\n",
                &format!(
                    "max_attempts = 1\nattempt_timeout = \"30s\"\n\
                     breaker.consecutive = {{ failures = 5, open_for = \"1m\", scope = \"shared\", \
                     half_open.probes = {{ limit = {limit} }} }}"
                ),
            ),
            0,
        );
        assert_eq!(tally.succeeded, 0);
        let times = sent(&records);
        // A first wave before anything was known, and one a half-open phase, of which the second begins after 180 s.
        let first = times.iter().filter(|&&at| at < 60.0).count();
        assert!((3_000..=3_005).contains(&first), "{first}");
        let probes: Vec<f64> = times
            .into_iter()
            .filter(|at| (60.0..150.0).contains(at))
            .collect();
        assert_eq!(probes.len(), on_their_way, "{limit}");
        let (begins, ends) = (probes[0], probes[probes.len() - 1]);
        assert!(
            (90.0..90.1).contains(&begins) && ends < 120.1,
            "{begins}, {ends}"
        );
    }
}

/// A breaker opens after ten failures in a row. Inside the retry loop it counts attempts, and opens in the
/// fourth call of three attempts; outside it counts calls, and thirty attempts are sent before it opens.
#[test]
fn a_breaker_outside_the_retry_loop_sees_a_third_of_the_failures() {
    for (around, opens_after) in [("attempt", 10), ("call", 30)] {
        let (tally, records) = records(
            &scenario(
                "count = 1\narrivals.periodic.every = \"1s\"",
                &outage("1ms"),
                &format!(
                    "max_attempts = 3\nbreaker.consecutive = \
                     {{ failures = 10, open_for = \"1h\", around = \"{around}\" }}"
                ),
            ),
            0,
        );
        assert_eq!(tally.attempts, opens_after, "{around}");
        let held = |record: &AttemptRecord| record.outcome == Some(AttemptOutcome::BreakerOpen);
        let first = records.iter().position(held).unwrap();
        assert_eq!(first as u64, opens_after, "{around}");
        assert!(records[first..].iter().all(held), "{around}");
    }
}

/// A bucket of ten tokens bounds the retries of a thousand clients to ten if they share it. If each has its
/// own, which starts full, it bounds nothing: all 4,000 retries of their first calls are made, and 10,000 in
/// all.
#[test]
fn a_thousand_small_clients_start_with_a_thousand_full_buckets() {
    for (scope, at_first, in_all) in [("client", 4_000, 10_000), ("shared", 10, 10)] {
        for (calls, expected) in [(1, at_first), (5, in_all)] {
            let tally = total(&scenario(
                &format!(
                    "count = 1000\narrivals.burst = {{ requests = {calls}, spread = \"100s\" }}"
                ),
                &outage("10ms"),
                &format!(
                    "max_attempts = 5\nbackoff.fixed.delay = \"10ms\"\n\
                     budget.token_bucket = {{ capacity = 10, scope = \"{scope}\" }}"
                ),
            ));
            assert_eq!(tally.requests, 1_000 * calls);
            assert_eq!(retries(&tally), expected, "{scope}, {calls}");
        }
    }
}
