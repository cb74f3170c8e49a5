//! Colours, dashes and markers that stay apart for every eye and in print.
//!
//! The colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008), without yellow, which does not
//! show on white.

use plotters::style::RGBColor;

pub(super) const INK: RGBColor = RGBColor(30, 30, 30);
pub(super) const FAINT: RGBColor = RGBColor(95, 95, 95);
pub(super) const GRID: RGBColor = RGBColor(226, 226, 226);
pub(super) const AXIS: RGBColor = RGBColor(120, 120, 120);
pub(super) const FAULT: RGBColor = RGBColor(238, 224, 232);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// First attempts: dark in grey.
pub(super) const FIRST_TRIES: RGBColor = RGBColor(0, 114, 178);
/// Retries: light in grey.
pub(super) const RETRIES: RGBColor = RGBColor(230, 159, 0);
/// What is cut or exceeded.
pub(super) const ALARM: RGBColor = RGBColor(190, 75, 0);

/// How a point of a series is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Nabla,
    Cross,
    Ring,
    Bar,
}

/// How a series looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stroke {
    pub(super) colour: RGBColor,
    /// Dash and gap; no gap is a full line.
    pub(super) dash: (f64, f64),
    pub(super) marker: Marker,
}

const fn stroke(colour: RGBColor, dash: (f64, f64), marker: Marker) -> Stroke {
    Stroke {
        colour,
        dash,
        marker,
    }
}

/// The looks of the series of a chart.
pub(super) const SERIES: [Stroke; super::MOST_SHOWN] = [
    stroke(RGBColor(0, 114, 178), (1.0, 0.0), Marker::Circle),
    stroke(RGBColor(213, 94, 0), (9.0, 3.0), Marker::Square),
    stroke(RGBColor(0, 158, 115), (1.0, 0.0), Marker::Triangle),
    stroke(RGBColor(204, 121, 167), (4.0, 3.0), Marker::Diamond),
    stroke(RGBColor(230, 159, 0), (1.0, 0.0), Marker::Nabla),
    stroke(RGBColor(86, 180, 233), (14.0, 4.0), Marker::Cross),
    stroke(RGBColor(0, 0, 0), (1.0, 0.0), Marker::Ring),
    stroke(RGBColor(130, 130, 130), (2.0, 2.0), Marker::Bar),
];
