//! What is counted while a world runs, and what the counts say.
//!
//! Counting is on the path of every event, so all of it is integers in flat arrays: bins and counters are
//! added up, never averaged, and two tallies merge by addition in any order to the same bytes.

mod estimate;
mod headline;
mod judge;
mod latency;
mod metric;
mod prices;
mod proportion;
mod replication;
mod seen;
mod summary;
mod tally;
mod timeline;
mod verdict;

pub use crate::outcome::{AttemptOutcome, FailureReason};
pub use estimate::{CONFIDENCE, Estimate, students_t};
pub use headline::{Headline, Measure, estimate, success_by_attempt, success_of};
use headline::{success_at, verdict_of_all};
pub use judge::judge;
pub use latency::{Latency, LatencyRow, latency_rows};
pub use metric::{Better, METRICS, Metric, Unit, metric};
pub use prices::Prices;
pub use proportion::{newcombe, trials_to_tell, wilson};
pub use replication::ReplicationRow;
pub use seen::{Quantity, Seen};
pub use summary::{AttemptsRow, SummaryRow, TimelineRow, attempts_rows, summarise, timeline_rows};
pub(crate) use tally::count_at;
pub use tally::{DelaySum, Moments, Tally};
pub use timeline::{Bin, Cohort, Gauge, Timeline};
pub use verdict::{Course, Verdict, VerdictRule};
