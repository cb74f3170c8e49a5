//! Who tries when: the picture that shows what jitter does.

use super::super::chart::{Form, Mark, Raster};
use super::source::{Source, axis};
use crate::experiment::{Tries, Try};
use crate::time::SimTime;

/// This share of all retries lies before the end of the chart: a straggler does not stretch it.
const NEARLY_ALL: f64 = 0.97;
/// Before the first retry and behind the last one, as a share of the time between them.
const ASIDE: f64 = 0.04;
/// Less than this between the first and the last retry has no course, s.
const LEAST_S: f64 = 1e-6;

/// The attempts of the first clients; drawn when they make retries.
pub(super) fn tries(source: &Source<'_>, recorded: &[Tries]) -> Option<Raster> {
    let range = range(source, recorded)?;
    let clients = recorded.iter().flat_map(|of| &of.tries);
    let rows = clients.map(|attempt| attempt.client + 1).max()?;
    let panels = source.strategies.iter().filter_map(|rows| {
        let of = recorded.iter().find(|of| of.strategy == rows.place)?;
        let mark = |attempt: &Try| Mark {
            row: attempt.client,
            at: attempt.at.as_secs_f64(),
            retry: attempt.retry,
        };
        Some((rows.name(), of.tries.iter().map(mark).collect()))
    });
    let note = "A column is many clients that try at the same time.";
    Some(Raster {
        words: source.words("Who tries when?", note),
        x: axis("time, s", Form::Plain),
        range,
        rows,
        y_label: "client, by number".into(),
        row_words: "clients in the first replication, a mark when an attempt is sent".into(),
        shades: source.faults.clone(),
        panels: panels.collect(),
    })
}

/// From the first fault or retry to where nearly all retries of every strategy are made, s.
fn range(source: &Source<'_>, recorded: &[Tries]) -> Option<(f64, f64)> {
    let of = |tries: &Tries| {
        let retries = tries.tries.iter().filter(|attempt| attempt.retry);
        let mut times: Vec<SimTime> = retries.map(|attempt| attempt.at).collect();
        times.sort_unstable();
        let last = (times.len() as f64 * NEARLY_ALL) as usize;
        let end = times.get(last).or(times.last())?;
        Some((times[0].as_secs_f64(), end.as_secs_f64()))
    };
    let ends: Vec<(f64, f64)> = recorded.iter().filter_map(of).collect();
    let first = ends.iter().map(|end| end.0).reduce(f64::min)?;
    let last = ends.iter().map(|end| end.1).reduce(f64::max)?;
    // Retries long before the fault are those of every day.
    let fault = source.faults.first().map(|fault| fault.from);
    let from = fault.filter(|from| *from < last).unwrap_or(first);
    let aside = (last - from).max(LEAST_S) * ASIDE;
    Some(((from - aside).max(0.0), last + aside))
}
