//! How much load each strategy puts on the service: a panel a strategy, all with the same axes.

use super::bands::{Band, TICKS, bands, ceiling, peak};
use super::canvas::{Canvas, Look, picture};
use super::frame::{Frame, ticks, widest};
use super::number::{percent, thousands};
use super::{
    MARGIN, WIDTH, faults, footnote, headline, key, labels, mean_over, name_of, palette, shown,
};
use crate::experiment::{RunResult, StrategyResult};
use crate::metrics::SummaryRow;
use crate::time::SimTime;

/// The question that the load chart answers.
pub const TITLE: &str = "How much load does each strategy put on the service?";
const Y_UNIT: &str = "attempts per second";
const X_UNIT: &str = "time, s";

/// Height of the title block.
const HEAD: f64 = 72.0;
/// Above a plot: the panel's title and the names of the faults.
const ABOVE: f64 = 36.0;
/// Height of a plot in a single column, and in two.
const PLOT_HEIGHTS: [f64; 2] = [180.0, 138.0];
/// Below a plot: numbers, and the unit under the lowest.
const BELOW: f64 = 28.0;
const FOOT: f64 = 46.0;
const SMALL: f64 = 10.5;

/// What all panels have in common.
struct Sheet<'a> {
    result: &'a RunResult,
    top: f64,
    ticks: Vec<f64>,
    capacity: Option<f64>,
    capacity_on_axis: bool,
}

struct Panel<'a> {
    strategy: &'a StrategyResult,
    bands: Vec<Band>,
    frame: Frame,
    /// Nothing stands below it.
    lowest: bool,
    /// Nothing stands left of it.
    leftmost: bool,
}

/// The load chart as SVG: first tries and retries stacked over time, against capacity and faults. At most eight
/// strategies, best first.
pub fn load_svg(result: &RunResult) -> String {
    let (strategies, left_out) = shown(result);
    let across = if strategies.len() <= 3 { 1 } else { 2 };
    let rows = strategies.len().div_ceil(across).max(1);
    let plot = PLOT_HEIGHTS[across - 1];
    let height = HEAD + rows as f64 * (ABOVE + plot + BELOW) + FOOT;
    let columns = (WIDTH / across as f64) as usize;
    let bands: Vec<_> = strategies
        .iter()
        .map(|s| bands(s, result, columns))
        .collect();
    let peaks: Vec<f64> = bands.iter().map(|bands| peak(bands)).collect();
    let highest = |most: f64, step: f64| most.max(step);
    let capacity = result
        .capacity
        .iter()
        .map(|step| step.per_s)
        .reduce(highest);
    let (top, capacity_on_axis) = ceiling(&peaks, capacity.unwrap_or(0.0));
    let sheet = Sheet {
        result,
        top,
        ticks: ticks(&(0.0..top), TICKS),
        capacity,
        capacity_on_axis,
    };
    let panels = panels(&sheet, &strategies, bands, across);
    picture((WIDTH, height), TITLE, |canvas| {
        for panel in &panels {
            draw(canvas, &sheet, panel);
        }
        let first = panels.first().map(|panel| (&panel.frame, &panel.bands[..]));
        let line = sheet.capacity.filter(|_| sheet.capacity_on_axis);
        let right = key::draw(canvas, first, HEAD - 18.0, line);
        headline(canvas, TITLE, result, right);
        let note = note(&sheet, &strategies, columns) + &left_out;
        footnote(canvas, height, &note);
    })
}

fn panels<'a>(
    sheet: &Sheet<'_>,
    strategies: &[&'a StrategyResult],
    bands: Vec<Vec<Band>>,
    across: usize,
) -> Vec<Panel<'a>> {
    let numbers = widest(&sheet.ticks, thousands) + 26.0;
    let plot = PLOT_HEIGHTS[across - 1];
    let pitch = (WIDTH - 2.0 * MARGIN) / across as f64;
    let end = sheet.result.horizon.as_secs_f64().max(1e-9);
    strategies
        .iter()
        .zip(bands)
        .enumerate()
        .map(|(i, (strategy, bands))| {
            let (row, column) = (i / across, i % across);
            let edge = MARGIN + column as f64 * pitch;
            let top = HEAD + row as f64 * (ABOVE + plot + BELOW) + ABOVE;
            Panel {
                strategy,
                bands,
                frame: Frame {
                    left: edge + numbers,
                    right: edge + pitch - 14.0,
                    top,
                    bottom: top + plot,
                    x: 0.0..end,
                    y: 0.0..sheet.top,
                },
                lowest: i + across >= strategies.len(),
                leftmost: column == 0,
            }
        })
        .collect()
}

fn draw(canvas: &Canvas<'_>, sheet: &Sheet<'_>, panel: &Panel<'_>) {
    let frame = &panel.frame;
    title(canvas, sheet, panel);
    let at = |time: SimTime| frame.at(time.as_secs_f64(), 0.0).0;
    let spans = sheet.result.faults.iter();
    faults::draw(
        canvas,
        frame,
        spans.map(|fault| (at(fault.from), at(fault.to), &fault.label[..])),
    );
    frame.y_axis(canvas, &sheet.ticks, thousands);
    stack(canvas, panel);
    capacity(canvas, sheet, frame);
    let times = ticks(&frame.x, 8);
    frame.x_axis(canvas, &times, thousands);
    let unit = Look::new(SMALL).colour(palette::FAINT).centred();
    let middle = (frame.top + frame.bottom) / 2.0;
    if panel.leftmost {
        canvas.text(Y_UNIT, (MARGIN + 8.0, middle), unit.upright());
    }
    if panel.lowest {
        let middle = (frame.left + frame.right) / 2.0;
        canvas.text(X_UNIT, (middle, frame.bottom + 29.0), unit);
    }
}

/// The strategy with its success, and its peak at the right.
fn title(canvas: &Canvas<'_>, sheet: &Sheet<'_>, panel: &Panel<'_>) {
    let frame = &panel.frame;
    let line = frame.top - 20.0;
    let summary = &panel.strategy.summary;
    let highest = peak(&panel.bands);
    let cut = highest > sheet.top;
    let peak = format!(
        "peak {}/s{}",
        thousands(highest),
        if cut { ", cut" } else { "" }
    );
    let small = Look::new(SMALL).right();
    let small = small.colour(if cut { palette::ALARM } else { palette::FAINT });
    canvas.text(&peak, (frame.right, line), small);

    let (bold, plain) = (Look::new(12.5).bold(), Look::new(12.0));
    let beside = |text: &str| {
        let taken = labels::width(&peak, small) + labels::width(text, plain) + 28.0;
        frame.right - frame.left - taken
    };
    let name = name_of(panel.strategy);
    let short = match summary.success_rate {
        Some(rate) => format!("{} succeed", percent(rate)),
        None => "no request ended".into(),
    };
    // A name says more than the verdict.
    let long = format!("{short}, {}", kind(summary));
    let success = if labels::width(&name, bold) <= beside(&long) {
        long
    } else {
        short
    };
    let name = labels::fit(&name, bold, beside(&success));
    canvas.text(&name, (frame.left, line), bold);
    let after = frame.left + labels::width(&name, bold) + 9.0;
    canvas.text(&success, (after, line), plain);
}

/// What became of the replications, in two or three words.
fn kind(summary: &SummaryRow) -> String {
    match summary.collapsed_replications {
        0 => summary.verdict.into(),
        n if n == summary.replications => summary.verdict.into(),
        n => format!("{n} of {} collapsed", summary.replications),
    }
}

/// First tries with retries on top.
fn stack(canvas: &Canvas<'_>, panel: &Panel<'_>) {
    let outline = |height: fn(&Band) -> f64| -> Vec<_> {
        let steps = panel.bands.iter().flat_map(|band| {
            let y = height(band);
            [panel.frame.at(band.from_s, y), panel.frame.at(band.to_s, y)]
        });
        steps.collect()
    };
    let base = |band: &Band| [(band.to_s, 0.0), (band.from_s, 0.0)];
    let floor = panel.bands.iter().rev().flat_map(base);
    let floor: Vec<_> = floor.map(|(x, y)| panel.frame.at(x, y)).collect();
    let all = outline(Band::total);
    let first = outline(|band| band.first_tries);
    canvas.area(
        &[all, first.iter().rev().copied().collect()].concat(),
        palette::RETRIES,
    );
    canvas.area(&[first, floor].concat(), palette::FIRST_TRIES);
}

/// The capacity as a line with its name.
fn capacity(canvas: &Canvas<'_>, sheet: &Sheet<'_>, frame: &Frame) {
    let Some(most) = sheet.capacity.filter(|_| sheet.capacity_on_axis) else {
        return;
    };
    let mut line = Vec::new();
    let steps = &sheet.result.capacity;
    let ends = steps.iter().skip(1).map(|step| step.from.as_secs_f64());
    let ends = ends.chain([frame.x.end]);
    for (step, end) in steps.iter().zip(ends) {
        line.push(frame.at(step.from.as_secs_f64(), step.per_s));
        line.push(frame.at(end, step.per_s));
    }
    canvas.line(&line, palette::PAPER, 3.4);
    canvas.dashed(&line, (7.0, 3.0), palette::INK, 1.6);
    let (_, y) = frame.at(0.0, most);
    let below = y - frame.top < SMALL + 8.0;
    let y = if below { y + SMALL + 4.0 } else { y - 5.0 };
    let name = format!("capacity {}/s", thousands(most));
    labels::backed(
        canvas,
        &name,
        (frame.right - 4.0, y),
        Look::new(SMALL).right(),
    );
}

/// What the numbers are, at the lower edge.
fn note(sheet: &Sheet<'_>, strategies: &[&StrategyResult], columns: usize) -> String {
    let mut text = format!(
        "Attempts that reached the service, {}",
        mean_over(sheet.result.replications)
    );
    if let Some(first) = strategies.first() {
        let timeline = &first.total.timeline;
        text += &format!(" in bins of {}", timeline.width());
        if timeline.bins().len() > columns {
            text += "; of bins that share a column the busiest";
        }
    }
    text.push('.');
    if let Some(most) = sheet.capacity.filter(|_| !sheet.capacity_on_axis) {
        text += &format!(
            " The capacity of {}/s lies above the axis.",
            thousands(most)
        );
    }
    text
}
