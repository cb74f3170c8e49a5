//! Situations that practitioners meet, eighth part: messages that are tried so often and then put aside.
//!
//! Each case has the number it has in the project's list of cases. A pool of consumers is a service, a message a
//! request, and a receive an attempt.

use crate::cases_herds::{ended, reached};
use crate::support::{Sample, records, total};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::{AttemptOutcome, FailureReason};
use std::ops::Range;

/// Messages whose handler needs 5 ms and fails in the first 2 s; a message may be received 20 times.
fn transient(clients: &str, workers: u32, backoff: &str) -> Tally {
    let tally = total(&format!(
        "[run]\nduration = \"20010ms\"\ndrain = \"1h\"\nbin = \"1s\"\nreplications = 1\nseed = 46\n\
         [clients]\n{clients}\n[service.handler]\nworkers = {workers}\nservice_time = \"5ms\"\n\
         [[fault]]\nat = \"0s\"\nlasts = \"2s\"\nfail_all = true\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 20\nbackoff = {backoff}\ndead_letters = {{}}\n"
    ));
    assert_eq!((tally.requests, tally.unfinished), (1_000, 0));
    tally
}

const AT_ONCE: &str = "\"immediate\"";
const DOUBLING: &str = "{ exponential = { base = \"100ms\", jitter = \"full\" } }";

/// C46. A consumer that hands a message back and takes it again at once makes 200 attempts a second, so that each
/// message uses up its 20 in 0.1 s. All that are first tried in a fault of 2 s are put aside, but for those of the last
/// 0.1 s: twenty by one consumer, two hundred by ten.
#[test]
fn immediate_redelivery_burns_the_limit_of_all_messages_in_a_fault() {
    for consumers in [1, 10] {
        let backlog = format!(
            "count = 1000\narrivals.burst = {{}}\npool = {{ size = {consumers}, per = \"group\" }}"
        );
        let tally = transient(&backlog, consumers, AT_ONCE);
        let letters = tally.dead_lettered_total();
        println!("C46, {consumers} consumers, a backlog: {letters} dead letters");
        assert_eq!(letters, u64::from(20 * consumers));
        assert_eq!(reached(&tally)[..2], [u64::from(200 * consumers); 2]);
    }
}

/// C46. The same when messages come evenly, 50 a second, and consumers are idle otherwise: 95 of the 100 messages of
/// the fault are lost. Delays from 0.1 s on, doubling with full jitter, outlast it in all but next to no cases: none of
/// the messages is lost, and none of them needs all of its receives.
#[test]
fn redelivery_with_a_backoff_outlasts_a_short_fault() {
    let even = "count = 1000\narrivals.periodic.rate = \"50/s\"";
    let lost = transient(even, 20, AT_ONCE);
    println!(
        "C46, 50 a second: {} dead letters at once",
        lost.dead_lettered_total()
    );
    assert_eq!(lost.dead_lettered_total(), 95);
    assert_eq!(
        lost.lost_to(FailureReason::Error),
        lost.dead_lettered_total()
    );

    let kept = transient(even, 20, DOUBLING);
    let most = kept.succeeded_with.len();
    println!(
        "C46, with a backoff: {} dead letters, at most {most} receives",
        kept.dead_lettered_total()
    );
    assert_eq!((kept.dead_lettered_total(), kept.succeeded), (0, 1_000));
    assert!((4..16).contains(&most), "{most}");
}

/// Messages within a time, two workers of 30 s each, and no place to wait. A message that is taken and refused comes
/// back when its visibility is over, and five takes are the limit.
fn takes(messages: u64, within: u32, visibility: u32, limiter: &str, seed: u64) -> Tally {
    let tally = total(&format!(
        "[run]\nduration = \"{within}s\"\ndrain = \"2h\"\nbin = \"30s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {messages}\narrivals.burst = {{ spread = \"{within}s\" }}\n\
         [service.handler]\nworkers = 2\nservice_time = \"30s\"\n{limiter}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 5\nbackoff.fixed.delay = \"{visibility}s\"\n\
         dead_letters = {{}}\n"
    ));
    assert_eq!((tally.requests, tally.unfinished), (messages, 0));
    // Whoever was served has succeeded: those put aside were taken five times and not processed once.
    let aside = tally.dead_lettered_total();
    assert_eq!(
        (tally.served, tally.succeeded),
        (messages - aside, messages - aside)
    );
    tally
}

/// C47. Each refused take counts, and five takes last for four times the visibility. Of three times as many messages in
/// 3 min as two workers can process, half are put aside unprocessed with a visibility of once the handler time, a third
/// with twice, and a thirtieth with six times; a queue without places and a concurrency limit refuse the same ones. The
/// workers begin at most 2 × (1 + (180 + 4 × visibility) ÷ 30) messages until the last take.
#[test]
fn takes_that_are_refused_count_as_attempts() {
    let shares = [30, 60, 180].map(|visibility| {
        let share = Sample::of((1..=40).map(|seed| {
            let tally = takes(36, 180, visibility, "queue.capacity = 0", seed);
            let aside = tally.dead_lettered_total();
            assert_eq!(tally.lost_to(FailureReason::QueueFull), aside);
            let most = 2 * (1 + (180 + 4 * visibility) / 30);
            assert!(
                tally.succeeded <= u64::from(most),
                "{visibility}: {}",
                tally.succeeded
            );

            let limit = "concurrency_limit.fixed.limit = 2";
            let limited = takes(36, 180, visibility, limit, seed);
            assert_eq!(limited.lost_to(FailureReason::Shed), aside);
            let refused = ended(&tally, AttemptOutcome::QueueFull);
            assert_eq!(ended(&limited, AttemptOutcome::Shed), refused);
            aside as f64 / 36.0
        }));
        println!(
            "C47, visibility {visibility} s: {:.3} ± {:.3} put aside",
            share.mean,
            share.error()
        );
        assert!(share.error() < 0.02);
        share.mean
    });
    assert!((0.4..0.6).contains(&shares[0]), "{shares:?}");
    assert!((0.25..0.4).contains(&shares[1]), "{shares:?}");
    assert!(shares[2] < 0.08, "{shares:?}");
}

/// C47. When all messages come within one handler time, they come back in step: the first two of each of the five
/// rounds are processed, and how long the visibility is makes no difference.
#[test]
fn takes_in_step_process_two_messages_a_round_whatever_the_visibility() {
    for visibility in [30, 60, 180] {
        for seed in 1..=5 {
            let tally = takes(60, 29, visibility, "queue.capacity = 0", seed);
            assert_eq!(tally.succeeded, 2 * 5, "{visibility} {seed}");
        }
    }
}

/// A backlog of 10,000 letters, a tenth of the case, from the first second; ten consumers of 50 ms are good for 200
/// messages a second, of which 150 are live. From 20 s on the letters are replayed.
fn replay(rate: &str, seconds: u32) -> (Tally, Vec<AttemptRecord>) {
    let group = |name: &str, arrivals: &str| {
        format!("[[clients]]\nname = \"{name}\"\nstrategy = \"{name}\"\n{arrivals}\n")
    };
    let strategy = |name: &str, redrive: &str| {
        format!(
            "[[strategy]]\nname = \"{name}\"\nmax_attempts = 3\nattempt_timeout = \"1s\"\n\
             dead_letters = {{ {redrive} }}\n"
        )
    };
    records(
        &format!(
            "[run]\nduration = \"{seconds}s\"\ndrain = \"20s\"\nbin = \"1s\"\nreplications = 1\nseed = 48\n{}{}\
             [service.handler]\nworkers = 10\nservice_time = \"50ms\"\nfailures_take_time = false\n\
             [[fault]]\nat = \"0s\"\nlasts = \"1s\"\noutage = \"refuse\"\n{}{}",
            group("backlog", "count = 10000\narrivals.burst = {}"),
            group(
                "live",
                "count = 1000\narrivals.profile = { points = [{ at = \"0s\", rate = \"0/s\" }, \
                 { at = \"2s\", rate = \"150/s\" }], shape = \"steps\" }"
            ),
            strategy(
                "backlog",
                &format!("redrive.rate = {{ rate = \"{rate}\", from = \"20s\" }}")
            ),
            strategy("live", ""),
        ),
        0,
    )
}

/// Of the live messages of some seconds: how many there were, what share was put aside, and the 99th percentile of the
/// latency of the others in seconds.
fn live(records: &[AttemptRecord], seconds: Range<f64>) -> (usize, f64, f64) {
    let of_live = |record: &&AttemptRecord| {
        record.group == 1 && seconds.contains(&record.intended_at.as_secs_f64())
    };
    let (mut all, mut latencies) = (0, Vec::new());
    for record in records.iter().filter(of_live) {
        match record.next {
            Next::Succeeded => latencies.push((record.ended_at - record.intended_at).as_secs_f64()),
            Next::GaveUp(_) => {}
            Next::RetryAfter(_) | Next::Hedged | Next::Unfinished => continue,
        }
        all += 1;
    }
    latencies.sort_by(f64::total_cmp);
    let p99 = latencies.get(latencies.len() * 99 / 100).copied();
    let aside = 1.0 - latencies.len() as f64 / f64::from(all);
    (all as usize, aside, p99.unwrap_or(f64::INFINITY))
}

/// Letters in the backlog at the end of a second.
fn backlog(tally: &Tally, second: usize) -> f64 {
    tally.timeline.bins()[second].areas[Gauge::DeadLetters as usize] as f64 / 1e9
}

/// C48. 25 a second leave the live messages as they were and take 10,000 ÷ 25 = 400 s (67 min for 100,000). 50 a second
/// take half the time and leave nothing to spare: queues grow by chance alone, and live messages wait. All at once is
/// an outage of its own: live messages time out and are put aside, and letters fail again as fast as they are replayed,
/// which never ends.
#[test]
fn a_replay_must_leave_the_live_load_its_capacity() {
    let (slow, records_of_it) = replay("25/s", 500);
    let before = live(&records_of_it, 5.0..20.0);
    let during = live(&records_of_it, 20.0..420.0);
    println!("C48, live messages, share put aside, p99 s: before {before:?}, 25/s {during:?}");
    assert_eq!((before.1, during.1, slow.redriven), (0.0, 0.0, 10_000));
    assert!(during.2 < 0.2, "{during:?}");
    assert!(backlog(&slow, 410) > 100.0 && backlog(&slow, 421) == 0.0);
    assert_eq!(slow.succeeded, slow.requests);

    let (half, records_of_it) = replay("50/s", 300);
    let during = live(&records_of_it, 20.0..220.0);
    println!("C48, 50/s: {during:?}, {} redriven", half.redriven);
    assert!(during.2 > 0.3, "{during:?}");
    assert!(backlog(&half, 210) > 100.0);

    let (all, records_of_it) = replay("1000000/s", 150);
    let during = live(&records_of_it, 30.0..140.0);
    println!("C48, all at once: {during:?}, {} redriven", all.redriven);
    assert!(during.1 > 0.99 && all.redriven > 100_000, "{during:?}");
    let late: u64 = all.timeline.bins()[60..150]
        .iter()
        .map(|bin| bin.succeeded)
        .sum();
    assert!(late < 90, "{late}");
}
