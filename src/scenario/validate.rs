//! Rules over several parts of a scenario. Rules of one part stand with that part.

use super::decisions::{check_decisions, check_sweep};
use super::effects::{check_effects, check_service};
use super::rules::Rules;
use super::spec::ScenarioSpec;
use super::strategies::check_strategy;
use crate::decode::{Document, Reader, nearest, shown};
use crate::model::{Arrivals, FaultSpec, Outage, StrategySpec};
use crate::time::SimTime;

/// More client groups than this are a mistake.
const MOST_GROUPS: usize = 100;
/// More strategies than this cannot be compared by anybody.
const MOST_STRATEGIES: usize = 1_000;
/// More faults than this cannot be told apart on any chart.
const MOST_FAULTS: usize = 1_000;
/// How often all faults together may change the world.
const MOST_CHANGES: usize = 200_000;

/// Notes what does not fit together. A rule is silent where one of the parts it is about could not be read.
pub(super) fn validate(spec: &ScenarioSpec, document: &Document, reader: &mut Reader) {
    let mut rules = Rules { document, reader };
    check_names(spec, &mut rules);
    check_groups(spec, &mut rules);
    for (i, fault) in spec.fault.iter().enumerate().take(MOST_FAULTS) {
        check_fault(spec, fault, &format!("fault[{i}]"), &mut rules);
    }
    check_changes(spec, &mut rules);
    check_service(spec, &mut rules);
    check_decisions(spec, &mut rules);
    check_sweep(spec, &mut rules);
    for (i, strategy) in spec.strategy.iter().enumerate().take(MOST_STRATEGIES) {
        check_strategy(spec, strategy, &format!("strategy[{i}]"), &mut rules);
        check_effects(spec, strategy, &format!("strategy[{i}]"), &mut rules);
    }
}

/// The path of a client group: there may be one table or a list of them.
pub(super) fn group_path(spec: &ScenarioSpec, index: usize) -> String {
    match spec.clients.0.len() {
        1 => "clients".into(),
        _ => format!("clients[{index}]"),
    }
}

fn check_names(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    if spec.strategy.len() > MOST_STRATEGIES {
        let reason = format!(
            "{} strategies are more than {MOST_STRATEGIES}",
            spec.strategy.len()
        );
        rules.error("strategy", &[], reason, "put them in several scenarios");
        return;
    }
    for (i, strategy) in spec.strategy.iter().enumerate() {
        let same = |other: &StrategySpec| other.name == strategy.name;
        if let Some(first) = spec.strategy[..i].iter().position(same) {
            let reason = format!("strategies {} and {} have the same name", first + 1, i + 1);
            let (path, other) = (
                format!("strategy[{i}].name"),
                format!("strategy[{first}].name"),
            );
            rules.error(
                &path,
                &[&other],
                reason,
                "give each strategy a name of its own",
            );
        }
    }
    for (i, group) in spec.clients.0.iter().enumerate().take(MOST_GROUPS) {
        if spec.clients.0[..i]
            .iter()
            .any(|other| other.name == group.name)
        {
            let reason = "two client groups have the same name";
            let path = format!("{}.name", group_path(spec, i));
            rules.error(&path, &[], reason, "give each group a `name` of its own");
        }
    }
    if spec.strategy.is_empty() {
        let reason = "a scenario needs at least one strategy";
        rules.error("strategy", &[], reason, "add a [[strategy]] table");
    } else if spec.strategy.iter().all(|strategy| !strategy.compare) {
        let reason = "no strategy is left to compare";
        let remedy = "remove `compare = false` from one of them";
        rules.error("strategy[0].compare", &["strategy"], reason, remedy);
    }
}

/// A burst outside the run would be no burst at all.
fn check_burst(spec: &ScenarioSpec, index: usize, rules: &mut Rules<'_>) {
    let Arrivals::Burst(burst) = &spec.clients.0[index].arrivals else {
        return;
    };
    let end = SimTime::ZERO + spec.run.duration;
    let path = format!("{}.arrivals.burst", group_path(spec, index));
    let parts = ["run.duration"];
    let remedy = "let it come earlier, or lengthen `run.duration`";
    if burst.at >= end {
        let reason = format!("the burst comes at {}, but arrivals end at {end}", burst.at);
        rules.error(&format!("{path}.at"), &parts, reason, remedy);
    } else if burst.at + burst.spread > end {
        let reason = format!("arrivals end at {end}, before all of the burst has come");
        rules.warn(&format!("{path}.spread"), &parts, reason, remedy);
    }
}

fn check_groups(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    if spec.clients.0.len() > MOST_GROUPS {
        let reason = format!(
            "{} client groups are more than {MOST_GROUPS}",
            spec.clients.0.len()
        );
        rules.error(
            "clients",
            &[],
            reason,
            "put clients that behave alike in one group",
        );
        return;
    }
    for (i, group) in spec.clients.0.iter().enumerate() {
        check_burst(spec, i, rules);
        let Some(wanted) = &group.strategy else {
            continue;
        };
        let names = || spec.strategy.iter().map(|strategy| strategy.name.as_str());
        if names().any(|name| name == wanted) {
            continue;
        }
        let remedy = nearest(wanted, names()).map_or_else(
            || "give the name of one of the [[strategy]] tables".into(),
            |near| format!("did you mean \"{near}\"?"),
        );
        let reason = format!("there is no strategy \"{}\"", shown(wanted));
        let path = format!("{}.strategy", group_path(spec, i));
        let read = |i: usize| rules.reader.was_read(&format!("strategy[{i}].name"));
        if (0..spec.strategy.len()).all(read) && rules.reader.list_was_read("strategy") {
            rules.error(&path, &[], reason, &remedy);
        }
    }
    let all_pinned = spec.clients.0.iter().all(|group| group.strategy.is_some());
    let compared = spec.strategy.iter().filter(|strategy| strategy.compare);
    if all_pinned && compared.count() > 1 && !spec.clients.0.is_empty() {
        let reason =
            "every client group has a strategy of its own, so all compared strategies do the same";
        let remedy = "leave `strategy` out of the group whose strategies you compare";
        rules.warn("clients", &["strategy"], reason, remedy);
    }
}

fn check_fault(spec: &ScenarioSpec, fault: &FaultSpec, path: &str, rules: &mut Rules<'_>) {
    let at = |key: &str| format!("{path}.{key}");
    let end = SimTime::ZERO + spec.run.duration + spec.run.drain;
    if fault.at >= end {
        let reason = format!(
            "the fault starts at {}, but the run ends at {end}",
            fault.at
        );
        let remedy = "start it earlier, or lengthen `run.duration`";
        rules.error(&at("at"), &["run"], reason, remedy);
    }
    let Some((name, service)) = spec.service.0.first() else {
        return;
    };
    let limits = if fault.workers.is_some() {
        "workers"
    } else {
        "capacity"
    };
    if service.workers.0.is_none() && (fault.workers.is_some() || fault.capacity.is_some()) {
        let reason = format!(
            "the fault limits workers, but \"{}\" has an unlimited number of them",
            shown(name)
        );
        let remedy = "give the service a number of workers";
        rules.error(&at(limits), &["service"], reason, remedy);
    }
    if let (Some(left), Some(workers)) = (fault.workers, service.workers.0)
        && left > workers
    {
        let reason = format!("the fault leaves {left} workers, but there are only {workers}");
        let remedy = "a fault takes workers away: give a smaller number";
        rules.warn(&at("workers"), &["service"], reason, remedy);
    }
    if fault.surge.is_some() {
        let fixed =
            |arrivals: &Arrivals| matches!(arrivals, Arrivals::Trace(_) | Arrivals::Burst(_));
        if spec.clients.0.iter().all(|group| fixed(&group.arrivals)) {
            let reason = "the surge has no effect: bursts and traces have fixed times";
            rules.warn(
                &at("surge"),
                &["clients"],
                reason,
                "use another arrival process",
            );
        }
    }
    if fault.outage == Some(Outage::Hang) {
        let waits = |s: &&StrategySpec| s.attempt_timeout.is_none() && s.deadline.is_none();
        for strategy in spec.strategy.iter().filter(waits) {
            let reason = format!(
                "while the service hangs, \"{}\" waits for ever",
                shown(&strategy.name)
            );
            let remedy = "give the strategy an attempt_timeout or a deadline";
            rules.warn(&at("outage"), &["strategy"], reason, remedy);
        }
    }
}

/// Every change costs a look at every fault, in every run.
fn check_changes(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    let faults = spec.fault.len();
    if faults > MOST_FAULTS {
        let reason = format!("{faults} faults are more than {MOST_FAULTS}");
        rules.error(
            "fault",
            &[],
            reason,
            "use `every` and `times` for a fault that comes again",
        );
        return;
    }
    let end = SimTime::ZERO + spec.run.duration + spec.run.drain;
    let changes: usize = spec
        .fault
        .iter()
        .map(|fault| fault.count_changes(end))
        .sum();
    if changes.saturating_mul(faults.max(10)) > MOST_CHANGES * 10 {
        let reason = format!("the faults change the world {changes} times, which takes too long");
        let remedy = "let them come less often, or without ramps";
        rules.error("fault", &["run"], reason, remedy);
    }
}
