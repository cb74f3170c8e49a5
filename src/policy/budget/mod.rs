//! Retry budgets: what bounds retries across requests.
//!
//! Backoff spreads retries over time, but in a long outage every request still makes all of them. A budget grants
//! retries from something that the whole scope shares, and when it is spent a failure is just a failure. Forms
//! that go by one name ("20 %") differ in what they are a share of, in what they start with, and in what they do
//! when nothing succeeds any more; each is a model of its own here.
//!
//! A form is a file beside this one and a line in the list below.

mod common;
mod concurrency;
mod counts;
mod failure_share;
mod failure_tokens;
mod form;
mod parts;
mod quota;
mod retry_count;
mod retry_share;
#[cfg(test)]
mod tests;
mod token_bucket;
mod window_ratio;

pub use common::{Charged, Common};
pub use concurrency::{Concurrency, FixedLimit, Limit, Outstanding, WireShare};
pub use counts::Counts;
pub use failure_share::FailureShare;
pub use failure_tokens::FailureTokens;
pub use quota::{Costs, Quota};
pub use retry_count::{CountWindow, Granted, RetryCount};
pub use retry_share::{RetryShare, ShareOf};
pub use token_bucket::{Bucket, TokenBucket};
pub use window_ratio::{DepositAt, WindowRatio};

use super::kind::{Kind, Seen};
use super::tokens::Tokens;
use super::window::Window;
use crate::choice;
use crate::time::SimTime;
use form::Form;

/// What a granted retry took, in the coin of its budget; some forms give it back on success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Charge(pub Tokens);

/// Makes the closed set of budgets, its states, and the calls from one to the other.
macro_rules! budgets {
    ( $( $(#[doc = $doc:literal])* $form:ident, $memory:ty = $tag:literal, $example:literal; )* ) => {
        choice! {
            /// What bounds the retries of all requests in its scope together.
            pub enum RetryBudget as "retry budget" {
                $( $(#[doc = $doc])* $form($form) = $tag, $example; )*
            }
        }

        /// What a budget remembers; made by [`RetryBudget::fresh`].
        #[derive(Clone, Debug, PartialEq)]
        pub enum BudgetState {
            $( $(#[doc = $doc])* $form($memory), )*
        }

        /// Calls the form with its own state.
        macro_rules! of_form {
            ($budget:expr, $state:expr, |$the_form:ident, $its:ident| $call:expr) => {
                match ($budget, $state) {
                    $( (RetryBudget::$form($the_form), BudgetState::$form($its)) => $call, )*
                    _ => unreachable!("a budget is called with a state that it made"),
                }
            };
        }

        impl RetryBudget {
            /// The settings that every budget shares.
            pub fn common(&self) -> &Common {
                match self { $( Self::$form(form) => form.common(), )* }
            }

            /// Retries for each request that are granted for ever while every attempt fails, whatever the rate of
            /// requests; `None` when that depends on something else.
            pub fn sustained(&self) -> Option<f64> {
                match self { $( Self::$form(form) => form.sustained(), )* }
            }

            /// The state before the first request.
            pub fn fresh(&self) -> BudgetState {
                match self { $( Self::$form(form) => BudgetState::$form(form.fresh()), )* }
            }
        }
    };
}

budgets! {
    /// Tokens that requests, successes or time put in and retries take out.
    TokenBucket, Bucket = "token_bucket", r#"{ token_bucket = { capacity = 10, per_request = 0.1 } }"#;
    /// A quota of tokens that retries take and successes give back, as in the AWS SDKs.
    Quota, Tokens = "quota", r#"{ quota = { capacity = 500, cost = { transient = 5, timeout = 10, throttled = 5 } } }"#;
    /// Tokens that failures take and successes put in; retries only while more than half are left, as in gRPC.
    FailureTokens, Tokens = "failure_tokens", r#"{ failure_tokens = { max = 10, ratio = 0.1 } }"#;
    /// A share of the requests of a sliding window and a few retries a second besides, as in Finagle.
    WindowRatio, Box<Window<2>> = "window_ratio", r#"{ window_ratio = { ratio = "20%", min_per_second = "10/s", window = "10s" } }"#;
    /// Retries outstanding at once: a share of the attempts on the wire or a fixed number, as in Envoy.
    Concurrency, Outstanding = "concurrency", r#"{ concurrency = { limit.share = { of = "20%", min = 3 } } }"#;
    /// So many retries per window of time.
    RetryCount, Granted = "count", r#"{ count = { retries = 60, per = "60s" } }"#;
    /// Retries while they are less than a share of the requests or of all attempts.
    RetryShare, Counts<2> = "share", r#"{ share = { ratio = "10%" } }"#;
    /// Retries while failed attempts are at most a share of the requests.
    FailureShare, Counts<2> = "failure_share", r#"{ failure_share = { above = "10%", window = "10s" } }"#;
}

/// What happens to the requests of its scope, in the order in which it happens to one request. All methods panic when the
/// state was made by another form of budget.
impl RetryBudget {
    /// A request begins.
    #[inline]
    pub fn began(&self, state: &mut BudgetState, now: SimTime) {
        of_form!(self, state, |form, its| form.began(its, now));
    }

    /// An attempt is sent; a retry was granted before.
    #[inline]
    pub fn sent(&self, state: &mut BudgetState, now: SimTime, retry: bool) {
        of_form!(self, state, |form, its| form.sent(its, now, retry));
    }

    /// An attempt has ended for its client. Comes before the question for the retry that may follow.
    #[inline]
    pub fn note(&self, state: &mut BudgetState, seen: &Seen) {
        of_form!(self, state, |form, its| form.note(its, seen));
    }

    /// Whether a retry may be made after a failure of this kind, and what is taken for it.
    #[inline]
    pub fn ask(&self, state: &mut BudgetState, now: SimTime, kind: Kind) -> Option<Charge> {
        of_form!(self, state, |form, its| form.ask(its, now, kind))
    }

    /// A retry that was granted will not be sent: its request ended first.
    #[inline]
    pub fn withdrawn(&self, state: &mut BudgetState, now: SimTime) {
        of_form!(self, state, |form, its| form.withdrawn(its, now));
    }

    /// A request has ended. `last` is what its last retry took, if it made any.
    #[inline]
    pub fn ended(
        &self,
        state: &mut BudgetState,
        now: SimTime,
        succeeded: bool,
        last: Option<Charge>,
    ) {
        of_form!(self, state, |form, its| form
            .ended(its, now, succeeded, last));
    }

    /// What is left, from 0 (no retry) to 1 (as much as there ever is).
    pub fn level(&self, state: &BudgetState, now: SimTime) -> f64 {
        of_form!(self, state, |form, its| form.level(its, now))
    }
}
