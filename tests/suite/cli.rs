//! The command line: what each option does, what is written where, and what a failure leaves behind.

use crate::program::{SMALL, folder, names, program, run, texts};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

const DATA_FILES: [&str; 9] = [
    "attempts.csv",
    "comparison.csv",
    "latency.csv",
    "replications.csv",
    "report.md",
    "scenario.toml",
    "summary.csv",
    "theory.csv",
    "timeline.csv",
];

/// Runs `small.toml` into `out` without charts; it must succeed.
fn small(dir: &Path, out: &str, more: &[&str]) -> (String, String) {
    let arguments = [&["run", "small.toml", "--no-charts", "--out", out], more].concat();
    let output = run(dir, &arguments);
    let said = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{more:?}: {}", said.1);
    said
}

fn read(dir: &Path, path: &str) -> String {
    fs::read_to_string(dir.join(path)).expect(path)
}

/// The content of every file of a folder.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let content = |name: String| (name.clone(), fs::read(dir.join(&name)).unwrap());
    names(dir).into_iter().map(content).collect()
}

#[test]
fn a_run_writes_exactly_its_files() {
    let home = folder();
    let dir = home.path();
    let output = run(dir, &["run", "small.toml"]);
    let (stdout, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let charts = [
        "latency",
        "load",
        "lost",
        "price",
        "success",
        "success_over_time",
        "tries",
        "waiting",
    ];
    let charts = charts.map(|name| [format!("{name}.svg"), format!("{name}.png")]);
    let files = DATA_FILES.map(String::from).into_iter();
    let mut all: Vec<String> = files.chain(charts.into_iter().flatten()).collect();
    all.sort_unstable();
    assert_eq!(names(&dir.join("output/small")), all);
    assert_eq!(names(dir), ["output", "small.toml"]);
    assert!(stdout.contains("full jitter"), "{stdout}");
    assert!(
        stderr.contains("wrote 25 files to output/small"),
        "{stderr}"
    );
    assert!(
        !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
        "escape codes in a pipe"
    );
    small(dir, "plain", &[]);
    assert_eq!(names(&dir.join("plain/small")), DATA_FILES);
}

#[test]
fn quiet_prints_nothing_and_json_stands_alone() {
    let home = folder();
    let dir = home.path();
    assert_eq!(
        small(dir, "a", &["--quiet"]),
        (String::new(), String::new())
    );
    for more in [&["--json"][..], &["--json", "--quiet"]] {
        let (stdout, stderr) = small(dir, "a", more);
        let json: serde_json::Value = serde_json::from_str(&stdout).expect("one JSON value");
        assert!(json.to_string().contains("full jitter"));
        assert_eq!(stderr.is_empty(), more.len() == 2, "{stderr}");
    }
    let output = run(
        dir,
        &["run", "small.toml", "--quiet", "--set", "run.sede=1"],
    );
    assert!(
        texts(&output).1.contains("did you mean `seed`?"),
        "errors are still told"
    );
}

#[test]
fn the_log_of_attempts_agrees_with_the_summary() {
    let home = folder();
    let dir = home.path();
    small(dir, "a", &["--events"]);
    let log = read(dir, "a/small/events.jsonl");
    let mut attempts: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for line in log.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("a JSON line");
        let counts = attempts
            .entry(line["strategy"].as_str().unwrap().into())
            .or_default();
        counts.0 += 1;
        counts.1 += u64::from(line["next"] == "succeeded");
        assert!(line["ended_s"].as_f64() >= line["sent_s"].as_f64());
    }
    let summary = read(dir, "a/small/summary.csv");
    let mut rows = csv::Reader::from_reader(summary.as_bytes());
    let header = rows.headers().unwrap().clone();
    let column = |name: &str| header.iter().position(|h| h == name).expect(name);
    let (strategy, sent, succeeded) = (column("strategy"), column("attempts"), column("succeeded"));
    let mut compared = 0;
    for row in rows.records().map(Result::unwrap) {
        let counts = (row[sent].parse().unwrap(), row[succeeded].parse().unwrap());
        assert_eq!(attempts[&row[strategy]], counts, "{}", &row[strategy]);
        compared += 1;
    }
    assert_eq!(compared, 3);
    assert!(read(dir, "a/small/scenario.toml").contains("replications = 1"));
}

#[test]
fn threads_do_not_change_a_byte() {
    let home = folder();
    let dir = home.path();
    small(
        dir,
        "t1",
        &["--threads", "1", "--events", "--replications", "5"],
    );
    let one = contents(&dir.join("t1/small"));
    assert_eq!(one.len(), 10);
    for threads in ["2", "8", "0", "1000000000"] {
        small(
            dir,
            "t",
            &["--threads", threads, "--events", "--replications", "5"],
        );
        assert_eq!(contents(&dir.join("t/small")), one, "{threads} threads");
    }
}

#[test]
fn the_order_of_strategies_changes_no_number() {
    let home = folder();
    let dir = home.path();
    let mut parts: Vec<&str> = SMALL.split("\n[[strategy]]").collect();
    parts[1..].reverse();
    fs::create_dir(dir.join("other")).unwrap();
    fs::write(dir.join("other/small.toml"), parts.join("\n[[strategy]]")).unwrap();
    small(dir, "a", &[]);
    let output = run(
        dir,
        &["run", "other/small.toml", "--no-charts", "--out", "b"],
    );
    assert_eq!(output.status.code(), Some(0));
    let sorted = |path: &str| {
        let mut lines: Vec<String> = read(dir, path).lines().map(Into::into).collect();
        lines.sort();
        lines
    };
    for file in ["summary.csv", "timeline.csv", "attempts.csv"] {
        assert_eq!(
            sorted(&format!("a/small/{file}")),
            sorted(&format!("b/small/{file}")),
            "{file}"
        );
    }
}

#[test]
fn options_change_the_run_and_stand_in_the_resolved_scenario() {
    let home = folder();
    let dir = home.path();
    small(
        dir,
        "a",
        &[
            "--seed",
            "99",
            "--replications",
            "3",
            "--set",
            "service.api.workers=9",
        ],
    );
    let resolved = read(dir, "a/small/scenario.toml");
    for line in [
        "seed = 99",
        "replications = 3",
        "workers = 9",
        "# Does it work?",
    ] {
        assert!(resolved.lines().any(|l| l == line), "{line}: {resolved}");
    }
    small(dir, "b", &["--only", "full jitter"]);
    let summary = read(dir, "b/small/summary.csv");
    assert!(
        summary.contains("full jitter") && !summary.contains("no retries"),
        "{summary}"
    );
    small(
        dir,
        "c",
        &["--set", "strategy.fixed.backoff.fixed.delay=2s"],
    );
    assert!(read(dir, "c/small/scenario.toml").contains("delay = \"2s\""));
}

#[test]
fn the_resolved_scenario_is_a_fixed_point() {
    let home = folder();
    let dir = home.path();
    for (name, setting) in [
        ("plain", "run.seed=5"),
        (
            "closed",
            "clients.arrivals={ closed_loop = { think.exponential = { mean = \"0.3s\" } } }",
        ),
        (
            "shaped",
            "service.api.service_time={ lognormal = { mean = \"33.3ms\", cv = 1.7 } }",
        ),
        ("rare", "clients.arrivals.poisson.rate=0.123456789/m"),
    ] {
        small(dir, name, &["--set", setting]);
        let resolved = format!("{name}/small/scenario.toml");
        fs::create_dir(dir.join(format!("{name}2"))).unwrap();
        let copy = format!("{name}2/small.toml");
        fs::copy(dir.join(&resolved), dir.join(&copy)).unwrap();
        let again = format!("{name}3");
        let output = run(dir, &["run", &copy, "--no-charts", "--out", &again]);
        assert_eq!(output.status.code(), Some(0), "{}", texts(&output).1);
        assert_eq!(
            contents(&dir.join(name).join("small")),
            contents(&dir.join(again).join("small"))
        );
    }
}

#[test]
fn several_files_run_in_one_go() {
    let home = folder();
    let dir = home.path();
    fs::write(
        dir.join("second.toml"),
        SMALL.replace("seed = 7", "seed = 8"),
    )
    .unwrap();
    let output = run(dir, &["run", "small.toml", "second.toml", "--no-charts"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(names(&dir.join("output")), ["second", "small"]);
    let output = run(dir, &["validate", "small.toml", "second.toml"]);
    let (stdout, _) = texts(&output);
    assert_eq!(stdout.matches(": sound").count(), 2, "{stdout}");
    assert_eq!(
        names(dir),
        ["output", "second.toml", "small.toml"],
        "validate writes nothing"
    );
}

#[test]
fn what_is_in_the_way_is_never_replaced() {
    let home = folder();
    let dir = home.path();
    fs::write(dir.join("file"), "mine").unwrap();
    fs::create_dir_all(dir.join("foreign/small")).unwrap();
    fs::write(dir.join("foreign/small/thesis.tex"), "mine").unwrap();
    for out in ["file", "foreign"] {
        let output = run(dir, &["run", "small.toml", "--no-charts", "--out", out]);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(3), "{stderr}");
        assert!(stderr.contains("help: ") && stdout.is_empty(), "{stderr}");
    }
    assert_eq!(read(dir, "file"), "mine");
    assert_eq!(names(&dir.join("foreign/small")), ["thesis.tex"]);
    assert_eq!(names(&dir.join("foreign")), ["small"], "no temporary files");
}

#[test]
fn a_failure_leaves_earlier_output_as_it_was() {
    let home = folder();
    let dir = home.path();
    small(dir, "a", &[]);
    let before = contents(&dir.join("a/small"));
    let output = run(
        dir,
        &["run", "small.toml", "--out", "a", "--set", "run.duration=5"],
    );
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(contents(&dir.join("a/small")), before);
    assert_eq!(names(&dir.join("a")), ["small"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_long_run_at_once_and_leaves_nothing_behind() {
    use std::time::{Duration, Instant};
    let home = folder();
    let dir = home.path();
    small(dir, "a", &[]);
    let before = contents(&dir.join("a/small"));
    for more in [
        &["--replications", "100000"][..],
        &["--events", "--replications", "200"],
    ] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retrystorm"))
            .current_dir(dir)
            .args([
                "run",
                "small.toml",
                "--out",
                "a",
                "--set",
                "run.duration=100s",
            ])
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = Instant::now();
        std::thread::sleep(Duration::from_millis(700));
        // The second time the log of attempts is under way.
        while more.contains(&"--events") && names(&dir.join("a")).len() < 2 {
            assert!(started.elapsed() < Duration::from_secs(100));
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-INT", &pid])
                .status()
                .unwrap()
                .success()
        );
        let asked = Instant::now();
        let status = child.wait().unwrap();
        assert_eq!(status.code(), Some(130));
        assert!(
            asked.elapsed() < Duration::from_secs(10),
            "{:?}",
            asked.elapsed()
        );
        assert_eq!(contents(&dir.join("a/small")), before);
        assert_eq!(names(&dir.join("a")), ["small"]);
    }
}

#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let home = folder();
    for arguments in [
        &["run", "small.toml", "--json"][..],
        &["validate", "small.toml"],
        &["--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_retrystorm"));
        let output = command
            .current_dir(home.path())
            .args(arguments)
            .stdout(writer)
            .stderr(Stdio::piped())
            .spawn()
            .and_then(std::process::Child::wait_with_output)
            .unwrap();
        assert!(
            !String::from_utf8_lossy(&output.stderr).contains("panicked"),
            "{arguments:?}"
        );
    }
}

#[test]
fn colour_needs_a_terminal_and_no_objection() {
    let home = folder();
    for (name, value) in [
        ("NO_COLOR", "1"),
        ("TERM", "dumb"),
        ("TERM", "xterm-256color"),
    ] {
        let mut command = program(home.path());
        let command = command
            .env(name, value)
            .args(["run", "small.toml", "--no-charts"]);
        let (stdout, stderr) = texts(&command.output().unwrap());
        assert!(
            !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
            "{name}={value}"
        );
        assert!(!stdout.is_empty());
    }
}

#[test]
fn wrong_usage_names_the_usage_and_ends_with_two() {
    let home = folder();
    for arguments in [
        &[][..],
        &["walk"],
        &["run"],
        &["run", "small.toml", "--sed", "7"],
        &["run", "small.toml", "--seed", "x"],
    ] {
        let output = run(home.path(), arguments);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(
            stdout.is_empty() && stderr.contains("--help"),
            "{arguments:?}: {stderr}"
        );
    }
    assert_eq!(names(home.path()), ["small.toml"]);
}

/// The commands that help shows as examples.
fn examples(dir: &Path, command: &[&str]) -> Vec<Vec<String>> {
    let output = run(dir, &[command, &["--help"]].concat());
    assert_eq!(output.status.code(), Some(0));
    let help = texts(&output).0;
    let lines = help
        .lines()
        .filter_map(|line| line.trim().strip_prefix("retrystorm "));
    let words = |line: &str| {
        // Quotes hold words together.
        let parts = line.split('"').enumerate();
        let words = parts.flat_map(|(i, part)| match i % 2 {
            0 => part.split_whitespace().map(String::from).collect(),
            _ => vec![part.to_owned()],
        });
        words.collect::<Vec<String>>()
    };
    lines.map(words).collect()
}

#[test]
fn every_example_of_the_help_is_sound() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut count = 0;
    let runs = folder();
    small(runs.path(), "a", &[]);
    let before_and_after = runs.path().join("a/small").display().to_string();
    let table = runs.path().join("change.csv").display().to_string();
    let commands = [
        "run", "explain", "validate", "compare", "trace", "list", "new",
    ];
    let commands = commands.iter().map(|command| vec![*command]);
    for command in commands.chain([Vec::new()]) {
        let command = &command[..];
        let found = examples(root, command);
        assert!(!found.is_empty(), "{command:?} has an example");
        for example in found {
            // Checked but not run: a debug build would take minutes.
            let out = tempfile::tempdir().unwrap();
            let mut words: Vec<&str> = example.iter().map(String::as_str).collect();
            let fast = [
                "--no-charts",
                "--replications",
                "1",
                "--set",
                "run.duration=31s",
                "--set",
                "run.warmup=0s",
                "--out",
            ];
            let junit = out.path().join("checks.xml").display().to_string();
            if let Some(at) = words.iter().position(|word| *word == "--junit") {
                words[at + 1] = &junit;
            }
            if words[0] == "run" && words[1] == "scenarios/retry_gate.toml" {
                // Checks are about the whole scenario, and that one is short.
                words.extend(["--no-charts", "--out", out.path().to_str().unwrap()]);
            } else if words[0] == "run" {
                if let Some(at) = words.iter().position(|word| *word == "--replications") {
                    words.drain(at..at + 2);
                }
                words.retain(|word| *word != "--no-charts");
                words.extend(fast);
                words.push(out.path().to_str().unwrap());
            }
            let new = out.path().join("new.toml").display().to_string();
            if words[0] == "new" {
                words[1] = &new;
            }
            if words[0] == "compare" {
                words[1..3].fill(&before_and_after);
                let file = words.iter_mut().find(|word| word.ends_with(".csv"));
                file.into_iter().for_each(|file| *file = &table);
            }
            let output = run(root, &words);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{words:?}: {}",
                texts(&output).1
            );
            count += 1;
        }
    }
    assert!(count >= 5, "{count} examples");
}
