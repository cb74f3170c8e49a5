//! What is read and what is reported.

use super::*;
use crate::decode::Choice;

#[test]
fn examples_read_without_problems_and_serialise_back() {
    for doc in CircuitBreaker::VARIANTS {
        let read = breaker(doc.example);
        let text = toml::Value::try_from(&read)
            .expect("serialises")
            .to_string();
        assert_eq!(breaker(&text), read, "{text}");
    }
}

#[test]
fn settings_without_sense_are_reported() {
    for half_open in [
        r#"{ probes = { limit = 0 } }"#,
        r#"{ probes = { limit = "many" } }"#,
        r#"{ probes = { successes = 0 } }"#,
        r#"{ probes = { timeout = "0s" } }"#,
        r#"{ probes = { limit = "unlimited", judge = "share" } }"#,
        r#"{ probes = { successes = 2, judge = "share" } }"#,
    ] {
        let text = format!(
            r#"{{ consecutive = {{ failures = 1, open_for = "1s", half_open = {half_open} }} }}"#
        );
        assert_eq!(read(&text).1, 1, "{text}");
    }
    assert_eq!(
        read(r#"{ consecutive = { failures = 0, open_for = "1s" } }"#).1,
        1
    );
    for (window, more) in [
        (r#"{ count = { calls = 0 } }"#, r#", rate = "50%""#),
        (r#"{ count = { calls = 1000001 } }"#, r#", rate = "50%""#),
        (r#"{ time = { length = "0s" } }"#, r#", rate = "50%""#),
        (r#"{ count = { calls = 10 } }"#, r#", rate = 0.0"#),
        (
            r#"{ count = { calls = 10 } }"#,
            r#", rate = 0.5, min_calls = 0"#,
        ),
        (
            r#"{ count = { calls = 10 } }"#,
            r#", rate = 0.5, min_calls = 11"#,
        ),
        (
            r#"{ count = { calls = 10 } }"#,
            r#", rate = 0.5, slow = { after = "1s", rate = 0 }"#,
        ),
    ] {
        let text =
            format!(r#"{{ failure_rate = {{ window = {window}, open_for = "1s"{more} }} }}"#);
        assert_eq!(read(&text).1, 1, "{text}");
    }
}
