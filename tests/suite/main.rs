//! Tests of the program as a whole: one binary, so that it is linked once.

mod cli;
mod docs;
mod gallery;
mod program;
mod tidy;
mod wrong_input;
