//! The rules of the house, as tests.
//!
//! A rule that only stands in a document is broken within a month. Each rule here is a function from the text of a
//! file to complaints, so that it can be shown a bad sample and must complain.

mod circles;
mod floors;
mod rules;
mod source;

use source::{Source, repository_texts, sources};

/// What is still to be put in order: the beginning of a complaint up to its line, and a part of it. An entry that
/// is no longer needed fails, so the list only shrinks.
const KNOWN: [(&str, &str); 4] = [
    ("src/decode/values.rs", "a function of"),
    ("src/model/stream.rs", "a function of"),
    ("src/scenario/plan.rs", "a function of"),
    ("src/policy: backoff → nominal → backoff", ""),
];

/// Fails with all complaints at once.
fn assert_tidy(complaints: Vec<String>) {
    let new: Vec<String> = complaints
        .into_iter()
        .filter(|complaint| !KNOWN.iter().any(|known| is_known(complaint, known)))
        .collect();
    assert!(new.is_empty(), "\n{}\n", new.join("\n"));
}

fn is_known(complaint: &str, (start, part): &(&str, &str)) -> bool {
    complaint.starts_with(start) && complaint.contains(part)
}

fn check(rule: impl Fn(&Source) -> Vec<String>) {
    let sources = sources();
    assert!(sources.len() > 50, "the sources were not found");
    assert_tidy(sources.iter().flat_map(rule).collect());
}

#[test]
fn files_import_only_from_lower_floors_or_their_own_folder() {
    check(floors::check);
}

#[test]
fn every_module_has_a_floor() {
    check(floors::check_known);
}

#[test]
fn files_of_one_folder_do_not_import_each_other_in_a_circle() {
    assert_tidy(circles::check(&sources()));
}

#[test]
fn every_file_begins_by_saying_what_it_is_for() {
    check(rules::opens_with_doc);
}

#[test]
fn files_and_functions_stay_short() {
    check(rules::file_length);
    check(rules::function_length);
}

#[test]
fn what_is_known_to_be_untidy_still_is() {
    let sources = sources();
    let mut complaints = circles::check(&sources);
    complaints.extend(sources.iter().flat_map(rules::function_length));
    for known in KNOWN {
        let needed = complaints
            .iter()
            .any(|complaint| is_known(complaint, &known));
        assert!(needed, "put in order: take {known:?} from the list");
    }
}

#[test]
fn nothing_unwraps_outside_tests() {
    check(rules::no_unwrap);
}

#[test]
fn nothing_that_makes_results_depends_on_hashing_clock_or_environment() {
    check(rules::no_hashing);
    check(rules::no_clock_print_or_environment);
    check(rules::no_threads);
}

#[test]
fn nothing_is_left_to_do_and_no_machine_is_named() {
    let texts = repository_texts();
    assert!(texts.len() > 100, "the repository was not found");
    let rule = |(path, text): &(String, String)| rules::no_leftovers(path, text);
    assert_tidy(texts.iter().flat_map(rule).collect());
}

#[test]
fn every_scenario_stands_in_the_readme() {
    let texts = repository_texts();
    let (_, readme) = texts
        .iter()
        .find(|(path, _)| path == "README.md")
        .expect("there is a README");
    let scenarios = texts
        .iter()
        .filter(|(path, _)| path.starts_with("scenarios/") && path.ends_with(".toml"));
    let missing = scenarios.filter(|(path, _)| !readme.contains(&format!("({path})")));
    assert_tidy(
        missing
            .map(|(path, _)| format!("{path} is not in the gallery of README.md"))
            .collect(),
    );
}
