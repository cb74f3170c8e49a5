//! Rules that outlive a request, together: what a request tells them, and what they say to it.
//!
//! A budget or a breaker knows nothing of requests, and a request nothing of who else shares its budget. Here the two
//! meet. The caller owns the states, one for each scope, and hands them over with the request's own [`Held`].

use super::breaker::{Around, BreakerState, CircuitBreaker, Pass};
use super::budget::{BudgetState, Charge, Charged, RetryBudget};
use super::limiter::{Held as Turn, LimiterState, RateLimiter};
use super::{
    Health, Hedge, Kind, Observed, QuantileOf, RetryOn, Scope, Seen, TargetHealth, Throttle,
    Throttled,
};
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::time::{SimDuration, SimTime};

/// The rules of a strategy that outlive a request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Guards {
    /// What bounds retries.
    pub budget: Option<RetryBudget>,
    /// What keeps attempts from a failing service.
    pub breaker: Option<CircuitBreaker>,
    /// What holds attempts back by chance, more of them the fewer are accepted.
    pub throttle: Option<Throttle>,
    /// What limits the rate of attempts.
    pub limiter: Option<RateLimiter>,
    /// What stretches the backoff while the service fails.
    pub health: Option<TargetHealth>,
    /// What sends more attempts at a time.
    pub hedge: Option<Hedge>,
}

/// What a request in flight remembers of its guards.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(32))]
pub struct Held {
    /// What its last retry took from the budget.
    charge: Option<Charge>,
    /// A retry is granted and not yet sent.
    granted: bool,
    /// How the attempt before the retry ended.
    after: Kind,
    /// With what the breaker let the present attempt, or the call, through.
    pass: Option<Pass>,
    /// The rate limiter has given its next attempt a turn.
    has_turn: bool,
}

impl Default for Held {
    fn default() -> Self {
        Self {
            charge: None,
            granted: false,
            after: Kind::Transient,
            pass: None,
            has_turn: false,
        }
    }
}

/// The states that a request meets. Each is there when its rule is.
#[derive(Debug)]
pub struct Meeting<'a> {
    /// The request's own memory.
    pub held: &'a mut Held,
    /// The state of the budget.
    pub budget: Option<&'a mut BudgetState>,
    /// The state of the breaker.
    pub breaker: Option<&'a mut BreakerState>,
    /// The state of the throttle.
    pub throttle: Option<&'a mut Throttled>,
    /// The state of the rate limiter.
    pub limiter: Option<&'a mut LimiterState>,
    /// The state of the target's health.
    pub health: Option<&'a mut Health>,
    /// What hedging has observed.
    pub hedge: Option<&'a mut Observed>,
}

/// What becomes of an attempt that is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It goes out.
    Send,
    /// It goes out after this wait.
    Wait(SimDuration),
    /// The client holds it back, and that is its end.
    Reject(AttemptOutcome),
    /// It is not made at all, and the request has failed.
    Deny(FailureReason),
}

impl Guards {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The scopes of the states they have.
    pub fn scopes(&self) -> impl Iterator<Item = Scope> {
        let scopes = [
            self.budget.as_ref().map(|budget| budget.common().scope),
            self.breaker.as_ref().map(|breaker| breaker.common().scope),
            self.throttle.as_ref().map(|throttle| throttle.scope),
            self.limiter.as_ref().map(|limiter| limiter.common().scope),
            self.health.as_ref().map(|health| health.scope),
            self.hedge.as_ref().map(|hedge| hedge.scope),
        ];
        scopes.into_iter().flatten()
    }

    /// Retries for each request that remain when every attempt fails, the budget being all there is; infinity without a
    /// budget.
    ///
    /// # Errors
    /// Why there is no such number, as a clause.
    pub fn sustained_retries(&self) -> Result<f64, &'static str> {
        if self.breaker.is_some() {
            return Err("a circuit breaker stops attempts");
        }
        if self.throttle.is_some() || self.limiter.is_some() {
            return Err("clients hold attempts back by themselves");
        }
        match &self.budget {
            None => Ok(f64::INFINITY),
            Some(budget) if budget.common().scope == Scope::Call => {
                Err("every request has a full budget of its own")
            }
            Some(budget) => budget
                .sustained()
                .ok_or("what the budget grants depends on the load"),
        }
    }

    /// What their states take, in bytes, for so many `clients` with so many requests `in_flight` among them. Windows of time
    /// come on top: they hold what happens in them, and that is bounded by the requests of the run.
    pub fn bytes(&self, clients: usize, in_flight: f64) -> f64 {
        /// The parts of a window that every state has.
        const WINDOW: usize = 64;
        let each = [
            (self.budget.as_ref()).map(|b| (b.common().scope, size_of::<BudgetState>() + WINDOW)),
            (self.breaker.as_ref()).map(|b| {
                let bytes = size_of::<BreakerState>() + WINDOW + b.window_bytes();
                (b.common().scope, bytes)
            }),
            (self.throttle.as_ref()).map(|t| (t.scope, size_of::<Throttled>() + WINDOW)),
            (self.limiter.as_ref()).map(|l| (l.common().scope, size_of::<LimiterState>() + WINDOW)),
            (self.health.as_ref()).map(|h| (h.scope, size_of::<Health>() + WINDOW)),
            (self.hedge.as_ref()).map(|h| (h.scope, size_of::<Observed>() + h.bins_bytes())),
        ];
        let of_all = each.into_iter().flatten().map(|(scope, bytes)| {
            let states = match scope {
                Scope::Call => in_flight,
                scope => scope.states(clients) as f64,
            };
            states * bytes as f64
        });
        of_all.sum()
    }

    /// Which ends of attempts count as failures for the breaker, where that is not what is retried.
    pub fn breaker_counts(&self) -> Option<&RetryOn> {
        self.breaker.as_ref()?.common().counts.as_ref()
    }

    /// A request begins.
    #[inline]
    pub fn began(&self, meeting: &mut Meeting<'_>, now: SimTime) {
        *meeting.held = Held::default();
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) {
            budget.began(state, now);
        }
    }

    /// An attempt is about to be sent: is it its turn, does the budget pay for it, is it throttled, is the breaker
    /// open? `luck` gives two numbers, uniform in [0, 1), and the same ones every time; few rules need them.
    #[inline]
    pub fn admit(
        &self,
        meeting: &mut Meeting<'_>,
        now: SimTime,
        retry: bool,
        luck: impl Fn() -> [f64; 2],
    ) -> Admission {
        if let (Some(limiter), Some(state)) = (&self.limiter, &mut meeting.limiter)
            && !meeting.held.has_turn
        {
            match limiter.take(state, now) {
                Turn::Send => {}
                Turn::Refuse => return Admission::Reject(AttemptOutcome::RateLimited),
                Turn::Wait(wait) => {
                    meeting.held.has_turn = true;
                    return Admission::Wait(wait);
                }
            }
        }
        meeting.held.has_turn = false;
        if retry && self.charges_at_send() && !self.charge(meeting, now) {
            return Admission::Deny(FailureReason::Budget);
        }
        if let (Some(throttle), Some(state)) = (&self.throttle, &mut meeting.throttle)
            && !throttle.admit(state, now, luck()[0])
        {
            return Admission::Reject(AttemptOutcome::Throttled);
        }
        if let (Some(breaker), Some(state)) = (&self.breaker, &mut meeting.breaker)
            && meeting.held.pass.is_none()
        {
            meeting.held.pass = breaker.admit(state, now, || luck()[1]);
            if meeting.held.pass.is_none() {
                return Admission::Reject(AttemptOutcome::BreakerOpen);
            }
        }
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) {
            budget.sent(state, now, retry);
        }
        meeting.held.granted = false;
        Admission::Send
    }

    /// An attempt that was sent has ended; `failed` as the breaker counts it.
    #[inline]
    pub fn note(&self, meeting: &mut Meeting<'_>, seen: &Seen, failed: bool) {
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) {
            budget.note(state, seen);
        }
        if self.breaker_is_around(&Around::Attempt) {
            self.tell_breaker(meeting, seen.now, seen.took, failed);
        }
        if let (Some(throttle), Some(state)) = (&self.throttle, &mut meeting.throttle) {
            throttle.note(
                state,
                seen.now,
                matches!(seen.kind, Kind::Ok | Kind::Permanent),
            );
        }
        if let (Some(limiter), Some(state)) = (&self.limiter, &mut meeting.limiter) {
            limiter.note(state, seen);
        }
        if let (Some(health), Some(state)) = (&self.health, &mut meeting.health) {
            health.note(state, seen.now, seen.kind != Kind::Ok);
        }
        if seen.kind == Kind::Ok {
            self.observe(meeting, seen.now, QuantileOf::Attempt, seen.took);
        }
    }

    /// A time that hedging may go by has been seen.
    #[inline]
    fn observe(&self, meeting: &mut Meeting<'_>, now: SimTime, of: QuantileOf, took: SimDuration) {
        if let (Some(hedge), Some(state)) = (&self.hedge, &mut meeting.hedge) {
            hedge.note(state, now, of, took);
        }
    }

    /// How long to wait for an attempt that is sent now before the next hedge, and how many hedges there may be.
    pub fn next_hedge(
        &self,
        meeting: &mut Meeting<'_>,
        now: SimTime,
    ) -> Option<(SimDuration, u32)> {
        let (hedge, state) = self.hedge.as_ref().zip(meeting.hedge.as_deref_mut())?;
        Some((hedge.delay(state, now), hedge.most))
    }

    /// Whether a hedge may be sent; it is then on its way. The budget prices it like a retry after a failure that may pass.
    pub fn grant_hedge(&self, meeting: &mut Meeting<'_>, now: SimTime) -> bool {
        let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) else {
            return true;
        };
        let pays = self.pays_for_hedges();
        if pays {
            let Some(charge) = budget.ask(state, now, Kind::Transient) else {
                return false;
            };
            meeting.held.charge = Some(charge);
        }
        budget.sent(state, now, pays);
        true
    }

    /// Whether the budget pays for hedges, like for retries.
    pub fn pays_for_hedges(&self) -> bool {
        self.hedge.is_some_and(|hedge| hedge.from_budget)
    }

    /// Whether hedges are cancelled when another attempt has succeeded.
    pub fn cancels_hedges(&self) -> bool {
        self.hedge.is_some_and(|hedge| hedge.cancel)
    }

    /// An attempt of a round has ended, and others are in flight or have ended the round: only the budget counts it.
    pub fn note_in_round(&self, meeting: &mut Meeting<'_>, seen: &Seen) {
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) {
            budget.note(state, seen);
        }
    }

    /// How many times as long the backoff is, for the health of the target.
    #[inline]
    pub fn stretch(&self, meeting: &mut Meeting<'_>, now: SimTime) -> f64 {
        match (&self.health, &mut meeting.health) {
            (Some(health), Some(state)) => health.factor(state, now),
            _ => 1.0,
        }
    }

    /// Whether the budget grants a retry after a failure of this kind.
    #[inline]
    pub fn grant(&self, meeting: &mut Meeting<'_>, now: SimTime, kind: Kind) -> bool {
        meeting.held.after = kind;
        self.charges_at_send() || self.charge(meeting, now)
    }

    /// A request has ended, `took` after it began.
    #[inline]
    pub fn ended(
        &self,
        meeting: &mut Meeting<'_>,
        now: SimTime,
        took: SimDuration,
        succeeded: bool,
    ) {
        self.withdraw(meeting, now);
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) {
            budget.ended(state, now, succeeded, meeting.held.charge);
        }
        self.tell_breaker(meeting, now, took, !succeeded);
        if succeeded {
            self.observe(meeting, now, QuantileOf::Request, took);
        }
    }

    /// What is let through has ended.
    #[inline]
    fn tell_breaker(
        &self,
        meeting: &mut Meeting<'_>,
        now: SimTime,
        took: SimDuration,
        failed: bool,
    ) {
        if let (Some(breaker), Some(state)) = (&self.breaker, &mut meeting.breaker)
            && let Some(pass) = meeting.held.pass.take()
        {
            breaker.note(state, pass, now, took, failed);
        }
    }

    fn breaker_is_around(&self, what: &Around) -> bool {
        let breaker = self.breaker.as_ref();
        breaker.is_some_and(|breaker| breaker.common().around == *what)
    }

    fn charges_at_send(&self) -> bool {
        let budget = self.budget.as_ref();
        budget.is_some_and(|budget| budget.common().charged == Charged::Send)
    }

    /// A granted retry that was not sent gives its place back.
    #[inline]
    fn withdraw(&self, meeting: &mut Meeting<'_>, now: SimTime) {
        if let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget)
            && std::mem::take(&mut meeting.held.granted)
        {
            budget.withdrawn(state, now);
        }
    }

    /// Asks the budget for a retry; without one there is always leave.
    #[inline]
    fn charge(&self, meeting: &mut Meeting<'_>, now: SimTime) -> bool {
        self.withdraw(meeting, now);
        let (Some(budget), Some(state)) = (&self.budget, &mut meeting.budget) else {
            return true;
        };
        let charge = budget.ask(state, now, meeting.held.after);
        if charge.is_some() {
            meeting.held.charge = charge;
            meeting.held.granted = true;
        }
        charge.is_some()
    }
}
