//! Backoffs for tests.

use super::{
    Additive, Backoff, CapOrder, Decorrelated, Exponential, Fibonacci, Fixed, Jitter, Linear, List,
    Lognormal, Memoryless, Polynomial, Proportional, Rounding, Shape, Uniform,
};
use crate::decode::{Decode, Document, Reader, Value};
use crate::time::SimDuration;
use crate::units::Ratio;

/// The backoff written as a TOML value.
pub(super) fn backoff(value: &str) -> Backoff {
    let document = Document::parse("a.toml", &format!("backoff = {value}")).expect("valid TOML");
    let Value::Table(table) = &document.root.value else {
        panic!("a document is a table");
    };
    let mut reader = Reader::new();
    let node = table.get("backoff").expect("was written above");
    Backoff::decode(node, &mut reader).unwrap_or_else(|| panic!("{:?}", reader.into_problems()))
}

/// Every jitter, with settings relative to `unit` nanoseconds.
pub(super) fn jitters(unit: u64) -> Vec<Jitter> {
    vec![
        Jitter::None,
        Jitter::Full,
        Jitter::Equal,
        Jitter::Double,
        Jitter::Proportional(Proportional {
            ratio: Ratio::new(0.15).expect("a share"),
        }),
        Jitter::Multiplicative,
        Jitter::Additive(Additive {
            max: SimDuration::from_nanos(unit),
        }),
        Jitter::Lognormal(Lognormal { sigma: 0.5 }),
    ]
}

/// Every form with every jitter, cap order and rounding. Times in nanoseconds.
pub(super) fn every_combination(base: u64, cap: u64, factor: f64, start: u32) -> Vec<Backoff> {
    let orders = [CapOrder::BeforeJitter, CapOrder::AfterJitter];
    let roundings = [Rounding::None, Rounding::FloorMs];
    let mut all = vec![Backoff::Immediate];
    for jitter in jitters(base) {
        for (cap_order, rounding) in orders
            .iter()
            .flat_map(|order| roundings.map(|rounding| (*order, rounding)))
        {
            let shape = Shape {
                jitter: jitter.clone(),
                cap_order,
                rounding,
                ..Shape::PLAIN
            };
            all.extend(forms(base, cap, factor, start, &shape));
        }
    }
    all
}

fn forms(base: u64, cap: u64, factor: f64, start: u32, shape: &Shape) -> [Backoff; 9] {
    let (base, cap) = (SimDuration::from_nanos(base), SimDuration::from_nanos(cap));
    let shape = || shape.clone();
    [
        Backoff::Fixed(Fixed {
            delay: base,
            shape: shape(),
        }),
        Backoff::Linear(Linear {
            base,
            step: None,
            cap: Some(cap),
            shape: shape(),
        }),
        Backoff::Exponential(Exponential {
            base,
            factor,
            cap: Some(cap),
            start,
            shape: shape(),
        }),
        Backoff::Fibonacci(Fibonacci {
            base,
            cap: Some(cap),
            shape: shape(),
        }),
        Backoff::Polynomial(Polynomial {
            base,
            power: factor,
            cap: None,
            shape: shape(),
        }),
        Backoff::Uniform(Uniform {
            min: base.min(cap),
            max: base.max(cap),
            shape: shape(),
        }),
        Backoff::Memoryless(Memoryless {
            mean: base,
            shape: shape(),
        }),
        Backoff::List(List {
            delays: vec![base, cap],
            shape: shape(),
        }),
        Backoff::Decorrelated(Decorrelated {
            base,
            cap,
            factor: factor.max(1.0),
            shape: shape(),
        }),
    ]
}
