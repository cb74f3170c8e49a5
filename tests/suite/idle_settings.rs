//! Settings that change nothing are named, with what makes them idle; so is time that is not enough.

use retrystorm::scenario::{Plan, Scenario};
use std::path::Path;

const SERVICE: &str = "workers = 10\nservice_time = \"10ms\"";
const STRATEGY: &str =
    "max_attempts = 3\nattempt_timeout = \"1s\"\nbackoff.fixed.delay = \"100ms\"";

/// The reasons of the warnings about a scenario with this service and this strategy, which must be free of errors.
fn warnings(service: &str, strategy: &str) -> Vec<String> {
    let text = format!(
        "[run]\nduration = \"10s\"\n[clients]\ncount = 10\narrivals.poisson.rate = \"10/s\"\n\
         [service.api]\n{service}\n[[strategy]]\nname = \"s\"\n{strategy}\n"
    );
    let scenario = Scenario::parse("a.toml", &text, Path::new(""))
        .unwrap_or_else(|error| panic!("{text}{:#?}", error.problems));
    assert!(Plan::assemble(&scenario).is_ok(), "{text}");
    let reasons = scenario
        .warnings
        .iter()
        .map(|problem| problem.reason.clone());
    reasons.collect()
}

#[test]
fn every_idle_setting_of_a_strategy_is_named_and_a_working_one_is_not() {
    assert_eq!(warnings(SERVICE, STRATEGY), [""; 0]);
    for (idle, working, reason) in [
        (
            "budget.token_bucket = { capacity = 5, cost = 0 }",
            "budget.token_bucket = { capacity = 5, cost = 0, above = 1 }",
            "retries cost nothing",
        ),
        (
            "breaker.consecutive = { failures = 5, open_for = \"1s\", counts = [] }",
            "breaker.consecutive = { failures = 5, open_for = \"1s\", counts = [503] }",
            "nothing counts as a failure",
        ),
        (
            "hedge.after.fixed.delay = \"1s\"",
            "hedge.after.fixed.delay = \"999ms\"",
            "no hedge is ever sent",
        ),
        (
            "dead_letters = { most_redrives = 3 }",
            "dead_letters = { most_redrives = 3, redrive.rate.rate = \"1/s\" }",
            "no letter ever comes back",
        ),
        (
            "dead_letters = { retention = \"0s\" }",
            "dead_letters = { retention = \"1s\" }",
            "no letter is ever kept",
        ),
        (
            "deadline = \"5s\"\ncallers.patience = \"5s\"",
            "deadline = \"5s\"\ncallers.patience = \"4s\"",
            "never leave",
        ),
        ("hints.heed.replace = {}", "", "no service tells"),
        (
            "deadline = \"3199ms\"",
            "deadline = \"3200ms\"",
            "number 3 ends after 3.2s (3 × 1s and 200ms of waits), and the deadline is 3.199s",
        ),
        (
            "callers.patience = \"2s\"",
            "callers.patience = \"4s\"",
            "number 2 ends after 2.1s (2 × 1s and 100ms of waits), and the patience of callers is 2s",
        ),
        (
            "deadline = \"500ms\"",
            "deadline = \"4s\"",
            "longer than the deadline",
        ),
    ] {
        let with = |setting: &str| warnings(SERVICE, &format!("{STRATEGY}\n{setting}"));
        let named = with(idle);
        assert!(
            named.len() == 1 && named[0].contains(reason),
            "{idle}: {named:#?}"
        );
        assert_eq!(with(working), [""; 0], "{working}");
    }
    let health = "max_attempts = 3\nhealth = { window = \"10m\", above = \"50%\", factor = 5 }";
    let named = warnings(SERVICE, health);
    assert!(
        named.len() == 1 && named[0].contains("`health` has no effect"),
        "{named:#?}"
    );
}

#[test]
fn settings_of_retries_that_are_never_made_are_named() {
    for (set, reason) in [
        (
            "max_attempts = 1\nbackoff.fixed.delay = \"1s\"",
            "the backoff has no effect: `max_attempts = 1` means no retries",
        ),
        (
            "max_attempts = 1\nbudget.share.ratio = \"10%\"",
            "`budget` has no effect: one attempt leaves no retry",
        ),
        (
            "max_attempts = 3\nretry_on = []\nbudget.share.ratio = \"10%\"",
            "`budget` has no effect: no outcome is retried",
        ),
        (
            "max_attempts = 3\nretry_on = [503]\nnever_retry = [503]\nbackoff.fixed.delay = \"1s\"",
            "`backoff` has no effect: no outcome is retried",
        ),
    ] {
        assert_eq!(warnings(SERVICE, set), [reason], "{set}");
    }
    let not_timeouts =
        "max_attempts = 3\nretry_on = [\"5xx\"]\nattempt_timeout = \"3s\"\ndeadline = \"5s\"";
    assert_eq!(warnings(SERVICE, not_timeouts), [""; 0]);
}

#[test]
fn three_attempts_of_three_seconds_do_not_fit_into_a_call_of_five() {
    let named = warnings(
        SERVICE,
        "max_attempts = 3\nattempt_timeout = \"3s\"\ndeadline = \"5s\"",
    );
    let expected = "3 attempts do not fit: if they time out, number 2 ends after 6s (2 × 3s), and the deadline is 5s";
    assert_eq!(named, [expected]);
}

#[test]
fn every_idle_setting_of_a_service_is_named_and_a_working_one_is_not() {
    for (idle, working, reason) in [
        (
            "retry_after = \"free\"",
            "retry_after = \"free\"\nrate_limit.bucket = { rate = \"5/s\", burst = 5 }",
            "nothing that frees up",
        ),
        (
            "retry_after_on = [503]",
            "retry_after_on = [503]\nretry_after.fixed.after = \"1s\"",
            "no wait is told",
        ),
        (
            "on_abandon = \"stop_at_deadline\"",
            "",
            "no strategy has a deadline",
        ),
    ] {
        let with = |setting: &str| warnings(&format!("{SERVICE}\n{setting}"), STRATEGY);
        let named = with(idle);
        assert!(
            named.len() == 1 && named[0].contains(reason),
            "{idle}: {named:#?}"
        );
        assert_eq!(with(working), [""; 0], "{working}");
    }
}
