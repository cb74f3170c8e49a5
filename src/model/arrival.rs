//! When requests arrive.
//!
//! Each form is either a stream of its own (open loop: requests come whatever the service does) or driven by
//! clients that pause after each request (closed loop). N independent Poisson clients are one Poisson stream
//! with random owners, so idle clients cost nothing.

use crate::decode::{Check, Reader};
use crate::dist::Distribution;
use crate::dist::column::TimeUnit;
use crate::time::{SimDuration, SimTime};
use crate::units::Rate;
use crate::{choice, record};

choice! {
    /// When requests arrive.
    pub enum Arrivals as "arrival process" {
        /// At random: independent, memoryless gaps. `rate` is of all clients together, `per_client` of each.
        Poisson(Poisson) = "poisson", r#"{ poisson = { rate = "800/s" } }"#;
        /// At equal gaps: `every` for each client, or `rate` for all clients together.
        Periodic(Periodic) = "periodic", r#"{ periodic = { every = "5m" } }"#;
        /// Each client pauses, sends a request, waits for its end, and pauses again.
        ClosedLoop(ClosedLoop) = "closed_loop", r#"{ closed_loop = { think.exponential = { mean = "10s" } } }"#;
        /// All clients at once: a herd.
        Burst(Burst) = "burst", r#"{ burst = { at = "1s" } }"#;
        /// A rate of all clients together that changes with time.
        Profile(Profile) = "profile", r#"{ profile = { points = [{ at = "0s", rate = "100/s" }, { at = "60s", rate = "400/s" }] } }"#;
        /// At recorded times.
        Trace(Trace) = "trace", r#"{ trace = { file = "arrivals.csv" } }"#;
    }
}

record! {
    /// Memoryless arrivals.
    pub struct Poisson {
        /// Requests of all clients together.
        rate: Option<Rate> = None,
        /// Requests of each client.
        per_client: Option<Rate> = None,
    }
}

choice! {
    /// How the periods of clients lie to each other.
    pub enum Offset as "offset" {
        /// Each client has its own place in the period, drawn once.
        Random = "random", r#""random""#;
        /// All clients at the same moment.
        Aligned = "aligned", r#""aligned""#;
    }
}

record! {
    /// Arrivals at equal gaps.
    pub struct Periodic {
        /// The period of each client.
        every: Option<SimDuration> = None,
        /// Requests of all clients together, evenly spaced.
        rate: Option<Rate> = None,
        /// How the periods of clients lie to each other; goes with `every`.
        offset: Offset = Offset::Random,
    }
}

choice! {
    /// What clients of a closed loop do first.
    pub enum Start as "start" {
        /// They pause as they do between requests.
        Thinking = "thinking", r#""thinking""#;
        /// Their first requests are spread evenly over one mean pause.
        Spread = "spread", r#""spread""#;
        /// They all send a request at time zero.
        AtOnce = "at_once", r#""at_once""#;
    }
}

record! {
    /// One request a client at a time.
    pub struct ClosedLoop {
        /// The pause between the end of a request and the next.
        think: Distribution,
        /// What clients do first.
        start: Start = Start::Thinking,
    }
}

record! {
    /// A herd.
    pub struct Burst {
        /// When.
        at: SimTime = SimTime::ZERO,
        /// Requests of each client.
        requests: u64 = 1,
        /// The time over which they are spread at random.
        spread: SimDuration = SimDuration::ZERO,
    }
}

record! {
    /// A rate at a time.
    pub struct Point {
        /// When.
        at: SimTime,
        /// Requests of all clients together.
        rate: Rate,
    }
}

choice! {
    /// What the rate does between two points.
    pub enum Between as "shape" {
        /// It changes linearly.
        Linear = "linear", r#""linear""#;
        /// It stays as it was until the next point.
        Steps = "steps", r#""steps""#;
    }
}

choice! {
    /// How arrivals of a changing rate are placed.
    pub enum Spacing as "spacing" {
        /// At random, as a Poisson process.
        Poisson = "poisson", r#""poisson""#;
        /// As evenly as the rate allows.
        Even = "even", r#""even""#;
    }
}

record! {
    /// A rate that changes with time; it holds its first value before the first point and its last after the last.
    pub struct Profile {
        /// The points, in order of time.
        points: Vec<Point>,
        /// What the rate does between two points.
        shape: Between = Between::Linear,
        /// How arrivals are placed.
        spacing: Spacing = Spacing::Poisson,
    }
}

record! {
    /// Recorded arrivals: time stamps, offsets, or counts per interval, plain or gzipped CSV.
    pub struct Trace {
        /// The file, relative to the scenario's folder.
        file: String,
        /// The column of times; found by its name when left out.
        column: Option<String> = None,
        /// The unit of numbers in it: s, ms, us or ns; told from their size when left out.
        unit: Option<TimeUnit> = None,
        /// Replay speed: 2 halves every gap.
        speed: f64 = 1.0,
        /// When the first arrival comes.
        at: SimTime = SimTime::ZERO,
    }
}

/// What is wrong with two settings of which exactly one is needed.
fn one_of<A, B>(a: &str, first: &Option<A>, b: &str, second: &Option<B>) -> Option<String> {
    match (first, second) {
        (None, None) => Some(format!("neither `{a}` nor `{b}` is given")),
        (Some(_), Some(_)) => Some(format!("`{a}` and `{b}` exclude each other")),
        _ => None,
    }
}

impl Check for Poisson {
    fn check(&self, reader: &mut Reader) {
        if let Some(reason) = one_of("rate", &self.rate, "per_client", &self.per_client) {
            let remedy = "give `rate`, of all clients together, or `per_client`, of each";
            reader.error_at(&["rate", "per_client"], reason, remedy);
        }
    }
}

impl Check for Periodic {
    fn check(&self, reader: &mut Reader) {
        if let Some(reason) = one_of("every", &self.every, "rate", &self.rate) {
            let remedy = "give `every`, the period of each client, or `rate`, of all together";
            reader.error_at(&["every", "rate"], reason, remedy);
        }
        if self.every == Some(SimDuration::ZERO) {
            reader.error_at(
                &["every"],
                "a period of zero never lets time pass",
                "give a positive duration, like \"5m\"",
            );
        }
    }
}

impl Check for ClosedLoop {}

impl Check for Burst {
    fn check(&self, reader: &mut Reader) {
        if self.requests == 0 {
            reader.error_at(
                &["requests"],
                "a burst of no requests does nothing",
                "give a number of at least 1",
            );
        }
    }
}

impl Check for Point {}

impl Check for Profile {
    fn check(&self, reader: &mut Reader) {
        if self.points.is_empty() {
            reader.error_at(
                &["points"],
                "a profile needs at least one point",
                "points = [{ at = \"0s\", rate = \"100/s\" }]",
            );
        }
        if self.points.len() > 100_000 {
            reader.error_at(
                &["points"],
                "a profile has at most 100000 points",
                "use a trace for recorded arrivals",
            );
        }
        if !self.points.is_sorted_by(|a, b| a.at < b.at) {
            reader.error_at(
                &["points"],
                "the points are not in order of time",
                "sort them by `at`, each later than the one before",
            );
        }
    }
}

impl Check for Trace {
    fn check(&self, reader: &mut Reader) {
        if !(1e-6..=1e6).contains(&self.speed) {
            reader.error_at(
                &["speed"],
                "`speed` is a factor from 0.000001 to 1000000",
                "2 replays twice as fast",
            );
        }
    }
}
