//! The tool as a whole: what it reads, what it writes, what it says.

#![allow(clippy::unwrap_used, reason = "a helper of a test may fail it")]

mod cli;
mod program;
mod wrong_input;
