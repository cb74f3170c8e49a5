//! `list`, `schema`, `new`, `trace` and what is made for shells: all of it is true, complete, and in the house style.

use crate::program::{run, texts};
use proptest::prelude::*;
use retrystorm::catalogue::{Found, GALLERY, STARTER, TOPICS, find, schema};
use retrystorm::decode::{Decode, FieldDoc, Shape};
use retrystorm::scenario::{Plan, Scenario, ScenarioSpec, load};
use std::path::Path;

fn printed(arguments: &[&str]) -> String {
    let output = run(Path::new(env!("CARGO_MANIFEST_DIR")), arguments);
    let (stdout, stderr) = texts(&output);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    assert_eq!(stderr, "", "{arguments:?}");
    stdout
}

#[test]
fn every_topic_lists_every_entry_with_an_example_that_parses() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("a.toml");
    std::fs::write(&file, STARTER).unwrap();
    let breaker =
        "strategy[2].breaker={ consecutive = { failures = 5, open_for = \"1s\" } }".to_owned();
    let mut examples = 0;
    for topic in TOPICS {
        let page = printed(&["list", topic.name]);
        let key = topic.key.replace("strategy.", "strategy[2].");
        for entry in topic.entries() {
            let line = page.lines().any(|line| line == entry.name);
            assert!(line, "{}: {} is missing in\n{page}", topic.name, entry.name);
            let needs_file = entry.example.contains(".csv");
            if entry.example.is_empty() || needs_file || key.starts_with("check") {
                continue;
            }
            let mut settings = vec![format!("{key}={}", entry.example)];
            if key.contains("breaker.consecutive") {
                settings.insert(0, breaker.clone());
            }
            let scenario = load(&file, &settings)
                .unwrap_or_else(|e| panic!("{settings:?}: {:#?}", e.problems));
            assert!(Plan::assemble(&scenario).is_ok(), "{settings:?}");
            examples += 1;
        }
        assert!(
            page.lines().all(|line| line.chars().count() <= 80),
            "{page}"
        );
    }
    assert!(examples > 90, "only {examples} examples");
}

#[test]
fn keys_forms_and_figures_are_found_by_what_they_are_called() {
    for (name, expected) in [
        ("run.warmup", "run.warmup: duration\n"),
        (
            "strategy.backoff.exponential.cap",
            "strategy.backoff.exponential.cap: duration\n",
        ),
        (
            "strategy[0].max_attempts",
            "strategy.max_attempts: whole number or \"unlimited\"; required\n",
        ),
        ("token_bucket", "strategy.budget.token_bucket: table\n"),
        (
            "service.api.queue.discipline",
            "service.api.queue.discipline: queue discipline; default \"fifo\"\n",
        ),
        (
            "service.queue.discipline",
            "service.queue.discipline: queue discipline; default \"fifo\"\n",
        ),
        ("jitter", "jitters: Randomness laid on a delay d.\n"),
        ("check", "check: list of: table; default []\n"),
    ] {
        let page = printed(&["list", name]);
        assert!(page.starts_with(expected), "{name}:\n{page}");
    }
    let figures = printed(&["list", "metrics"]);
    assert!(figures.contains("success_rate\n  Succeeded ÷"), "{figures}");
}

#[test]
fn what_there_is_not_is_refused_with_what_is_nearest() {
    for (name, remedy) in [
        ("exponentail", "did you mean `exponential`?"),
        ("budgts", "did you mean `budgets`?"),
        ("strateg", "did you mean `strategy`?"),
        ("q", "`retrystorm list` shows all topics"),
    ] {
        let output = run(Path::new("."), &["list", name]);
        let (stdout, stderr) = texts(&output);
        assert_eq!((output.status.code(), stdout.as_str()), (Some(2), ""));
        assert!(stderr.contains(remedy), "{stderr}");
    }
}

/// Every path of keys in a scenario.
fn paths(shape: &Shape, prefix: &str, paths: &mut Vec<String>) {
    let dot = if prefix.is_empty() { "" } else { "." };
    let mut walk = |field: &FieldDoc| {
        let path = format!("{prefix}{dot}{}", field.key);
        paths.push(path.clone());
        self::paths(&field.shape, &path, paths);
    };
    shape.fields().iter().for_each(&mut walk);
    for (doc, settings) in shape
        .choice()
        .map(|choice| &choice.forms[..])
        .unwrap_or_default()
    {
        let path = format!("{prefix}{dot}{}", doc.name);
        paths.push(path.clone());
        if let Some(settings) = settings {
            self::paths(settings, &path, paths);
        }
    }
}

#[test]
fn every_key_of_a_scenario_can_be_looked_up_and_has_a_meaning() {
    let mut all = Vec::new();
    paths(&ScenarioSpec::shape(), "", &mut all);
    assert!(all.len() > 500, "{} paths", all.len());
    for path in &all {
        let Ok(Found::Place(place)) = find(path) else {
            // A topic of the same name is found first.
            assert!(!path.contains('.'), "{path}");
            continue;
        };
        assert_eq!(&place.path, path);
        assert!(!place.meaning.is_empty(), "{path}");
    }
}

#[test]
fn the_schema_accepts_what_is_sound_and_refuses_what_is_misspelt() {
    let schema = schema();
    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
    let json = |text: &str| -> serde_json::Value {
        let table: toml::Table = text.parse().expect("TOML");
        serde_json::to_value(table).expect("JSON")
    };
    for (name, text) in GALLERY {
        let errors: Vec<String> = validator
            .iter_errors(&json(text))
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}");
        // What the tool writes of a scenario is one too.
        let scenario = Scenario::parse(name, text, Path::new("")).expect("it is sound");
        let resolved = toml::to_string(&scenario.spec).expect("TOML");
        let errors: Vec<String> = validator
            .iter_errors(&json(&resolved))
            .map(|e| e.to_string())
            .collect();
        assert_eq!(errors, [""; 0], "{name}, resolved:\n{resolved}");
    }
    for (right, wrong) in [
        ("max_attempts = 4", "max_attemps = 4"),
        ("max_attempts = 4", "max_attempts = \"four\""),
        ("jitter = \"full\"", "jitter = \"ful\""),
        ("duration = \"120s\"", "duration = 120"),
        ("outage = \"refuse\"", "outage = \"refused\""),
        ("count = 1000", "count = 1000.5"),
    ] {
        assert!(STARTER.contains(right));
        assert!(
            !validator.is_valid(&json(&STARTER.replacen(right, wrong, 1))),
            "{wrong}"
        );
    }
}

#[test]
fn the_schema_beside_the_documents_is_the_one_of_this_version() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scenario.schema.json");
    let printed = printed(&["schema"]);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &printed).unwrap();
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    assert!(kept == printed, "run the test with UPDATE_SCHEMA=1");
}

#[test]
fn a_new_scenario_runs_and_is_never_written_over_another_file() {
    let home = tempfile::tempdir().unwrap();
    let in_home = |arguments: &[&str]| {
        let output = run(home.path(), arguments);
        (output.status.code(), texts(&output))
    };
    let (code, (stdout, _)) = in_home(&["new", "mine.toml"]);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), "wrote mine.toml\nnext: retrystorm run mine.toml\n")
    );
    assert_eq!(
        std::fs::read_to_string(home.path().join("mine.toml")).unwrap(),
        STARTER
    );
    let (code, (stdout, stderr)) = in_home(&[
        "run",
        "mine.toml",
        "--replications",
        "1",
        "--set",
        "run.duration=60s",
        "--no-charts",
    ]);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("with a budget"), "{stdout}");
    std::fs::write(home.path().join("mine.toml"), "precious").unwrap();
    let (code, (_, stderr)) = in_home(&["new", "mine.toml", "--from", "surge"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("mine.toml is there already"), "{stderr}");
    assert_eq!(
        std::fs::read_to_string(home.path().join("mine.toml")).unwrap(),
        "precious"
    );
    let (code, _) = in_home(&["new", "copy.toml", "--from", "surge"]);
    assert_eq!(code, Some(0));
    let surge = GALLERY.iter().find(|(name, _)| *name == "surge").unwrap().1;
    assert_eq!(
        std::fs::read_to_string(home.path().join("copy.toml")).unwrap(),
        surge
    );
    let (code, (_, stderr)) = in_home(&["new", "b.toml", "--from", "surg"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("did you mean `surge`?"), "{stderr}");
    let (code, (_, stderr)) = in_home(&["new", "no/such/folder/b.toml"]);
    assert_eq!(code, Some(3), "{stderr}");
    let (_, (stdout, _)) = in_home(&["new", "--gallery"]);
    assert!(GALLERY.iter().all(|(name, _)| stdout.contains(name)));
}

#[test]
fn completions_and_the_manual_page_know_every_command() {
    let help = printed(&["--help"]);
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(commands.len() >= 10, "{commands:?}");
    let man = printed(&["man"]);
    for command in &commands {
        assert!(man.contains(&format!("retrystorm {command}")), "{command}");
        let help = printed(&[command, "--help"]);
        assert!(help.contains("retrystorm "), "{help}");
        assert!(
            help.contains("Example"),
            "{command} has no example:\n{help}"
        );
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = printed(&["completions", shell]);
        assert!(
            commands.iter().all(|command| script.contains(command)),
            "{shell}"
        );
    }
}

#[test]
fn a_trace_tells_what_the_log_of_attempts_holds() {
    let text = "[run]\nduration = \"10s\"\nreplications = 1\n\
        [clients]\ncount = 1\narrivals.periodic = { every = \"1s\", offset = \"aligned\" }\n\
        [service.api]\nworkers = 1\nservice_time = \"100ms\"\n\
        [[fault]]\nat = \"2s\"\nlasts = \"500ms\"\noutage = \"refuse\"\n\
        [[strategy]]\nname = \"twice\"\nmax_attempts = 3\nbackoff.fixed.delay = \"300ms\"\n\
        [[strategy]]\nname = \"once\"\nmax_attempts = 1\n";
    let home = tempfile::tempdir().unwrap();
    std::fs::write(home.path().join("a.toml"), text).unwrap();
    let trace = |request: &str| {
        let output = run(home.path(), &["trace", "a.toml", "--request", request]);
        (output.status.code(), texts(&output))
    };
    let (code, (stdout, _)) = trace("2");
    let expected = "twice: succeeded after 700.0 ms, 3 attempts; client 0 at 2.000 s\n\
        \u{20}     +0 s  1. refused at once (during the outage); waits 300.0 ms\n\
        \u{20}+300.0 ms  2. refused at once (during the outage); waits 300.0 ms\n\
        \u{20}+600.0 ms  3. answered after 100.0 ms; success\n\n\
        once: failed after 0 s: refused, 1 attempt; client 0 at 2.000 s\n\
        \u{20}     +0 s  1. refused at once (during the outage); gives up: refused\n\n";
    assert_eq!((code, stdout.as_str()), (Some(0), expected));
    let (code, (stdout, stderr)) = trace("10");
    assert_eq!((code, stdout.as_str()), (Some(2), ""));
    assert!(
        stderr.contains("there is no request 10") && stderr.contains("the last is 9"),
        "{stderr}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    /// Whatever is asked for, there is an answer and no panic.
    #[test]
    fn any_text_can_be_looked_up(text in "[a-z_.\\[\\]0-9 é指]{0,40}") {
        let _ = find(&text);
    }
}
