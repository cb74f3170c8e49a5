//! The service: its workers, its queue, and what it does with work nobody waits for any more.

use super::failures::{self, FailureSpec, Failures, UnderLoad, check_sum};
use super::queue::{Discipline, JobQueue};
use crate::decode::{Check, Decode, Node, Reader, Shape, Value, Written};
use crate::dist::{Distribution, Sampler};
use crate::policy::RetryOn;
use crate::policy::admission::{
    Codel, CodelState, ConcurrencyLimit, LimitState, RateLimit, RateLimitState, RetryAfter,
};
use crate::{choice, record};
use serde::{Serialize, Serializer};
use std::path::Path;

/// A number that may be unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit(pub Option<u32>);

impl Limit {
    /// No limit.
    pub const NONE: Self = Self(None);

    /// The limit as a number; the largest one when there is none.
    pub fn get(self) -> u32 {
        self.0.unwrap_or(u32::MAX)
    }
}

impl Decode for Limit {
    fn shape() -> Shape {
        Shape::Either(
            Box::new(u32::shape()),
            Box::new(Shape::plain("\"unlimited\"", Written::Word(&["unlimited"]))),
        )
    }

    fn stand_in() -> Option<Self> {
        Some(Self(None))
    }

    fn how_to_add(key: &str) -> String {
        format!("add a number or \"unlimited\", like {key} = 60")
    }

    fn decode(node: &Node, reader: &mut Reader) -> Option<Self> {
        match &node.value {
            Value::Text(text) if text == "unlimited" => Some(Self(None)),
            Value::Integer(_) => u32::decode(node, reader).map(|n| Self(Some(n))),
            _ => {
                reader.mismatch(
                    node,
                    "a number or \"unlimited\"",
                    "write a number without quotes, or \"unlimited\"",
                );
                None
            }
        }
    }
}

impl Serialize for Limit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(n) => serializer.serialize_u32(n),
            None => serializer.serialize_str("unlimited"),
        }
    }
}

choice! {
    /// What the service does with an attempt whose client has given up.
    pub enum OnAbandon as "way to treat abandoned work" {
        /// It never learns of it: the work is done in full. This is what makes storms last.
        Continue = "continue", r#""continue""#;
        /// A waiting attempt whose client has given up is skipped when its turn comes.
        SkipWhenDequeued = "skip_when_dequeued", r#""skip_when_dequeued""#;
        /// An attempt that cannot end before its client gives up is dropped when its turn comes.
        DropIfLate = "drop_if_late", r#""drop_if_late""#;
        /// The client's giving up reaches the service at once: waiting or running work stops.
        Cancel = "cancel", r#""cancel""#;
        /// The deadline of the request travels with it: waiting or running work stops when it has passed. Attempt timeouts do not travel.
        StopAtDeadline = "stop_at_deadline", r#""stop_at_deadline""#;
    }
}

record! {
    /// The waiting places of the service.
    pub struct QueueSpec {
        /// Waiting places; attempts in service do not count. 0 refuses unless a worker is free.
        capacity: Limit = Limit::NONE,
        /// Which waiting attempt is served next.
        discipline: Discipline = Discipline::Fifo,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// When an attempt whose turn has come is shed because the queue is too slow; never when left out.
        codel: Option<Codel> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// Retries are shed while so many attempts wait: the rest of the places is for first tries. No difference when left out.
        retry_places: Option<u32> = None,
    }
}

impl QueueSpec {
    /// Places without end, first come, first served.
    fn usual() -> Self {
        Self {
            capacity: Limit::NONE,
            discipline: Discipline::Fifo,
            codel: None,
            retry_places: None,
        }
    }
}

impl Check for QueueSpec {
    fn check(&self, reader: &mut Reader) {
        if let (Some(places), Some(capacity)) = (self.retry_places, self.capacity.0)
            && places >= capacity
        {
            reader.warn_at(
                &["retry_places", "capacity"],
                "`retry_places` has no effect: it is no less than the capacity",
                "give a smaller number",
            );
        }
    }
}

record! {
    /// Delays between client and service.
    pub struct NetworkSpec {
        /// From the client to the service.
        request: Distribution = Distribution::ZERO,
        /// From the service back to the client.
        response: Distribution = Distribution::ZERO,
    }
}

impl Check for NetworkSpec {}

record! {
    /// A `[service.NAME]` of a scenario.
    pub struct ServiceSpec {
        /// Attempts served at the same time.
        workers: Limit,
        /// Where attempts wait for a worker.
        queue: QueueSpec = QueueSpec::usual(),
        /// How long a worker needs for an attempt.
        service_time: Distribution,
        /// Failure codes and their probabilities; they exclude each other.
        failures: Vec<FailureSpec> = Vec::new(),
        #[serde(skip_serializing_if = "Option::is_none")]
        /// How failures change with the load.
        failures_under_load: Option<UnderLoad> = None,
        /// Whether an attempt that fails takes service time; otherwise it is answered on arrival.
        failures_take_time: bool = true,
        /// What happens to attempts whose client has given up.
        on_abandon: OnAbandon = OnAbandon::Continue,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The rate at which attempts are let in; the others are answered with code 429 at once.
        rate_limit: Option<RateLimit> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// How many attempts may be inside, waiting or in service; the others are shed at once.
        concurrency_limit: Option<ConcurrencyLimit> = None,
        #[serde(skip_serializing_if = "Option::is_none")]
        /// The wait that clients are told when they are refused.
        retry_after: Option<RetryAfter> = None,
        #[serde(skip_serializing_if = "RetryOn::is_refusal")]
        /// The outcomes that come with it.
        retry_after_on: RetryOn = RetryOn::refusals(),
        /// Delays between client and service.
        network: NetworkSpec = NetworkSpec { request: Distribution::ZERO, response: Distribution::ZERO },
    }
}

impl Check for ServiceSpec {
    fn check(&self, reader: &mut Reader) {
        if self.workers.0 == Some(0) {
            reader.error_at(
                &["workers"],
                "a service without workers never answers",
                "give at least 1 worker, or \"unlimited\"",
            );
        }
        check_sum(&self.failures, "failures", reader);
        if self.workers.0.is_none() && self.failures_under_load.is_some() {
            reader.error_at(
                &["failures_under_load", "workers"],
                "the load is counted per worker, and workers are unlimited",
                "limit the workers",
            );
        }
        if matches!(self.retry_after, Some(RetryAfter::Free(_))) && self.rate_limit.is_none() {
            reader.warn_at(
                &["retry_after", "rate_limit"],
                "clients are told to come back at once: without a `rate_limit` there is nothing that frees up",
                "give a `rate_limit`, or tell another wait",
            );
        }
        if self.retry_after.is_none() && self.retry_after_on != RetryOn::refusals() {
            reader.warn_at(
                &["retry_after_on", "retry_after"],
                "`retry_after_on` has no effect: no wait is told",
                "give a `retry_after`, or remove it",
            );
        }
        if self.workers.0.is_none() && self.queue.capacity.0.is_some() {
            reader.warn_at(
                &["queue", "workers"],
                "the queue has no effect: workers are unlimited",
                "limit the workers, or leave the queue out",
            );
        }
    }
}

/// The settings of a service, ready to run.
#[derive(Clone, Debug)]
pub struct ServicePlan {
    /// Its name.
    pub name: String,
    /// Attempts served at the same time; `u32::MAX` is unlimited.
    pub workers: u32,
    /// Waiting places; `u32::MAX` is unlimited.
    pub queue_capacity: u32,
    /// Which waiting attempt is served next.
    pub discipline: Discipline,
    /// Service times.
    pub service_time: Sampler,
    /// How attempts fail by themselves.
    pub failures: Failures,
    /// Whether failed attempts take service time.
    pub failures_take_time: bool,
    /// What happens to attempts whose client has given up.
    pub on_abandon: OnAbandon,
    /// What sheds attempts whose turn has come.
    pub codel: Option<Codel>,
    /// Waiting attempts from which on retries are shed; `u32::MAX` is never.
    pub retry_places: u32,
    /// What limits the rate of attempts.
    pub rate_limit: Option<RateLimit>,
    /// What limits how many are inside.
    pub concurrency_limit: Option<ConcurrencyLimit>,
    /// The wait that clients are told, and with which outcomes.
    pub retry_after: Option<(RetryAfter, RetryOn)>,
    /// Delay to the service; `None` is zero.
    pub request_delay: Option<Sampler>,
    /// Delay back; `None` is zero.
    pub response_delay: Option<Sampler>,
}

impl ServicePlan {
    /// Whether the service protects itself, beyond the places of its queue.
    pub fn sheds(&self) -> bool {
        self.codel.is_some()
            || self.retry_places < u32::MAX
            || self.rate_limit.is_some()
            || self.concurrency_limit.is_some()
    }
}

impl ServiceSpec {
    /// Makes the settings ready. Files are looked for below `base`.
    ///
    /// # Errors
    /// When a file of an empirical distribution cannot be used.
    pub fn assemble(&self, name: &str, base: &Path) -> Result<ServicePlan, String> {
        let leg = |distribution: &Distribution| -> Result<Option<Sampler>, String> {
            (*distribution != Distribution::ZERO)
                .then(|| distribution.sampler(base))
                .transpose()
        };
        Ok(ServicePlan {
            name: name.into(),
            workers: self.workers.get(),
            queue_capacity: self.queue.capacity.get(),
            discipline: self.queue.discipline.clone(),
            service_time: self.service_time.sampler(base)?,
            failures: Failures::new(&self.failures, self.failures_under_load.as_ref()),
            failures_take_time: self.failures_take_time,
            on_abandon: self.on_abandon.clone(),
            codel: self.queue.codel,
            retry_places: self.queue.retry_places.unwrap_or(u32::MAX),
            rate_limit: self.rate_limit,
            concurrency_limit: self.concurrency_limit,
            retry_after: self
                .retry_after
                .map(|told| (told, self.retry_after_on.clone())),
            request_delay: leg(&self.network.request)?,
            response_delay: leg(&self.network.response)?,
        })
    }

    /// Probability of an attempt failing by itself, while the load does not change it.
    pub fn failure_probability(&self) -> f64 {
        failures::total(&self.failures)
    }
}

/// The state of the service.
#[derive(Debug)]
pub(super) struct Service {
    /// Attempts in service.
    pub(super) busy: u32,
    /// Attempts waiting.
    pub(super) queue: JobQueue,
    /// Attempts that have arrived, for faults that count them.
    pub(super) arrived: u64,
    /// Most attempts waiting or in service at once.
    pub(super) most_inside: u64,
    /// What its limits remember.
    pub(super) rate: Option<RateLimitState>,
    pub(super) limit: Option<LimitState>,
    pub(super) codel: Option<CodelState>,
}

impl Service {
    pub(super) fn new(plan: &ServicePlan) -> Self {
        Self {
            busy: 0,
            queue: JobQueue::new(plan.discipline.clone()),
            arrived: 0,
            most_inside: 0,
            rate: plan.rate_limit.as_ref().map(RateLimit::fresh),
            limit: plan.concurrency_limit.as_ref().map(ConcurrencyLimit::fresh),
            codel: plan.codel.as_ref().map(Codel::fresh),
        }
    }
}

impl Service {
    /// Notes how many attempts wait or are in service, after one more has come in.
    #[inline]
    pub(super) fn note_inside(&mut self) {
        self.most_inside = self
            .most_inside
            .max(u64::from(self.busy) + u64::from(self.queue.len()));
    }
}
