//! What a run will cost, before it runs.
//!
//! A slip of a unit makes a run that ends next year or fills the memory of the machine. Both can be seen
//! beforehand: from the arrivals, how long requests stay, and what is kept for each. The numbers are rough and
//! rather too high; they are compared with limits that no useful run comes near.

mod attempts;
#[cfg(test)]
mod tests;

use super::load::Scenario;
use super::validate::group_path;
use crate::decode::{Problem, Severity};
use crate::model::{FaultSpec, GroupPlan, PoolScope, ServicePlan, Strategy};
use crate::policy::MaxAttempts;
use crate::time::SimTime;

/// Memory that all worlds at once may take, in bytes.
pub const MOST_MEMORY: f64 = 8.0 * (1u64 << 30) as f64;
/// A request in flight with its job, its events and the room that vectors leave.
const REQUEST_BYTES: f64 = 250.0;
/// A job that nobody waits for any more.
const JOB_BYTES: f64 = 150.0;
/// Events of a request: it arrives, is served, is answered, and its timeout is over.
const EVENTS: f64 = 4.0;
/// A client that has events of its own.
const CLIENT_EVENT_BYTES: f64 = 64.0;
/// The histograms and counters of one result.
const RESULT_BYTES: f64 = 500_000.0;
/// The event loop takes a few more attempts than this at one instant for a standstill.
const MOST_AT_ONCE: f64 = 4e7;
/// Counters of one bin.
const BIN_BYTES: f64 = 64.0;
/// Counters of one number of attempts.
const ATTEMPT_BYTES: f64 = 48.0;

/// What one replication of a scenario needs, about.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Requests.
    pub requests: f64,
    /// Requests in flight at once.
    pub in_flight: f64,
    /// Memory of a world while it runs, in bytes.
    pub world_bytes: f64,
    /// The part of it that budgets, breakers and other rules remember.
    pub guard_bytes: f64,
    /// Memory of its result, in bytes.
    pub result_bytes: f64,
}

/// Results that wait for their turn, for each thread.
const WAITING: f64 = 16.0;

impl Estimate {
    /// Memory that a thread needs for a world and the results that wait for their turn, in bytes.
    pub fn bytes_at_once(&self) -> f64 {
        self.world_bytes + WAITING * self.result_bytes
    }
}

/// The parts of a plan that cost.
pub(super) struct Parts<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) groups: &'a [GroupPlan],
    pub(super) service: &'a ServicePlan,
    pub(super) strategies: &'a [Strategy],
}

impl Parts<'_> {
    /// The estimate, or everything that is beyond the limits.
    pub(super) fn estimate(&self) -> Result<Estimate, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut estimate = Estimate::default();
        for (i, group) in self.groups.iter().enumerate() {
            let requests = self.requests_of(group);
            if requests.is_infinite() {
                problems.push(self.standstill(i));
                continue;
            }
            let in_flight = self.in_flight(group, requests);
            estimate.requests += requests;
            estimate.in_flight += in_flight;
            estimate.world_bytes += in_flight * REQUEST_BYTES + self.client_bytes(group);
            estimate.guard_bytes += self.guard_bytes(group, in_flight);
        }
        let run = &self.scenario.spec.run;
        estimate.result_bytes =
            RESULT_BYTES + run.bins() as f64 * BIN_BYTES + self.most_attempts() * ATTEMPT_BYTES;
        estimate.world_bytes += estimate.guard_bytes + estimate.result_bytes;
        if problems.is_empty() {
            self.check(&estimate, &mut problems);
        }
        if problems.is_empty() {
            Ok(estimate)
        } else {
            Err(problems)
        }
    }

    fn check(&self, estimate: &Estimate, problems: &mut Vec<Problem>) {
        let run = &self.scenario.spec.run;
        let limit = run.max_requests as f64;
        let bytes = estimate.world_bytes;
        if estimate.requests > limit {
            let reason = format!(
                "one replication would have about {} requests, more than the limit of {}; it would take about {} events and {} of memory",
                count(estimate.requests),
                count(limit),
                count(estimate.requests * EVENTS),
                memory(bytes)
            );
            let remedy = "shorten the run, lower the rate or the number of clients, or raise `run.max_requests`";
            problems.push(self.problem("run.max_requests", reason, remedy));
        } else if bytes > MOST_MEMORY && estimate.guard_bytes > bytes / 2.0 {
            let reason = format!(
                "one replication would need about {} of memory, more than {}: {} of it for what budgets, breakers and other rules of a strategy remember",
                memory(bytes),
                memory(MOST_MEMORY),
                memory(estimate.guard_bytes)
            );
            let remedy =
                "give these rules a wider `scope` or a smaller window, or use fewer clients";
            problems.push(self.problem("strategy", reason, remedy));
        } else if bytes > MOST_MEMORY {
            let reason = format!(
                "one replication would need about {} of memory, more than {}: up to {} requests would be in flight at once",
                memory(bytes),
                memory(MOST_MEMORY),
                count(estimate.in_flight)
            );
            let remedy = "use fewer clients, a lower rate, a limited queue, or more workers";
            problems.push(self.problem("clients", reason, remedy));
        }
        // Areas under levels are added up over replications in 64 bits.
        let area =
            run.bin_width().as_nanos() as f64 * estimate.in_flight * f64::from(run.replications);
        if area > i64::MAX as f64 / 4.0 && problems.is_empty() {
            let reason = format!(
                "a bin of {} with {} requests in flight is too large to add up",
                run.bin_width(),
                count(estimate.in_flight)
            );
            problems.push(self.problem("run.bin", reason, "set `run.bin` to a shorter width"));
        }
        for (i, strategy) in self.strategies.iter().enumerate() {
            self.check_attempts(i, strategy, estimate, problems);
        }
    }

    /// Requests of a group; infinite when they would stop the clock.
    fn requests_of(&self, group: &GroupPlan) -> f64 {
        let end = SimTime::ZERO + self.scenario.spec.run.duration;
        let open = || {
            group
                .arrivals
                .expected_requests(u64::from(group.count), end)
        };
        let Some((pause, thinned)) = group.arrivals.pause() else {
            return open();
        };
        if thinned {
            return open();
        }
        let (seconds, clients) = (end.as_secs_f64(), f64::from(group.count));
        let pause = pause / group.arrivals.mean_surge(end).max(1e-9);
        let quick = pause + self.network();
        let usual = quick + self.service.service_time.mean();
        let seats = f64::from(self.service.workers) + f64::from(self.service.queue_capacity);
        let all_clients: f64 = self.groups.iter().map(|group| f64::from(group.count)).sum();
        let patient = |s: &Strategy| s.attempt_timeout.is_none() && s.deadline.is_none();
        let refuses = self.service.queue_capacity < u32::MAX
            && self.service.workers < u32::MAX
            && (all_clients > seats || !self.strategies.iter().all(patient));
        let no_service = self.seconds_of(|fault| fault.slow_down == Some(0.0));
        let out = if refuses {
            seconds
        } else {
            (self.refusing_for() + no_service).min(seconds)
        };
        let rounds = |span: f64, cycle: f64| if span > 0.0 { span / cycle } else { 0.0 };
        let served = rounds(seconds - out, usual) * clients;
        let served = match self.service.service_time.mean() {
            mean if mean > 0.0 && self.service.workers < u32::MAX => {
                served.min((seconds - out) * f64::from(self.service.workers) / mean)
            }
            _ => served,
        };
        clients + served + rounds(out, quick) * clients
    }

    /// Seconds on the way to the service and back.
    fn network(&self) -> f64 {
        let mean = |leg: &Option<crate::dist::Sampler>| leg.as_ref().map_or(0.0, |leg| leg.mean());
        mean(&self.service.request_delay) + mean(&self.service.response_delay)
    }

    /// Requests of a group in flight at once.
    fn in_flight(&self, group: &GroupPlan, requests: f64) -> f64 {
        if group.arrivals.pause().is_some() {
            return f64::from(group.count).min(requests);
        }
        if group.arrivals.is_burst() {
            return requests;
        }
        let run = &self.scenario.spec.run;
        let seconds = run.duration.as_secs_f64();
        let mean = self.service.service_time.mean();
        let stay = 2.0 * (mean + self.network()) / seconds;
        let out: f64 = self
            .scenario
            .spec
            .fault
            .iter()
            .filter(|fault| fault.outage.is_some())
            .flat_map(FaultSpec::spans)
            .map(|(from, to)| (to - from).as_secs_f64() / seconds)
            .sum();
        (requests * (stay + out)).min(requests) + self.backlog(requests)
    }

    /// Requests that the service cannot finish until the end.
    fn backlog(&self, requests: f64) -> f64 {
        let mean = self.service.service_time.mean();
        let seconds = self.scenario.spec.run.duration.as_secs_f64();
        let queue_is_open =
            self.service.queue_capacity == u32::MAX && self.service.workers < u32::MAX;
        if queue_is_open && mean > 0.0 {
            (requests - f64::from(self.service.workers) * seconds / mean).max(0.0)
        } else {
            0.0
        }
    }

    /// What the clients of a group keep between requests.
    fn client_bytes(&self, group: &GroupPlan) -> f64 {
        let mut each = 16.0;
        if group.arrivals.pause().is_some_and(|(_, thinned)| !thinned) {
            each += CLIENT_EVENT_BYTES;
        }
        let pool = self
            .scenario
            .spec
            .clients
            .0
            .iter()
            .find(|spec| spec.name == group.name);
        let own_pool = |pool: &crate::model::PoolSpec| pool.per == PoolScope::Client;
        if pool.is_some_and(|spec| spec.pool.as_ref().is_some_and(own_pool)) {
            each += 16.0;
        }
        if self
            .strategies
            .iter()
            .any(|s| s.rule.backoff.uses_client_state())
        {
            each += 16.0;
        }
        each * f64::from(group.count)
    }

    /// What budgets and breakers of a group remember, under the strategy that needs most.
    fn guard_bytes(&self, group: &GroupPlan, in_flight: f64) -> f64 {
        let guards = self.strategies.iter().map(|strategy| &strategy.rule.guards);
        let bytes = guards.map(|guards| guards.bytes(group.count as usize, in_flight));
        bytes.fold(0.0, f64::max)
    }

    /// The highest number of attempts of one request that is likely to be counted.
    fn most_attempts(&self) -> f64 {
        let limit = |strategy: &Strategy| match strategy.rule.max_attempts {
            MaxAttempts::AtMost(most) => f64::from(most),
            MaxAttempts::Unlimited => 1.0,
        };
        self.strategies.iter().map(limit).fold(1.0, f64::max)
    }

    fn standstill(&self, group: usize) -> Problem {
        let path = format!("{}.arrivals", group_path(&self.scenario.spec, group));
        let reason =
            "clients that pause for no time and are answered in no time would stop the clock";
        let remedy = "give `think` a time, or the service's network a delay";
        self.problem(&path, reason.into(), remedy)
    }

    fn problem(&self, path: &str, reason: String, remedy: &str) -> Problem {
        Problem {
            severity: Severity::Error,
            place: self.scenario.document.place_of(path),
            path: path.into(),
            reason,
            remedy: remedy.into(),
        }
    }
}

/// A large number in words that are easy to compare.
fn count(number: f64) -> String {
    match number {
        n if n < 1e6 => format!("{n:.0}"),
        n if n < 1e9 => format!("{:.0} million", n / 1e6),
        n if n < 1e12 => format!("{:.0} billion", n / 1e9),
        n if n < 1e15 => format!("{:.0} trillion", n / 1e12),
        n => format!("{n:.0e}"),
    }
}

fn memory(bytes: f64) -> String {
    let gib = bytes / (1u64 << 30) as f64;
    match gib {
        g if g < 1.0 => format!("{:.0} MiB", g * 1024.0),
        g if g < 1e4 => format!("{g:.0} GiB"),
        g => format!("{} GiB", count(g)),
    }
}
