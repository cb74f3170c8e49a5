//! Every formula that a run can be held against: that it is found where it fits, that the run agrees with it, and that
//! where none fits the reason is told.

use crate::support::results;
use retrystorm::experiment::{CHANCE, TheoryRow};

/// A world in steady state with ten replications.
fn world(clients: &str, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nwarmup = \"200s\"\nduration = \"4200s\"\ndrain = \"100s\"\nbin = \"20s\"\nreplications = 20\nseed = 11\n\
         [clients]\n{clients}\n[service.api]\n{service}\n[[strategy]]\nname = \"s\"\n{strategy}\n"
    )
}

fn rows(text: &str) -> Vec<TheoryRow> {
    let mut result = results(text);
    result.strategies.swap_remove(0).theory_rows
}

const POISSON: &str = "count = 100\narrivals.poisson = { rate = \"8/s\" }";
const ONCE: &str = "max_attempts = 1";

fn exponential(workers: &str, mean: &str, more: &str) -> String {
    format!("workers = {workers}\nservice_time.exponential = {{ mean = \"{mean}\" }}\n{more}")
}

#[test]
fn every_formula_is_found_where_it_fits_and_agrees() {
    let closed = "count = 20\narrivals.closed_loop.think.exponential = { mean = \"10s\" }";
    let again = "max_attempts = \"unlimited\"\nbackoff.memoryless.mean = \"500ms\"";
    let thrice = "max_attempts = 3\nbackoff.memoryless.mean = \"500ms\"";
    let leaving = "max_attempts = 1\ntimeout_covers = \"wait\"\nattempt_timeout";
    let cases: [(&str, &str, String, String, usize); 14] = [
        ("M/M/c (Erlang C)", POISSON, exponential("2", "200ms", ""), ONCE.into(), 5),
        ("M/M/c/K", POISSON, exponential("2", "200ms", "queue.capacity = 5"), ONCE.into(), 5),
        (
            "M/M/c/c (Erlang B)",
            POISSON,
            exponential("2", "200ms", "queue.capacity = 0"),
            ONCE.into(),
            5,
        ),
        (
            "M/G/1 (Pollaczek–Khinchine)",
            POISSON,
            "workers = 1\nservice_time.lognormal = { mean = \"80ms\", cv = 1.5 }".into(),
            ONCE.into(),
            3,
        ),
        (
            "M/G/∞",
            POISSON,
            "workers = \"unlimited\"\nservice_time.uniform = { min = \"0s\", max = \"2s\" }".into(),
            ONCE.into(),
            2,
        ),
        (
            "M/M/c with fixed patience",
            POISSON,
            exponential("2", "300ms", ""),
            format!("{leaving} = \"500ms\""),
            2,
        ),
        (
            "M/M/c with exponential patience (Erlang A)",
            POISSON,
            exponential("2", "300ms", ""),
            format!("{leaving}.exponential = {{ mean = \"1s\" }}"),
            3,
        ),
        (
            "M/M/1/K with a timeout unknown to the service",
            POISSON,
            exponential("1", "100ms", "queue.capacity = 20"),
            "max_attempts = 1\nattempt_timeout = \"500ms\"".into(),
            1,
        ),
        ("retrial queue", POISSON, exponential("2", "200ms", "queue.capacity = 0"), again.into(), 3),
        (
            "refusals with at most k attempts (Markov chain)",
            POISSON,
            exponential("1", "150ms", "queue.capacity = 1"),
            thrice.into(),
            3,
        ),
        ("finite source (machine repair)", closed, exponential("1", "500ms", ""), ONCE.into(), 3),
        ("Engset", closed, exponential("2", "500ms", "queue.capacity = 0"), ONCE.into(), 2),
        (
            "closed loop (renewal reward)",
            closed,
            "workers = \"unlimited\"\nservice_time = \"1s\"\nfailures = [{ code = 503, probability = \"40%\" }]"
                .into(),
            "max_attempts = 4\nbackoff.exponential = { base = \"1s\", jitter = \"full\" }".into(),
            1,
        ),
        (
            CHANCE,
            POISSON,
            "workers = \"unlimited\"\nservice_time = \"10ms\"\nfailures = [{ code = 503, probability = \"40%\" }]"
                .into(),
            "max_attempts = 4\nbackoff.exponential = { base = \"1s\", jitter = \"full\" }".into(),
            3,
        ),
    ];
    for (formula, clients, service, strategy, figures) in cases {
        let rows = rows(&world(clients, &service, &strategy));
        let of: Vec<&TheoryRow> = rows.iter().filter(|row| row.formula == formula).collect();
        assert_eq!(of.len(), figures, "{formula}: {rows:#?}");
        for row in of {
            let (predicted, observed) = (row.predicted.unwrap(), row.observed.unwrap());
            let half = (row.observed_high.unwrap() - row.observed_low.unwrap()) / 2.0;
            println!(
                "{formula}: {:?} {observed} against {predicted}, z = {:?}",
                row.quantity, row.z
            );
            assert!(row.z.is_none_or(|z| z.abs() < 4.0), "{row:?}");
            let exact = row.z.is_none();
            assert!(!exact || (observed - predicted).abs() < 1e-9, "{row:?}");
            assert!(half <= 0.06 * predicted + 1e-9, "too vague: {row:?}");
        }
    }
}

#[test]
fn a_herd_in_lockstep_drains_when_counting_says() {
    let text = "[run]\nduration = \"60s\"\nreplications = 2\n\
         [clients]\ncount = 1000\narrivals.burst = {}\n\
         [service.api]\nworkers = 1\nservice_time = \"5ms\"\n\
         [[fault]]\nat = \"0s\"\nlasts = \"1050ms\"\noutage = \"refuse\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\nbackoff.exponential = { base = \"100ms\", factor = 2, cap = \"10s\" }\n";
    let rows = rows(text);
    // Tries at 0, 0.1, 0.3, 0.7 and 1.5 s; then 1,000 × 5 ms.
    let figures: Vec<(f64, f64)> = rows
        .iter()
        .map(|row| (row.predicted.unwrap(), row.observed.unwrap()))
        .collect();
    assert_eq!(rows[0].formula, "herd in lockstep");
    assert!((figures[0].0 - 5.45).abs() < 1e-9 && (figures[0].1 - 5.45).abs() < 1e-9);
    assert_eq!(figures[1], (5.0, 5.0));
}

#[test]
fn where_no_formula_fits_the_reason_is_told() {
    let shorter = |text: String| text.replace("4200s", "300s");
    for (clients, service, strategy, why) in [
        (
            POISSON,
            exponential("1", "50ms", ""),
            "max_attempts = 2\nattempt_timeout = \"1s\"",
            "timeouts bring retries",
        ),
        (
            POISSON,
            exponential(
                "4",
                "50ms",
                "failures = [{ code = 503, probability = \"10%\" }]",
            ),
            "max_attempts = 2",
            "retries after failures come in bunches",
        ),
        (
            POISSON,
            exponential("4", "50ms", "network.request = \"1ms\""),
            ONCE,
            "the network takes time",
        ),
        (
            POISSON,
            "workers = 2\nservice_time = \"50ms\"".into(),
            ONCE,
            "service times are not exponential",
        ),
        (
            "count = 8\narrivals.periodic = { every = \"1s\" }",
            exponential("4", "50ms", ""),
            ONCE,
            "requests come neither as a Poisson process",
        ),
        (
            POISSON,
            exponential("1", "130ms", ""),
            ONCE,
            "no steady state",
        ),
        (
            "count = 20\narrivals.closed_loop.think.exponential = { mean = \"1s\" }",
            exponential(
                "1",
                "100ms",
                "failures_take_time = false\nfailures = [{ code = 503, probability = \"20%\" }]",
            ),
            ONCE,
            "failures take no service time",
        ),
        (
            POISSON,
            exponential("2", "200ms", "queue.capacity = 0"),
            "max_attempts = \"unlimited\"\nbackoff.memoryless.mean = \"20s\"",
            "short against the delays",
        ),
        (
            POISSON,
            "workers = \"unlimited\"\nservice_time = \"100s\"".into(),
            ONCE,
            "short against service times",
        ),
        (
            POISSON,
            exponential(
                "4",
                "50ms",
                "[[fault]]\nat = \"250s\"\nlasts = \"1s\"\noutage = \"stall\"",
            ),
            ONCE,
            "a fault changes the world",
        ),
        (
            POISSON,
            exponential("1", "50ms", "queue.capacity = 3"),
            "max_attempts = 1\ndead_letters.redrive.after.delay = \"10s\"",
            "dead letters come back",
        ),
        (
            POISSON,
            exponential("4", "50ms", ""),
            "max_attempts = 1\ncallers = { patience = \"1s\", cancels = false }",
            "callers go away",
        ),
    ] {
        let rows = rows(&shorter(world(clients, &service, strategy)));
        let none = rows.iter().find(|row| row.formula == "none").expect(why);
        assert!(none.note.contains(why), "{why}: {none:?}");
    }
}

#[test]
fn z_is_left_out_where_open_requests_would_move_it() {
    let text = "[run]\nwarmup = \"0s\"\nduration = \"60s\"\nreplications = 10\n\
         [clients]\ncount = 10\narrivals.poisson = { rate = \"100/s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
         failures = [{ code = 503, probability = \"50%\" }]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 5\nbackoff.exponential = { base = \"500ms\" }\n";
    let told = rows(text);
    let success = told.iter().find(|row| row.formula == CHANCE).unwrap();
    assert!(
        success.z.is_none() && success.note.contains("still open"),
        "{success:?}"
    );
    let drained = rows(&text.replace("replications", "drain = \"10s\"\nreplications"));
    let success = drained.iter().find(|row| row.formula == CHANCE).unwrap();
    assert!(success.z.is_some_and(|z| z.abs() < 4.0), "{success:?}");
}
