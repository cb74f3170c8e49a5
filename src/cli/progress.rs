//! A bar with the time left, on a terminal.

use super::terminal::Look;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// A bar for `runs` replications; it draws nothing when standard error is no terminal or `quiet` is set.
pub(super) fn bar(name: &str, runs: u64, quiet: bool) -> ProgressBar {
    if quiet {
        return ProgressBar::hidden();
    }
    let look = Look::of_stderr();
    let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr());
    let template = "{prefix} [{bar:30}] {pos}/{len} runs, {eta} left";
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    bar.set_style(if look.unicode {
        style.progress_chars("█▌ ")
    } else {
        style.progress_chars("#> ")
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
