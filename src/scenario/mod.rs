//! What a scenario file means.
//!
//! A file is read into a [`Scenario`] or into the list of everything that is wrong with it. After that nothing
//! about it can fail but files it names.

mod estimate;
mod load;
mod plan;
mod seed;
mod spec;
mod validate;
mod windows;

pub use estimate::{Estimate, MOST_MEMORY};
pub use load::{LoadError, Scenario, load};
pub use plan::Plan;
pub use seed::Seed;
pub use spec::{Groups, MOST_REPLICATIONS, RunSpec, ScenarioSpec, Services};
