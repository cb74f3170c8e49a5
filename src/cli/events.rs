//! `events.jsonl`: one line for each attempt.

use crate::experiment::{RunError, log_attempts};
use crate::model::{AttemptLog, AttemptRecord, Next};
use crate::outcome::AttemptOutcome;
use crate::scenario::Plan;
use crate::time::SimTime;
use serde::Serialize;
use std::io::{self, Write};

/// One attempt. Times are seconds since the start of the run, to the nanosecond.
#[derive(Serialize)]
struct Line<'a> {
    strategy: &'a str,
    replication: u32,
    group: &'a str,
    /// The request's number in its group: its identity under every strategy.
    request: u64,
    client: u32,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    redrive: Option<u32>,
    intended_s: f64,
    sent_s: f64,
    /// When its service started.
    #[serde(skip_serializing_if = "Option::is_none")]
    started_s: Option<f64>,
    ended_s: f64,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    /// What the client did next: succeeded, retry, gave_up, unfinished.
    next: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delay_s: Option<f64>,
}

/// Why no log could be written.
#[derive(Debug, thiserror::Error)]
pub(super) enum EventsError {
    /// The run failed.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The file could not be written.
    #[error("the log of attempts cannot be written: {0}")]
    Write(#[from] io::Error),
}

/// A run that makes more attempts than this is not logged: its log would fill the disk.
pub(super) const MOST_LOGGED: u64 = 50_000_000;

/// Writes the attempts of `replications` replications of every compared strategy.
pub(super) fn write_events(
    plan: &Plan,
    replications: u32,
    out: &mut impl Write,
) -> Result<(), EventsError> {
    let mut plan = plan.clone();
    plan.world.most_attempts = plan.world.most_attempts.min(MOST_LOGGED);
    for &strategy in &plan.compared {
        for replication in 0..replications {
            let lines = Lines {
                plan: &plan,
                strategy,
                replication,
                out: &mut *out,
                failed: None,
            };
            let (_, lines) = log_attempts(&plan, strategy, replication, lines)?;
            if let Some(error) = lines.failed {
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Writes a line for each attempt as it comes, so that the log need not fit into memory.
struct Lines<'a, W> {
    plan: &'a Plan,
    strategy: usize,
    replication: u32,
    out: W,
    /// The first error; nothing is written after it.
    failed: Option<io::Error>,
}

impl<W: Write> AttemptLog for Lines<'_, W> {
    const ENABLED: bool = true;
    fn record(&mut self, record: AttemptRecord) {
        if self.failed.is_some() {
            return;
        }
        let line = line(self.plan, self.strategy, self.replication, &record);
        let written = serde_json::to_writer(&mut self.out, &line).map_err(io::Error::from);
        self.failed = written.and_then(|()| self.out.write_all(b"\n")).err();
    }
}

fn line<'a>(plan: &'a Plan, strategy: usize, replication: u32, record: &AttemptRecord) -> Line<'a> {
    let seconds = SimTime::as_secs_f64;
    let (next, reason, delay_s) = match record.next {
        Next::Succeeded => ("succeeded", None, None),
        Next::RetryAfter(delay) => ("retry", None, Some(delay.as_secs_f64())),
        Next::GaveUp(reason) => ("gave_up", Some(reason.name()), None),
        Next::Hedged => ("hedged", None, None),
        Next::Unfinished => ("unfinished", None, None),
    };
    Line {
        strategy: &plan.strategies[strategy].name,
        replication,
        group: &plan.world.groups[usize::from(record.group)].name,
        request: record.request,
        client: record.client,
        attempt: record.attempt,
        redrive: (record.redrives > 0).then_some(record.redrives),
        intended_s: seconds(record.intended_at),
        sent_s: seconds(record.sent_at),
        started_s: record.started_at.map(seconds),
        ended_s: seconds(record.ended_at),
        outcome: record.outcome.map_or("in_flight", AttemptOutcome::name),
        code: (record.code > 0).then_some(record.code),
        next,
        reason,
        delay_s,
    }
}
