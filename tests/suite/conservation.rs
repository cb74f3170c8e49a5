//! Nothing is lost and nothing appears, in any scenario: counts, attempts, levels and areas are worked out
//! again from the records of the attempts alone.

use crate::random_scenarios::{Random, cases, scenario};
use crate::request_life::{Fate, Life, check_life, check_redrives, keeps, limits_rate, lives};
use crate::support::assemble;
use proptest::prelude::*;
use retrystorm::experiment::{record_attempts, run};
use retrystorm::metrics::{Bin, FailureReason, Gauge, Tally};
use retrystorm::model::{AttemptRecord, Next, Redrive, Strategy as RetryStrategy};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::scenario::Plan;
use retrystorm::time::{SimDuration, SimTime};
use std::collections::BTreeMap;

/// What became of a request in the end.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Succeeded,
    Failed(FailureReason),
    Letter(FailureReason),
    Open,
    Unknown,
}

/// A request with the strategy that its client uses.
#[derive(Debug)]
struct Request<'p> {
    strategy: &'p RetryStrategy,
    lives: Vec<Life>,
    end: End,
}

impl Request<'_> {
    fn first(&self) -> &AttemptRecord {
        &self.lives[0].rounds[0][0]
    }

    fn records(&self) -> impl Iterator<Item = &AttemptRecord> {
        self.lives.iter().flat_map(Life::records)
    }

    /// Attempts that were sent.
    fn sent(&self) -> usize {
        self.records().filter(|record| !is_local(record)).count()
    }

    /// Whether it was a letter, each time it failed; the last one may be one still.
    fn letters(&self) -> impl Iterator<Item = (FailureReason, bool)> {
        self.lives.iter().filter_map(|life| match life.fate {
            Fate::Failed(reason) => Some((reason, keeps(self.strategy, reason))),
            _ => None,
        })
    }
}

fn is_local(record: &AttemptRecord) -> bool {
    record.outcome.is_some_and(AttemptOutcome::is_local)
}

/// The strategy of a group.
fn used(plan: &Plan, group: u16, compared: usize) -> &RetryStrategy {
    &plan.strategies[plan.pinned[usize::from(group)].unwrap_or(compared)]
}

fn requests<'p>(records: &[AttemptRecord], plan: &'p Plan, compared: usize) -> Vec<Request<'p>> {
    let mut apart: BTreeMap<(u16, u64), Vec<AttemptRecord>> = BTreeMap::new();
    for record in records {
        let request = apart.entry((record.group, record.request)).or_default();
        request.push(*record);
    }
    let told = apart.into_values().map(|records| {
        let strategy = used(plan, records[0].group, compared);
        let lives = lives(&records, strategy, plan.end());
        let last = lives.last().unwrap();
        let end = match last.fate {
            Fate::Succeeded => End::Succeeded,
            Fate::Open => End::Open,
            Fate::Unknown => End::Unknown,
            Fate::Failed(reason) if !keeps(strategy, reason) => End::Failed(reason),
            Fate::Failed(reason) => letter(strategy, reason, last, plan.end()),
        };
        Request {
            strategy,
            lives,
            end,
        }
    });
    told.collect()
}

/// What becomes of a letter that did not come back, as far as is known.
fn letter(strategy: &RetryStrategy, reason: FailureReason, last: &Life, end: SimTime) -> End {
    let rule = strategy.dead_letters.unwrap();
    let redrives = last.last().redrives;
    let rests = rule.redrive == Redrive::Never || rule.most_redrives.is_some_and(|m| redrives >= m);
    if limits_rate(strategy) && !rests {
        // It may wait for a turn.
        return End::Unknown;
    }
    match rule.retention {
        Some(kept) if last.ended_at + kept < end => End::Failed(FailureReason::Expired),
        _ => End::Letter(reason),
    }
}

fn check_request(request: &Request<'_>, plan: &Plan) {
    let first = request.first();
    for record in request.records() {
        assert_eq!(
            (record.client, record.intended_at),
            (first.client, first.intended_at)
        );
    }
    for life in &request.lives {
        check_life(life, request.strategy, plan.end());
    }
    check_redrives(&request.lives, request.strategy);
    let comes_back = request.lives.len() > 1;
    assert!(
        !comes_back
            || request
                .letters()
                .all(|(_, kept)| kept || request.end != End::Open)
    );
}

/// Letters of a group come back one by one.
fn check_rates(requests: &[Request<'_>]) {
    let mut redrives: BTreeMap<u16, Vec<SimTime>> = BTreeMap::new();
    for request in requests.iter().filter(|r| !limits_rate(r.strategy)) {
        let Some(Redrive::Rate(_)) = request.strategy.dead_letters.map(|rule| rule.redrive) else {
            continue;
        };
        let times = redrives.entry(request.first().group).or_default();
        times.extend(request.lives[1..].iter().map(|life| life.started_at));
    }
    for (group, mut times) in redrives {
        times.sort_unstable();
        let of_group = requests.iter().find(|r| r.first().group == group).unwrap();
        let rule = of_group.strategy.dead_letters.unwrap();
        let Redrive::Rate(at) = rule.redrive else {
            continue;
        };
        let gap = SimDuration::from_nanos_f64(1e9 / at.rate.as_per_second());
        assert!(
            times.windows(2).all(|pair| pair[1] - pair[0] >= gap),
            "{times:?}"
        );
    }
}

/// What the records say of requests.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    succeeded: u64,
    failed: [u64; FailureReason::ALL.len()],
    letters: [u64; FailureReason::ALL.len()],
    open: u64,
    unknown: u64,
}

impl Counts {
    fn of(requests: &[&Request<'_>]) -> Self {
        let mut counts = Self::default();
        for request in requests {
            match request.end {
                End::Succeeded => counts.succeeded += 1,
                End::Failed(reason) => counts.failed[reason as usize] += 1,
                End::Letter(reason) => counts.letters[reason as usize] += 1,
                End::Open => counts.open += 1,
                End::Unknown => counts.unknown += 1,
            }
        }
        counts
    }
}

/// Every count of requests, from the records. Some leave none: they wait for a place, or for a turn.
fn check_requests(tally: &Tally, counted: &[&Request<'_>], exact: bool) {
    let seen = Counts::of(counted);
    let hidden = tally.requests - counted.len() as u64 + seen.unknown;
    assert_eq!(tally.succeeded, seen.succeeded);
    let mut missing = tally.unfinished - seen.open;
    for reason in FailureReason::ALL {
        let (all, here) = (tally.failed[reason as usize], seen.failed[reason as usize]);
        assert!(all >= here, "{reason:?}: {all} < {here}");
        let without = [FailureReason::NotStarted, FailureReason::Deadline].contains(&reason);
        assert!(!exact || without || all == here, "{reason:?}");
        let (letters, known) = (
            tally.dead_lettered[reason as usize],
            seen.letters[reason as usize],
        );
        assert!(letters == known || !exact && letters > known, "{reason:?}");
        missing += all - here + letters - known;
    }
    assert_eq!(missing, hidden);
    let redriven: usize = counted.iter().map(|r| r.lives.len() - 1).sum();
    assert!(tally.redriven == redriven as u64 || !exact && tally.redriven > redriven as u64);
    let arrived = tally.succeeded + tally.failed_total() + tally.dead_lettered_total();
    assert_eq!(tally.requests, arrived + tally.unfinished);
    let with = |sent: usize| {
        let here = counted
            .iter()
            .filter(|r| r.end == End::Succeeded && r.sent() == sent);
        here.count() as u64
    };
    let told: Vec<u64> = (1..=tally.succeeded_with.len()).map(with).collect();
    assert_eq!(told, tally.succeeded_with);
    for (sent, &all) in tally.failed_with.iter().enumerate().skip(1) {
        let lost = |r: &&&Request<'_>| {
            matches!(r.end, End::Failed(_) | End::Letter(_)) && r.sent() == sent
        };
        let here = counted.iter().filter(lost).count() as u64;
        assert!(
            all == here || !exact && all > here,
            "{sent}: {all} and {here}"
        );
    }
}

/// Every count of attempts, from the records.
fn check_attempts(tally: &Tally, counted: &[&Request<'_>]) {
    let mut outcomes = [0; AttemptOutcome::ALL.len()];
    let (mut in_flight, mut latency, mut attempts) = (0, 0, 0);
    let mut delays: Vec<(u64, u128)> = Vec::new();
    for request in counted {
        for record in request.records() {
            match record.outcome {
                Some(outcome) => outcomes[outcome as usize] += 1,
                None => in_flight += 1,
            }
            attempts += u64::from(!is_local(record));
            if record.next == Next::Succeeded {
                latency += u128::from((record.ended_at - record.intended_at).as_nanos());
            }
        }
        for life in &request.lives {
            for (i, round) in life.rounds.iter().enumerate() {
                if let Next::RetryAfter(delay) = round.last().unwrap().next {
                    delays.resize(delays.len().max(i + 1), (0, 0));
                    let (count, sum) = delays[i];
                    delays[i] = (count + 1, sum + u128::from(delay.as_nanos()));
                }
            }
        }
    }
    assert_eq!(
        (tally.attempts, tally.outcomes, tally.attempts_in_flight),
        (attempts, outcomes, in_flight)
    );
    let told: Vec<(u64, u128)> = tally.delays.iter().map(|d| (d.count, d.sum)).collect();
    assert_eq!(told, delays[..delays.len().min(told.len().max(64))]);
    let mean = latency as f64 / tally.succeeded.max(1) as f64 / 1e6;
    assert!((tally.latency.mean_ms().unwrap_or(0.0) - mean).abs() < 1e-6);
}

fn nanos(duration: SimDuration) -> i128 {
    i128::from(duration.as_nanos())
}

/// The time a request waits to try again, as was announced.
fn waits(request: &Request<'_>, end: SimTime) -> i128 {
    let waits = request.records().filter_map(|attempt| match attempt.next {
        Next::RetryAfter(delay) => Some((attempt.ended_at + delay).min(end) - attempt.ended_at),
        _ => None,
    });
    waits.map(nanos).sum()
}

/// Levels and areas at the clients, of all requests.
fn check_levels(tally: &Tally, requests: &[Request<'_>], plan: &Plan, exact: bool) {
    let timeline = &tally.timeline;
    let lives = || requests.iter().flat_map(|request| &request.lives);
    let in_flight: i128 = lives()
        .map(|life| nanos(life.ended_at - life.started_at))
        .sum();
    let backoff: i128 = requests.iter().map(|r| waits(r, plan.end())).sum();
    let (all, waiting) = (
        timeline.area(Gauge::InFlight),
        timeline.area(Gauge::Backoff),
    );
    let count = |wanted: fn(&Request<'_>) -> bool| requests.iter().filter(|r| wanted(r)).count();
    let backing_off = count(|r| {
        let last = r.lives.last().unwrap().last();
        r.end == End::Open && matches!(last.next, Next::RetryAfter(_))
    }) as i64;
    let open = count(|r| r.end == End::Open) as i64;
    let letters = count(|r| matches!(r.end, End::Letter(_))) as i64;
    if !exact {
        assert!(all >= in_flight && waiting >= backoff);
        assert!(timeline.level(Gauge::InFlight) >= open);
        assert!(timeline.level(Gauge::DeadLetters) >= letters);
        return;
    }
    assert_eq!((all, waiting), (in_flight, backoff));
    assert_eq!(timeline.level(Gauge::Backoff), backing_off);
    assert_eq!(timeline.level(Gauge::InFlight), open);
    assert_eq!(timeline.level(Gauge::DeadLetters), letters);
    let kept = requests.iter().map(|request| {
        let back = request
            .lives
            .windows(2)
            .map(|pair| pair[1].started_at - pair[0].ended_at);
        let last = request.lives.last().unwrap().ended_at;
        let since = match request.end {
            End::Letter(_) => plan.end() - last,
            End::Failed(FailureReason::Expired) => {
                request.strategy.dead_letters.unwrap().retention.unwrap()
            }
            _ => SimDuration::ZERO,
        };
        back.map(nanos).sum::<i128>() + nanos(since)
    });
    assert_eq!(timeline.area(Gauge::DeadLetters), kept.sum::<i128>());
}

/// What the bins say, when every request counts.
fn check_bins(tally: &Tally, requests: &[Request<'_>], plan: &Plan, exact: bool) {
    let timeline = &tally.timeline;
    let sum = |of: fn(&Bin) -> u64| timeline.bins().iter().map(of).sum::<u64>();
    assert_eq!(sum(|bin| bin.succeeded), tally.succeeded);
    assert_eq!(sum(|bin| bin.failed), tally.failed_total());
    assert_eq!(sum(|bin| bin.held_back), tally.held_back());
    let failures = || requests.iter().flat_map(Request::letters);
    let kept = failures().filter(|(_, kept)| *kept).count() as u64;
    let denied = failures().filter(|(reason, _)| *reason == FailureReason::Budget);
    let (kept_then, denied_then) = (sum(|bin| bin.dead_lettered), sum(|bin| bin.budget_denied));
    let denied = denied.count() as u64;
    if exact {
        assert_eq!((kept_then, denied_then), (kept, denied));
    } else {
        assert!(kept_then >= kept && denied_then >= denied);
    }
    let arrived = sum(|bin| bin.first_tries + bin.retries);
    assert!(arrived <= tally.attempts);
    let world = &plan.world;
    if world.service.request_delay.is_none()
        && world.faults.faults().iter().all(|f| f.latency.is_none())
    {
        let records = requests.iter().flat_map(Request::records);
        let firsts = records.filter(|record| record.attempt == 1 && !is_local(record));
        assert_eq!(sum(|bin| bin.first_tries), firsts.count() as u64);
        // A hedge may be cancelled before it has left.
        let hedges = requests
            .iter()
            .any(|r| r.strategy.rule.guards.hedge.is_some());
        assert!(hedges || arrived == tally.attempts);
    }
}

/// Levels at the service.
fn check_service(tally: &Tally, plan: &Plan, warmup: bool) {
    let timeline = &tally.timeline;
    let service = &plan.world.service;
    let (workers, places) = (
        i64::from(service.workers),
        i64::from(service.queue_capacity),
    );
    assert!(timeline.highest(Gauge::Busy) <= workers && timeline.highest(Gauge::Queue) <= places);
    assert!(timeline.level(Gauge::Busy) >= 0 && timeline.level(Gauge::Queue) >= 0);
    assert!(tally.in_system_max <= (workers + places) as u64);
    assert!(tally.wasted_ns <= tally.work_ns);
    if warmup {
        return;
    }
    // Workers are busy for the work that was done and the work under way.
    let (busy, queued) = (timeline.area(Gauge::Busy), timeline.area(Gauge::Queue));
    assert!(busy >= tally.work_ns as i128 && queued >= tally.waits.sum as i128);
    if timeline.level(Gauge::Busy) == 0 {
        assert_eq!(busy, tally.work_ns as i128);
    }
}

/// No pool holds more requests than it has places. Letters hold none.
fn check_places(requests: &[Request<'_>], plan: &Plan) {
    let mut changes: BTreeMap<(u16, u32), Vec<(SimTime, i64)>> = BTreeMap::new();
    for request in requests {
        let (first, life) = (request.first(), &request.lives[0]);
        let Some((_, per_client, _)) = plan.world.groups[usize::from(first.group)].pool else {
            continue;
        };
        let pool = changes
            .entry((first.group, if per_client { first.client } else { 0 }))
            .or_default();
        if first.redrives == 0 {
            pool.extend([(life.started_at, 1), (life.ended_at, -1)]);
        }
    }
    for ((group, _), mut changes) in changes {
        let size = plan.world.groups[usize::from(group)].pool.unwrap().0;
        changes.sort_unstable();
        let mut inside = 0;
        for (at, change) in changes {
            inside += change;
            assert!(
                inside <= i64::from(size),
                "{inside} in a pool of {size} at {at}"
            );
        }
    }
}

/// All of it for one strategy. Rate limits of clients leave waits without records.
fn check_strategy(
    plan: &Plan,
    compared: usize,
    tally: &Tally,
    records: &[AttemptRecord],
    warmup: bool,
) {
    let requests = requests(records, plan, compared);
    let exact = requests.iter().all(|r| !limits_rate(r.strategy));
    requests
        .iter()
        .for_each(|request| check_request(request, plan));
    let from = SimTime::ZERO + plan.world.warmup;
    let counted = requests.iter().filter(|r| r.first().intended_at >= from);
    let counted: Vec<&Request<'_>> = counted.collect();
    check_requests(tally, &counted, exact);
    check_attempts(tally, &counted);
    check_rates(&requests);
    check_levels(tally, &requests, plan, exact);
    check_service(tally, plan, warmup);
    check_places(&requests, plan);
    if !warmup {
        check_bins(tally, &requests, plan, exact);
    }
}

proptest! {
    #![proptest_config(cases(1_000, 7))]
    #[test]
    fn nothing_is_lost_in_any_scenario(Random { text, warmup } in scenario()) {
        let (scenario, plan) = assemble(&text);
        // Some make attempts without an end.
        let Ok(result) = run(&scenario, &plan, 1, &|| ()) else {
            return Ok(());
        };
        for (i, strategy) in result.strategies.iter().enumerate() {
            let (tally, records) = record_attempts(&plan, i, 0).unwrap();
            // Recording changes nothing. Merged timelines keep no levels, so their bins are compared.
            let counts = |tally: &Tally| (
                (tally.requests, tally.succeeded, tally.failed, tally.dead_lettered, tally.unfinished),
                (tally.attempts, tally.outcomes, tally.events, tally.redriven, tally.work_ns),
            );
            prop_assert_eq!(counts(&strategy.total), counts(&tally));
            prop_assert_eq!(strategy.total.timeline.bins(), tally.timeline.bins());
            check_strategy(&plan, i, &tally, &records, warmup);
        }
    }
}
