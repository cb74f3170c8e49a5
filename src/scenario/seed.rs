//! The seed of a run.
//!
//! TOML numbers end at 2⁶³ − 1, seeds at 2⁶⁴ − 1. A larger one is read as a number all the same, and written as text,
//! which is read too: a seed that another program drew must not be refused.

use crate::decode::{Decode, Node, Reader, Shape, Value, Written};
use serde::{Serialize, Serializer};

/// What all random numbers follow from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Decode for Seed {
    fn shape() -> Shape {
        Shape::plain("whole number", Written::NumberOrText)
    }

    fn stand_in() -> Option<Self> {
        Some(Self(1))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a whole number, like {key} = 1")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Huge(text) | Value::Text(text) => {
                let seed = text.parse().ok();
                if seed.is_none() {
                    let remedy = "give a whole number from 0 to 18446744073709551615";
                    reader.mismatch(node, "a seed", remedy);
                }
                seed.map(Self)
            }
            _ => u64::decode(node, reader).map(Self),
        }
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(_) => serializer.serialize_u64(self.0),
            Err(_) => serializer.serialize_str(&self.0.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::Scenario;
    use std::path::Path;

    #[test]
    fn every_seed_is_read_and_written_back() {
        for seed in ["0", "42", "9223372036854775808", "18446744073709551615"] {
            let text = format!(
                "[run]\nduration = \"1s\"\nseed = {seed}\n[clients]\ncount = 1\narrivals.poisson = {{ rate = \"1/s\" }}\n\
                 [service.api]\nworkers = 1\nservice_time = \"1ms\"\n[[strategy]]\nname = \"s\"\nmax_attempts = 1\n"
            );
            let read =
                |text: &str| Scenario::parse("s", text, Path::new(".")).expect("it is sound");
            let scenario = read(&text);
            assert_eq!(scenario.spec.run.seed.0.to_string(), seed);
            let again = read(&scenario.resolved());
            assert_eq!(again.spec, scenario.spec);
        }
    }
}
