//! Nothing is lost and nothing appears, in any scenario: counts, attempts, levels and areas are worked out
//! again from the records of the attempts alone.

use crate::random_scenarios::{Random, scenario};
use crate::support::assemble;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use retrystorm::experiment::{record_attempts, run};
use retrystorm::metrics::{FailureReason, Gauge, Tally};
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::policy::MaxAttempts;
use retrystorm::scenario::Plan;
use retrystorm::time::SimTime;
use std::collections::BTreeMap;

type Requests = BTreeMap<(u16, u64), Vec<AttemptRecord>>;

fn by_request(records: &[AttemptRecord]) -> Requests {
    let mut requests = Requests::new();
    for record in records {
        requests
            .entry((record.group, record.request))
            .or_default()
            .push(*record);
    }
    requests
}

/// One request: attempts without gaps, each after the wait that was announced, within limits and deadline.
fn check_request(attempts: &[AttemptRecord], plan: &Plan, compared: usize) {
    let first = attempts[0];
    let strategy = &plan.strategies[plan.pinned[usize::from(first.group)].unwrap_or(compared)];
    let deadline = strategy
        .deadline
        .map_or(SimTime::MAX, |d| first.intended_at + d);
    for (i, attempt) in attempts.iter().enumerate() {
        assert_eq!(attempt.attempt as usize, i + 1);
        assert_eq!(
            (attempt.client, attempt.intended_at),
            (first.client, first.intended_at)
        );
        assert!(attempt.intended_at <= attempt.sent_at && attempt.sent_at <= attempt.ended_at);
        assert!(
            attempt.sent_at < deadline
                && attempt.ended_at <= deadline.min(plan.end()).max(attempt.sent_at)
        );
        if let (Some(timeout), false) = (&strategy.attempt_timeout, strategy.timeout_covers_wait)
            && let Some(timeout) = timeout.constant()
        {
            assert!(attempt.ended_at <= attempt.sent_at + timeout);
        }
        match attempts.get(i + 1) {
            Some(next) => {
                let Next::RetryAfter(delay) = attempt.next else {
                    panic!("an attempt after {attempt:?}");
                };
                assert_eq!(next.sent_at, attempt.ended_at + delay);
            }
            None => match attempt.next {
                Next::RetryAfter(delay) => assert!(attempt.ended_at + delay >= plan.end()),
                Next::Unfinished => assert_eq!(attempt.ended_at, plan.end()),
                Next::Succeeded | Next::GaveUp(_) | Next::Hedged => {}
            },
        }
    }
    if let MaxAttempts::AtMost(most) = strategy.rule.max_attempts {
        assert!(attempts.len() <= most as usize);
    }
}

/// Every count of requests and attempts, from the records.
fn check_counts(tally: &Tally, requests: &Requests, plan: &Plan) {
    let from = SimTime::ZERO + plan.world.warmup;
    let counted: Vec<&Vec<AttemptRecord>> = requests
        .values()
        .filter(|r| r[0].intended_at >= from)
        .collect();
    let mut outcomes = [0; AttemptOutcome::ALL.len()];
    let mut failed = [0; FailureReason::ALL.len()];
    let (mut succeeded, mut in_flight, mut attempts, mut unfinished, mut latency) = (0, 0, 0, 0, 0);
    let mut delays: Vec<(u64, u128)> = Vec::new();
    for request in &counted {
        attempts += request.len() as u64;
        for (i, attempt) in request.iter().enumerate() {
            match attempt.outcome {
                Some(outcome) => outcomes[outcome as usize] += 1,
                None => in_flight += 1,
            }
            if let Next::RetryAfter(delay) = attempt.next {
                delays.resize(delays.len().max(i + 1), (0, 0));
                delays[i] = (delays[i].0 + 1, delays[i].1 + u128::from(delay.as_nanos()));
            }
        }
        let last = request.last().unwrap();
        match last.next {
            Next::Succeeded => {
                succeeded += 1;
                latency += u128::from((last.ended_at - last.intended_at).as_nanos());
            }
            Next::GaveUp(reason) => failed[reason as usize] += 1,
            Next::RetryAfter(_) | Next::Unfinished => unfinished += 1,
            Next::Hedged => panic!("nothing is hedged here"),
        }
    }
    assert_eq!((tally.succeeded, tally.attempts), (succeeded, attempts));
    assert_eq!(
        (tally.outcomes, tally.attempts_in_flight),
        (outcomes, in_flight)
    );
    // Requests that never got a place have no records.
    let not_started = tally.failed_with.first().copied().unwrap_or(0);
    let in_pool = tally.requests - counted.len() as u64 - not_started;
    assert_eq!(tally.unfinished, unfinished + in_pool);
    assert_eq!(
        tally.failed_total(),
        failed.iter().sum::<u64>() + not_started
    );
    for reason in FailureReason::ALL {
        let without = [FailureReason::NotStarted, FailureReason::Deadline].contains(&reason);
        let (all, seen) = (tally.failed[reason as usize], failed[reason as usize]);
        assert!(
            if without { all >= seen } else { all == seen },
            "{reason:?}"
        );
    }
    let told: Vec<(u64, u128)> = tally.delays.iter().map(|d| (d.count, d.sum)).collect();
    assert_eq!(told, delays[..delays.len().min(told.len().max(64))]);
    let mean = latency as f64 / succeeded.max(1) as f64 / 1e6;
    assert!((tally.latency.mean_ms().unwrap_or(0.0) - mean).abs() < 1e-6);
}

/// The time a request is in flight, and the part of it in which it waits to try again.
fn spans(request: &[AttemptRecord], end: SimTime) -> (i128, i128) {
    let last = request.last().unwrap();
    let stop = match last.next {
        Next::RetryAfter(_) => end,
        _ => last.ended_at,
    };
    let waits = request.iter().filter_map(|attempt| match attempt.next {
        Next::RetryAfter(delay) => Some((attempt.ended_at + delay).min(end) - attempt.ended_at),
        _ => None,
    });
    let nanos = |d: retrystorm::time::SimDuration| i128::from(d.as_nanos());
    (nanos(stop - request[0].sent_at), waits.map(nanos).sum())
}

/// Levels and areas of the timeline, which is of all requests.
fn check_timeline(tally: &Tally, requests: &Requests, plan: &Plan, warmup: bool) {
    let timeline = &tally.timeline;
    let spans: Vec<(i128, i128)> = requests
        .values()
        .map(|request| spans(request, plan.end()))
        .collect();
    assert_eq!(
        timeline.area(Gauge::InFlight),
        spans.iter().map(|s| s.0).sum::<i128>()
    );
    assert_eq!(
        timeline.area(Gauge::Backoff),
        spans.iter().map(|s| s.1).sum::<i128>()
    );
    let last = |wanted: fn(&Next) -> bool| {
        requests
            .values()
            .filter(|r| wanted(&r.last().unwrap().next))
            .count() as i64
    };
    let backing_off = last(|next| matches!(next, Next::RetryAfter(_)));
    let attempting = last(|next| matches!(next, Next::Unfinished));
    assert_eq!(timeline.level(Gauge::Backoff), backing_off);
    assert_eq!(timeline.level(Gauge::InFlight), backing_off + attempting);
    let world = &plan.world;
    let (workers, places) = (
        i64::from(world.service.workers),
        i64::from(world.service.queue_capacity),
    );
    assert!(timeline.highest(Gauge::Busy) <= workers && timeline.highest(Gauge::Queue) <= places);
    assert!(timeline.level(Gauge::Busy) >= 0 && timeline.level(Gauge::Queue) >= 0);
    assert!(tally.in_system_max <= (workers + places) as u64);
    if warmup {
        return;
    }
    let sum =
        |of: fn(&retrystorm::metrics::Bin) -> u64| timeline.bins().iter().map(of).sum::<u64>();
    assert_eq!(sum(|bin| bin.succeeded), tally.succeeded);
    assert_eq!(sum(|bin| bin.failed), tally.failed_total());
    let arrived = sum(|bin| bin.first_tries + bin.retries);
    assert!(arrived <= tally.attempts);
    if world.service.request_delay.is_none()
        && world.faults.faults().iter().all(|f| f.latency.is_none())
    {
        assert_eq!(sum(|bin| bin.first_tries), requests.len() as u64);
        assert_eq!(arrived, tally.attempts);
    }
    // Workers are busy for the work that was done and the work under way.
    let (busy, queued) = (timeline.area(Gauge::Busy), timeline.area(Gauge::Queue));
    assert!(busy >= tally.work_ns as i128 && queued >= tally.waits.sum as i128);
    assert!(tally.wasted_ns <= tally.work_ns);
    if timeline.level(Gauge::Busy) == 0 {
        assert_eq!(busy, tally.work_ns as i128);
    }
}

/// No pool holds more requests than it has places, and no client of a closed loop more than one.
fn check_places(requests: &Requests, plan: &Plan) {
    let mut changes: BTreeMap<(u16, u32), Vec<(SimTime, i64)>> = BTreeMap::new();
    for request in requests.values() {
        let (first, last) = (request[0], request.last().unwrap());
        let Some((_, per_client, _)) = plan.world.groups[usize::from(first.group)].pool else {
            continue;
        };
        let end = if let Next::RetryAfter(_) = last.next {
            plan.end()
        } else {
            last.ended_at
        };
        let pool = changes
            .entry((first.group, if per_client { first.client } else { 0 }))
            .or_default();
        pool.extend([(first.sent_at, 1), (end, -1)]);
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn nothing_is_lost_in_any_scenario(Random { text, warmup } in scenario()) {
        let (scenario, plan) = assemble(&text);
        let result = run(&scenario, &plan, 1, &|| ()).unwrap();
        for (i, strategy) in result.strategies.iter().enumerate() {
            let (tally, records) = record_attempts(&plan, i, 0).unwrap();
            // Recording changes nothing. Merged timelines keep no levels, so their bins are compared.
            prop_assert_eq!(strategy.total.events, tally.events);
            prop_assert_eq!(strategy.total.timeline.bins(), tally.timeline.bins());
            prop_assert_eq!(strategy.total.requests, tally.requests);
            let requests = by_request(&records);
            requests.values().for_each(|request| check_request(request, &plan, i));
            check_counts(&tally, &requests, &plan);
            check_timeline(&tally, &requests, &plan, warmup);
            check_places(&requests, &plan);
        }
    }
}
