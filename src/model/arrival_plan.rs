//! What [`Arrivals`](super::Arrivals) come to: files read, rates and surges laid over each other.

use super::arrival::{Arrivals, Between, Offset, Spacing, Start, Trace};
use super::conditions::FaultSchedule;
use super::pace::Pace;
use crate::dist::Sampler;
use crate::dist::column::{Column, ColumnSpec, Content, read_times};
use crate::time::{NANOS_PER_SEC, SimDuration, SimTime};
use std::path::Path;
use std::sync::Arc;

/// Arrivals of a client group, ready to run.
#[derive(Clone, Debug)]
pub struct ArrivalPlan {
    pub(super) kind: Kind,
    pub(super) pace: Pace,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// Memoryless gaps with this mean (ns, or 1 under a pace of events a nanosecond).
    Poisson(f64),
    /// Equal gaps.
    Even(f64),
    /// Each client once a period, at its own place in it or all at its start.
    Cycle { period: u64, aligned: bool },
    /// All clients, each `requests` times, from `at` on over `spread`.
    Burst {
        at: SimTime,
        requests: u64,
        spread: f64,
    },
    /// At recorded times after `at`.
    Trace {
        at: SimTime,
        times: Arc<[SimDuration]>,
        speed: f64,
    },
    /// Clients that pause between requests.
    ClosedLoop { think: Sampler, start: Start },
}
impl ArrivalPlan {
    /// Makes arrivals of `count` clients ready, with surges laid over them. Returns what was assumed about a
    /// trace, to be shown. Files are looked for below `base`.
    ///
    /// # Errors
    /// When a file cannot be used.
    pub fn assemble(
        arrivals: &Arrivals,
        count: u64,
        faults: &FaultSchedule,
        end: SimTime,
        base: &Path,
    ) -> Result<(Self, Option<String>), String> {
        let gap = |per_second: f64| NANOS_PER_SEC as f64 / per_second;
        let clients = count as f64;
        let mut note = None;
        let kind = match arrivals {
            Arrivals::Poisson(p) => {
                let each = p
                    .per_client
                    .map_or(0.0, |rate| rate.as_per_second() * clients);
                Kind::Poisson(gap(p.rate.map_or(each, |rate| rate.as_per_second())))
            }
            Arrivals::Periodic(p) => match (p.every, p.rate) {
                (Some(every), _) => Kind::Cycle {
                    period: every.as_nanos(),
                    aligned: p.offset == Offset::Aligned,
                },
                (None, rate) => Kind::Even(gap(rate.map_or(0.0, |rate| rate.as_per_second()))),
            },
            Arrivals::Burst(b) => Kind::Burst {
                at: b.at,
                requests: b.requests,
                spread: b.spread.as_nanos() as f64,
            },
            Arrivals::Profile(p) => match p.spacing {
                Spacing::Poisson => Kind::Poisson(1.0),
                Spacing::Even => Kind::Even(1.0),
            },
            Arrivals::Trace(t) => {
                let (trace, assumed) = read_trace(t, base, end)?;
                note = Some(assumed);
                trace
            }
            Arrivals::ClosedLoop(c) => Kind::ClosedLoop {
                think: c.think.sampler(base)?,
                start: c.start.clone(),
            },
        };
        Ok((
            Self {
                kind,
                pace: pace(arrivals, faults, end),
            },
            note,
        ))
    }

    /// The pause of a closed loop that needs an event for each client: one that is not memoryless, or that
    /// does not begin with a pause.
    pub(super) fn client_pauses(&self) -> Option<(&Sampler, &Start)> {
        match &self.kind {
            Kind::ClosedLoop { think, start } if !self.is_thinned() => Some((think, start)),
            _ => None,
        }
    }

    /// The mean gap in nanoseconds between the pauses' ends of `count` clients of a memoryless closed loop.
    pub(super) fn thinned_gap(&self, count: u32) -> Option<f64> {
        match &self.kind {
            Kind::ClosedLoop { think, .. } if self.is_thinned() => {
                let mean = think.is_exponential()?;
                Some(mean.as_nanos() as f64 / f64::from(count))
            }
            _ => None,
        }
    }

    /// Whether the stream is that of a memoryless closed loop, where arrivals of busy clients do not count.
    pub(super) fn is_thinned(&self) -> bool {
        matches!(&self.kind, Kind::ClosedLoop { think, start: Start::Thinking } if think.is_exponential().is_some())
    }

    /// When a pause that begins `now` ends.
    pub(super) fn end_of_pause(&self, now: SimTime, pause: SimDuration) -> SimTime {
        self.pace
            .after(now, pause.as_nanos() as f64)
            .unwrap_or(SimTime::MAX)
    }

    /// Whether pauses of equal length end in the order in which they begin, which lets them share a lane.
    pub(super) fn constant_pause(&self) -> bool {
        self.client_pauses()
            .is_some_and(|(think, _)| think.constant().is_some())
    }

    /// The mean pause of a closed loop in seconds, and whether requests arrive while their clients are busy
    /// (and are ignored then).
    pub fn pause(&self) -> Option<(f64, bool)> {
        match &self.kind {
            Kind::ClosedLoop { think, .. } => Some((think.mean(), self.is_thinned())),
            _ => None,
        }
    }

    /// The rate of a Poisson process that nothing changes, in requests a second.
    pub fn poisson_rate(&self) -> Option<f64> {
        match self.kind {
            Kind::Poisson(gap) if self.pace == Pace::identity() => Some(NANOS_PER_SEC as f64 / gap),
            _ => None,
        }
    }

    /// The one moment at which all requests start, if there is one.
    pub fn moment(&self) -> Option<SimTime> {
        match self.kind {
            Kind::Burst {
                at, spread: 0.0, ..
            } => Some(at),
            _ => None,
        }
    }

    /// Whether each client sends one request at time zero, and no more.
    pub fn is_one_burst(&self) -> bool {
        matches!(
            self.kind,
            Kind::Burst {
                at: SimTime::ZERO,
                requests: 1,
                spread: 0.0
            }
        )
    }

    /// Requests a second of `count` clients, if they come at one rate whatever happens to them; surges left out.
    pub fn steady_rate(&self, count: u32) -> Option<f64> {
        match self.kind {
            // A profile's gap is 1: its rate lies in its pace.
            Kind::Poisson(gap) | Kind::Even(gap) if gap > 1.0 => Some(NANOS_PER_SEC as f64 / gap),
            Kind::Cycle { period, .. } => {
                Some(f64::from(count) * NANOS_PER_SEC as f64 / period as f64)
            }
            _ => None,
        }
    }

    /// Whether every request comes at a time of its own choosing close to the others: a herd.
    pub fn is_burst(&self) -> bool {
        matches!(self.kind, Kind::Burst { .. })
    }

    /// How many times as fast as without surges time passes until `end`, on average.
    pub fn mean_surge(&self, end: SimTime) -> f64 {
        self.pace.passed(end) / (end.as_nanos() as f64).max(1.0)
    }

    /// Requests of `count` clients until `end`, about; for a closed loop the most there can be.
    pub fn expected_requests(&self, count: u64, end: SimTime) -> f64 {
        let (nanos, clients) = (end.as_nanos() as f64, count as f64);
        let operational = self.pace.passed(end);
        match &self.kind {
            Kind::Poisson(gap) | Kind::Even(gap) => operational / gap,
            Kind::Cycle { period, .. } => operational / *period as f64 * clients,
            Kind::Burst { requests, .. } => clients * *requests as f64,
            Kind::Trace { times, .. } => times.len() as f64,
            Kind::ClosedLoop { think, .. } => {
                clients * (1.0 + nanos / (think.mean() * NANOS_PER_SEC as f64).max(1.0))
            }
        }
    }
}

/// Recorded arrivals, and what was assumed about them.
fn read_trace(trace: &Trace, base: &Path, end: SimTime) -> Result<(Kind, String), String> {
    let spec = ColumnSpec {
        column: trace.column.clone(),
        unit: trace.unit,
        content: Content::Instants,
    };
    let column = read_times(&base.join(&trace.file), &spec).map_err(|error| error.to_string())?;
    let note = describe(trace, &column, end);
    let kind = Kind::Trace {
        at: trace.at,
        times: column.values.into(),
        speed: trace.speed,
    };
    Ok((kind, note))
}

/// What was found in a trace, what was assumed about it, and what of it is left out.
fn describe(trace: &Trace, column: &Column, end: SimTime) -> String {
    let last = column.values.last().copied().unwrap_or_default();
    let span = SimDuration::from_millis(last.as_nanos() / 1_000_000);
    let count = column.values.len();
    let mut parts = vec![format!("{}: {count} arrivals over {span}", trace.file)];
    if !column.assumed.is_empty() {
        parts.push(column.assumed.clone());
    }
    match column.unsorted {
        0 => {}
        1 => parts.push("1 row out of order was sorted".into()),
        n => parts.push(format!("{n} rows out of order were sorted")),
    }
    if trace.speed != 1.0 {
        parts.push(format!("replayed {} times as fast", trace.speed));
    }
    let comes = |offset: &SimDuration| trace.at + offset.scale(1.0 / trace.speed) < end;
    let left_out = count - column.values.partition_point(comes);
    if left_out > 0 {
        parts.push(format!(
            "{left_out} of them come after arrivals end and are left out"
        ));
    }
    parts.join(", ")
}

/// The rate of arrivals over time: surges, and the profile if there is one.
fn pace(arrivals: &Arrivals, faults: &FaultSchedule, end: SimTime) -> Pace {
    let mut times = vec![SimTime::ZERO];
    if faults.has_surge() {
        times.extend(faults.changes(end));
    }
    let Arrivals::Profile(profile) = arrivals else {
        times.dedup();
        return if faults.has_surge() {
            Pace::new(&times, |t| faults.surge(t))
        } else {
            Pace::identity()
        };
    };
    times.extend(profile.points.iter().map(|point| point.at));
    times.sort_unstable();
    times.dedup();
    let rate = |t: SimTime| {
        let next = profile.points.partition_point(|point| point.at <= t);
        let per_ns = |i: usize| profile.points[i].rate.as_per_second() / NANOS_PER_SEC as f64;
        let Some(before) = next.checked_sub(1) else {
            return per_ns(0);
        };
        match profile.points.get(next) {
            Some(after) if profile.shape == Between::Linear => {
                let share = (t - profile.points[before].at).as_nanos() as f64
                    / (after.at - profile.points[before].at).as_nanos() as f64;
                per_ns(before) + (per_ns(next) - per_ns(before)) * share
            }
            _ => per_ns(before),
        }
    };
    Pace::new(&times, |t| rate(t) * faults.surge(t))
}
