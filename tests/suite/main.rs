//! Tests of the program as a whole, in one binary so that it is linked once: whole simulations built from the
//! text of a scenario and held against what is known, the command line, the documents, and the rules of the house.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(
    clippy::print_stdout,
    reason = "rows covered of rows present are told with --nocapture"
)]

mod backoff_delay;
mod backoff_reference;
mod bistable;
mod budgets;
mod budgets_chains;
mod cases_backoff;
mod cases_breakers;
mod cases_budgets;
mod cases_hedges;
mod cases_herds;
mod cases_hints;
mod cases_letters;
mod cases_limits;
mod cases_overload;
mod cases_tool;
mod certainty;
mod checks;
mod checks_certainty;
mod checks_junit;
mod cli;
mod common_numbers;
mod comparison;
mod conservation;
mod determinism;
mod docs;
mod event_log;
mod examples;
mod explain;
mod failures_by_load;
mod formulas;
mod gallery;
mod guards;
mod hedges;
mod herd;
mod idle_settings;
mod judge;
mod limits;
mod littles_law;
mod looking_up;
mod metastable;
mod mg1;
mod mmc;
mod mmc_tails;
mod program;
mod published;
mod queues;
mod random_guards;
mod random_scenarios;
mod request_life;
mod retry_success;
mod semantics;
mod started;
mod steady_retries;
mod support;
mod sweep;
mod tidy;
mod traps;
mod wrong_input;
