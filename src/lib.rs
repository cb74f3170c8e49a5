//! A discrete-event simulator of retry storms.

pub mod decode;
pub mod experiment;
pub mod metrics;
pub mod report;
pub mod rng;
pub mod time;
pub mod units;
