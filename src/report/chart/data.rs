//! What the charts of sweeps are made of: numbers and words, nothing of a simulation.
//!
//! A sweep may vary anything. So its charts know only series of points and grids of cells, and whoever asks for a
//! chart says in words what they are.

/// What stands around a chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// The question that the chart answers.
    pub title: String,
    /// What was varied, and of what.
    pub subtitle: String,
    /// What the numbers are, at the lower edge.
    pub note: String,
}

/// How values are spread along an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm. What is not above zero has a band of its own at the low end.
    Log,
    /// Categories with these names, at 0, 1, 2 and so on.
    Steps(Vec<String>),
}

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a number.
    Plain,
    /// A share from 0 to 1, as a percentage.
    Share,
    /// How many times: "1.5×".
    Factor,
    /// Seconds, in milliseconds where that suits better.
    Seconds,
    /// So many a second.
    PerSecond,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with the unit.
    pub label: String,
    /// How its values are spread.
    pub scale: Scale,
    /// How its values are written.
    pub form: Form,
}

/// A point that was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// What was set.
    pub x: f64,
    /// What came of it.
    pub y: f64,
    /// The lower end of its interval.
    pub low: Option<f64>,
    /// The upper end of its interval.
    pub high: Option<f64>,
}

/// Points that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name. The same name has the same colour in every panel.
    pub name: String,
    /// What was measured, in the order of the line.
    pub points: Vec<Point>,
    /// What theory expects: a thin dotted line in the same colour. May be empty.
    pub predicted: Vec<(f64, f64)>,
    /// Whether a line joins the points; else there are markers only.
    pub joined: bool,
}

/// A line to compare with, like a capacity.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reference {
    /// Its name, written at its end.
    pub label: String,
    /// Its course.
    pub points: Vec<(f64, f64)>,
}

/// One plot of a chart of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// What it is about. May be empty.
    pub title: String,
    /// Its series; eight are shown at the most.
    pub series: Vec<Series>,
    /// Lines to compare them with.
    pub references: Vec<Reference>,
}

/// A chart of lines or of points: one plot, or up to eight small ones with the same axes.
#[derive(Clone, Debug, PartialEq)]
pub struct Curves {
    /// What stands around it.
    pub words: Words,
    /// The axis across.
    pub x: Axis,
    /// The axis upwards.
    pub y: Axis,
    /// The plots.
    pub panels: Vec<Panel>,
}

/// The values of one side of a grid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steps {
    /// What was varied, with its unit.
    pub label: String,
    /// The value of each column or row, from the lowest on.
    pub marks: Vec<String>,
}

/// One map of a heat chart. Cells are listed row by row from the lowest value of y, which is at the bottom.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatPanel {
    /// What it is about. May be empty.
    pub title: String,
    /// The value of each cell, if there is one.
    pub values: Vec<Option<f64>>,
    /// Which cells are in a state of their own. As long as the values, or empty.
    pub hatched: Vec<bool>,
    /// A ratio for each cell; where it is 1, there is the border of theory. As long as the values, or empty.
    pub border: Vec<Option<f64>>,
}

/// A chart of two settings at a time: one map, or up to eight small ones with the same colours.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// What stands around it.
    pub words: Words,
    /// The setting across.
    pub x: Steps,
    /// The setting upwards.
    pub y: Steps,
    /// What the colour means, with its unit.
    pub value: String,
    /// The ends of the colour scale.
    pub range: (f64, f64),
    /// How values are written.
    pub form: Form,
    /// What a hatched cell means. May be empty.
    pub hatch: String,
    /// The maps.
    pub panels: Vec<HeatPanel>,
}
