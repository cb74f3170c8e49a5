//! Breakers in small worlds whose course can be worked out by hand.

use super::*;
use crate::decode::{Decode, Document, Reader, Value};

mod chain;
mod phases;
mod plan;
mod reference;
mod settings;
mod shares;

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(ms)
}

/// The breaker written as a TOML value, and how many problems it has.
fn read(value: &str) -> (Option<CircuitBreaker>, usize) {
    let document = Document::parse("a.toml", &format!("breaker = {value}")).expect("valid TOML");
    let Value::Table(table) = &document.root.value else {
        panic!("a document is a table");
    };
    let mut reader = Reader::new();
    let node = table.get("breaker").expect("was written above");
    let breaker = CircuitBreaker::decode(node, &mut reader);
    (breaker, reader.into_problems().len())
}

/// A breaker without problems.
fn breaker(value: &str) -> CircuitBreaker {
    let (breaker, problems) = read(value);
    assert_eq!(problems, 0, "{value}");
    breaker.expect("has no problems")
}

/// `failures` in a row open it for 10 s; with more settings, each after a comma.
fn consecutive(failures: u32, more: &str) -> CircuitBreaker {
    breaker(&format!(
        r#"{{ consecutive = {{ failures = {failures}, open_for = "10s"{more} }} }}"#
    ))
}

/// A breaker at work: attempts that take no time, and some on their way.
struct Bench {
    breaker: CircuitBreaker,
    state: BreakerState,
}

impl Bench {
    fn new(breaker: CircuitBreaker) -> Self {
        let state = breaker.fresh();
        Self { breaker, state }
    }

    fn admit(&mut self, ms: u64) -> Option<Pass> {
        self.breaker.admit(&mut self.state, at(ms), || 0.5)
    }

    fn end(&mut self, pass: Pass, ms: u64, failed: bool) {
        self.breaker
            .note(&mut self.state, pass, at(ms), SimDuration::ZERO, failed);
    }

    /// An attempt that takes no time, if one may go out.
    fn attempt(&mut self, ms: u64, failed: bool) -> bool {
        let pass = self.admit(ms);
        if let Some(pass) = pass {
            self.end(pass, ms, failed);
        }
        pass.is_some()
    }

    /// Attempts of which so many may go out, all failing.
    fn failing(&mut self, ms: u64, times: u32) -> u32 {
        (0..times).map(|_| u32::from(self.attempt(ms, true))).sum()
    }

    fn phase(&self, ms: u64) -> Phase {
        self.breaker.phase(&self.state, at(ms))
    }
}
