//! What is counted while a world runs, and what the counts say.
//!
//! Counting is on the path of every event, so all of it is integers in flat arrays: bins and counters are
//! added up, never averaged, and two tallies merge by addition in any order to the same bytes.

mod estimate;
mod latency;
mod summary;
mod tally;
mod timeline;

pub use crate::outcome::{AttemptOutcome, FailureReason};
pub use estimate::{CONFIDENCE, Estimate};
pub use latency::Latency;
pub use summary::{
    AttemptsRow, Headline, SummaryRow, TimelineRow, attempts_rows, estimate, success_by_attempt,
    summarise, timeline_rows,
};
pub(crate) use tally::count_at;
pub use tally::{DelaySum, Moments, Tally};
pub use timeline::{Bin, Gauge, Timeline};
