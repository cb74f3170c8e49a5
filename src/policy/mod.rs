//! Rules of retrying as pure functions: state and random numbers in, decisions out.
//!
//! How long to wait, whether to try again and when to stop decide together whether a hiccup passes or
//! grows into a storm. To compare rules in one world they must not own a clock, a generator or a client:
//! here a rule is an immutable value, what it must remember is a small plain state that the caller keeps
//! wherever its scope says, and every random number is an argument.
//!
//! * [`Backoff`] says how long to wait before retry n = 1, 2, …; n = 1 is the first retry.
//! * [`Jitter`] is the randomness laid on such a wait, [`Shape`] how the two are put together.
//! * [`MaxAttempts`] says how often to try at all.
//!
//! A rule also knows its own mathematics: [`Backoff::bounds`] and [`Backoff::moments`] give the least and
//! greatest delay and its mean and standard deviation, to check runs against.

pub mod admission;
mod arithmetic;
mod attempts;
mod backoff;
pub mod breaker;
pub mod budget;
mod deadline;
mod decorrelated;
mod delay;
mod guards;
mod health;
mod hedge;
mod hint;
mod jitter;
mod kind;
mod law;
pub mod limiter;
mod moments;
mod nominal;
mod quadrature;
mod retry;
mod retry_on;
mod scope;
mod shape;
mod state;
mod throttle;
mod tokens;
mod window;

pub use attempts::MaxAttempts;
pub use backoff::{
    Backoff, Decorrelated, Exponential, Fibonacci, Fixed, Linear, List, Memoryless, Polynomial,
    Uniform,
};
pub use breaker::{BreakerState, CircuitBreaker, Pass, Phase};
pub use budget::{BudgetState, Charge, RetryBudget};
pub use deadline::DeadlineCheck;
pub use guards::{Admission, Guards, Held, Meeting};
pub use health::{Health, TargetHealth};
pub use hedge::{Hedge, HedgeAfter, HedgeDelay, HedgeQuantile, MOST_HEDGES, Observed, QuantileOf};
pub use hint::{AboveCeiling, Clamp, Heed, Hints, Plus, Scale, Told};
pub use jitter::{Additive, Jitter, Lognormal, Proportional};
pub use kind::{Kind, Seen};
pub use limiter::{LimiterState, RateLimiter};
pub use retry::{Decision, Ended, Memory, RetryRule};
pub use retry_on::{CODES, Code, RetryOn, name_of_code};
pub use scope::{Process, Scope};
pub use shape::{CapOrder, Client, Reset, Rounding, Shape, StateOwner};
pub use state::BackoffState;
pub use throttle::{Throttle, Throttled};
pub use tokens::{Inflow, Tokens};
pub use window::{Span, Window};

#[cfg(test)]
mod testing;
