//! When the service of an attempt started, as its record tells it.

use crate::support::{records, total};
use retrystorm::time::SimTime;

/// `clients` requests at once for one worker of 30 ms.
fn burst(clients: u32, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"1ms\"\ndrain = \"999ms\"\nreplications = 1\n\
         [clients]\ncount = {clients}\narrivals.burst = {{ at = \"0s\" }}\n\
         [service.api]\nworkers = 1\nservice_time = \"30ms\"\n{service}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 1\n{strategy}\n"
    )
}

/// Starts in milliseconds by request, of requests with one attempt each.
fn starts(text: &str) -> Vec<Option<f64>> {
    let mut records = records(text, 0).1;
    records.sort_by_key(|record| record.request);
    let ms = |start: SimTime| (start - SimTime::ZERO).as_millis_f64();
    records
        .iter()
        .map(|record| record.started_at.map(ms))
        .collect()
}

#[test]
fn an_attempt_tells_its_start_unless_it_ended_before() {
    let all = [Some(0.0), Some(30.0), Some(60.0)];
    assert_eq!(starts(&burst(3, "", "")), all);
    // 1 gives up while it is served, 2 while it waits.
    let impatient = "attempt_timeout = \"40ms\"";
    let served = [Some(0.0), Some(30.0), None];
    for mode in ["continue", "skip_when_dequeued"] {
        let service = format!("on_abandon = \"{mode}\"");
        assert_eq!(starts(&burst(3, &service, impatient)), served, "{mode}");
    }
    // The service stops 1, and begins with 2 at the moment at which it gives up too.
    let cancelled = [Some(0.0), Some(30.0), Some(40.0)];
    let cancel = "on_abandon = \"cancel\"";
    assert_eq!(starts(&burst(3, cancel, impatient)), cancelled);
    // What would end too late is dropped and never starts.
    let dropped = [Some(0.0), None, None];
    let drop = "on_abandon = \"drop_if_late\"";
    assert_eq!(starts(&burst(3, drop, impatient)), dropped);
    // A full queue refuses 2.
    let refused = [Some(0.0), Some(30.0), None];
    assert_eq!(starts(&burst(3, "queue.capacity = 1", "")), refused);
    // The way to the service comes before the start, the way back after it.
    let far = "network = { request = \"5ms\", response = \"7ms\" }";
    assert_eq!(starts(&burst(2, far, "")), [Some(5.0), Some(35.0)]);
    // The run ends while 1 is served and 2 waits.
    let short = burst(3, "", "").replace("999ms", "44ms");
    assert_eq!(starts(&short), served);
}

#[test]
fn what_an_outage_loses_had_started_or_not() {
    let outage = "[[fault]]\nat = \"40ms\"\nlasts = \"10ms\"\noutage = \"refuse\"\n";
    let text = burst(3, "", "") + outage;
    assert_eq!(starts(&text), [Some(0.0), Some(30.0), None]);
}

#[test]
fn an_attempt_that_vanished_does_not_tell_the_start_of_another() {
    // 0 arrives at 10, while the service hangs, and gives up at 40; 1 is served from 20 on, in its place.
    let text = burst(1, "", "attempt_timeout = \"30ms\"")
        .replace("duration = \"1ms\"", "duration = \"25ms\"")
        .replace("burst = { at = \"0s\" }", "periodic = { rate = \"100/s\" }")
        + "[[fault]]\nat = \"0s\"\nlasts = \"15ms\"\noutage = \"hang\"\n";
    assert_eq!(starts(&text), [None, Some(20.0)]);
}

#[test]
fn starts_add_up_to_the_waits_that_are_counted() {
    for service in [
        "",
        "queue = { discipline = \"random\", capacity = 9 }",
        "on_abandon = \"cancel\"",
        "on_abandon = \"skip_when_dequeued\"",
    ] {
        let text = format!(
            "[run]\nduration = \"100s\"\ndrain = \"100s\"\nreplications = 1\nseed = 3\n\
             [clients]\ncount = 10\narrivals.poisson = {{ rate = \"45/s\" }}\n\
             [service.api]\nworkers = 3\nservice_time.exponential = {{ mean = \"60ms\" }}\n{service}\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbackoff.memoryless.mean = \"100ms\"\n\
             timeout_covers = \"wait\"\nattempt_timeout = \"200ms\"\n"
        );
        let (tally, records) = records(&text, 0);
        let started = || {
            records
                .iter()
                .filter_map(|r| Some((r.sent_at, r.started_at?)))
        };
        let waits: u128 = started()
            .map(|(sent, started)| u128::from((started - sent).as_nanos()))
            .sum();
        assert_eq!(started().count() as u64, tally.waits.count, "{service}");
        assert_eq!(waits, tally.waits.sum, "{service}");
        assert!(tally.waits.count > 4_000 && tally.waits.count < tally.attempts);
        assert_eq!(total(&text).waits, tally.waits);
    }
}
