//! Differences between strategies and between runs: what is real is found, what is not is not, and a comparison says
//! what it rests on.

use crate::program::{SMALL, folder, program, run, texts};
use crate::support::results;
use retrystorm::experiment::{ComparisonRow, Finding, RunResult};
use retrystorm::metrics::metric;
use std::fs;
use std::path::Path;

/// Attempts fail with 30 % each and nothing else happens.
fn chance(strategies: &[(&str, u32)]) -> String {
    let mut text = String::from(
        "[run]\nduration = \"60s\"\ndrain = \"10s\"\nreplications = 10\n\
         [clients]\ncount = 10\narrivals.poisson = { rate = \"100/s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"10ms\"\n\
         failures = [{ code = 503, probability = \"30%\" }]\n",
    );
    for (name, attempts) in strategies {
        text += &format!(
            "[[strategy]]\nname = \"{name}\"\nmax_attempts = {attempts}\nbackoff.fixed.delay = \"100ms\"\n"
        );
    }
    text
}

fn row<'a>(result: &'a RunResult, strategy: &str, metric: &str) -> &'a ComparisonRow {
    let row = result.comparison.row(strategy, metric);
    row.unwrap_or_else(|| panic!("{metric} of {strategy}"))
}

#[test]
fn identical_strategies_differ_in_nothing() {
    let result = results(&chance(&[("one", 3), ("two", 3)]));
    assert_eq!(result.comparison.baseline, Some(0));
    assert_eq!(result.comparison.ranking, [Finding::TooSmall]);
    for row in &result.comparison.rows {
        let real = row.verdict.is_some_and(Finding::is_real);
        assert!(!real && row.difference.unwrap_or(0.0) == 0.0, "{row:?}");
    }
    assert!(result.comparison.rows.len() >= 7);
}

#[test]
fn the_difference_of_independent_attempts_is_found_within_its_interval() {
    let result = results(&chance(&[("two", 2), ("three", 3)]));
    // The best is the baseline: 1 - p³.
    let success = row(&result, "two", "success_rate");
    let known = 0.3f64.powi(3) - 0.3f64.powi(2);
    let (low, high) = (
        success.difference_low.unwrap(),
        success.difference_high.unwrap(),
    );
    assert!(low < known && known < high, "{success:?} {known}");
    assert!(high - low < 0.01, "{success:?}");
    assert_eq!(success.verdict, Some(Finding::Worse));
    // 1 + p + p² attempts against 1 + p.
    let attempts = row(&result, "two", "amplification");
    let (low, high) = (
        attempts.difference_low.unwrap(),
        attempts.difference_high.unwrap(),
    );
    assert!(low < -0.09 && -0.09 < high, "{attempts:?}");
    assert_eq!(attempts.verdict, Some(Finding::Better));
    assert_eq!(result.comparison.ranking, [Finding::Better]);
}

#[test]
fn thresholds_decide_what_matters() {
    let text = |compare: &str| {
        chance(&[("two", 2), ("three", 3)]).replacen(
            "[run]",
            &format!("[compare]\n{compare}\n[run]"),
            1,
        )
    };
    let verdict = |compare: &str, metric: &str| {
        let result = results(&text(compare));
        (
            row(&result, "two", metric).verdict,
            result.strategies[0].summary.ties_with_best,
        )
    };
    let small = Some(Finding::TooSmall);
    assert_eq!(verdict("success = \"10%\"", "success_rate"), (small, true));
    assert_eq!(
        verdict("success = \"5%\"", "success_rate"),
        (Some(Finding::Worse), false)
    );
    assert_eq!(
        verdict("relative = \"20%\"", "amplification"),
        (small, false)
    );
    let result = results(&text("baseline = \"two\""));
    let three = row(&result, "three", "success_rate");
    assert_eq!(
        (three.baseline.as_str(), three.verdict),
        ("two", Some(Finding::Better))
    );
}

#[test]
fn pairing_narrows_intervals_in_a_herd() {
    let text = "[run]\nduration = \"40s\"\nreplications = 12\nseed = 42\n\
         [clients]\ncount = 500\narrivals.poisson = { rate = \"200/s\" }\n\
         [service.api]\nworkers = 15\nqueue = { capacity = 100 }\nservice_time.exponential.mean = \"50ms\"\n\
         [[fault]]\nat = \"10s\"\nlasts = \"5s\"\noutage = \"refuse\"\n";
    let strategy = |jitter: &str| {
        format!(
            "[[strategy]]\nname = \"{jitter}\"\nmax_attempts = 4\n\
             backoff.exponential = {{ base = \"100ms\", cap = \"10s\", jitter = \"{jitter}\" }}\n"
        )
    };
    let result = results(&format!("{text}{}{}", strategy("equal"), strategy("full")));
    for row in result.comparison.rows.iter().take(2) {
        let paired = (row.difference_high.unwrap() - row.difference_low.unwrap()) / 2.0;
        let unpaired = row.unpaired_half_width.unwrap();
        println!("{}: paired ± {paired}, unpaired ± {unpaired}", row.metric);
        assert!(paired > 0.0 && paired < 0.8 * unpaired, "{row:?}");
    }
}

#[test]
fn a_cost_is_its_prices_times_its_counts() {
    let cost = "[cost]\nattempt = 0.25\nwaiting_second = 3\nfailed_request = 7\n[run]";
    let text = chance(&[("three", 3), ("two", 2)]).replacen("[run]", cost, 1);
    let result = results(&text);
    let strategy = &result.strategies[0];
    // Everything takes a constant time, so a request of j attempts waits for j services and j - 1 backoffs.
    let seconds = |attempts: usize| 0.01 * attempts as f64 + 0.1 * (attempts as f64 - 1.0);
    let total = &strategy.total;
    let with = |ended: &[u64], first: usize| -> f64 {
        let ended = ended.iter().enumerate();
        ended.map(|(i, &n)| n as f64 * seconds(i + first)).sum()
    };
    assert_eq!(total.failed_with[0], 0, "all requests started");
    let waited = with(&total.succeeded_with, 1) + with(&total.failed_with[1..], 1);
    let written: f64 = strategy.each.iter().map(|run| run.row.waiting_s).sum();
    assert!(
        (written - waited).abs() < 1e-6 * waited,
        "{written} {waited}"
    );
    for run in &strategy.each {
        let row = &run.row;
        let cost = 0.25 * row.attempts as f64 + 3.0 * row.waiting_s + 7.0 * row.failed as f64;
        let each = cost / row.requests as f64 * 1e3;
        assert!((row.cost_per_1000_requests.unwrap() - each).abs() < 1e-9 * each);
    }
    // What a check asks for is what the summary says, and the comparison has it too.
    let metric = metric("cost_per_1000_requests").unwrap();
    let checked = metric
        .estimate(&strategy.summary, &strategy.each, 0.95)
        .unwrap();
    assert_eq!(Some(checked.mean), strategy.summary.cost_per_1000_requests);
    assert_eq!(checked.low, strategy.summary.cost_per_1000_requests_low);
    let two = row(&result, "two", "cost_per_1000_requests");
    assert_eq!(
        two.verdict,
        Some(Finding::Worse),
        "failures cost more: {two:?}"
    );
    assert!(result.currency.is_some());
}

/// Runs `small.toml` into `out/small`; it must succeed.
fn into(dir: &Path, out: &str, more: &[&str]) -> String {
    let arguments = [
        &[
            "run",
            "small.toml",
            "--no-charts",
            "--replications",
            "4",
            "--out",
            out,
        ],
        more,
    ]
    .concat();
    let output = run(dir, &arguments);
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{more:?}: {stderr}");
    stdout
}

/// What `compare` prints, its errors, and its code.
fn compare(dir: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = run(dir, &[&["compare"], arguments].concat());
    let (stdout, stderr) = texts(&output);
    (stdout, stderr, output.status.code())
}

#[test]
fn a_baseline_is_named_on_the_command_line() {
    let home = folder();
    let dir = home.path();
    let said = into(dir, "a", &["--baseline", "fixed"]);
    assert!(said.contains("Against fixed (paired differences"), "{said}");
    let rows = fs::read_to_string(dir.join("a/small/comparison.csv")).unwrap();
    assert!(
        rows.lines().skip(1).all(|line| line.contains(",fixed,")),
        "{rows}"
    );
    let odd = SMALL.replace("\"fixed\"", "'a \"b\" \\c'");
    fs::write(dir.join("small.toml"), odd).unwrap();
    let said = into(dir, "a", &["--baseline", "a \"b\" \\c"]);
    assert!(said.contains("Against a \"b\" \\c (paired"), "{said}");
}

#[test]
fn a_baseline_that_is_not_there_is_an_error() {
    let home = folder();
    let dir = home.path();
    let refused = |more: &[&str], parts: &[&str]| {
        let output = run(dir, &[&["run", "small.toml", "--no-charts"], more].concat());
        let (_, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
    };
    refused(&["--baseline", "fixd"], &["did you mean \"fixed\"?"]);
    let only = ["--only", "full jitter", "--only", "no retries"];
    let left_out = [&["--baseline", "fixed"], &only[..]].concat();
    refused(&left_out, &["the baseline \"fixed\"", "--only"]);
    // What stands in the file gives way.
    let set = [&["--set", "compare.baseline=fixed"], &only[..]].concat();
    let said = into(dir, "a", &set);
    assert!(said.contains("Against full jitter"), "{said}");
}

#[test]
fn runs_of_the_same_world_are_paired_and_what_changed_is_named() {
    let home = folder();
    let dir = home.path();
    into(dir, "a", &["--only", "full jitter", "--only", "no retries"]);
    into(dir, "b", &["--set", "strategy.full jitter.max_attempts=2"]);
    let (said, stderr, code) = compare(dir, &["a/small", "b/small", "--csv", "c.csv"]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(said.contains("paired over 4 replications"), "{said}");
    assert!(
        said.contains("strategy full jitter: max_attempts 4 → 2"),
        "{said}"
    );
    assert!(said.contains("Only in B: fixed."), "{said}");
    assert!(
        said.lines().all(|line| line.chars().count() <= 80),
        "{said}"
    );
    let mut reader = csv::Reader::from_path(dir.join("c.csv")).unwrap();
    let rows: Vec<_> = reader.records().map(Result::unwrap).collect();
    let equal = rows
        .iter()
        .filter(|row| &row[0] == "no retries" && !row[5].is_empty());
    assert!(equal.clone().count() >= 5);
    assert!(
        equal.clone().all(|row| row[5].parse::<f64>() == Ok(0.0)),
        "{rows:?}"
    );
    let worse = rows.iter().find(|row| &row[0] == "full jitter").unwrap();
    assert_eq!(
        (&worse[2], &worse[8], &worse[10]),
        ("success_rate", "true", "worse")
    );
    let (text, _, _) = compare(dir, &["a/small", "b/small", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["paired"], true);
    assert_eq!(json["differences"].as_array().unwrap().len(), rows.len());
}

#[test]
fn runs_of_other_worlds_are_not_paired_and_say_why() {
    let home = folder();
    let dir = home.path();
    into(dir, "a", &["--only", "fixed"]);
    into(dir, "b", &["--only", "fixed", "--seed", "8"]);
    let (said, _, code) = compare(dir, &["a/small", "b/small"]);
    assert_eq!(code, Some(0));
    assert!(
        said.contains("unpaired") && said.contains("run.seed: 7 and 8"),
        "{said}"
    );
    assert!(said.contains("could be chance"), "luck alone: {said}");
    into(
        dir,
        "c",
        &["--only", "fixed", "--set", "service.api.workers=6"],
    );
    let (said, _, _) = compare(dir, &["a/small", "c/small"]);
    let said = said.replace("\n  ", " ");
    assert!(said.contains("service.api.workers: 4 and 6"), "{said}");
}

#[test]
fn single_strategies_belong_together_by_any_name() {
    let home = folder();
    let dir = home.path();
    into(dir, "a", &["--only", "fixed"]);
    into(dir, "b", &["--only", "full jitter"]);
    let (said, _, code) = compare(dir, &["a/small", "b/small"]);
    assert_eq!(code, Some(0));
    assert!(
        said.contains("fixed → full jitter") && said.contains("paired over 4"),
        "{said}"
    );
    into(dir, "c", &["--only", "fixed", "--only", "no retries"]);
    let (said, _, _) = compare(dir, &["b/small", "c/small"]);
    assert!(said.contains("nothing to compare"), "{said}");
}

#[test]
fn what_is_no_complete_output_is_refused_with_a_remedy() {
    let home = folder();
    let dir = home.path();
    into(dir, "a", &[]);
    into(dir, "b", &[]);
    let table = dir.join("b/small/replications.csv");
    let whole = fs::read_to_string(&table).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let refused = |part: &str| {
        let (stdout, stderr, code) = compare(dir, &["a/small", "b/small"]);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{part}");
        assert!(
            stderr.contains(part) && stderr.contains("help: "),
            "{part}: {stderr}"
        );
    };
    for (content, part) in [
        (String::new(), "it is empty"),
        (format!("{}\n", lines[0]), "it has no rows"),
        (whole[..whole.len() - 30].to_owned(), "torn"),
        (
            whole[..whole.len() - 3].to_owned(),
            "line 13 is not one of a run",
        ),
        (
            lines[..lines.len() - 1].join("\n"),
            "it is torn: \"fixed\" has 3 of 4",
        ),
        (
            whole.replace("attempts,amplification", "attempts,ampl"),
            "other columns",
        ),
        ("a,b\n1,2\n".to_owned(), "other columns"),
        (
            whole.replace("fixed", "another"),
            "not one of scenario.toml",
        ),
        (whole.replacen(lines[2], lines[1], 1), "are not 0, 1, 2"),
        (
            whole.replacen(",0.", ",NaN#", 1).replacen("NaN#", "NaN", 1),
            "line 2",
        ),
    ] {
        fs::write(&table, content).unwrap();
        refused(part);
    }
    fs::write(&table, [0xff, 0xfe, b'\n']).unwrap();
    refused("UTF-8");
    fs::write(&table, &whole).unwrap();
    fs::write(dir.join("b/small/scenario.toml"), "[run]\nduration = 3\n").unwrap();
    refused("not a sound scenario");
    fs::remove_file(&table).unwrap();
    refused("there is no replications.csv");
    let (_, stderr, code) = compare(dir, &["a/small", "nowhere"]);
    assert!(
        code == Some(2) && stderr.contains("no such directory"),
        "{stderr}"
    );
    let (_, stderr, code) = compare(dir, &["a/small", "small.toml"]);
    assert!(
        code == Some(2) && stderr.contains("not a directory"),
        "{stderr}"
    );
    let (_, stderr, code) = compare(dir, &["a/small", "a/small", "--csv", "small.toml/x.csv"]);
    assert!(
        code == Some(3) && stderr.contains("small.toml/x.csv"),
        "{stderr}"
    );
}

#[test]
fn a_priced_table_has_its_cost_and_fits_eighty_columns() {
    let home = folder();
    let dir = home.path();
    let priced =
        format!("{SMALL}\n[cost]\nattempt = 0.01\nfailed_request = 2\ncurrency = \"EUR\"\n");
    fs::write(dir.join("small.toml"), priced).unwrap();
    for columns in ["76", "80", "120"] {
        let output = program(dir)
            .env("COLUMNS", columns)
            .args(["run", "small.toml", "--no-charts"])
            .output();
        let (said, _) = texts(&output.unwrap());
        assert!(said.contains("cost/1000") && said.contains("EUR"), "{said}");
        let most = columns.parse().unwrap();
        assert!(
            said.lines().all(|line| line.chars().count() <= most),
            "{said}"
        );
    }
}
