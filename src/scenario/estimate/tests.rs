//! Tests of the estimate.

use super::*;

#[test]
fn large_numbers_are_easy_to_compare() {
    assert_eq!(count(96_000.0), "96000");
    assert_eq!(count(2e8), "200 million");
    assert_eq!(count(4.2e10), "42 billion");
    assert_eq!(count(1.25e12), "1 trillion");
    assert_eq!(memory(MOST_MEMORY), "8 GiB");
    assert_eq!(memory(5e8), "477 MiB");
}

const USUAL: &str = r#"
    run.duration = "60s"
    clients = { count = 100, arrivals.poisson = { rate = "50/s" } }
    service.api = { workers = 10, service_time = "50ms" }
    fault = [{ at = "10s", lasts = "5s", outage = "refuse" }]
    strategy = [{ name = "a", max_attempts = 3 }]
"#;

fn estimate(settings: &[(&str, &str)]) -> Result<Estimate, String> {
    let text = settings.iter().fold(USUAL.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replace(from, to)
    });
    let home = std::path::Path::new(".");
    let scenario = Scenario::parse("a", &text, home).expect("a sound scenario");
    let plan = crate::scenario::Plan::assemble(&scenario);
    plan.map(|plan| plan.estimate)
        .map_err(|problems| problems[0].reason.clone())
}

#[test]
fn a_usual_run_is_cheap() {
    let estimate = estimate(&[]).unwrap();
    assert_eq!(estimate.requests, 3_000.0);
    assert!(estimate.world_bytes < 3e6, "{estimate:?}");
}

#[test]
fn what_rules_remember_is_named_when_it_is_too_much() {
    let breaker = "{ failure_rate = { rate = \"50%\", window.count.calls = 1000000, open_for = \"1s\", scope = \"client\" } }";
    let strategy = format!("max_attempts = 3, breaker = {breaker}");
    let with = |count: &str| estimate(&[("max_attempts = 3", &strategy), ("count = 100", count)]);
    let many = with("count = 1000000").unwrap_err();
    assert!(many.contains("what budgets, breakers"), "{many}");
    let few = with("count = 10").unwrap();
    let states = 10.0 * 250_000.0;
    assert!(
        (states..1.01 * states).contains(&few.guard_bytes),
        "{few:?}"
    );
}

#[test]
fn closed_loops_cost_what_their_rounds_take() {
    const RATE: &str = "poisson = { rate = \"50/s\" }";
    let closed = |think: &str, more: &[(&str, &str)]| {
        let arrivals = format!("closed_loop = {{ think = \"{think}\" }}");
        estimate(&[&[(RATE, arrivals.as_str())], more].concat())
    };
    let no_fault = ("outage = \"refuse\"", "latency = \"1ms\"");
    // 10 workers finish 200 a second; with a second of pause, 100 clients ask 95 a second.
    assert_eq!(closed("0s", &[no_fault]).unwrap().requests, 12_100.0);
    let paused = closed("1s", &[no_fault]).unwrap().requests;
    assert!((paused - 5_814.0).abs() < 1.0, "{paused}");
    // The same requests are refused at once, or take no time.
    for more in [
        &[][..],
        &[no_fault, ("\"50ms\"", "\"zero\"")],
        &[
            no_fault,
            ("workers = 10", "workers = 10, queue = { capacity = 3 }"),
        ],
        &[("outage = \"refuse\"", "slow_down = 0")],
    ] {
        assert!(
            closed("0s", more).unwrap_err().contains("stop the clock"),
            "{more:?}"
        );
    }
}

#[test]
fn areas_that_do_not_fit_64_bits_are_refused() {
    let year = "\"366d\", replications = 1000";
    let text = USUAL.replace(
        "run.duration = \"60s\"",
        &format!("run = {{ duration = {year} }}"),
    );
    assert!(text.contains("366d"));
    let text = text
        .replace("50/s", "5/s")
        .replace("count = 100", "count = 1000000");
    let closed = text.replace(
        "poisson = { rate = \"5/s\" }",
        "closed_loop.think = \"100d\"",
    );
    let scenario = Scenario::parse("a", &closed, std::path::Path::new(".")).expect("sound");
    let problems = crate::scenario::Plan::assemble(&scenario).expect_err("too large");
    assert_eq!(problems[0].path, "run.bin", "{problems:?}");
}

#[test]
fn attempts_without_end_are_refused() {
    for (settings, part) in [
        (&[("= 3", "= 1000000")][..], "250 million"),
        (
            &[("= 3", "= 1000000, attempt_timeout = \"1us\"")],
            "more than the limit",
        ),
        (
            &[
                ("50/s", "300/s"),
                (
                    "= 3",
                    "= \"unlimited\", attempt_timeout = \"1ms\", backoff.fixed.delay = \"1ms\"",
                ),
            ],
            "more than the limit",
        ),
        (&[("50/s", "5000000/s")], "more than the limit"),
        (&[("50/s", "1000000/s")], "GiB of memory"),
    ] {
        let reason = estimate(settings).expect_err(part);
        assert!(reason.contains(part), "{settings:?}: {reason}");
    }
    let usual = "= \"unlimited\", attempt_timeout = \"1s\", backoff.fixed.delay = \"1s\"";
    assert!(estimate(&[("= 3", usual)]).is_ok());
}
