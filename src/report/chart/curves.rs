//! How an outcome depends on one setting: lines over a sweep, in one plot or in small ones side by side.

use super::canvas::{Canvas, picture};
use super::data::{Curves, Panel, Point, Scale, Series};
use super::ends::{self, End};
use super::grid::{self, Grid, HEAD};
use super::legend::{Entry, Legend, Sample};
use super::palette::{SERIES, Stroke};
use super::plot::Plot;
use super::ruler::Ruler;
use super::span::{Side, usable};
use super::{MARGIN, MOST_SHOWN, WIDTH, titles};

/// Height of a plot when one, two or three stand side by side.
const HEIGHTS: [f64; 3] = [380.0, 240.0, 190.0];
/// The most that names take beside a plot when one or two stand side by side.
const NAMES: [f64; 2] = [250.0, 170.0];

/// A line that ends in this part of a plot ends at its right edge.
const AT_EDGE: f64 = 0.06;

/// A panel with the looks of the series that are shown.
struct Shown<'a> {
    panel: &'a Panel,
    series: Vec<(&'a Series, Stroke)>,
}

/// A chart of lines as SVG: bands of intervals, markers and theory, with the same axes in every panel. At most
/// eight panels of at most eight series.
pub fn curves_svg(curves: &Curves) -> String {
    let panels = &curves.panels[..curves.panels.len().min(MOST_SHOWN)];
    let common = common_names(panels);
    let shown: Vec<Shown<'_>> = panels
        .iter()
        .map(|panel| look(panel, common.as_deref()))
        .collect();
    let key = has_key(&shown, common.as_deref());
    let legend = Legend::new(entries(&shown, key));
    // Names beside three plots would leave no room for the plots.
    let across = grid::across(shown.len()).min(if key { 3 } else { 2 });
    let height = HEIGHTS[across - 1];
    let names = shown.iter().flat_map(|panel| names_beside(panel));
    let beside = if key {
        0.0
    } else {
        ends::room(names, NAMES[across.min(2) - 1])
    };
    let y = Ruler::new(
        &curves.y,
        &values(&shown, curves, Side::Upwards),
        Side::Upwards,
        height,
    );
    let left = MARGIN + 26.0 + y.widest();
    let width = grid::room(left, across, beside.max(14.0));
    let x = Ruler::new(
        &curves.x,
        &values(&shown, curves, Side::Across),
        Side::Across,
        width,
    );
    let grid = Grid {
        count: shown.len(),
        across,
        left,
        top: HEAD + legend.height(),
        plot: (width, height),
        beside: beside.max(14.0),
        titled: shown.iter().any(|panel| !panel.panel.title.is_empty()),
    };
    let note = grid::footnote_lines(&note(curves));
    let size = (WIDTH, grid.height(note.len()));
    picture(size, &curves.words.title, |canvas| {
        titles(canvas, &curves.words.title, &curves.words.subtitle);
        legend.draw(canvas, HEAD);
        for (i, panel) in shown.iter().enumerate() {
            draw(canvas, &grid, i, panel, (&x, &y), key);
        }
        if shown.is_empty() {
            grid::nothing(canvas, &grid.frame(0));
        }
        grid.labels(canvas, &curves.x.label, &curves.y.label);
        grid::footnotes(canvas, size.1, &note);
    })
}

/// The different names of all series, if they are few enough to give each a look of its own.
fn common_names(panels: &[Panel]) -> Option<Vec<&str>> {
    let mut names: Vec<&str> = Vec::new();
    for panel in panels {
        for (i, series) in panel.series.iter().take(MOST_SHOWN).enumerate() {
            if panel.series[..i]
                .iter()
                .any(|other| other.name == series.name)
            {
                return None;
            }
            if !names.contains(&&series.name[..]) {
                names.push(&series.name);
            }
        }
    }
    (names.len() <= MOST_SHOWN).then_some(names)
}

/// The series of a panel that are shown. A name has the same look in every panel, if there is a list of them.
fn look<'a>(panel: &'a Panel, names: Option<&[&str]>) -> Shown<'a> {
    let series = panel.series.iter().take(MOST_SHOWN).enumerate();
    let series = series.map(|(i, series)| {
        let known = names.and_then(|names| names.iter().position(|name| *name == series.name));
        (series, SERIES[known.unwrap_or(i)])
    });
    Shown {
        panel,
        series: series.collect(),
    }
}

/// Whether names are in a key above the plots: of small plots with names in common, and of points without lines.
fn has_key(shown: &[Shown<'_>], common: Option<&[&str]>) -> bool {
    let scattered = || {
        shown
            .iter()
            .any(|panel| panel.series.iter().any(|(series, _)| !series.joined))
    };
    common.is_some() && (shown.len() > 1 || scattered())
}

fn names_beside<'a>(panel: &Shown<'a>) -> impl Iterator<Item = &'a str> {
    let series: Vec<&'a str> = panel
        .series
        .iter()
        .map(|(series, _)| &series.name[..])
        .collect();
    let references = panel
        .panel
        .references
        .iter()
        .map(|reference| &reference.label[..]);
    series.into_iter().chain(references)
}

fn entries(shown: &[Shown<'_>], key: bool) -> Vec<Entry> {
    let all = || shown.iter().flat_map(|panel| &panel.series);
    let mut entries: Vec<Entry> = Vec::new();
    if key {
        let mut named: Vec<(&Series, Stroke)> = Vec::new();
        for &(series, stroke) in all() {
            if !named.iter().any(|(_, other)| *other == stroke) {
                named.push((series, stroke));
            }
        }
        entries.extend(named.into_iter().map(|(series, stroke)| Entry {
            sample: Sample::Line(stroke, series.joined),
            text: series.name.clone(),
        }));
    }
    let banded = |series: &Series| {
        series
            .points
            .iter()
            .any(|p| p.low.is_some() && p.high.is_some())
    };
    if all().any(|(series, _)| series.joined && banded(series)) {
        entries.push(Entry {
            sample: Sample::Interval,
            text: "shaded: interval".into(),
        });
    }
    if all().any(|(series, _)| !series.predicted.is_empty()) {
        entries.push(Entry {
            sample: Sample::Predicted,
            text: "dashed: theory".into(),
        });
    }
    entries
}

/// What is on an axis: everything measured, and of theory and references what does not flatten it.
fn values(shown: &[Shown<'_>], curves: &Curves, side: Side) -> Vec<f64> {
    let axis = if side == Side::Across {
        &curves.x
    } else {
        &curves.y
    };
    let log = axis.scale == Scale::Log;
    let part = |(x, y): (f64, f64)| if side == Side::Across { x } else { y };
    let series = || {
        shown
            .iter()
            .flat_map(|panel| panel.series.iter().map(|(series, _)| *series))
    };
    let points = || series().flat_map(|series| &series.points);
    let drawable = |p: &&Point| usable(p.x) && usable(p.y);
    let mut found: Vec<f64> = points()
        .filter(drawable)
        .map(|p| part((p.x, p.y)))
        .collect();
    let limits = limits(&found, log);
    let mut more: Vec<f64> = Vec::new();
    if side == Side::Upwards {
        let ends = points()
            .filter(drawable)
            .flat_map(|p| [p.low, p.high])
            .flatten();
        more.extend(ends);
        let references = shown.iter().flat_map(|panel| &panel.panel.references);
        more.extend(
            references
                .flat_map(|reference| &reference.points)
                .map(|&p| part(p)),
        );
    }
    more.extend(
        series()
            .flat_map(|series| &series.predicted)
            .map(|&p| part(p)),
    );
    let near = |&value: &f64| {
        usable(value) && limits.is_none_or(|(low, high)| (low..=high).contains(&value))
    };
    found.extend(
        more.into_iter()
            .filter(near)
            .filter(|&value| !log || value > 0.0),
    );
    found
}

/// How far an axis may reach beyond what was measured.
fn limits(values: &[f64], log: bool) -> Option<(f64, f64)> {
    let values = || values.iter().copied().filter(|&value| !log || value > 0.0);
    let low = values().reduce(f64::min)?;
    let high = values().reduce(f64::max)?;
    if log {
        return Some((low / 30.0, high * 30.0));
    }
    let aside = (high - low).max(high.abs().max(low.abs()) * 0.5);
    Some((low - aside, high + aside))
}

fn draw(
    canvas: &Canvas<'_>,
    grid: &Grid,
    i: usize,
    shown: &Shown<'_>,
    (x, y): (&Ruler, &Ruler),
    key: bool,
) {
    let frame = grid.frame(i);
    let references = &shown.panel.references;
    let plot = Plot {
        canvas,
        frame: &frame,
        x,
        y,
    };
    let drawn = plot.draw(&shown.series, references);
    grid.numbers(canvas, i, x, y);
    grid.title(canvas, i, &shown.panel.title);
    if drawn.series.iter().all(Vec::is_empty) {
        grid::nothing(canvas, &frame);
    }
    let ends = shown.series.iter().zip(&drawn.series);
    let ends = ends.filter_map(|((series, stroke), points)| {
        Some(End {
            name: &series.name,
            at: ends::rightmost(points)?,
            stroke: Some(*stroke),
        })
    });
    let mut ends: Vec<End<'_>> = ends.collect();
    let mut inside = Vec::new();
    for (reference, points) in references.iter().zip(&drawn.references) {
        let Some(at) = ends::rightmost(points) else {
            continue;
        };
        if key || at.0 < frame.right - (frame.right - frame.left) * AT_EDGE {
            inside.push((&reference.label[..], &points[..]));
        } else {
            ends.push(End {
                name: &reference.label,
                at,
                stroke: None,
            });
        }
    }
    ends::inside(canvas, &frame, &inside, &drawn.busy);
    if !key {
        ends::beside(canvas, &frame, &ends, grid.beside);
    }
}

/// The note with what is left out.
fn note(curves: &Curves) -> String {
    let mut text = curves.words.note.trim().to_owned();
    let (panels, rest) = curves.panels.split_at(curves.panels.len().min(MOST_SHOWN));
    let series = panels
        .iter()
        .map(|panel| panel.series.len().saturating_sub(MOST_SHOWN));
    text += &grid::left_out(series.max().unwrap_or(0), "series");
    text += &grid::left_out(rest.len(), "panels");
    text
}
