//! Groups of clients: how many, when they send requests, and how many requests each may have in flight.

use super::arrival::Arrivals;
use super::arrival_plan::ArrivalPlan;
use crate::decode::{Check, Decode, Node, Reader, Shape, Value, Written};
use crate::time::SimDuration;
use crate::{choice, record};
use serde::{Serialize, Serializer};

/// The most clients of a group.
pub const MOST_CLIENTS: u64 = 10_000_000;

choice! {
    /// Who shares a pool.
    pub enum PoolScope as "pool scope" {
        /// Each client has its own.
        Client = "client", r#""client""#;
        /// All clients of the group share one.
        Group = "group", r#""group""#;
    }
}

/// How long a request may wait for a place; for ever when there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience(pub Option<SimDuration>);

impl Decode for Patience {
    fn shape() -> Shape {
        Shape::Either(
            Box::new(SimDuration::shape()),
            Box::new(Shape::plain("\"unlimited\"", Written::Word(&["unlimited"]))),
        )
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "unlimited" => Some(Self(None)),
            _ => SimDuration::decode(node, reader).map(|wait| Self(Some(wait))),
        }
    }
}

impl Serialize for Patience {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(wait) => wait.serialize(serializer),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

record! {
    /// A limit on requests in flight, held from the first attempt to the end of the request.
    pub struct PoolSpec {
        /// Requests in flight at the same time.
        size: u32,
        /// Who shares it.
        per: PoolScope = PoolScope::Client,
        /// How long a request waits for a place; after that it has failed without an attempt.
        wait: Patience = Patience(None),
    }
}

impl Check for PoolSpec {
    fn check(&self, reader: &mut Reader) {
        if self.size == 0 {
            reader.error_at(
                &["size"],
                "a pool without places lets no request start",
                "give `size` a number of at least 1",
            );
        }
    }
}

record! {
    /// `[clients]`, or one of several `[[clients]]`.
    pub struct ClientsSpec {
        /// The group's name.
        name: String = "clients".into(),
        /// How many clients.
        count: u64,
        /// When their requests arrive.
        arrivals: Arrivals,
        /// The name of a strategy that this group always uses; otherwise it uses the one being compared.
        strategy: Option<String> = None,
        /// A limit on requests in flight.
        pool: Option<PoolSpec> = None,
    }
}

/// Notes that the name of the record being checked is empty, long, or not fit to print.
pub(crate) fn check_name(name: &str, what: &str, reader: &mut Reader) {
    if name.trim().is_empty() || name.chars().count() > 100 {
        let reason = format!("{what} has 1 to 100 characters");
        reader.error_at(&["name"], reason, "give it a short name");
    }
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if name.chars().any(|c| c.is_control() || turns(c)) {
        let reason = format!("{what} cannot hold control characters");
        reader.error_at(&["name"], reason, "use letters, digits and spaces");
    }
}

impl Check for ClientsSpec {
    fn check(&self, reader: &mut Reader) {
        check_name(&self.name, "a client group's name", reader);
        if self.count == 0 || self.count > MOST_CLIENTS {
            let reason = match self.count {
                0 => "without clients nothing happens".to_owned(),
                count => format!("{count} clients are more than can be simulated"),
            };
            reader.error_at(
                &["count"],
                reason,
                format!("give a number from 1 to {MOST_CLIENTS}"),
            );
        }
        if self.pool.is_some() && matches!(self.arrivals, Arrivals::ClosedLoop(_)) {
            let pool = self
                .pool
                .as_ref()
                .is_some_and(|pool| pool.per == PoolScope::Client);
            if pool {
                reader.warn_at(
                    &["pool", "arrivals"],
                    "the pool has no effect: a closed loop has one request a client",
                    "use per = \"group\"",
                );
            }
        }
    }
}

/// A client group, ready to run.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// Its name.
    pub name: String,
    /// How many clients.
    pub count: u32,
    /// When requests arrive.
    pub arrivals: ArrivalPlan,
    /// The pool's size, whether clients have their own, and how long to wait for a place.
    pub pool: Option<(u32, bool, Option<SimDuration>)>,
}

impl GroupPlan {
    /// A group from its spec and its assembled arrivals.
    pub fn new(spec: &ClientsSpec, arrivals: ArrivalPlan) -> Self {
        let pool = spec
            .pool
            .as_ref()
            .map(|pool| (pool.size, pool.per == PoolScope::Client, pool.wait.0));
        Self {
            name: spec.name.clone(),
            count: spec.count as u32,
            arrivals,
            pool,
        }
    }
}
