//! A bar with the time left, on a terminal.

use super::terminal::Look;
use crate::experiment::PARTS;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Moves the bar on by one part. One that is full has met runs that a precision or checks asked for: it goes on as
/// long as they do.
pub(super) fn advance(bar: &ProgressBar) {
    if bar.length().is_some_and(|length| bar.position() >= length) {
        bar.inc_length(u64::from(PARTS) * MORE);
        bar.set_message("the further runs that are needed");
    }
    bar.inc(1);
}

/// Runs by which a full bar is made longer.
const MORE: u64 = 20;

/// A bar for `runs` replications, moved on [`PARTS`] times in each; it draws nothing when standard error is no terminal or `quiet` is set.
///
/// Where a precision or checks decide how many there will be, `more` is set: the bar fills anew for those that follow.
pub(super) fn bar(name: &str, runs: u64, more: bool, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let look = Look::of_stderr();
    let parts = runs.saturating_mul(u64::from(PARTS));
    let bar = ProgressBar::with_draw_target(Some(parts), ProgressDrawTarget::stderr());
    let template = "{prefix} [{bar:30}] {percent} % of {msg}, {eta} left";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(if look.unicode {
        style.progress_chars("█▌ ")
    } else {
        style.progress_chars("#> ")
    });
    bar.set_message(match runs {
        1 => "1 run".into(),
        _ if more => format!("the first {runs} runs"),
        _ => format!("{runs} runs"),
    });
    bar.set_prefix(
        name.chars()
            .filter(|c| !c.is_control())
            .take(24)
            .collect::<String>(),
    );
    // Long replications should not look like a halt.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
