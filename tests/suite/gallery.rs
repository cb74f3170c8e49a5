//! The scenarios of the gallery: sound, and the same numbers as last time.
//!
//! A change of the engine that changes numbers must be seen, and must be wanted. So a short run of every scenario is
//! compared with `tests/golden/gallery.txt`; after a wanted change `UPDATE_GOLDEN=1 cargo test --release gallery`
//! writes it anew, and the difference shows what has changed.

use retrystorm::experiment::run;
use retrystorm::scenario::{Plan, Scenario, load};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What makes the large scenarios short, beside a single replication.
const SHORTER: [(&str, &[&str]); 3] = [
    ("speed_queue", &["run.duration=2000s"]),
    ("speed_storm", SMALL_STORM),
    ("speed_storm_constant", SMALL_STORM),
];
const SMALL_STORM: &[&str] = &[
    "run.duration=20s",
    "clients.count=10000",
    "service.api.workers=18",
    "service.api.queue.capacity=72",
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The scenario files, in order.
fn files() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("scenarios")).expect("there is a gallery");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    assert!(files.len() >= 12, "the gallery was not found");
    files
}

fn read(path: &Path, settings: &[String]) -> Scenario {
    load(path, settings).unwrap_or_else(|error| panic!("{}: {:#?}", path.display(), error.problems))
}

#[test]
fn every_scenario_is_sound_and_nothing_about_it_is_suspicious() {
    for path in files() {
        let scenario = read(&path, &[]);
        let warned: Vec<&str> = scenario.warnings.iter().map(|w| w.path.as_str()).collect();
        // Its last strategy shows that a deadline without time for a retry is a limit on attempts.
        let expected: &[&str] = match path.file_name().and_then(|name| name.to_str()) {
            Some("surge.toml") => &["strategy[3].max_attempts"],
            _ => &[],
        };
        assert_eq!(
            warned,
            expected,
            "{}: {:#?}",
            path.display(),
            scenario.warnings
        );
        if let Err(problems) = Plan::assemble(&scenario) {
            panic!("{}: {problems:#?}", path.display());
        }
    }
}

#[test]
fn every_scenario_begins_with_the_question_it_answers() {
    for path in files() {
        let text = fs::read_to_string(&path).expect("a text");
        let first = text.lines().next().unwrap_or_default();
        assert!(
            first.starts_with("# ") && first.contains('?'),
            "{}: {first}",
            path.display()
        );
        assert!(
            text.lines().count() <= 80,
            "{} is not short",
            path.display()
        );
    }
}

#[test]
fn the_resolved_form_reads_back_to_itself() {
    for path in files() {
        let scenario = read(&path, &[]);
        let resolved = scenario.resolved();
        let again = Scenario::parse(&scenario.name, &resolved, &scenario.base)
            .unwrap_or_else(|error| panic!("{}: {:#?}", path.display(), error.problems));
        assert_eq!(again.spec, scenario.spec, "{}", path.display());
        assert_eq!(again.question, scenario.question, "{}", path.display());
        assert_eq!(again.resolved(), resolved, "{}", path.display());
    }
}

/// One line a strategy: counts, which are exact, and latencies.
fn summary(path: &Path) -> String {
    let name = path.file_stem().expect("a name").to_string_lossy();
    let shorter = SHORTER
        .iter()
        .find(|(short, _)| *short == name)
        .map_or(&[] as &[&str], |(_, settings)| settings);
    let mut settings: Vec<String> = shorter.iter().map(|&setting| setting.into()).collect();
    settings.push("run.replications=1".into());
    let scenario = read(path, &settings);
    let plan = Plan::assemble(&scenario).expect("it is sound");
    let result = run(&scenario, &plan, 1, &|| {}).expect("it runs");
    let mut text = format!("{name} {}\n", shorter.join(" ")).replace(" \n", "\n");
    for strategy in &result.strategies {
        let row = &strategy.summary;
        let ms = |value: Option<f64>| value.map_or("-".into(), |ms| format!("{ms:.3}"));
        writeln!(
            text,
            "  {}. {}: {} requests, {} succeeded, {} failed, {} open; {} attempts; p50 {} ms, p99 {} ms",
            row.rank,
            row.strategy,
            row.requests,
            row.succeeded,
            row.failed,
            row.unfinished,
            row.attempts,
            ms(row.latency_p50_ms),
            ms(row.latency_p99_ms),
        )
        .expect("memory can be written to");
    }
    text
}

#[test]
fn the_numbers_are_those_of_last_time() {
    let golden = root().join("tests/golden/gallery.txt");
    let found: Vec<String> = files().iter().map(|path| summary(path)).collect();
    let found = found.join("\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::create_dir_all(golden.parent().expect("a folder")).expect("it can be made");
        fs::write(&golden, &found).expect("it can be written");
    }
    let expected = fs::read_to_string(&golden).expect("there are numbers of last time");
    let differences: Vec<String> = expected
        .lines()
        .zip(found.lines())
        .filter(|(was, is)| was != is)
        .map(|(was, is)| format!("was {was}\nis  {is}"))
        .collect();
    assert!(
        differences.is_empty() && expected.lines().count() == found.lines().count(),
        "\n{}\nIf this is wanted: UPDATE_GOLDEN=1 cargo test --release gallery",
        differences.join("\n")
    );
}
