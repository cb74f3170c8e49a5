//! Situations that practitioners meet, seventh part: circuit breakers, where they stand and how they close, and pools
//! that failing calls fill.
//!
//! Each case has the number it has in the project's list of cases.

use crate::support::{Sample, log, records, total};
use retrystorm::metrics::Tally;
use retrystorm::model::AttemptRecord;
use retrystorm::outcome::{AttemptOutcome, FailureReason};
use retrystorm::rng::{Key, Purpose};
use std::collections::VecDeque;

fn held(record: &AttemptRecord) -> bool {
    record.outcome == Some(AttemptOutcome::BreakerOpen)
}

/// A client that calls 100 times a second; its breaker looks at the last 20 results and stays open for 10 s.
fn sharded(shards: u32, threshold: f64, seed: u64) -> String {
    format!(
        "[run]\nduration = \"2000s\"\nbin = \"10s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 1\narrivals.periodic.rate = \"100/s\"\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
         failures = [{{ code = 404, probability = {:?} }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n\
         breaker.failure_rate = {{ window.count.calls = 20, min_calls = 20, rate = {threshold:?}, \
         open_for = \"10s\", counts = [404] }}\n",
        1.0 / f64::from(shards)
    )
}

/// The same in a few lines: the share of 200,000 calls that succeed, and that are sent.
fn model(shards: u32, threshold: f64, seed: u64) -> [f64; 2] {
    let mut random = Key::root(9, seed).draws(Purpose::Backoff);
    let mut window = VecDeque::new();
    let (mut probing, mut closed_from) = (false, 0);
    let (mut good, mut sent) = (0u32, 0u32);
    for call in 0..200_000 {
        if call < closed_from {
            continue;
        }
        let failed = random.below(shards.into()) == 0;
        sent += 1;
        good += u32::from(!failed);
        let opens = if probing {
            failed
        } else {
            window.push_back(failed);
            window.drain(..window.len().saturating_sub(20));
            let failures = window.iter().filter(|failed| **failed).count() as f64;
            window.len() == 20 && failures >= 20.0 * threshold
        };
        if opens || probing {
            window.clear();
        }
        probing = opens;
        if opens {
            closed_from = call + 1_000;
        }
    }
    [good, sent].map(|count| f64::from(count) / 2e5)
}

/// C09. One of S shards fails, and one breaker of the client stands before all of them. Below 1/S the threshold opens
/// it within some dozen calls, and then healthy keys fail too, all of them while it is open: of 75 % that could succeed
/// with four shards 2 % do, of 95 % with twenty 4 %. Above, it opens by chance: twenty results are few, so that 20 % of
/// twenty shards and 50 % of four still cost most of the successes. Only 50 % of twenty shards leaves them alone. (A
/// breaker of each shard cannot be written; a scenario has one service.)
#[test]
fn a_threshold_below_the_share_of_a_shard_cuts_off_healthy_keys() {
    for (shards, threshold, least, most) in [
        (4, 0.1, 0.0, 0.03),
        (4, 0.2, 0.0, 0.03),
        (4, 0.5, 0.1, 0.5),
        (20, 0.1, 0.0, 0.06),
        (20, 0.2, 0.1, 0.6),
        (20, 0.5, 0.94, 0.96),
    ] {
        let tallies: Vec<Tally> = (1..=16)
            .map(|seed| total(&sharded(shards, threshold, seed)))
            .collect();
        let models: Vec<[f64; 2]> = (1..=16)
            .map(|seed| model(shards, threshold, seed))
            .collect();
        let of = |count: fn(&Tally) -> u64| {
            Sample::of(tallies.iter().map(|t| count(t) as f64 / t.requests as f64))
        };
        let found = [of(|t| t.succeeded), of(|t| t.attempts)];
        for (i, found) in found.into_iter().enumerate() {
            let expected = Sample::of(models.iter().map(|shares| shares[i]));
            let what = format!("C09, {shards} shards, {threshold}, figure {i}");
            println!("{what}: {:.4} for {:.4}", found.mean, expected.mean);
            let error = found.error().hypot(expected.error());
            assert!((found.mean - expected.mean).abs() <= 4.0 * error, "{what}");
        }
        let success = found[0].mean;
        assert!(
            (least..most).contains(&success),
            "{shards} {threshold}: {success}"
        );
    }
}

/// A call a second to a service that is down, three attempts each with 100 ms between them.
fn down(seconds: u32, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"{seconds}s\"\ndrain = \"10s\"\nreplications = 1\n\
         [clients]\ncount = 1\narrivals.periodic = {{ every = \"1s\", offset = \"aligned\" }}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
         failures = [{{ code = 503, probability = 1.0 }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbackoff.fixed.delay = \"100ms\"\n\
         breaker.failure_rate = {{ window.count.calls = 10, rate = \"50%\", open_for = \"30s\"{strategy}\n"
    )
}

fn before(records: &[AttemptRecord], opened: u64) -> (u64, u64) {
    let sent = records.iter().take_while(|record| !held(record)).count() as u64;
    let requests: Vec<u64> = records[..sent as usize].iter().map(|r| r.request).collect();
    assert_eq!(requests.last(), requests.iter().max());
    assert_eq!(sent, opened);
    (sent, requests.last().unwrap() - requests[0] + 1)
}

/// C41. With the retry outside, the breaker sees attempts: it opens at the tenth, the first of the fourth call. With
/// the breaker outside it sees calls: it opens after ten of them and thirty attempts. Open, either fails a call at
/// once, and after 30 s lets one probe through: an attempt in the one case, a call of three attempts in the other.
#[test]
fn a_breaker_inside_the_retry_opens_in_the_fourth_call_and_outside_after_ten() {
    for (around, attempts, calls, sent) in [("attempt", 10, 4, 3), ("call", 30, 10, 6)] {
        let text = down(100, &format!(", around = \"{around}\" }}"));
        let (_, all) = records(&text, 0);
        assert_eq!(before(&all, attempts), (attempts, calls), "{around}");
        // The first attempts of later calls end where they begin, with the call.
        let later = &all[attempts as usize..];
        assert!(
            later
                .iter()
                .filter(|r| held(r))
                .all(|r| r.sent_at == r.ended_at)
        );
        let probes: Vec<f64> = later
            .iter()
            .filter(|record| !held(record))
            .map(|record| record.sent_at.as_secs_f64())
            .collect();
        let opened = all[attempts as usize - 1].ended_at.as_secs_f64();
        println!("C41, around {around}: opens at {opened} s, probes at {probes:?}");
        assert_eq!(probes.len(), sent, "{probes:?}");
        let gap = probes[0] - opened;
        assert!((30.0..31.0).contains(&gap), "{gap}");
    }
}

/// C41. A retry outside the breaker that takes "open" for a failure like any other waits twice 100 ms in each call and
/// sends nothing. One for which it is final ends the call at once.
#[test]
fn a_retry_must_take_an_open_breaker_as_final() {
    let last = |strategy: &str| {
        log(&down(20, strategy))
            .into_iter()
            .skip(12)
            .collect::<Vec<_>>()
    };
    let wasted = last(" }\nretry_on = [\"5xx\", \"breaker_open\"]");
    let at = |number: u32, attempt: u32| 1_000 * number + 100 * (attempt - 1);
    for (i, line) in wasted.iter().enumerate() {
        let (number, attempt) = (4 + i as u32 / 3, 1 + i as u32 % 3);
        let then = if attempt < 3 {
            "again after 100"
        } else {
            "gave up: breaker_open"
        };
        let when = at(number, attempt);
        assert!(
            line.ends_with(&format!(" {when}-{when} breaker_open, {then}")),
            "{i}: {line}"
        );
    }
    assert_eq!(wasted.len(), 3 * 16, "{wasted:#?}");
    let (_, all) = records(&down(20, " }"), 0);
    let open = &all[10..];
    assert_eq!(open.len(), 1 + 16);
    // The one that met the opening was a retry.
    assert!(open.iter().all(held) && open[0].attempt == 2);
    assert!(open[1..].iter().all(|record| record.attempt == 1));
}

/// A service of 1,000 calls a second under 600 that is away from 10 to 20 s and comes back cold: with 30 % of its
/// workers, and all of them a minute later. One breaker for all callers, open for 10 s.
fn cold(half_open: &str) -> Tally {
    total(&format!(
        "[run]\nduration = \"200s\"\ndrain = \"10s\"\nbin = \"100ms\"\nreplications = 1\nseed = 42\n\
         [clients]\ncount = 1000\narrivals.poisson.rate = \"600/s\"\n\
         [service.api]\nworkers = 100\nservice_time = \"100ms\"\non_abandon = \"skip_when_dequeued\"\n\
         [[fault]]\nat = \"10s\"\nlasts = \"10s\"\noutage = \"refuse\"\n\
         [[fault]]\nat = \"20s\"\nlasts = \"60s\"\nramp_down = \"60s\"\ncapacity = \"30%\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\nattempt_timeout = \"500ms\"\n\
         breaker.failure_rate = {{ window.time.length = \"1s\", rate = \"50%\", min_calls = 100, \
         open_for = \"10s\", {half_open}, scope = \"shared\" }}\n"
    ))
}

/// How often it went from closed to open.
fn openings(tally: &Tally) -> usize {
    let open = tally
        .timeline
        .bins()
        .iter()
        .map(|bin| bin.breakers_open_ppm > 0);
    let open: Vec<bool> = open.collect();
    open.windows(2).filter(|pair| !pair[0] && pair[1]).count()
}

/// C42. A good probe, or five of five, say nothing about the load that follows: the breaker closes on a service that is
/// cold, the whole load comes, and it opens again until the service is warm enough. With a ramp of 30 s after it has
/// closed the load stays below what the service has regained, and the first opening is the only one.
/// (Every tenth call for 30 s cannot be written; the ramp comes closest.)
#[test]
fn a_ramp_after_closing_ends_the_cycles_of_a_cold_service() {
    let one = cold("half_open.probes = { limit = 1, successes = 1 }");
    let five = cold("half_open.probes = { limit = 5, successes = 5 }");
    let ramp = cold("ramp = \"30s\"");
    let found = [&one, &five, &ramp].map(openings);
    println!("C42, openings with one probe, five, a ramp: {found:?}");
    assert!(found[0] >= 3 && found[1] >= 3, "{found:?}");
    assert_eq!(found[2], 1);
    let timeouts =
        [&one, &five, &ramp].map(|tally| tally.outcomes[AttemptOutcome::TimedOut as usize]);
    println!("C42, timeouts: {timeouts:?}");
    assert!(
        timeouts[0] > 500 && timeouts[1] > 500 && timeouts[2] < 50,
        "{timeouts:?}"
    );
    for tally in [&one, &five, &ramp] {
        let late = &tally.timeline.bins()[1_500..2_000];
        assert!(late.iter().all(|bin| bin.held_back == 0 && bin.failed == 0));
    }
}

/// C43. A dead service hangs, and callers wait for 30 s. 100 calls a second go to it as probes until the first of them
/// has failed: 3,000 at once, against three with a limit. A timeout of 2 s for probes is a limit of 200.
#[test]
fn what_is_sent_to_a_hanging_service_while_half_open() {
    for (probes, expected) in [
        ("limit = \"unlimited\"", 3_000),
        ("limit = \"unlimited\", timeout = \"2s\"", 200),
        ("limit = 3", 3),
    ] {
        let text = format!(
            "[run]\nduration = \"100s\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = 43\n\
             [clients]\ncount = 100\narrivals.periodic.rate = \"100/s\"\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
             [[fault]]\nat = \"0s\"\nlasts = \"1h\"\noutage = \"hang\"\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\nattempt_timeout = \"30s\"\n\
             breaker.consecutive = {{ failures = 5, open_for = \"35s\", half_open.probes = {{ {probes} }}, \
             scope = \"shared\" }}\n"
        );
        let (tally, _) = records(&text, 0);
        // Closed to 30 s, open to 65 s.
        let sent = |seconds: std::ops::Range<usize>| -> u64 {
            tally.timeline.bins()[seconds]
                .iter()
                .map(|bin| bin.first_tries)
                .sum()
        };
        println!(
            "C43, {probes}: {} while closed, {} while half open",
            sent(0..50),
            sent(50..99)
        );
        assert!((3_000..=3_005).contains(&sent(0..50)));
        let found = sent(50..99);
        assert!(
            (expected..=expected + 1).contains(&found),
            "{probes}: {found}"
        );
    }
}

/// Callers who think for a second, and a pool for them in which nobody waits for longer.
fn pool(name: &str, callers: u32, size: u32, strategy: &str) -> String {
    format!(
        "[[clients]]\nname = \"{name}\"\ncount = {callers}\nstrategy = \"{strategy}\"\n\
         arrivals.closed_loop.think.exponential.mean = \"1s\"\n\
         pool = {{ size = {size}, per = \"group\", wait = \"1s\" }}\n"
    )
}

fn callers(clients: &str, service_time: &str) -> Tally {
    total(&format!(
        "[run]\nduration = \"330s\"\nwarmup = \"30s\"\ndrain = \"20s\"\nbin = \"10s\"\nreplications = 1\nseed = 13\n\
         {clients}[service.api]\nworkers = \"unlimited\"\n{service_time}\n\
         [[strategy]]\nname = \"5s\"\nmax_attempts = 1\nattempt_timeout.uniform = {{ min = \"2500ms\", max = \"7500ms\" }}\n\
         [[strategy]]\nname = \"10s\"\nmax_attempts = 1\nattempt_timeout.uniform = {{ min = \"5s\", max = \"15s\" }}\n\
         [[strategy]]\nname = \"hangs\"\nmax_attempts = 2\nattempt_timeout = \"1ms\"\n\
         backoff.fixed.delay = \"4998ms\"\n"
    ))
}

/// C13. A third of the calls of 200 callers hang for about 5 s, in a pool of 50 places: a place is held for 1.67 s on
/// average, so 30 calls a second get in, and everybody else gives up after 1 s. What calls get in does not depend on
/// their keys: 40 % of those to healthy nodes too. When each failure also refreshes the topology with three calls, of
/// which one hangs, places are held twice as long and 20 % get in. (The refresh is written as a longer hold; a flight
/// shared by several calls is not there.) With pools of their own, in proportion, the healthy two thirds never notice.
#[test]
fn calls_that_hang_starve_healthy_ones_in_a_shared_pool() {
    for (hold, strategy) in [(5.0, "5s"), (10.0, "10s")] {
        let bimodal =
            "service_time.bimodal = { fast = \"10ms\", slow = \"1h\", slow_share = 0.333333 }";
        let tally = callers(&pool("all", 200, 50, strategy), bimodal);
        let held = (2.0 * 0.01 + hold) / 3.0;
        let inside = 50.0 / held;
        // Who gets in has waited for nearly 1 s as well.
        let outside = (200.0 - inside * (2.0 + held)) / 2.0;
        let expected = inside / (inside + outside);
        let kept_out = tally.failed[FailureReason::NotStarted as usize];
        let found = 1.0 - kept_out as f64 / tally.requests as f64;
        println!("C13, held for {hold} s: {found:.4} get in for {expected:.4}");
        assert!((found - expected).abs() < 0.05 * expected, "{found}");
    }
    let clients = format!(
        "{}{}",
        pool("healthy", 133, 33, "5s"),
        pool("hanging", 67, 17, "hangs")
    );
    let tally = callers(&clients, "service_time = \"10ms\"");
    let each_second = tally.succeeded as f64 / 300.0;
    println!("C13, pools of their own: {each_second:.2} healthy calls a second");
    assert!((each_second - 133.0 / 1.01).abs() < 4.0 * (132.0f64 / 300.0).sqrt());
    assert!(tally.failed[FailureReason::NotStarted as usize] > 1_000);
    // The longest a healthy call took, in the pool and outside.
    assert!(
        tally.latency.max_ms().unwrap() < 11.0,
        "{:?}",
        tally.latency.max_ms()
    );
}
