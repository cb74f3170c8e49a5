//! How sure a result is: intervals cover the truth as often as they say, pairs are worth their name, nobody wins by
//! luck, and two kinds of outcomes are told as two.

use crate::support::{assemble, results};
use retrystorm::experiment::{RunResult, border, paired, run, window_warnings};
use retrystorm::metrics::metric;
use retrystorm::report::{Style, table};
use retrystorm::scenario::{Plan, Scenario};
use std::path::Path;

/// A scenario of the gallery with parts of its text replaced.
fn gallery(name: &str, replacements: &[(&str, &str)]) -> (Scenario, Plan) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    for (from, to) in replacements {
        assert!(text.contains(from), "{name} has `{from}`");
        text = text.replace(from, to);
    }
    let scenario = Scenario::parse(name, &text, &folder).unwrap();
    let plan = Plan::assemble(&scenario).unwrap();
    (scenario, plan)
}

fn told(result: &RunResult) -> String {
    let style = Style {
        colour: false,
        unicode: true,
    };
    let text = table(result, 1_000, style).replace('\u{a0}', " ");
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

/// Whether the interval covers `truth`, over so many experiments with seeds of their own.
fn coverage(text: &str, truth: f64, interval: fn(&RunResult) -> (f64, f64)) -> f64 {
    const EXPERIMENTS: u64 = 400;
    let (scenario, mut plan) = assemble(text);
    let covered = (0..EXPERIMENTS).filter(|experiment| {
        plan.seed = 1_000 + experiment;
        let (low, high) = interval(&run(&scenario, &plan, 1, &|| ()).unwrap());
        low <= truth && truth <= high
    });
    covered.count() as f64 / EXPERIMENTS as f64
}

#[test]
fn the_interval_of_success_covers_the_truth_as_often_as_it_says() {
    let text = "[run]\nduration = \"2s\"\ndrain = \"5s\"\nreplications = 10\n\
         [clients]\ncount = 10\narrivals.poisson = { rate = \"100/s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
         failures = [{ code = 503, probability = \"60%\" }]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbackoff.fixed.delay = \"10ms\"\n";
    let covered = coverage(text, 1.0 - 0.6f64.powi(3), |result| {
        let summary = &result.strategies[0].summary;
        (
            summary.success_rate_low.unwrap(),
            summary.success_rate_high.unwrap(),
        )
    });
    println!("coverage of success: {covered}");
    assert!((0.925..=0.975).contains(&covered), "{covered}");
}

#[test]
fn the_interval_of_a_correlated_latency_covers_the_truth_as_often_as_it_says() {
    // M/M/1 at one half: 1/(μ − λ) = 20 ms. Requests of one run wait behind each other, replications do not.
    let text = "[run]\nwarmup = \"5s\"\nduration = \"45s\"\ndrain = \"5s\"\nreplications = 10\n\
         [clients]\ncount = 10\narrivals.poisson = { rate = \"50/s\" }\n\
         [service.api]\nworkers = 1\nservice_time.exponential = { mean = \"10ms\" }\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n";
    let covered = coverage(text, 20.0, |result| {
        let summary = &result.strategies[0].summary;
        (
            summary.latency_mean_ms_low.unwrap(),
            summary.latency_mean_ms_high.unwrap(),
        )
    });
    println!("coverage of the sojourn: {covered}");
    assert!((0.925..=0.975).contains(&covered), "{covered}");
}

/// Full and equal jitter with base 100 ms, factor 2 and cap 10 s in the world of the restart herd. What jitter itself
/// leaves to chance stays: with delays of seconds, which spread the herd by luck, a pair gains less.
#[test]
fn a_paired_interval_is_at_most_half_of_an_unpaired_one() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scenarios/restart_herd.toml");
    let text = std::fs::read_to_string(path).unwrap();
    let (world, _) = text.split_once("[[strategy]]").unwrap();
    let strategy = |jitter: &str| {
        format!(
            "[[strategy]]\nname = \"{jitter}\"\nmax_attempts = 5\nattempt_timeout = \"1s\"\n\
             backoff.exponential = {{ base = \"100ms\", factor = 2, cap = \"10s\", jitter = \"{jitter}\" }}\n"
        )
    };
    let result = results(&format!("{world}{}{}", strategy("equal"), strategy("full")));
    assert_eq!(result.replications, 20);
    let [a, b] = result.strategies.as_slice() else {
        panic!("two strategies");
    };
    let [a, b] = [a, b].map(|s| s.each.iter().map(|run| &run.row).collect::<Vec<_>>());
    for figure in ["success_rate", "amplification"] {
        let difference = paired(metric(figure).unwrap(), &a, &b).unwrap();
        let paired = difference.paired.half_width().unwrap();
        let unpaired = difference.unpaired_half_width.unwrap();
        println!("paired ± {paired}, unpaired ± {unpaired}");
        assert!(
            paired > 0.0 && paired <= 0.5 * unpaired,
            "{paired} {unpaired}"
        );
    }
}

/// C67. Two identical strategies under two names.
#[test]
fn identical_strategies_have_no_winner() {
    let twin = "max_attempts = 3\nattempt_timeout = \"300ms\"\nbackoff.exponential = { base = \"50ms\", jitter = \"full\" }\n";
    let text = format!(
        "[run]\nduration = \"30s\"\nreplications = 20\n\
         [clients]\ncount = 10\narrivals.poisson = {{ rate = \"90/s\" }}\n\
         [service.api]\nworkers = 1\nqueue = {{ capacity = 20 }}\nservice_time.exponential = {{ mean = \"10ms\" }}\n\
         [[strategy]]\nname = \"one\"\n{twin}[[strategy]]\nname = \"two\"\n{twin}"
    );
    let result = results(&text);
    let second = &result.strategies[1].summary;
    assert_eq!(second.success_behind_best, Some(0.0));
    assert!(second.ties_with_best && !result.strategies[0].summary.ties_with_best);
    let said = told(&result);
    assert!(
        said.contains("No winner by success: one and two are 0.00 ± 0.00 points apart"),
        "{said}"
    );
    assert!(
        said.contains("below 0.10 points"),
        "the practical threshold is told: {said}"
    );
}

#[test]
fn a_clear_winner_is_named_with_its_distance() {
    let (scenario, plan) = gallery("seventy_percent", &[]);
    let said = told(&run(&scenario, &plan, 2, &|| ()).unwrap());
    assert!(
        said.contains("Best success: five attempts, 17.4 ±"),
        "{said}"
    );
}

/// C55. Half of the seeds collapse.
#[test]
fn a_scenario_at_its_tipping_point_is_told_by_class_counts() {
    let (scenario, plan) = gallery("tipping_point", &[]);
    let result = run(&scenario, &plan, 2, &|| ()).unwrap();
    let summary = &result.strategies[0].summary;
    let collapsed = summary.collapsed_replications;
    assert!((8..=32).contains(&collapsed), "{collapsed} of 40");
    assert_eq!(summary.verdict, "mixed");
    let all = summary.stable_replications
        + summary.recovered_replications
        + summary.degraded_replications
        + collapsed;
    assert_eq!(all, 40);
    let said = told(&result);
    let warning = format!("one retry: {collapsed} of 40 replications collapsed (95 % interval ");
    assert!(said.contains(&warning), "{said}");
    assert!(
        said.contains("Means over both kinds of replications describe neither"),
        "{said}"
    );
}

#[test]
fn a_stall_leaves_one_service_stuck_and_not_the_other_and_both_name_the_border() {
    for (name, collapsed) in [("stuck_after_stall", 20), ("recovers_after_stall", 0)] {
        let (scenario, plan) = gallery(name, &[("replications = 10", "replications = 20")]);
        let result = run(&scenario, &plan, 2, &|| ()).unwrap();
        let retry = &result.strategies[0];
        assert_eq!(retry.summary.strategy, "one retry");
        assert_eq!(retry.summary.collapsed_replications, collapsed, "{name}");
        if collapsed == 0 {
            assert_eq!(retry.summary.recovered_replications, 20, "{name}");
        }
        let border = border(&plan, 0).unwrap().per_s;
        assert!((border - 150.0).abs() < 1e-3, "{border}");
        let said = told(&result);
        assert!(
            said.contains("one retry: comes back by itself up to 150/s"),
            "{said}"
        );
        // Without retries the border is the capacity, and the stall passes.
        assert_eq!(
            result.strategies[1].summary.collapsed_replications, 0,
            "{name}"
        );
    }
}

/// C54. A wanted precision, near 99.9 % and near 50 %.
#[test]
fn as_many_replications_run_as_a_precision_needs() {
    let text = |percent: &str, precision: &str| {
        format!(
            "[run]\nduration = \"2s\"\ndrain = \"5s\"\nreplications = 5\nprecision = \"{precision}\"\n\
             [clients]\ncount = 10\narrivals.poisson = {{ rate = \"500/s\" }}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
             failures = [{{ code = 503, probability = \"{percent}\" }}]\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n"
        )
    };
    for percent in ["50%", "0.1%"] {
        let coarse = results(&text(percent, "5%"));
        assert_eq!(coarse.replications, 5, "{percent}: five are enough");
        let fine = results(&text(percent, "0.2%"));
        let half = |result: &RunResult| {
            let estimate = result.strategies[0].success.unwrap();
            estimate.half_width().unwrap()
        };
        assert!(half(&fine) <= 0.002, "{percent}: {}", half(&fine));
        // √(p(1 − p)/(1,000 n)) · 1.96 ≤ 0.002 takes 241 replications at one half and one at 0.1 %.
        let enough = if percent == "50%" { 180..=330 } else { 5..=10 };
        assert!(
            enough.contains(&fine.replications),
            "{percent}: {}",
            fine.replications
        );
        let mut limited = assemble(&text(percent, "0.01%"));
        limited.1.precision = Some((1e-4, 6));
        let result = run(&limited.0, &limited.1, 2, &|| ()).unwrap();
        assert_eq!(result.replications, 6);
        let said = told(&result);
        assert!(said.contains("was not reached: it takes"), "{said}");
    }
}

/// C54. When every request of every replication succeeded, the interval still has a width.
#[test]
fn certainty_is_never_claimed_from_a_finite_number_of_requests() {
    let text = "[run]\nduration = \"1s\"\ndrain = \"1s\"\nreplications = 5\n\
         [clients]\ncount = 1\narrivals.periodic = { every = \"10ms\", offset = \"aligned\" }\n\
         [service.api]\nworkers = 1\nservice_time = \"1ms\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n";
    let summary = &results(text).strategies[0].summary;
    assert_eq!(summary.success_rate, Some(1.0));
    // Wilson over 500 requests: 1/(1 + 1.96²/500).
    let low = summary.success_rate_low.unwrap();
    assert!(
        (low - 1.0 / (1.0 + 1.959_964f64.powi(2) / 500.0)).abs() < 1e-6,
        "{low}"
    );
}

/// A request that is a letter at the end counts against success like one that has failed, in the interval too.
#[test]
fn dead_letters_are_as_certain_as_failures() {
    for probability in [0.5, 1.0] {
        let success = |letters: &str| {
            let text = format!(
                "[run]\nduration = \"10s\"\ndrain = \"10s\"\nreplications = 5\n\
                 [clients]\ncount = 10\narrivals.poisson.rate = \"20/s\"\n\
                 [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
                 failures = [{{ code = 503, probability = {probability:?} }}]\n\
                 [[strategy]]\nname = \"s\"\nmax_attempts = 1\n{letters}\n"
            );
            let summary = results(&text).strategies[0].summary.clone();
            let ended = summary.failed + summary.dead_lettered;
            assert_eq!(summary.dead_lettered > 0, !letters.is_empty());
            (ended, summary.success_rate_low, summary.success_rate_high)
        };
        let failed = success("");
        assert_eq!(success("dead_letters.redrive = \"never\""), failed);
        assert!(failed.0 > 0 && failed.2.unwrap() - failed.1.unwrap() < 0.2);
    }
}

/// C53. M/M/1 at 0.9, watched for 100 and for 10,000 service times.
#[test]
fn a_window_short_against_the_queue_is_biased_low_and_warned_of() {
    let text = |duration: &str, warmup: &str| {
        format!(
            "[run]\nwarmup = \"{warmup}\"\nduration = \"{duration}\"\ndrain = \"100s\"\nreplications = 100\n\
             [clients]\ncount = 10\narrivals.poisson = {{ rate = \"0.9/s\" }}\n\
             [service.api]\nworkers = 1\nservice_time.exponential = {{ mean = \"1s\" }}\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n"
        )
    };
    let warnings = |text: &str| {
        let (scenario, plan) = assemble(text);
        window_warnings(&scenario, &plan)
    };
    let short = text("100s", "0s");
    let warned = warnings(&short);
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(
        warned[0].reason.contains("forgets its empty start"),
        "{warned:?}"
    );
    assert!(
        warned[0].remedy.contains("measure for at least"),
        "{warned:?}"
    );
    let long = text("11000s", "1000s");
    assert_eq!(warnings(&long).len(), 0);
    // The mean wait in the queue is 9 service times.
    let wait = |text: &str| results(text).strategies[0].total.waits.mean_s();
    let (short, long) = (wait(&short), wait(&long));
    println!("mean wait {short} and {long} of 9");
    assert!(short < 6.0 && (long - 9.0).abs() < 0.9, "{short} {long}");
}

#[test]
fn other_short_windows_are_warned_of() {
    let (head, tail) = (
        "[run]\nwarmup = \"0s\"\nduration = \"10s\"\nreplications = 2\n[clients]\ncount = 5\n",
        "[service.api]\nworkers = 100\nservice_time = \"1ms\"\n[[strategy]]\nname = \"s\"\n",
    );
    for (clients, more, words) in [
        (
            "arrivals.closed_loop.think.exponential = { mean = \"1m\" }",
            "max_attempts = 1",
            "most make fewer than three requests",
        ),
        (
            "arrivals.poisson = { rate = \"5/s\" }",
            "max_attempts = 4\nattempt_timeout = \"2s\"\nbackoff.fixed.delay = \"5s\"",
            "may take 23.000 s",
        ),
        (
            "arrivals.poisson = { rate = \"5/s\" }",
            "max_attempts = 1\n[[fault]]\nat = \"2s\"\nlasts = \"3s\"\noutage = \"stall\"",
            "only 5s remain after the last fault",
        ),
    ] {
        let (scenario, plan) = assemble(&format!("{head}{clients}\n{tail}{more}\n"));
        let warned = window_warnings(&scenario, &plan);
        assert_eq!(warned.len(), 1, "{more}: {warned:?}");
        assert!(warned[0].reason.contains(words), "{warned:?}");
    }
}

#[test]
fn failures_that_take_no_time_or_end_a_request_are_no_overload() {
    let world = |service: &str, attempts: u32| {
        format!(
            "[run]\nduration = \"60s\"\nreplications = 3\n\
             [clients]\ncount = 10\narrivals.poisson = {{ rate = \"100/s\" }}\n\
             [service.api]\nworkers = 1\nservice_time = \"8ms\"\n{service}\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = {attempts}\n"
        )
    };
    // 70 % fail on arrival: 100 × 2.77 attempts a second, of which 83 take 8 ms.
    let instant = "failures_take_time = false\nfailures = [{ code = 503, probability = \"70%\" }]";
    let permanent = "failures = [{ code = 404, probability = \"70%\" }]";
    for text in [world(instant, 5), world(permanent, 5)] {
        let summary = &results(&text).strategies[0].summary;
        assert_eq!(summary.verdict, "stable", "{text}");
    }
    // The same failures on the worker's time are too much.
    let slow = "failures = [{ code = 503, probability = \"70%\" }]";
    let summary = &results(&world(slow, 5)).strategies[0].summary;
    assert_eq!(summary.verdict, "overloaded");
}

/// A world of one service, run ten times.
fn course(run: &str, clients: &str, service: &str, strategy: &str) -> RunResult {
    results(&format!(
        "[run]\nreplications = 10\nwarmup = \"0s\"\n{run}\n[clients]\ncount = 100\n{clients}\n[service.api]\n{service}\n\
         [[strategy]]\nname = \"s\"\n{strategy}\n"
    ))
}

fn verdict(result: &RunResult) -> &'static str {
    result.strategies[0].summary.verdict
}

#[test]
fn a_slow_service_that_leaves_requests_open_has_not_collapsed() {
    let poisson = "arrivals.poisson = { rate = \"10/s\" }";
    for service in [
        "workers = \"unlimited\"\nservice_time.lognormal = { mean = \"10s\", cv = 0.5 }",
        "workers = \"unlimited\"\nservice_time = \"8s\"",
    ] {
        let result = course("duration = \"120s\"", poisson, service, "max_attempts = 1");
        assert_eq!(verdict(&result), "stable", "{service}");
    }
}

#[test]
fn clients_that_all_wait_for_ever_are_no_recovery() {
    // A hang without timeouts: nothing starts any more.
    let result = course(
        "duration = \"100s\"",
        "arrivals.closed_loop.think.exponential = { mean = \"1s\" }",
        "workers = 200\nservice_time = \"10ms\"\n[[fault]]\nat = \"30s\"\nlasts = \"10s\"\noutage = \"hang\"",
        "max_attempts = 1",
    );
    assert_eq!(verdict(&result), "collapsed");
}

#[test]
fn a_fault_is_no_part_of_its_baseline() {
    // The first bin of 30 s holds the start of the fault.
    let result = results(
        "[run]\nreplications = 2\nduration = \"1h\"\n[clients]\ncount = 10\narrivals.periodic = { rate = \"10/s\" }\n\
         [service.api]\nworkers = 10\nservice_time = \"10ms\"\n\
         [[fault]]\nat = \"10s\"\nlasts = \"10m\"\noutage = \"refuse\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
    );
    assert_eq!(verdict(&result), "recovered");
    assert_eq!(result.strategies[0].each[0].row.baseline_success, 1.0);
}

#[test]
fn luck_of_few_requests_is_neither_a_departure_nor_a_collapse() {
    let rare = "workers = \"unlimited\"\nservice_time = \"1ms\"\nfailures = [{ code = 503, probability = \"0.1%\" }]\n\
         [[fault]]\nat = \"30s\"\nlasts = \"1s\"\nlatency = \"1ms\"";
    let poisson = "arrivals.poisson = { rate = \"10/s\" }";
    let result = course("duration = \"100s\"", poisson, rare, "max_attempts = 1");
    assert_eq!(verdict(&result), "stable");
    let sparse = "workers = \"unlimited\"\nservice_time = \"1ms\"\nfailures = [{ code = 503, probability = \"30%\" }]";
    let poisson = "arrivals.poisson = { rate = \"0.1/s\" }";
    let result = course("duration = \"300s\"", poisson, sparse, "max_attempts = 1");
    assert_eq!(result.strategies[0].summary.collapsed_replications, 0);
}

#[test]
fn a_burst_that_is_spread_out_has_a_before_and_an_after() {
    let result = course(
        "duration = \"100s\"",
        "arrivals.burst = { requests = 20, spread = \"100s\" }",
        "workers = 100\nservice_time = \"10ms\"\n[[fault]]\nat = \"30s\"\nlasts = \"10s\"\noutage = \"refuse\"",
        "max_attempts = 1",
    );
    assert_eq!(verdict(&result), "recovered");
}

#[test]
fn a_border_is_not_claimed_where_service_or_network_take_the_timeout() {
    let border_of = |service: &str, strategy: &str| {
        let text = format!(
            "[run]\nduration = \"60s\"\nreplications = 1\n[clients]\ncount = 10\narrivals.poisson = {{ rate = \"50/s\" }}\n\
             [service.api]\n{service}\n[[strategy]]\nname = \"s\"\nmax_attempts = 3\n{strategy}\n"
        );
        border(&assemble(&text).1, 0)
    };
    for (service, strategy) in [
        (
            "workers = 100\nqueue = { capacity = 90 }\nservice_time.lognormal = { mean = \"500ms\", cv = 0.1 }",
            "attempt_timeout = \"600ms\"",
        ),
        (
            "workers = 10\nqueue = { capacity = 9 }\nservice_time = \"1s\"",
            "attempt_timeout = \"1200ms\"",
        ),
        (
            "workers = 1\nqueue = { capacity = 50 }\nservice_time = \"10ms\"\nnetwork = { request = \"300ms\", response = \"300ms\" }",
            "attempt_timeout = \"1s\"",
        ),
        (
            "workers = 1\nservice_time = \"200ms\"\nqueue = { discipline = \"lifo\" }",
            "attempt_timeout = \"100ms\"",
        ),
        (
            "workers = 1\nservice_time = \"10ms\"\nqueue = { capacity = 150 }",
            "attempt_timeout = \"1s\"",
        ),
        (
            "workers = 1\nservice_time = \"10ms\"",
            "dead_letters.redrive.after.delay = \"10s\"",
        ),
    ] {
        assert!(border_of(service, strategy).is_err(), "{service}");
    }
    let kept = border_of(
        "workers = 1\nservice_time = \"10ms\"",
        "dead_letters.redrive = \"never\"",
    );
    assert!(kept.is_ok());
    // Failures that are not retried add no attempts.
    let permanent =
        "workers = 1\nservice_time = \"10ms\"\nfailures = [{ code = 404, probability = \"20%\" }]";
    assert!((border_of(permanent, "").unwrap().per_s - 100.0).abs() < 1e-9);
}
