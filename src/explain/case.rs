//! A strategy with what its scenario says about those who use it.

use crate::experiment::{attempts, retried_failures};
use crate::model::{Strategy, StrategySpec};
use crate::policy::{Backoff, Scope};
use crate::scenario::{Plan, Scenario};

/// A strategy in its scenario.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// As written.
    pub(super) spec: &'a StrategySpec,
    /// Ready to run.
    pub(super) strategy: &'a Strategy,
    /// The scenario.
    pub(super) plan: &'a Plan,
    /// The most attempts of a request; [`u64::MAX`] is unlimited.
    pub(super) attempts: u64,
    /// Probability of an attempt failing by itself in a way that is tried again.
    pub(super) retried: f64,
    /// Clients that use the strategy.
    pub(super) clients: usize,
    /// Their requests a second, where they come at a steady rate.
    pub(super) requests_per_s: Option<f64>,
}

impl<'a> Case<'a> {
    pub(super) fn of(scenario: &'a Scenario, plan: &'a Plan, index: usize) -> Self {
        let spec = &scenario.spec.strategy[index];
        let users = plan.world.groups.iter().zip(&plan.pinned);
        let users = users.filter(|(_, pinned)| match pinned {
            Some(pinned) => *pinned == index,
            None => spec.compare,
        });
        let users: Vec<_> = users.map(|(group, _)| group).collect();
        let rates = users
            .iter()
            .map(|group| group.arrivals.steady_rate(group.count));
        Self {
            spec,
            strategy: &plan.strategies[index],
            plan,
            attempts: attempts(plan, index),
            retried: retried_failures(plan, index),
            clients: users.iter().map(|group| group.count as usize).sum(),
            requests_per_s: rates.sum::<Option<f64>>().filter(|rate| *rate > 0.0),
        }
    }

    /// Retries of a request at the most; [`u64::MAX`] is unlimited.
    pub(super) fn retries(&self) -> u64 {
        match self.attempts {
            u64::MAX => u64::MAX,
            most => most - 1,
        }
    }

    pub(super) fn backoff(&self) -> &'a Backoff {
        &self.strategy.rule.backoff
    }

    /// States of a rule with this scope; `None` when every request has its own.
    pub(super) fn states(&self, scope: Scope) -> Option<u64> {
        match scope {
            Scope::Call => None,
            Scope::Client | Scope::Process(_) | Scope::Shared => {
                Some(scope.states(self.clients) as u64)
            }
        }
    }
}
