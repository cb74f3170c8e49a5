//! Runs every strategy of a scenario against the same worlds and gathers what came out.

mod result;

pub use result::{CapacityStep, Check, FaultSpan, Loss, RunResult, StrategyResult, TheoryLine};
