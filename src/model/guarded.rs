//! The states of budgets and breakers, in flat arrays by their scope, and the moments at which a request meets them.

use super::group::Group;
use super::strategy::Strategy;
use crate::policy::{
    BreakerState, BudgetState, CircuitBreaker, Guards, Health, Hedge, Held, LimiterState, Meeting,
    Observed, Phase, RateLimiter, RetryBudget, Scope, TargetHealth, Throttle, Throttled,
};
use crate::time::SimTime;

/// The states of one rule, in the scope of its choice.
#[derive(Debug)]
struct Scoped<R, S> {
    rule: R,
    scope: Scope,
    states: Vec<S>,
    fresh: fn(R) -> S,
}

impl<R: Copy, S> Scoped<R, S> {
    fn new(rule: R, scope: Scope, clients: usize, fresh: fn(R) -> S) -> Self {
        let states = (0..scope.states(clients)).map(|_| fresh(rule)).collect();
        Self {
            rule,
            scope,
            states,
            fresh,
        }
    }

    /// The state that a request of `client` at place `slot` meets. Those of calls are made as places for requests are.
    #[inline(always)]
    fn at(&mut self, client: u32, slot: u32) -> &mut S {
        let index = self.scope.index(client, slot);
        if index >= self.states.len() {
            self.grow(index);
        }
        &mut self.states[index]
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        (self.states).resize_with(index + 1, || (self.fresh)(self.rule));
    }

    /// A new request takes place `slot`: what belongs to the call alone begins anew.
    #[inline]
    fn renew(&mut self, slot: u32) {
        if self.scope == Scope::Call {
            *self.at(0, slot) = (self.fresh)(self.rule);
        }
    }

    /// The mean of a level over the states, in millionths.
    fn mean_ppm(&self, level: impl Fn(&S) -> f64) -> u64 {
        let step = self.states.len().div_ceil(MOST_LOOKED_AT).max(1);
        let looked_at = self.states.iter().step_by(step);
        let count = looked_at.len().max(1) as f64;
        let sum: f64 = looked_at.map(|state| level(state).clamp(0.0, 1.0)).sum();
        (sum / count * 1e6) as u64
    }
}

/// Levels are taken from so many states at the most, evenly chosen.
const MOST_LOOKED_AT: usize = 1_000;

/// The guards of one strategy, and their states for all clients that use it.
#[derive(Debug)]
struct GuardStates<'p> {
    guards: &'p Guards,
    budget: Option<Scoped<&'p RetryBudget, BudgetState>>,
    breaker: Option<Scoped<&'p CircuitBreaker, BreakerState>>,
    throttle: Option<Scoped<&'p Throttle, Throttled>>,
    limiter: Option<Scoped<&'p RateLimiter, LimiterState>>,
    health: Option<Scoped<&'p TargetHealth, Health>>,
    hedge: Option<Scoped<&'p Hedge, Observed>>,
    /// Whether any of them belongs to a call alone.
    of_calls: bool,
}

impl<'p> GuardStates<'p> {
    fn new(guards: &'p Guards, clients: usize) -> Self {
        let Guards {
            budget,
            breaker,
            throttle,
            limiter,
            health,
            hedge,
        } = guards;
        let of_budget =
            |b: &'p RetryBudget| Scoped::new(b, b.common().scope, clients, |b| b.fresh());
        let of_breaker =
            |b: &'p CircuitBreaker| Scoped::new(b, b.common().scope, clients, |b| b.fresh());
        let of_throttle = |t: &'p Throttle| Scoped::new(t, t.scope, clients, |t| t.fresh());
        let of_limiter =
            |l: &'p RateLimiter| Scoped::new(l, l.common().scope, clients, |l| l.fresh());
        let of_hedge = |h: &'p Hedge| Scoped::new(h, h.scope, clients, |h| h.fresh());
        let of_health = |h: &'p TargetHealth| Scoped::new(h, h.scope, clients, |h| h.fresh());
        Self {
            guards,
            of_calls: guards.scopes().any(|scope| scope == Scope::Call),
            budget: budget.as_ref().map(of_budget),
            breaker: breaker.as_ref().map(of_breaker),
            throttle: throttle.as_ref().map(of_throttle),
            limiter: limiter.as_ref().map(of_limiter),
            health: health.as_ref().map(of_health),
            hedge: hedge.as_ref().map(of_hedge),
        }
    }

    /// What a request of `client` at place `slot` meets.
    #[inline(always)]
    fn meeting<'a>(&'a mut self, held: &'a mut Held, client: u32, slot: u32) -> Meeting<'a> {
        Meeting {
            held,
            budget: self.budget.as_mut().map(|states| states.at(client, slot)),
            breaker: self.breaker.as_mut().map(|states| states.at(client, slot)),
            throttle: self.throttle.as_mut().map(|states| states.at(client, slot)),
            limiter: self.limiter.as_mut().map(|states| states.at(client, slot)),
            health: self.health.as_mut().map(|states| states.at(client, slot)),
            hedge: self.hedge.as_mut().map(|states| states.at(client, slot)),
        }
    }

    #[inline]
    fn renew(&mut self, slot: u32) {
        self.budget.iter_mut().for_each(|states| states.renew(slot));
        self.breaker
            .iter_mut()
            .for_each(|states| states.renew(slot));
        self.throttle
            .iter_mut()
            .for_each(|states| states.renew(slot));
        self.limiter
            .iter_mut()
            .for_each(|states| states.renew(slot));
        self.health.iter_mut().for_each(|states| states.renew(slot));
        self.hedge.iter_mut().for_each(|states| states.renew(slot));
    }
}

/// Where the states of a client group are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Which of the worlds's states.
    states: u16,
    /// Clients of earlier groups that share them.
    before: u32,
}

/// The states of all strategies in a world, and where each group finds its own.
fn guard_states<'p>(
    strategies: &[&'p Strategy],
    clients: impl Fn(usize) -> u32,
) -> (Vec<GuardStates<'p>>, Vec<Option<Place>>) {
    let mut sizes: Vec<(&'p Guards, u32)> = Vec::new();
    let places = strategies.iter().enumerate().map(|(group, strategy)| {
        let guards = &strategy.rule.guards;
        if guards.is_empty() {
            return None;
        }
        let same = |(known, _): &(&Guards, u32)| std::ptr::eq(*known, guards);
        let states = sizes.iter().position(same).unwrap_or_else(|| {
            sizes.push((guards, 0));
            sizes.len() - 1
        });
        let before = sizes[states].1;
        sizes[states].1 += clients(group);
        let states = u16::try_from(states).expect("groups are numbered in 16 bits");
        Some(Place { states, before })
    });
    let places = places.collect();
    let states = sizes
        .iter()
        .map(|&(guards, clients)| GuardStates::new(guards, clients as usize));
    (states.collect(), places)
}

/// The guards of a world, with what requests in flight remember of them.
#[derive(Debug)]
pub(super) struct WorldGuards<'p> {
    states: Vec<GuardStates<'p>>,
    places: Vec<Option<Place>>,
    held: Vec<Held>,
}

impl<'p> WorldGuards<'p> {
    pub(super) fn new(strategies: &[&'p Strategy], groups: &[Group<'p>]) -> Self {
        let (states, places) = guard_states(strategies, |group| groups[group].plan.count);
        Self {
            states,
            places,
            held: Vec::new(),
        }
    }

    /// What request `slot` of a client meets, and the rules it meets; `None` in a group without guards.
    #[inline(always)]
    pub(super) fn meet(
        &mut self,
        group: u16,
        client: u32,
        slot: u32,
    ) -> Option<(&'p Guards, Meeting<'_>)> {
        let place = self.places[usize::from(group)]?;
        if slot as usize >= self.held.len() {
            self.remember(slot);
        }
        let states = &mut self.states[usize::from(place.states)];
        let (guards, held) = (states.guards, &mut self.held[slot as usize]);
        Some((guards, states.meeting(held, place.before + client, slot)))
    }

    #[cold]
    fn remember(&mut self, slot: u32) {
        self.held.resize(slot as usize + 1, Held::default());
    }

    /// Whether any group has guards.
    pub(super) fn exist(&self) -> bool {
        !self.states.is_empty()
    }

    /// What is left of budgets, and the share of breakers that are not closed, in millionths; `None` without any.
    pub(super) fn levels_ppm(&self, now: SimTime) -> (Option<u64>, Option<u64>) {
        let budgets = self
            .states
            .iter()
            .filter_map(|states| states.budget.as_ref());
        let breakers = self
            .states
            .iter()
            .filter_map(|states| states.breaker.as_ref());
        let left = budgets.map(|budgets| budgets.mean_ppm(|state| budgets.rule.level(state, now)));
        let open = breakers.map(|breakers| {
            let is_open = |state: &BreakerState| breakers.rule.phase(state, now) != Phase::Closed;
            breakers.mean_ppm(|state| f64::from(is_open(state)))
        });
        (mean(left), mean(open))
    }

    /// A request begins at place `slot`.
    pub(super) fn renew(&mut self, group: u16, slot: u32) {
        if let Some(place) = self.places[usize::from(group)] {
            let states = &mut self.states[usize::from(place.states)];
            if states.of_calls {
                states.renew(slot);
            }
        }
    }
}

/// The mean, if there is anything.
fn mean(values: impl Iterator<Item = u64>) -> Option<u64> {
    let (sum, count) = values.fold((0, 0), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / count)
}
