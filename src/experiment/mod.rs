//! Runs every strategy of a scenario against the same worlds and gathers what came out.
//!
//! The only threads of the program are here: one world a thread, results folded in the order of the plan,
//! so that their number changes nothing in the output.

mod before_after;
mod border;
mod check_result;
mod checks;
mod compare;
mod comparison;
mod decide;
mod error;
mod figures;
mod formulas;
mod load;
mod match_theory;
mod precision;
mod rank;
mod result;
mod run;
mod sweep;
mod tries;
mod warnings;
mod workers;

pub use crate::model::PARTS;
pub use before_after::{BeforeAfter, Change, ChangedFigure, Recorded, before_after};
pub use border::{Border, Divisor, border};
pub use check_result::{CheckOutcome, CheckResult};
pub use compare::{
    ComparisonRow, Comparisons, Difference, FIGURES, Finding, finding, paired, threshold, unpaired,
};
pub use comparison::comparisons;
pub use error::RunError;
pub use figures::{Figure, LOAD_OF_BORDER, figures};
pub use formulas::{CHANCE, NO_FORMULA, TheoryRow};
pub use load::{Load, attempts, retried_failures, verdict_rule};
pub use precision::replications_for;
pub use result::{CapacityStep, Check, FaultSpan, Loss, RunResult, StrategyResult, TheoryLine};
pub use run::{log_attempts, record_attempts, run};
pub use sweep::{SweepCheck, SweepError, SweepRun, check_cells, prepare_cell};
pub use tries::{TRIES_CLIENTS, Tries, Try, first_tries};
pub use warnings::window_warnings;
pub use workers::{MOST_THREADS, side_by_side};
