//! Strategies meet the same world: the same requests of the same clients at the same times, and at its j-th
//! attempt each request meets the same luck and needs the same service.

use crate::support::records;
use retrystorm::model::AttemptRecord;
use retrystorm::outcome::AttemptOutcome;
use std::collections::BTreeMap;

type Attempts = BTreeMap<(u16, u64, u32), AttemptRecord>;

const STRATEGIES: &str = r#"
[[strategy]]
name = "once"
max_attempts = 1

[[strategy]]
name = "exponential"
max_attempts = 4
backoff.exponential = { base = "50ms" }

[[strategy]]
name = "full"
max_attempts = 8
backoff.exponential = { base = "10ms", jitter = "full" }

[[strategy]]
name = "hasty"
max_attempts = 8
attempt_timeout = "30ms"

[[strategy]]
name = "slow"
max_attempts = 8
deadline = "20s"
backoff.decorrelated = { base = "100ms", cap = "3s" }
"#;

fn text(clients: &str, workers: &str) -> String {
    format!(
        "[run]\nduration = \"20s\"\ndrain = \"60s\"\nreplications = 1\nseed = 5\n{clients}\n\
         [service.api]\nworkers = {workers}\nservice_time.exponential = {{ mean = \"20ms\" }}\n\
         failures = [{{ code = 503, probability = \"25%\" }}, {{ code = 500, probability = \"15%\" }}]\n{STRATEGIES}"
    )
}

fn attempts(text: &str, strategy: usize) -> Attempts {
    let records = records(text, strategy).1;
    let key = |r: &AttemptRecord| (r.group, r.request, r.attempt);
    records
        .iter()
        .map(|record| (key(record), *record))
        .collect()
}

/// Whether the answer decided the attempt, so that its failure draw shows.
fn answered(record: &AttemptRecord) -> bool {
    matches!(
        record.outcome,
        Some(AttemptOutcome::Ok | AttemptOutcome::Error)
    )
}

/// Holds every strategy against the others in a world of open arrivals. Gives how many pairs were compared.
fn compare(text: &str, service_shows: bool) -> usize {
    let all: Vec<Attempts> = (0..5).map(|strategy| attempts(text, strategy)).collect();
    let mut pairs = 0;
    for (key, reference) in &all[2] {
        for other in all.iter().filter_map(|attempts| attempts.get(key)) {
            assert_eq!(
                (other.intended_at, other.client),
                (reference.intended_at, reference.client)
            );
            if answered(reference) && answered(other) {
                pairs += 1;
                assert_eq!(
                    (other.outcome, other.code),
                    (reference.outcome, reference.code),
                    "{key:?}"
                );
                let took = |record: &AttemptRecord| record.ended_at - record.sent_at;
                assert!(!service_shows || took(other) == took(reference), "{key:?}");
            }
        }
    }
    let firsts = |attempts: &Attempts| -> Vec<(u16, u64, u32)> {
        attempts.keys().copied().filter(|key| key.2 == 1).collect()
    };
    for attempts in &all {
        assert_eq!(firsts(attempts), firsts(&all[0]));
    }
    pairs
}

#[test]
fn strategies_meet_the_same_arrivals_luck_and_service() {
    for arrivals in [
        "poisson = { rate = \"200/s\" }",
        "periodic = { every = \"300ms\" }",
        "burst = { at = \"1s\", requests = 80, spread = \"10s\" }",
        "profile = { points = [{ at = \"0s\", rate = \"50/s\" }, { at = \"10s\", rate = \"400/s\" }] }",
    ] {
        let clients = format!("[clients]\ncount = 50\narrivals.{arrivals}\n");
        let pairs = compare(&text(&clients, "\"unlimited\""), true);
        assert!(pairs > 15_000, "{arrivals}: {pairs}");
        // In a queue the waits differ, but not the luck.
        assert!(compare(&text(&clients, "6"), false) > 8_000);
    }
}

#[test]
fn a_group_with_its_own_strategy_meets_the_same_world_under_every_other() {
    let clients = "[[clients]]\nname = \"own\"\ncount = 20\nstrategy = \"exponential\"\narrivals.poisson = { rate = \"60/s\" }\n\
                   [[clients]]\nname = \"all\"\ncount = 20\narrivals.poisson = { rate = \"60/s\" }\n";
    let text = text(clients, "\"unlimited\"");
    assert!(compare(&text, true) > 9_000);
    let own = |strategy| -> Attempts {
        attempts(&text, strategy)
            .into_iter()
            .filter(|(key, _)| key.0 == 0)
            .collect()
    };
    assert_eq!(own(0), own(4));
    // The two groups are not copies of each other.
    let starts = |group: u16| -> Vec<_> {
        attempts(&text, 0)
            .into_iter()
            .filter(|(key, _)| key.0 == group)
            .map(|(_, r)| r.intended_at)
            .collect()
    };
    assert_ne!(starts(0)[0], starts(1)[0]);
}

#[test]
fn a_closed_loop_keeps_the_luck_of_the_nth_request_of_a_client() {
    // Requests start when the one before has ended, so only what belongs to request and attempt is the same.
    let clients =
        "[clients]\ncount = 40\narrivals.closed_loop = { think = \"200ms\", start = \"spread\" }\n";
    let text = text(clients, "\"unlimited\"");
    let all: Vec<Attempts> = (0..5).map(|strategy| attempts(&text, strategy)).collect();
    let mut pairs = 0;
    for (key, reference) in &all[2] {
        for other in all.iter().filter_map(|attempts| attempts.get(key)) {
            assert_eq!(other.client, reference.client);
            if answered(reference) && answered(other) {
                pairs += 1;
                assert_eq!(other.code, reference.code);
                assert_eq!(
                    other.ended_at - other.sent_at,
                    reference.ended_at - reference.sent_at
                );
            }
        }
    }
    assert!(pairs > 9_000, "{pairs}");
}

#[test]
fn raising_the_failure_probability_only_adds_failures() {
    let clients = "[clients]\ncount = 50\narrivals.poisson = { rate = \"200/s\" }\n";
    let low = text(clients, "\"unlimited\"");
    let high = low.replace("\"15%\"", "\"30%\"");
    let (low, high) = (attempts(&low, 2), attempts(&high, 2));
    let mut added = 0;
    for (key, record) in &low {
        if record.outcome == Some(AttemptOutcome::Error) {
            assert_eq!(high[key].outcome, Some(AttemptOutcome::Error));
        } else {
            added += usize::from(high[key].outcome == Some(AttemptOutcome::Error));
        }
    }
    assert!(added > 500, "{added}");
}
