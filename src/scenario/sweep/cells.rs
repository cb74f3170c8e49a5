//! The cells of a sweep, by number.

use super::spec::{AxisSpec, Design, MOST_CELLS, Range};
use super::values::{Quantity, rounded, text_of};
use crate::decode::{Document, Node, Place, Value};
use crate::rng::{Key, Purpose};
use crate::scenario::{LoadError, Scenario};

/// Digits of values in a row of even distances: what arithmetic adds beyond them is noise.
const DIGITS: usize = 12;
/// A text with more characters than this is shortened for people.
const LONG: usize = 8;
/// Digits of values in a row of even ratios, and of those that are drawn.
const FEW_DIGITS: usize = 4;

/// What a cell has on one axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// The value as text.
    pub text: String,
    /// Its size in its base unit, if it is a quantity.
    pub size: Option<f64>,
    /// Which of the axis's values it is; absent where values are drawn from a range.
    pub step: Option<usize>,
}

/// One cell of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its number, from 0.
    pub number: u32,
    /// Its value on each axis.
    pub coordinates: Vec<Coordinate>,
    /// The keys it sets, and to what.
    settings: Vec<(String, Node)>,
}

/// An axis of a sweep.
#[derive(Clone, Debug)]
pub struct Axis {
    /// What it is called.
    pub title: String,
    /// The keys that it varies.
    pub keys: Vec<String>,
    /// Its values in order: the text and the size of each.
    pub marks: Vec<Coordinate>,
    /// What its first value is, if that is a quantity.
    pub quantity: Option<Quantity>,
    /// Whether even ratios are its measure.
    pub is_log: bool,
    steps: Vec<Node>,
    range: Option<Range>,
    place: Place,
}

/// All cells of a sweep.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// The axes, the first one varies slowest.
    pub axes: Vec<Axis>,
    /// Whether every combination is there.
    pub is_grid: bool,
    cells: u32,
    /// For a Latin hypercube: which part of each axis a cell has.
    parts: Vec<Vec<u32>>,
    key: Key,
}

impl Axis {
    /// Its column in files: the title and the unit, where its values are quantities.
    pub fn column(&self) -> String {
        let unit = match self.quantity.filter(|_| self.has_sizes()) {
            Some(Quantity::Duration(_)) => "_s",
            Some(Quantity::Rate(_)) => "_per_s",
            _ => "",
        };
        format!("{}{unit}", self.title)
    }

    /// Whether all its values are quantities.
    pub fn has_sizes(&self) -> bool {
        self.marks.iter().all(|mark| mark.size.is_some())
    }

    /// A value of it for people: a quantity with at most four digits.
    pub fn short_text(&self, at: &Coordinate) -> String {
        match (self.quantity, at.size) {
            (Some(quantity), Some(size)) if self.keys.len() == 1 && at.text.len() > LONG => {
                text_of(&quantity.with_size(rounded(size, FEW_DIGITS)))
            }
            _ => at.text.clone(),
        }
    }

    /// A value of it as files have it: the size of a quantity, or the text.
    pub fn cell_text(&self, at: &Coordinate) -> String {
        match at.size.filter(|_| self.has_sizes()) {
            Some(size) => size.to_string(),
            None => at.text.clone(),
        }
    }

    fn of(spec: &AxisSpec, index: usize, document: &Document) -> Self {
        let form = if spec.range.is_some() {
            "range"
        } else {
            "log_range"
        };
        let place = document.place_of(&format!("sweep.axis[{index}].{form}"));
        let range = spec.range.as_ref().or(spec.log_range.as_ref());
        let is_log = spec.log_range.is_some();
        let steps = match (&spec.values, range) {
            (Some(values), _) => values.0.clone(),
            (None, Some(range)) => range.steps(is_log, &place),
            (None, None) => Vec::new(),
        };
        let marks = (0..).zip(&steps).map(|(i, node)| coordinate(node, Some(i)));
        Self {
            title: spec.title(),
            keys: spec.all_keys().into_iter().map(str::to_owned).collect(),
            marks: marks.collect(),
            quantity: steps.first().and_then(|node| Quantity::of(leading(node))),
            is_log,
            steps,
            range: range.cloned(),
            place,
        }
    }

    /// The value at a share `u` of the way from the first to the last, for a sample.
    fn at(&self, u: f64) -> (Node, Coordinate) {
        let Some(range) = &self.range else {
            let step = ((u * self.steps.len() as f64) as usize).min(self.steps.len() - 1);
            let node = self.steps[step].clone();
            return (node, self.marks[step].clone());
        };
        let node = Node {
            place: self.place.clone(),
            value: range.between(u, self.is_log, FEW_DIGITS),
        };
        let coordinate = coordinate(&node, None);
        (node, coordinate)
    }
}

/// The columns of the axes of a sweep.
pub(in crate::scenario) fn columns(axes: &[AxisSpec], document: &Document) -> Vec<String> {
    let axes = axes.iter().enumerate();
    axes.map(|(i, axis)| Axis::of(axis, i, document).column())
        .collect()
}

impl Range {
    /// Its values, each at `place`. Whole numbers that round alike stand once.
    fn steps(&self, is_log: bool, place: &Place) -> Vec<Node> {
        let last = self.steps.saturating_sub(1).max(1);
        let digits = if is_log { FEW_DIGITS } else { DIGITS };
        let values = (0..=last).map(|i| match i {
            0 => self.from.0.clone(),
            i if i == last => self.to.0.clone(),
            i => self.between(f64::from(i) / f64::from(last), is_log, digits),
        });
        let mut values: Vec<Value> = values.collect();
        values.dedup();
        let node = |value| Node {
            place: place.clone(),
            value,
        };
        values.into_iter().map(node).collect()
    }

    /// The value at a share `u` of the way.
    fn between(&self, u: f64, is_log: bool, digits: usize) -> Value {
        let (from, to) = (self.from.quantity(), self.to.quantity());
        let (a, b) = (from.size(), to.size());
        let size = if is_log {
            a * (b / a).powf(u)
        } else {
            a + (b - a) * u
        };
        // One end with a fraction makes the others ones.
        let kind = if matches!(to, Quantity::Number(_)) {
            to
        } else {
            from
        };
        kind.with_size(rounded(size, digits))
    }
}

/// The value that a step is known by: of a list for several keys the first.
fn leading(node: &Node) -> &Value {
    match &node.value {
        Value::List(parts) if !parts.is_empty() => &parts[0].value,
        value => value,
    }
}

fn coordinate(node: &Node, step: Option<usize>) -> Coordinate {
    let text = match &node.value {
        Value::List(parts) => {
            let parts: Vec<String> = parts.iter().map(|part| text_of(&part.value)).collect();
            parts.join(", ")
        }
        value => text_of(value),
    };
    Coordinate {
        text,
        size: Quantity::of(leading(node)).map(Quantity::size),
        step,
    }
}

impl Sweep {
    /// The sweep of a scenario, if it has one.
    ///
    /// # Errors
    /// When it would have too many cells, how many.
    pub fn of(scenario: &Scenario) -> Result<Option<Self>, u64> {
        let Some(spec) = &scenario.spec.sweep else {
            return Ok(None);
        };
        let axes = spec.axis.iter().enumerate();
        let axes: Vec<Axis> = axes
            .map(|(i, axis)| Axis::of(axis, i, &scenario.document))
            .collect();
        let all = axes.iter().fold(1u64, |all, axis| {
            all.saturating_mul(axis.steps.len() as u64)
        });
        let cells = match &spec.design {
            Design::Grid => all,
            Design::LatinHypercube(sample) => u64::from(sample.cells),
        };
        if cells > MOST_CELLS {
            return Err(cells);
        }
        let is_grid = spec.design == Design::Grid;
        let key = Key::root(scenario.spec.run.seed.0, 0);
        let cells = cells as u32;
        let axis_keys = (0..axes.len() as u64).map(|axis| key.child(axis));
        let parts = match is_grid {
            true => Vec::new(),
            false => axis_keys.map(|key| shuffled(cells, key)).collect(),
        };
        Ok(Some(Self {
            axes,
            is_grid,
            cells,
            parts,
            key,
        }))
    }

    /// How many cells there are.
    pub fn len(&self) -> u32 {
        self.cells
    }

    /// Whether there is none: never.
    pub fn is_empty(&self) -> bool {
        self.cells == 0
    }

    /// A cell by its number.
    ///
    /// # Panics
    /// When there is no such cell.
    pub fn cell(&self, number: u32) -> Cell {
        assert!(number < self.cells, "there is no cell {number}");
        let mut settings = Vec::new();
        let mut coordinates = vec![None; self.axes.len()];
        let mut rest = number as usize;
        for (i, axis) in self.axes.iter().enumerate().rev() {
            let (node, coordinate) = if self.is_grid {
                let step = rest % axis.steps.len();
                rest /= axis.steps.len();
                (axis.steps[step].clone(), axis.marks[step].clone())
            } else {
                axis.at(self.sampled(i, number))
            };
            settings.extend(axis.settings(&node));
            coordinates[i] = Some(coordinate);
        }
        Cell {
            number,
            coordinates: coordinates.into_iter().flatten().collect(),
            settings,
        }
    }

    /// Where on an axis a cell of a sample lies: a random place within its part of it.
    fn sampled(&self, axis: usize, number: u32) -> f64 {
        let part = self.parts[axis][number as usize];
        let key = self.key.child(axis as u64).child(u64::from(number) + 1);
        (f64::from(part) + key.draws(Purpose::Sample).unit()) / f64::from(self.cells)
    }

    /// The scenario of a cell, without the sweep.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn scenario(&self, base: &Scenario, cell: &Cell) -> Result<Scenario, Box<LoadError>> {
        base.with(&cell.settings)
    }
}

impl Axis {
    /// What a step sets: the same value for every key, or one of a list for each.
    fn settings(&self, node: &Node) -> Vec<(String, Node)> {
        let parts = match &node.value {
            Value::List(parts) if parts.len() == self.keys.len() && self.keys.len() > 1 => {
                parts.clone()
            }
            _ => vec![node.clone(); self.keys.len()],
        };
        self.keys.iter().cloned().zip(parts).collect()
    }
}

/// The numbers below `count` in a random order (Fisher and Yates).
fn shuffled(count: u32, key: Key) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..count).collect();
    let mut draws = key.draws(Purpose::Sample);
    for i in (1..numbers.len()).rev() {
        let with = draws.below(i as u64 + 1);
        numbers.swap(i, with as usize);
    }
    numbers
}
