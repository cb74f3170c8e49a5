//! Whole simulations, built from the text of a scenario and held against what is known.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]
#![allow(
    clippy::print_stdout,
    reason = "rows covered of rows present are told with --nocapture"
)]

mod backoff_delay;
mod common_numbers;
mod conservation;
mod determinism;
mod event_log;
mod herd;
mod littles_law;
mod mmc;
mod queues;
mod random_scenarios;
mod retry_success;
mod semantics;
mod support;
