//! Points with their names beside them: one look says which lie in the good corner.

use super::axes;
use super::busy::{Area, Busy};
use super::canvas::{Canvas, Look, Place, picture};
use super::data::{Axis, Point, Points};
use super::frame::Frame;
use super::grid::{self, HEAD};
use super::palette::{SERIES, Stroke};
use super::ruler::Ruler;
use super::span::Side;
use super::{MARGIN, MOST_SHOWN, WIDTH, labels, palette, series, titles};

const HEIGHT: f64 = 380.0;
/// Above the plot, where the good corner is named.
const ABOVE: f64 = 24.0;
const FOOT: f64 = 50.0;
const LINE: f64 = 15.0;
const SIZE: f64 = 11.5;
/// From a point to its name.
const ASIDE: f64 = 9.0;

/// A chart of named points as SVG, with intervals upwards. At most eight points.
pub fn points_svg(chart: &Points) -> String {
    let points = &chart.points[..chart.points.len().min(MOST_SHOWN)];
    let ends = |point: &Point| [Some(point.y), point.low, point.high];
    let heights: Vec<f64> = points.iter().flat_map(|(_, p)| ends(p)).flatten().collect();
    let y = Ruler::new(&chart.y, &heights, Side::Upwards, HEIGHT);
    let left = MARGIN + 26.0 + y.widest();
    let top = HEAD + ABOVE;
    let frame = Frame {
        left,
        right: WIDTH - MARGIN - 14.0,
        top,
        bottom: top + HEIGHT,
        x: 0.0..1.0,
        y: 0.0..1.0,
    };
    let across: Vec<f64> = points.iter().map(|(_, point)| point.x).collect();
    let x = Ruler::new(&chart.x, &across, Side::Across, frame.right - left);
    let left_out = chart.points.len() - points.len();
    let note = chart.words.note.clone() + &grid::left_out(left_out, "strategies");
    let note = grid::footnote_lines(&note);
    let height = frame.bottom + FOOT + LINE * note.len() as f64 + 6.0;
    picture((WIDTH, height), &chart.words.title, |canvas| {
        titles(
            canvas,
            &chart.words.title,
            &chart.words.subtitle,
            WIDTH - MARGIN,
        );
        axes::lines(canvas, &frame, &x, &y);
        corner(canvas, &frame, &chart.corner);
        axes::across(canvas, &frame, &x, true);
        axes::upwards(canvas, &frame, &y);
        words(canvas, &frame, &chart.x, &chart.y);
        let places = points
            .iter()
            .zip(SERIES)
            .filter_map(|((name, point), stroke)| {
                let at = frame.at(x.place(point.x)?, y.place(point.y)?);
                let end = |value: Option<f64>| Some(frame.at(0.0, y.place_inside(value?)?).1);
                let interval = end(point.low).zip(end(point.high));
                Some((&name[..], at, interval, stroke))
            });
        let places: Vec<Placed<'_>> = places.collect();
        draw(canvas, &frame, &places);
        if places.is_empty() {
            grid::nothing(canvas, &frame);
        }
        grid::footnotes(canvas, height, &note);
    })
}

/// A name, its point, the heights of the ends of its interval, and its look.
type Placed<'a> = (&'a str, Place, Option<(f64, f64)>, Stroke);

/// The good corner, with its name above it.
fn corner(canvas: &Canvas<'_>, frame: &Frame, name: &str) {
    let (left, top) = (frame.left, frame.top);
    let area = [(left, top), (left + 70.0, top), (left, top + 70.0)];
    canvas.tint(&area, SERIES[2].colour, 0.16);
    let look = Look::new(SIZE).colour(palette::FAINT);
    let name = labels::fit(name, look, frame.right - left);
    canvas.text(&name, (left, top - 8.0), look);
}

/// What the axes measure.
fn words(canvas: &Canvas<'_>, frame: &Frame, x: &Axis, y: &Axis) {
    let look = Look::new(SIZE).colour(palette::FAINT).centred();
    let middle = (frame.left + frame.right) / 2.0;
    canvas.text(&x.label, (middle, frame.bottom + 35.0), look);
    let middle = (frame.top + frame.bottom) / 2.0;
    canvas.text(&y.label, (MARGIN + 8.0, middle), look.upright());
}

/// Intervals, markers, and names where nothing is.
fn draw(canvas: &Canvas<'_>, frame: &Frame, places: &[Placed<'_>]) {
    let mut busy = Busy::default();
    for &(_, at, interval, stroke) in places {
        if let Some((low, high)) = interval {
            series::interval(canvas, (at.0, low), (at.0, high), stroke);
            busy.add_line(&[(at.0, low), (at.0, high)]);
        }
        busy.add_area(around(at, 2.0 * series::RADIUS, 2.0 * series::RADIUS));
    }
    for &(_, at, _, stroke) in places {
        series::mark_of(canvas, at, stroke, series::RADIUS * 1.4);
    }
    let look = Look::new(SIZE);
    for &(name, at, _, stroke) in places {
        let name = labels::fit(name, look, (frame.right - frame.left) * 0.6);
        let half = (labels::width(&name, look) / 2.0 + 2.0, SIZE / 2.0 + 2.0);
        let areas: Vec<Area> = choices(at, half)
            .map(|middle| around(middle, half.0, half.1).moved_into(inside(frame)))
            .collect();
        if let Some((area, _)) = busy.freest(&areas) {
            let middle = (
                (area.left + area.right) / 2.0,
                (area.top + area.bottom) / 2.0,
            );
            let near = (
                at.0.clamp(area.left, area.right),
                at.1.clamp(area.top, area.bottom),
            );
            if (near.0 - at.0).hypot(near.1 - at.1) > 2.0 * ASIDE {
                canvas.line(&[at, near], stroke.colour, 0.7);
            }
            canvas.text(&name, (middle.0, middle.1 + SIZE * 0.36), look.centred());
            busy.add_area(area);
        }
    }
}

/// Middles of a name around its point: beside it, above, below, and further and further away.
fn choices(at: Place, half: Place) -> impl Iterator<Item = Place> {
    let steps = [
        0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 4.0, -4.0, 5.0, -5.0, 6.0, -6.0, 7.0, 8.0,
    ];
    steps.into_iter().flat_map(move |step: f64| {
        let down = step * (2.0 * half.1 + 1.0);
        let aside = half.0 + ASIDE + if step == 0.0 { 0.0 } else { 8.0 };
        [aside, -aside].map(|aside| (at.0 + aside, at.1 + down))
    })
}

fn around(middle: Place, across: f64, upwards: f64) -> Area {
    Area {
        left: middle.0 - across,
        right: middle.0 + across,
        top: middle.1 - upwards,
        bottom: middle.1 + upwards,
    }
}

fn inside(frame: &Frame) -> Area {
    Area {
        left: frame.left + 2.0,
        right: frame.right - 2.0,
        top: frame.top + 2.0,
        bottom: frame.bottom - 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::data::{Form, Scale, Words};
    use super::super::probe::{apart, count_inside, texts};
    use super::*;

    fn chart(places: &[(f64, f64)]) -> Points {
        let axis = |label: &str, form| Axis {
            label: label.into(),
            scale: Scale::Linear,
            form,
        };
        let point = |(i, &(x, y)): (usize, &(f64, f64))| {
            let point = Point {
                x,
                y,
                low: Some(y - 0.02),
                high: Some(y + 0.02),
            };
            (format!("{i}. a strategy with a name"), point)
        };
        Points {
            words: Words::default(),
            x: axis("attempts", Form::Factor),
            y: axis("success, %", Form::Share),
            points: places.iter().enumerate().map(point).collect(),
            corner: "good".into(),
        }
    }

    #[test]
    fn names_stand_beside_their_points_and_never_on_each_other() {
        let crowd: Vec<(f64, f64)> = (0..8).map(|i| (1.0 + f64::from(i) * 1e-3, 0.99)).collect();
        let line: Vec<(f64, f64)> = (0..8).map(|i| (f64::from(i), 0.1 * f64::from(i))).collect();
        for places in [crowd, line, vec![(1.0, 1.0)], vec![]] {
            let svg = points_svg(&chart(&places));
            assert!(count_inside(&svg) >= 3);
            apart(&svg);
            let names = texts(&svg)
                .into_iter()
                .filter(|text| text.contains("a strategy"));
            assert_eq!(names.count(), places.len());
        }
    }
}
