//! Who waits, and where: attempts in the service's queue, and requests in backoff.

use super::super::chart::{Curves, Form, Panel};
use super::over_time::means;
use super::source::{Source, axis};

/// A mean level below this is none.
const LEAST: f64 = 0.5;

/// Queue and backoff over time, one above the other; each is drawn when something waits there.
pub(super) fn waiting(source: &Source<'_>) -> Option<Curves> {
    let queue = source.panel("attempts waiting in the queue of the service", |rows| {
        means(&rows.timeline, source.bin_s, |row| row.queue_length)
    });
    let backoff = source.panel("requests waiting in backoff at their clients", |rows| {
        means(&rows.timeline, source.bin_s, |row| row.waiting_in_backoff)
    });
    let some = |panel: &Panel| {
        let mut points = panel.series.iter().flat_map(|series| &series.points);
        points.any(|point| point.y >= LEAST)
    };
    let panels: Vec<Panel> = queue.into_iter().chain(backoff).filter(some).collect();
    let note = format!(
        "Mean numbers in bins of time, {}. A queue also holds attempts that nobody waits for any more.",
        source.mean_over()
    );
    let words = source.words("How many wait, and where?", &note);
    let y = axis("how many wait", Form::Plain);
    let chart = |panels| Curves {
        stacked: true,
        ..source.over_time(words, y, panels)
    };
    (!panels.is_empty()).then(|| chart(panels))
}
