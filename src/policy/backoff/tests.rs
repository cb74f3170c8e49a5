//! Reading and writing of backoffs, and what is refused.
#![allow(unreachable_pub, reason = "the macros define public types")]

use crate::decode::{Check, Choice, Decode, Document, Problem, Reader, Severity};
use crate::policy::{Backoff, Client, Jitter, Reset, StateOwner};
use crate::record;

record! {
    /// A document with one backoff.
    pub struct Whole {
        /// It.
        backoff: Backoff,
    }
}
impl Check for Whole {}

fn read(text: &str) -> (Option<Backoff>, Vec<Problem>) {
    read_document(&Document::parse("a.toml", text).expect("valid TOML"))
}

fn read_document(document: &Document) -> (Option<Backoff>, Vec<Problem>) {
    let mut reader = Reader::new();
    let whole = Whole::decode(&document.root, &mut reader);
    (whole.map(|whole| whole.backoff), reader.into_problems())
}

fn problem(text: &str) -> Problem {
    let (_, mut problems) = read(text);
    assert_eq!(problems.len(), 1, "{text}: {problems:?}");
    problems.remove(0)
}

fn backoff_with(jitter: &str) -> String {
    format!("backoff.fixed = {{ delay = \"1s\", jitter = {jitter} }}")
}

#[test]
fn every_example_reads_and_writes_itself_back() {
    let examples = Backoff::VARIANTS
        .iter()
        .map(|doc| format!("backoff = {}", doc.example));
    let jitters = Jitter::VARIANTS.iter().map(|doc| backoff_with(doc.example));
    let owners = StateOwner::VARIANTS.iter().map(|doc| {
        format!(
            "backoff.fixed = {{ delay = \"1s\", state = {} }}",
            doc.example
        )
    });
    for example in examples.chain(jitters).chain(owners) {
        let (backoff, problems) = read(&example);
        assert!(problems.is_empty(), "{example}: {problems:?}");
        let backoff = backoff.unwrap();
        let text = toml::to_string(&Whole {
            backoff: backoff.clone(),
        })
        .unwrap();
        assert_eq!(read(&text), (Some(backoff), Vec::new()), "{text}");
    }
}

#[test]
fn one_extra_key_is_refused_with_the_key_that_was_meant() {
    for doc in Backoff::VARIANTS {
        let text = format!("backoff = {}", doc.example);
        let mut document = Document::parse("a.toml", &text).unwrap();
        let extra = format!("backoff.{}.jiter=full", doc.name);
        document.set(&extra).unwrap();
        let (_, problems) = read_document(&document);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert!(problems[0].reason.contains("`jiter`"), "{problems:?}");
        let remedy = match doc.name {
            "immediate" => "nothing can be set",
            _ => "`jitter`",
        };
        assert!(problems[0].remedy.contains(remedy), "{problems:?}");
    }
}

#[test]
fn bare_tags_take_defaults() {
    let (bare, _) = read(&backoff_with("\"proportional\""));
    let (full, _) = read(&backoff_with("{ proportional = { ratio = \"15%\" } }"));
    assert_eq!(bare, full);
    let (state, _) = read("backoff.fixed = { delay = \"1s\", state = \"client\" }");
    let client = StateOwner::Client(Client {
        reset: Reset::Success,
    });
    assert_eq!(state.unwrap().shape().state, client);
    let Some(Backoff::Exponential(form)) = read("backoff.exponential.base = \"1s\"").0 else {
        panic!("an exponential backoff");
    };
    assert_eq!((form.factor, form.cap, form.start), (2.0, None, 0));
    assert_eq!(form.shape, super::Shape::PLAIN);
    let Some(Backoff::Decorrelated(form)) =
        read("backoff.decorrelated = { base = \"1s\", cap = \"9s\" }").0
    else {
        panic!("a decorrelated backoff");
    };
    assert_eq!(form.factor, 3.0);
}

#[test]
fn nonsense_is_refused_and_doubtful_settings_are_warned_of() {
    let exponential = |rest: &str| {
        problem(&format!(
            "backoff.exponential = {{ base = \"1s\", {rest} }}"
        ))
    };
    for (found, severity, part) in [
        (exponential("factor = -1"), Severity::Error, "below 0"),
        (exponential("factor = nan"), Severity::Error, "finite"),
        (exponential("factor = inf"), Severity::Error, "finite"),
        (exponential("start = -1"), Severity::Error, "below zero"),
        (
            exponential("cap = \"1ms\""),
            Severity::Warning,
            "below the base",
        ),
        (
            exponential("cap_order = \"after_jitter\""),
            Severity::Warning,
            "without a cap",
        ),
        (
            exponential("jitter.lognormal.sigma = -0.5"),
            Severity::Error,
            "out of range",
        ),
        (
            exponential("jitter.lognormal.sigma = 11"),
            Severity::Error,
            "out of range",
        ),
        (
            exponential("jitter.proportional.ratio = 1.5"),
            Severity::Error,
            "between 0%",
        ),
        (
            exponential("state.request.reset = \"never\""),
            Severity::Error,
            "`reset`",
        ),
        (
            problem("backoff.list.delays = []"),
            Severity::Error,
            "empty",
        ),
        (
            problem("backoff.fixed = {}"),
            Severity::Error,
            "`delay` is missing",
        ),
        (
            problem("backoff.fixed = { delay = \"1s\", cap_order = \"after_jitter\" }"),
            Severity::Warning,
            "without a cap",
        ),
        (
            problem("backoff.uniform = { min = \"2s\", max = \"1s\" }"),
            Severity::Error,
            "below `min`",
        ),
        (
            problem("backoff.polynomial = { base = \"1s\", power = -1 }"),
            Severity::Error,
            "below 0",
        ),
        (
            problem("backoff.decorrelated = { base = \"1s\", cap = \"9s\", factor = 0.9 }"),
            Severity::Error,
            "below 1",
        ),
    ] {
        assert_eq!(found.severity, severity, "{found:?}");
        assert!(found.reason.contains(part), "{found:?}");
        assert!(!found.remedy.is_empty(), "{found:?}");
    }
}
