//! The rules of the house, as tests.
//!
//! A rule that only stands in a document is broken within a month. Each rule here is a function from the text of a
//! file to complaints, so that it can be shown a bad sample and must complain.

mod circles;
mod floors;
mod rules;
mod source;

use source::{Source, repository_texts, sources};

/// Fails with all complaints at once.
fn assert_tidy(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
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
