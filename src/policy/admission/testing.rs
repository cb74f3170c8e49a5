//! Reading settings and naming times in tests.

use crate::decode::{Choice, Decode, Document, Problem, Reader, Value};
use crate::time::{SimDuration, SimTime};
use serde::Serialize;
use std::fmt::Debug;

/// The settings written as a TOML value, and what there is to say about them.
pub(super) fn read<T: Decode>(value: &str) -> (Option<T>, Vec<Problem>) {
    let document = Document::parse("a.toml", &format!("a = {value}")).expect("valid TOML");
    let Value::Table(table) = &document.root.value else {
        panic!("a document is a table");
    };
    let mut reader = Reader::new();
    let node = table.get("a").expect("was written above");
    let read = T::decode(node, &mut reader);
    (read, reader.into_problems())
}

/// The settings written as a TOML value, about which there is nothing to say.
pub(super) fn form<T: Decode>(value: &str) -> T {
    let (read, problems) = read(value);
    assert!(problems.is_empty(), "{value}: {problems:?}");
    read.expect("no problem was found")
}

/// Asserts that each value is read, with one problem whose reason has the text in it.
pub(super) fn assert_problems<T: Decode>(cases: &[(&str, &str)]) {
    for (value, part) in cases {
        let (_, problems) = read::<T>(value);
        let reasons: Vec<&str> = problems.iter().map(|p| p.reason.as_str()).collect();
        assert!(
            reasons.len() == 1 && reasons[0].contains(part),
            "{value}: {reasons:?}"
        );
    }
}

/// Asserts that the example of every form is read without a word and that what is written of it reads back.
pub(super) fn assert_examples<T: Choice + Decode + Serialize + PartialEq + Debug>() {
    for doc in T::VARIANTS {
        let value: T = form(doc.example);
        let written = serde_json::to_value(&value).expect("serialises");
        let toml = toml::Value::try_from(&written).expect("is TOML");
        assert_eq!(form::<T>(&toml.to_string()), value, "{toml}");
    }
}

pub(super) const fn ms(ms: u64) -> SimDuration {
    SimDuration::from_millis(ms)
}

pub(super) fn at(millis: u64) -> SimTime {
    SimTime::ZERO + ms(millis)
}
