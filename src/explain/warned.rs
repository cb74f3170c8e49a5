//! What is suspicious about a strategy.

use super::page::Section;
use super::words::sentence;
use crate::scenario::Scenario;

/// A line for each warning about this strategy.
pub(super) fn section(scenario: &Scenario, strategy: usize) -> Section {
    let path = format!("strategy[{strategy}]");
    let own = scenario.warnings.iter().filter(|warning| {
        let rest = warning.path.strip_prefix(&path);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    });
    let line = |warning: &crate::decode::Problem| {
        let key = warning.path[path.len()..].trim_start_matches('.');
        match key {
            "" => sentence(&warning.reason),
            key => format!("{key}: {}.", warning.reason),
        }
        .replace(" × ", "\u{a0}×\u{a0}")
    };
    Section::of("Warnings", own.map(line).collect())
}
