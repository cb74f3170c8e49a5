//! How long things take, as a scenario says it.
//!
//! Service times, pauses, timeouts and network delays are lengths of time that vary from case to case, and
//! results depend on how much they vary: the same mean gives short queues when times are equal and long ones
//! when a few are huge. A scenario therefore names a [`Distribution`], mostly by its mean and its spread,
//! because these are what people measure. [`Distribution::sampler`] turns it into a [`Sampler`], which draws.
//! Measured values come from a column of a CSV file; see [`mod@column`].

pub mod column;
mod form;
mod sampler;

pub use form::{
    AbsoluteNormal, Bimodal, Constant, Empirical, Erlang, Exponential, Form, Hyperexponential,
    Lognormal, Pareto, Uniform, Weibull,
};
pub use sampler::Sampler;

use crate::decode::{Choice, Decode, Node, Reader, Shape, Value, VariantDoc, nearest};
use crate::time::SimDuration;
use serde::{Serialize, Serializer};

/// A distribution of lengths of time: one of the forms, or a text like `"50ms"` for a constant.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution(pub Form);

impl Distribution {
    /// No time at all, always.
    pub const ZERO: Self = Self(Form::Zero);

    /// Always `value`.
    pub const fn constant(value: SimDuration) -> Self {
        Self(Form::Constant(Constant { value }))
    }

    /// Exponential with this mean.
    pub const fn exponential(mean: SimDuration) -> Self {
        Self(Form::Exponential(Exponential { mean }))
    }
}

impl Choice for Distribution {
    const NOUN: &'static str = Form::NOUN;
    const VARIANTS: &'static [VariantDoc] = Form::VARIANTS;
}

impl Decode for Distribution {
    fn shape() -> Shape {
        Shape::Either(Box::new(SimDuration::shape()), Box::new(Form::shape()))
    }

    fn stand_in() -> Option<Self> {
        Some(Self::constant(SimDuration::from_secs(1)))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a time or a distribution, like {key} = \"50ms\"")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Text(text) => decode_text(text, node, reader),
            // The message for a duration shows how to write the unit.
            Value::Integer(_) | Value::Float(_) => {
                SimDuration::decode(node, reader).map(Self::constant)
            }
            _ => Form::decode(node, reader).map(Self),
        }
    }
}

/// Reads a bare text: a form without settings, or a constant length.
fn decode_text(text: &str, node: &Node, reader: &mut Reader) -> Option<Distribution> {
    if text.starts_with(|c: char| c.is_ascii_digit() || "+-. ".contains(c)) {
        return SimDuration::decode(node, reader).map(Distribution::constant);
    }
    match Form::VARIANTS.iter().find(|doc| doc.name == text) {
        Some(doc) if doc.example.starts_with('{') => {
            let remedy = format!("write them in a table: {}", doc.example);
            reader.error(&node.place, format!("`{text}` needs settings"), remedy);
            None
        }
        Some(_) => Form::decode(node, reader).map(Distribution),
        None => {
            let names = Form::VARIANTS.iter().map(|doc| doc.name);
            let remedy = match nearest(text, names.clone()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "write a duration like \"50ms\", or one of: {}",
                    names.collect::<Vec<_>>().join(", ")
                ),
            };
            let shown: String = text.chars().take(60).flat_map(char::escape_debug).collect();
            reader.error(
                &node.place,
                format!("unknown distribution `{shown}`"),
                remedy,
            );
            None
        }
    }
}

/// Writes a constant as the bare text, every other form with its tag.
impl Serialize for Distribution {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Form::Constant(constant) => constant.value.serialize(serializer),
            form => form.serialize(serializer),
        }
    }
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macros define public types")]
mod tests {
    use super::*;
    use crate::decode::{Check, Document, Problem, Severity};
    use crate::record;

    record! {
        /// A document with one distribution.
        pub struct Whole {
            /// The distribution.
            service_time: Distribution,
        }
    }
    impl Check for Whole {}

    fn read(value: &str) -> (Option<Distribution>, Vec<Problem>) {
        read_document(&format!("service_time = {value}"))
    }

    pub(super) fn read_document(text: &str) -> (Option<Distribution>, Vec<Problem>) {
        let document = Document::parse("a.toml", text).expect("valid TOML");
        let mut reader = Reader::new();
        let whole = Whole::decode(&document.root, &mut reader);
        let problems = reader.into_problems();
        let wrong = problems.iter().any(|p| p.severity == Severity::Error);
        let read = whole.filter(|_| !wrong).map(|w| w.service_time);
        (read, problems)
    }

    #[test]
    fn every_example_reads_and_reads_back_after_writing() {
        assert_eq!(Distribution::VARIANTS.len(), 12);
        for doc in Distribution::VARIANTS {
            let (distribution, problems) = read(doc.example);
            assert!(problems.is_empty(), "{}: {problems:?}", doc.name);
            let service_time = distribution.clone().expect(doc.name);
            let text = toml::to_string(&Whole { service_time }).expect("serialises");
            assert_eq!(read_document(&text), (distribution, vec![]), "{text}");
        }
    }

    #[test]
    fn every_example_rejects_one_key_more() {
        for doc in Distribution::VARIANTS {
            let text = match doc.example.strip_suffix("} }") {
                Some(open) => format!("{open}, extra = 1 }} }}"),
                None => format!("{{ {} = {{ extra = 1 }} }}", doc.name),
            };
            let (_, problems) = read(&text);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert_eq!(problems[0].reason, "unknown key `extra`");
        }
    }

    #[test]
    fn a_bare_duration_is_a_constant_and_is_written_as_one() {
        let distribution = Distribution::constant(SimDuration::from_millis(50));
        assert_eq!(read("\"50ms\""), (Some(distribution.clone()), vec![]));
        let whole = Whole {
            service_time: distribution,
        };
        assert_eq!(
            toml::to_string(&whole).expect("serialises"),
            "service_time = \"50ms\"\n"
        );
    }

    #[test]
    fn a_wrong_text_says_what_can_stand_there() {
        for (value, reason, remedy) in [
            ("5", "needs a unit", "\"5ms\""),
            ("\"5 parsecs\"", "not a unit of time", "ns, us, ms"),
            ("\"exponentail\"", "unknown", "`exponential`"),
            ("\"quickly\"", "unknown", "zero, constant, uniform"),
            ("\"erlang\"", "needs settings", "{ erlang = { mean"),
            ("true", "expected a distribution", "write one"),
            (
                "{ erlang = { mean = \"1s\" } }",
                "`shape` is missing",
                "add",
            ),
        ] {
            let (distribution, problems) = read(value);
            assert_eq!(distribution, None, "{value}");
            assert_eq!(problems.len(), 1, "{value}: {problems:?}");
            assert!(problems[0].reason.contains(reason), "{problems:?}");
            assert!(problems[0].remedy.contains(remedy), "{problems:?}");
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_reason_and_a_remedy() {
        for (value, reason) in [
            (
                "{ uniform = { min = \"2s\", max = \"1s\" } }",
                "`min` is above `max`",
            ),
            ("{ erlang = { mean = \"1s\", shape = 0 } }", "`shape` is 0"),
            (
                "{ lognormal = { mean = \"1s\", cv = -0.5 } }",
                "`cv` is -0.5",
            ),
            (
                "{ lognormal = { mean = \"1s\", cv = 1001 } }",
                "`cv` is 1001",
            ),
            ("{ pareto = { mean = \"1s\", alpha = 1 } }", "`alpha` is 1"),
            ("{ weibull = { mean = \"1s\", shape = 0 } }", "`shape` is 0"),
            (
                "{ hyperexponential = { mean = \"1s\", cv = 0.9 } }",
                "`cv` is 0.9",
            ),
            ("{ empirical = { file = \"\" } }", "names no file"),
        ] {
            let (_, problems) = read(value);
            assert_eq!(problems.len(), 1, "{value}: {problems:?}");
            assert!(problems[0].reason.contains(reason), "{problems:?}");
            assert!(!problems[0].remedy.is_empty(), "{value}");
        }
        for value in [
            "{ lognormal = { mean = \"1s\", cv = nan } }",
            "{ pareto = { mean = \"1s\", alpha = inf } }",
            "{ bimodal = { fast = \"1s\", slow = \"2s\", slow_share = \"101%\" } }",
            "{ empirical = { file = \"a.csv\", unit = \"hours\" } }",
        ] {
            assert_eq!(read(value).1.len(), 1, "{value}");
        }
    }

    #[test]
    fn times_beyond_a_year_are_cautioned() {
        let (distribution, problems) = read("{ lognormal = { mean = \"200d\", cv = 1 } }");
        assert!(distribution.is_some());
        assert!(problems[0].reason.contains("longer than a year"));
        let (_, problems) = read("{ pareto = { mean = \"1s\", alpha = 1.5 } }");
        assert!(problems.is_empty(), "{problems:?}");
    }
}
