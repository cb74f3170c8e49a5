//! Attempts that are certain to fail, and how many of them a strategy makes.

use super::{Estimate, JOB_BYTES, MOST_AT_ONCE, MOST_MEMORY, Parts, count, memory};
use crate::decode::Problem;
use crate::model::{FaultSpec, Outage, Strategy};
use crate::policy::MaxAttempts;
use crate::scenario::strategies::{SURE, never_waits, repeats_at_once};
use crate::time::SimTime;

impl Parts<'_> {
    pub(super) fn check_attempts(
        &self,
        index: usize,
        strategy: &Strategy,
        estimate: &Estimate,
        problems: &mut Vec<Problem>,
    ) {
        let limit = self.scenario.spec.run.max_requests as f64;
        let refused = self.refused_attempts(index, strategy, estimate.requests);
        let herd = self.groups.iter().any(|group| group.arrivals.is_burst());
        let at_once = herd && never_waits(&strategy.rule.backoff) && self.network() == 0.0;
        let overloaded = self.groups.iter().any(|group| {
            group.arrivals.pause().is_none() && self.backlog(self.requests_of(group)) > 0.0
        });
        let unanswered = self.unanswered_attempts(strategy, estimate.requests, overloaded);
        let limit = if at_once {
            limit.min(MOST_AT_ONCE)
        } else {
            limit
        };
        let attempts = refused + unanswered;
        let path = format!("strategy[{index}].max_attempts");
        if attempts > limit {
            let reason = format!(
                "while attempts fail, this strategy would make about {} of them in one replication, more than the limit of {}",
                count(attempts),
                count(limit)
            );
            let remedy = if limit == MOST_AT_ONCE {
                // So many attempts at one instant stop the clock, whatever is allowed.
                "lower max_attempts, or add a backoff"
            } else {
                "lower max_attempts, use a longer timeout or backoff, or raise `run.max_requests`"
            };
            problems.push(self.problem(&path, reason, remedy));
            return;
        }
        // Each leaves work behind that nobody waits for.
        let bytes = estimate.world_bytes + unanswered * JOB_BYTES;
        if self.service.queue_capacity == u32::MAX && bytes > MOST_MEMORY && problems.is_empty() {
            let reason = format!(
                "while nobody is answered, about {} attempts would wait at the service and need about {} of memory",
                count(unanswered),
                memory(bytes)
            );
            let remedy = "limit the queue, lower max_attempts, or use a longer timeout or backoff";
            problems.push(self.problem(&path, reason, remedy));
        }
    }

    /// Seconds of the run, without its drain, in which some fault is as `wanted`.
    pub(super) fn seconds_of(&self, wanted: impl Fn(&FaultSpec) -> bool) -> f64 {
        let end = SimTime::ZERO + self.scenario.spec.run.duration;
        let faults = self
            .scenario
            .spec
            .fault
            .iter()
            .filter(|fault| wanted(fault));
        let spans = faults.flat_map(FaultSpec::spans);
        let inside = spans.filter(|&(from, _)| from < end);
        let total: f64 = inside
            .map(|(from, to)| (to.min(end) - from).as_secs_f64())
            .sum();
        total.min(end.as_secs_f64())
    }

    /// Seconds in which attempts are certain to fail at once.
    pub(super) fn refusing_for(&self) -> f64 {
        let at_once = !self.service.failures_take_time || self.service.service_time.mean() == 0.0;
        if at_once && self.service.failures.worst() > SURE {
            return self.scenario.spec.run.duration.as_secs_f64();
        }
        self.seconds_of(|fault| {
            fault.outage == Some(Outage::Refuse) || at_once && fault.surely_fails(SURE)
        })
    }

    /// Seconds in which nobody is answered, for certain or because the queue has grown too long.
    fn silent_for(&self, strategy: &Strategy, overloaded: bool) -> f64 {
        let Some(timeout) = &strategy.attempt_timeout else {
            return 0.0;
        };
        let service = &self.service.service_time;
        let answered = match service.constant() {
            Some(time) => timeout.constant().is_none_or(|timeout| time <= timeout),
            None => timeout.mean() > service.mean() / 1e4,
        };
        if overloaded || !answered {
            return self.scenario.spec.run.duration.as_secs_f64();
        }
        self.seconds_of(|fault| matches!(fault.outage, Some(Outage::Hang | Outage::Stall)))
    }

    /// Attempts of a request that are certain to fail for so many seconds, each after `each` seconds. Infinite
    /// when attempts without a limit take no time.
    fn attempts_within(&self, strategy: &Strategy, seconds: f64, each: f64) -> f64 {
        if seconds == 0.0 {
            return 0.0;
        }
        let most = match strategy.rule.max_attempts {
            MaxAttempts::AtMost(most) => f64::from(most),
            MaxAttempts::Unlimited => f64::INFINITY,
        };
        let (least, longest) = strategy.rule.backoff.bounds(u64::MAX);
        let longest = longest.min(self.scenario.spec.run.duration);
        let wait = (least.as_secs_f64() + longest.as_secs_f64()) / 2.0;
        let patience = strategy
            .deadline
            .map_or(seconds, |d| d.as_secs_f64().min(seconds));
        (1.0 + patience / (wait + each)).min(most)
    }

    /// Attempts that are made because attempts are certain to fail at once.
    fn refused_attempts(&self, index: usize, strategy: &Strategy, requests: f64) -> f64 {
        let spec = &self.scenario.spec;
        let seconds = spec.run.duration.as_secs_f64();
        let written = &spec.strategy[index];
        let service = spec.service.0.first().map(|(_, service)| service);
        let at_once = never_waits(&strategy.rule.backoff)
            && service.is_some_and(|service| repeats_at_once(spec, service, written));
        // A full queue stays full at the instant: whoever meets it spends all attempts.
        let out = if at_once && self.service.queue_capacity < u32::MAX {
            seconds
        } else {
            self.refusing_for()
        };
        requests * out / seconds * self.attempts_within(strategy, out, self.network())
    }

    /// Attempts that are made because nobody is answered in time.
    fn unanswered_attempts(&self, strategy: &Strategy, requests: f64, overloaded: bool) -> f64 {
        let seconds = self.scenario.spec.run.duration.as_secs_f64();
        let silent = self.silent_for(strategy, overloaded);
        let timeout = strategy
            .attempt_timeout
            .as_ref()
            .map_or(0.0, |timeout| timeout.mean());
        // Requests begin all the time, so on average half of it is left.
        requests * silent / seconds * self.attempts_within(strategy, silent / 2.0, timeout)
    }
}
