//! What a run does not claim, and where it ends: formulas that do not hold, storms without end, faults that
//! overlap, and files that are not its own.

use crate::support::{assemble, records, results};
use retrystorm::experiment::{self, RunError, TheoryLine};
use retrystorm::report::{OutputOptions, write_output};
use std::fs;

/// A service without limits that fails half of all attempts.
fn world(clients: &str, strategy: &str, more: &str) -> String {
    format!(
        "[run]\nduration = \"20s\"\nreplications = 2\nseed = 3\n\
         [clients]\ncount = 10\narrivals.poisson = {{ rate = \"100/s\" }}\n{clients}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"200ms\"\n\
         failures = [{{ code = 503, probability = \"50%\" }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 5\n{strategy}\n{more}"
    )
}

fn theory(text: &str) -> TheoryLine {
    results(text).strategies.remove(0).theory
}

#[test]
fn independence_is_claimed_only_where_every_request_could_make_its_attempts() {
    assert!(matches!(
        theory(&world("", "", "")),
        TheoryLine::Independent { .. }
    ));
    for (clients, strategy, why) in [
        ("pool = { size = 1, wait = \"100ms\" }", "", "a full pool"),
        (
            "",
            "deadline = \"1s\"\nbackoff.fixed.delay = \"500ms\"",
            "the deadline left no time",
        ),
        (
            "",
            "dead_letters.redrive.after.delay = \"1s\"",
            "dead letters came back",
        ),
        (
            "",
            "callers = { patience = \"300ms\", cancels = false }",
            "callers had left",
        ),
    ] {
        match theory(&world(clients, strategy, "")) {
            TheoryLine::Dependent { why: found, .. } => assert!(found.contains(why), "{found}"),
            other => panic!("{clients}{strategy}: {other:?}"),
        }
    }
}

#[test]
fn the_line_gives_the_success_of_the_table() {
    let mut result = results(&world("pool = { size = 1, wait = \"100ms\" }", "", ""));
    let strategy = result.strategies.remove(0);
    let TheoryLine::Dependent { came, .. } = strategy.theory else {
        panic!("the pool keeps requests from starting");
    };
    assert_eq!(Some(came), strategy.summary.success_rate);
}

/// Twice the load that the service can bear, a full queue, and no end to retries a millisecond apart.
fn endless(replications: u32) -> String {
    format!(
        "[run]\nduration = \"60s\"\nreplications = {replications}\nmax_requests = 100000\n\
         [clients]\ncount = 10\narrivals.poisson = {{ rate = \"500/s\" }}\n\
         [service.api]\nworkers = 1\nqueue = {{ capacity = 50 }}\nservice_time = \"5ms\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\nbackoff.fixed.delay = \"1ms\"\n"
    )
}

#[test]
fn a_storm_without_end_ends_with_an_error() {
    let text = &endless(1);
    let (scenario, plan) = assemble(text);
    let error = experiment::run(&scenario, &plan, 1, &|| ()).expect_err("it never ends");
    assert!(
        matches!(error, RunError::Endless { limit: 100_000, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("run.max_requests"), "{error}");
}

#[test]
fn faults_that_overlap_keep_their_codes() {
    let fault = |effect: &str| format!("[[fault]]\nat = \"0s\"\nlasts = \"30s\"\n{effect}\n");
    let codes = |faults: &str| {
        let text = world("", "", faults).replace("\"50%\"", "\"0%\"");
        let (_, records) = records(&text, 0);
        let mut codes: Vec<u16> = records.iter().map(|record| record.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    };
    let none = fault("error_rate = 0.0\ncode = 500");
    let all = fault("fail_all = true\ncode = 404");
    for faults in [format!("{none}{all}"), format!("{all}{none}")] {
        let codes = codes(&faults);
        assert!(codes == [404] || codes == [0, 404], "{codes:?}");
    }
    let two = fault("fail_every = 2\ncode = 500") + &fault("fail_every = 3\ncode = 429");
    let codes = codes(&two);
    assert!(codes.contains(&500) && codes.contains(&429), "{codes:?}");
}

#[test]
fn a_folder_with_a_file_of_somebody_else_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("run");
    let result = results(&world("", "", ""));
    let options = OutputOptions::default();
    write_output(&out, &result, &options, &[]).expect("a new folder");
    write_output(&out, &result, &options, &[]).expect("its own output");
    fs::write(out.join("notes.txt"), "mine").unwrap();
    let error = write_output(&out, &result, &options, &[]).expect_err("there are notes");
    assert!(
        error.to_string().contains("not the output of a run"),
        "{error}"
    );
    assert_eq!(fs::read_to_string(out.join("notes.txt")).unwrap(), "mine");
}

#[test]
fn independence_is_not_claimed_while_many_requests_are_open() {
    let text = world("", "backoff.fixed.delay = \"5s\"", "");
    match theory(&text) {
        TheoryLine::Dependent { why, .. } => assert!(why.contains("had not ended"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_failure_that_cannot_happen_does_not_break_the_formula() {
    let text = world("", "", "").replace(
        "failures = [",
        "failures = [{ code = 404, probability = \"0%\" }, ",
    );
    assert!(matches!(theory(&text), TheoryLine::Independent { .. }));
}

#[test]
fn the_first_error_ends_a_run_whatever_the_threads() {
    let text = &endless(40);
    let (scenario, plan) = assemble(text);
    let ticks = std::sync::atomic::AtomicU32::new(0);
    let count = || {
        ticks.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    };
    let alone = experiment::run(&scenario, &plan, 1, &count).expect_err("no end");
    // The worlds after the first error do not run.
    assert!(ticks.into_inner() <= experiment::PARTS);
    let together = experiment::run(&scenario, &plan, 2, &|| ()).expect_err("no end");
    assert_eq!(alone, together);
}

#[test]
fn worlds_that_run_at_once_share_the_room_and_one_that_needs_more_gets_it() {
    // Each world holds more than its share of two threads, but less than all.
    let (scenario, mut plan) = assemble(
        "[run]\nduration = \"10s\"\nreplications = 2\n\
         [clients]\ncount = 10\narrivals.poisson = { rate = \"1000/s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1h\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n",
    );
    plan.world.most_in_flight = 15_000;
    let unfinished = |result: experiment::RunResult| result.strategies[0].summary.unfinished;
    let run = |threads| experiment::run(&scenario, &plan, threads, &|| ()).map(unfinished);
    let alone = run(1).expect("there is room");
    assert!(alone > 18_000, "{alone}");
    assert_eq!(run(2), Ok(alone));
    plan.world.most_in_flight = 5_000;
    let run = |threads| experiment::run(&scenario, &plan, threads, &|| ()).map(unfinished);
    assert!(matches!(run(2), Err(RunError::Crowded { .. })));
    assert_eq!(run(1), run(2));
}
