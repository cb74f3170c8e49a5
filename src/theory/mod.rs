//! Closed forms to check runs against: plain numbers in, plain numbers out.
//!
//! A simulator that only agrees with itself proves nothing. These are textbook results with their sources;
//! whether a formula fits a scenario is for the caller to decide. Times are in one unit throughout (seconds
//! by custom), rates per that unit.

mod birth_death;
pub mod erlang_a;
pub mod general;
pub mod herd;
pub mod impatience;
pub mod loss;
pub mod mean_field;
mod poisson;
pub mod queues;
mod refusal_chain;
pub mod refusals;
pub mod retrial;
pub mod retries;
mod sojourn;
pub mod sources;
pub mod stability;
pub mod unaware;

#[cfg(test)]
mod reference;
