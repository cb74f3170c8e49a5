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
    /// Shares by the logarithm of what is above them: 90, 99 and 99.9 % are equally far apart.
    Tail,
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
    /// What stands behind its name at the end of its line. May be empty.
    pub note: String,
}

impl Series {
    /// A line through points (x, y) without intervals.
    pub fn line(name: String, points: &[(f64, f64)]) -> Self {
        let point = |&(x, y): &(f64, f64)| Point {
            x,
            y,
            low: None,
            high: None,
        };
        Self {
            name,
            points: points.iter().map(point).collect(),
            predicted: Vec::new(),
            joined: true,
            note: String::new(),
        }
    }
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

/// A span of time in which something was wrong.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shade {
    /// Its start, on the axis across.
    pub from: f64,
    /// Its end.
    pub to: f64,
    /// What it is, written above the plot.
    pub label: String,
}

/// A chart of lines or of points: one plot, or up to eight small ones.
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
    /// Spans that are shaded in every plot, in order.
    pub shades: Vec<Shade>,
    /// Whether plots stand one above the other, each with numbers of its own upwards and with names at its lines; else
    /// they stand side by side with the same axes.
    pub stacked: bool,
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

/// A row of a chart of bars.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bar {
    /// Its name, at its left.
    pub name: String,
    /// How much of each kind, in the order of the kinds.
    pub parts: Vec<f64>,
    /// What stands at its end.
    pub sum: String,
}

/// A chart of parts that are stacked to bars, at most eight kinds of them and eight bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Bars {
    /// What stands around it.
    pub words: Words,
    /// The axis across.
    pub x: Axis,
    /// The names of the kinds of parts.
    pub kinds: Vec<String>,
    /// The bars.
    pub rows: Vec<Bar>,
}

/// A chart of points of which each has its name beside it, at most eight.
#[derive(Clone, Debug, PartialEq)]
pub struct Points {
    /// What stands around it.
    pub words: Words,
    /// The axis across; less is better.
    pub x: Axis,
    /// The axis upwards; more is better.
    pub y: Axis,
    /// Names and places.
    pub points: Vec<(String, Point)>,
    /// What is good about the upper left corner.
    pub corner: String,
}

/// An attempt of a client.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The row of its client, 0 is the uppermost.
    pub row: u32,
    /// When it was made, on the axis across.
    pub at: f64,
    /// Whether it was a retry.
    pub retry: bool,
}

/// A chart of who makes attempts when: a panel a strategy, a row a client. At most eight panels.
#[derive(Clone, Debug, PartialEq)]
pub struct Raster {
    /// What stands around it.
    pub words: Words,
    /// The axis across.
    pub x: Axis,
    /// What it shows, from and to.
    pub range: (f64, f64),
    /// How many rows there are.
    pub rows: u32,
    /// What a row is.
    pub y_label: String,
    /// What rows are, behind "The first 200" in the note: the last rows may be left out.
    pub row_words: String,
    /// Spans that are shaded in every panel.
    pub shades: Vec<Shade>,
    /// Titles and marks.
    pub panels: Vec<(String, Vec<Mark>)>,
}
