//! What independent failures make of a request.

use super::attempts;
use super::prediction::Prediction;
use crate::metrics::Quantity::{AttemptsPerRequest, BackoffMeanS, SuccessRate};
use crate::policy::{Backoff, StateOwner};
use crate::scenario::Plan;
use crate::theory::retries;

/// Retries for which delays are added up.
pub(super) const MOST_RETRIES: u64 = 10_000;

/// What independent failures make of a request: 1 − pᵏ, (1 − pᵏ)/(1 − p) and the summed delays.
pub(super) fn chance(plan: &Plan, strategy: usize) -> Prediction {
    let (p, k) = (plan.failure_probability, attempts(plan, strategy));
    let mut figures = vec![
        (SuccessRate, retries::success(p, k)),
        (AttemptsPerRequest, retries::mean_attempts(p, k)),
    ];
    figures.extend(
        mean_backoff(p, k, &plan.strategies[strategy].rule.backoff)
            .map(|mean| (BackoffMeanS, mean)),
    );
    Prediction {
        formula: super::CHANCE,
        figures,
    }
}

/// E(D), where the state belongs to the request and every delay has a known mean.
pub(super) fn mean_backoff(p: f64, k: u64, backoff: &Backoff) -> Option<f64> {
    if k > MOST_RETRIES || backoff.shape().state != StateOwner::Request {
        return None;
    }
    let delays: Option<Vec<(f64, f64)>> = (1..k).map(|n| backoff.moments(n)).collect();
    Some(retries::total_backoff(p, &delays?).mean)
}
