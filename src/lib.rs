//! A discrete-event simulator of retry storms.
//!
//! A retry is a bet that a failure will pass. When thousands of clients place the same bet at once, the retries
//! become the outage. This crate runs several retry strategies against the same random world and says what
//! each of them does to success, load and latency.
//!
//! The way from a scenario to its result is short:
//!
//! ```
//! use retrystorm::{experiment, scenario::{Plan, Scenario}};
//!
//! let text = r#"
//!     [run]
//!     duration = "10s"
//!     replications = 4
//!
//!     [clients]
//!     count = 100
//!     arrivals.poisson = { rate = "200/s" }
//!
//!     [service.api]
//!     workers = "unlimited"
//!     service_time = "10ms"
//!     failures = [{ code = 503, probability = "30%" }]
//!
//!     [[strategy]]
//!     name = "three attempts"
//!     max_attempts = 3
//! "#;
//! let scenario = Scenario::parse("example", text, ".".as_ref()).expect("the scenario is sound");
//! let plan = Plan::assemble(&scenario).expect("it names no files");
//! let result = experiment::run(&scenario, &plan, 2, &|| ()).expect("time moves on");
//! let success = result.strategies[0].summary.success_rate.expect("requests ended");
//! assert!((success - (1.0 - 0.3f64.powi(3))).abs() < 0.02);
//! ```
//!
//! Floors, lowest first: [`time`], [`units`], [`rng`], [`outcome`] and [`decode`]; [`kernel`]; [`dist`],
//! [`policy`], [`metrics`] and [`theory`]; [`model`]; [`scenario`]; [`experiment`]; [`explain`], [`report`] and
//! [`catalogue`]; [`cli`]. A module imports only from lower floors. `docs/design.md` says why things are as they are.

pub mod catalogue;
pub mod cli;
pub mod decode;
pub mod dist;
pub mod experiment;
pub mod explain;
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
