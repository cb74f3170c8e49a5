//! All faults of a scenario taken together: what the world is like at any time.
//!
//! The rest of the model reads one [`Conditions`]. It is made anew at each time at which a fault changes.

use super::fault::{DEFAULT_CODE, FaultSpec, Outage};
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;
use std::cmp::Ordering;

/// The state of the world at one time, all faults taken together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Conditions {
    /// Something happens to attempts as they arrive: one of the next fields but those on capacity and speed.
    pub(super) disturbed: bool,
    /// Attempts are refused at once.
    pub(super) refuse: bool,
    /// Attempts get no answer.
    pub(super) hang: bool,
    /// Probability of failing beside the service's own failures.
    pub(super) error_rate: f64,
    /// Service takes so many times as long.
    pub(super) slow_down: f64,
    /// Workers that may begin with an attempt; none during a stall.
    pub(super) workers: u32,
    /// Added delay to the service.
    pub(super) latency: SimDuration,
    /// The first so many attempts of each client fail.
    pub(super) fail_first: u32,
    /// When the last such fault began: their count begins anew then.
    pub(super) counts_from: Option<SimTime>,
    /// Every so many-th attempt fails, with which code.
    pub(super) fail_every: Vec<(u32, u16)>,
    /// All attempts fail, with this code.
    pub(super) fail_all: Option<u16>,
    /// The codes of `fail_first` and of `error_rate`.
    pub(super) first_code: u16,
    pub(super) error_code: u16,
}

/// All faults of a scenario.
#[derive(Clone, Debug, Default)]
pub struct FaultSchedule {
    faults: Vec<FaultSpec>,
}

impl FaultSchedule {
    /// The schedule of these faults.
    pub fn new(faults: Vec<FaultSpec>) -> Self {
        Self { faults }
    }

    /// The faults as written.
    pub fn faults(&self) -> &[FaultSpec] {
        &self.faults
    }

    /// Whether some fault counts the attempts of each client.
    pub(super) fn counts_client_attempts(&self) -> bool {
        self.faults.iter().any(|fault| fault.fail_first.is_some())
    }

    /// Every time at which conditions change before `end`, in order, without repetition.
    pub fn changes(&self, end: SimTime) -> Vec<SimTime> {
        let mut times: Vec<SimTime> = self
            .faults
            .iter()
            .flat_map(|fault| fault.changes(end))
            .collect();
        times.retain(|&time| time < end);
        times.sort_unstable();
        times.dedup();
        times
    }

    /// The highest probability of failing that faults add before `end`.
    pub fn worst_error_rate(&self, end: SimTime) -> f64 {
        let times = std::iter::once(SimTime::ZERO).chain(self.changes(end));
        times
            .map(|time| self.conditions(time, 1).error_rate)
            .fold(0.0, f64::max)
    }

    /// How many times as many requests arrive at `now`.
    pub fn surge(&self, now: SimTime) -> f64 {
        self.product(now, |fault| fault.surge)
    }

    /// Whether any fault changes the arrivals.
    pub fn has_surge(&self) -> bool {
        self.faults.iter().any(|fault| fault.surge.is_some())
    }

    /// Workers there at `now` and the factor on service times, for a service of `workers`.
    pub fn capacity(&self, now: SimTime, workers: u32) -> (u32, f64) {
        let conditions = self.conditions(now, workers);
        let out = conditions.refuse || conditions.hang;
        (
            if out { 0 } else { conditions.workers },
            conditions.slow_down,
        )
    }

    /// The product of a factor over the faults in force; a ramp moves it from 1 to its full value.
    fn product(&self, now: SimTime, factor: impl Fn(&FaultSpec) -> Option<f64>) -> f64 {
        let one = |fault: &FaultSpec| {
            factor(fault).map_or(1.0, |f| 1.0 + (f - 1.0) * fault.intensity(now))
        };
        self.faults.iter().map(one).product()
    }

    /// Workers there at `now`: the least that any fault leaves, times the shares.
    fn workers_left(&self, now: SimTime, workers: u32) -> u32 {
        let all = f64::from(workers);
        let moving = |fault: &FaultSpec| {
            let intensity = fault.span_at(now).map(|_| fault.intensity(now))?;
            Some(f64::from(fault.workers?).mul_add(intensity, all * (1.0 - intensity)))
        };
        let left = self.faults.iter().filter_map(moving).fold(all, f64::min);
        let share = self.product(now, |fault| fault.capacity.map(Ratio::get));
        (left * share).round() as u32
    }

    pub(super) fn conditions(&self, now: SimTime, workers: u32) -> Conditions {
        let active = || {
            self.faults
                .iter()
                .filter(|fault| fault.span_at(now).is_some())
        };
        let out = |kind: Outage| active().any(|fault| fault.outage.as_ref() == Some(&kind));
        let survival: f64 = active()
            .filter_map(|f| f.error_rate.map(|p| 1.0 - p.get() * f.intensity(now)))
            .product();
        let conditions = Conditions {
            disturbed: false,
            refuse: out(Outage::Refuse),
            hang: out(Outage::Hang),
            error_rate: 1.0 - survival,
            slow_down: self.product(now, |fault| fault.slow_down),
            workers: if out(Outage::Stall) {
                0
            } else {
                self.workers_left(now, workers)
            },
            latency: active()
                .filter_map(|f| f.latency.map(|l| l.scale(f.intensity(now))))
                .fold(SimDuration::ZERO, |a, b| a + b),
            fail_first: active()
                .filter_map(|fault| fault.fail_first)
                .max()
                .unwrap_or(0),
            counts_from: active()
                .filter(|fault| fault.fail_first.is_some())
                .filter_map(|fault| fault.span_at(now).map(|(from, _)| from))
                .max(),
            fail_every: active()
                .filter_map(|fault| fault.fail_every.map(|n| (n, fault.code.0)))
                .collect(),
            fail_all: active()
                .find(|fault| fault.fail_all == Some(true))
                .map(|fault| fault.code.0),
            first_code: active()
                .filter(|fault| fault.fail_first.is_some())
                .max_by_key(|fault| fault.fail_first)
                .map_or(DEFAULT_CODE.0, |fault| fault.code.0),
            // The likeliest names the code.
            error_code: active()
                .filter(|fault| fault.error_rate.is_some())
                .max_by(|a, b| {
                    a.error_rate
                        .partial_cmp(&b.error_rate)
                        .unwrap_or(Ordering::Equal)
                })
                .map_or(DEFAULT_CODE.0, |fault| fault.code.0),
        };
        let scripted = conditions.fail_first > 0
            || !conditions.fail_every.is_empty()
            || conditions.fail_all.is_some();
        Conditions {
            disturbed: conditions.refuse || conditions.hang || scripted,
            ..conditions
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document, Reader};

    fn fault(text: &str) -> FaultSpec {
        let document = Document::parse("a.toml", text).unwrap();
        FaultSpec::decode(&document.root, &mut Reader::new()).expect(text)
    }

    fn schedule(texts: &[&str]) -> FaultSchedule {
        FaultSchedule::new(texts.iter().map(|text| fault(text)).collect())
    }

    fn at(ms: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_millis(ms)
    }

    #[test]
    fn a_fault_acts_from_its_start_to_just_before_its_end() {
        let faults = schedule(&["at = \"10s\"\nlasts = \"5s\"\noutage = \"refuse\""]);
        for (ms, refuse) in [
            (9_999, false),
            (10_000, true),
            (14_999, true),
            (15_000, false),
        ] {
            assert_eq!(faults.conditions(at(ms), 4).refuse, refuse, "{ms}");
        }
        assert_eq!(faults.changes(at(60_000)), [at(10_000), at(15_000)]);
    }

    #[test]
    fn a_ramp_moves_from_no_effect_to_the_full_one_and_back() {
        let text =
            "at = \"10s\"\nlasts = \"10s\"\nramp_up = \"4s\"\nramp_down = \"2s\"\nslow_down = 3";
        let faults = schedule(&[text]);
        for (ms, factor) in [
            (10_000, 1.0),
            (12_000, 2.0),
            (14_000, 3.0),
            (18_000, 3.0),
            (19_000, 2.0),
            (20_000, 1.0),
        ] {
            assert!(
                (faults.conditions(at(ms), 4).slow_down - factor).abs() < 1e-9,
                "{ms}"
            );
        }
        assert!(faults.changes(at(60_000)).len() > 100);
    }

    #[test]
    fn faults_in_force_at_the_same_time_combine() {
        let text = |effect: &str| format!("at = \"0s\"\nlasts = \"1s\"\n{effect}");
        let texts: Vec<String> = [
            "slow_down = 2",
            "slow_down = 3",
            "error_rate = \"50%\"",
            "error_rate = 0.5",
            "workers = 8",
            "capacity = 0.5",
        ]
        .map(text)
        .into();
        let conditions =
            schedule(&texts.iter().map(String::as_str).collect::<Vec<_>>()).conditions(at(0), 10);
        assert_eq!(
            (
                conditions.slow_down,
                conditions.error_rate,
                conditions.workers
            ),
            (6.0, 0.75, 4)
        );
    }

    #[test]
    fn a_fault_comes_again() {
        let faults =
            schedule(&["at = \"1s\"\nlasts = \"1s\"\nevery = \"5s\"\ntimes = 3\nsurge = 4"]);
        let factors: Vec<f64> = [1_500, 6_500, 11_500, 16_500]
            .map(|ms| faults.surge(at(ms)))
            .into();
        assert_eq!(factors, [4.0, 4.0, 4.0, 1.0]);
    }
}
