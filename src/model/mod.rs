//! The simulated world: clients, network, one service, and the faults that befall it.
//!
//! Specs are what a scenario says of each part; plans are the same, ready to run and shared by all runs;
//! [`run_world`] runs one strategy in one world.

mod arrival;
mod arrival_plan;
mod callers;
mod client;
mod clients;
mod conditions;
mod event;
mod failures;
mod fault;
mod flight;
mod group;
mod guarded;
mod hedging;
mod hold;
mod letters;
mod log;
mod pace;
mod protect;
mod queue;
mod redrive;
mod round;
mod service;
mod serving;
mod settle;
mod slab;
mod step;
mod stop;
mod strategy;
mod stream;
mod way;
mod world;

pub use arrival::{
    Arrivals, Between, Burst, ClosedLoop, Offset, Periodic, Point, Poisson, Profile, Spacing,
    Start, Trace,
};
pub use arrival_plan::ArrivalPlan;
pub use callers::Callers;
pub(crate) use clients::check_name;
pub use clients::{ClientsSpec, GroupPlan, MOST_CLIENTS, Patience, PoolScope, PoolSpec};
pub use conditions::FaultSchedule;
pub use failures::{FailureSpec, Failures, UnderLoad};
pub use fault::{FaultSpec, MOST_REPEATS, Outage};
pub use letters::{AfterTime, AtRate, DeadLetters, Redrive};
pub use log::{AttemptLog, AttemptRecord, Next, NoLog};
pub use queue::Discipline;
pub use service::{Limit, NetworkSpec, OnAbandon, QueueSpec, ServicePlan, ServiceSpec};
pub use strategy::{Strategy, StrategySpec, TimeoutCovers};
pub use world::{MOST_IN_FLIGHT, PARTS, WorldError, WorldPlan, run_world, run_world_telling};
