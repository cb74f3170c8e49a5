//! Whether retrying delivers what 1 − pᵏ promises: success with at most so many attempts, beside the formula.

use super::canvas::{Canvas, Look, Place, picture};
use super::frame::{Frame, ticks, widest};
use super::number::{percent, short_percent, thousands};
use super::palette::{SERIES, Stroke};
use super::{
    MARGIN, WIDTH, footnote, headline, labels, mean_over, name_of, palette, series, shown,
};
use crate::experiment::{RunResult, StrategyResult, TheoryLine};
use crate::metrics::Estimate;

/// The question that the success chart answers.
pub const TITLE: &str = "Does retrying deliver what 1 − pᵏ promises?";
const HEIGHT: f64 = 540.0;
const TOP: f64 = 92.0;
const BOTTOM: f64 = 458.0;
/// Room for the labels at the right.
const LABELS: f64 = 262.0;
const LABEL_SIZE: f64 = 11.5;
/// The most attempts on the axis.
const MOST_ATTEMPTS: usize = 20;
/// A longer axis than this is cut where nothing more happens.
const PLENTY: usize = 10;
/// A share below this is nothing more.
const NOTHING_MORE: f64 = 5e-4;

/// A strategy's line.
struct Line<'a> {
    strategy: &'a StrategyResult,
    /// At index j - 1: with at most j attempts. As long as the attempts that are allowed and on the axis.
    points: Vec<Estimate>,
    stroke: Stroke,
    /// How far it is moved aside, so that lines do not hide each other.
    aside: f64,
}

/// A label at the right and the end of the line it belongs to.
struct Label {
    text: String,
    end: Place,
    stroke: Option<Stroke>,
}

/// The success chart as SVG: the share of requests that succeeded with at most so many attempts, with 95 %
/// intervals, and the dashed curve of the formula. At most eight strategies, best first.
pub fn success_svg(result: &RunResult) -> String {
    let (strategies, left_out) = shown(result);
    let lines = lines(&strategies);
    let chances = chances(&strategies);
    let most = lines
        .iter()
        .map(|line| line.points.len())
        .max()
        .unwrap_or(0)
        .max(2);
    let y = y_range(&lines, &chances, most);
    let y_ticks = ticks(&y, 9);
    let step = y_ticks
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .fold(1.0, f64::min);
    let form = move |share: f64| tick_percent(share, step);
    let frame = Frame {
        left: MARGIN + 28.0 + widest(&y_ticks, form),
        right: WIDTH - MARGIN - LABELS,
        top: TOP,
        bottom: BOTTOM,
        x: 0.7..most as f64 + 0.3,
        y,
    };
    picture((WIDTH, HEIGHT), TITLE, |canvas| {
        headline(canvas, TITLE, result, WIDTH - MARGIN);
        axes(canvas, &frame, &y_ticks, form, most);
        let mut labels = Vec::new();
        for line in &lines {
            labels.extend(draw(canvas, &frame, line));
        }
        for (place, &p) in chances.iter().enumerate() {
            labels.insert(place, promise(canvas, &frame, p, most));
        }
        if lines.iter().all(|line| line.points.is_empty()) {
            let look = Look::new(14.0).colour(palette::FAINT).centred();
            let middle = ((frame.left + frame.right) / 2.0, (TOP + BOTTOM) / 2.0);
            canvas.text("no request ended", middle, look);
        }
        put_labels(canvas, &frame, &labels);
        let intervals = if result.replications > 1 {
            " with 95 % intervals"
        } else {
            ", so no intervals"
        };
        let note = format!(
            "Success, {}{intervals}. Beyond its last attempt a strategy stays where it is (thin line).{left_out}",
            mean_over(result.replications)
        );
        footnote(canvas, HEIGHT, &note);
    })
}

fn lines<'a>(strategies: &[&'a StrategyResult]) -> Vec<Line<'a>> {
    let allowed = |strategy: &StrategyResult| {
        let known = strategy.success_by_attempt.len();
        strategy
            .max_attempts
            .map_or(known, |k| known.min(k.try_into().unwrap_or(usize::MAX)))
    };
    let longest = strategies.iter().map(|s| allowed(s)).max().unwrap_or(0);
    let settled = strategies
        .iter()
        .map(|s| settles(&s.success_by_attempt))
        .max()
        .unwrap_or(0);
    let most = longest.min(settled.clamp(PLENTY, MOST_ATTEMPTS));
    let middle = (strategies.len() as f64 - 1.0) / 2.0;
    strategies
        .iter()
        .enumerate()
        .map(|(i, strategy)| Line {
            strategy,
            points: strategy.success_by_attempt[..allowed(strategy).min(most)].to_vec(),
            stroke: SERIES[i],
            aside: (i as f64 - middle) * 3.0,
        })
        .collect()
}

/// The number of attempts after which hardly anything is gained.
fn settles(points: &[Estimate]) -> usize {
    let last = points.last().map_or(0.0, |point| point.mean);
    points.partition_point(|point| last - point.mean > NOTHING_MORE) + 1
}

/// The different chances of failure that the strategies' formulas are about.
fn chances(strategies: &[&StrategyResult]) -> Vec<f64> {
    let mut found: Vec<f64> = strategies
        .iter()
        .filter_map(|strategy| match strategy.theory {
            TheoryLine::Independent { p, .. } | TheoryLine::Dependent { p, .. } => Some(p),
            TheoryLine::Nothing => None,
        })
        .collect();
    found.sort_by(f64::total_cmp);
    found.dedup();
    found
}

/// From a round number below everything to one above; never beyond 0 and 1 by more than a line's width.
fn y_range(lines: &[Line<'_>], chances: &[f64], most: usize) -> std::ops::Range<f64> {
    let points = || lines.iter().flat_map(|line| &line.points);
    let lows = points().map(|point| point.low.unwrap_or(point.mean));
    let highs = points().map(|point| point.high.unwrap_or(point.mean));
    let low = lows
        .chain(chances.iter().map(|p| 1.0 - p))
        .fold(1.0, f64::min);
    let promises = chances.iter().map(|p| 1.0 - p.powi(most as i32));
    let high = highs.chain(promises).fold(0.0, f64::max);
    if high < low {
        return 0.0..1.0;
    }
    let spread = (high - low).max(1e-4);
    let step = 10f64.powf(spread.log10().floor()) / 2.0;
    let bottom = ((low - spread * 0.03) / step).floor() * step;
    let top = ((high + spread * 0.03) / step).ceil() * step;
    let slack = spread * 0.03;
    let top = if top >= 1.0 { 1.0 + slack } else { top };
    bottom.max(0.0)..top
}

/// A tick as a percentage with the digits that its step needs.
fn tick_percent(share: f64, step: f64) -> String {
    let decimals = (-(step * 100.0 + 1e-9).log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{:.decimals$} %", share * 100.0)
}

fn axes(
    canvas: &Canvas<'_>,
    frame: &Frame,
    y_ticks: &[f64],
    form: impl Fn(f64) -> String,
    most: usize,
) {
    let shown: Vec<f64> = y_ticks
        .iter()
        .copied()
        .filter(|&y| y <= 1.0 + 1e-9)
        .collect();
    frame.y_axis(canvas, &shown, form);
    let attempts: Vec<f64> = (1..=most).map(|j| j as f64).collect();
    frame.x_axis(canvas, &attempts, thousands);
    let look = Look::new(11.5).colour(palette::FAINT);
    canvas.text(
        "share of requests that succeeded, %",
        (MARGIN, TOP - 14.0),
        look,
    );
    let middle = (frame.left + frame.right) / 2.0;
    canvas.text(
        "attempts made at the most",
        (middle, BOTTOM + 35.0),
        look.centred(),
    );
}

/// Draws the curve of the formula.
fn promise(canvas: &Canvas<'_>, frame: &Frame, p: f64, most: usize) -> Label {
    let at = |j: usize| frame.at(j as f64, 1.0 - p.powi(j as i32));
    let points: Vec<_> = (1..=most).map(at).collect();
    canvas.dashed(&points, (5.0, 4.0), palette::INK, 1.5);
    Label {
        text: format!("1 − pᵏ for p = {}", short_percent(p)),
        end: at(most),
        stroke: None,
    }
}

/// Draws the line of a strategy.
fn draw(canvas: &Canvas<'_>, frame: &Frame, line: &Line<'_>) -> Option<Label> {
    let place = |i: usize, share: f64| {
        let (x, y) = frame.at(i as f64 + 1.0, share);
        (x + line.aside, y)
    };
    let points: Vec<_> = line
        .points
        .iter()
        .enumerate()
        .map(|(i, point)| place(i, point.mean))
        .collect();
    let &last = points.last()?;
    let edge = (frame.at(frame.x.end, 0.0).0, last.1);
    canvas.line(&[last, edge], line.stroke.colour, 0.7);
    canvas.dashed(&points, line.stroke.dash, line.stroke.colour, 1.9);
    for (i, point) in line.points.iter().enumerate() {
        if let (Some(low), Some(high)) = (point.low, point.high) {
            series::interval(canvas, place(i, low), place(i, high), line.stroke);
        }
        series::mark(canvas, points[i], line.stroke);
    }
    let look = Look::new(LABEL_SIZE);
    let success = line.strategy.summary.success_rate.unwrap_or(0.0);
    let so_far = line.points.last().map_or(0.0, |point| point.mean);
    // More attempts are allowed than the axis shows.
    let later = if success > so_far + 0.005 {
        " later"
    } else {
        ""
    };
    let share = format!("{}{later}", percent(success));
    let room = LABELS - 54.0 - labels::width(&share, look);
    let name = labels::fit(&name_of(line.strategy), look, room);
    Some(Label {
        text: format!("{name}\u{2002}{share}"),
        end: edge,
        stroke: Some(line.stroke),
    })
}

/// Puts labels at the right, apart from each other, each tied to the end of its line.
fn put_labels(canvas: &Canvas<'_>, frame: &Frame, labels: &[Label]) {
    // Ends that look the same keep the order of the ranking.
    let wanted: Vec<f64> = labels.iter().map(|label| label.end.1.round()).collect();
    let places = super::labels::spread(&wanted, LABEL_SIZE + 6.0, frame.top, frame.bottom);
    let start = frame.right + 34.0;
    for (label, y) in labels.iter().zip(places) {
        let colour = label.stroke.map_or(palette::INK, |stroke| stroke.colour);
        let leader = [
            label.end,
            (frame.right + 4.0, label.end.1),
            (start - 8.0, y),
            (start, y),
        ];
        if label.stroke.is_some() {
            canvas.line(&leader, colour, 0.8);
        } else {
            canvas.dashed(&leader, (3.0, 3.0), colour, 0.8);
            canvas.dashed(&[(start, y), (start + 12.0, y)], (5.0, 2.0), colour, 1.5);
        }
        if let Some(stroke) = label.stroke {
            series::mark(canvas, (start + 6.0, y), stroke);
        }
        let at = (start + 15.0, y + LABEL_SIZE * 0.36);
        canvas.text(&label.text, at, Look::new(LABEL_SIZE));
    }
}
