//! What users expect of each setting, in worlds small enough to count on fingers.

use crate::support::{assemble, assemble_in, log, records, replication, results, total};
use retrystorm::metrics::{FailureReason, Gauge};
use retrystorm::outcome::AttemptOutcome;
use retrystorm::scenario::Plan;
use std::collections::BTreeMap;

/// `clients` requests at once, two attempts with 15 ms between them.
fn burst(clients: u32, service: &str, more: &str) -> String {
    format!(
        "[run]\nduration = \"1ms\"\ndrain = \"999ms\"\nreplications = 1\n\
         [clients]\ncount = {clients}\narrivals.burst = {{ at = \"0s\" }}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 2\nbackoff.fixed.delay = \"15ms\"\n\
         [service.api]\nservice_time = \"30ms\"\n{service}\n{more}"
    )
}

fn fault(effect: &str) -> String {
    format!("[[fault]]\nat = \"10ms\"\nlasts = \"20ms\"\n{effect}\n")
}

#[test]
fn a_queue_without_places_refuses_unless_a_worker_is_free() {
    let text = burst(2, "workers = 1\nqueue.capacity = 0", "");
    let expected = [
        "1.1 0-0 queue_full, again after 15",
        "1.2 15-15 queue_full, gave up: queue_full",
        "0.1 0-30 ok",
    ];
    assert_eq!(log(&text), expected);
}

#[test]
fn unlimited_workers_serve_everybody_at_once() {
    let tally = total(&burst(500, "workers = \"unlimited\"", ""));
    assert_eq!((tally.succeeded, tally.in_system_max), (500, 500));
    assert_eq!((tally.waited, tally.timeline.highest(Gauge::Queue)), (0, 0));
    assert_eq!(tally.latency.max_ms(), Some(30.0));
}

#[test]
fn a_refusing_outage_loses_work_and_a_hanging_or_stalled_service_keeps_it() {
    let world = |outage: &str| {
        burst(2, "workers = 1", &fault(&format!("outage = \"{outage}\"")))
            .replace("count = 2", "count = 2\n")
            .replace(
                "max_attempts = 2",
                "max_attempts = 2\nattempt_timeout = \"80ms\"",
            )
    };
    // Both are inside when it goes down at 10; their retries at 25 meet it still down.
    let refused = [
        "1.1 0-10 refused, again after 15",
        "0.1 0-10 refused, again after 15",
        "1.2 25-25 refused, gave up: refused",
        "0.2 25-25 refused, gave up: refused",
    ];
    assert_eq!(log(&world("refuse")), refused);
    // Work inside goes on, queue included.
    assert_eq!(log(&world("hang")), ["0.1 0-30 ok", "1.1 0-60 ok"]);
    assert_eq!(log(&world("stall")), ["0.1 0-30 ok", "1.1 0-60 ok"]);
    // What arrives at 12 is never answered by the hanging service, and waits until 30 at the stalled one.
    let later = |outage: &str| {
        world(outage)
            .replace("at = \"0s\"", "at = \"12ms\"")
            .replace("1ms", "20ms")
    };
    let hung = log(&later("hang"));
    assert_eq!(
        hung[..2],
        [
            "0.1 12-92 timeout, again after 15",
            "1.1 12-92 timeout, again after 15"
        ]
    );
    assert_eq!(hung[2..], ["0.2 107-137 ok", "1.2 107-167 ok"]);
    assert_eq!(log(&later("stall")), ["0.1 12-60 ok", "1.1 12-90 ok"]);
}

#[test]
fn slow_downs_capacity_and_latency_act_while_they_last() {
    // What starts at 0 keeps its time; what starts at 30 is past the fault of 10 to 30.
    let slow = burst(3, "workers = 1", &fault("slow_down = 3"))
        .replace("lasts = \"20ms\"", "lasts = \"25ms\"");
    assert_eq!(log(&slow), ["0.1 0-30 ok", "1.1 0-120 ok", "2.1 0-150 ok"]);
    // Of four workers one is left: when four end at 30, one goes on until all come back at 40.
    let less = burst(6, "workers = 4", &fault("capacity = \"25%\""))
        .replace("lasts = \"20ms\"", "lasts = \"30ms\"");
    let ends: Vec<String> = log(&less).split_off(4);
    assert_eq!(ends, ["4.1 0-60 ok", "5.1 0-70 ok"]);
    let workers = less.replace("capacity = \"25%\"", "workers = 1");
    assert_eq!(log(&workers), log(&less));
    let far = burst(1, "workers = 1", &fault("latency = \"7ms\""))
        .replace("at = \"10ms\"", "at = \"0ms\"");
    assert_eq!(log(&far), ["0.1 0-37 ok"]);
}

#[test]
fn a_scripted_failure_keeps_its_code_when_the_fault_is_over_before_the_answer() {
    // The attempts arrive during the fault and are answered after it.
    let text = burst(1, "workers = 1", &fault("fail_all = true\ncode = 404"))
        .replace("at = \"10ms\"", "at = \"0s\"");
    assert_eq!(log(&text), ["0.1 0-30 error, gave up: permanent_error"]);
}

#[test]
fn an_error_rate_adds_to_the_failures_of_the_service() {
    let text = burst(
        100_000,
        "workers = \"unlimited\"\nfailures = [{ code = 404, probability = \"20%\" }]",
        &fault("error_rate = 0.5"),
    );
    // Answers come at 30, at which the fault is over; at 20 it is in force.
    let calm = total(&text).outcomes[AttemptOutcome::Error as usize];
    let tally = total(
        &text
            .replace("30ms", "20ms")
            .replace("max_attempts = 2", "max_attempts = 1"),
    );
    let share = tally.outcomes[AttemptOutcome::Error as usize] as f64 / 1e5;
    // 1 − 0.8 · 0.5, standard error 0.00155.
    assert!((share - 0.6).abs() < 4.0 * 0.00155, "{share}");
    assert!((calm as f64 / 1e5 - 0.2).abs() < 4.0 * 0.00127, "{calm}");
    let permanent = tally.failed[FailureReason::PermanentError as usize] as f64 / 1e5;
    assert!((permanent - 0.2).abs() < 4.0 * 0.00127, "{permanent}");
}

#[test]
fn scripted_faults_do_not_depend_on_the_seed() {
    // Fail the first 2 attempts of each client, fail between 10 and 20 s, fail every 10th.
    let text = |seed: u32, fault: &str| {
        format!(
            "[run]\nduration = \"30s\"\nseed = {seed}\nreplications = 1\n[clients]\ncount = 7\n\
             arrivals.periodic = {{ every = \"500ms\", offset = \"aligned\" }}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time.exponential = {{ mean = \"1ms\" }}\n\
             failures_take_time = false\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n[[fault]]\nat = {fault}\n"
        )
    };
    let failed = |seed: u32, fault: &str| {
        let mut failed: Vec<(u64, u32)> = records(&text(seed, fault), 0)
            .1
            .iter()
            .filter(|record| record.outcome == Some(AttemptOutcome::Error))
            .map(|record| (record.request, record.client))
            .collect();
        failed.sort_unstable();
        failed
    };
    for (fault, count) in [
        ("\"0s\"\nlasts = \"30s\"\nfail_first = 2", 14),
        ("\"10s\"\nlasts = \"10s\"\nfail_all = true", 140),
        ("\"0s\"\nlasts = \"30s\"\nfail_every = 10", 42),
    ] {
        let first = failed(1, fault);
        assert_eq!(first.len(), count, "{fault}");
        assert_eq!(first, failed(2, fault), "{fault}");
    }
    let each: Vec<(u64, u32)> = failed(3, "\"0s\"\nlasts = \"30s\"\nfail_first = 2");
    let mut per_client = BTreeMap::new();
    each.iter()
        .for_each(|(_, client)| *per_client.entry(*client).or_insert(0) += 1);
    assert!(per_client.values().all(|&n| n == 2), "{per_client:?}");
    let tenth = failed(3, "\"0s\"\nlasts = \"30s\"\nfail_every = 10");
    assert!(
        tenth
            .iter()
            .all(|(request, _)| (request + 1).is_multiple_of(10)),
        "{tenth:?}"
    );
}

#[test]
fn requests_that_find_no_place_in_flight_are_counted() {
    // 1,000/s asked, 100 callers with one place each, latency 1 s: 100/s start, 900/s cannot.
    let text = "[run]\nduration = \"20s\"\ndrain = \"5s\"\nreplications = 4\n\
         [clients]\ncount = 100\narrivals.periodic = { rate = \"1000/s\" }\npool = { size = 100, per = \"group\", wait = \"0s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1s\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n";
    let group = total(text);
    assert_eq!(group.requests, 4 * 19_999);
    let not_started = group.failed[FailureReason::NotStarted as usize];
    assert_eq!(not_started + group.succeeded, group.requests);
    assert_eq!(group.attempts, group.succeeded);
    assert_eq!(group.failed_with[0], not_started);
    // 100 start in each second.
    assert_eq!(group.succeeded, 4 * 2_000);
    // With a place for each client a random owner finds its place taken with probability λ/(1 + λ) = 10/11.
    let own = total(
        &text
            .replace("size = 100, per = \"group\"", "size = 1")
            .replace("periodic", "poisson"),
    );
    let share = own.failed[FailureReason::NotStarted as usize] as f64 / own.requests as f64;
    assert!((share - 10.0 / 11.0).abs() < 0.01, "{share}");
}

#[test]
fn waits_for_a_place_are_part_of_the_latency() {
    let text = burst(3, "workers = \"unlimited\"", "[dummy]").replace("[dummy]", "");
    let text = text.replace(
        "[clients]\n",
        "[clients]\npool = { size = 1, per = \"group\", wait = \"50ms\" }\n",
    );
    assert_eq!(log(&text), ["0.1 0-30 ok", "1.1 30-60 ok"]);
    let tally = total(&text);
    // Waits 0, 30, and 50 until it gave up.
    assert_eq!(
        (tally.pool_waits.count, tally.pool_waits.sum),
        (3, 80_000_000)
    );
    assert_eq!(tally.failed[FailureReason::NotStarted as usize], 1);
    assert_eq!(tally.latency.max_ms(), Some(60.0));
    assert_eq!(tally.timeline.highest(Gauge::InFlight), 1);
    // The deadline counts from the intended start.
    let due = text.replace("name = \"s\"", "name = \"s\"\ndeadline = \"40ms\"");
    assert_eq!(
        log(&due),
        ["0.1 0-30 ok", "1.1 30-40 deadline, gave up: deadline"]
    );
    assert_eq!(total(&due).failed[FailureReason::Deadline as usize], 2);
}

#[test]
fn what_is_in_flight_at_the_end_is_unfinished() {
    // 10/s for 60 s, each takes 30 s: half of them end.
    let text = "[run]\nduration = \"60s\"\nreplications = 1\n[clients]\ncount = 5\n\
         arrivals.periodic = { rate = \"10/s\" }\n[service.api]\nworkers = \"unlimited\"\nservice_time = \"30s\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\nattempt_timeout = \"30s\"\n";
    let result = results(text);
    let row = &result.strategies[0].summary;
    assert_eq!(
        (row.requests, row.succeeded, row.failed, row.unfinished),
        (599, 299, 0, 300)
    );
    assert_eq!(result.strategies[0].total.attempts_in_flight, 300);
    let drained = total(&text.replace("\"60s\"", "\"60s\"\ndrain = \"31s\""));
    assert_eq!((drained.succeeded, drained.unfinished), (599, 0));
}

#[test]
fn groups_may_use_different_strategies() {
    let text = "[run]\nduration = \"10s\"\nreplications = 1\n\
         [[clients]]\nname = \"a\"\ncount = 3\narrivals.periodic = { rate = \"10/s\" }\n\
         [[clients]]\nname = \"b\"\ncount = 3\narrivals.periodic = { rate = \"10/s\" }\nstrategy = \"stubborn\"\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\n\
         failures = [{ code = 503, probability = 1.0 }]\n\
         [[strategy]]\nname = \"once\"\nmax_attempts = 1\n\
         [[strategy]]\nname = \"twice\"\nmax_attempts = 2\n\
         [[strategy]]\nname = \"stubborn\"\nmax_attempts = 4\ncompare = false\n";
    let result = results(text);
    let attempts: Vec<u64> = result.strategies.iter().map(|s| s.total.attempts).collect();
    assert_eq!(attempts, [99 + 4 * 99, 2 * 99 + 4 * 99]);
}

#[test]
fn a_trace_is_replayed_from_its_first_row_twice_as_fast() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "time_s\n100\n101\n104\n110\n").unwrap();
    let text = "[run]\nduration = \"10s\"\nreplications = 1\n[clients]\ncount = 1\n\
         arrivals.trace = { file = \"a.csv\", unit = \"s\", speed = 2.0, at = \"1s\" }\n\
         [service.api]\nworkers = 1\nservice_time = \"1ms\"\n[[strategy]]\nname = \"s\"\nmax_attempts = 1\n";
    let (_, plan) = assemble_in(text, folder.path());
    let (_, records) = retrystorm::experiment::record_attempts(&plan, 0, 0).unwrap();
    let starts: Vec<f64> = records
        .iter()
        .map(|record| (record.intended_at - retrystorm::time::SimTime::ZERO).as_secs_f64())
        .collect();
    assert_eq!(starts, [1.0, 1.5, 3.0, 6.0]);
}

#[test]
fn a_surge_multiplies_arrivals_while_it_lasts() {
    let text = |arrivals: &str| {
        format!(
            "[run]\nduration = \"30s\"\nbin = \"10s\"\nreplications = 1\n[clients]\ncount = 100\n{arrivals}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n\
             [[fault]]\nat = \"10s\"\nlasts = \"10s\"\nsurge = 3\n"
        )
    };
    let bins = |arrivals: &str| -> Vec<f64> {
        let tally = total(&text(arrivals));
        tally
            .timeline
            .bins()
            .iter()
            .map(|bin| bin.first_tries as f64)
            .collect()
    };
    for (arrivals, random) in [
        ("arrivals.poisson = { rate = \"1000/s\" }", true),
        ("arrivals.periodic = { rate = \"1000/s\" }", false),
        ("arrivals.periodic = { every = \"100ms\" }", false),
        (
            "arrivals.profile = { points = [{ at = \"0s\", rate = \"1000/s\" }] }",
            true,
        ),
        (
            "arrivals.closed_loop = { think.exponential = { mean = \"100ms\" } }",
            true,
        ),
        (
            "arrivals.closed_loop = { think = \"100ms\", start = \"spread\" }",
            false,
        ),
    ] {
        let expected = [10_000.0, 30_000.0, 10_000.0];
        for (bin, expected) in bins(arrivals).into_iter().zip(expected) {
            let tolerance = if random {
                4.0 * f64::sqrt(expected)
            } else {
                101.0
            };
            assert!(
                (bin - expected).abs() <= tolerance,
                "{arrivals}: {bin} instead of {expected}"
            );
        }
    }
}

#[test]
fn a_run_that_drains_leaves_nothing_unfinished() {
    let text = include_str!("../../scenarios/restart_herd.toml")
        .replace("replications = 20", "replications = 2\ndrain = \"10m\"");
    for strategy in &results(&text).strategies {
        assert!(strategy.total.requests > 100_000);
        assert_eq!(
            (strategy.total.unfinished, strategy.total.attempts_in_flight),
            (0, 0)
        );
        for gauge in [Gauge::Queue, Gauge::Busy, Gauge::Backoff, Gauge::InFlight] {
            assert_eq!(
                strategy.total.timeline.highest(gauge) > 0,
                gauge != Gauge::Backoff || strategy.summary.strategy != "no retries"
            );
        }
    }
}

#[test]
fn few_jitter_generators_bring_clients_together() {
    // 1,000 clients, full jitter from 1 to 60 s, k generators: the peak falls about as 1/k.
    let text = |generators: &str, jitter: &str| {
        format!(
            "[run]\nduration = \"1s\"\ndrain = \"60s\"\nbin = \"100ms\"\nreplications = 1\n\
             [clients]\ncount = 1000\narrivals.burst = {{ at = \"0s\" }}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\nfailures = [{{ code = 503, probability = 1.0 }}]\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 2\n{generators}\n\
             backoff.exponential = {{ base = \"10s\", cap = \"60s\", jitter = \"{jitter}\" }}\n"
        )
    };
    let peak = |text: &str| -> f64 {
        let (_, plan): (_, Plan) = crate::support::assemble(text);
        let peaks = (0..20).map(|r| {
            let tally = replication(&plan, 0, r);
            tally
                .timeline
                .bins()
                .iter()
                .map(|bin| bin.retries)
                .max()
                .unwrap() as f64
        });
        peaks.sum::<f64>() / 20.0
    };
    assert_eq!(peak(&text("", "none")), 1_000.0);
    assert_eq!(peak(&text("generators = 1", "full")), 1_000.0);
    let (ten, hundred) = (
        peak(&text("generators = 10", "full")),
        peak(&text("generators = 100", "full")),
    );
    let (all, own) = (
        peak(&text("generators = 1000", "full")),
        peak(&text("", "full")),
    );
    // One to three of ten generators coincide in a bin, about five of a hundred, and so on.
    assert!((100.0..300.0).contains(&ten), "{ten}");
    assert!((25.0..75.0).contains(&hundred), "{hundred}");
    assert!((15.0..40.0).contains(&all), "{all}");
    assert!((all / own - 1.0).abs() < 0.2, "{all} {own}");
    assert!(
        ten > 2.5 * hundred && hundred > 1.2 * all,
        "{ten} {hundred} {all}"
    );
}

#[test]
fn clients_whose_generators_are_alike_draw_alike_whatever_succeeded_before() {
    // One client's first request succeeds before the outage, then a request of each is refused. A success
    // draws no jitter, so both waits are the first number of the one generator.
    let text = |seed: u32| {
        format!(
            "[run]\nduration = \"3s\"\ndrain = \"60s\"\nreplications = 1\nseed = {seed}\n\
             [clients]\ncount = 2\narrivals.periodic.every = \"2s\"\n\
             [service.api]\nworkers = 1\nservice_time = \"0s\"\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 2\ngenerators = 1\nbackoff.uniform = {{ min = \"1s\", max = \"9s\" }}\n\
             [[fault]]\nat = \"1s\"\nlasts = \"30s\"\noutage = \"refuse\"\n"
        )
    };
    let runs: Vec<Vec<String>> = (0..20).map(|seed| log(&text(seed))).collect();
    let waits = |lines: &[String]| -> Vec<String> {
        let waits = lines
            .iter()
            .filter_map(|line| line.split_once("again after "));
        waits.map(|(_, wait)| wait.to_owned()).collect()
    };
    let mixed: Vec<Vec<String>> = runs
        .iter()
        .filter(|lines| lines[0].ends_with("ok") && !lines[1].ends_with("ok"))
        .map(|lines| waits(lines))
        .filter(|waits| waits.len() == 2)
        .collect();
    assert!(mixed.len() > 5);
    assert!(mixed.iter().all(|waits| waits[0] == waits[1]), "{mixed:?}");
}

#[test]
fn a_shared_generator_moves_on_with_every_retry() {
    let text = burst(2, "workers = 1", &fault("outage = \"refuse\""))
        .replace("max_attempts = 2", "max_attempts = 3\ngenerators = 1")
        .replace(
            "fixed.delay = \"15ms\"",
            "uniform = { min = \"1ms\", max = \"9ms\" }",
        )
        .replace(
            "at = \"10ms\"\nlasts = \"20ms\"",
            "at = \"0s\"\nlasts = \"20ms\"",
        );
    let waits: Vec<String> = log(&text)
        .iter()
        .filter_map(|line| Some(line.split_once("again after ")?.1.to_owned()))
        .collect();
    assert_eq!(waits.len(), 4);
    assert_eq!((&waits[0], &waits[2]), (&waits[1], &waits[3]));
    assert_ne!(waits[0], waits[2]);
}

#[test]
fn a_retry_that_the_deadline_forbids_is_not_remembered_by_the_client() {
    let text = "[run]\nduration = \"3s\"\nreplications = 1\n\
         [clients]\ncount = 1\narrivals.periodic = { every = \"1s\", offset = \"aligned\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
         failures = [{ code = 503, probability = \"100%\" }]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 9\ndeadline = \"650ms\"\n\
         backoff.exponential = { base = \"100ms\", state.client = { reset = \"never\" } }\n";
    let expected = [
        "0.1 0-0 error, again after 100",
        "0.2 100-100 error, again after 200",
        "0.3 300-300 error, gave up: deadline",
        "1.1 1000-1000 error, again after 400",
        "1.2 1400-1400 error, gave up: deadline",
        "2.1 2000-2000 error, gave up: deadline",
    ];
    assert_eq!(log(text), expected);
}

#[test]
fn each_fault_that_fails_first_attempts_counts_anew() {
    let world = |faults: &str| {
        format!(
            "[run]\nduration = \"8s\"\nreplications = 1\n\
             [clients]\ncount = 1\narrivals.periodic = {{ every = \"1s\", offset = \"aligned\" }}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 1\n{faults}"
        )
    };
    let failed = |text: &str| -> Vec<u64> {
        let (_, records) = records(text, 0);
        let failed = records
            .iter()
            .filter(|record| record.outcome == Some(AttemptOutcome::Error));
        failed.map(|record| record.request).collect()
    };
    let again =
        "[[fault]]\nat = \"0s\"\nlasts = \"3500ms\"\nevery = \"4s\"\ntimes = 2\nfail_first = 2\n";
    assert_eq!(failed(&world(again)), [0, 1, 4, 5]);
    let one = |at: u32, code: u32| {
        format!("[[fault]]\nat = \"{at}500ms\"\nlasts = \"2s\"\nfail_first = 1\ncode = {code}\n")
    };
    assert_eq!(failed(&world(&(one(0, 503) + &one(4, 429)))), [1, 5]);
}

#[test]
fn a_request_that_leaves_the_line_of_a_pool_makes_room_and_spoils_nothing() {
    // One place for a second each; five come at once, and the middle one of the line has no patience.
    let text = "[run]\nduration = \"1ms\"\ndrain = \"20s\"\nreplications = 1\n\
         [[clients]]\nname = \"a\"\ncount = 5\narrivals.burst = { at = \"0s\" }\n\
         pool = { size = 1, per = \"group\", wait = \"2500ms\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1s\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n";
    let expected = ["0.1 0-1000 ok", "1.1 1000-2000 ok", "2.1 2000-3000 ok"];
    assert_eq!(log(text), expected);
    let tally = total(text);
    assert_eq!(tally.failed[FailureReason::NotStarted as usize], 2);
}

/// A success that comes after its caller has gone is one failure, and no dead letter; a letter that comes back has no
/// caller.
#[test]
fn a_late_success_is_no_dead_letter() {
    let text = "[run]\nduration = \"1500ms\"\ndrain = \"60s\"\nreplications = 1\n\
         [clients]\ncount = 1\narrivals.periodic = { every = \"1s\" }\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"2s\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n\
         callers = { patience = \"1s\", cancels = false }\n\
         dead_letters.redrive.after.delay = \"3s\"\n";
    let late = total(text);
    assert_eq!(late.lost_to(FailureReason::CallerLeft), late.requests);
    assert_eq!((late.redriven, late.dead_lettered_total()), (0, 0));
    let refused = format!("{text}[[fault]]\nat = \"0s\"\nlasts = \"3s\"\noutage = \"refuse\"\n");
    let back = total(&refused);
    assert_eq!(
        (back.succeeded, back.redriven),
        (back.requests, back.requests)
    );
}

/// What clients hold back counts against the limit of a run, so that letters that are never sent end it.
#[test]
fn tries_that_are_held_back_count_against_the_limit() {
    let (_, plan) = assemble(
        "[run]\nduration = \"10s\"\nreplications = 1\nmax_requests = 1000\n\
         [clients]\ncount = 1\narrivals.periodic = { every = \"1s\" }\n\
         [service.api]\nworkers = 1\nservice_time = \"1ms\"\n\
         [[fault]]\nat = \"0s\"\nlasts = \"10s\"\noutage = \"refuse\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n\
         breaker.consecutive = { failures = 1, open_for = \"1000s\" }\n\
         dead_letters.redrive.after.delay = \"1us\"\n",
    );
    let error = retrystorm::experiment::record_attempts(&plan, 0, 0).unwrap_err();
    assert!(format!("{error:?}").contains("Endless"), "{error:?}");
}
