//! What retries cost in the user's own money.
//!
//! More attempts buy success and are paid in load. Whether that is a good bargain depends on what a failure costs, and
//! only the user knows that.

use super::Tally;

/// What things cost, in any currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// An attempt.
    pub attempt: f64,
    /// A second in which a caller waits for an answer, from the intended start of a request to its end.
    pub waiting_second: f64,
    /// A request that fails.
    pub failed_request: f64,
}

impl Prices {
    /// The cost of a thousand requests; `None` when there were none. Requests that are still open have cost their
    /// attempts so far.
    pub fn per_1000_requests(&self, tally: &Tally) -> Option<f64> {
        let cost = self.attempt * tally.attempts as f64
            + self.waiting_second * tally.waited_for_answers_s()
            + self.failed_request * tally.failed_total() as f64;
        (tally.requests > 0).then(|| cost / tally.requests as f64 * 1e3)
    }
}
