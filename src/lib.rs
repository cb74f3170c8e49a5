//! A discrete-event simulator of retry storms.

pub mod decode;
pub mod kernel;
pub mod rng;
pub mod time;
pub mod units;
