//! Whether the window of a run is long enough to say anything.
//!
//! The slowest thing in a scenario decides how long it must be watched: a queue near its capacity forgets its
//! empty start only after hundreds of service times, a client that pauses for a minute makes no requests in ten
//! seconds. A window that is short against these gives numbers that are wrong in one direction.

use super::load::{Load, attempts, verdict_rule};
use crate::decode::{Problem, Severity};
use crate::scenario::{Plan, Scenario};
use crate::theory::queues::relaxation_time;
use crate::time::SimDuration;

/// A queue is watched for so many of its relaxation times.
const RELAXATIONS: f64 = 10.0;
/// Clients of a closed loop should make so many requests each.
const PAUSES: f64 = 3.0;

/// Warnings about a run whose window is short against what happens in it.
pub fn window_warnings(scenario: &Scenario, plan: &Plan) -> Vec<Problem> {
    let found = [
        short_for_queue(plan),
        short_for_pauses(plan),
        short_for_requests(plan),
        short_after_faults(plan),
    ];
    let path = "run.duration";
    let problem = |(reason, remedy)| Problem {
        severity: Severity::Warning,
        place: scenario.document.place_of(path),
        path: path.into(),
        reason,
        remedy,
    };
    found.into_iter().flatten().map(problem).collect()
}

/// The length of the measuring window.
fn window(plan: &Plan) -> SimDuration {
    plan.world.duration.saturating_sub(plan.world.warmup)
}

/// A reason and a remedy.
type Warning = Option<(String, String)>;

fn short_for_queue(plan: &Plan) -> Warning {
    let window = window(plan);
    let slowest = plan
        .compared
        .iter()
        .filter_map(|&i| queue_relaxation(plan, i))
        .reduce(|a, b| if b.0 > a.0 { b } else { a });
    let (relaxation, utilisation) = slowest?;
    let least = RELAXATIONS * relaxation;
    (window.as_secs_f64() < least).then(|| {
        let percent = utilisation * 100.0;
        let reason = format!(
            "a queue at {percent:.0} % of its capacity forgets its empty start in about {relaxation:.3} s, and {window} are measured after {} of warm-up: waits come out too short",
            plan.world.warmup
        );
        (reason, measure_for(least))
    })
}

fn measure_for(seconds: f64) -> String {
    let least = SimDuration::from_secs_f64(seconds.ceil());
    format!("measure for at least {least}")
}

fn short_for_pauses(plan: &Plan) -> Warning {
    let window = window(plan);
    let pauses = plan.world.groups.iter();
    let pauses = pauses.filter_map(|group| Some((group.arrivals.pause()?.0, &group.name)));
    let (pause, name) = pauses.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    (window.as_secs_f64() < PAUSES * pause).then(|| {
        let reason = format!(
            "clients of \"{name}\" pause for {pause} s on average and {window} are measured: most make fewer than three requests"
        );
        (reason, measure_for(PAUSES * pause))
    })
}

fn short_for_requests(plan: &Plan) -> Warning {
    let (life, name) = longest_life(plan)?;
    let window = window(plan);
    let seconds = window.as_secs_f64() + plan.world.drain.as_secs_f64();
    (life > seconds).then(|| {
        let reason = format!(
            "a request of \"{name}\" may take {life:.3} s and {window} are measured: what takes long is left out as unfinished"
        );
        (reason, "lengthen `duration` or `drain`".into())
    })
}

fn short_after_faults(plan: &Plan) -> Warning {
    let rule = verdict_rule(plan, *plan.compared.first()?);
    let (_, to) = rule.faults?;
    let rest = rule.arrivals_end.since(to);
    (rest > SimDuration::ZERO && rest < rule.settle).then(|| {
        let reason = format!(
            "only {rest} remain after the last fault, and success has to be back for {} to count as recovered",
            rule.settle
        );
        (reason, "lengthen `duration`, or shorten `settle`".into())
    })
}

/// The relaxation time of the queue under a strategy in seconds, and its utilisation.
fn queue_relaxation(plan: &Plan, strategy: usize) -> Option<(f64, f64)> {
    let load = Load::of(plan, strategy);
    let utilisation = load.utilisation().filter(|&u| u < 1.0)?;
    Some((
        relaxation_time(utilisation, load.capacity_per_s?),
        utilisation,
    ))
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
