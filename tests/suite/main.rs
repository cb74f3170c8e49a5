//! Tests of the program as a whole: one binary, so that it is linked once.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cli;
mod docs;
mod gallery;
mod program;
mod tidy;
mod wrong_input;
