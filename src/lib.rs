//! A discrete-event simulator of retry storms.

pub mod decode;
pub mod policy;
pub mod rng;
pub mod theory;
pub mod time;
pub mod units;
