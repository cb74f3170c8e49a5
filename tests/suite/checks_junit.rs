//! Checks for a build server: the file has the common form whatever names are in it, and leads back to the run.

use crate::checks::{FAILS, HOLDS, checked, gate_in, own_success};
use crate::program::{folder, names, run, texts};
use resvg::usvg::roxmltree::{Document, Node};
use std::fs;

#[test]
fn several_scenarios_all_run_and_one_that_fails_decides() {
    let home = folder();
    let dir = home.path();
    fs::write(dir.join("a.toml"), checked(&[FAILS])).unwrap();
    fs::write(dir.join("b.toml"), checked(&[HOLDS])).unwrap();
    let both = [
        "run",
        "a.toml",
        "b.toml",
        "--no-charts",
        "--junit",
        "deep/checks.xml",
    ];
    let output = run(dir, &both);
    assert_eq!(output.status.code(), Some(1), "{}", texts(&output).1);
    assert_eq!(names(&dir.join("output")), ["a", "b"]);
    let text = fs::read_to_string(dir.join("deep/checks.xml")).unwrap();
    let document = Document::parse(&text).unwrap();
    validate(&document);
    let suites: Vec<_> = document
        .root_element()
        .children()
        .filter(Node::is_element)
        .collect();
    let tests = |i: usize| (suites[i].attribute("name"), suites[i].attribute("failures"));
    assert_eq!(tests(0), (Some("a"), Some("1")));
    assert_eq!(tests(1), (Some("b"), Some("0")));
    assert_eq!(
        names(&dir.join("deep")),
        ["checks.xml"],
        "no temporary files"
    );
    // A mistake and a run that fails weigh more.
    fs::write(dir.join("b.toml"), "[run]").unwrap();
    assert_eq!(run(dir, &both).status.code(), Some(2));
    let endless = checked(&[]).replace("seed = 7", "seed = 7\nmax_requests = 820");
    fs::write(dir.join("b.toml"), endless).unwrap();
    assert_eq!(run(dir, &both).status.code(), Some(3));
}

#[test]
fn a_file_that_cannot_be_written_is_found_before_the_run() {
    let home = folder();
    let dir = home.path();
    fs::write(dir.join("small.toml"), checked(&[HOLDS])).unwrap();
    fs::create_dir(dir.join("folder")).unwrap();
    for path in ["folder", "small.toml/checks.xml", "output/small/checks.xml"] {
        let (code, stdout, stderr) = gate_in(dir, &["--junit", path]);
        assert_eq!(code, 3, "{path}: {stderr}");
        assert!(
            stdout.is_empty() && stderr.contains("help: "),
            "{path}: {stderr}"
        );
        assert_eq!(names(dir), ["folder", "small.toml"], "{path}");
    }
}

#[test]
fn a_file_without_checks_is_empty_and_warned_of() {
    let home = folder();
    let (code, _, stderr) = gate_in(home.path(), &["--junit", "checks.xml", "--until-decided"]);
    assert_eq!(code, 0);
    assert!(stderr.contains("no scenario has a [[check]]"), "{stderr}");
    assert!(
        stderr.contains("there is no [[check]] to decide"),
        "{stderr}"
    );
    let text = fs::read_to_string(home.path().join("checks.xml")).unwrap();
    let document = Document::parse(&text).unwrap();
    validate(&document);
    assert_eq!(document.root_element().attribute("tests"), Some("0"));
}

/// An element of the form that Jenkins publishes as junit-10.xsd, as far as it is written here.
struct Rule {
    element: &'static str,
    /// Attributes that have to be there.
    required: &'static [&'static str],
    /// Attributes that may be there as well.
    allowed: &'static [&'static str],
    children: &'static [&'static str],
}

const RULES: [Rule; 5] = [
    Rule {
        element: "testsuites",
        required: &[],
        allowed: &["name", "time", "tests", "failures", "errors"],
        children: &["testsuite"],
    },
    Rule {
        element: "testsuite",
        required: &["name", "tests", "failures", "errors"],
        allowed: &[
            "group",
            "time",
            "skipped",
            "timestamp",
            "hostname",
            "id",
            "package",
            "file",
            "log",
            "url",
            "version",
        ],
        children: &[
            "testsuite",
            "properties",
            "testcase",
            "system-out",
            "system-err",
        ],
    },
    Rule {
        element: "testcase",
        required: &["name"],
        allowed: &["time", "classname", "group"],
        children: &["skipped", "error", "failure", "system-out", "system-err"],
    },
    Rule {
        element: "failure",
        required: &[],
        allowed: &["type", "message"],
        children: &[],
    },
    Rule {
        element: "skipped",
        required: &[],
        allowed: &["type", "message"],
        children: &[],
    },
];

/// Whether a document keeps the rules of the form, counts included. There is no time in it.
fn validate(document: &Document<'_>) {
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "testsuites");
    for node in root.descendants().filter(Node::is_element) {
        let name = node.tag_name().name();
        let rule = RULES.iter().find(|rule| rule.element == name).expect(name);
        let Rule {
            required,
            allowed,
            children,
            ..
        } = rule;
        for attribute in node.attributes() {
            let known = required.iter().chain(*allowed);
            assert!(
                known.clone().any(|a| *a == attribute.name()),
                "{name}: {attribute:?}"
            );
            assert!(!attribute.name().starts_with("time"), "{attribute:?}");
        }
        for attribute in *required {
            assert!(
                node.attribute(*attribute).is_some(),
                "{name} needs {attribute}"
            );
        }
        for child in node.children().filter(Node::is_element) {
            assert!(
                children.contains(&child.tag_name().name()),
                "{name}: {child:?}"
            );
        }
        let texts = node.children().filter(|child| child.is_text());
        let text = texts.filter_map(|child| child.text());
        let blank = text.clone().all(|text| text.trim().is_empty());
        assert!(
            blank || name == "failure",
            "{name}: {:?}",
            text.collect::<Vec<_>>()
        );
        if name.starts_with("testsuite") {
            check_counts(node);
        }
    }
}

fn check_counts(node: Node<'_, '_>) {
    let count = |name: &str| {
        let found = node.descendants().filter(|n| n.has_tag_name(name));
        found.count().to_string()
    };
    for (attribute, element) in [
        ("tests", "testcase"),
        ("failures", "failure"),
        ("errors", "error"),
        ("skipped", "skipped"),
    ] {
        if let Some(told) = node.attribute(attribute) {
            assert_eq!(told, count(element), "{attribute} of {node:?}");
        }
    }
}

#[test]
fn the_rules_of_the_form_can_be_broken() {
    for wrong in [
        "<testsuite name='a' tests='0' failures='0' errors='0'/>",
        "<testsuites skipped='0'/>",
        "<testsuites tests='1'/>",
        "<testsuites><testsuite tests='0' failures='0' errors='0'/></testsuites>",
        "<testsuites><testcase name='a'/></testsuites>",
    ] {
        let broken = std::panic::catch_unwind(|| validate(&Document::parse(wrong).unwrap()));
        assert!(broken.is_err(), "{wrong}");
    }
}

#[test]
fn a_build_server_reads_what_came_of_each_check() {
    let home = folder();
    let dir = home.path();
    let success = own_success();
    let open = ("success_rate", "full jitter", ">=", success.as_str());
    fs::write(
        dir.join("small.toml"),
        checked(&[HOLDS, FAILS, open, FAILS]),
    )
    .unwrap();
    let more = [
        "--junit",
        "checks.xml",
        "--seed",
        "7",
        "--set",
        "clients.count=50",
        "--only",
        "full jitter",
        "--only",
        "fixed",
        "--replications",
        "2",
        "--quiet",
    ];
    let (code, _, stderr) = gate_in(dir, &more);
    assert_eq!(code, 1, "{stderr}");
    let text = fs::read_to_string(dir.join("checks.xml")).unwrap();
    let document = Document::parse(&text).unwrap();
    validate(&document);
    let cases: Vec<_> = document
        .descendants()
        .filter(|n| n.has_tag_name("testcase"))
        .collect();
    let names: Vec<_> = cases
        .iter()
        .map(|case| case.attribute("name").unwrap())
        .collect();
    let open_name = format!("success_rate >= {success}");
    let expected = [
        "success_rate >= 20%",
        "amplification <= 0.5 (check 2)",
        open_name.as_str(),
        "amplification <= 0.5 (check 4)",
    ];
    assert_eq!(names, expected);
    assert_eq!(cases[0].attribute("classname"), Some("small.full jitter"));
    let failure = |i: usize| cases[i].children().find(|n| n.has_tag_name("failure"));
    assert!(failure(0).is_none());
    assert_eq!(failure(1).unwrap().attribute("type"), Some("does_not_hold"));
    assert_eq!(failure(2).unwrap().attribute("type"), Some("undecided"));
    let told = failure(1).unwrap().text().unwrap();
    assert!(
        told.contains("× (") && told.contains("misses by "),
        "{told}"
    );
    let command = told.split("repeat it with: ").nth(1).unwrap();
    assert_eq!(
        command,
        "retrystorm run small.toml --seed 7 --replications 2 --set clients.count=50 \
         --only 'full jitter' --only fixed"
    );
    // The same bytes with other threads; undecided checks are skipped where that is allowed.
    let again = [&more[..], &["--threads", "1"]].concat();
    assert_eq!(gate_in(dir, &again).0, 1);
    assert_eq!(fs::read_to_string(dir.join("checks.xml")).unwrap(), text);
    gate_in(dir, &[&more[..], &["--allow-undecided"]].concat());
    let text = fs::read_to_string(dir.join("checks.xml")).unwrap();
    let document = Document::parse(&text).unwrap();
    validate(&document);
    let skipped = document
        .descendants()
        .find(|n| n.has_tag_name("skipped"))
        .unwrap();
    assert!(
        skipped
            .attribute("message")
            .unwrap()
            .starts_with("undecided: ")
    );
}

#[cfg(unix)]
#[test]
fn the_command_that_repeats_a_check_repeats_it() {
    use std::process::Command;
    let name = r#"it's "$HOME" <b>&amp; `x` ]]>"#;
    let home = folder();
    let dir = home.path();
    let escaped = name.replace('"', "\\\"");
    let text = checked(&[FAILS]).replace("fixed\"", &format!("{escaped}\""));
    fs::write(dir.join("-a b.toml"), text).unwrap();
    let more = [
        "run",
        "./-a b.toml",
        "--no-charts",
        "--quiet",
        "--junit",
        "checks.xml",
        "--only",
        name,
        "--set",
        "clients.count=60",
        "--replications",
        "3",
        "--seed",
        "12",
    ];
    let first = run(dir, &more);
    assert_eq!(first.status.code(), Some(1), "{}", texts(&first).1);
    let text = fs::read_to_string(dir.join("checks.xml")).unwrap();
    let document = Document::parse(&text).unwrap();
    let failure = document
        .descendants()
        .find(|n| n.has_tag_name("failure"))
        .unwrap();
    let command = failure
        .text()
        .unwrap()
        .split("repeat it with: ")
        .nth(1)
        .unwrap();
    let arguments = command.strip_prefix("retrystorm").unwrap();
    let again = Command::new("sh")
        .current_dir(dir)
        .args(["-c", &format!("\"$0\" {arguments} --no-charts --quiet")])
        .arg(env!("CARGO_BIN_EXE_retrystorm"))
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1), "{}", texts(&again).1);
    assert_eq!(texts(&again), texts(&first));
    assert!(texts(&first).1.contains(name), "{}", texts(&first).1);
}

#[test]
fn hostile_names_make_no_broken_file() {
    for name in [
        "<x a='1'>&\u{ffff}\u{fffe}",
        "]]>",
        "指数 👩‍👩‍👧",
        "--",
        "\u{85}",
    ] {
        let home = tempfile::tempdir().unwrap();
        let file = format!("{}.toml", name.replace('\u{85}', "\u{1}\n\u{1b}"));
        let strategy = name.replace('\u{85}', "a");
        let text = checked(&[("amplification", "", "<=", "0.5")]);
        let text = text.replace("\"fixed\"", &format!("\"{strategy}\""));
        fs::write(home.path().join(&file), text).unwrap();
        let path = format!("./{file}");
        let output = run(
            home.path(),
            &["run", &path, "--no-charts", "--junit", "c.xml"],
        );
        assert_eq!(
            output.status.code(),
            Some(1),
            "{name:?}: {}",
            texts(&output).1
        );
        let text = fs::read_to_string(home.path().join("c.xml")).unwrap();
        let document = Document::parse(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        validate(&document);
        let legal =
            |c: char| c == '\n' || !(c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c));
        assert!(text.chars().all(legal), "{text:?}");
        let classes = document
            .descendants()
            .filter_map(|n| n.attribute("classname"));
        let shown = strategy.replace(['\u{ffff}', '\u{fffe}'], " ");
        assert!(
            classes.clone().any(|class| class.ends_with(&shown)),
            "{text}"
        );
    }
}
