//! Small worlds computed by hand, attempt by attempt. Times are in milliseconds.

use crate::support::{area_ms, log, millis, records};
use retrystorm::metrics::Gauge;

/// A world with its one strategy.
fn world(run: &str, clients: &str, service: &str, strategy: &str) -> String {
    format!(
        "[run]\n{run}\nreplications = 1\n[clients]\n{clients}\n[service.api]\n{service}\n\
         [[strategy]]\nname = \"s\"\n{strategy}\n"
    )
}

/// `clients` requests at once, one worker of 30 ms, two attempts, 15 ms between them.
fn burst(clients: u32, service: &str, strategy: &str) -> String {
    let strategy = format!("max_attempts = 2\nbackoff.fixed.delay = \"15ms\"\n{strategy}");
    let service = format!("workers = 1\nservice_time = \"30ms\"\n{service}");
    let clients = format!("count = {clients}\narrivals.burst = {{ at = \"0s\" }}");
    world(
        "duration = \"1ms\"\ndrain = \"999ms\"",
        &clients,
        &service,
        &strategy,
    )
}

#[test]
fn a_busy_little_service_with_faults_is_as_computed_by_hand() {
    // Requests 0 to 4 at 10, 20, 30, 40, 50. One worker of 25, one place to wait. Patience 40, again after 32.
    // The first attempt of the only client fails. The service is out from 100 to 120.
    //  10 0.1 is served until 35          67 0.2 finds 2.2 waiting
    //  20 1.1 waits                       80 3.1 times out, its work goes on
    //  30 2.1 finds 1.1 waiting           82 4.2 finds 2.2 waiting
    //  35 0.1 fails; 1.1 until 60         85 3.1 is done for nobody; 2.2 until 110
    //  40 3.1 waits                       99 0.3 waits
    //  50 4.1 finds 3.1 waiting          100 0.3 and 2.2 are lost
    //  60 1.1 ends just in time;         112 3.2 and at 114 4.3 are refused
    //     3.1 until 85                   132 2.3 until 157
    //  62 2.2 waits                      144 3.3 waits, from 157 until 182
    let text = world(
        "duration = \"55ms\"\ndrain = \"200ms\"",
        "count = 1\narrivals.periodic = { rate = \"100/s\" }",
        "workers = 1\nqueue.capacity = 1\nservice_time = \"25ms\"",
        "max_attempts = 3\nattempt_timeout = \"40ms\"\nbackoff.fixed.delay = \"32ms\"",
    ) + "[[fault]]\nat = \"0s\"\nlasts = \"15ms\"\nfail_first = 1\n\
         [[fault]]\nat = \"100ms\"\nlasts = \"20ms\"\noutage = \"refuse\"\n";
    assert_eq!(
        log(&text),
        [
            "2.1 30-30 queue_full, again after 32",
            "0.1 10-35 error, again after 32",
            "4.1 50-50 queue_full, again after 32",
            "1.1 20-60 ok",
            "0.2 67-67 queue_full, again after 32",
            "3.1 40-80 timeout, again after 32",
            "4.2 82-82 queue_full, again after 32",
            "0.3 99-100 refused, gave up: refused",
            "2.2 62-100 refused, again after 32",
            "3.2 112-112 refused, again after 32",
            "4.3 114-114 refused, gave up: refused",
            "2.3 132-157 ok",
            "3.3 144-182 ok",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!(
        (tally.requests, tally.succeeded, tally.unfinished),
        (5, 3, 0)
    );
    assert_eq!((tally.served, tally.served_late), (5, 1));
    // Five services of 25, and 15 of the one that was lost; 25 + 15 for nobody.
    assert_eq!(tally.work_ns, u128::from(millis(140).as_nanos()));
    assert_eq!(tally.wasted_ns, u128::from(millis(40).as_nanos()));
    assert_eq!(area_ms(&tally, Gauge::Busy), 140.0);
    // Waits 15, 20, 23, 13 for service, and 1 until the outage.
    assert_eq!(tally.waits.sum, u128::from(millis(71).as_nanos()));
    assert_eq!(area_ms(&tally, Gauge::Queue), 72.0);
    // Eight waits of 32 for another attempt.
    assert_eq!(area_ms(&tally, Gauge::Backoff), 8.0 * 32.0);
    assert_eq!(tally.in_system_max, 2);
}

#[test]
fn work_of_clients_who_gave_up_is_done_in_full_unless_the_service_may_stop() {
    // 0.1 until 30, 1.1 until 60, 2.1 until 90; 1 and 2 give up at 40 and send 1.2 and 2.2 at 55, which
    // are served from 90 and 120: too late at 95.
    let text = burst(3, "", "attempt_timeout = \"40ms\"");
    assert_eq!(
        log(&text),
        [
            "0.1 0-30 ok",
            "1.1 0-40 timeout, again after 15",
            "2.1 0-40 timeout, again after 15",
            "1.2 55-95 timeout, gave up: timeout",
            "2.2 55-95 timeout, gave up: timeout",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.served_late, tally.dropped), (5, 4, 0));
    assert_eq!(area_ms(&tally, Gauge::Busy), 150.0);
}

#[test]
fn an_abandoned_attempt_may_be_skipped_when_its_turn_comes() {
    // 1.1 was awaited when its service began. At 60 the service skips 2.1 and serves 1.2 until 90, 2.2 until 120.
    let text = burst(
        3,
        "on_abandon = \"skip_when_dequeued\"",
        "attempt_timeout = \"40ms\"",
    );
    assert_eq!(
        log(&text),
        [
            "0.1 0-30 ok",
            "1.1 0-40 timeout, again after 15",
            "2.1 0-40 timeout, again after 15",
            "1.2 55-90 ok",
            "2.2 55-95 timeout, gave up: timeout",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.served_late, tally.dropped), (4, 2, 1));
}

#[test]
fn an_attempt_that_would_end_too_late_may_be_dropped() {
    // At 30 neither 1.1 nor 2.1 could end by 40. 1.2 is served from 55 to 85; 2.2 could not end by 95.
    let text = burst(
        3,
        "on_abandon = \"drop_if_late\"",
        "attempt_timeout = \"40ms\"",
    );
    assert_eq!(
        log(&text),
        [
            "0.1 0-30 ok",
            "1.1 0-40 timeout, again after 15",
            "2.1 0-40 timeout, again after 15",
            "1.2 55-85 ok",
            "2.2 55-95 timeout, gave up: timeout",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.served_late, tally.dropped), (2, 0, 3));
    // An attempt that ends exactly when its client would give up is served.
    assert_eq!(
        log(&burst(
            2,
            "on_abandon = \"drop_if_late\"",
            "attempt_timeout = \"60ms\""
        )),
        ["0.1 0-30 ok", "1.1 0-60 ok"]
    );
}

#[test]
fn a_cancelled_attempt_stops_at_once_and_frees_its_worker() {
    // 1.1 is stopped at 40 after 10 of work; 2.1 begins and is stopped at the same moment. 1.2 is served from
    // 55 to 85, 2.2 from 85 until it is stopped at 95.
    let text = burst(3, "on_abandon = \"cancel\"", "attempt_timeout = \"40ms\"");
    assert_eq!(
        log(&text),
        [
            "0.1 0-30 ok",
            "1.1 0-40 timeout, again after 15",
            "2.1 0-40 timeout, again after 15",
            "1.2 55-85 ok",
            "2.2 55-95 timeout, gave up: timeout",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.served_late, tally.dropped), (2, 0, 3));
    assert_eq!(tally.work_ns, u128::from(millis(80).as_nanos()));
    assert_eq!(tally.wasted_ns, u128::from(millis(20).as_nanos()));
    assert_eq!(area_ms(&tally, Gauge::Busy), 80.0);
    assert_eq!(area_ms(&tally, Gauge::Queue), 30.0 + 40.0 + 30.0);
}

#[test]
fn patience_with_the_wait_ends_when_service_begins() {
    // 1.1 waits 30 and is served until 60. 2.1 leaves the line at 40, comes back at 55 and begins at 60.
    let text = burst(
        3,
        "",
        "attempt_timeout = \"40ms\"\ntimeout_covers = \"wait\"",
    );
    let expected = [
        "0.1 0-30 ok",
        "2.1 0-40 timeout, again after 15",
        "1.1 0-60 ok",
        "2.2 55-90 ok",
    ];
    assert_eq!(log(&text), expected);
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.dropped), (3, 1));
    assert_eq!(area_ms(&tally, Gauge::Queue), 30.0 + 40.0 + 5.0);
    // Such an attempt is not late: its client waits for its end, however long service takes.
    for mode in ["drop_if_late", "cancel", "skip_when_dequeued"] {
        let text = burst(
            3,
            &format!("on_abandon = \"{mode}\""),
            "attempt_timeout = \"40ms\"\ntimeout_covers = \"wait\"",
        );
        assert_eq!(log(&text), expected, "{mode}");
    }
}

#[test]
fn what_a_service_drops_is_dropped_once() {
    // The deadline of 65 covers all, the patience of 100 the wait. At 60 the service drops 2.1, which could
    // not end by 65; its client does not know and waits on. Nothing is counted twice.
    let text = burst(
        4,
        "on_abandon = \"drop_if_late\"",
        "attempt_timeout = \"50ms\"\ntimeout_covers = \"wait\"\ndeadline = \"55ms\"",
    );
    // At 30 neither of 1, 2, 3 could end by 55: all are dropped, and give up waiting at 50.
    assert_eq!(
        log(&text),
        [
            "0.1 0-30 ok",
            "1.1 0-50 timeout, gave up: deadline",
            "2.1 0-50 timeout, gave up: deadline",
            "3.1 0-50 timeout, gave up: deadline",
        ]
    );
    let tally = records(&text, 0).0;
    assert_eq!(tally.dropped, 3);
    assert_eq!(tally.timeline.level(Gauge::Queue), 0);
    assert_eq!(area_ms(&tally, Gauge::Queue), 90.0);
}

#[test]
fn an_attempt_on_its_way_when_its_caller_leaves_the_line_never_joins_it() {
    // 1.1 reaches the service at 60, after its patience of 40 with the wait.
    let service = "network.request = \"60ms\"";
    let strategy = "attempt_timeout = \"40ms\"\ntimeout_covers = \"wait\"";
    let text = burst(1, service, strategy);
    let expected = [
        "0.1 0-40 timeout, again after 15",
        "0.2 55-95 timeout, gave up: timeout",
    ];
    assert_eq!(log(&text), expected);
    let tally = records(&text, 0).0;
    assert_eq!((tally.served, tally.dropped), (0, 2));
}

#[test]
fn last_in_first_out_serves_the_newest() {
    let text = burst(3, "queue.discipline = \"lifo\"", "");
    assert_eq!(log(&text), ["0.1 0-30 ok", "2.1 0-60 ok", "1.1 0-90 ok"]);
}

#[test]
fn an_attempt_that_ends_exactly_at_its_timeout_succeeds() {
    // 1.1 waits for 0.1; 2.1 would end at 90.
    let text = burst(3, "", "attempt_timeout = \"60ms\"");
    let expected = [
        "0.1 0-30 ok",
        "2.1 0-60 timeout, again after 15",
        "1.1 0-60 ok",
    ];
    assert_eq!(log(&text)[..3], expected);
    assert_eq!(
        log(&burst(1, "", "attempt_timeout = \"30ms\"")),
        ["0.1 0-30 ok"]
    );
    assert_eq!(log(&burst(1, "", "deadline = \"30ms\"")), ["0.1 0-30 ok"]);
    // The answer counts, not the end of service: 20 to the service, 30 of work, 10 back.
    let far = "network = { request = \"20ms\", response = \"10ms\" }";
    assert_eq!(
        log(&burst(1, far, "attempt_timeout = \"60ms\"")),
        ["0.1 0-60 ok"]
    );
    assert_eq!(
        log(&burst(2, far, "attempt_timeout = \"90ms\"")),
        ["0.1 0-60 ok", "1.1 0-90 ok"]
    );
    let late = log(&burst(2, far, "attempt_timeout = \"89ms\""));
    assert_eq!(late[1], "1.1 0-89 timeout, again after 15");
    // With cancellation as well: work that ends now is not stopped.
    let cancel = burst(2, "on_abandon = \"cancel\"", "attempt_timeout = \"60ms\"");
    assert_eq!(log(&cancel), ["0.1 0-30 ok", "1.1 0-60 ok"]);
}

#[test]
fn no_attempt_starts_at_its_deadline_or_ends_after_it() {
    let failing = "failures = [{ code = 503, probability = 1.0 }]";
    let text = |deadline: &str| {
        burst(1, failing, &format!("deadline = \"{deadline}\"")).replace("= 2", "= \"unlimited\"")
    };
    // Attempts at 0, 45, 90, each of 30; the next would be sent at 135.
    let expected = [
        "0.1 0-30 error, again after 15",
        "0.2 45-75 error, again after 15",
        "0.3 90-120 error, gave up: deadline",
    ];
    assert_eq!(log(&text("135ms")), expected);
    assert_eq!(
        log(&text("136ms"))[3],
        "0.4 135-136 deadline, gave up: deadline"
    );
    assert_eq!(
        log(&text("110ms"))[2],
        "0.3 90-110 deadline, gave up: deadline"
    );
}
