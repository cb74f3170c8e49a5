//! The life of one request, attempt by attempt.

use super::text::{Paint, Style, glue, wrap};
use crate::model::{AttemptRecord, FaultSpec, Next};
use crate::outcome::AttemptOutcome;
use crate::time::{SimDuration, SimTime};

/// One request under one strategy.
#[derive(Clone, Copy, Debug)]
pub struct Life<'a> {
    /// The strategy.
    pub strategy: &'a str,
    /// The attempts of the request, in the order of their ends.
    pub records: &'a [AttemptRecord],
    /// What is done to the world.
    pub faults: &'a [FaultSpec],
}

/// It as text: a line for its end, and one for each attempt with what came of it and what came next.
pub fn life(life: &Life<'_>, width: usize, style: Style) -> String {
    let mut records = life.records.to_vec();
    records.sort_by_key(|record| (record.redrives, record.sent_at, record.attempt));
    let name = style.say(life.strategy);
    let Some(start) = records.first().map(|record| record.intended_at) else {
        let name = style.paint(Paint::Heading, &name);
        return format!("{name}: the request made no attempt\n\n");
    };
    let head = style.say(&format!("{name}: {}", whole(&records, start)));
    let head = wrap(&head, width, "  ");
    let mut text = match head.strip_prefix(&name) {
        Some(rest) => style.paint(Paint::Heading, &name) + rest,
        None => head,
    };
    text.push('\n');
    for record in &records {
        let after = record.sent_at - start;
        let fault = life.faults.iter().find(|fault| {
            fault
                .spans()
                .any(|(from, to)| (from..to).contains(&record.sent_at))
        });
        let during = fault.map(|fault| format!(" (during the {})", fault.label()));
        let line = format!(
            "{}\u{a0}\u{a0}{}. {}{}; {}",
            glue(&format!("{:>10}", format!("+{}", short(after)))),
            record.attempt,
            course(record),
            during.unwrap_or_default(),
            next(record)
        );
        text += &wrap(&style.say(&line), width, &" ".repeat(15));
        text.push('\n');
    }
    text + "\n"
}

/// Client, start, attempts and end.
fn whole(records: &[AttemptRecord], start: SimTime) -> String {
    let last = records.iter().max_by_key(|record| record.ended_at);
    let (end, client) = last.map_or((start, 0), |record| (record.ended_at, record.client));
    let took = short(end - start);
    let became = match records.iter().map(|record| record.next).next_back() {
        Some(Next::Succeeded | Next::Hedged) => format!("succeeded after {took}"),
        Some(Next::GaveUp(reason)) => {
            format!("failed after {took}: {}", reason.name().replace('_', " "))
        }
        Some(Next::RetryAfter(_)) => format!("ended while it waited, after {took}"),
        Some(Next::Unfinished) | None => "not ended when the run did".into(),
    };
    let attempts = match records.len() {
        1 => "1 attempt".into(),
        n => format!("{n} attempts"),
    };
    format!(
        "{became}, {attempts}; client {client} at {:.3} s",
        start.as_secs_f64()
    )
}

/// How an attempt went.
fn course(record: &AttemptRecord) -> String {
    let took = record.ended_at - record.sent_at;
    let waited = match record.started_at {
        Some(started) if started > record.sent_at => {
            format!(
                " ({} of it before a worker began)",
                short(started - record.sent_at)
            )
        }
        Some(_) => String::new(),
        None if took > SimDuration::ZERO => " (no worker began)".into(),
        None => String::new(),
    };
    let Some(outcome) = record.outcome else {
        return "still in flight at the end".into();
    };
    let how = match outcome {
        AttemptOutcome::Ok => "answered".into(),
        AttemptOutcome::Error => match crate::policy::name_of_code(record.code) {
            Some(name) => format!("failed with {name}"),
            None => format!("failed with {}", record.code),
        },
        AttemptOutcome::Refused => "refused".into(),
        AttemptOutcome::QueueFull => "found the queue full".into(),
        AttemptOutcome::TimedOut => "timed out".into(),
        AttemptOutcome::DeadlineExceeded => "ended by the deadline".into(),
        AttemptOutcome::Shed => "shed".into(),
        AttemptOutcome::BreakerOpen => "held back by the open breaker".into(),
        AttemptOutcome::Throttled => "held back by the throttle".into(),
        AttemptOutcome::RateLimited => "held back by the rate limit".into(),
        AttemptOutcome::Superseded => "left, as another attempt was answered".into(),
    };
    match took {
        SimDuration::ZERO => format!("{how} at once"),
        took => format!("{how} after {}{waited}", short(took)),
    }
}

/// What the client did then.
fn next(record: &AttemptRecord) -> String {
    match record.next {
        Next::Succeeded => "success".into(),
        Next::RetryAfter(SimDuration::ZERO) => "tries again at once".into(),
        Next::RetryAfter(wait) => format!("waits {}", short(wait)),
        Next::GaveUp(reason) => format!("gives up: {}", reason.name().replace('_', " ")),
        Next::Hedged => "another attempt was in flight".into(),
        Next::Unfinished => "the run ends".into(),
    }
}

/// A time with three digits behind the point at the most.
fn short(time: SimDuration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        0.0 => "0 s".into(),
        s if s < 1e-3 => format!("{:.1} us", s * 1e6),
        s if s < 1.0 => format!("{:.1} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
