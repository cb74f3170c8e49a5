//! Rules over several parts of a scenario. Rules of one part stand with that part.

use super::spec::ScenarioSpec;
use crate::decode::{Document, Reader, nearest};
use crate::dist::{Distribution, Form};
use crate::model::{Arrivals, FaultSpec, Outage, ServiceSpec, StrategySpec};
use crate::policy::{Backoff, MaxAttempts};
use crate::time::{SimDuration, SimTime};

/// Notes what does not fit together.
pub(super) fn validate(spec: &ScenarioSpec, document: &Document, reader: &mut Reader) {
    check_names(spec, document, reader);
    check_groups(spec, document, reader);
    for (i, fault) in spec.fault.iter().enumerate() {
        let path = format!("fault[{i}]");
        document.within(&path, reader, |reader| check_fault(spec, fault, reader));
    }
    for (i, strategy) in spec.strategy.iter().enumerate() {
        let path = format!("strategy[{i}]");
        document.within(&path, reader, |reader| {
            check_strategy(spec, strategy, reader)
        });
    }
}

fn check_names(spec: &ScenarioSpec, document: &Document, reader: &mut Reader) {
    for (i, strategy) in spec.strategy.iter().enumerate() {
        if let Some(first) = spec.strategy[..i]
            .iter()
            .position(|other| other.name == strategy.name)
        {
            document.within(&format!("strategy[{i}].name"), reader, |reader| {
                let reason = format!("strategy {} is named like strategy {}", i + 1, first + 1);
                reader.error_here(reason, "give each strategy a name of its own");
            });
        }
    }
    for (i, group) in spec.clients.0.iter().enumerate() {
        if spec.clients.0[..i]
            .iter()
            .any(|other| other.name == group.name)
        {
            document.within(&format!("clients[{i}]"), reader, |reader| {
                reader.error_here(
                    "two client groups have the same name",
                    "give each a `name` of its own",
                );
            });
        }
    }
    document.within("strategy", reader, |reader| {
        if spec.strategy.is_empty() {
            reader.error_here(
                "a scenario needs at least one strategy",
                "add a [[strategy]] table",
            );
        } else if spec.strategy.iter().all(|strategy| !strategy.compare) {
            reader.error_here(
                "no strategy is left to compare",
                "remove `compare = false` from one of them",
            );
        }
    });
}

fn check_groups(spec: &ScenarioSpec, document: &Document, reader: &mut Reader) {
    if spec.clients.0.len() > 100 {
        document.within("clients", reader, |reader| {
            reader.error_here(
                "more than 100 client groups",
                "put clients that behave alike in one group",
            );
        });
    }
    for (i, group) in spec.clients.0.iter().enumerate() {
        let path = if spec.clients.0.len() == 1 {
            "clients".to_owned()
        } else {
            format!("clients[{i}]")
        };
        document.within(&path, reader, |reader| {
            let Some(wanted) = &group.strategy else {
                return;
            };
            let names = || spec.strategy.iter().map(|strategy| strategy.name.as_str());
            if !names().any(|name| name == wanted) {
                let remedy = nearest(wanted, names()).map_or_else(
                    || "name one of the [[strategy]] tables".into(),
                    |near| format!("did you mean \"{near}\"?"),
                );
                reader.error_here(format!("there is no strategy \"{wanted}\""), remedy);
            }
        });
    }
    let all_pinned = spec.clients.0.iter().all(|group| group.strategy.is_some());
    if all_pinned
        && spec
            .strategy
            .iter()
            .filter(|strategy| strategy.compare)
            .count()
            > 1
    {
        document.within("clients", reader, |reader| {
            let reason = "every client group has a strategy of its own, so all compared strategies do the same";
            reader.warn_here(reason, "leave `strategy` out of the group whose strategies you compare");
        });
    }
}

fn check_fault(spec: &ScenarioSpec, fault: &FaultSpec, reader: &mut Reader) {
    let end = SimTime::ZERO + spec.run.duration + spec.run.drain;
    if fault.at >= end {
        let reason = format!(
            "the fault starts at {}, but the run ends at {end}",
            fault.at
        );
        reader.error_here(reason, "start it earlier, or lengthen `run.duration`");
    }
    let Some((name, service)) = spec.service.0.first() else {
        return;
    };
    if service.workers.0.is_none() && (fault.workers.is_some() || fault.capacity.is_some()) {
        let reason =
            format!("the fault limits workers, but \"{name}\" has an unlimited number of them");
        reader.error_here(reason, format!("give [service.{name}] a number of workers"));
    }
    if fault.surge.is_some() {
        let fixed =
            |arrivals: &Arrivals| matches!(arrivals, Arrivals::Trace(_) | Arrivals::Burst(_));
        if spec.clients.0.iter().all(|group| fixed(&group.arrivals)) {
            reader.warn_here(
                "the surge has no effect: bursts and traces have fixed times",
                "use another arrival process",
            );
        }
    }
    if fault.outage == Some(Outage::Hang) {
        for strategy in spec
            .strategy
            .iter()
            .filter(|s| s.attempt_timeout.is_none() && s.deadline.is_none())
        {
            let reason = format!(
                "while the service hangs, \"{}\" waits for ever",
                strategy.name
            );
            reader.warn_here(reason, "give the strategy an attempt_timeout or a deadline");
        }
    }
}

fn check_strategy(spec: &ScenarioSpec, strategy: &StrategySpec, reader: &mut Reader) {
    let constant = strategy.attempt_timeout.as_ref().and_then(always);
    if let (Some(limit), Some(timeout)) = (strategy.deadline, constant)
        && timeout > limit
    {
        let reason =
            format!("the attempt timeout of {timeout} is longer than the deadline of {limit}");
        reader.warn_here(reason, "the deadline ends every attempt first");
    }
    let Some((_, service)) = spec.service.0.first() else {
        return;
    };
    if strategy.max_attempts == MaxAttempts::Unlimited
        && never_waits(&strategy.backoff)
        && answers_at_once(spec, service)
    {
        let reason = "immediate retries without a limit against a refusal that takes no time would stop the clock";
        reader.error_here(
            reason,
            "limit max_attempts, add a backoff, or give the network a delay",
        );
    }
}

/// The time, when a distribution has only one.
fn always(distribution: &Distribution) -> Option<SimDuration> {
    match &distribution.0 {
        Form::Zero => Some(SimDuration::ZERO),
        Form::Constant(constant) => Some(constant.value),
        _ => None,
    }
}

/// Whether no retry ever waits.
fn never_waits(backoff: &Backoff) -> bool {
    [1, 2, 3, 10, 1_000]
        .iter()
        .all(|&retry| backoff.bounds(retry).1 == SimDuration::ZERO)
}

/// Whether the service can refuse or fail an attempt in no time at all.
fn answers_at_once(spec: &ScenarioSpec, service: &ServiceSpec) -> bool {
    let instant = |distribution: &Distribution| always(distribution) == Some(SimDuration::ZERO);
    let no_distance = instant(&service.network.request) && instant(&service.network.response);
    let refuses = service.queue.capacity.0.is_some() && service.workers.0.is_some()
        || spec
            .fault
            .iter()
            .any(|fault| fault.outage == Some(Outage::Refuse));
    let can_fail =
        !service.failures.is_empty() || spec.fault.iter().any(FaultSpec::changes_failures);
    let fails = can_fail && (!service.failures_take_time || instant(&service.service_time));
    no_distance && (refuses || fails)
}
