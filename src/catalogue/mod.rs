//! Everything that can stand in a scenario or in its results, by topic: what `list` shows.
//!
//! Forms, keys, defaults and examples come from the types that read a scenario, so that nothing is listed that
//! is not understood, and nothing is missing.

mod figures;
mod gallery;
mod notes;
mod outcomes;
mod path;
mod schema;

pub use gallery::{GALLERY, STARTER};
pub use notes::{Note, note};
pub use path::{Found, Place, find};
pub use schema::schema;

use crate::decode::{Choice, ChoiceDoc, Decode, FieldDoc, Shape};
use crate::dist::Distribution;
use crate::model::{Arrivals, Discipline, FaultSpec, OnAbandon};
use crate::policy::admission::{Codel, ConcurrencyLimit, RateLimit, RetryAfter};
use crate::policy::{
    Backoff, CircuitBreaker, Hedge, Heed, Jitter, RateLimiter, RetryBudget, Scope,
};

/// Something to look up.
#[derive(Clone, Debug)]
pub struct Topic {
    /// Its name, in the plural.
    pub name: &'static str,
    /// What it is about.
    pub meaning: &'static str,
    /// The key under which its forms stand in a scenario, as a path; empty for what stands in results.
    pub key: &'static str,
    entries: fn() -> Vec<Entry>,
}

impl Topic {
    /// What it lists.
    pub fn entries(&self) -> Vec<Entry> {
        (self.entries)()
    }
}

/// One form, key, outcome or figure.
#[derive(Clone, Debug)]
pub struct Entry {
    /// How it is written.
    pub name: String,
    /// What it means.
    pub meaning: String,
    /// Its settings.
    pub settings: Vec<FieldDoc>,
    /// How to write it, as TOML; empty for what is never written.
    pub example: String,
}

/// All topics.
pub const TOPICS: &[Topic] = &[
    topic(
        "arrivals",
        "When requests come.",
        "clients.arrivals",
        forms::<Arrivals>,
    ),
    topic(
        "distributions",
        "Random lengths of time, like service times.",
        "service.api.service_time",
        forms::<Distribution>,
    ),
    topic(
        "disciplines",
        "Which waiting attempt is served next.",
        "service.api.queue.discipline",
        forms::<Discipline>,
    ),
    topic(
        "abandonment",
        "What a service does with work that nobody waits for.",
        "service.api.on_abandon",
        forms::<OnAbandon>,
    ),
    topic(
        "rate-limits",
        "How fast a service lets attempts in.",
        "service.api.rate_limit",
        forms::<RateLimit>,
    ),
    topic(
        "concurrency-limits",
        "How many attempts a service lets in at once.",
        "service.api.concurrency_limit",
        forms::<ConcurrencyLimit>,
    ),
    topic(
        "codel",
        "When a service sheds what has waited too long.",
        "service.api.queue.codel",
        forms::<Codel>,
    ),
    topic(
        "retry-after",
        "When a service tells clients to come back.",
        "service.api.retry_after",
        forms::<RetryAfter>,
    ),
    topic("faults", "What goes wrong, and when.", "fault", || {
        keys::<FaultSpec>("[[fault]]")
    }),
    topic(
        "backoffs",
        "How long to wait before a retry.",
        "strategy.backoff",
        forms::<Backoff>,
    ),
    topic(
        "jitters",
        "Randomness laid on a delay d.",
        "strategy.backoff.exponential.jitter",
        forms::<Jitter>,
    ),
    topic(
        "budgets",
        "What bounds the retries of all requests together.",
        "strategy.budget",
        forms::<RetryBudget>,
    ),
    topic(
        "breakers",
        "When nothing is sent any more.",
        "strategy.breaker",
        forms::<CircuitBreaker>,
    ),
    topic(
        "limiters",
        "How fast clients send attempts.",
        "strategy.rate_limit",
        forms::<RateLimiter>,
    ),
    topic(
        "hints",
        "What clients make of a told wait.",
        "strategy.hints.heed",
        forms::<Heed>,
    ),
    topic(
        "hedges",
        "Another attempt before the first has failed.",
        "strategy.hedge",
        || keys::<Hedge>("hedge"),
    ),
    topic(
        "scopes",
        "Who shares one budget, breaker or limit.",
        "strategy.breaker.consecutive.scope",
        forms::<Scope>,
    ),
    topic(
        "outcomes",
        "How attempts end, as retry_on and never_retry name it.",
        "strategy.retry_on",
        outcomes::entries,
    ),
    topic(
        "metrics",
        "The figures of a strategy: columns of summary.csv, for checks and charts of sweeps.",
        "check.metric",
        figures::entries,
    ),
];

const fn topic(
    name: &'static str,
    meaning: &'static str,
    key: &'static str,
    entries: fn() -> Vec<Entry>,
) -> Topic {
    Topic {
        name,
        meaning,
        key,
        entries,
    }
}

/// The forms of a closed set.
fn forms<T: Choice + Decode>() -> Vec<Entry> {
    T::shape().choice().map(entries_of).unwrap_or_default()
}

/// The forms of a closed set, as entries.
pub(crate) fn entries_of(choice: &ChoiceDoc) -> Vec<Entry> {
    let entry = |(doc, settings): &(crate::decode::VariantDoc, Option<Shape>)| Entry {
        name: doc.name.into(),
        meaning: doc.meaning.trim().into(),
        settings: settings
            .as_ref()
            .map(|s| s.fields().to_vec())
            .unwrap_or_default(),
        example: doc.example.into(),
    };
    choice.forms.iter().map(entry).collect()
}

/// The keys of a table.
fn keys<T: Decode>(table: &str) -> Vec<Entry> {
    vec![Entry {
        name: table.into(),
        meaning: String::new(),
        settings: T::shape().fields().to_vec(),
        example: String::new(),
    }]
}
