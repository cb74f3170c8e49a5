//! A client asks its guards before it sends an attempt, and holds it back when they say so.

use super::log::AttemptLog;
use super::slab::NONE;
use super::step::Step;
use super::world::{Event, Stage, World};
use crate::kernel::{Scheduler, Ticket};
use crate::metrics::Gauge;
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::policy::Admission;
use crate::rng::Purpose;
use crate::time::SimTime;

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Notes the levels of budgets and breakers, and comes again with the next bin.
    #[inline(never)]
    pub(super) fn note_levels(&mut self, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let (left, open) = self.guards.levels_ppm(now);
        self.tally.has_budgets = left.is_some();
        self.tally.has_breakers = open.is_some();
        let bin = self.tally.timeline.bin();
        bin.budget_level_ppm = left.unwrap_or(0);
        bin.breakers_open_ppm = open.unwrap_or(0);
        let next = now + self.plan.bin;
        if next < self.plan.end() {
            scheduler.at(next, Event::LevelsDue);
        }
        Step::Rest
    }

    /// What happens instead of the next attempt of a request, if it is not sent now.
    #[inline(never)]
    pub(super) fn before_attempt(
        &mut self,
        index: u32,
        scheduler: &mut Scheduler<Event>,
    ) -> Option<Step> {
        let request = &self.requests[index];
        let strategy = self.groups[usize::from(request.group)].strategy;
        if !PLAIN && scheduler.now() >= request.deadline && strategy.deadline_ends_attempts() {
            return Some(Step::GiveUp {
                request: index,
                reason: FailureReason::Deadline,
            });
        }
        self.ask_guards(index, scheduler)
    }

    /// Whether the caller of a request has gone away though the request went on.
    #[inline]
    pub(super) fn comes_too_late(&self, index: u32, now: SimTime) -> bool {
        let request = &self.requests[index];
        let strategy = self.groups[usize::from(request.group)].strategy;
        let patience = strategy.callers_leave_after;
        // Nobody waits for what comes back as a letter.
        request.redrives == 0
            && patience.is_some_and(|patience| now > request.intended_at + patience)
    }

    /// Asks the guards whether the next attempt of a request goes out now. `None` when it does.
    fn ask_guards(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Option<Step> {
        let request = &mut self.requests[index];
        let strategy = self.groups[usize::from(request.group)].strategy;
        let now = scheduler.now();
        let retry = request.attempts > 0;
        // A first attempt that was made to wait for its turn comes a second time.
        let begins = !retry && request.stage != Stage::BackingOff;
        if begins {
            self.guards.renew(request.group, index);
            if let Some(round) = self.rounds.get_mut(index as usize) {
                round.all = 0;
            }
        }
        let (guards, mut meeting) = self.guards.meet(request.group, request.client, index)?;
        if begins {
            guards.began(&mut meeting, now);
        }
        let key = request.key.child(u64::from(request.attempts) + 1);
        let luck = || {
            let mut draws = key.draws(Purpose::Guard);
            [draws.unit(), draws.unit()]
        };
        match guards.admit(&mut meeting, now, retry, luck) {
            Admission::Send => None,
            Admission::Wait(wait)
                if now + wait >= request.deadline && strategy.deadline_ends_attempts() =>
            {
                Some(Step::GiveUp {
                    request: index,
                    reason: FailureReason::Deadline,
                })
            }
            Admission::Wait(wait) => {
                // Nobody is waited for until it is sent.
                request.gives_up_at = SimTime::MAX;
                request.stage = Stage::BackingOff;
                self.change(Gauge::Backoff, 1);
                scheduler.after(wait, Event::RetryDue { request: index });
                Some(Step::Rest)
            }
            Admission::Reject(outcome) => Some(self.hold_back(index, outcome, now)),
            Admission::Deny(reason) => Some(Step::GiveUp {
                request: index,
                reason,
            }),
        }
    }

    /// The client holds an attempt back. It counts as a try, and nothing is sent.
    fn hold_back(&mut self, index: u32, outcome: AttemptOutcome, now: SimTime) -> Step {
        let request = &mut self.requests[index];
        request.attempts = request.attempts.saturating_add(1);
        request.attempt_key = request.key.child(u64::from(request.attempts));
        request.sent_at = now;
        request.stage = Stage::Attempting;
        request.give_up = Ticket::NONE;
        request.job = NONE;
        self.tally.timeline.bin().held_back += 1;
        // A try that sends nothing must not go on for ever either.
        self.sent += 1;
        if self.sent > self.plan.most_attempts {
            self.crowded_at = Some(now);
        }
        Step::Settle {
            request: index,
            outcome,
            code: 0,
        }
    }

    /// A request that waited for another attempt fails without it.
    #[inline(never)]
    pub(super) fn give_up_request(
        &mut self,
        index: u32,
        reason: FailureReason,
        scheduler: &mut Scheduler<Event>,
    ) {
        let now = scheduler.now();
        let request = &self.requests[index];
        if let Some((guards, mut meeting)) = self.guards.meet(request.group, request.client, index)
        {
            guards.ended(&mut meeting, now, now - request.intended_at, false);
        }
        self.fail(index, reason, scheduler);
    }
}
