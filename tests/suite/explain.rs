//! `explain`: the words and the arithmetic of a strategy.
//!
//! After a wanted change `UPDATE_GOLDEN=1 cargo test --release explain` writes the texts in `tests/data/explain`
//! anew, and the difference shows what has changed.

use crate::random_scenarios::{cases, scenario};
use crate::support::assemble;
use proptest::prelude::*;
use retrystorm::experiment::border;
use retrystorm::explain::{Section, explain, explain_service};
use retrystorm::scenario::{Plan, Scenario};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn program(columns: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrystorm"))
        .current_dir(root())
        .env("COLUMNS", columns)
        .env("LC_ALL", "C.UTF-8")
        .env_remove("TERM")
        .arg("explain")
        .args(arguments)
        .output()
        .unwrap()
}

fn printed(columns: &str, arguments: &[&str]) -> String {
    let output = program(columns, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {errors}");
    assert_eq!(errors, "", "{arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_text_is_that_of_last_time_in_both_widths() {
    for name in ["aws_like", "shared_guards", "long_waits"] {
        for columns in ["80", "120"] {
            let file = format!("tests/data/explain/{name}.toml");
            let found = printed(columns, &[&file]);
            let golden = root().join(format!("tests/data/explain/{name}.{columns}.txt"));
            if std::env::var_os("UPDATE_GOLDEN").is_some() {
                fs::write(&golden, &found).unwrap();
            }
            let expected = fs::read_to_string(&golden).unwrap();
            assert!(
                found == expected,
                "{name} at {columns} columns is now\n{found}\nIf this is wanted: UPDATE_GOLDEN=1 cargo test --release explain"
            );
            let most: usize = columns.parse().unwrap();
            for line in found.lines() {
                assert!(line.chars().count() <= most, "{line}");
            }
        }
    }
}

/// What is said of a strategy, its table row by row.
fn flat(sections: &[Section]) -> String {
    let mut text = String::new();
    for section in sections {
        text += &format!("{}\n{}\n", section.title, section.lines.join("\n"));
        let rows = section.figures.iter().flat_map(|figures| &figures.rows);
        for row in rows {
            text += &format!("{}\n", row.join(" | "));
        }
    }
    text.replace('\u{a0}', " ")
}

/// What is said of the only strategy of a world with 2,000 clients and 300 requests a second.
fn said(strategy: &str) -> String {
    let (scenario, plan) = assemble(&format!(
        "[run]\nduration = \"60s\"\n[clients]\ncount = 2000\narrivals.poisson = {{ rate = \"300/s\" }}\n\
         [service.api]\nworkers = 40\nservice_time = \"100ms\"\nfailures = [{{ code = 503, probability = \"20%\" }}]\n\
         [[strategy]]\nname = \"a\"\n{strategy}"
    ));
    flat(&explain(&scenario, &plan, 0))
}

#[track_caller]
fn holds(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

#[test]
fn full_jitter_has_the_figures_of_a_hand() {
    let text = said(
        "max_attempts = 10\nbackoff.exponential = { base = \"100ms\", cap = \"10s\", jitter = \"full\" }",
    );
    holds(
        &text,
        &[
            "wait n = random(0, min(cap, base × factor^(n − 1)))",
            "here: wait n = random(0, min(10s, 100ms × 2^(n − 1)))",
            // d = 100, 200, … 6,400, 10,000, 10,000 ms; the mean is d ÷ 2; sums are 300 ms and 32.7 s.
            "\n1 | 0 s | 50 ms | ",
            " | 100 ms | 0 s | 50 ms | ",
            "\n2 | 0 s | 100 ms | ",
            " | 200 ms | 0 s | 150 ms | ",
            " | 300 ms\n",
            "\n7 | 0 s | 3.2 s | ",
            "\n9 | 0 s | 5 s | ",
            " | 10 s | 0 s | 16.4 s | ",
            " | 32.7 s\n",
            // U(0, 2d) below U(0, d): 1/4. U(0, 10) below U(0, 6.4): 6.4 ÷ 20.
            "1/4 up to retry 7, 32 % at retry 8 and 1/2 at retry 9",
            // 1 − 0.2^10 = 0.9999999; (1 − 0.2^10) ÷ 0.8 = 1.25.
            "success >99.99 %, 1 − 0.2^10; 1.25 attempts a request",
        ],
    );
    // The highest percent of U(0, 10 s) begins at 9.9 s; 100,000 draws miss it by 3 ms (standard error).
    let row = text.lines().find(|line| line.starts_with("9 | ")).unwrap();
    let p99: f64 = row
        .split(" | ")
        .nth(3)
        .unwrap()
        .trim_end_matches(" s")
        .parse()
        .unwrap();
    assert!((p99 - 9.9).abs() < 0.015, "{row}");
}

#[test]
fn budgets_have_the_figures_of_a_hand() {
    let backoff = "max_attempts = 3\nbackoff.fixed.delay = \"1s\"\n";
    for (budget, parts) in [
        (
            "token_bucket = { capacity = 100, per_request = 0.1, scope = \"shared\" }",
            &[
                "All 2,000 clients share one.",
                "grants 100 retries at once.",
                "1 + 0.1 = 1.1 attempts a request for ever",
            ][..],
        ),
        (
            "token_bucket = { capacity = 10, per_request = 5 }",
            &[
                "2,000 × 10 = 20,000 for all clients",
                "1 + 2 = 3 attempts a request for ever, all that a request may make",
            ],
        ),
        (
            "token_bucket = { capacity = 10, refill = \"0.03/s\" }",
            // 0.03 · 2,000 = 60 a second; 60 ÷ 300 = 0.2.
            &[
                "0.03 retries a second for each client, 60 a second in all",
                "up to 1 + 0.2 = 1.2 attempts",
            ],
        ),
        (
            "quota = {}",
            &[
                "100 retries at once, 2,000 × 100 = 200,000 for all clients; after timeouts 50, 2,000 × 50 = 100,000",
                "A retry takes 5, 10 after a timeout.",
                "1 attempt a request until",
            ],
        ),
        (
            "count = { retries = 60, per = \"60s\", scope.process.clients = 50 }",
            // 40 processes, one retry a second each: 40 ÷ 300 = 0.133.
            &[
                "40 in all",
                "40 × 60 = 2,400",
                "up to 1 + 0.133 = 1.13 attempts",
            ],
        ),
        (
            "token_bucket = { capacity = 1, scope = \"call\" }",
            &[
                "Every request starts with a new one",
                "every request has a full one",
            ],
        ),
    ] {
        holds(&said(&format!("{backoff}budget.{budget}")), parts);
    }
}

/// A border by what the budget leaves would be too high: every request brings a full one.
#[test]
fn a_budget_of_each_request_gives_no_border() {
    let text = |scope: &str| {
        format!(
            "[run]\nduration = \"60s\"\n[clients]\ncount = 20\narrivals.poisson = {{ rate = \"300/s\" }}\n\
             [service.api]\nworkers = 40\nservice_time = \"100ms\"\n\
             [[strategy]]\nname = \"a\"\nmax_attempts = 3\nattempt_timeout = \"1s\"\nbackoff.fixed.delay = \"1s\"\n\
             budget.token_bucket = {{ capacity = 10, per_request = 0.1, scope = \"{scope}\" }}"
        )
    };
    assert!(border(&assemble(&text("client")).1, 0).is_ok());
    let why = border(&assemble(&text("call")).1, 0).unwrap_err();
    assert!(why.contains("full budget of its own"), "{why}");
}

#[test]
fn breakers_have_the_figures_of_a_hand() {
    let backoff = "max_attempts = 3\nbackoff.fixed.delay = \"1s\"\n";
    for (breaker, parts) in [
        (
            "consecutive = { failures = 5, open_for = \"10s\", scope.process.clients = 50 }",
            &[
                "after 5 failures in a row",
                "at least 40 × 5 = 200 failed attempts",
                "1 probe in 10s for each process, about 4 a second in all",
            ][..],
        ),
        (
            "failure_rate = { window.count.calls = 20, rate = \"50%\", open_for = \"5s\", scope = \"shared\" }",
            // A hundred results are more than the window holds, so twenty are enough.
            &[
                "50 % of the last 20 results",
                "judged from 20 results on",
                "open after 20 failed attempts",
                "1 probe in 5s",
            ],
        ),
        (
            "consecutive = { failures = 5, open_for = \"10s\", scope = \"call\" }",
            &["a request has made all its attempts before its breaker opens"],
        ),
    ] {
        holds(&said(&format!("{backoff}breaker.{breaker}")), parts);
    }
}

#[test]
fn a_deadline_that_cuts_is_told_with_the_attempts_that_start_before_it() {
    let four = "max_attempts = 4\nattempt_timeout = \"2s\"\nbackoff.fixed.delay = \"500ms\"\n";
    // Attempts start at 0, 2.5, 5 and 7.5 s and end at 9.5 s.
    holds(
        &said(four),
        &[
            "takes 1.5 s at the least",
            "9.5 s at the most (4 × 2s of attempts that time out and 1.5 s of waits)",
        ],
    );
    holds(
        &said(&format!("{four}deadline = \"6s\"")),
        &[
            "6 s at the most: the deadline ends it",
            "3 of 4 attempts start within 6s, so the deadline ends the request",
        ],
    );
    holds(
        &said(&format!("{four}deadline = \"60s\"")),
        &[
            "9.5 s at the most",
            "4 of 4 attempts start within 60s, so the limit on attempts ends the request",
        ],
    );
    // The third attempt ends at 7 s; at 4.5 s the second had failed in time.
    holds(
        &said(&format!(
            "{four}deadline = \"5s\"\ndeadline_check = \"between_attempts\""
        )),
        &["7.5 s at the most", "3 of 4 attempts start within 5s"],
    );
    holds(
        &said(&format!("{four}callers = {{ patience = \"4s\" }}")),
        &[
            "4 s at the most: the going of its caller ends it",
            "2 of 4 attempts",
        ],
    );
}

/// The files of the gallery.
fn gallery() -> Vec<String> {
    let files = fs::read_dir(root().join("scenarios")).unwrap();
    let files = files.map(|file| file.unwrap().path());
    let mut files: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| path.display().to_string())
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the gallery was not found");
    files
}

#[test]
fn every_scenario_of_the_gallery_is_explained_in_a_few_lines_a_strategy() {
    for file in gallery() {
        let output = program("80", &[&file]);
        assert_eq!(output.status.code(), Some(0), "{file}");
        let text = String::from_utf8(output.stdout).unwrap();
        for part in text.split("\n\n\n").skip(1) {
            let lines = part.lines().count();
            assert!((4..200).contains(&lines), "{file}: {lines} lines\n{part}");
        }
        assert_sound(&text);
    }
}

#[test]
fn only_what_is_asked_for_is_explained_and_settings_are_laid_over() {
    let file = "scenarios/restart_herd.toml";
    let one = [
        "--only",
        "full jitter",
        "--set",
        "strategy[4].max_attempts=3",
    ];
    let text = printed("80", &[&[file][..], &one].concat());
    assert!(text.starts_with("restart_herd: "), "{text}");
    assert!(text.contains("\n\n\nfull jitter\n"), "{text}");
    assert!(
        text.contains("Up to 3 attempts") && !text.contains("decorrelated"),
        "{text}"
    );
    let unknown = program("80", &[file, "--only", "ful jitter"]);
    assert_eq!(unknown.status.code(), Some(2));
    let told = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(
        told.contains("did you mean \"full jitter\"?") && unknown.stdout.is_empty(),
        "{told}"
    );
    assert_eq!(
        program("80", &[file, "--set", "run.x=1"]).status.code(),
        Some(2)
    );
}

#[test]
fn a_warning_stands_with_its_strategy_and_nowhere_else() {
    let output = program("80", &["scenarios/surge.toml"]);
    let (text, told) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(text.matches("\nWarnings\n").count(), 1, "{text}");
    assert!(
        text.contains("max_attempts:") && !told.contains("max_attempts"),
        "{told}"
    );
}

/// No figure that is none.
fn assert_sound(text: &str) {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '.');
    for word in words {
        let bad = ["NaN", "inf", "-inf", "infinity"].contains(&word);
        let negative = word.starts_with('-') && word[1..].starts_with(|c: char| c.is_ascii_digit());
        assert!(!bad && !negative, "`{word}` in\n{text}");
    }
}

proptest! {
    #![proptest_config(cases(60, 61))]

    #[test]
    #[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
    fn any_scenario_is_explained_soon_and_in_sound_figures(random in scenario()) {
        let scenario = Scenario::parse("random", &random.text, Path::new(".")).unwrap();
        let plan = Plan::assemble(&scenario).unwrap();
        for strategy in 0..plan.strategies.len() {
            let began = Instant::now();
            let sections = explain(&scenario, &plan, strategy);
            prop_assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
            assert_sound(&flat(&sections));
        }
        assert_sound(&flat(&[explain_service(&plan)]));
    }
}

/// The longest and widest settings there are.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn extreme_settings_are_explained_soon_and_in_sound_figures() {
    for backoff in [
        "exponential = { base = \"366d\", factor = 1e300, jitter = \"raw_to_double\" }",
        "exponential = { base = \"1ns\", factor = 0, jitter = \"full\" }",
        "polynomial = { base = \"1ns\", power = 1e300, jitter.lognormal = { sigma = 10 } }",
        "decorrelated = { base = \"1ns\", cap = \"366d\", factor = 1.1 }",
        "decorrelated = { base = \"1s\", cap = \"366d\", factor = 1e300 }",
        "memoryless.mean = \"366d\"",
        "fibonacci = { base = \"0s\" }",
    ] {
        let began = Instant::now();
        for attempts in ["1000000", "\"unlimited\""] {
            let text = said(&format!(
                "max_attempts = {attempts}\nattempt_timeout = \"366d\"\nbackoff.{backoff}\n\
                 budget.token_bucket = {{ capacity = 1e9, cost = 0.000001, refill = \"1e9/s\" }}\n\
                 throttle = {{ k = 1e300 }}"
            ));
            assert_sound(&text);
        }
        assert!(
            began.elapsed() < Duration::from_secs(4),
            "{backoff}: {:?}",
            began.elapsed()
        );
    }
}
