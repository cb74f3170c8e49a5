//! What became of a run: did success leave its baseline, and did it come back?
//!
//! A mean over a run that tipped half-way says nothing. So success is followed by the time at which requests
//! started, and each run gets one of five words.

use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};

/// What became of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Success never left its baseline.
    Stable,
    /// It left its baseline and came back.
    Recovered,
    /// Neither back nor collapsed.
    Degraded,
    /// Success in the final window was below half of its baseline.
    Collapsed,
    /// There was no sound baseline: too much load from the start.
    Overloaded,
}

impl Verdict {
    /// All of them, from best to worst.
    pub const ALL: [Self; 5] = [
        Self::Stable,
        Self::Recovered,
        Self::Degraded,
        Self::Collapsed,
        Self::Overloaded,
    ];

    /// The word in output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stable => "stable",
            Self::Recovered => "recovered",
            Self::Degraded => "degraded",
            Self::Collapsed => "collapsed",
            Self::Overloaded => "overloaded",
        }
    }
}

/// What a run is judged by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerdictRule {
    /// Requests count from here.
    pub measured_from: SimTime,
    /// Requests arrive until here.
    pub arrivals_end: SimTime,
    /// The start of the first fault and the end of the last one, if there are any.
    pub faults: Option<(SimTime, SimTime)>,
    /// Success has to stay back for so long; also the length of the final window.
    pub settle: SimDuration,
    /// The success that independent failures alone would leave.
    pub promised: f64,
    /// Whether all requests start together, so that there is no before and after.
    pub one_wave: bool,
    /// Whether the offered load is above what the service can do, without any fault.
    pub too_much_load: bool,
}

/// How success went in one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// The judgement.
    pub verdict: Verdict,
    /// Success of the requests that started before the first fault (without faults: in the first third of the
    /// measuring window); what was promised when there are none, or when all requests start together.
    pub baseline: f64,
    /// Success of the requests that started in the final window, if there were any.
    pub last: Option<f64>,
    /// Seconds from the end of the last fault until success was back for good; only of runs that recovered.
    pub recovery_s: Option<f64>,
}
