//! Whether strategies keep what their scenario asks of them.
//!
//! A build that fails by chance is soon ignored, and one that passes by chance lets the storm through. So a check is
//! decided only by a whole interval: on the right side of its value it holds, on the wrong side it does not, and in
//! between it is said to be undecided, with the number of replications that would decide it.

use super::check_result::{CheckOutcome, CheckResult};
use super::decide::{Open, confidence_at, stands};
use super::result::StrategyResult;
use crate::metrics::{Estimate, ReplicationRow, Unit, Verdict};
use crate::scenario::{MetricName, Plan, PlannedCheck};

/// How checks are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Which look it is, from 1; `None` is the only one there will be.
    pub(super) number: Option<u32>,
    /// The replications that the scenario asks for, which counts are of.
    pub(super) asked: u32,
}

/// Every check of every strategy that has to keep it; `strategies` are those of `plan.compared`.
pub(super) fn check_all(
    plan: &Plan,
    strategies: &[StrategyResult],
    look: Look,
) -> Vec<CheckResult> {
    let mut results = Vec::new();
    for (number, check) in (1..).zip(&plan.checks) {
        for &index in &check.strategies {
            let place = plan.compared.iter().position(|&compared| compared == index);
            let name = &plan.strategies[index].name;
            let unknown = unknown(number, check, name, look);
            results.push(match place {
                Some(place) => decided(unknown, check, &strategies[place], look),
                None => unknown,
            });
        }
    }
    results
}

/// Replications that the undecided checks need; `None` when all are decided.
pub(super) fn replications_for_checks(now: u32, checks: &[CheckResult]) -> Option<u32> {
    let open = checks
        .iter()
        .filter(|c| c.outcome == CheckOutcome::Undecided);
    // What no number decides as it stands may stand elsewhere after some more.
    let needed = open.map(|check| check.replications_to_decide.unwrap_or(u64::MAX));
    let needed = u32::try_from(needed.max()?).unwrap_or(u32::MAX);
    // Small steps would only be more looks, each of which has to be surer.
    Some(needed.max(now.saturating_add(now / 2)))
}

fn unknown(number: usize, check: &PlannedCheck, strategy: &str, look: Look) -> CheckResult {
    let spec = &check.spec;
    let confidence = spec.confidence.get();
    CheckResult {
        number,
        words: spec.words(),
        metric: spec.metric,
        relation: spec.relation,
        bound: check.bound,
        strategy: strategy.into(),
        outcome: CheckOutcome::NotChecked,
        estimate: None,
        misses_by: None,
        confidence,
        interval_confidence: confidence_at(confidence, look.number),
        replications: 0,
        replications_to_decide: None,
        note: "the strategy was not run".into(),
    }
}

fn decided(
    mut result: CheckResult,
    check: &PlannedCheck,
    strategy: &StrategyResult,
    look: Look,
) -> CheckResult {
    result.replications = strategy.each.len() as u32;
    result.note = String::new();
    if let Some(note) = beyond_measure(result.metric, strategy) {
        result.outcome = whether(result.relation.wants_more());
        result.note = note;
        return result;
    }
    let Some(estimate) = figure(&result, strategy, look) else {
        result.outcome = CheckOutcome::DoesNotHold;
        result.note = why_none(result.metric, strategy);
        return result;
    };
    result.estimate = Some(estimate);
    let above = estimate.mean - check.bound;
    result.misses_by = Some(if result.relation.wants_more() {
        0.0 - above
    } else {
        above
    });
    let interval = estimate.low.zip(estimate.high);
    let stand = interval.and_then(|ends| stands(result.relation, check.bound, ends));
    if result.metric.0.unit == Unit::Count && look.asked != result.replications {
        result.note = format!("a count of {} replications", look.asked);
    }
    result.outcome = stand.map_or(CheckOutcome::Undecided, whether);
    match interval {
        None if result.replications > 1 => {
            result.note = "a single replication has this figure".into();
        }
        None => result.note = "a single replication has no interval".into(),
        Some(_) if stand.is_none() => leave_open(&mut result, strategy, estimate, look),
        Some(_) => {}
    }
    result
}

fn whether(holds: bool) -> CheckOutcome {
    match holds {
        true => CheckOutcome::Holds,
        false => CheckOutcome::DoesNotHold,
    }
}

/// Says how many replications would decide a check.
fn leave_open(result: &mut CheckResult, strategy: &StrategyResult, estimate: Estimate, look: Look) {
    let open = Open {
        estimate,
        replications: strategy.each.len(),
        trials: trials(result.metric, strategy, &estimate, look),
    };
    let next = confidence_at(result.confidence, look.number.map(|number| number + 1));
    result.replications_to_decide = open.replications_to_tell(result.bound, next);
    if result.replications_to_decide.is_none() {
        result.note = "no number of replications would decide it as it stands".into();
    }
}

/// Where Wilson's interval is of trials: how many there are in a replication, and the figure when all succeed.
fn trials(
    metric: MetricName,
    strategy: &StrategyResult,
    estimate: &Estimate,
    look: Look,
) -> Option<(f64, f64)> {
    if metric.0.is_share_of_replications() {
        let whole = match metric.0.unit {
            Unit::Count => f64::from(look.asked),
            _ => 1.0,
        };
        return Some((1.0, whole));
    }
    // Equal replications have no scatter; where they still have an interval it is of the requests.
    let rows = strategy.each.iter().map(|run| &run.row);
    let ended: u64 = rows.map(ReplicationRow::ended).sum();
    let equal = estimate.standard_error == Some(0.0) && ended > 0;
    equal.then(|| (ended as f64 / strategy.each.len() as f64, 1.0))
}

/// The figure with the interval of this look.
fn figure(result: &CheckResult, strategy: &StrategyResult, look: Look) -> Option<Estimate> {
    let metric = result.metric.0;
    let confidence = result.interval_confidence;
    if metric.name == "recovery_s" {
        let each: Option<Vec<f64>> = strategy
            .each
            .iter()
            .map(|run| back_after(&run.row))
            .collect();
        return Estimate::with_confidence(&each?, confidence);
    }
    let estimate = metric.estimate(&strategy.summary, &strategy.each, confidence)?;
    // A sum grows with every replication; what is asked must not change while it is answered.
    let asked = f64::from(look.asked) / strategy.each.len() as f64;
    Some(match metric.unit {
        Unit::Count => estimate.times(asked),
        _ => estimate,
    })
}

/// Seconds after the last fault until success was back in a replication; `None` when it did not come back.
fn back_after(row: &ReplicationRow) -> Option<f64> {
    match row.verdict {
        Verdict::Stable => Some(0.0),
        Verdict::Recovered => row.recovery_s,
        Verdict::Degraded | Verdict::Collapsed | Verdict::Overloaded => None,
    }
}

/// Why a figure counts as larger than any value: some replications never came back, where the check is about coming back,
/// or were down from the start, where it is about collapsing.
fn beyond_measure(metric: MetricName, strategy: &StrategyResult) -> Option<String> {
    let rows = || strategy.each.iter().map(|run| &run.row);
    let never = rows().filter(|row| back_after(row).is_none()).count();
    let overloaded = rows().filter(|row| row.verdict == Verdict::Overloaded);
    let (count, what) = match metric.0.name {
        "recovery_s" => (never, "did not come back"),
        "collapsed_share" | "collapsed_replications" => (
            overloaded.count(),
            "had too much load before any fault, so there was nothing to collapse from",
        ),
        _ => (0, ""),
    };
    let all = strategy.each.len();
    (count > 0).then(|| format!("{count} of {all} replications {what}"))
}

/// Why a figure does not exist.
fn why_none(metric: MetricName, strategy: &StrategyResult) -> String {
    match metric.0.name {
        "hidden_capacity_per_s" => match &strategy.border {
            Err(why) => format!("it cannot be derived: {why}"),
            Ok(_) => "it cannot be derived".into(),
        },
        name if name.starts_with("latency_") => "no request succeeded".into(),
        "success_rate" | "success_behind_best" => "no request ended".into(),
        "amplification" | "cost_per_1000_requests" => "no request arrived".into(),
        name if name.starts_with("wasted_") => "the service did nothing".into(),
        _ => "no replication has this figure".into(),
    }
}
