//! How an outcome depends on two settings at a time: maps of cells whose colour is the value, with the border
//! that theory draws between the settings that work and those that do not.

use super::canvas::{Place, picture};
use super::cells::{Cell, Cells};
use super::contour::contour;
use super::data::{Axis, Form, Heat, HeatPanel, Scale, Steps};
use super::frame::Frame;
use super::grid::{self, Grid, HEAD};
use super::legend::{Entry, Legend, Sample};
use super::ruler::Ruler;
use super::span::Side;
use super::{MARGIN, MOST_SHOWN, WIDTH, titles};

/// The most that a plot is high when one, two or three stand side by side.
const HEIGHTS: [f64; 3] = [400.0, 320.0, 220.0];
/// The most that a cell is wide and high; a map of few cells need not fill the sheet.
const LARGEST_CELL: Place = (130.0, 80.0);
/// The least that a plot is wide and high.
const SMALLEST_PLOT: Place = (120.0, 90.0);

/// A map that can be drawn.
struct Map<'a> {
    panel: &'a HeatPanel,
    cells: Cells,
    /// The border of theory, in columns and rows.
    border: Vec<Vec<Place>>,
}

/// A chart of maps as SVG, with the same colours in every panel; at most eight.
pub fn heat_svg(heat: &Heat) -> String {
    let size = (heat.x.marks.len(), heat.y.marks.len());
    let panels = &heat.panels[..heat.panels.len().min(MOST_SHOWN)];
    let maps: Vec<Map<'_>> = panels
        .iter()
        .map(|panel| map(panel, size, heat.range))
        .collect();
    let drawn = |map: &Map<'_>| map.cells.has(|cell| cell != Cell::Empty);
    let is_empty = !maps.iter().any(drawn);
    let legend = Legend::new(if is_empty {
        Vec::new()
    } else {
        entries(heat, &maps)
    });
    let (grid, x, y) = layout(heat, maps.len(), HEAD + legend.height());
    let left_out = grid::left_out(heat.panels.len() - panels.len(), "panels");
    let note = grid::footnote_lines(&(heat.words.note.trim().to_owned() + &left_out));
    let sheet = (WIDTH, grid.height(note.len()));
    picture(sheet, &heat.words.title, |canvas| {
        titles(canvas, &heat.words.title, &heat.words.subtitle);
        legend.draw(canvas, HEAD);
        if is_empty {
            grid::nothing(canvas, &grid.frame(0));
        }
        for (i, map) in maps.iter().enumerate().filter(|_| !is_empty) {
            let frame = grid.frame(i);
            let border = on_sheet(&map.border, &frame, size);
            map.cells.draw(canvas, &frame, heat.form, &border);
            grid.numbers(canvas, i, &x, &y);
            grid.title(canvas, i, &map.panel.title);
        }
        grid.labels(canvas, &heat.x.label, &heat.y.label);
        grid::footnotes(canvas, sheet.1, &note);
    })
}

fn map(panel: &HeatPanel, size: (usize, usize), range: (f64, f64)) -> Map<'_> {
    let mut field = panel.border.clone();
    field.resize(size.0 * size.1, None);
    Map {
        panel,
        cells: Cells::new(panel, size, range),
        border: contour(&field, size.0),
    }
}

/// Where the maps are, and their axes.
fn layout(heat: &Heat, count: usize, top: f64) -> (Grid, Ruler, Ruler) {
    let across = grid::across(count);
    let cells = |steps: &Steps| steps.marks.len().max(1) as f64;
    let most = cells(&heat.y) * LARGEST_CELL.1;
    let height = HEIGHTS[across - 1].min(most).max(SMALLEST_PLOT.1);
    let y = Ruler::new(&axis(&heat.y), &[], Side::Upwards, height);
    let left = MARGIN + 26.0 + y.widest();
    let most = cells(&heat.x) * LARGEST_CELL.0;
    let width = grid::room(left, across, 8.0).min(most).max(SMALLEST_PLOT.0);
    let x = Ruler::new(&axis(&heat.x), &[], Side::Across, width);
    let grid = Grid {
        count,
        across,
        left,
        top,
        plot: (width, height),
        beside: 8.0,
        titled: heat.panels.iter().any(|panel| !panel.title.is_empty()),
    };
    (grid, x, y)
}

fn axis(steps: &Steps) -> Axis {
    Axis {
        label: steps.label.clone(),
        scale: Scale::Steps(steps.marks.clone()),
        form: Form::Plain,
    }
}

/// What the colours, patterns and lines mean that are on the maps.
fn entries(heat: &Heat, maps: &[Map<'_>]) -> Vec<Entry> {
    let has = |wanted: Cell| maps.iter().any(|map| map.cells.has(|cell| cell == wanted));
    let mut entries = Vec::new();
    let mut explain = |sample: Sample, text: &str| {
        let text = text.to_owned();
        entries.push(Entry { sample, text });
    };
    let beyond =
        |outside: &dyn Fn(f64) -> bool| maps.iter().any(|map| map.cells.values().any(outside));
    let ends = (beyond(&|v| v < heat.range.0), beyond(&|v| v > heat.range.1));
    explain(Sample::colours(heat.form, heat.range, ends), &heat.value);
    if has(Cell::Hatched) && !heat.hatch.is_empty() {
        explain(Sample::Hatched, &heat.hatch);
    }
    if has(Cell::Empty) {
        explain(Sample::Empty, "no value");
    }
    if maps.iter().any(|map| !map.border.is_empty()) {
        explain(Sample::Border, "border of theory");
    }
    entries
}

/// Lines in columns and rows as lines through the middles of cells.
fn on_sheet(lines: &[Vec<Place>], frame: &Frame, size: (usize, usize)) -> Vec<Vec<Place>> {
    let part = |place: f64, count: usize| (place + 0.5) / count as f64;
    let at = |&(column, row): &Place| frame.at(part(column, size.0), part(row, size.1));
    lines
        .iter()
        .map(|line| line.iter().map(at).collect())
        .collect()
}
