//! The documents say what is true: their commands run, their scenarios parse, the reference is complete.

use retrystorm::decode::{Choice, VariantDoc};
use retrystorm::dist::Distribution;
use retrystorm::model::{
    Arrivals, Between, Discipline, Offset, OnAbandon, Outage, PoolScope, Redrive, Spacing, Start,
    TimeoutCovers,
};
use retrystorm::policy::admission::{Codel, ConcurrencyLimit, RateLimit, RetryAfter, WindowKind};
use retrystorm::policy::breaker::{Around, HalfOpen, Judge, RateWindow};
use retrystorm::policy::budget::{Charged, CountWindow, DepositAt, Limit, ShareOf};
use retrystorm::policy::{
    AboveCeiling, Backoff, CapOrder, CircuitBreaker, DeadlineCheck, HedgeAfter, Heed, Jitter,
    QuantileOf, RateLimiter, Reset, RetryBudget, Rounding, Scope, StateOwner,
};
use retrystorm::scenario::{Design, Plan, Relation, Scenario};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A fenced block of a document.
#[derive(Debug)]
struct Block {
    /// File and line, for messages.
    place: String,
    /// The word after the fence.
    language: String,
    /// What stands in it.
    text: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// README, CHANGELOG and everything in `docs`: path and text.
fn documents() -> Vec<(String, String)> {
    let mut paths = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    let docs = fs::read_dir(root().join("docs")).expect("there are documents");
    paths.extend(docs.map(|entry| entry.expect("it can be read").path()));
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    paths.sort();
    assert!(paths.len() >= 6, "the documents were not found");
    paths
        .iter()
        .map(|path| {
            let below = path
                .strip_prefix(root())
                .expect("it lies in the repository");
            let text = fs::read_to_string(path).expect("a text");
            (below.display().to_string(), text)
        })
        .collect()
}

fn blocks_of(path: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in (1..).zip(text.lines()) {
        match (line.strip_prefix("```"), &mut open) {
            (Some(language), None) => {
                open = Some(Block {
                    place: format!("{path}:{number}"),
                    language: language.trim().into(),
                    text: String::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text += &format!("{line}\n"),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{path}: a block is not closed");
    blocks
}

fn blocks(languages: &[&str]) -> Vec<Block> {
    let all = documents();
    let all = all.iter().flat_map(|(path, text)| blocks_of(path, text));
    all.filter(|block| languages.contains(&block.language.as_str()))
        .collect()
}

/// The words of a command line; quotes keep words together.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in line.split(" #").next().unwrap_or_default().chars() {
        match c {
            '"' => quoted = !quoted,
            ' ' if !quoted => {
                words.extend(Some(std::mem::take(&mut word)).filter(|w| !w.is_empty()))
            }
            c => word.push(c),
        }
    }
    words.extend(Some(word).filter(|word| !word.is_empty()));
    words
}

/// The arguments for the program in a command; `None` for a command that is run elsewhere.
fn arguments(command: &str) -> Option<Vec<String>> {
    let words = words(command);
    let start = |prefix: &[&str]| {
        words.len() >= prefix.len() && words.iter().zip(prefix).all(|(a, b)| a == b)
    };
    if start(&["retrystorm"]) {
        return Some(words[1..].to_vec());
    }
    if start(&["cargo", "run", "--release", "--"]) {
        return Some(words[4..].to_vec());
    }
    let elsewhere: [&[&str]; 3] = [&["cargo", "test"], &["cargo", "bench"], &[".ci/run"]];
    assert!(
        elsewhere.iter().any(|prefix| start(prefix)),
        "no test knows how to run `{command}`"
    );
    None
}

fn program(arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_retrystorm"))
        .args(arguments)
        .current_dir(root())
        .output()
        .expect("the program starts")
}

/// Makes a run short, and lets it write below `out`.
fn shorten(arguments: &mut Vec<String>, out: &Path) {
    // Checks are about the whole scenario, and that one is short.
    if arguments[1] != "scenarios/retry_gate.toml" {
        let short = ["--replications", "1", "--set", "run.duration=45s"];
        arguments.extend(short.map(String::from));
    }
    if let Some(at) = arguments.iter().position(|word| word == "--junit") {
        arguments[at + 1] = out.join(&arguments[at + 1]).display().to_string();
    }
    redirect(arguments, out);
}

/// Lets a run write below `out`, and a comparison read what was written there.
fn redirect(arguments: &mut Vec<String>, out: &Path) {
    let below = |folder: &String| out.join(folder).display().to_string();
    if arguments[0] == "compare" {
        let folders = arguments.iter_mut().skip(1).take(2);
        folders.for_each(|folder| *folder = below(folder));
        return;
    }
    let named = arguments.iter().position(|argument| argument == "--out");
    let folder = named.map_or(out.display().to_string(), |i| below(&arguments[i + 1]));
    if let Some(i) = named {
        arguments.drain(i..i + 2);
    }
    arguments.extend(["--out".to_owned(), folder]);
}

#[test]
fn every_command_of_the_documents_runs() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let mut run = 0;
    for block in blocks(&["sh", "console"]) {
        // The commands of the guide run in full, below.
        let guides = GUIDES.iter().map(|(guide, _)| *guide).chain([TUTORIAL]);
        if guides
            .into_iter()
            .any(|guide| block.place.starts_with(guide))
        {
            continue;
        }
        for line in block.text.lines().filter(|line| !line.is_empty()) {
            let command = line.strip_prefix("$ ").unwrap_or(line);
            let Some(mut arguments) = arguments(command) else {
                continue;
            };
            let first = arguments.first().cloned().unwrap_or_default();
            if first == "run" {
                shorten(&mut arguments, out.path());
            } else if first == "compare" {
                redirect(&mut arguments, out.path());
            } else if first == "sweep" {
                let short = ["--replications", "1", "--no-charts", "--out"];
                arguments.extend(short.map(String::from));
                arguments.push(out.path().display().to_string());
            }
            let done = program(&arguments);
            let error = String::from_utf8_lossy(&done.stderr);
            assert!(done.status.success(), "{}: {command}\n{error}", block.place);
            run += 1;
        }
    }
    assert!(run >= 6, "only {run} commands were found");
}

#[test]
fn the_readme_begins_with_the_two_commands() {
    let documents = documents();
    let (path, text) = documents
        .iter()
        .find(|(path, _)| path == "README.md")
        .expect("a README");
    let first = &blocks_of(path, text)[0];
    assert_eq!(
        first.text,
        "cargo run --release -- run scenarios/restart_herd.toml\ncargo test --release\n"
    );
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes seconds without optimisation")]
fn the_readme_shows_the_table_that_the_main_command_prints() {
    let out = tempfile::tempdir().expect("a temporary folder");
    let folder = out.path().display().to_string();
    let arguments = [
        "run",
        "scenarios/restart_herd.toml",
        "--no-charts",
        "--out",
        &folder,
    ];
    let done = program(&arguments.map(String::from));
    let table = String::from_utf8(done.stdout).expect("a text");
    let shown = blocks(&["text"])
        .into_iter()
        .find(|block| block.place.starts_with("README.md"));
    assert_eq!(shown.expect("the README shows a table").text, table);
}

/// Guides whose figures are those that their commands print, and how many blocks of them there are at the least.
const GUIDES: [(&str, usize); 2] = [("docs/explain.md", 4), ("docs/limits.md", 10)];

/// The tutorial works on a file of its own. What is to be appended to that stands in blocks of TOML.
const TUTORIAL: &str = "docs/tutorial.md";

#[test]
#[cfg_attr(debug_assertions, ignore = "takes seconds without optimisation")]
fn the_tutorial_does_what_it_says() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let text = fs::read_to_string(root().join(TUTORIAL)).expect("there is a tutorial");
    let (mut printed, mut shown, mut broken) = (String::new(), 0, 0);
    for block in blocks_of(TUTORIAL, &text) {
        match block.language.as_str() {
            "text" => {
                assert!(printed.contains(&block.text), "{}\n{printed}", block.place);
                shown += 1;
            }
            "toml" => {
                let file = home.path().join("mine.toml");
                let mine = fs::read_to_string(&file).expect("it was written");
                fs::write(&file, format!("{mine}\n{}", block.text)).expect("it can be written");
            }
            _ => {
                let command = block.text.trim().strip_prefix("$ ").expect("a command");
                let mut arguments = arguments(command).expect("a command of this program");
                if arguments[0] == "run" {
                    arguments.push("--no-charts".into());
                }
                let mut program = Command::new(env!("CARGO_BIN_EXE_retrystorm"));
                let done = program.args(&arguments).current_dir(home.path()).output();
                let done = done.expect("the program starts");
                let code = done.status.code();
                assert!(matches!(code, Some(0 | 1)), "{command}: {code:?}");
                broken += i32::from(code == Some(1));
                printed = String::from_utf8(done.stdout).expect("a text");
            }
        }
    }
    assert_eq!((shown, broken), (9, 1));
}

/// What stands in a block of text is a part of what the last command before it prints.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes seconds without optimisation")]
fn guides_show_what_their_commands_print() {
    let out = tempfile::tempdir().expect("a temporary folder");
    for (guide, least) in GUIDES {
        let text = fs::read_to_string(root().join(guide)).expect("there is a guide");
        let mut printed = String::new();
        let mut shown = 0;
        for block in blocks_of(guide, &text) {
            if block.language == "text" {
                assert!(printed.contains(&block.text), "{}\n{printed}", block.place);
                shown += 1;
            }
            for command in block
                .text
                .lines()
                .filter_map(|line| line.strip_prefix("$ "))
            {
                let mut arguments = arguments(command).expect("a command of this program");
                if arguments[0] != "explain" {
                    redirect(&mut arguments, out.path());
                }
                if arguments[0] == "run" {
                    arguments.push("--no-charts".into());
                }
                let done = program(&arguments);
                assert!(done.status.success(), "{command}");
                printed = String::from_utf8(done.stdout).expect("a text");
            }
        }
        assert!(shown >= least, "{guide}: only {shown} blocks were found");
    }
}

/// Keys of a strategy with which a fragment may begin.
const RULES: [&str; 10] = [
    "hedge",
    "callers",
    "dead_letters",
    "backoff",
    "budget",
    "breaker",
    "throttle",
    "rate_limit",
    "health",
    "hints",
];

/// What surrounds a fragment of a scenario to make it whole.
fn completed(fragment: &str) -> String {
    let first = fragment.lines().next().unwrap_or_default();
    let has = |table: &str| fragment.lines().any(|line| line.trim().starts_with(table));
    let within = |keys: &[&str]| keys.iter().any(|key| first.starts_with(key));
    let mut text = String::new();
    if !has("[run]") {
        text += "[run]\nduration = \"60s\"\n";
    }
    if !has("[clients]") && !has("[[clients]]") {
        text += "[clients]\ncount = 10\n";
        text += if within(&["arrivals"]) {
            fragment
        } else {
            "arrivals.poisson.rate = \"1/s\"\n"
        };
        text += if within(&["pool"]) { fragment } else { "" };
    }
    if !has("[service.") {
        text += "[service.api]\nworkers = 2\nservice_time = \"10ms\"\n";
        text += if within(&["failures", "network", "queue"]) {
            fragment
        } else {
            ""
        };
    }
    if within(&["["]) {
        text += &fragment.replace(
            "[backoff",
            "[[strategy]]\nname = \"a\"\nmax_attempts = 3\n[strategy.backoff",
        );
    }
    if !has("[[strategy]]") && !has("[backoff") {
        text += "[[strategy]]\nname = \"old\"\nmax_attempts = 3\nattempt_timeout = \"1s\"\n";
        text += if within(&RULES) { fragment } else { "" };
        text += "[[strategy]]\nname = \"full jitter\"\nmax_attempts = 3\nbackoff.exponential = { base = \"1s\", jitter = \"full\" }\n";
        text += "[[strategy]]\nname = \"exponential\"\nmax_attempts = 3\nbackoff.exponential.base = \"1s\"\n";
        text += "[[strategy]]\nname = \"fixed\"\nmax_attempts = 3\nbackoff.fixed.delay = \"1s\"\n";
    }
    if ["recovery_s", "fault["]
        .iter()
        .any(|word| fragment.contains(word))
        && !has("[[fault]]")
    {
        text += "[[fault]]\nat = \"20s\"\nlasts = \"5s\"\noutage = \"refuse\"\n";
    }
    text
}

#[test]
fn every_scenario_in_the_documents_is_sound() {
    let mut blocks = blocks(&["toml"]);
    blocks.retain(|block| !block.place.starts_with(TUTORIAL));
    assert!(
        blocks.len() >= 10,
        "only {} blocks were found",
        blocks.len()
    );
    for block in blocks {
        let whole = ["[run]", "[clients]", "[service.", "[[strategy]]"]
            .iter()
            .all(|table| block.text.contains(table));
        let text = if whole {
            block.text.clone()
        } else {
            completed(&block.text)
        };
        let base = root().join("scenarios");
        let scenario = Scenario::parse(&block.place, &text, &base)
            .unwrap_or_else(|error| panic!("{}:\n{text}\n{:#?}", block.place, error.problems));
        if let Err(problems) = Plan::assemble(&scenario) {
            panic!("{}: {problems:#?}", block.place);
        }
        let kept = block
            .text
            .lines()
            .all(|line| whole || line.starts_with('[') || text.contains(line));
        assert!(kept, "{}: a part of it was not read", block.place);
    }
}

/// Every closed set: its name in the source and its forms.
fn sets() -> Vec<(&'static str, &'static [VariantDoc])> {
    vec![
        ("Arrivals", Arrivals::VARIANTS),
        ("Between", Between::VARIANTS),
        ("Discipline", Discipline::VARIANTS),
        ("Offset", Offset::VARIANTS),
        ("OnAbandon", OnAbandon::VARIANTS),
        ("Outage", Outage::VARIANTS),
        ("PoolScope", PoolScope::VARIANTS),
        ("Spacing", Spacing::VARIANTS),
        ("Start", Start::VARIANTS),
        ("TimeoutCovers", TimeoutCovers::VARIANTS),
        ("Form", Distribution::VARIANTS),
        ("Backoff", Backoff::VARIANTS),
        ("CapOrder", CapOrder::VARIANTS),
        ("Jitter", Jitter::VARIANTS),
        ("Reset", Reset::VARIANTS),
        ("Rounding", Rounding::VARIANTS),
        ("StateOwner", StateOwner::VARIANTS),
        ("Scope", Scope::VARIANTS),
        ("RetryBudget", RetryBudget::VARIANTS),
        ("Charged", Charged::VARIANTS),
        ("Limit", Limit::VARIANTS),
        ("CountWindow", CountWindow::VARIANTS),
        ("ShareOf", ShareOf::VARIANTS),
        ("DepositAt", DepositAt::VARIANTS),
        ("CircuitBreaker", CircuitBreaker::VARIANTS),
        ("RateWindow", RateWindow::VARIANTS),
        ("HalfOpen", HalfOpen::VARIANTS),
        ("Judge", Judge::VARIANTS),
        ("Around", Around::VARIANTS),
        ("RateLimiter", RateLimiter::VARIANTS),
        ("Heed", Heed::VARIANTS),
        ("AboveCeiling", AboveCeiling::VARIANTS),
        ("Codel", Codel::VARIANTS),
        ("ConcurrencyLimit", ConcurrencyLimit::VARIANTS),
        ("RateLimit", RateLimit::VARIANTS),
        ("WindowKind", WindowKind::VARIANTS),
        ("RetryAfter", RetryAfter::VARIANTS),
        ("DeadlineCheck", DeadlineCheck::VARIANTS),
        ("Redrive", Redrive::VARIANTS),
        ("HedgeAfter", HedgeAfter::VARIANTS),
        ("QuantileOf", QuantileOf::VARIANTS),
        ("Relation", Relation::VARIANTS),
        ("Design", Design::VARIANTS),
    ]
}

fn reference() -> String {
    fs::read_to_string(root().join("docs/scenario.md")).expect("there is a reference")
}

#[test]
fn every_form_of_every_set_stands_in_the_reference_with_its_example() {
    let reference = reference();
    for (set, forms) in sets() {
        for form in forms {
            let row = format!(
                "| `{}` | `{}` | {} |",
                form.name,
                form.example,
                meaning(form)
            );
            assert!(
                reference.contains(&row),
                "{set}: docs/scenario.md lacks\n{row}"
            );
        }
    }
}

/// The doc comment as one line.
fn meaning(form: &VariantDoc) -> String {
    let words: Vec<&str> = form.meaning.split_whitespace().collect();
    words.join(" ")
}

/// The definitions that `start` begins, in the sources below `src` without their tests: name and body.
fn definitions(folder: &Path, start: &str, kind: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("sources").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(definitions(&path, start, kind));
            continue;
        }
        if path.file_name().is_some_and(|name| name == "tests.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for body in code.split(&format!("\n{start}")).skip(1) {
            let body = body.split("\n}").next().unwrap_or_default();
            let name = body.split(kind).nth(1).unwrap_or_default();
            let name = name.split([' ', '{']).next().unwrap_or_default();
            found.push((name.to_owned(), body.to_owned()));
        }
    }
    found
}

#[test]
fn no_set_is_forgotten() {
    let known = sets();
    let defined = definitions(&root().join("src"), "choice! {", "pub enum ");
    assert!(defined.len() >= 15, "the sources were not found");
    for (name, _) in defined {
        assert!(
            known.iter().any(|(set, _)| *set == name),
            "add {name} to this test"
        );
    }
}

#[test]
fn every_key_stands_in_the_reference_with_its_meaning() {
    let reference = reference();
    let mut keys = 0;
    for (record, body) in definitions(&root().join("src"), "record! {", "pub struct ") {
        let mut meaning = Vec::new();
        for line in body.lines().map(str::trim) {
            if let Some(text) = line.strip_prefix("/// ") {
                meaning.push(text);
                continue;
            }
            let key = line.split(':').next().unwrap_or_default();
            if line.contains(": ") && key.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
                let end = format!("| {} |", meaning.join(" "));
                let stands = reference
                    .lines()
                    .any(|row| row.contains(&format!("| `{key}` |")) && row.ends_with(&end));
                assert!(
                    stands,
                    "{record}: docs/scenario.md lacks a row for `{key}` that ends with\n{end}"
                );
                keys += 1;
            }
            meaning.clear();
        }
    }
    assert!(keys >= 90, "only {keys} keys were found");
}

/// The name that a heading has in a link.
fn anchor(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c),
            _ => None,
        })
        .collect()
}

#[test]
fn links_lead_somewhere() {
    let documents = documents();
    for (path, text) in &documents {
        let folder = Path::new(path).parent().unwrap_or(Path::new(""));
        let targets = text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.starts_with("https://")) {
            let (file, part) = target.split_once('#').unwrap_or((target, ""));
            let file = if file.is_empty() {
                PathBuf::from(path)
            } else {
                folder.join(file)
            };
            assert!(root().join(&file).exists(), "{path}: {target}");
            if !part.is_empty() {
                let text = fs::read_to_string(root().join(&file)).expect("a text");
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.map(|line| anchor(line.trim_start_matches('#').trim_start()));
                assert!(
                    found.into_iter().any(|name| name == part),
                    "{path}: {target}"
                );
            }
        }
    }
}
