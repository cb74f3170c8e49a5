//! The tool as a whole: what it reads, what it writes, what it says.

mod cli;
mod program;
mod wrong_input;
