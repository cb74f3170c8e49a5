//! A discrete-event simulator of retry storms.

pub mod cli;
pub mod decode;
pub mod dist;
pub mod experiment;
pub mod kernel;
pub mod metrics;
pub mod model;
pub mod outcome;
pub mod policy;
pub mod report;
pub mod rng;
pub mod scenario;
pub mod theory;
pub mod time;
pub mod units;
