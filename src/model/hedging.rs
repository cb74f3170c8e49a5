//! Several attempts of a request at a time: the round of a try and its hedges.
//!
//! A round begins with an attempt. While it has no answer, hedges are sent beside it. The first success, or a failure that
//! is not worth another attempt, ends the round; other failures end it when nothing else is in flight. The attempt
//! timeout is of the round: it runs from the first of its attempts.

use super::log::{AttemptLog, Next};
use super::round::{Live, Round};
use super::service::OnAbandon;
use super::settle::attempt_record;
use super::slab::NONE;
use super::step::Step;
use super::world::{Event, Job, Request, Stage, World};
use crate::kernel::Scheduler;
use crate::outcome::AttemptOutcome;
use crate::policy::Seen;
use crate::rng::Purpose;
use crate::time::{SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// The round of a request whose strategy hedges.
    pub(super) fn round(&mut self, request: u32) -> &mut Round {
        let slot = request as usize;
        if slot >= self.rounds.len() {
            self.rounds.resize_with(slot + 1, Round::default);
        }
        &mut self.rounds[slot]
    }

    /// The attempts of a request that are in flight.
    pub(super) fn in_flight_of(&self, index: u32) -> Vec<Live> {
        let request = &self.requests[index];
        if request.hedges {
            return self.rounds[index as usize].live.clone();
        }
        vec![Live {
            key: request.attempt_key,
            job: request.job,
            number: request.attempts,
            retry: request.attempts > 1,
            sent_at: request.sent_at,
        }]
    }

    /// Whether the client still waits for a job.
    #[inline(always)]
    pub(super) fn is_awaited(&self, job: &Job) -> bool {
        let request = &self.requests[job.request];
        job.is_awaited_by(request) || !PLAIN && request.hedges && self.is_in_round(job)
    }

    #[inline(never)]
    fn is_in_round(&self, job: &Job) -> bool {
        let attempting = self.requests[job.request].stage == Stage::Attempting;
        let round = self.rounds.get(job.request as usize);
        attempting && round.is_some_and(|round| round.live.iter().any(|live| live.key == job.key))
    }

    /// Whether the strategy of a request hedges.
    #[inline(always)]
    pub(super) fn hedges(&self, index: u32) -> bool {
        let group = usize::from(self.requests[index].group);
        self.groups[group].strategy.rule.guards.hedge.is_some()
    }

    /// Whether an answer to an attempt of a round reaches the client at this very moment.
    pub(super) fn round_is_answered_now(&self, index: u32, now: SimTime) -> bool {
        let mut live = self.rounds[index as usize].live.iter();
        live.any(|live| self.is_answered_now(live.job, live.key, now))
    }

    /// A round begins: its first attempt has been sent.
    #[inline(never)]
    pub(super) fn begin_round(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let request = self.requests[index];
        let first = Live {
            key: request.attempt_key,
            job: request.job,
            number: request.attempts,
            retry: request.attempts > 1,
            sent_at: scheduler.now(),
        };
        let round = self.round(index);
        round.live.clear();
        round.live.push(first);
        round.sent = 0;
        self.requests[index].hedges = true;
        self.schedule_hedge(index, scheduler);
    }

    fn schedule_hedge(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let now = scheduler.now();
        let request = &self.requests[index];
        let (group, client) = (request.group, request.client);
        let Some((guards, mut meeting)) = self.guards.meet(group, client, index) else {
            return;
        };
        let Some((delay, most)) = guards.next_hedge(&mut meeting, now) else {
            return;
        };
        let round = self.round(index);
        round.due = None;
        if round.sent < most && now + delay < SimTime::MAX {
            round.due = Some(now + delay);
            scheduler.at(now + delay, Event::HedgeDue { request: index });
        }
    }

    /// The next hedge of a request is due, unless its round has ended or gone on.
    #[inline(never)]
    pub(super) fn hedge_due(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let request = &self.requests[index];
        let open = request.stage == Stage::Attempting && request.hedges;
        if !open || self.round(index).due != Some(now) {
            return Step::Rest;
        }
        self.send_hedge(index, scheduler)
    }

    /// Sends another attempt beside those in flight, if the budget allows it.
    fn send_hedge(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        self.round(index).due = None;
        let request = &self.requests[index];
        if now >= request.gives_up_at {
            // The round ends at this moment.
            return Step::Rest;
        }
        let (group, client) = (request.group, request.client);
        let mut retry = false;
        if let Some((guards, mut meeting)) = self.guards.meet(group, client, index) {
            if !guards.grant_hedge(&mut meeting, now) {
                return Step::Rest;
            }
            retry = guards.pays_for_hedges();
        }
        let request = &mut self.requests[index];
        request.attempts = request.attempts.saturating_add(1);
        request.sent = request.sent.saturating_add(1);
        self.tally.attempts += u64::from(request.counted);
        self.sent += 1;
        let job = self.jobs.claim();
        if job == NONE || self.sent > self.plan.most_attempts {
            self.crowded_at = Some(now);
            return Step::Rest;
        }
        let live = Live {
            key: request.key.child(u64::from(request.attempts)),
            job,
            number: request.attempts,
            retry,
            sent_at: now,
        };
        let hedge = Request {
            attempt_key: live.key,
            ..*request
        };
        self.jobs[job] = Job::of(&hedge, index, now);
        self.send_deadline(job, hedge.deadline);
        let round = self.round(index);
        round.live.push(live);
        round.sent += 1;
        round.all += 1;
        self.schedule_hedge(index, scheduler);
        let delay = self.plan.service.request_delay.as_ref();
        let drawn = delay.map(|delay| delay.sample(&mut live.key.draws(Purpose::Request)));
        let travel = drawn.unwrap_or(SimDuration::ZERO) + self.conditions.latency;
        if travel == SimDuration::ZERO {
            return Step::Reach(job);
        }
        scheduler.after(travel, Event::Reached { job });
        Step::Rest
    }

    /// An attempt of a round is answered. Gives what follows.
    #[inline(never)]
    pub(super) fn answered_in_round(
        &mut self,
        index: u32,
        job: Job,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        let request = job.request;
        let round = self.round(request);
        let place = round.live.iter().position(|live| live.key == job.key);
        let live = round
            .live
            .swap_remove(place.expect("an awaited attempt is in its round"));
        round.answered = (live.number, live.retry);
        let alone = round.live.is_empty();
        let group = usize::from(self.requests[request].group);
        let retry_on = &self.groups[group].strategy.rule.retry_on;
        let goes_on = !alone && retry_on.contains(job.outcome, job.code);
        let state = &mut self.requests[request];
        if !goes_on {
            (state.attempt_key, state.job, state.sent_at) = (live.key, index, live.sent_at);
            return Step::Settle {
                request,
                outcome: job.outcome,
                code: job.code,
            };
        }
        let other = self.round(request).live[0];
        let state = &mut self.requests[request];
        (state.attempt_key, state.job, state.sent_at) = (other.key, other.job, other.sent_at);
        self.end_in_round(request, live, (job.outcome, job.code), scheduler.now());
        let round = self.round(request);
        if round.due.is_some() {
            // A failure is reason enough for the next hedge.
            if let Step::Reach(job) = self.send_hedge(request, scheduler) {
                scheduler.after(SimDuration::ZERO, Event::Reached { job });
            }
        }
        Step::Rest
    }

    /// The round of a request has ended, and with it all that is still in flight.
    #[inline(never)]
    pub(super) fn end_round(
        &mut self,
        index: u32,
        outcome: AttemptOutcome,
        scheduler: &mut Scheduler<Event>,
    ) {
        let key = self.requests[index].attempt_key;
        self.requests[index].hedges = false;
        let round = self.round(index);
        round.due = None;
        let others = std::mem::take(&mut round.live);
        if let Some(present) = others.iter().find(|live| live.key == key) {
            round.answered = (present.number, present.retry);
        }
        let timed_out = matches!(
            outcome,
            AttemptOutcome::TimedOut | AttemptOutcome::DeadlineExceeded
        );
        let group = usize::from(self.requests[index].group);
        let cancels = self.groups[group].strategy.rule.guards.cancels_hedges();
        let stops = self.plan.service.on_abandon == OnAbandon::Cancel;
        for live in others.iter().filter(|live| live.key != key) {
            let end = if timed_out {
                outcome
            } else {
                AttemptOutcome::Superseded
            };
            self.end_in_round(index, *live, (end, 0), scheduler.now());
            if stops || cancels && !timed_out {
                self.cancel(live.job, live.key, true, scheduler);
            }
        }
    }

    /// Counts the end of an attempt that does not end its round.
    fn end_in_round(
        &mut self,
        index: u32,
        live: Live,
        (outcome, code): (AttemptOutcome, u16),
        now: SimTime,
    ) {
        let request = self.requests[index];
        if request.counted {
            self.tally.outcomes[outcome as usize] += 1;
        }
        let strategy = self.groups[usize::from(request.group)].strategy;
        let seen = Seen {
            now,
            took: now - live.sent_at,
            kind: strategy.rule.kind_of(outcome, code),
            retryable: strategy.rule.retry_on.contains(outcome, code),
            retry: live.retry,
        };
        if let Some((guards, mut meeting)) = self.guards.meet(request.group, request.client, index)
        {
            guards.note_in_round(&mut meeting, &seen);
        }
        if L::ENABLED {
            let started = self.jobs[live.job].start_with(live.key);
            let present = Request {
                sent_at: live.sent_at,
                ..request
            };
            let end = (live.number, outcome, code, now);
            self.log
                .record(attempt_record(&present, started, end, Next::Hedged));
        }
    }
}
