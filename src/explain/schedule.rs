//! The waits retry by retry, and how they add up.

use super::case::Case;
use super::page::{Figures, Section};
use super::shorter;
use super::words::{count, counted, seconds, time};
use crate::policy::{Backoff, BackoffState};
use crate::rng::{Key, Purpose};
use crate::time::SimDuration;

/// Retries that have a row each; the last one may follow.
const ROWS: u64 = 10;
/// Requests whose waits are drawn.
const WALKS: usize = 100_000;
/// Waits that are drawn for the last retry at the most.
const MOST_DRAWN: u64 = 4_000_000;
/// Fewer requests than this say nothing of one in a hundred.
const FEWEST_WALKS: u64 = 2_000;
/// Retries whose mean waits are added up.
const MOST_ADDED: u64 = 64;
/// The seed of the draws.
const SEED: u64 = 1;

/// The waits of a strategy.
#[derive(Debug)]
pub(super) struct Schedule {
    rows: Vec<Row>,
    /// Requests that were drawn for the first rows, and for the last one; none when every wait is known.
    walks: (usize, usize),
    /// Share of requests whose wait before retry 2, 3, … was shorter than the one before.
    shorter: Vec<f64>,
}

/// A retry: low, mean, 99th percentile and high of its wait and of all waits so far.
#[derive(Debug)]
struct Row {
    retry: u64,
    wait: Spread,
    total: Spread,
}

/// Seconds, where they are known.
#[derive(Clone, Copy, Debug, Default)]
struct Spread {
    low: SimDuration,
    mean: Option<f64>,
    p99: Option<f64>,
    high: SimDuration,
}

impl Schedule {
    pub(super) fn of(case: &Case<'_>) -> Self {
        let (backoff, retries) = (case.backoff(), case.retries());
        let mut shown: Vec<u64> = (1..=retries.min(ROWS)).collect();
        let last = (retries > ROWS && retries < u64::MAX).then_some(retries);
        shown.extend(last);
        let mut schedule = Self {
            rows: known_rows(backoff, &shown),
            walks: (0, 0),
            shorter: Vec::new(),
        };
        if retries == 0 {
            return schedule;
        }
        if backoff.is_deterministic() {
            for row in &mut schedule.rows {
                row.wait.p99 = row.wait.mean;
                row.total.p99 = row.total.mean;
            }
            return schedule;
        }
        schedule.draw(backoff, retries.min(ROWS), 0);
        if let Some(last) = last {
            let walks = (MOST_DRAWN / last).min(WALKS as u64);
            if walks >= FEWEST_WALKS {
                schedule.draw_last(backoff, last, walks as usize);
            }
        }
        schedule
    }

    /// Draws the first retries of many requests.
    fn draw(&mut self, backoff: &Backoff, retries: u64, from: usize) {
        let mut waits = vec![Vec::with_capacity(WALKS); retries as usize];
        let mut totals = waits.clone();
        let mut shorter = vec![0_u32; retries as usize];
        for walk in 0..WALKS {
            let mut before = None;
            walk_through(backoff, walk as u64, retries, |n, wait, total| {
                waits[n].push(wait);
                totals[n].push(total);
                shorter[n] += u32::from(before.is_some_and(|before| wait < before));
                before = Some(wait);
            });
        }
        self.walks.0 = WALKS;
        let rows = self.rows[from..].iter_mut();
        for ((row, waits), totals) in rows.zip(&mut waits).zip(&mut totals) {
            row.note(waits, totals);
        }
        let share = |&count: &u32| f64::from(count) / WALKS as f64;
        self.shorter = shorter.iter().skip(1).map(share).collect();
    }

    /// Draws all retries of requests, and keeps what the last one is like.
    fn draw_last(&mut self, backoff: &Backoff, last: u64, walks: usize) {
        let (mut waits, mut totals) = (Vec::with_capacity(walks), Vec::with_capacity(walks));
        for walk in 0..walks {
            walk_through(backoff, walk as u64, last, |n, wait, total| {
                if n as u64 + 1 == last {
                    waits.push(wait);
                    totals.push(total);
                }
            });
        }
        self.walks.1 = walks;
        if let Some(row) = self.rows.last_mut() {
            row.note(&mut waits, &mut totals);
        }
    }
}

/// The waits of one request whose attempts all fail, drawn as in a run; tells the place from 0 on, the wait and the sum.
fn walk_through(
    backoff: &Backoff,
    walk: u64,
    retries: u64,
    mut tell: impl FnMut(usize, SimDuration, SimDuration),
) {
    let request = Key::root(SEED, 0).child(walk);
    let (mut state, mut total) = (BackoffState::NEW, SimDuration::ZERO);
    for n in 0..retries {
        let mut draws = request.child(n + 1).draws(Purpose::Jitter);
        let wait = backoff.next_delay(&mut state, &mut draws);
        total += wait;
        tell(n as usize, wait, total);
    }
}

impl Row {
    /// Takes what is not known by law from the draws.
    fn note(&mut self, waits: &mut [SimDuration], totals: &mut [SimDuration]) {
        self.wait.note(waits);
        self.total.note(totals);
    }
}

impl Spread {
    fn note(&mut self, drawn: &mut [SimDuration]) {
        let Some(at) = (drawn.len() * 99).div_ceil(100).checked_sub(1) else {
            return;
        };
        if self.mean.is_none() {
            let sum: f64 = drawn.iter().map(|time| time.as_secs_f64()).sum();
            self.mean = Some(sum / drawn.len() as f64);
        }
        let (_, p99, _) = drawn.select_nth_unstable(at);
        self.p99 = Some(p99.as_secs_f64());
    }
}

/// What the law of the waits says of these retries.
fn known_rows(backoff: &Backoff, shown: &[u64]) -> Vec<Row> {
    let deterministic = backoff.is_deterministic();
    let mean_of = |n: u64| match deterministic {
        true => Some(backoff.bounds(n).0.as_secs_f64()),
        false => backoff.moments(n).map(|(mean, _)| mean),
    };
    let (mut rows, mut total, mut n) = (Vec::new(), Spread::default(), 0);
    total.mean = Some(0.0);
    for &retry in shown {
        let mut wait = Spread::default();
        while n < retry {
            n += 1;
            (wait.low, wait.high) = backoff.bounds(n);
            total.low += wait.low;
            total.high += wait.high;
            wait.mean = (deterministic || n <= MOST_ADDED || n == retry)
                .then(|| mean_of(n))
                .flatten();
            total.mean = total.mean.zip(wait.mean).map(|(sum, mean)| sum + mean);
        }
        rows.push(Row { retry, wait, total });
    }
    rows
}

/// The schedule with its header, and how often a wait is shorter than the one before.
pub(super) fn section(case: &Case<'_>, schedule: &Schedule) -> Section {
    if schedule.rows.is_empty() || matches!(case.backoff(), Backoff::Immediate) {
        return Section::default();
    }
    let mut lines = vec![header(case, schedule)];
    lines.extend(shorter::line(
        case.backoff(),
        case.retries(),
        &schedule.shorter,
    ));
    let mut rows: Vec<Vec<String>> = schedule.rows.iter().map(Row::cells).collect();
    if case.retries() > ROWS {
        let gap = vec!["…".to_owned(); 9];
        match case.retries() {
            u64::MAX => rows.push(gap),
            _ => rows.insert(ROWS as usize, gap),
        }
    }
    let headings = ["low", "mean", "p99", "high"];
    let named = |what: &'static str| {
        let first = move |i: usize| if i == 0 { what } else { "" };
        headings
            .iter()
            .enumerate()
            .map(move |(i, name)| [first(i), *name])
    };
    let all = [["", "#"]].into_iter();
    Section {
        title: "Waits",
        lines,
        figures: Some(Figures {
            headings: all.chain(named("wait")).chain(named("total")).collect(),
            rows,
        }),
    }
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let of = |spread: &Spread| {
            let known = |value: Option<f64>| value.map_or("-".into(), capped_seconds);
            [
                time(spread.low),
                known(spread.mean),
                known(spread.p99),
                time(spread.high),
            ]
        };
        let cells = [count(self.retry)].into_iter();
        cells.chain(of(&self.wait)).chain(of(&self.total)).collect()
    }
}

/// Longer than any time that can be simulated is without bound.
fn capped_seconds(value: f64) -> String {
    match value < SimDuration::MAX.as_secs_f64() {
        true => seconds(value),
        false => "unbounded".into(),
    }
}

/// Where the figures come from.
fn header(case: &Case<'_>, schedule: &Schedule) -> String {
    let guards = &case.strategy.rule.guards;
    let mut text = match schedule.walks {
        (0, _) => "All waits are known exactly.".to_owned(),
        (walks, _) => format!(
            "p99 is from {} drawn as a run draws them (seed {SEED}), the rest is by formula where there is one",
            counted(walks as u64, "request", "requests"),
        ),
    };
    match schedule.walks {
        (0, _) => {}
        (_, last) if last > 0 && last < WALKS => {
            text += &format!(", {} of them for the last retry.", count(last as u64));
        }
        _ => text.push('.'),
    }
    text += " Row # is the wait before retry #, and the total of all waits up to it.";
    if guards.health.is_some() || !case.strategy.rule.hints.is_default() {
        text += " Health and hints may change a wait, see below.";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_percent_is_cut_off_where_it_begins() {
        let mut spread = Spread::default();
        let mut drawn: Vec<_> = (1..=200).rev().map(SimDuration::from_secs).collect();
        spread.note(&mut drawn);
        assert_eq!((spread.mean, spread.p99), (Some(100.5), Some(198.0)));
    }
}
