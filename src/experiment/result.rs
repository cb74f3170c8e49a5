//! What a run of a scenario leaves behind, ready to be reported.

use super::border::Border;
use super::check_result::CheckResult;
use super::compare::Comparisons;
use super::formulas::TheoryRow;
use crate::metrics::{Estimate, FailureReason, Headline, SummaryRow, Tally};
use crate::time::{SimDuration, SimTime};
use serde::Serialize;

/// The outcome of a whole scenario.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// The scenario's name: its file name without the ending.
    pub name: String,
    /// The question it asks: the first comment line of the file, or nothing.
    pub question: String,
    /// The resolved scenario as TOML: every default and the seed.
    pub resolved: String,
    /// The seed of the run.
    pub seed: u64,
    /// Replications of each strategy.
    pub replications: u32,
    /// The half-width of intervals that was wanted.
    pub precision: Option<f64>,
    /// The most replications that are run for a precision.
    pub max_replications: u32,
    /// Requests that start from here count, ...
    pub warmup: SimDuration,
    /// ... those that start up to here.
    pub duration: SimDuration,
    /// Simulated time, drain included.
    pub horizon: SimDuration,
    /// The name of the service.
    pub service: String,
    /// Attempts a second the service can finish, over time; empty when it has no limit.
    pub capacity: Vec<CapacityStep>,
    /// The scheduled faults, in order of time.
    pub faults: Vec<FaultSpan>,
    /// What costs are in, like "EUR" or nothing; `None` without prices.
    pub currency: Option<String>,
    /// How the strategies differ.
    pub comparison: Comparisons,
    /// One result a strategy, in the order of the scenario.
    pub strategies: Vec<StrategyResult>,
    /// One result a check and strategy that has to keep it, in the order of the scenario.
    pub checks: Vec<CheckResult>,
    /// How many times the checks were looked at, when replications were run until they are decided.
    pub looks: Option<u32>,
}

/// From `from` on the service can finish `per_s` attempts a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CapacityStep {
    /// Start.
    pub from: SimTime,
    /// Attempts a second.
    pub per_s: f64,
}

/// A fault from `from` to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// Start.
    pub from: SimTime,
    /// End; the end of the run when it lasts longer.
    pub to: SimTime,
    /// What it is, in a few words, like "outage" or "slow-down ×3".
    pub label: String,
}

/// The outcome of one strategy.
#[derive(Clone, Debug)]
pub struct StrategyResult {
    /// The headline figures. `summary.rank` says how good it is.
    pub summary: SummaryRow,
    /// The success rate with its interval, if any request ended.
    pub success: Option<Estimate>,
    /// The most attempts a request may make; `None` is unlimited.
    pub max_attempts: Option<u64>,
    /// All replications added up.
    pub total: Tally,
    /// The replications one by one.
    pub each: Vec<Headline>,
    /// Share of requests that had succeeded with at most j attempts, j = 1, 2, …
    pub success_by_attempt: Vec<Estimate>,
    /// What theory says.
    pub theory: TheoryLine,
    /// Figures that formulas predict, beside what was seen.
    pub theory_rows: Vec<TheoryRow>,
    /// The load up to which the scenario comes back by itself, or why that cannot be derived.
    pub border: Result<Border, String>,
}

/// A prediction held against what was seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Check {
    /// What the formula says.
    pub predicted: f64,
    /// What the run gave.
    pub observed: f64,
    /// (observed − predicted) ÷ standard error; absent when the error is zero.
    pub z: Option<f64>,
}

/// Points of success lost to one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Why requests failed.
    pub reason: FailureReason,
    /// Share of ended requests that failed for it.
    pub share: f64,
}

/// What theory says about a strategy, and whether it applies.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TheoryLine {
    /// Attempts failed independently of each other and of the load: the formulas hold.
    Independent {
        /// Probability of an attempt failing.
        p: f64,
        /// Attempts at the most; absent when unlimited.
        k: Option<u64>,
        /// Success against 1 − pᵏ.
        success: Check,
        /// Attempts per request against (1 − pᵏ)/(1 − p).
        attempts: Check,
    },
    /// They did not: what was promised, what came, and what it was lost to.
    Dependent {
        /// Why the formulas do not hold, in words.
        why: String,
        /// Probability of an attempt failing, as the scenario states it.
        p: f64,
        /// 1 − pᵏ.
        promised: f64,
        /// The success rate seen.
        came: f64,
        /// Losses, largest first.
        losses: Vec<Loss>,
    },
    /// No request ended.
    Nothing,
}
