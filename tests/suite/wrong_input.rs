//! Wrong scenarios: every mistake is named with its place and its remedy, and nothing else happens.

use crate::program::{SMALL, data, names, program, run, texts};
use proptest::prelude::*;
use retrystorm::scenario::{Plan, Scenario};
use std::path::Path;

/// Set to write the messages instead of comparing them.
const UPDATE: &str = "UPDATE_MESSAGES";

/// What every message about wrong input must be. Returns the message.
fn refused(dir: &Path, arguments: &[&str]) -> String {
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("out");
    let target = target.to_str().unwrap();
    let output = run(dir, &[arguments, &["--out", target]].concat());
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {stderr}");
    assert_eq!(stdout, "", "{arguments:?}");
    assert_eq!(names(out.path()), [""; 0], "{arguments:?} wrote something");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(stderr.contains("help: "), "{stderr}");
    let raw = |c: char| c.is_control() && c != '\n' || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!stderr.contains(raw), "{stderr:?}");
    let widest = stderr
        .lines()
        .map(unicode_width::UnicodeWidthStr::width)
        .max();
    assert!(widest.unwrap_or(0) <= 80, "{stderr}");
    stderr
}

#[test]
fn every_wrong_scenario_has_its_message() {
    let dir = data("wrong");
    let files = names(&dir)
        .into_iter()
        .filter(|name| name.ends_with(".toml"));
    let mut count = 0;
    for file in files {
        let message = refused(&dir, &["run", &file]);
        let golden = dir.join(file.replace(".toml", ".txt"));
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&golden, &message).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        assert_eq!(message, expected, "{file}");
        check_places(&dir.join(&file), &message);
        count += 1;
    }
    assert!(count >= 45, "{count} wrong scenarios");
}

/// Every excerpt shows the line that its header names.
fn check_places(file: &Path, message: &str) {
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let shown: Vec<&str> = message.lines().collect();
    for pair in shown.windows(2) {
        let Some((_, header)) = pair[0].split_once("─[") else {
            continue;
        };
        let parts: Vec<&str> = header.trim_end_matches(']').rsplitn(3, ':').collect();
        let (column, line): (usize, usize) = (parts[0].parse().unwrap(), parts[1].parse().unwrap());
        let (number, excerpt) = pair[1].split_once(" │ ").expect("an excerpt");
        assert_eq!(number.trim(), line.to_string(), "{message}");
        let written = lines.get(line - 1).copied().unwrap_or_default();
        assert!(column <= written.chars().count() + 1, "{message}");
        let plain = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        if !excerpt.contains('…') && written.chars().all(|c| !c.is_control() && c != '\u{202e}') {
            assert_eq!(plain(excerpt), plain(written));
        }
    }
}

#[test]
fn monstrous_files_are_refused_in_few_words() {
    let dir = tempfile::tempdir().unwrap();
    let deep = 200_000;
    for (name, text) in [
        ("brackets", format!("a = {}", "[".repeat(deep))),
        ("tables", format!("a = {}", "{a=".repeat(deep))),
        ("dotted", format!("{}a = 1", "a.".repeat(deep))),
        ("header", format!("[{}a]\nb = 1", "a.".repeat(deep))),
        ("long_key", format!("{} = 1", "k".repeat(deep))),
        (
            "long_text",
            format!("[run]\nduration = \"{}s\"", "9".repeat(deep)),
        ),
        (
            "long_line",
            format!("[run]\nseed = [{}]", "1, ".repeat(deep)),
        ),
        ("long_number", format!("[run]\nseed = {}", "9".repeat(deep))),
        (
            "long_float",
            format!("[run]\nduration = 1.{}", "9".repeat(deep)),
        ),
        (
            "many_keys",
            (0..20_000).map(|i| format!("k{i} = {i}\n")).collect(),
        ),
        (
            "many_faults",
            format!("{SMALL}{}", "[[fault]]\nat = \"1s\"\n".repeat(20_000)),
        ),
        (
            "many_tables",
            (0..20_000).map(|i| format!("[service.s{i}]\n")).collect(),
        ),
        ("blank", " \n".repeat(deep)),
        ("zeros", "\0".repeat(deep)),
        ("too_long", "#\n".repeat(3 << 20)),
    ] {
        let file = format!("{name}.toml");
        std::fs::write(dir.path().join(&file), text).unwrap();
        let message = refused(dir.path(), &["run", &file]);
        assert!(message.len() < 60_000, "{name}: {} bytes", message.len());
    }
}

#[test]
fn what_is_no_scenario_file_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    assert!(refused(dir.path(), &["run", "folder"]).contains("it is a directory"));
    assert!(refused(dir.path(), &["run", "none.toml"]).contains("there is no such file"));
    assert!(refused(dir.path(), &["run", "/dev/null"]).contains("it is not a file"));
}

#[test]
fn one_wrong_file_stops_all_of_them() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("good.toml"), SMALL).unwrap();
    std::fs::write(dir.path().join("bad.toml"), SMALL.replace("seed", "sede")).unwrap();
    let message = refused(dir.path(), &["run", "good.toml", "bad.toml", "none.toml"]);
    assert!(message.contains("did you mean `seed`?"), "{message}");
    assert!(message.contains("no such file"), "{message}");
    let message = refused(dir.path(), &["run", "good.toml", "./good.toml"]);
    assert!(message.contains("two scenarios are named"), "{message}");
}

#[test]
fn wrong_settings_of_the_command_line_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.toml"), SMALL).unwrap();
    for (arguments, part) in [
        (["--set", "run.seed"], "a setting needs an `=`"),
        (["--set", "=5"], "a setting needs a key"),
        (["--set", "run.sede=5"], "did you mean `seed`?"),
        (["--set", "rnu.seed=5"], "did you mean `run`?"),
        (["--set", "run.duration=60"], "a duration needs a unit"),
        (
            ["--set", "strategy[7].max_attempts=5"],
            "the list has no element `7`",
        ),
        (
            ["--set", "strategy.fixd.max_attempts=5"],
            "the list has no element `fixd`",
        ),
        (
            ["--set", "run.replications=0"],
            "`replications` is a number from 1",
        ),
        (["--replications", "0"], "`replications` is a number from 1"),
        (["--only", "fulljitter"], "did you mean \"full jitter\"?"),
        (["--only", "\u{1b}[31m"], "it has \"no retries\""),
    ] {
        let message = refused(dir.path(), &["run", "a.toml", arguments[0], arguments[1]]);
        let words: Vec<&str> = message
            .split_whitespace()
            .filter(|word| *word != "│")
            .collect();
        assert!(words.join(" ").contains(part), "{arguments:?}: {message}");
    }
    let deep = format!("{}=1", "a.".repeat(40_000));
    refused(dir.path(), &["run", "a.toml", "--set", &deep]);
    let long = format!("run.seed={}", "x".repeat(60_000));
    assert!(refused(dir.path(), &["run", "a.toml", "--set", &long]).len() < 2_000);
}

#[test]
fn messages_are_plain_where_colour_or_unicode_is_not_wanted() {
    let dir = data("wrong");
    for (name, value) in [("TERM", "dumb"), ("LC_ALL", "C"), ("LANG", "POSIX")] {
        let mut command = program(&dir);
        let output = command
            .env(name, value)
            .args(["run", "key_misspelt.toml"])
            .output();
        let (_, stderr) = texts(&output.unwrap());
        assert!(stderr.is_ascii(), "{name}: {stderr}");
    }
    let output = program(&dir)
        .env("NO_COLOR", "1")
        .args(["validate", "negative.toml"])
        .output();
    assert!(!texts(&output.unwrap()).1.contains('\u{1b}'));
}

/// Values that are out of place nearly everywhere.
const ODD: [&str; 34] = [
    "0",
    "-1",
    "1",
    "1e308",
    "nan",
    "-inf",
    "9223372036854775807",
    "4294967296",
    "10000000",
    "99999999999999999999",
    "true",
    "[]",
    "{}",
    "\"\"",
    "\"0s\"",
    "\"1ns\"",
    "\"366d\"",
    "\"-5s\"",
    "\"1e-400s\"",
    "\"1e9/s\"",
    "\"0/s\"",
    "\"100%\"",
    "\"unlimited\"",
    "\"zero\"",
    "\"refuse\"",
    "\"immediate\"",
    "\"hang\"",
    "{ exponential = { mean = \"1ns\" } }",
    "{ closed_loop = { think = \"0s\" } }",
    "{ burst = { requests = 9223372036854775807 } }",
    "{ periodic = { every = \"1ns\" } }",
    "1979-05-27",
    "{ pareto = { mean = \"366d\", alpha = 1.0000001 } }",
    "[[], {}, 1]",
];

/// Lines that a mutation may add.
const LINES: [&str; 22] = [
    "deadline = \"1ns\"",
    "generators = 9223372036854775807",
    "backoff.decorrelated = { base = \"1s\", cap = \"0s\" }",
    "backoff.exponential = { base = \"1ns\", factor = 1e300, jitter.lognormal = { sigma = 10 } }",
    "max_attempts = \"unlimited\"",
    "retry_on = []",
    "bin = \"1ns\"",
    "warmup = \"19s\"",
    "drain = \"366d\"",
    "[[fault]]",
    "surge = 1000000",
    "slow_down = 0",
    "workers = 0",
    "latency = \"366d\"",
    "fail_every = 1",
    "every = \"3s\"",
    "times = 10000",
    "ramp_up = \"1s\"",
    "[[strategy]]",
    "[[clients]]",
    "pool = { size = 1, wait = \"0s\" }",
    "arrivals.closed_loop = { think = \"1ns\", start = \"at_once\" }",
];

/// Sound scenarios to start from.
fn seeds() -> [String; 4] {
    let closed = SMALL.replace(
        "poisson = { rate = \"40/s\" }",
        "closed_loop = { think = \"100ms\", start = \"spread\" }",
    );
    let burst = SMALL.replace(
        "poisson = { rate = \"40/s\" }",
        "burst = { at = \"1s\", requests = 3, spread = \"2s\" }",
    );
    let shaped = SMALL.replace(
        "outage = \"refuse\"",
        "surge = 3\nramp_up = \"1s\"\nevery = \"4s\"\ntimes = 3",
    );
    [SMALL.into(), closed, burst, shaped]
}

/// One change of a text: what to do, where, and with what.
type Change = (u8, usize, usize);

fn change(text: &str, (kind, at, with): Change) -> String {
    let mut lines: Vec<String> = text.lines().map(Into::into).collect();
    if lines.is_empty() {
        return ODD[with % ODD.len()].into();
    }
    let i = at % lines.len();
    let j = with % lines.len();
    match kind % 8 {
        0 => drop(lines.remove(i)),
        1 => lines.insert(j, lines[i].clone()),
        2 => lines.swap(i, j),
        3 | 4 => {
            if let Some((key, _)) = lines[i].split_once(" = ") {
                lines[i] = format!("{key} = {}", ODD[with % ODD.len()]);
            }
        }
        5 => lines.insert(i, LINES[with % LINES.len()].into()),
        6 => {
            // A number becomes an extreme one, inside whatever it stands in.
            let digits = lines[i].find(|c: char| c.is_ascii_digit());
            if let Some(start) = digits {
                let rest = lines[i][start..].find(|c: char| !c.is_ascii_digit());
                let end = rest.map_or(lines[i].len(), |length| start + length);
                let extreme = ["0", "1", "999999999", "1e300", "00000000001e-9"][with % 5];
                lines[i].replace_range(start..end, extreme);
            }
        }
        _ => {
            let mut bytes = lines[i].clone().into_bytes();
            let place = with % (bytes.len() + 1);
            bytes.insert(place, (with / 7 % 256) as u8);
            lines[i] = String::from_utf8_lossy(&bytes).into_owned();
        }
    }
    lines.join("\n")
}

fn mutant((seed, changes): (usize, Vec<Change>)) -> String {
    let seeds = seeds();
    changes
        .into_iter()
        .fold(seeds[seed % seeds.len()].clone(), |text, one| {
            change(&text, one)
        })
}

fn mutants() -> impl Strategy<Value = String> {
    let change = (any::<u8>(), any::<usize>(), any::<usize>());
    (any::<usize>(), prop::collection::vec(change, 1..4)).prop_map(mutant)
}

/// The plan of a text, if it is a sound scenario.
fn plan(text: &str) -> Option<(Scenario, Plan)> {
    let scenario = Scenario::parse("mutant", text, Path::new("/nowhere")).ok()?;
    let plan = Plan::assemble(&scenario).ok()?;
    Some((scenario, plan))
}

/// A sound scenario written out reads back as itself.
fn reads_back(scenario: &Scenario) {
    let text = scenario.resolved();
    let again = Scenario::parse("again", &text, Path::new("/nowhere"));
    let again = again.unwrap_or_else(|error| panic!("{:?}\n{text}", error.problems));
    assert_eq!(again.spec, scenario.spec, "{text}");
    assert_eq!(again.resolved(), text);
}

/// How many mutants a test tries; `MUTANTS` asks for more.
fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("MUTANTS")
        .ok()
        .and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked.unwrap_or(usual),
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}

#[test]
fn mutants_are_neither_all_sound_nor_all_wrong() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let sound = (0..500).filter(|_| {
        let text = mutants().new_tree(&mut runner).expect("a mutant").current();
        plan(&text).is_some()
    });
    let sound = sound.count();
    assert!((40..450).contains(&sound), "{sound} of 500 are sound");
}

proptest! {
    #![proptest_config(cases(3_000))]

    #[test]
    fn no_text_makes_the_reader_panic(text in mutants()) {
        if let Some((scenario, _)) = plan(&text) {
            reads_back(&scenario);
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn whatever_is_accepted_can_run(text in mutants()) {
        // The same world in small: a short run of few requests.
        let small = text.replace("duration = \"20s\"", "duration = \"2s\"\nmax_requests = 20000");
        if let Some((scenario, mut plan)) = plan(&small) {
            plan.replications = plan.replications.min(1);
            let result = retrystorm::experiment::run(&scenario, &plan, 1, &|| ());
            if let Err(error) = result {
                let stuck = matches!(error, retrystorm::experiment::RunError::Stuck { .. });
                prop_assert!(stuck, "{}\n{}", error, small);
            }
        }
    }
}
