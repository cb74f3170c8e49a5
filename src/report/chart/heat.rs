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
        titles(
            canvas,
            &heat.words.title,
            &heat.words.subtitle,
            WIDTH - MARGIN,
        );
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
        shaded: false,
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

#[cfg(test)]
mod tests {
    use super::super::data::Words;
    use super::super::probe::{count_inside, texts};
    use super::*;

    fn steps(label: &str, count: usize) -> Steps {
        Steps {
            label: label.into(),
            marks: (0..count).map(|i| format!("{i} ms")).collect(),
        }
    }

    /// Maps whose value and border ratio are column × row ÷ (columns × rows ÷ 4).
    fn chart(columns: usize, rows: usize, panels: usize) -> Heat {
        let quarter = (columns * rows) as f64 / 4.0;
        let cells = 0..columns * rows;
        let ratio = |i: usize| (i % columns * (i / columns)) as f64 / quarter;
        let panel = |i: usize| HeatPanel {
            title: format!("panel <{i}>"),
            values: cells.clone().map(|i| Some(ratio(i) / 4.0)).collect(),
            hatched: Vec::new(),
            border: cells.clone().map(|i| Some(ratio(i))).collect(),
        };
        Heat {
            words: Words {
                title: "Where is <it> & why?".into(),
                subtitle: "a sweep".into(),
                note: "One replication.".into(),
            },
            x: steps("timeout, ms", columns),
            y: steps("delay, ms", rows),
            value: "share of requests".into(),
            range: (0.0, 1.0),
            form: Form::Share,
            hatch: "collapsed".into(),
            panels: (0..panels).map(panel).collect(),
        }
    }

    fn rectangles(svg: &str) -> usize {
        svg.matches("<rect").count()
    }

    #[test]
    fn a_map_says_what_it_shows() {
        let mut heat = chart(10, 5, 1);
        heat.panels[0].hatched = (0..50).map(|i| i == 49).collect();
        heat.panels[0].values[3] = None;
        let found = texts(&heat_svg(&heat));
        for text in [
            "Where is <it> & why?",
            "a sweep",
            "timeout, ms",
            "delay, ms",
            "panel <0>",
            "share of requests",
            "0 %",
            "100 %",
            "collapsed",
            "no value",
            "border of theory",
            "One replication.",
            "9 ms",
        ] {
            assert!(found.iter().any(|t| t == text), "{text} in {found:?}");
        }
        assert!(
            found.iter().any(|t| t == "72.0"),
            "the value of the last cell in {found:?}"
        );
    }

    #[test]
    fn what_is_not_on_the_map_is_not_explained() {
        let mut heat = chart(4, 4, 1);
        heat.panels[0].border.clear();
        let found = texts(&heat_svg(&heat));
        for text in ["collapsed", "no value", "border of theory"] {
            assert!(!found.iter().any(|t| t == text), "{text}");
        }
        heat.range = (0.1, 0.3);
        let found = texts(&heat_svg(&heat));
        assert!(
            found.iter().any(|t| t == "≥ 30 %") && found.iter().any(|t| t == "≤ 10 %"),
            "{found:?}"
        );
    }

    #[test]
    fn every_text_is_inside_the_picture() {
        for (columns, rows) in [(1, 1), (2, 9), (10, 5), (40, 3), (100, 100)] {
            for panels in [0, 1, 2, 3, 5, 9] {
                let mut heat = chart(columns, rows, panels);
                heat.value = "words ".repeat(60);
                heat.y.marks[0] = "a mark that is far too long".repeat(4);
                heat.x.marks[columns - 1] = "a mark that is far too long".repeat(4);
                assert!(count_inside(&heat_svg(&heat)) >= 4);
            }
        }
    }

    #[test]
    fn the_border_is_drawn_where_the_ratio_is_one() {
        let frame = Frame {
            left: 0.0,
            right: 100.0,
            top: 0.0,
            bottom: 50.0,
            x: 0.0..1.0,
            y: 0.0..1.0,
        };
        let line = vec![vec![(0.0, 0.0), (9.0, 4.0)]];
        assert_eq!(
            on_sheet(&line, &frame, (10, 5)),
            [[(5.0, 45.0), (95.0, 5.0)]]
        );
        let heat = chart(20, 20, 1);
        let map = map(&heat.panels[0], (20, 20), heat.range);
        // In each square column × row is linear along the sides.
        assert!(
            map.border
                .concat()
                .iter()
                .all(|(x, y)| (x * y - 100.0).abs() < 1e-9)
        );
        assert!(map.border.concat().len() > 15);
    }

    #[test]
    fn values_are_written_only_where_there_is_room() {
        let count = |heat: &Heat| {
            texts(&heat_svg(heat))
                .iter()
                .filter(|t| t.contains('.'))
                .count()
        };
        assert!(count(&chart(10, 5, 1)) > 30);
        assert!(count(&chart(16, 5, 1)) <= 1);
        assert!(count(&chart(15, 40, 1)) <= 1);
    }

    #[test]
    fn ten_thousand_cells_are_a_small_file() {
        let mut heat = chart(100, 100, 1);
        let svg = heat_svg(&heat);
        assert!(
            svg.len() < 400_000 && rectangles(&svg) < 4_000,
            "{}",
            svg.len()
        );
        for (i, value) in heat.panels[0].values.iter_mut().enumerate() {
            *value = Some((i * 7_919 % 1_009) as f64 / 1_009.0);
        }
        heat.panels[0].hatched = (0..10_000).map(|i| i * 31 % 7 == 0).collect();
        let svg = heat_svg(&heat);
        assert!(svg.len() < 1_500_000, "{}", svg.len());
        heat.panels[0].values.fill(Some(0.5));
        heat.panels[0].hatched.clear();
        assert!(rectangles(&heat_svg(&heat)) < 150);
    }

    #[test]
    fn merged_cells_leave_no_seams() {
        let mut heat = chart(100, 100, 1);
        heat.panels[0].border.clear();
        // Levels that alternate by row and column, so that nothing is merged.
        for (i, value) in heat.panels[0].values.iter_mut().enumerate() {
            *value = Some(if (i + i / 100).is_multiple_of(2) {
                1.0
            } else {
                0.9
            });
        }
        let picture =
            resvg::tiny_skia::Pixmap::decode_png(&super::super::png(&heat_svg(&heat))).unwrap();
        // The middle of the picture is all map; paper would be light there.
        let light = (300..1300).flat_map(|x| (350..650).map(move |y| (x, y)));
        let light = light
            .filter(|&(x, y)| picture.pixel(x, y).is_some_and(|p| p.red() > 60))
            .count();
        assert_eq!(light, 0);
    }

    #[test]
    fn without_a_value_there_is_nothing_to_draw() {
        let mut blank = chart(3, 3, 2);
        blank
            .panels
            .iter_mut()
            .for_each(|panel| panel.values = vec![Some(f64::NAN); 9]);
        let mut short = chart(3, 3, 1);
        short.panels[0].values.clear();
        for heat in [chart(0, 0, 1), chart(5, 5, 0), blank, short] {
            let svg = heat_svg(&heat);
            assert!(texts(&svg).contains(&"nothing to draw".to_string()));
            assert!(count_inside(&svg) >= 3);
        }
    }

    #[test]
    fn at_most_eight_maps_are_shown_and_the_rest_is_mentioned() {
        let found = texts(&heat_svg(&chart(4, 4, 10)));
        assert!(found.iter().any(|t| t == "panel <7>") && !found.iter().any(|t| t == "panel <8>"));
        assert!(
            found
                .iter()
                .any(|t| t.ends_with(" The last 2 panels are not shown."))
        );
    }
}
