//! What is done to the world on a schedule.
//!
//! Every fault has a time course: it starts, may ramp up, holds, may ramp down, ends, and may come again.
//! At any time the faults in force add up to one [`Conditions`], which is all that the rest of the model
//! reads; it is made anew at each change and at small steps of a ramp.

use crate::decode::{Check, Reader};
use crate::policy::Code;
use crate::time::{SimDuration, SimTime};
use crate::units::Ratio;
use crate::{choice, record};

/// A ramp changes in so many steps.
const RAMP_STEPS: u64 = 64;
/// A fault may come again so often.
pub const MOST_REPEATS: u32 = 10_000;
/// More first attempts of a client than this that fail by script are as good as all.
const MOST_SCRIPTED: u32 = 1_000_000;
/// The code of failures that a fault causes, unless it names another.
pub(super) const DEFAULT_CODE: Code = Code(503);

choice! {
    /// How a service that is out behaves.
    pub enum Outage as "outage" {
        /// It is gone: work inside is lost, every attempt is refused at once.
        Refuse = "refuse", r#""refuse""#;
        /// Attempts that arrive get no answer, ever; work inside goes on.
        Hang = "hang", r#""hang""#;
        /// Attempts queue, but no service starts; what has started goes on.
        Stall = "stall", r#""stall""#;
    }
}

record! {
    /// A `[[fault]]` of a scenario: when, and exactly one thing to do.
    pub struct FaultSpec {
        /// When it starts.
        at: SimTime,
        /// How long it lasts, ramps included.
        lasts: SimDuration,
        /// Time from no effect to full effect, at its start.
        ramp_up: SimDuration = SimDuration::ZERO,
        /// Time from full effect to no effect, at its end.
        ramp_down: SimDuration = SimDuration::ZERO,
        /// Time from one start to the next, when it comes again.
        every: Option<SimDuration> = None,
        /// How often it comes in all.
        times: u32 = 1,
        /// The service is out.
        outage: Option<Outage> = None,
        /// Attempts fail with this probability, beside the service's own failures.
        error_rate: Option<Ratio> = None,
        /// Service takes so many times as long.
        slow_down: Option<f64> = None,
        /// So many workers are there.
        workers: Option<u32> = None,
        /// This share of the workers is there, rounded to whole workers.
        capacity: Option<Ratio> = None,
        /// The way to the service takes so much longer.
        latency: Option<SimDuration> = None,
        /// Requests arrive so many times as often.
        surge: Option<f64> = None,
        /// The first so many attempts of each client fail, whatever the seed; the count begins anew with each such fault.
        fail_first: Option<u32> = None,
        /// Every so many-th attempt at the service fails, whatever the seed.
        fail_every: Option<u32> = None,
        /// All attempts fail, whatever the seed.
        fail_all: Option<bool> = None,
        /// The failure code of `error_rate` and the `fail_…` faults.
        code: Code = DEFAULT_CODE,
    }
}

/// The names of the things a fault can do, as keys.
const KINDS: [&str; 10] = [
    "outage",
    "error_rate",
    "slow_down",
    "workers",
    "capacity",
    "latency",
    "surge",
    "fail_first",
    "fail_every",
    "fail_all",
];

impl FaultSpec {
    /// Which of [`KINDS`] are set.
    fn kinds(&self) -> Vec<&'static str> {
        let set = [
            self.outage.is_some(),
            self.error_rate.is_some(),
            self.slow_down.is_some(),
            self.workers.is_some(),
            self.capacity.is_some(),
            self.latency.is_some(),
            self.surge.is_some(),
            self.fail_first.is_some(),
            self.fail_every.is_some(),
            self.fail_all.is_some(),
        ];
        KINDS
            .into_iter()
            .zip(set)
            .filter(|&(_, set)| set)
            .map(|(kind, _)| kind)
            .collect()
    }

    /// Whether it is an outage that refuses from the start of the run on, once, and nothing else.
    pub fn refuses_from_the_start(&self) -> bool {
        self.outage == Some(Outage::Refuse) && self.at == SimTime::ZERO && self.every.is_none()
    }

    /// Whether it changes how attempts fail.
    pub fn changes_failures(&self) -> bool {
        self.kinds().iter().any(|kind| {
            matches!(
                *kind,
                "error_rate" | "fail_first" | "fail_every" | "fail_all"
            )
        })
    }

    /// Whether, while it is in force, attempts fail with a probability above `sure`.
    pub fn surely_fails(&self, sure: f64) -> bool {
        self.fail_all == Some(true)
            || self.fail_every == Some(1)
            || self.fail_first > Some(MOST_SCRIPTED)
            || self.error_rate.is_some_and(|rate| rate.get() > sure)
    }

    /// The fault in a few words, for charts.
    pub fn label(&self) -> String {
        match (&self.outage, self.slow_down, self.workers, self.surge) {
            (Some(Outage::Refuse), ..) => "outage".into(),
            (Some(Outage::Hang), ..) => "hang".into(),
            (Some(Outage::Stall), ..) => "stall".into(),
            (_, Some(factor), ..) => format!("slow-down ×{factor}"),
            (_, _, Some(workers), _) => format!("{workers} workers"),
            (.., Some(factor)) => format!("surge ×{factor}"),
            _ => self.rare_label(),
        }
    }

    fn rare_label(&self) -> String {
        let percent = |ratio: Ratio| format!("{}%", (ratio.get() * 1e4).round() / 1e2);
        if let Some(rate) = self.error_rate {
            return format!("errors {}", percent(rate));
        }
        if let Some(share) = self.capacity {
            return format!("capacity {}", percent(share));
        }
        if let Some(latency) = self.latency {
            return format!("latency +{latency}");
        }
        "failures".into()
    }

    /// Its starts and ends, in order.
    pub fn spans(&self) -> impl Iterator<Item = (SimTime, SimTime)> {
        let every = self.every.unwrap_or(SimDuration::MAX).as_nanos();
        let (first, lasts) = (self.at, self.lasts);
        (0..u64::from(self.times)).map(move |i| {
            let start = first + SimDuration::from_nanos(every.saturating_mul(i));
            (start, start + lasts)
        })
    }

    /// The span that `now` lies in. Spans do not overlap, so only the last one to start can hold it.
    pub(super) fn span_at(&self, now: SimTime) -> Option<(SimTime, SimTime)> {
        let passed = now.as_nanos().checked_sub(self.at.as_nanos())?;
        let every = self.every.unwrap_or(SimDuration::MAX).as_nanos().max(1);
        let index = (passed / every).min(u64::from(self.times.saturating_sub(1)));
        let start = self.at + SimDuration::from_nanos(every.saturating_mul(index));
        let end = start + self.lasts;
        (now < end).then_some((start, end))
    }

    /// How strongly it acts at `now`: 0 not at all, 1 in full.
    pub(super) fn intensity(&self, now: SimTime) -> f64 {
        let Some((start, end)) = self.span_at(now) else {
            return 0.0;
        };
        let part = |passed: SimDuration, ramp: SimDuration| {
            if passed >= ramp {
                1.0
            } else {
                passed.as_nanos() as f64 / ramp.as_nanos() as f64
            }
        };
        part(now - start, self.ramp_up).min(part(end - now, self.ramp_down))
    }

    /// How many times its effect changes before `end`, about.
    pub fn count_changes(&self, end: SimTime) -> usize {
        let ramps = [self.ramp_up, self.ramp_down];
        let steps = ramps
            .iter()
            .filter(|&&ramp| ramp > SimDuration::ZERO)
            .count() as u64;
        let starts = self.spans().take_while(|&(start, _)| start < end).count() as u64;
        usize::try_from(starts * (2 + steps * (RAMP_STEPS + 1))).unwrap_or(usize::MAX)
    }

    /// Every time at which its effect changes, up to `end`.
    pub(super) fn changes(&self, end: SimTime) -> Vec<SimTime> {
        let mut times = Vec::new();
        for (start, stop) in self.spans().take_while(|&(start, _)| start < end) {
            times.extend([start, stop]);
            for (ramp, origin) in [
                (self.ramp_up, start),
                (self.ramp_down, stop_less(stop, self.ramp_down)),
            ] {
                if ramp > SimDuration::ZERO {
                    times.extend(
                        (0..=RAMP_STEPS).map(|i| origin + ramp.scale(i as f64 / RAMP_STEPS as f64)),
                    );
                }
            }
        }
        times
    }
}

fn stop_less(stop: SimTime, ramp: SimDuration) -> SimTime {
    SimTime::from_nanos(stop.as_nanos().saturating_sub(ramp.as_nanos()))
}

impl Check for FaultSpec {
    fn check(&self, reader: &mut Reader) {
        match self.kinds().as_slice() {
            [_] => {}
            [] => reader.error_at(
                &KINDS,
                "the fault does nothing",
                format!("add one of: {}", KINDS.join(", ")),
            ),
            kinds => {
                let reason = format!(
                    "one fault does one thing, but this one sets {}",
                    kinds.join(" and ")
                );
                let last = reader.last_written(kinds);
                reader.error_at(&[last], reason, "write a [[fault]] for each");
            }
        }
        if self.lasts == SimDuration::ZERO {
            reader.error_at(
                &["lasts"],
                "the fault lasts no time at all",
                "give a positive duration, like \"10s\"",
            );
        }
        if self.ramp_up + self.ramp_down > self.lasts {
            let keys: &[&str] = if self.ramp_up == SimDuration::ZERO {
                &["ramp_down", "lasts"]
            } else {
                &["ramp_up", "ramp_down", "lasts"]
            };
            reader.error_at(
                keys,
                "the ramps are longer than the fault",
                "shorten ramp_up and ramp_down, or lengthen `lasts`",
            );
        }
        self.check_repetition(reader);
        for (key, factor) in [("slow_down", self.slow_down), ("surge", self.surge)] {
            if factor.is_some_and(|factor| !(0.0..=1e6).contains(&factor)) {
                reader.error_at(
                    &[key],
                    format!("`{key}` is a factor from 0 to 1000000"),
                    "2 doubles, 1 changes nothing",
                );
            }
        }
        self.check_idle(reader);
    }
}

impl FaultSpec {
    /// A fault whose value makes it do nothing.
    fn check_idle(&self, reader: &mut Reader) {
        for (key, nothing, remedy) in [
            (
                "fail_all",
                self.fail_all == Some(false),
                "write fail_all = true, or remove the fault",
            ),
            (
                "fail_every",
                self.fail_every == Some(0),
                "give a number of at least 1",
            ),
            (
                "fail_first",
                self.fail_first == Some(0),
                "give a number of at least 1",
            ),
        ] {
            if nothing && self.kinds().len() == 1 {
                reader.error_at(&[key], "the fault does nothing", remedy);
            }
        }
    }

    fn check_repetition(&self, reader: &mut Reader) {
        if self.every.is_some() && self.times == 1 {
            let reason = "`every` has no effect: the fault comes only once";
            reader.warn_at(&["every"], reason, "add `times`, how often it comes in all");
        }
        if self.code != DEFAULT_CODE && !self.changes_failures() {
            let reason = "`code` has no effect: this fault does not make attempts fail";
            reader.warn_at(&["code"], reason, "remove `code`");
        }
        match self.every {
            Some(every) if every < self.lasts => {
                let reason =
                    "the fault comes again before it is over: `every` is shorter than `lasts`";
                let remedy = "make `every` at least as long as `lasts`";
                reader.error_at(&["every", "lasts"], reason, remedy);
            }
            None if self.times > 1 => reader.error_at(
                &["times", "every"],
                "`times` needs `every`",
                "add `every`, the time between starts",
            ),
            _ => {}
        }
        if self.times == 0 || self.times > MOST_REPEATS {
            reader.error_at(
                &["times"],
                format!("`times` is a number from 1 to {MOST_REPEATS}"),
                "leave it out for once",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Decode, Document};

    fn fault(text: &str) -> (Option<FaultSpec>, Vec<String>) {
        let document = Document::parse("a.toml", text).unwrap();
        let mut reader = Reader::new();
        let fault = FaultSpec::decode(&document.root, &mut reader);
        (
            fault,
            reader
                .into_problems()
                .into_iter()
                .map(|problem| problem.reason)
                .collect(),
        )
    }

    #[test]
    fn nonsense_is_refused() {
        for (text, reason) in [
            ("at = \"1s\"\nlasts = \"1s\"", "does nothing"),
            ("at = \"1s\"\nlasts = \"0s\"\nsurge = 2", "no time"),
            (
                "at = \"1s\"\nlasts = \"1s\"\nsurge = 2\nslow_down = 2",
                "one thing",
            ),
            ("at = \"1s\"\nlasts = \"1s\"\nsurge = -2", "factor"),
            (
                "at = \"1s\"\nlasts = \"2s\"\nevery = \"1s\"\ntimes = 2\nsurge = 2",
                "before it is over",
            ),
            (
                "at = \"1s\"\nlasts = \"2s\"\nramp_up = \"3s\"\nsurge = 2",
                "ramps",
            ),
        ] {
            let reasons = fault(text).1;
            assert!(
                reasons.iter().any(|found| found.contains(reason)),
                "{text}: {reasons:?}"
            );
        }
    }
}
