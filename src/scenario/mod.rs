//! What a scenario file means.
//!
//! A file is read into a [`Scenario`] or into the list of everything that is wrong with it. After that nothing
//! about it can fail but files it names.

mod amount;
mod check;
mod compare;
mod cost;
mod decisions;
mod differences;
mod effects;
mod estimate;
mod load;
mod plan;
mod rules;
mod seed;
mod spec;
mod strategies;
mod sweep;
mod validate;
mod windows;

pub use amount::Amount;
pub use check::{CheckSpec, MetricName, Relation};
pub use compare::CompareSpec;
pub use cost::CostSpec;
pub use differences::{Difference, differences};
pub use estimate::{Estimate, MOST_MEMORY};
pub use load::{LoadError, Scenario, load};
pub use plan::{Comparison, Plan, PlannedCheck};
pub use seed::Seed;
pub use spec::{Groups, MOST_REPLICATIONS, RunSpec, ScenarioSpec, Services};
pub use sweep::{
    Axis, AxisSpec, Bound, Cell, ChartSpec, Coordinate, Design, LatinHypercube, MOST_CELLS,
    Quantity, Range, Sweep, SweepSpec, Values,
};
