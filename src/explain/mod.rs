//! What a strategy does, in words and numbers, without a run.
//!
//! A setting is a few characters and what it means is an evening of arithmetic: how long a request may take, how
//! many retries a full budget pays for, what a total failure costs. Here that arithmetic is done for every strategy
//! of a scenario. Nothing is simulated: figures are those of the rules themselves, or of many draws from the very code
//! that a run draws its waits from.
//!
//! Each subject is a file, and the words for each closed set are one `match`: a new form does not compile without its
//! words.

mod breaker;
mod budget;
mod case;
mod chance;
mod extras;
mod formula;
mod intro;
mod limits;
mod page;
mod schedule;
mod service;
mod shorter;
mod span;
mod warned;
mod words;

pub use page::{Figures, Section};

use crate::scenario::{Plan, Scenario};
use case::Case;

/// What there is to say of a strategy, by its place in the scenario. Empty sections are left out.
///
/// # Panics
/// When there is no strategy at that place.
pub fn explain(scenario: &Scenario, plan: &Plan, strategy: usize) -> Vec<Section> {
    let case = Case::of(scenario, plan, strategy);
    let schedule = schedule::Schedule::of(&case);
    let mut sections = vec![
        intro::section(&case),
        formula::section(&case),
        schedule::section(&case, &schedule),
        span::section(&case),
        chance::section(&case),
        budget::section(&case),
        breaker::section(&case),
        limits::section(&case),
        extras::section(&case),
        warned::section(scenario, strategy),
    ];
    sections.retain(|section| !section.lines.is_empty() || section.figures.is_some());
    sections
}

/// What the service does to protect itself. Empty when it does nothing.
pub fn explain_service(plan: &Plan) -> Section {
    service::section(plan)
}
