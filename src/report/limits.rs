//! What the charts of limits show: how much is left of retry budgets, when breakers are open, and the dead letters.
//!
//! Load and success say that retries stopped. These say why, and when they may go on.

use super::chart::{Axis, Curves, Form, Panel, Point, Scale, Series, Words};
use super::ranked;
use crate::experiment::{RunResult, StrategyResult};
use crate::metrics::{TimelineRow, timeline_rows};

/// Points of a line at the most: more would only hide its course.
const MOST_POINTS: usize = 60;

/// The charts that say something about this run, each with its file's name.
pub(super) fn limit_charts(result: &RunResult) -> Vec<(&'static str, Curves)> {
    let budgets = panel(result, "retry budgets: what is left", |row| {
        row.budget_level
    });
    let breakers = panel(result, "circuit breakers: how many are not closed", |row| {
        row.breakers_open
    });
    let levels: Vec<Panel> = budgets.into_iter().chain(breakers).collect();
    let letters = panel(result, "", |row| Some(row.dead_letters));
    let mut charts = Vec::new();
    if !levels.is_empty() {
        let title = "What is left of the limits, and when?";
        let note = "Means over clients and replications, at the start of each bin of time. 100 % of a budget is a full one.";
        let y = axis("share, %", Form::Share);
        charts.push(("limits", curves(result, title, note, y, levels)));
    }
    let kept = |strategy: &StrategyResult| {
        let bins = strategy.total.timeline.bins();
        bins.iter().any(|bin| bin.dead_lettered > 0)
    };
    if let Some(panel) = letters.filter(|_| result.strategies.iter().any(kept)) {
        let title = "How many dead letters are kept?";
        let note = "Means over bins of time and replications.";
        let y = axis("dead letters", Form::Plain);
        charts.push(("dead_letters", curves(result, title, note, y, vec![panel])));
    }
    charts
}

fn axis(label: &str, form: Form) -> Axis {
    Axis {
        label: label.into(),
        scale: Scale::Linear,
        form,
    }
}

fn curves(result: &RunResult, title: &str, note: &str, y: Axis, panels: Vec<Panel>) -> Curves {
    let subtitle = match result.question.trim() {
        "" => result.name.clone(),
        question => format!("{}: {question}", result.name),
    };
    Curves {
        words: Words {
            title: title.into(),
            subtitle,
            note: note.into(),
        },
        x: axis("time, s", Form::Plain),
        y,
        panels,
    }
}

/// A line for each strategy that has the figure, best first; `None` when none has.
fn panel(
    result: &RunResult,
    title: &str,
    figure: impl Fn(&TimelineRow<'_>) -> Option<f64>,
) -> Option<Panel> {
    let lines = ranked(result).into_iter().filter_map(|strategy| {
        let name = &strategy.summary.strategy;
        let rows = timeline_rows(name, &strategy.total, result.replications, result.horizon);
        let points: Vec<(f64, f64)> = rows
            .filter_map(|row| figure(&row).map(|value| (row.time_s, value)))
            .collect();
        (!points.is_empty()).then(|| Series {
            name: format!("{}. {name}", strategy.summary.rank),
            points: thinned(&points),
            predicted: Vec::new(),
            joined: true,
        })
    });
    let series: Vec<Series> = lines.collect();
    (!series.is_empty()).then(|| Panel {
        title: title.into(),
        series,
        references: Vec::new(),
    })
}

/// Every so many-th point, so that not more than [`MOST_POINTS`] are left.
fn thinned(points: &[(f64, f64)]) -> Vec<Point> {
    let step = points.len().div_ceil(MOST_POINTS).max(1);
    let some = points.iter().step_by(step);
    some.map(|&(x, y)| Point {
        x,
        y,
        low: None,
        high: None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn only_what_a_run_has_is_drawn() {
        let mut result = sample::herd();
        assert_eq!(limit_charts(&result), []);
        result.strategies[1].total.has_budgets = true;
        let charts = limit_charts(&result);
        assert_eq!(charts.len(), 1);
        let (name, curves) = &charts[0];
        assert_eq!((*name, curves.panels.len()), ("limits", 1));
        assert_eq!(
            curves.panels[0].series.len(),
            1,
            "the others have no budget"
        );
        assert!(curves.panels[0].series[0].points.len() <= MOST_POINTS);
        let mut letters = crate::metrics::Timeline::new(
            result.strategies[0].total.timeline.width(),
            crate::time::SimTime::ZERO + result.horizon,
        );
        letters.bin().dead_lettered += 1;
        letters.close(crate::time::SimTime::ZERO + result.horizon);
        result.strategies[0].total.timeline.merge(&letters);
        let names: Vec<&str> = limit_charts(&result)
            .iter()
            .map(|(name, _)| *name)
            .collect();
        assert_eq!(names, ["limits", "dead_letters"]);
    }
}
