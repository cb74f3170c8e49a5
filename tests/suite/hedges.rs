//! Hedges in worlds small enough to count on fingers, where they meet budgets, deadlines, timeouts and attempts that
//! are held back. And what became of requests whose callers had left, or that are letters.

use crate::support::{log, millis, total};
use retrystorm::metrics::Gauge;

/// A client with a request every 100 ms, a service of 30 ms, and a hedge after 10 ms.
fn world(requests: u32, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"{}ms\"\ndrain = \"1s\"\nreplications = 1\n\
         [clients]\ncount = 1\narrivals.periodic = {{ every = \"100ms\", offset = \"aligned\" }}\n\
         [[strategy]]\nname = \"s\"\nbackoff.fixed.delay = \"15ms\"\nhedge.after.fixed.delay = \"10ms\"\n{strategy}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"30ms\"\n{service}\n",
        requests * 100 - 50
    )
}

/// First attempts get no answer.
fn lost(times: u32) -> String {
    format!(
        "[[fault]]\nat = \"0s\"\nlasts = \"5ms\"\nevery = \"100ms\"\ntimes = {times}\noutage = \"hang\"\n"
    )
}

#[test]
fn a_hedge_that_wins_gives_its_place_in_a_budget_back() {
    let budget = "max_attempts = 1\nbudget.concurrency.limit.fixed.retries = 1";
    let text = world(3, "", budget) + &lost(3);
    let expected = [
        "0.1 0-40 superseded, hedged",
        "0.2 10-40 ok",
        "1.1 100-140 superseded, hedged",
        "1.2 110-140 ok",
        "2.1 200-240 superseded, hedged",
        "2.2 210-240 ok",
    ];
    assert_eq!(log(&text), expected);
}

#[test]
fn hedges_that_cost_no_budget_free_none_of_it() {
    // The retry of the first request holds the only place while it waits.
    let budget = "max_attempts = 2\nattempt_timeout = \"60ms\"\nhedge.from_budget = false\n\
                  budget.concurrency.limit.fixed.retries = 1";
    let service = "failures = [{ code = 503, probability = 1.0 }]";
    let text = world(2, service, budget).replace("15ms", "200ms") + &lost(2);
    let expected = [
        "0.2 10-40 error, hedged",
        "0.1 0-60 timeout, again after 200",
        "1.2 110-140 error, hedged",
        "1.1 100-160 timeout, gave up: budget",
        "0.3 260-290 error, hedged",
        "0.4 270-300 error, gave up: error",
    ];
    assert_eq!(log(&text), expected);
}

#[test]
fn hedges_are_no_tries_when_attempts_are_held_back() {
    let limit = "retry_on = [\"refused\", \"rate_limited\", 503]\nrate_limit.fixed = { longest_wait = \"0s\", rate = ";
    // The second request takes the place of the first, which had a hedge.
    let refused = "[[fault]]\nat = \"110ms\"\nlasts = \"90ms\"\noutage = \"refuse\"\n";
    let of_two = format!("max_attempts = 2\n{limit}\"9/s\" }}");
    let text = world(2, "", &of_two) + &lost(1) + refused;
    let expected = [
        "0.1 0-40 superseded, hedged",
        "0.2 10-40 ok",
        "1.1 100-100 rate_limited, again after 15",
        "1.2 115-115 refused, gave up: refused",
    ];
    assert_eq!(log(&text), expected);
    let fails = "failures = [{ code = 503, probability = 1.0 }]";
    let of_three = format!("max_attempts = 3\n{limit}\"1/s\" }}");
    let text = world(1, fails, &of_three);
    let expected = [
        "0.1 0-30 error, hedged",
        "0.2 10-40 error, again after 15",
        "0.3 55-55 rate_limited, again after 15",
        "0.4 70-70 rate_limited, gave up: rate_limited",
    ];
    assert_eq!(log(&text), expected);
    // Two retries, whatever the hedges before them.
    let delays: Vec<u64> = total(&text)
        .delays
        .iter()
        .map(|delay| delay.count)
        .collect();
    assert_eq!(delays, [1, 1]);
}

#[test]
fn the_deadline_travels_with_hedges() {
    let text = world(
        1,
        "on_abandon = \"stop_at_deadline\"",
        "max_attempts = 1\ndeadline = \"25ms\"",
    );
    assert_eq!(
        log(&text),
        [
            "0.2 10-25 deadline, hedged",
            "0.1 0-25 deadline, gave up: deadline"
        ]
    );
    // 25 ms and 15 ms of work.
    assert_eq!(total(&text).work_ns, u128::from(millis(40).as_nanos()));
}

#[test]
fn an_answer_to_a_hedge_at_the_very_moment_of_the_timeout_is_in_time() {
    let text = world(1, "", "max_attempts = 1\nattempt_timeout = \"40ms\"") + &lost(1);
    assert_eq!(log(&text), ["0.1 0-40 superseded, hedged", "0.2 10-40 ok"]);
    // A failure at that moment leaves the lost attempt, whose time is up.
    let text = text.replace(
        "service_time",
        "failures = [{ code = 503, probability = 1.0 }]\nservice_time",
    );
    let expected = [
        "0.2 10-40 error, hedged",
        "0.1 0-40 timeout, gave up: timeout",
    ];
    assert_eq!(log(&text), expected);
}

#[test]
fn a_hedge_that_is_left_alone_keeps_its_own_time() {
    // The first fails, and the hedge gets no answer.
    let service = "failures = [{ code = 503, probability = 1.0 }]";
    let hang = "[[fault]]\nat = \"8ms\"\nlasts = \"5ms\"\noutage = \"hang\"\n";
    let text = world(1, service, "max_attempts = 1\nattempt_timeout = \"60ms\"") + hang;
    let expected = [
        "0.1 0-30 error, hedged",
        "0.2 10-60 timeout, gave up: timeout",
    ];
    assert_eq!(log(&text), expected);
}

#[test]
fn no_hedge_is_sent_at_the_moment_at_which_its_round_ends() {
    for limit in ["attempt_timeout = \"10ms\"", "deadline = \"10ms\""] {
        let text = world(1, "", &format!("max_attempts = 1\n{limit}"));
        assert_eq!(total(&text).attempts, 1, "{limit}");
    }
}

#[test]
fn hedges_that_wait_leave_the_queue_once() {
    // At the end of the first the fourth leaves the queue, the second is stopped at work, and the third is skipped.
    let service = "queue.capacity = 3\non_abandon = \"skip_when_dequeued\"";
    let text = world(1, service, "max_attempts = 1\nhedge.most = 3")
        .replace("workers = \"unlimited\"", "workers = 1")
        .replace("after.fixed.delay = \"10ms\"", "after.fixed.delay = \"0s\"");
    let tally = total(&text);
    assert_eq!((tally.succeeded, tally.attempts, tally.dropped), (1, 4, 3));
    let (queue, busy) = (
        tally.timeline.area(Gauge::Queue),
        tally.timeline.area(Gauge::Busy),
    );
    // Three waited for 30 ms, and one worked as long.
    assert_eq!((queue, busy), (90_000_000, 30_000_000));
}

#[test]
fn a_success_that_comes_too_late_is_logged_as_given_up() {
    let text = world(
        1,
        "",
        "max_attempts = 1\ncallers = { patience = \"20ms\", cancels = false }",
    )
    .replace("hedge.after.fixed.delay = \"10ms\"", "");
    assert_eq!(log(&text), ["0.1 0-30 ok, gave up: caller_left"]);
}

#[test]
fn retries_denied_to_letters_are_counted_like_any_other() {
    let rules = "max_attempts = 2\nbudget.token_bucket = { capacity = 1, start = 0 }";
    let service = "failures = [{ code = 503, probability = 1.0 }]";
    for kept in ["", "dead_letters = {}"] {
        let text = world(2, service, &format!("{rules}\n{kept}"));
        let tally = total(&text.replace("hedge.after.fixed.delay = \"10ms\"", ""));
        let denied: u64 = tally
            .timeline
            .bins()
            .iter()
            .map(|bin| bin.budget_denied)
            .sum();
        assert_eq!(denied, 2, "{kept}");
    }
}
