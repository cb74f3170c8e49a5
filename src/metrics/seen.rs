//! What formulas of queueing predict, as one run has it.

use super::{AttemptOutcome, Gauge, Tally};
use crate::time::{SimDuration, SimTime};
use serde::Serialize;

/// A figure that some formula predicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Succeeded ÷ ended.
    SuccessRate,
    /// Attempts ÷ requests.
    AttemptsPerRequest,
    /// Total backoff of requests that ended, mean.
    BackoffMeanS,
    /// Share of the attempts in service that had to wait.
    WaitProbability,
    /// Wait in the queue of attempts that were served, mean.
    WaitMeanS,
    /// From reaching the service to the end of service, mean.
    SojournMeanS,
    /// Attempts refused by a full queue ÷ attempts.
    RefusedShare,
    /// Attempts that timed out ÷ attempts.
    TimedOutShare,
    /// Requests a second that succeeded.
    ThroughputPerS,
    /// Workers busy, mean over time.
    BusyWorkers,
    /// Attempts waiting, mean over time.
    QueueLength,
    /// Requests waiting for their next attempt, mean over time.
    WaitingInBackoff,
    /// Time until the last success, from the end of the fault.
    DrainS,
}

/// Those figures of one run. A figure is absent when there is nothing it could be computed from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    values: [Option<f64>; Quantity::ALL.len()],
    open_share: f64,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::SuccessRate,
        Self::AttemptsPerRequest,
        Self::BackoffMeanS,
        Self::WaitProbability,
        Self::WaitMeanS,
        Self::SojournMeanS,
        Self::RefusedShare,
        Self::TimedOutShare,
        Self::ThroughputPerS,
        Self::BusyWorkers,
        Self::QueueLength,
        Self::WaitingInBackoff,
        Self::DrainS,
    ];
}

impl Quantity {
    /// Whether it is about what requests come to, so that those still open are missing in it.
    pub fn misses_open_requests(self) -> bool {
        matches!(
            self,
            Self::SuccessRate
                | Self::AttemptsPerRequest
                | Self::BackoffMeanS
                | Self::TimedOutShare
                | Self::ThroughputPerS
        )
    }
}

impl Seen {
    /// The figures of a run whose requests count from `from` to `to`; `fault_end` is the end of its last fault.
    pub fn of(tally: &Tally, from: SimTime, to: SimTime, fault_end: SimTime) -> Self {
        let window = (to - from).as_secs_f64();
        let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
        let some = |count: u64, value: f64| (count > 0).then_some(value);
        let outcome = |outcome: AttemptOutcome| tally.outcomes[outcome as usize];
        let level = |gauge| mean_level(tally, gauge, from, to);
        let value = |quantity| match quantity {
            Quantity::SuccessRate => tally.success_rate(),
            Quantity::AttemptsPerRequest => tally.amplification(),
            Quantity::BackoffMeanS => some(tally.backoff.count, tally.backoff.mean_s()),
            Quantity::WaitProbability => share(tally.waited, tally.waits.count),
            Quantity::WaitMeanS => some(tally.waits.count, tally.waits.mean_s()),
            Quantity::SojournMeanS => some(tally.sojourns.count, tally.sojourns.mean_s()),
            Quantity::RefusedShare => share(outcome(AttemptOutcome::QueueFull), tally.attempts),
            Quantity::TimedOutShare => share(outcome(AttemptOutcome::TimedOut), tally.attempts),
            Quantity::ThroughputPerS => (window > 0.0).then(|| tally.succeeded as f64 / window),
            Quantity::BusyWorkers => level(Gauge::Busy),
            Quantity::QueueLength => level(Gauge::Queue),
            Quantity::WaitingInBackoff => level(Gauge::Backoff),
            Quantity::DrainS => tally
                .latency
                .max_ms()
                .filter(|_| tally.unfinished == 0)
                .map(|ms| ms / 1e3 - fault_end.as_secs_f64()),
        };
        Self {
            values: Quantity::ALL.map(value),
            open_share: share(tally.unfinished, tally.requests).unwrap_or(0.0),
        }
    }

    /// Share of the requests that were still open at the end.
    pub fn open_share(&self) -> f64 {
        self.open_share
    }

    /// A figure, if there is one.
    pub fn get(&self, quantity: Quantity) -> Option<f64> {
        self.values[quantity as usize]
    }
}

/// A level over the bins that lie wholly inside a span.
fn mean_level(tally: &Tally, gauge: Gauge, from: SimTime, to: SimTime) -> Option<f64> {
    let timeline = &tally.timeline;
    let width = timeline.width().as_nanos();
    let first = from.as_nanos().div_ceil(width) as usize;
    let end = (to.as_nanos() / width) as usize;
    let bins = timeline
        .bins()
        .get(first..end)
        .filter(|bins| !bins.is_empty())?;
    let area: i128 = bins
        .iter()
        .map(|bin| i128::from(bin.areas[gauge as usize]))
        .sum();
    let length = SimDuration::from_nanos(width).as_nanos() as f64 * bins.len() as f64;
    Some(area as f64 / length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_taken_over_whole_bins_inside_the_window() {
        let second = SimDuration::from_secs(1);
        let end = SimTime::ZERO + SimDuration::from_secs(4);
        let mut tally = Tally::new(second, end);
        for (s, delta) in [(0, 7), (1, -4), (3, 9)] {
            tally
                .timeline
                .advance(SimTime::ZERO + SimDuration::from_secs(s));
            tally.timeline.change(Gauge::Busy, delta);
        }
        tally.timeline.close(end);
        let at = |ms| SimTime::ZERO + SimDuration::from_millis(ms);
        // 7, 3, 3, 12: the first bin and the last are not whole.
        let seen = Seen::of(&tally, at(500), at(3_500), SimTime::ZERO);
        assert_eq!(seen.get(Quantity::BusyWorkers), Some(3.0));
        assert_eq!(seen.get(Quantity::SuccessRate), None);
        let nothing = Seen::of(&tally, at(500), at(900), SimTime::ZERO);
        assert_eq!(nothing.get(Quantity::BusyWorkers), None);
    }
}
