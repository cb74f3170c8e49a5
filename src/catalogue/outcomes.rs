//! How attempts end.

use super::Entry;

/// Names of outcomes in `retry_on`, `never_retry` and `throttled_on`, and what they mean.
const OUTCOMES: [(&str, &str); 16] = [
    ("error", "Any failure code, those with a name too."),
    ("refused", "Refused by an outage."),
    ("queue_full", "Refused because no waiting place was free."),
    (
        "shed",
        "Refused by a full queue, or by a service that protects itself.",
    ),
    ("timeout", "No answer within the attempt timeout."),
    ("breaker_open", "Held back: the circuit breaker was open."),
    ("throttled", "Held back by the client's throttle."),
    (
        "rate_limited",
        "Held back: the wait for the client's own rate limit would have been too long.",
    ),
    (
        "rejected",
        "Each of the last three: whatever the client itself holds back.",
    ),
    ("dns", "The name of the service was not found."),
    ("tls", "No secure connection came about."),
    ("reset", "The connection broke."),
    ("parameter_error", "The request itself is wrong."),
    (
        "quota_exceeded",
        "The caller has used up what it was granted.",
    ),
    (
        "503",
        "A failure code from 100 to 599, as a number without quotes.",
    ),
    ("5xx", "All codes of a hundred, from \"1xx\" to \"5xx\"."),
];

/// All of them, each with an example.
pub(super) fn entries() -> Vec<Entry> {
    let entry = |&(name, meaning): &(&str, &str)| Entry {
        name: name.into(),
        meaning: meaning.into(),
        settings: Vec::new(),
        example: match name.parse::<u16>() {
            Ok(code) => format!("[{code}]"),
            Err(_) => format!("[\"{name}\"]"),
        },
    };
    OUTCOMES.iter().map(entry).collect()
}
