//! Rules about what is asked of a scenario: comparisons, checks and sweeps are about things that are there.

use super::rules::Rules;
use super::spec::ScenarioSpec;
use super::sweep::{SWEEP_COLUMNS, columns};
use crate::decode::{nearest, shown};
use crate::metrics::Unit;

/// The strategy that something names is one of those compared.
fn check_named(spec: &ScenarioSpec, wanted: &str, path: &str, rules: &mut Rules<'_>) {
    let compared = spec.strategy.iter().filter(|strategy| strategy.compare);
    let names = || compared.clone().map(|strategy| strategy.name.as_str());
    let read = |i: usize| rules.reader.was_read(&format!("strategy[{i}].name"));
    let all_read = (0..spec.strategy.len()).all(read) && rules.reader.list_was_read("strategy");
    if !all_read || names().any(|name| name == wanted) {
        return;
    }
    let all = || names().map(shown).collect::<Vec<_>>().join(", ");
    let remedy = match nearest(wanted, names()) {
        Some(near) => format!("did you mean \"{near}\"?"),
        None => format!("give one of the compared strategies: {}", all()),
    };
    let reason = format!("no compared strategy is named \"{}\"", shown(wanted));
    rules.error(path, &[], reason, &remedy);
}

/// What checks and comparisons are about has to be there.
pub(super) fn check_decisions(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    if let Some(baseline) = &spec.compare.baseline {
        check_named(spec, baseline, "compare.baseline", rules);
    }
    for (i, check) in spec.check.iter().enumerate() {
        if let Some(strategy) = &check.strategy {
            check_named(spec, strategy, &format!("check[{i}].strategy"), rules);
        }
        let path = format!("check[{i}].metric");
        let name = check.metric.0.name;
        if name == "recovery_s" && spec.fault.is_empty() {
            let remedy = "add a [[fault]], or check another figure";
            let reason = "there is no fault to recover from";
            rules.error(&path, &["fault"], reason, remedy);
        } else if check.metric.0.unit == Unit::Money && spec.cost.is_none() {
            let reason = "nothing has a price";
            rules.error(&path, &["cost"], reason, "add a [cost] table");
        }
    }
}

/// Each key of a sweep varies once, under whatever spelling, and each column has a name of its own.
pub(super) fn check_sweep(spec: &ScenarioSpec, rules: &mut Rules<'_>) {
    let Some(sweep) = &spec.sweep else {
        return;
    };
    if !rules.reader.was_read("sweep") {
        return;
    }
    let mut keys: Vec<String> = Vec::new();
    for (i, axis) in sweep.axis.iter().enumerate() {
        for key in axis.all_keys() {
            let plain = rules.document.plain_path(key);
            let below =
                |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
            let taken =
                |other: &String| *other == plain || below(other, &plain) || below(&plain, other);
            if keys.iter().any(taken) {
                let reason = format!("`{}` varies in two places", shown(key));
                let remedy = "let each key vary once, and not together with a table that holds it";
                rules.error(&format!("sweep.axis[{i}]"), &[], reason, remedy);
            }
            keys.push(plain);
        }
    }
    let columns = columns(&sweep.axis, rules.document);
    for (i, column) in columns.iter().enumerate() {
        if SWEEP_COLUMNS.contains(&column.as_str()) || columns[..i].contains(column) {
            let reason = format!("\"{}\" is a column of sweep.csv already", shown(column));
            let path = format!("sweep.axis[{i}]");
            rules.error(&path, &[], reason, "give the axis another `name`");
        }
    }
}
