//! All counts of one run.

use super::{AttemptOutcome, FailureReason, Latency, Timeline};
use crate::time::{SimDuration, SimTime};

/// Number, sum and sum of squares of lengths of time, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moments {
    /// How many.
    pub count: u64,
    /// Their sum, ns.
    pub sum: u128,
    /// The sum of their squares, ns².
    pub squares: u128,
}

impl Moments {
    /// Counts one.
    #[inline]
    pub fn record(&mut self, duration: SimDuration) {
        self.count += 1;
        if duration == SimDuration::ZERO {
            return;
        }
        let ns = u128::from(duration.as_nanos());
        self.sum += ns;
        self.squares = self.squares.saturating_add(ns * ns);
    }

    /// Adds others.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The mean in seconds; zero when nothing was counted.
    pub fn mean_s(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64 / 1e9
    }

    /// The standard deviation in seconds; zero when nothing was counted.
    pub fn sd_s(&self) -> f64 {
        let count = self.count.max(1);
        let n = u128::from(count);
        // In whole numbers values that are all alike have no spread; floating point would leave some.
        let spread = match (self.squares.checked_mul(n), self.sum.checked_mul(self.sum)) {
            (Some(squares), Some(square)) => squares.saturating_sub(square) as f64,
            _ => {
                let sum = self.sum as f64;
                (self.squares as f64 * count as f64 - sum * sum).max(0.0)
            }
        };
        spread.sqrt() / count as f64 / 1e9
    }
}

/// Delays before the n-th retry.
pub type DelaySum = Moments;

/// Delays are kept apart for this many retries.
const DELAYS_KEPT: usize = 64;

/// All counts of one run. Requests are those that started inside the measuring window, and every other count
/// but the timeline is of them alone.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Requests that arrived.
    pub requests: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Requests that failed, by [`FailureReason`].
    pub failed: [u64; FailureReason::ALL.len()],
    /// Requests that are dead letters at the end, by the [`FailureReason`] that made them so.
    pub dead_lettered: [u64; FailureReason::ALL.len()],
    /// Dead letters that came back.
    pub redriven: u64,
    /// Requests still in flight at the end.
    pub unfinished: u64,
    /// Attempts made.
    pub attempts: u64,
    /// Attempts that ended, by [`AttemptOutcome`].
    pub outcomes: [u64; AttemptOutcome::ALL.len()],
    /// Attempts still in flight at the end.
    pub attempts_in_flight: u64,
    /// Requests that succeeded with their j-th attempt, at index j - 1.
    pub succeeded_with: Vec<u64>,
    /// Requests that failed after j attempts, at index j (0: they never started).
    pub failed_with: Vec<u64>,
    /// Attempts whose service ended.
    pub served: u64,
    /// Of them, those that ended after their client had given up.
    pub served_late: u64,
    /// Attempts that got no answer: dropped, skipped or cancelled at the service, or lost while it hung.
    pub dropped: u64,
    /// Service time given, ns.
    pub work_ns: u128,
    /// Service time given to attempts whose client gave up before they ended, ns.
    pub wasted_ns: u128,
    /// Time from intended start to success.
    pub latency: Latency,
    /// Time from intended start to failure, added up, ns.
    pub failed_after_ns: u128,
    /// Waits in the service's queue of attempts that were served, zero waits included.
    pub waits: Moments,
    /// Of them, those above zero.
    pub waited: u64,
    /// Time from reaching the service to the end of service.
    pub sojourns: Moments,
    /// Waits for a place among a client's requests in flight.
    pub pool_waits: Moments,
    /// Total backoff of requests that ended.
    pub backoff: Moments,
    /// Total backoff of requests that succeeded.
    pub backoff_of_succeeded: Moments,
    /// Delays before the n-th retry, at index n - 1.
    pub delays: Vec<DelaySum>,
    /// Most attempts waiting or in service at once.
    pub in_system_max: u64,
    /// What happened when, of all requests.
    pub timeline: Timeline,
    /// Events the engine handled.
    pub events: u64,
    /// Whether there are retry budgets, ...
    pub has_budgets: bool,
    /// ... and circuit breakers.
    pub has_breakers: bool,
}

impl Tally {
    /// Nothing counted yet.
    pub fn new(bin: SimDuration, end: SimTime) -> Self {
        Self {
            requests: 0,
            succeeded: 0,
            failed: Default::default(),
            dead_lettered: Default::default(),
            redriven: 0,
            unfinished: 0,
            attempts: 0,
            outcomes: Default::default(),
            attempts_in_flight: 0,
            succeeded_with: Vec::new(),
            failed_with: Vec::new(),
            served: 0,
            served_late: 0,
            dropped: 0,
            work_ns: 0,
            wasted_ns: 0,
            latency: Latency::default(),
            failed_after_ns: 0,
            waits: Moments::default(),
            waited: 0,
            sojourns: Moments::default(),
            pool_waits: Moments::default(),
            backoff: Moments::default(),
            backoff_of_succeeded: Moments::default(),
            delays: Vec::new(),
            in_system_max: 0,
            timeline: Timeline::new(bin, end),
            events: 0,
            has_budgets: false,
            has_breakers: false,
        }
    }

    /// Counts the delay before retry `retry` (1 is the first).
    #[inline]
    pub fn record_delay(&mut self, retry: u32, delay: SimDuration) {
        let i = retry as usize - 1;
        if i < DELAYS_KEPT {
            if i >= self.delays.len() {
                self.delays.resize(i + 1, DelaySum::default());
            }
            self.delays[i].record(delay);
        }
    }

    /// Requests that failed for a reason.
    pub fn failed_for(&self, reason: FailureReason) -> u64 {
        self.failed[reason as usize]
    }

    /// Attempts that ended in a way.
    pub fn ended_as(&self, outcome: AttemptOutcome) -> u64 {
        self.outcomes[outcome as usize]
    }

    /// Requests that failed, for any reason.
    pub fn failed_total(&self) -> u64 {
        self.failed.iter().sum()
    }

    /// Attempts that clients held back.
    pub fn held_back(&self) -> u64 {
        let local = AttemptOutcome::ALL
            .iter()
            .filter(|outcome| outcome.is_local());
        local.map(|&outcome| self.outcomes[outcome as usize]).sum()
    }

    /// Requests that are dead letters at the end.
    pub fn dead_lettered_total(&self) -> u64 {
        self.dead_lettered.iter().sum()
    }

    /// Requests that succeeded, failed or are dead letters.
    pub fn ended(&self) -> u64 {
        self.succeeded + self.failed_total() + self.dead_lettered_total()
    }

    /// Requests that failed or were dead-lettered for a reason.
    pub fn lost_to(&self, reason: FailureReason) -> u64 {
        self.failed[reason as usize] + self.dead_lettered[reason as usize]
    }

    /// Succeeded ÷ (succeeded + failed + dead-lettered), if any request ended.
    pub fn success_rate(&self) -> Option<f64> {
        let ended = self.ended();
        (ended > 0).then(|| self.succeeded as f64 / ended as f64)
    }

    /// Attempts ÷ requests, if there were requests.
    pub fn amplification(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.attempts as f64 / self.requests as f64)
    }

    /// Share of service time given to attempts whose client gave up before they ended, if any was given.
    pub fn wasted_work_share(&self) -> Option<f64> {
        (self.work_ns > 0).then(|| self.wasted_ns as f64 / self.work_ns as f64)
    }

    /// Share of served attempts that ended after their client had given up, if any was served.
    pub fn wasted_served_share(&self) -> Option<f64> {
        (self.served > 0).then(|| self.served_late as f64 / self.served as f64)
    }

    /// Time from intended start to success or failure of all requests that ended, s.
    pub fn waited_for_answers_s(&self) -> f64 {
        (self.latency.sum_ns() + self.failed_after_ns) as f64 / 1e9
    }

    /// Whether every request and every attempt is accounted for.
    ///
    /// # Errors
    /// The sum that does not close, in words.
    pub fn check_conservation(&self) -> Result<(), String> {
        let ended = self.ended() + self.unfinished;
        if self.requests != ended {
            return Err(format!(
                "{} requests arrived, but {ended} are accounted for",
                self.requests
            ));
        }
        let sent = self.outcomes.iter().sum::<u64>() - self.held_back();
        let seen = sent + self.attempts_in_flight;
        if self.attempts != seen {
            return Err(format!(
                "{} attempts were made, but {seen} are accounted for",
                self.attempts
            ));
        }
        Ok(())
    }

    /// Adds the counts of another run of the same scenario.
    pub fn merge(&mut self, other: &Self) {
        self.requests += other.requests;
        self.succeeded += other.succeeded;
        self.unfinished += other.unfinished;
        self.attempts += other.attempts;
        self.attempts_in_flight += other.attempts_in_flight;
        self.redriven += other.redriven;
        add(&mut self.failed, &other.failed);
        add(&mut self.dead_lettered, &other.dead_lettered);
        add(&mut self.outcomes, &other.outcomes);
        add_grow(&mut self.succeeded_with, &other.succeeded_with);
        add_grow(&mut self.failed_with, &other.failed_with);
        self.served += other.served;
        self.served_late += other.served_late;
        self.dropped += other.dropped;
        self.work_ns += other.work_ns;
        self.wasted_ns += other.wasted_ns;
        self.latency.merge(&other.latency);
        self.failed_after_ns += other.failed_after_ns;
        self.waited += other.waited;
        for (mine, theirs) in [
            (&mut self.waits, &other.waits),
            (&mut self.sojourns, &other.sojourns),
            (&mut self.pool_waits, &other.pool_waits),
            (&mut self.backoff, &other.backoff),
            (&mut self.backoff_of_succeeded, &other.backoff_of_succeeded),
        ] {
            mine.merge(theirs);
        }
        self.delays.resize(
            self.delays.len().max(other.delays.len()),
            DelaySum::default(),
        );
        self.delays
            .iter_mut()
            .zip(&other.delays)
            .for_each(|(mine, theirs)| mine.merge(theirs));
        self.in_system_max = self.in_system_max.max(other.in_system_max);
        self.timeline.merge(&other.timeline);
        self.events += other.events;
        self.has_budgets |= other.has_budgets;
        self.has_breakers |= other.has_breakers;
    }
}

fn add(mine: &mut [u64], theirs: &[u64]) {
    mine.iter_mut().zip(theirs).for_each(|(a, b)| *a += b);
}

fn add_grow(mine: &mut Vec<u64>, theirs: &[u64]) {
    mine.resize(mine.len().max(theirs.len()), 0);
    add(mine, theirs);
}

/// Counts one at `index`, growing the list when needed.
#[inline]
pub(crate) fn count_at(list: &mut Vec<u64>, index: usize) {
    if index >= list.len() {
        list.resize(index + 1, 0);
    }
    list[index] += 1;
}
