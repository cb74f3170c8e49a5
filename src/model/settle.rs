//! An attempt begins, ends, and is followed by another or by nothing.

use super::group::Group;
use super::guarded::WorldGuards;
use super::log::{AttemptLog, AttemptRecord, Next};
use super::service::OnAbandon;
use super::slab::NONE;
use super::step::Step;
use super::world::{Event, Job, Request, Stage, Whereabouts, World};
use crate::kernel::{Scheduler, Ticket};
use crate::metrics::{Gauge, Tally, count_at};
use crate::outcome::{AttemptOutcome, FailureReason};
use crate::policy::{Decision, Ended, Memory};
use crate::rng::{Draws, Purpose};
use crate::time::{SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Sends the next attempt of a request on its way to the service.
    #[inline(always)]
    pub(super) fn attempt(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        if GUARDED && let Some(instead) = self.before_attempt(index, scheduler) {
            return instead;
        }
        let now = scheduler.now();
        let request = &mut self.requests[index];
        let strategy = self.groups[usize::from(request.group)].strategy;
        request.attempts = request.attempts.saturating_add(1);
        request.sent = request.sent.saturating_add(1);
        let key = request.key.child(u64::from(request.attempts));
        request.attempt_key = key;
        request.sent_at = now;
        request.stage = Stage::Attempting;
        request.give_up = Ticket::NONE;
        let patience = strategy.attempt_timeout.as_ref().map_or(SimTime::MAX, |t| {
            now + t.sample(&mut key.draws(Purpose::Timeout))
        });
        request.gives_up_at = if PLAIN || strategy.deadline_ends_attempts() {
            patience.min(request.deadline)
        } else {
            patience
        };
        self.tally.attempts += u64::from(request.counted);
        self.sent += 1;
        let job = self.jobs.claim();
        request.job = job;
        if job == NONE || self.sent > self.plan.most_attempts {
            request.job = NONE;
            self.crowded_at = Some(now);
            return Step::Rest;
        }
        self.jobs[job] = Job::of(request, index, now);
        let hedges = strategy.rule.guards.hedge.is_some();
        let deadline = request.deadline;
        if !PLAIN {
            self.send_deadline(job, deadline);
        }
        if !PLAIN && hedges {
            self.begin_round(index, scheduler);
        }
        let travel = match &self.plan.service.request_delay {
            Some(delay) if !PLAIN => delay.sample(&mut key.draws(Purpose::Request)),
            _ => SimDuration::ZERO,
        };
        let travel = travel + self.conditions.latency;
        if travel == SimDuration::ZERO {
            return Step::Reach(job);
        }
        scheduler.after(travel, Event::Reached { job });
        Step::Rest
    }

    /// Schedules the end of the patience with an attempt that is in flight. Does nothing when its service has
    /// begun and ended the patience with the wait.
    #[inline(always)]
    pub(super) fn limit_patience(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let request = &mut self.requests[index];
        if request.gives_up_at == SimTime::MAX {
            return;
        }
        let group = &self.groups[usize::from(request.group)];
        if !PLAIN
            && group.strategy.timeout_covers_wait
            && request.job != NONE
            && self.jobs[request.job].whereabouts == Whereabouts::InService
        {
            return;
        }
        let event = Event::GaveUp { request: index };
        match group.give_up_lane {
            Some(lane) => request.give_up = scheduler.at_in(lane, request.gives_up_at, event),
            None => scheduler.at(request.gives_up_at, event),
        }
    }

    /// The client stops waiting, unless the attempt that this was about has ended. Most such events are
    /// cancelled with their attempt; one that was in no lane and outlived it is known by its time, as it acts
    /// only on an attempt that ends now by itself. An answer that comes at this very moment is in time,
    /// whatever the order of the two events.
    #[inline(never)]
    pub(super) fn gave_up(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        let request = self.requests[index];
        let now = scheduler.now();
        if request.stage != Stage::Attempting || request.gives_up_at != now {
            return Step::Rest;
        }
        if !PLAIN && request.hedges {
            if self.round_is_answered_now(index, now) {
                // Unless that answer ends the round, its patience ends after it.
                scheduler.at(now, Event::GaveUp { request: index });
                return Step::Rest;
            }
        } else if self.is_answered_now(request.job, request.attempt_key, now) {
            return Step::Rest;
        }
        let strategy = self.groups[usize::from(request.group)].strategy;
        let late = request.gives_up_at == request.deadline && strategy.deadline_ends_attempts();
        let outcome = if late {
            AttemptOutcome::DeadlineExceeded
        } else {
            AttemptOutcome::TimedOut
        };
        let stops_work = self.plan.service.on_abandon == OnAbandon::Cancel;
        if strategy.timeout_covers_wait || stops_work {
            self.cancel(request.job, request.attempt_key, stops_work, scheduler);
        }
        Step::Settle {
            request: index,
            outcome,
            code: 0,
        }
    }

    /// The present attempt of a request has ended for its client. This is the one place that follows up on it.
    #[inline(always)]
    pub(super) fn settle(
        &mut self,
        index: u32,
        outcome: AttemptOutcome,
        code: u16,
        scheduler: &mut Scheduler<Event>,
    ) {
        let now = scheduler.now();
        let attempts = self.requests[index].attempts;
        let (mut hedges, mut present) = (0, (attempts, attempts > 1));
        if !PLAIN && self.hedges(index) {
            if self.requests[index].hedges {
                self.end_round(index, outcome, scheduler);
                present = self.round(index).answered;
            }
            hedges = self.round(index).all;
        }
        let request = &mut self.requests[index];
        let group = &mut self.groups[usize::from(request.group)];
        if let Some(lane) = group.give_up_lane {
            scheduler.cancel(lane, request.give_up);
        }
        let answered = !PLAIN && request.job != NONE;
        let hint = answered.then(|| self.jobs[request.job].told(outcome));
        let ended = Ended {
            outcome,
            code,
            attempts_made: request.attempts - hedges,
            retry: present.1,
            hint: hint.flatten(),
            sent_at: request.sent_at,
            now,
            deadline: request.deadline,
        };
        if request.counted {
            self.tally.outcomes[outcome as usize] += 1;
        }
        let decision = if !GUARDED {
            let mut draws = request.attempt_key.draws(Purpose::Jitter);
            let mut memory = Memory {
                backoff: &mut request.backoff,
                guards: None,
            };
            group.strategy.rule.decide(&ended, &mut memory, &mut draws)
        } else {
            group.decide(&ended, request, index, &mut self.guards)
        };
        let too_late = !PLAIN && decision == Decision::Succeed && self.comes_too_late(index, now);
        let decision = if too_late {
            Decision::GiveUp(FailureReason::CallerLeft)
        } else {
            decision
        };
        if L::ENABLED {
            self.log_end(index, (present.0, outcome, code, now), decision);
        }
        self.go_on(index, ended.attempts_made, decision, scheduler);
    }

    /// Logs the end of an attempt, by its number.
    fn log_end(&mut self, index: u32, end: (u32, AttemptOutcome, u16, SimTime), next: Decision) {
        let request = &self.requests[index];
        let job = (request.job != NONE).then(|| &self.jobs[request.job]);
        let started = job.and_then(|job| job.start_with(request.attempt_key));
        self.log
            .record(attempt_record(request, started, end, next.into()));
    }

    /// What was decided is done.
    #[inline(always)]
    fn go_on(
        &mut self,
        index: u32,
        made: u32,
        decision: Decision,
        scheduler: &mut Scheduler<Event>,
    ) {
        let now = scheduler.now();
        let request = &mut self.requests[index];
        match decision {
            Decision::RetryAfter(delay) => {
                request.stage = Stage::BackingOff;
                request.backed_off += delay;
                self.tally.count_retry(request, made, delay);
                let event = Event::RetryDue { request: index };
                match self.groups[usize::from(request.group)].retry_lane {
                    Some(lane) => {
                        scheduler.after_in(lane, delay, event);
                    }
                    None => scheduler.after(delay, event),
                }
            }
            Decision::Succeed => {
                self.tally.count_success(request, now);
                self.end_request(index, scheduler);
            }
            Decision::GiveUp(reason) => self.fail(index, reason, scheduler),
        }
    }
}

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// A request has failed: it is kept as a letter, or that is the end of it.
    #[inline(always)]
    pub(super) fn fail(
        &mut self,
        index: u32,
        reason: FailureReason,
        scheduler: &mut Scheduler<Event>,
    ) {
        if PLAIN || !self.keep_letter(index, reason, scheduler) {
            let now = scheduler.now();
            self.tally.count_failure(&self.requests[index], reason, now);
            self.end_request(index, scheduler);
        }
    }
}

impl Tally {
    #[inline(always)]
    fn count_retry(&mut self, request: &Request, retry: u32, delay: SimDuration) {
        self.timeline.change(Gauge::Backoff, 1);
        if request.counted {
            self.record_delay(retry, delay);
        }
    }

    #[inline(always)]
    fn count_success(&mut self, request: &Request, now: SimTime) {
        let bin = self.timeline.bin();
        bin.succeeded += 1;
        bin.retries_succeeded += u64::from(request.sent > 1);
        self.timeline.cohort(request.bin).succeeded += 1;
        if request.counted {
            self.succeeded += 1;
            self.latency.record(now - request.intended_at);
            self.backoff.record(request.backed_off);
            self.backoff_of_succeeded.record(request.backed_off);
            count_at(&mut self.succeeded_with, request.sent as usize - 1);
        }
    }

    pub(super) fn count_failure(&mut self, request: &Request, reason: FailureReason, now: SimTime) {
        let bin = self.timeline.bin();
        bin.failed += 1;
        bin.budget_denied += u64::from(reason == FailureReason::Budget);
        self.timeline.cohort(request.bin).failed += 1;
        if request.counted {
            self.failed[reason as usize] += 1;
            self.failed_after_ns += u128::from((now - request.intended_at).as_nanos());
            self.backoff.record(request.backed_off);
            count_at(&mut self.failed_with, request.sent as usize);
        }
    }
}

impl Tally {
    /// Counts a request that is a letter at the end.
    pub(super) fn count_letter(&mut self, request: &Request, reason: FailureReason) {
        self.timeline.cohort(request.bin).failed += 1;
        if request.counted {
            self.dead_lettered[reason as usize] += 1;
            self.backoff.record(request.backed_off);
            count_at(&mut self.failed_with, request.sent as usize);
        }
    }
}

impl Group<'_> {
    /// What follows on an attempt of `request`, when jitter or the state of the backoff may belong to its client.
    #[inline(never)]
    fn decide(
        &mut self,
        ended: &Ended,
        request: &mut Request,
        index: u32,
        guards: &mut WorldGuards<'_>,
    ) -> Decision {
        let mut draws = self.jitter(request);
        let met = guards.meet(request.group, request.client, index);
        let of_client = self.backoff.get_mut(request.client as usize);
        let mut memory = Memory {
            backoff: of_client.unwrap_or(&mut request.backoff),
            guards: met.map(|(_, meeting)| meeting),
        };
        let decision = self.strategy.rule.decide(ended, &mut memory, &mut draws);
        match decision {
            Decision::RetryAfter(_) => self.note_jitter(request),
            _ => {
                if let Some(meeting) = &mut memory.guards {
                    let succeeded = decision == Decision::Succeed;
                    let took = ended.now - request.intended_at;
                    let guards = &self.strategy.rule.guards;
                    guards.ended(meeting, ended.now, took, succeeded);
                }
            }
        }
        decision
    }

    /// The jitter numbers for the retry after the present attempt of `request`: its own, or, with shared
    /// generators, the next of the stream that its client uses. Clients whose generators were seeded alike
    /// draw the same numbers in the same order.
    #[inline]
    fn jitter(&self, request: &Request) -> Draws {
        let Some(&drawn) = self.jitter_drawn.get(request.client as usize) else {
            return request.attempt_key.draws(Purpose::Jitter);
        };
        let generator = u64::from(request.client) % self.strategy.generators;
        let key = self.key.child(generator).child(u64::from(drawn));
        key.draws(Purpose::SharedJitter)
    }

    /// Notes that a client has drawn jitter: only a retry does.
    #[inline]
    fn note_jitter(&mut self, request: &Request) {
        if let Some(drawn) = self.jitter_drawn.get_mut(request.client as usize) {
            *drawn = drawn.wrapping_add(1);
        }
    }
}

/// The record of an attempt that has ended: its number, how, and when.
pub(super) fn attempt_record(
    request: &Request,
    started_at: Option<SimTime>,
    (attempt, outcome, code, now): (u32, AttemptOutcome, u16, SimTime),
    next: Next,
) -> AttemptRecord {
    AttemptRecord {
        group: request.group,
        request: request.number,
        client: request.client,
        attempt,
        redrives: request.redrives,
        intended_at: request.intended_at,
        sent_at: request.sent_at,
        started_at,
        ended_at: now,
        outcome: Some(outcome),
        code,
        next,
    }
}
