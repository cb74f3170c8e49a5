//! Reading and writing of budgets, what is refused, and what all forms have in common.
#![allow(unreachable_pub, reason = "the macros define public types")]

#[cfg(test)]
mod bounds;
#[cfg(test)]
mod outage;

use super::*;
use crate::decode::{Check, Choice, Decode, Document, Problem, Reader, Severity};
use crate::record;
use crate::time::SimDuration;

record! {
    /// A document with one budget.
    pub struct Whole {
        /// It.
        budget: RetryBudget,
    }
}
impl Check for Whole {}

fn read(value: &str) -> (Option<RetryBudget>, Vec<Problem>) {
    read_document(&format!("budget = {value}"))
}

fn read_document(text: &str) -> (Option<RetryBudget>, Vec<Problem>) {
    let document = Document::parse("a.toml", text).expect("valid TOML");
    let mut reader = Reader::new();
    let whole = Whole::decode(&document.root, &mut reader);
    (whole.map(|whole| whole.budget), reader.into_problems())
}

/// The budget written as a TOML value.
fn budget(value: &str) -> RetryBudget {
    let (budget, problems) = read(value);
    let errors = problems.iter().filter(|p| p.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{value}: {problems:?}");
    budget.expect("is there without errors")
}

#[test]
fn every_example_reads_and_writes_itself_back() {
    for doc in RetryBudget::VARIANTS {
        let (budget, problems) = read(doc.example);
        assert!(problems.is_empty(), "{}: {problems:?}", doc.name);
        let whole = Whole {
            budget: budget.clone().unwrap(),
        };
        let text = toml::to_string(&whole).unwrap();
        assert_eq!(read_document(&text), (budget, Vec::new()), "{text}");
    }
}

#[test]
fn every_form_takes_the_settings_that_all_share() {
    for doc in RetryBudget::VARIANTS {
        let common = r#"scope = "shared", charged = "send" } }"#;
        let settings = doc.example.strip_suffix("} }").unwrap().trim_end();
        let budget = budget(&format!("{settings}, {common}"));
        assert_eq!(budget.common().charged, Charged::Send, "{}", doc.name);
    }
}

#[test]
fn a_form_without_settings_has_those_of_its_library() {
    for (short, long) in [
        (
            r#""quota""#,
            "{ quota = { capacity = 500, cost = { transient = 5, timeout = 10, throttled = 5 }, first_try_success = 1, refund = true } }",
        ),
        (
            r#""failure_tokens""#,
            "{ failure_tokens = { max = 10, ratio = 0.1 } }",
        ),
        (
            r#"{ window_ratio.ratio = "20%" }"#,
            r#"{ window_ratio = { ratio = 0.2, min_per_second = "10/s", window = "10s", deposit_at = "start" } }"#,
        ),
        (
            r#""concurrency""#,
            r#"{ concurrency = { limit.share = { of = "20%", min = 3 }, counts_waiting = true } }"#,
        ),
        (
            r#"{ concurrency.limit = "fixed" }"#,
            "{ concurrency.limit.fixed.retries = 3 }",
        ),
        (
            r#"{ count = { retries = 60, per = "1m" } }"#,
            r#"{ count = { retries = 60, per = "60s", window = "fixed" } }"#,
        ),
        (
            r#"{ share.ratio = "10%" }"#,
            r#"{ share = { ratio = 0.1, of = "first_attempts" } }"#,
        ),
    ] {
        assert_eq!(budget(short), budget(long), "{short}");
    }
}

#[test]
fn settings_that_make_no_sense_are_named() {
    let cases: &[(&str, Severity, &str)] = &[
        (
            "{ quota.capacity = 9 }",
            Severity::Warning,
            "after a timeout",
        ),
        (
            "{ quota.cost = { transient = 0, timeout = 0, throttled = 0 } }",
            Severity::Warning,
            "not bounded",
        ),
        (
            "{ failure_tokens.max = 2 }",
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            r#"{ window_ratio = { ratio = 0, min_per_second = "0.01/s" } }"#,
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            r#"{ window_ratio = { ratio = 0.2, window = "0s" } }"#,
            Severity::Error,
            "no length",
        ),
        (
            "{ window_ratio = { ratio = 0.2, slices = 0 } }",
            Severity::Error,
            "0 slices",
        ),
        (
            "{ window_ratio = { ratio = 0.2, slices = 4097 } }",
            Severity::Error,
            "4097 slices",
        ),
        (
            "{ concurrency.limit.share = { of = 0, min = 0 } }",
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            "{ concurrency.limit.fixed.retries = 0 }",
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            r#"{ count = { retries = 1, per = "0s" } }"#,
            Severity::Error,
            "no length",
        ),
        (
            r#"{ count = { retries = 0, per = "1s" } }"#,
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            "{ share.ratio = 0 }",
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            r#"{ share = { ratio = 1, of = "all_attempts" } }"#,
            Severity::Warning,
            "bounds nothing",
        ),
        (
            r#"{ share = { ratio = 0.1, window = "0s" } }"#,
            Severity::Error,
            "no length",
        ),
        (
            "{ failure_share.above = 0 }",
            Severity::Warning,
            "no retry is ever made",
        ),
        (
            r#"{ failure_share = { above = 0.1, window = "0s" } }"#,
            Severity::Error,
            "no length",
        ),
    ];
    for (value, severity, part) in cases {
        let (_, problems) = read(value);
        assert_eq!(problems.len(), 1, "{value}: {problems:?}");
        assert_eq!(problems[0].severity, *severity, "{value}");
        assert!(problems[0].reason.contains(part), "{value}: {problems:?}");
    }
}

#[test]
fn a_state_is_small() {
    // A million clients with a budget each: 32 MB, and what a window holds besides.
    assert_eq!(size_of::<BudgetState>(), 32);
}

/// Everything that can happen, at one time.
fn everything(budget: &RetryBudget, state: &mut BudgetState, now: SimTime) {
    let kinds = [
        Kind::Ok,
        Kind::Transient,
        Kind::Timeout,
        Kind::Throttled,
        Kind::Permanent,
    ];
    for kind in kinds {
        for retry in [false, true] {
            budget.began(state, now);
            budget.sent(state, now, retry);
            budget.note(
                state,
                &Seen {
                    now,
                    took: SimDuration::MAX,
                    kind,
                    retryable: retry,
                    retry: true,
                },
            );
            let charge = budget.ask(state, now, kind);
            budget.withdrawn(state, now);
            budget.ended(state, now, retry, charge);
            let level = budget.level(state, now);
            assert!((0.0..=1.0).contains(&level), "{budget:?}: {level}");
        }
    }
}

#[test]
fn extreme_settings_at_extreme_times_do_no_harm() {
    let values = [
        r#"{ token_bucket = { capacity = 1e9, per_request = 1e9, per_success = 1e9, refill = "1000000000/s" } }"#,
        r#"{ token_bucket = { capacity = 0, cost = 0, refill = "0/s" } }"#,
        "{ quota = { capacity = 0, first_try_success = 1e9 } }",
        "{ quota = { capacity = 1e9, cost = { transient = 1e9, timeout = 0, throttled = 0.000001 } } }",
        "{ failure_tokens = { max = 0, ratio = 1e9 } }",
        "{ failure_tokens = { max = 1e9, ratio = 0.000001 } }",
        r#"{ window_ratio = { ratio = 1, min_per_second = "1000000000/s", window = "366d" } }"#,
        r#"{ window_ratio = { ratio = 0, min_per_second = "0/s", window = "1ns", deposit_at = "success" } }"#,
        r#"{ window_ratio = { ratio = "100%", window = "1ns", slices = 4096 } }"#,
        r#"{ window_ratio = { ratio = 1e-300, window = "366d", slices = 1 } }"#,
        "{ concurrency.limit.share = { of = 1, min = 4294967295 } }",
        "{ concurrency = { limit.share = { of = 0, min = 0 }, counts_waiting = false } }",
        "{ concurrency.limit.fixed.retries = 4294967295 }",
        r#"{ count = { retries = 4294967295, per = "1ns" } }"#,
        r#"{ count = { retries = 4294967295, per = "366d", window = "sliding" } }"#,
        r#"{ count = { retries = 0, per = "1ns", window = "sliding" } }"#,
        r#"{ share = { ratio = 0, window = "1ns" } }"#,
        r#"{ share = { ratio = 1, of = "all_attempts", window = "366d" } }"#,
        r#"{ failure_share = { above = 0, window = "1ns" } }"#,
        "{ failure_share.above = 1 }",
    ];
    for value in values {
        let budget = budget(value);
        let mut state = budget.fresh();
        for nanos in [0, 1, 1, 1_000_000_000, u64::MAX / 4, u64::MAX / 2] {
            everything(&budget, &mut state, SimTime::from_nanos(nanos));
        }
    }
}
