//! The service protects itself: it lets in what it can bear, sheds what has waited too long, and says when to come back.

use super::log::AttemptLog;
use super::service::OnAbandon;
use super::step::Step;
use super::world::{Event, Whereabouts, World};
use crate::kernel::Scheduler;
use crate::outcome::AttemptOutcome;
use crate::policy::admission::Sample;
use crate::rng::Purpose;
use crate::time::{SimDuration, SimTime};

/// Too many requests.
const TOO_MANY: u16 = 429;

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Whether an attempt that has arrived is turned away, and how.
    #[inline(never)]
    pub(super) fn turn_away(&mut self, index: u32, now: SimTime) -> Option<(AttemptOutcome, u16)> {
        let plan = &self.plan.service;
        let service = &mut self.service;
        if let (Some(rule), Some(state)) = (&plan.rate_limit, &mut service.rate)
            && !rule.admit(state, now)
        {
            return Some((AttemptOutcome::Error, TOO_MANY));
        }
        let inside = service.busy.saturating_add(service.queue.len());
        if let (Some(rule), Some(state)) = (&plan.concurrency_limit, &service.limit)
            && inside >= rule.limit(state)
        {
            return Some((AttemptOutcome::Shed, 0));
        }
        let job = &mut self.jobs[index];
        job.inside = u16::try_from(inside.saturating_add(1)).unwrap_or(u16::MAX);
        let waits = service.busy >= self.conditions.workers;
        let is_shed = job.retry && waits && service.queue.len() >= plan.retry_places;
        is_shed.then_some((AttemptOutcome::Shed, 0))
    }

    /// Whether an attempt whose turn has come is shed for what it has waited.
    #[inline(never)]
    pub(super) fn is_too_slow(&mut self, index: u32, now: SimTime) -> bool {
        let (Some(rule), Some(state)) = (&self.plan.service.codel, &mut self.service.codel) else {
            return false;
        };
        let waited = now - self.jobs[index].reached_at;
        rule.drops(state, now, waited, self.service.queue.len() == 0)
    }

    /// An attempt has left the queue from anywhere in it.
    pub(super) fn note_empty(&mut self, now: SimTime) {
        if let (Some(rule), Some(state)) = (&self.plan.service.codel, &mut self.service.codel)
            && self.service.queue.len() == 0
        {
            rule.emptied(state, now);
        }
    }

    /// An attempt that was let in is shed: its client hears of it at once.
    pub(super) fn shed(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        self.learn(index, scheduler.now(), true);
        if let Step::Answered(job) = self.answer(index, AttemptOutcome::Shed, 0, scheduler) {
            scheduler.after(SimDuration::ZERO, Event::Answered { job });
        }
    }

    /// The adaptive limit learns from an attempt that leaves.
    #[inline]
    pub(super) fn learn(&mut self, index: u32, now: SimTime, dropped: bool) {
        let (Some(rule), Some(state)) = (
            &self.plan.service.concurrency_limit,
            &mut self.service.limit,
        ) else {
            return;
        };
        let job = &self.jobs[index];
        let sample = Sample {
            rtt: now - job.reached_at,
            in_flight: u32::from(job.inside),
            dropped,
            luck: job.key.draws(Purpose::Limit).unit(),
        };
        rule.note(state, &sample);
    }

    /// What the answer to an attempt tells of when to come back.
    #[inline(never)]
    pub(super) fn tell(&mut self, index: u32, outcome: AttemptOutcome, code: u16, now: SimTime) {
        let Some((rule, on)) = &self.plan.service.retry_after else {
            return;
        };
        if !on.contains(outcome, code) {
            return;
        }
        let rate = self
            .plan
            .service
            .rate_limit
            .as_ref()
            .zip(self.service.rate.as_ref());
        let free_after = rate.map_or(SimDuration::ZERO, |(rule, state)| {
            rule.free_after(state, now)
        });
        let inside = u64::from(self.service.busy) + u64::from(self.service.queue.len());
        let job = &mut self.jobs[index];
        let luck = job.key.draws(Purpose::RetryAfter).unit();
        let told = rule
            .told(inside, free_after, luck)
            .as_nanos()
            .div_ceil(1_000_000);
        job.told_ms = u32::try_from(told).unwrap_or(u32::MAX);
    }

    /// An attempt takes the deadline of its request with it, if the service heeds it.
    pub(super) fn send_deadline(&mut self, index: u32, deadline: SimTime) {
        if self.plan.service.on_abandon == OnAbandon::StopAtDeadline {
            // Until its service starts, a job holds the deadline where it will hold the end.
            self.jobs[index].done_at = deadline;
        }
    }

    /// Cuts the work on a job at the deadline that came with it. Returns when it ends, or `None` when that is over already.
    #[inline(never)]
    pub(super) fn cut_work(&mut self, index: u32, now: SimTime, end: SimTime) -> Option<SimTime> {
        if self.plan.service.on_abandon != OnAbandon::StopAtDeadline {
            return Some(end);
        }
        let job = &mut self.jobs[index];
        // Until its service starts, a job holds the deadline where it will hold the end.
        let deadline = job.done_at;
        if now >= deadline {
            job.whereabouts = Whereabouts::Stopped;
            return None;
        }
        if end > deadline {
            job.outcome = AttemptOutcome::DeadlineExceeded;
        }
        Some(end.min(deadline))
    }
}
