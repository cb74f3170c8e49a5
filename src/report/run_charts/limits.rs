//! What the charts of limits show: how much is left of retry budgets, when breakers are open, and the dead letters.
//!
//! Load and success say that retries stopped. These say why, and when they may go on.

use super::super::chart::{Curves, Form, Panel};
use super::over_time::{means, states};
use super::source::{Source, axis};

/// How much is left of budgets and which breakers are not closed; drawn when a strategy has any of them.
pub(super) fn limits(source: &Source<'_>) -> Option<Curves> {
    let budgets = source.panel("retry budgets: what is left", |rows| {
        states(&rows.timeline, |row| row.budget_level)
    });
    let breakers = source.panel("circuit breakers: how many are not closed", |rows| {
        states(&rows.timeline, |row| row.breakers_open)
    });
    let panels: Vec<Panel> = budgets.into_iter().chain(breakers).collect();
    let words = source.words(
        "What is left of the limits, and when?",
        "Means over clients and replications, at the start of each bin of time. 100 % of a budget is a full one.",
    );
    let y = axis("share, %", Form::Share);
    (!panels.is_empty()).then(|| source.over_time(words, y, panels))
}

/// How many dead letters are kept; drawn when there were any.
pub(super) fn dead_letters(source: &Source<'_>) -> Option<Curves> {
    let any = source.strategies.iter().any(|rows| {
        let mut timeline = rows.timeline.iter();
        timeline.any(|row| row.dead_lettered_per_s > 0.0)
    });
    let panel = source.panel("", |rows| {
        means(&rows.timeline, source.bin_s, |row| row.dead_letters)
    });
    let words = source.words(
        "How many dead letters are kept?",
        "Means over bins of time and replications.",
    );
    let y = axis("dead letters", Form::Plain);
    let panel = panel.filter(|_| any)?;
    Some(source.over_time(words, y, vec![panel]))
}
