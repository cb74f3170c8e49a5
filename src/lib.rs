//! A discrete-event simulator of retry storms.

pub mod decode;
pub mod dist;
pub mod rng;
pub mod time;
pub mod units;
