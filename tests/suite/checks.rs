//! Checks: what each outcome looks like, what it does to the exit code, and whether decisions are as sure as they say.

use crate::program::{SMALL, folder, names, run, texts};
use crate::support::results;
use retrystorm::experiment::{CheckOutcome, CheckResult, RunResult};
use std::fs;
use std::path::Path;

/// `SMALL` with checks: metric, strategy or nothing, relation, value.
pub(crate) fn checked(checks: &[(&str, &str, &str, &str)]) -> String {
    let table = |(metric, strategy, relation, value): &(&str, &str, &str, &str)| {
        let strategy = match *strategy {
            "" => String::new(),
            name => format!("strategy = \"{name}\"\n"),
        };
        format!(
            "\n[[check]]\nmetric = \"{metric}\"\n{strategy}relation = \"{relation}\"\nvalue = {value}\n"
        )
    };
    let tables: Vec<String> = checks.iter().map(table).collect();
    format!("{SMALL}{}", tables.join(""))
}

/// Runs a scenario of this text in a new folder; gives exit code, standard output, standard error.
fn gate(text: &str, more: &[&str]) -> (i32, String, String) {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("small.toml"), text).unwrap();
    gate_in(home.path(), more)
}

pub(crate) fn gate_in(dir: &Path, more: &[&str]) -> (i32, String, String) {
    let output = run(dir, &[&["run", "small.toml", "--no-charts"], more].concat());
    let (stdout, stderr) = texts(&output);
    (output.status.code().unwrap(), stdout, stderr)
}

/// The success rate that "full jitter" has in `SMALL`: no interval around it can decide on which side of it the truth is.
pub(crate) fn own_success() -> String {
    let result = results(SMALL);
    let jitter = &result.strategies[1].summary;
    assert_eq!(jitter.strategy, "full jitter");
    format!("{}", jitter.success_rate.unwrap())
}

pub(crate) const HOLDS: (&str, &str, &str, &str) = ("success_rate", "full jitter", ">=", "\"20%\"");
pub(crate) const FAILS: (&str, &str, &str, &str) = ("amplification", "fixed", "<=", "0.5");

#[test]
fn each_outcome_has_its_exit_code_and_its_words() {
    let success = own_success();
    let open = ("success_rate", "full jitter", ">=", success.as_str());
    let (code, stdout, stderr) = gate(&checked(&[HOLDS]), &[]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("Checks: 1 holds."), "{stdout}");

    let (code, stdout, stderr) = gate(&checked(&[HOLDS, FAILS]), &[]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stdout.contains("Checks: 1 holds, 1 does not hold."),
        "{stdout}"
    );
    assert!(
        stdout.contains("DOES NOT HOLD fixed: amplification <= 0.5: "),
        "{stdout}"
    );
    assert!(stdout.contains("misses by"), "{stdout}");
    assert!(
        stderr.contains("wrote 10 files"),
        "output is still written: {stderr}"
    );
    assert!(
        stderr.contains("repeat it with: retrystorm run small.toml --seed 7"),
        "{stderr}"
    );

    for (more, expected) in [(&[][..], 1), (&["--allow-undecided"], 0)] {
        let (code, stdout, stderr) = gate(&checked(&[HOLDS, open]), more);
        assert_eq!(code, expected, "{stderr}");
        assert!(stdout.contains("Checks: 1 holds, 1 undecided."), "{stdout}");
        assert!(stdout.contains("--until-decided"), "{stdout}");
    }
    let (code, ..) = gate(&checked(&[FAILS, open]), &["--allow-undecided"]);
    assert_eq!(code, 1, "what does not hold is never allowed");
    let (code, stdout, _) = gate(&checked(&[HOLDS]), &["--replications", "1"]);
    assert_eq!(code, 1);
    let words: Vec<&str> = stdout.split_whitespace().collect();
    let reason = "a single replication has no interval";
    assert!(words.join(" ").contains(reason), "{stdout}");
}

#[test]
fn failing_checks_are_told_when_nothing_else_is() {
    let text = checked(&[HOLDS, FAILS]);
    for more in [&["--quiet"][..], &["--json", "--quiet"]] {
        let (code, stdout, stderr) = gate(&text, more);
        assert_eq!(code, 1);
        assert_eq!(stdout.is_empty(), more.len() == 1);
        assert_eq!(stderr.lines().count(), 2, "{stderr}");
        assert!(
            stderr.contains("\nrepeat it with: retrystorm run small.toml --seed 7"),
            "{stderr}"
        );
        assert!(
            stderr.starts_with("small: DOES NOT HOLD: fixed: amplification <= 0.5: "),
            "{stderr}"
        );
    }
    let (_, stdout, _) = gate(&text, &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["checks"][1]["outcome"], "does_not_hold");
    assert_eq!(json["checks"][1]["value"], 0.5);
    assert_eq!(gate(&checked(&[HOLDS]), &["--quiet"]).2, "");
}

#[test]
fn checks_csv_is_there_when_there_are_checks() {
    let home = folder();
    let dir = home.path();
    assert_eq!(gate_in(dir, &[]).0, 0);
    let files = names(&dir.join("output/small"));
    assert!(!files.contains(&"checks.csv".into()), "{files:?}");
    fs::write(dir.join("small.toml"), checked(&[HOLDS, FAILS])).unwrap();
    assert_eq!(gate_in(dir, &[]).0, 1);
    let text = fs::read_to_string(dir.join("output/small/checks.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(
        lines.next().unwrap(),
        "check,strategy,metric,relation,value,outcome,figure,figure_low,figure_high,confidence,\
         interval_confidence,replications,replications_to_decide,note"
    );
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("1,full jitter,success_rate,>=,0.2,holds,0."),
        "{first}"
    );
    let second = lines.next().unwrap();
    assert!(
        second.starts_with("2,fixed,amplification,<=,0.5,does_not_hold,1."),
        "{second}"
    );
    // And again: the folder is still recognised as the output of a run.
    assert_eq!(gate_in(dir, &[]).0, 1);
}

#[test]
fn a_strategy_that_was_not_run_is_not_checked_and_that_is_said() {
    let text = checked(&[("success_rate", "", ">=", "\"20%\""), FAILS]);
    let (code, stdout, _) = gate(&text, &["--only", "full jitter"]);
    assert_eq!(code, 0);
    assert!(
        stdout.contains("Checks: 1 holds, 3 not checked."),
        "{stdout}"
    );
    assert!(stdout.contains("amplification <= 0.5 of fixed"), "{stdout}");
    let result = results(&text);
    assert_eq!(result.checks.len(), 4, "three strategies and one");
}

#[test]
fn validate_says_how_many_checks_there_are() {
    let home = folder();
    fs::write(home.path().join("small.toml"), checked(&[HOLDS, FAILS])).unwrap();
    let output = run(home.path(), &["validate", "small.toml"]);
    assert!(
        texts(&output).0.contains("\n  2 checks\n"),
        "{}",
        texts(&output).0
    );
}

/// The only check of a scenario.
pub(crate) fn only(result: &RunResult) -> &CheckResult {
    assert_eq!(result.checks.len(), 1);
    &result.checks[0]
}

#[test]
fn what_never_comes_back_breaks_every_time_to_recover() {
    // Two attempts of a second at 93 % load: a stall leaves it down for good, a short one does not.
    let text = |stall: &str, relation: &str| {
        format!(
            "[run]\nduration = \"90s\"\nreplications = 4\n[clients]\ncount = 5000\n\
             arrivals.poisson.rate = \"280/s\"\n[service.api]\nworkers = 12\n\
             service_time.exponential.mean = \"40ms\"\n[[fault]]\nat = \"20s\"\nlasts = \"{stall}\"\n\
             outage = \"stall\"\n[[strategy]]\nname = \"a\"\nmax_attempts = 2\nattempt_timeout = \"1s\"\n\
             [[check]]\nmetric = \"recovery_s\"\nrelation = \"{relation}\"\nvalue = \"80s\"\n"
        )
    };
    for (relation, expected) in [
        ("<=", CheckOutcome::DoesNotHold),
        ("<", CheckOutcome::DoesNotHold),
        (">", CheckOutcome::Holds),
        (">=", CheckOutcome::Holds),
    ] {
        let result = results(&text("10s", relation));
        let check = only(&result);
        assert_eq!(check.outcome, expected, "{relation}");
        assert_eq!(check.note, "4 of 4 replications did not come back");
        assert_eq!(check.estimate, None);
    }
    // Replications that never left their baseline took no time.
    let result = results(&text("1ms", "<="));
    let check = only(&result);
    assert_eq!(check.outcome, CheckOutcome::Holds);
    assert_eq!(check.estimate.unwrap().mean, 0.0);
    assert_eq!(result.strategies[0].summary.recovery_s, None);
}

/// Above its capacity a service is down from the start: it has nothing to collapse from, which is no reason to pass.
#[test]
fn what_is_down_from_the_start_passes_no_gate_against_collapse() {
    let text = "[run]\nduration = \"60s\"\nreplications = 4\n[clients]\ncount = 5000\n\
         arrivals.poisson.rate = \"330/s\"\n[service.api]\nworkers = 12\n\
         service_time.exponential.mean = \"40ms\"\n[[fault]]\nat = \"20s\"\nlasts = \"2s\"\n\
         outage = \"stall\"\n[[strategy]]\nname = \"a\"\nmax_attempts = 2\nattempt_timeout = \"1s\"\n\
         [[check]]\nmetric = \"collapsed_share\"\nrelation = \"<=\"\nvalue = \"90%\"\n";
    let result = results(text);
    assert_eq!(result.strategies[0].summary.overloaded_replications, 4);
    let check = only(&result);
    assert_eq!(check.outcome, CheckOutcome::DoesNotHold);
    assert!(
        check.note.contains("too much load before any fault"),
        "{}",
        check.note
    );
}

#[test]
fn the_file_for_a_build_server_replaces_nothing_but_its_like() {
    let home = folder();
    let dir = home.path();
    fs::write(dir.join("small.toml"), checked(&[HOLDS])).unwrap();
    let scenario = fs::read_to_string(dir.join("small.toml")).unwrap();
    for path in ["small.toml", "new/../small.toml"] {
        let (code, _, stderr) = gate_in(dir, &["--junit", path]);
        assert_eq!(code, 3, "{stderr}");
        assert!(stderr.contains("not written by this command"), "{stderr}");
        assert_eq!(
            fs::read_to_string(dir.join("small.toml")).unwrap(),
            scenario
        );
    }
    for _ in 0..2 {
        let (code, _, stderr) = gate_in(dir, &["--junit", "checks.xml"]);
        assert_eq!(code, 0, "{stderr}");
    }
    let [a, b] = ["output/small", "output/small/replications.csv"];
    let compare = |file: &str| crate::program::run(dir, &["compare", a, a, "--csv", file]);
    assert_eq!(compare(b).status.code(), Some(3));
    assert_eq!(compare("new.csv").status.code(), Some(0));
    assert_eq!(
        compare("new.csv").status.code(),
        Some(0),
        "an earlier one is replaced"
    );
}
