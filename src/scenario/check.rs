//! `[[check]]`: what a strategy has to keep, so that a build can fail when a change breaks it.

use super::amount::Amount;
use crate::decode::{Check, Decode, Node, Reader, Shape, Written, nearest, shown};
use crate::metrics::{METRICS, Metric, Unit, metric};
use crate::units::Ratio;
use crate::{choice, record};
use serde::{Serialize, Serializer};

/// The name of a figure: a column of `summary.csv`.
#[derive(Clone, Copy, Debug)]
pub struct MetricName(pub &'static Metric);

impl PartialEq for MetricName {
    fn eq(&self, other: &Self) -> bool {
        self.0.name == other.0.name
    }
}

impl Decode for MetricName {
    fn shape() -> Shape {
        Shape::plain("figure", Written::Text)
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let name = String::decode(node, reader)?;
        let found = metric(&name).map(Self);
        if found.is_none() {
            let names = METRICS.iter().map(|metric| metric.name);
            let remedy = match nearest(&name, names) {
                _ if name == "latency_max_ms" => {
                    "a maximum has no interval: use latency_p999_ms or latency_p99_ms".into()
                }
                _ if name.ends_with("_low") || name.ends_with("_high") => {
                    "the ends of an interval cannot be asked for: give the figure itself".into()
                }
                Some(near) => format!("did you mean `{near}`?"),
                None => "give a column of summary.csv, like success_rate, amplification, \
                         latency_p99_ms, recovery_s or collapsed_share"
                    .into(),
            };
            let reason = format!("there is no figure `{}`", shown(&name));
            reader.error(&node.place, reason, remedy);
        }
        found
    }

    fn how_to_add(key: &str) -> String {
        format!("add a column of summary.csv, like {key} = \"success_rate\"")
    }
}

impl Serialize for MetricName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.name)
    }
}

choice! {
    /// How a figure has to stand to a value.
    #[derive(Copy)]
    pub enum Relation as "relation" {
        /// At least the value.
        AtLeast = ">=", r#"">=""#;
        /// Above the value.
        Above = ">", r#"">""#;
        /// At most the value.
        AtMost = "<=", r#""<=""#;
        /// Below the value.
        Below = "<", r#""<""#;
    }
}

impl Relation {
    /// Its sign.
    pub fn sign(self) -> &'static str {
        match self {
            Self::AtLeast => ">=",
            Self::Above => ">",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    /// Whether `figure` stands so to `value`.
    pub fn holds(self, figure: f64, value: f64) -> bool {
        match self {
            Self::AtLeast => figure >= value,
            Self::Above => figure > value,
            Self::AtMost => figure <= value,
            Self::Below => figure < value,
        }
    }

    /// Whether a large figure is what is asked for.
    pub fn wants_more(self) -> bool {
        matches!(self, Self::AtLeast | Self::Above)
    }
}

record! {
    /// `[[check]]`: what a strategy has to keep.
    pub struct CheckSpec {
        /// The figure, by the name of its column in `summary.csv`.
        metric: MetricName,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The strategy that has to keep it; all compared ones when left out.
        strategy: Option<String> = None,
        /// How the figure has to stand to the value: `>=`, `>`, `<=` or `<`.
        relation: Relation,
        /// The value, in the unit of the figure.
        value: Amount,
        /// The confidence of the interval that has to lie on one side of the value.
        confidence: Ratio = Ratio::new(crate::metrics::CONFIDENCE).expect("a constant share"),
    }
}

impl Check for CheckSpec {
    fn check(&self, reader: &mut Reader) {
        let confidence = self.confidence.get();
        if !(0.5..1.0).contains(&confidence) {
            let remedy = "give a share from 50% up to, but not including, 100%, like \"95%\"";
            reader.error_at(&["confidence"], "no check is as sure as that", remedy);
        }
        let unit = self.metric.0.unit;
        match self.value.in_unit(unit) {
            Err(error) => {
                reader.error_at(&["value", "metric"], error.reason, error.remedy);
            }
            Ok(value) if unit == Unit::Share => self.check_end_of_scale(value, reader),
            Ok(_) => {}
        }
    }
}

impl CheckSpec {
    /// The value in the unit of the figure.
    pub fn bound(&self) -> f64 {
        let value = self.value.in_unit(self.metric.0.unit);
        value.expect("a sound check has a value of its figure's unit")
    }

    /// The check as it is written, like `success_rate >= 99.9%`.
    pub fn words(&self) -> String {
        let (metric, sign) = (self.metric.0.name, self.relation.sign());
        format!("{metric} {sign} {}", self.value)
    }

    /// An interval never reaches the end of the scale, so some checks could never hold.
    fn check_end_of_scale(&self, value: f64, reader: &mut Reader) {
        let (end, near) = match self.relation {
            Relation::AtLeast | Relation::Above => (1.0, "99.9%"),
            Relation::AtMost | Relation::Below => (0.0, "1%"),
        };
        // A difference can be zero; a share of trials cannot be known to be.
        let known = self.metric.0.name == "success_behind_best";
        if value == end && !known {
            let reason = format!(
                "no number of replications can show that {} holds for good",
                self.words()
            );
            let remedy = format!("leave some room, like \"{near}\"");
            reader.warn_at(&["value", "metric", "relation"], reason, remedy);
        }
    }
}
