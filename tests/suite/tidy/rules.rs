//! Rules about single files.

use super::source::{Source, indent_of};

/// Lines of code a file may have.
const LONGEST_FILE: usize = 400;
/// Lines a function may have, its first and last included.
const LONGEST_FUNCTION: usize = 60;

pub(super) fn opens_with_doc(source: &Source) -> Vec<String> {
    if source.is_test || source.text.starts_with("//! ") {
        Vec::new()
    } else {
        vec![source.complain(1, "it does not begin with `//!` and what it is for")]
    }
}

pub(super) fn file_length(source: &Source) -> Vec<String> {
    let lines = source.code.len();
    if source.is_test || lines <= LONGEST_FILE {
        return Vec::new();
    }
    vec![source.complain(
        1,
        &format!("{lines} lines of code; {LONGEST_FILE} at the most"),
    )]
}

pub(super) fn function_length(source: &Source) -> Vec<String> {
    if source.is_test {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (i, (number, line)) in source.code.iter().enumerate() {
        if !is_function(line.trim_start()) {
            continue;
        }
        let end = format!("{}}}", " ".repeat(indent_of(line)));
        let rest = &source.code[i..];
        let Some(last) = rest.iter().position(|(_, later)| later.trim_end() == end) else {
            continue;
        };
        let length = rest[last].0 - number + 1;
        let has_body = rest[..last].iter().any(|(_, line)| line.ends_with('{'));
        if has_body && length > LONGEST_FUNCTION {
            let what = format!("a function of {length} lines; {LONGEST_FUNCTION} at the most");
            complaints.push(source.complain(*number, &what));
        }
    }
    complaints
}

/// Whether a line begins a function with a body on further lines.
fn is_function(line: &str) -> bool {
    let named = line.starts_with("fn ")
        || ["pub", "const", "async", "pub("]
            .iter()
            .any(|start| line.starts_with(start))
            && line.contains(" fn ");
    named && !line.ends_with(';') && !line.ends_with('}')
}

/// Complains about each line of code that holds one of `words`.
fn forbid(source: &Source, words: &[&str], why: &str) -> Vec<String> {
    if source.is_test {
        return Vec::new();
    }
    let mut complaints = Vec::new();
    for (number, line) in &source.code {
        for word in words.iter().filter(|word| holds(line, word)) {
            complaints.push(source.complain(*number, &format!("`{word}` {why}")));
        }
    }
    complaints
}

/// Whether a line holds a word that is not part of a longer one.
fn holds(line: &str, word: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + word.len()..]);
        let begins_earlier = part(before.chars().next_back());
        let goes_on = part(word.chars().next_back()) && part(after.chars().next());
        !begins_earlier && !goes_on
    })
}

pub(super) fn no_unwrap(source: &Source) -> Vec<String> {
    let code: Vec<_> = source
        .code
        .iter()
        .filter(|(_, line)| line.contains(".unwrap()"))
        .collect();
    if source.is_test {
        return Vec::new();
    }
    code.iter()
        .map(|(number, _)| {
            source.complain(*number, "`unwrap()`: say with `expect` why it cannot fail")
        })
        .collect()
}

pub(super) fn no_hashing(source: &Source) -> Vec<String> {
    if ["report", "cli"].contains(&source.module()) {
        return Vec::new();
    }
    forbid(
        source,
        &["HashMap", "HashSet"],
        "has an order that changes from run to run",
    )
}

pub(super) fn no_clock_print_or_environment(source: &Source) -> Vec<String> {
    if ["cli", "main"].contains(&source.module()) {
        return Vec::new();
    }
    let words = [
        "println!",
        "eprintln!",
        "print!",
        "eprint!",
        "dbg!",
        "Instant",
        "SystemTime",
        "std::env",
    ];
    forbid(source, &words, "belongs to the command line")
}

pub(super) fn no_threads(source: &Source) -> Vec<String> {
    if ["cli", "experiment"].contains(&source.module()) {
        return Vec::new();
    }
    let words = [
        "std::thread",
        "rayon",
        "Mutex",
        "RwLock",
        "mpsc",
        "AtomicU64",
        "AtomicUsize",
    ];
    forbid(
        source,
        &words,
        "belongs to `experiment`: a world has one thread",
    )
}

/// Marks of unfinished work, and paths of somebody's machine.
pub(super) fn no_leftovers(path: &str, text: &str) -> Vec<String> {
    // Put together, so that this file does not hold them.
    let marks = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]].map(|parts| parts.concat());
    let folders = ["work", "tmp", "root", "home", "Users"].map(|name| format!("/{name}/"));
    let mut complaints = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        for mark in marks.iter().filter(|mark| holds(line, mark)) {
            complaints.push(format!("{path}:{number}: {mark}"));
        }
        for folder in folders.iter().filter(|folder| names_folder(line, folder)) {
            complaints.push(format!("{path}:{number}: a path of a machine, {folder}"));
        }
    }
    complaints
}

/// Whether a path begins with this folder; `a/tmp/b` does not, nor does a link.
fn names_folder(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-./}".contains(c))
    })
}

#[test]
fn bad_samples_are_caught() {
    let file = |text: &str| Source::new("model/a.rs", text);
    let long = "    let a = 1;\n".repeat(60);
    for (rule, bad, good) in [
        (
            opens_with_doc as fn(&Source) -> Vec<String>,
            "use a::b;".to_owned(),
            "//! Why.\n".to_owned(),
        ),
        (
            file_length,
            "let a = 1;\n".repeat(401),
            "// let a = 1;\n".repeat(401),
        ),
        (
            function_length,
            format!("pub fn f() {{\n{long}}}\n"),
            format!("fn f();\nconst A: B = B {{\n{long}}}\n"),
        ),
        (
            no_unwrap,
            "a.unwrap();".into(),
            "a.unwrap_or(1); // .unwrap()\n#[cfg(test)]\nmod tests {\n    a.unwrap();\n}"
                .replace("; //", ";\n//"),
        ),
        (
            no_hashing,
            "use std::collections::HashMap;".into(),
            "use std::collections::BTreeMap;".into(),
        ),
        (
            no_clock_print_or_environment,
            "println!(\"a\");".into(),
            "writeln!(out, \"a\");".into(),
        ),
        (
            no_clock_print_or_environment,
            "let now = Instant::now();".into(),
            "let instant_of = 1;".into(),
        ),
        (
            no_clock_print_or_environment,
            "std::env::var(\"A\")".into(),
            "environment(1)".into(),
        ),
        (
            no_threads,
            "std::thread::spawn(f);".into(),
            "threads(1)".into(),
        ),
    ] {
        assert_eq!(rule(&file(&bad)).len(), 1, "{bad}");
        assert_eq!(rule(&file(&good)), Vec::<String>::new(), "{good}");
    }
    let mark = ["// TO", "DO: later"].concat();
    assert_eq!(no_leftovers("a.md", &mark).len(), 1);
    assert_eq!(
        no_leftovers("a.md", &["see \"/wo", "rk/a\""].concat()).len(),
        1
    );
    assert_eq!(
        no_leftovers("a.md", "https://example.org/home/a and target/tmp/a").len(),
        0
    );
}
