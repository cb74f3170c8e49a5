//! What every form of budget can be told and asked.

use super::Charge;
use super::common::Common;
use crate::policy::kind::{Kind, Seen};
use crate::time::SimTime;

/// A form of budget: settings that never change, over a state that its owner keeps.
///
/// A budget hears of the life of every request in its scope, in this order: the request begins; attempts are sent and
/// end; before each retry it is asked; the request ends. What does not concern a form it leaves out.
pub(super) trait Form {
    /// What it remembers.
    type State;

    /// The settings that every budget shares.
    fn common(&self) -> &Common;

    /// The state before the first request.
    fn fresh(&self) -> Self::State;

    /// A request begins.
    fn began(&self, _state: &mut Self::State, _now: SimTime) {}

    /// An attempt is sent; a retry was granted before.
    fn sent(&self, _state: &mut Self::State, _now: SimTime, _retry: bool) {}

    /// An attempt has ended for its client. Called before [`ask`](Self::ask) for the retry that may follow.
    fn note(&self, _state: &mut Self::State, _seen: &Seen) {}

    /// Whether a retry may be made after a failure of this kind. What is taken for it is the answer.
    fn ask(&self, state: &mut Self::State, now: SimTime, kind: Kind) -> Option<Charge>;

    /// A retry that was granted will not be sent: its request ended first.
    fn withdrawn(&self, _state: &mut Self::State, _now: SimTime) {}

    /// The request has ended. `last` is what its last retry took, if it made any.
    fn ended(
        &self,
        _state: &mut Self::State,
        _now: SimTime,
        _succeeded: bool,
        _last: Option<Charge>,
    ) {
    }

    /// Retries for each request that are granted for ever while every attempt fails, whatever the rate of requests; `None`
    /// when that depends on something else.
    fn sustained(&self) -> Option<f64>;

    /// What is left, from 0 (no retry) to 1 (as much as there ever is), for pictures.
    fn level(&self, state: &Self::State, now: SimTime) -> f64;
}
