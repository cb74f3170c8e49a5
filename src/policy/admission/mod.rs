//! What a server does to protect itself: limits on what it lets in, and what it throws out of its queue.
//!
//! Retries turn a short overload into a long one because a server that accepts everything works through a queue
//! of calls that nobody waits for any more. Refusing early costs little and keeps the rest useful, but it also
//! tells clients when to come back, and a thousand clients that were told the same second return in the same
//! second. Each rule here is one of those choices, over a state that the server keeps.
//!
//! * [`RateLimit`] admits so many attempts per unit of time, [`ConcurrencyLimit`] so many at once.
//! * [`RetryAfter`] is the wait that a refused client is told.
//! * [`Codel`] drops what has waited too long, [`AdaptiveLifo`] serves the newest first while a queue lasts.

mod codel;
mod concurrency;
mod lifo;
mod log;
mod rate_limit;
mod retry_after;

pub use codel::{Codel, CodelState, Facebook, Folly, Rfc8289};
pub use concurrency::{
    Aimd, AimdState, ConcurrencyLimit, FixedLimit, Gradient2, Gradient2State, LimitState, Sample,
    Vegas, VegasState,
};
pub use lifo::AdaptiveLifo;
pub use rate_limit::{BucketLimit, RateLimit, RateLimitState, WindowKind, WindowLimit};
pub use retry_after::{FixedAfter, QueueAfter, RetryAfter, Told};

#[cfg(test)]
mod testing;
