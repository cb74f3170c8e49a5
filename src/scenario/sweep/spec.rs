//! `[sweep]` as written.

use super::values::{Quantity, Values};
use crate::decode::{Check, Decode, Node, Reader, Shape, Value, Written};
use crate::model::check_name;
use crate::scenario::check::MetricName;
use crate::{choice, record};
use serde::{Serialize, Serializer};

/// Columns of `sweep.csv` beside those of the axes.
pub(in crate::scenario) const SWEEP_COLUMNS: [&str; 7] = [
    "cell",
    "strategy",
    "metric",
    "value",
    "low",
    "high",
    "predicted",
];
/// Cells of a sweep at the most.
pub const MOST_CELLS: u64 = 100_000;
/// More axes than this cannot be shown or understood.
const MOST_AXES: usize = 8;

record! {
    /// `[sweep]`: the same scenario with other values, in every combination.
    pub struct SweepSpec {
        /// What varies.
        axis: Vec<AxisSpec> = Vec::new(),
        #[serde(skip_serializing_if = "is_grid")]
        /// Which combinations of values are run.
        design: Design = Design::Grid,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        /// The charts to draw; a usual choice when left out.
        chart: Vec<ChartSpec> = Vec::new(),
    }
}

fn is_grid(design: &Design) -> bool {
    *design == Design::Grid
}

choice! {
    /// Which combinations of values are run.
    pub enum Design as "design" {
        /// All of them.
        Grid = "grid", r#""grid""#;
        /// A Latin hypercube: so many cells, in which each axis is divided into as many parts and each part is met once.
        LatinHypercube(LatinHypercube) = "latin_hypercube", "{ latin_hypercube = { cells = 100 } }";
    }
}

record! {
    /// A sample that fills the space between the ends of all axes evenly.
    pub struct LatinHypercube {
        /// How many cells.
        cells: u32,
    }
}

impl Check for LatinHypercube {
    fn check(&self, reader: &mut Reader) {
        if self.cells == 0 || u64::from(self.cells) > MOST_CELLS {
            let reason = format!("a sweep has from 1 to {MOST_CELLS} cells");
            reader.error_at(&["cells"], reason, "a hundred fill two or three axes well");
        }
    }
}

record! {
    /// `[[sweep.axis]]`: the values of one key, or of several that move together.
    pub struct AxisSpec {
        #[serde(skip_serializing_if = "Option::is_none")]
        /// What it is called in files and charts; the last part of the key when left out.
        name: Option<String> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The key that varies, as in `--set`.
        key: Option<String> = None,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        /// Several keys that move together.
        keys: Vec<String> = Vec::new(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The values; with several keys each one is a list of as many, or one value for all of them.
        values: Option<Values> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Values at even distances.
        range: Option<Range> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Values whose ratios are even.
        log_range: Option<Range> = None,
    }
}

record! {
    /// From one value to another, both included.
    pub struct Range {
        /// The first value.
        from: Bound,
        /// The last value.
        to: Bound,
        /// How many values, both ends included; a Latin hypercube draws its own.
        steps: u32 = 5,
    }
}

/// An end of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound(pub Value);

impl Bound {
    /// The quantity that it is.
    pub fn quantity(&self) -> Quantity {
        Quantity::of(&self.0).expect("what is no quantity is not read")
    }
}

impl Decode for Bound {
    fn shape() -> Shape {
        Shape::plain("number, duration, rate or share", Written::NumberOrText)
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        let read = Quantity::of(&node.value).map(|_| Self(node.value.clone()));
        if read.is_none() {
            let remedy = "write one like 5, 0.5, \"10ms\", \"800/s\" or \"2%\"";
            reader.mismatch(node, "the end of a range", remedy);
        }
        read
    }

    fn how_to_add(key: &str) -> String {
        format!("add it, like {key} = \"10ms\"")
    }
}

impl Serialize for Bound {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Value::Integer(number) => serializer.serialize_i64(*number),
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Text(text) => serializer.serialize_str(text),
            _ => unreachable!("only numbers and texts are quantities"),
        }
    }
}

impl Check for Range {
    fn check(&self, reader: &mut Reader) {
        let (from, to) = (self.from.quantity(), self.to.quantity());
        if !from.is_like(to) {
            let reason = "the ends of a range are of one kind";
            let remedy = "give both the same unit, like \"10ms\" and \"2s\"";
            reader.error_at(&["to", "from"], reason, remedy);
        } else if from.size() == to.size() {
            let reason = "both ends of the range are the same";
            reader.error_at(&["to", "from"], reason, "give it another end");
        }
        if !(2..=MOST_CELLS as u32).contains(&self.steps) {
            let reason = format!("a range has from 2 to {MOST_CELLS} steps");
            reader.error_at(&["steps"], reason, "5 to 20 draw a good curve");
        }
    }
}

record! {
    /// `[[sweep.chart]]`: one chart of a sweep.
    pub struct ChartSpec {
        /// The figure that is drawn, by the name of its column in `summary.csv`.
        metric: MetricName,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The axis or figure across; the first axis when left out.
        x: Option<String> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The axis up, which makes it a heat map.
        y: Option<String> = None,
    }
}

impl Check for ChartSpec {}

impl AxisSpec {
    /// All keys that it varies.
    pub fn all_keys(&self) -> Vec<&str> {
        let keys = self.key.iter().chain(&self.keys);
        keys.map(String::as_str).collect()
    }

    /// What it is called.
    pub fn title(&self) -> String {
        let last = |key: &&str| {
            let end = key.trim_end_matches(']').rfind(['.', '[']);
            end.map_or(*key, |at| &key[at + 1..])
                .trim_matches(['"', ']'])
                .to_owned()
        };
        let keys = self.all_keys();
        let name = self.name.clone().or_else(|| keys.first().map(last));
        name.unwrap_or_default()
    }

    fn check_keys(&self, reader: &mut Reader) {
        match (&self.key, self.keys.as_slice()) {
            (None, []) => {
                let remedy = "add the key that varies, like key = \"service.api.workers\"";
                reader.error_here("the axis has no key", remedy);
            }
            (Some(_), [_, ..]) => {
                let remedy = "put all keys that move together in `keys`";
                reader.error_at(
                    &["key", "keys"],
                    "`key` and `keys` exclude each other",
                    remedy,
                );
            }
            _ => {}
        }
        for key in self.all_keys() {
            let from = if self.key.is_some() { "key" } else { "keys" };
            let root = key.split(['.', '[']).next().unwrap_or_default();
            if ["sweep", "check", "compare"].contains(&root) {
                let reason = format!("`{root}` cannot vary in a sweep");
                reader.error_at(&[from], reason, "name a key of the scenario itself");
            } else if key.trim().is_empty() {
                let remedy = "give one as in --set, like \"service.api.workers\"";
                reader.error_at(&[from], "a key has a name", remedy);
            }
        }
    }

    fn check_values(&self, reader: &mut Reader) {
        let Some(values) = &self.values else {
            return;
        };
        if values.0.is_empty() || values.0.len() as u64 > MOST_CELLS {
            let reason = format!("an axis has from 1 to {MOST_CELLS} values");
            reader.error_at(&["values"], reason, "list the values, like [1, 2, 5]");
        }
        let keys = self.keys.len();
        for item in values.0.iter().filter(|_| keys > 0) {
            if let Value::List(parts) = &item.value
                && parts.len() != keys
            {
                let reason = format!("{} values stand for {keys} keys", parts.len());
                let remedy = "give a value for each of the keys, or one for all of them";
                reader.error(&item.place, reason, remedy);
            }
        }
    }
}

impl Check for AxisSpec {
    fn check(&self, reader: &mut Reader) {
        if let Some(name) = &self.name {
            check_name(name, "an axis's name", reader);
        }
        self.check_keys(reader);
        self.check_values(reader);
        let given = [
            self.values.is_some(),
            self.range.is_some(),
            self.log_range.is_some(),
        ];
        match given.iter().filter(|&&given| given).count() {
            0 if reader.were_read(&["values", "range", "log_range"]) => {
                let remedy = "add `values = [ ... ]`, `range = { from, to, steps }` or `log_range`";
                reader.error_here("the axis has no values", remedy);
            }
            0 | 1 => {}
            _ => reader.error_at(
                &["values", "range", "log_range"],
                "an axis has its values from one of `values`, `range` and `log_range`",
                "keep one of them",
            ),
        }
        if let Some(range) = &self.log_range
            && (range.from.quantity().size() <= 0.0 || range.to.quantity().size() <= 0.0)
        {
            let remedy = "start above zero, or use `range`";
            reader.error_at(&["log_range"], "even ratios never reach zero", remedy);
        }
    }
}

impl Check for SweepSpec {
    fn check(&self, reader: &mut Reader) {
        if self.axis.is_empty() || self.axis.len() > MOST_AXES {
            let reason = format!("a sweep has from 1 to {MOST_AXES} axes");
            reader.error_at(&["axis"], reason, "add a [[sweep.axis]] table");
        }
        let titles: Vec<String> = self.axis.iter().map(AxisSpec::title).collect();
        for (i, title) in titles.iter().enumerate() {
            if titles[..i].contains(title) {
                let reason = format!("two axes are called \"{title}\"");
                reader.error_at(&["axis"], reason, "give each a `name` of its own");
            }
        }
        let is_grid = self.design == Design::Grid;
        if let Some(i) = self
            .chart
            .iter()
            .position(|chart| chart.y.is_some() && !is_grid)
        {
            let reason = format!("chart {} is a map, which needs all combinations", i + 1);
            let remedy = "leave `y` out, or use design = \"grid\"";
            reader.error_at(&["chart", "design"], reason, remedy);
        }
        for (i, chart) in self.chart.iter().enumerate() {
            check_chart(chart, i, &titles, reader);
        }
    }
}

/// A chart needs axes that exist.
fn check_chart(chart: &ChartSpec, index: usize, titles: &[String], reader: &mut Reader) {
    let axis = |name: &String| titles.contains(name);
    let figure = |name: &String| crate::metrics::metric(name).is_some();
    let wrong = [
        chart.x.as_ref().filter(|x| !axis(x) && !figure(x)),
        chart.y.as_ref().filter(|y| !axis(y)),
    ];
    for name in wrong.into_iter().flatten() {
        let reason = format!("chart {} names no axis: \"{name}\"", index + 1);
        let near = crate::decode::nearest(name, titles.iter().map(String::as_str));
        let remedy = match near {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("the axes are {}", titles.join(", ")),
        };
        reader.error_at(&["chart", "axis"], reason, remedy);
    }
    let is_axis = |name: &Option<String>| name.as_ref().is_none_or(axis);
    if chart.y.is_some() && (chart.x == chart.y || !is_axis(&chart.x) || titles.len() < 2) {
        let reason = format!("chart {} needs two different axes", index + 1);
        reader.error_at(&["chart", "axis"], reason, "leave `y` out for a curve");
    }
}
