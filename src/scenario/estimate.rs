//! What a run will cost, before it runs.
//!
//! A slip of a unit makes a run that ends next year or fills the memory of the machine. Both can be seen
//! beforehand: from the arrivals, how long requests stay, and what is kept for each. The numbers are rough and
//! rather too high; they are compared with limits that no useful run comes near.

use super::load::Scenario;
use super::validate::{SURE, group_path, never_waits, repeats_at_once};
use crate::decode::{Problem, Severity};
use crate::model::{FaultSpec, GroupPlan, Outage, PoolScope, ServicePlan, Strategy};
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
    /// Memory of its result, in bytes.
    pub result_bytes: f64,
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
        }
        let run = &self.scenario.spec.run;
        estimate.result_bytes =
            RESULT_BYTES + run.bins() as f64 * BIN_BYTES + self.most_attempts() * ATTEMPT_BYTES;
        estimate.world_bytes += estimate.result_bytes;
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

    fn check_attempts(
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
            let remedy =
                "lower max_attempts, use a longer timeout or backoff, or raise `run.max_requests`";
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

    /// Seconds of the run, without its drain, in which some fault is as `wanted`.
    fn seconds_of(&self, wanted: impl Fn(&FaultSpec) -> bool) -> f64 {
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
    fn refusing_for(&self) -> f64 {
        let at_once = !self.service.failures_take_time || self.service.service_time.mean() == 0.0;
        let own = self
            .service
            .failures
            .last()
            .map_or(0.0, |&(upper, _)| upper);
        if at_once && own > SURE {
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

    /// The highest number of attempts of one request that is likely to be counted.
    fn most_attempts(&self) -> f64 {
        let limit = |strategy: &Strategy| match strategy.rule.max_attempts {
            MaxAttempts::AtMost(most) => f64::from(most),
            MaxAttempts::Unlimited => 1.0,
        };
        self.strategies.iter().map(limit).fold(1.0, f64::max)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_easy_to_compare() {
        assert_eq!(count(96_000.0), "96000");
        assert_eq!(count(2e8), "200 million");
        assert_eq!(count(4.2e10), "42 billion");
        assert_eq!(count(1.25e12), "1 trillion");
        assert_eq!(memory(MOST_MEMORY), "8 GiB");
        assert_eq!(memory(5e8), "477 MiB");
    }

    const USUAL: &str = r#"
        run.duration = "60s"
        clients = { count = 100, arrivals.poisson = { rate = "50/s" } }
        service.api = { workers = 10, service_time = "50ms" }
        fault = [{ at = "10s", lasts = "5s", outage = "refuse" }]
        strategy = [{ name = "a", max_attempts = 3 }]
    "#;

    fn estimate(settings: &[(&str, &str)]) -> Result<Estimate, String> {
        let text = settings.iter().fold(USUAL.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        let home = std::path::Path::new(".");
        let scenario = Scenario::parse("a", &text, home).expect("a sound scenario");
        let plan = crate::scenario::Plan::assemble(&scenario);
        plan.map(|plan| plan.estimate)
            .map_err(|problems| problems[0].reason.clone())
    }

    #[test]
    fn a_usual_run_is_cheap() {
        let estimate = estimate(&[]).unwrap();
        assert_eq!(estimate.requests, 3_000.0);
        assert!(estimate.world_bytes < 3e6, "{estimate:?}");
    }

    #[test]
    fn closed_loops_cost_what_their_rounds_take() {
        const RATE: &str = "poisson = { rate = \"50/s\" }";
        let closed = |think: &str, more: &[(&str, &str)]| {
            let arrivals = format!("closed_loop = {{ think = \"{think}\" }}");
            estimate(&[&[(RATE, arrivals.as_str())], more].concat())
        };
        let no_fault = ("outage = \"refuse\"", "latency = \"1ms\"");
        // 10 workers finish 200 a second; with a second of pause, 100 clients ask 95 a second.
        assert_eq!(closed("0s", &[no_fault]).unwrap().requests, 12_100.0);
        let paused = closed("1s", &[no_fault]).unwrap().requests;
        assert!((paused - 5_814.0).abs() < 1.0, "{paused}");
        // The same requests are refused at once, or take no time.
        for more in [
            &[][..],
            &[no_fault, ("\"50ms\"", "\"zero\"")],
            &[
                no_fault,
                ("workers = 10", "workers = 10, queue = { capacity = 3 }"),
            ],
            &[("outage = \"refuse\"", "slow_down = 0")],
        ] {
            assert!(
                closed("0s", more).unwrap_err().contains("stop the clock"),
                "{more:?}"
            );
        }
    }

    #[test]
    fn areas_that_do_not_fit_64_bits_are_refused() {
        let year = "\"366d\", replications = 1000";
        let text = USUAL.replace(
            "run.duration = \"60s\"",
            &format!("run = {{ duration = {year} }}"),
        );
        assert!(text.contains("366d"));
        let text = text
            .replace("50/s", "5/s")
            .replace("count = 100", "count = 1000000");
        let closed = text.replace(
            "poisson = { rate = \"5/s\" }",
            "closed_loop.think = \"100d\"",
        );
        let scenario = Scenario::parse("a", &closed, std::path::Path::new(".")).expect("sound");
        let problems = crate::scenario::Plan::assemble(&scenario).expect_err("too large");
        assert_eq!(problems[0].path, "run.bin", "{problems:?}");
    }

    #[test]
    fn attempts_without_end_are_refused() {
        for (settings, part) in [
            (&[("= 3", "= 1000000")][..], "250 million"),
            (
                &[("= 3", "= 1000000, attempt_timeout = \"1us\"")],
                "more than the limit",
            ),
            (
                &[
                    ("50/s", "300/s"),
                    (
                        "= 3",
                        "= \"unlimited\", attempt_timeout = \"1ms\", backoff.fixed.delay = \"1ms\"",
                    ),
                ],
                "more than the limit",
            ),
            (&[("50/s", "5000000/s")], "more than the limit"),
            (&[("50/s", "1000000/s")], "GiB of memory"),
        ] {
            let reason = estimate(settings).expect_err(part);
            assert!(reason.contains(part), "{settings:?}: {reason}");
        }
        let usual = "= \"unlimited\", attempt_timeout = \"1s\", backoff.fixed.delay = \"1s\"";
        assert!(estimate(&[("= 3", usual)]).is_ok());
    }
}
