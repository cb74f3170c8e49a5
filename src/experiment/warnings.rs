//! Whether the window of a run is long enough to say anything.
//!
//! The slowest thing in a scenario decides how long it must be watched: a queue near its capacity forgets its
//! empty start only after hundreds of service times, a client that pauses for a minute makes no requests in ten
//! seconds. A window that is short against these gives numbers that are wrong in one direction.

use super::load::{Load, attempts};
use crate::decode::{Problem, Severity};
use crate::scenario::{Plan, Scenario};
use crate::time::SimDuration;

/// A queue is watched for so many of its relaxation times.
const RELAXATIONS: f64 = 10.0;
/// Clients of a closed loop should make so many requests each.
const PAUSES: f64 = 3.0;

/// Warnings about a run whose window is short against what happens in it.
pub fn window_warnings(scenario: &Scenario, plan: &Plan) -> Vec<Problem> {
    let world = &plan.world;
    let window = world.duration.saturating_sub(world.warmup);
    let seconds = window.as_secs_f64();
    let mut problems = Vec::new();
    let mut warn = |path: &str, reason: String, remedy: String| {
        problems.push(Problem {
            severity: Severity::Warning,
            place: scenario.document.place_of(path),
            path: path.into(),
            reason,
            remedy,
        });
    };
    let all = plan.compared.iter();
    let queue = all.clone().filter_map(|&i| queue_relaxation(plan, i));
    if let Some((relaxation, utilisation)) = queue.reduce(|a, b| if a.0 > b.0 { a } else { b })
        && seconds < RELAXATIONS * relaxation
    {
        let least = SimDuration::from_secs_f64((RELAXATIONS * relaxation).ceil());
        warn(
            "run.duration",
            format!(
                "a queue at {:.0} % of its capacity forgets its empty start in about {:.3} s, and only {window} are measured after {} of warm-up: waits come out too short",
                utilisation * 100.0,
                relaxation,
                world.warmup,
            ),
            format!("measure for at least {least}"),
        );
    }
    for group in &world.groups {
        if let Some((pause, _)) = group
            .arrivals
            .pause()
            .filter(|(pause, _)| seconds < PAUSES * pause)
        {
            warn(
                "run.duration",
                format!(
                    "clients of \"{}\" pause for {pause} s on average and {window} are measured: most make fewer than three requests",
                    group.name
                ),
                format!(
                    "measure for at least {}",
                    SimDuration::from_secs_f64((PAUSES * pause).ceil())
                ),
            );
        }
    }
    if let Some((life, name)) = longest_life(plan)
        && life > seconds + world.drain.as_secs_f64()
    {
        warn(
            "run.duration",
            format!(
                "a request of \"{name}\" may take {life:.3} s and {window} are measured: what takes long is left out as unfinished"
            ),
            "lengthen `duration` or `drain`".into(),
        );
    }
    if let Some((_, to)) =
        super::load::verdict_rule(plan, plan.compared.first().copied().unwrap_or(0)).faults
    {
        let end = crate::time::SimTime::ZERO + world.duration;
        let rest = end.since(to);
        if rest < plan.settle && to < end {
            warn(
                "run.duration",
                format!(
                    "only {rest} remain after the last fault, and success has to be back for {} to count as recovered",
                    plan.settle
                ),
                "lengthen `duration`, or shorten `settle`".into(),
            );
        }
    }
    problems
}

/// The relaxation time of the queue under a strategy in seconds, 1 / (cμ (1 − √ρ)²), and its utilisation.
///
/// Source: Cohen, "The Single Server Queue", §III.7: the slowest mode of M/M/1, used here for c servers as one
/// fast one.
fn queue_relaxation(plan: &Plan, strategy: usize) -> Option<(f64, f64)> {
    let load = Load::of(plan, strategy);
    let utilisation = load.utilisation().filter(|&u| u < 1.0)?;
    let slack = 1.0 - utilisation.sqrt();
    Some((1.0 / (load.capacity_per_s? * slack * slack), utilisation))
}

/// Retries whose longest delays are added up.
const MOST_RETRIES: u64 = 1_000;

/// The longest that a request of a strategy with limited attempts can take when every attempt times out, in seconds.
fn longest_life(plan: &Plan) -> Option<(f64, &str)> {
    let life = |&i: &usize| {
        let strategy = &plan.strategies[i];
        let k = attempts(plan, i);
        if k > MOST_RETRIES {
            return None;
        }
        let timeout = strategy.attempt_timeout.as_ref()?.constant()?.as_secs_f64();
        let delays = (1..k).map(|n| strategy.rule.backoff.bounds(n).1.as_secs_f64());
        let all = timeout * k as f64 + delays.sum::<f64>();
        let all = strategy
            .deadline
            .map_or(all, |limit| all.min(limit.as_secs_f64()));
        Some((all, strategy.name.as_str()))
    };
    plan.compared
        .iter()
        .filter_map(life)
        .reduce(|a, b| if b.0 > a.0 { b } else { a })
}
