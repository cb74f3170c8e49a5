//! The service at work: jobs arrive, wait, are served and answered.
//!
//! A job is an attempt as the service sees it. It does not know whether its client still waits; only the
//! answer finds out.

use super::log::AttemptLog;
use super::service::OnAbandon;
use super::step::Step;
use super::world::{Event, Job, Whereabouts, World};
use crate::kernel::Scheduler;
use crate::metrics::Gauge;
use crate::outcome::AttemptOutcome;
use crate::rng::{Key, Purpose};
use crate::time::{SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// A job reaches the service: it is refused, served or queued.
    #[inline(always)]
    pub(super) fn reach(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let bin = self.tally.timeline.bin();
        let job = &mut self.jobs[index];
        if !PLAIN && job.whereabouts == Whereabouts::Stopped {
            return self.vanish(index);
        }
        job.reached_at = now;
        if job.retry {
            bin.retries += 1;
        } else {
            bin.first_tries += 1;
        }
        self.service.arrived += 1;
        let answer = |outcome, code| Step::Answer {
            job: index,
            outcome,
            code,
        };
        if self.conditions.disturbed {
            if self.conditions.hang {
                return self.vanish(index);
            }
            if self.conditions.refuse {
                return answer(AttemptOutcome::Refused, 0);
            }
            self.script_failure(index);
        }
        if !PLAIN
            && !self.plan.service.failures_take_time
            && let Some(code) = self.failure(&self.jobs[index])
        {
            return answer(AttemptOutcome::Error, code);
        }
        if !PLAIN
            && self.plan.service.sheds()
            && let Some((outcome, code)) = self.turn_away(index, now)
        {
            return answer(outcome, code);
        }
        if self.service.busy < self.conditions.workers {
            // Those that do not wait are seen by the rule that sheds those that do.
            if PLAIN || !self.is_too_slow(index, now) {
                self.serve(index, scheduler);
            } else {
                self.shed(index, scheduler);
            }
        } else if self.service.queue.len() < self.plan.service.queue_capacity {
            let job = &mut self.jobs[index];
            job.whereabouts = Whereabouts::Waiting;
            job.ticket = self.service.queue.push(index, now);
            self.change(Gauge::Queue, 1);
        } else {
            return answer(AttemptOutcome::QueueFull, 0);
        }
        self.service.note_inside();
        Step::Rest
    }

    /// Faults that count attempts decide here whether this one fails, whatever the seed.
    #[inline(never)]
    fn script_failure(&mut self, index: u32) {
        let Job { group, client, .. } = self.jobs[index];
        let seen = self.groups[usize::from(group)]
            .attempts_seen
            .get_mut(client as usize);
        let conditions = &self.conditions;
        let first = seen.is_some_and(|seen| {
            // Attempts count while such a fault is in force.
            *seen += u32::from(conditions.fail_first > 0);
            *seen <= conditions.fail_first
        });
        let first = (first && conditions.fail_first > 0).then_some(conditions.first_code);
        let arrived = self.service.arrived;
        let mut every = conditions.fail_every.iter();
        let nth = every.find(|(n, _)| arrived.is_multiple_of(u64::from(*n)));
        let code = conditions.fail_all.or(first).or(nth.map(|&(_, code)| code));
        let job = &mut self.jobs[index];
        job.doomed = code.is_some();
        job.code = code.unwrap_or(0);
    }

    /// The code that a job fails with, if it fails. One number decides, whatever p is now, so that strategies
    /// and probabilities meet the same luck.
    #[inline]
    fn failure(&self, job: &Job) -> Option<u16> {
        if job.doomed {
            // The fault may be over by now.
            return Some(job.code);
        }
        let own = &self.plan.service.failures;
        let added = self.conditions.error_rate;
        if own.never_happen() && added == 0.0 {
            return None;
        }
        let luck = job.key.draws(Purpose::Failure).unit();
        match own.draw(luck, || self.load_with(job)) {
            Ok(code) => Some(code),
            Err(p) => (luck < p + (1.0 - p) * added).then_some(self.conditions.error_code),
        }
    }

    /// Attempts inside per worker, a job that fails on arrival among them.
    fn load_with(&self, job: &Job) -> f64 {
        let arriving = u64::from(job.whereabouts != Whereabouts::InService);
        let inside = u64::from(self.service.busy) + u64::from(self.service.queue.len()) + arriving;
        inside as f64 / f64::from(self.conditions.workers)
    }

    /// A worker begins a job, unless the job is dropped because it would end too late.
    #[inline(always)]
    fn serve(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let now = scheduler.now();
        let job = &self.jobs[index];
        let mut end = now + self.work(job.key);
        if !PLAIN {
            let Some(cut) = self.cut_work(index, now, end) else {
                self.vanish(index);
                return;
            };
            end = cut;
        }
        let job = &self.jobs[index];
        if !PLAIN
            && self.plan.service.on_abandon == OnAbandon::DropIfLate
            && !self.ends_in_time(job, end)
        {
            self.jobs[index].whereabouts = Whereabouts::Stopped;
            self.vanish(index);
            return;
        }
        let job = &mut self.jobs[index];
        job.whereabouts = Whereabouts::InService;
        job.started_at = now;
        job.done_at = end;
        if job.counted {
            let wait = now - job.reached_at;
            self.tally.waits.record(wait);
            self.tally.waited += u64::from(wait > SimDuration::ZERO);
        }
        self.service.busy += 1;
        scheduler.at(end, Event::Served { job: index });
        self.change(Gauge::Busy, 1);
        if !PLAIN && self.some_cover_wait {
            self.stop_patience(index, scheduler);
        }
    }

    /// How long a worker needs for an attempt that begins now.
    #[inline(always)]
    fn work(&self, key: Key) -> SimDuration {
        let mut draws = key.draws(Purpose::Service);
        let drawn = self.plan.service.service_time.sample(&mut draws);
        let slow_down = self.conditions.slow_down;
        if slow_down == 1.0 {
            drawn
        } else {
            drawn.scale(slow_down)
        }
    }

    /// Whether the client of a job will still wait at `end`, should its service begin now.
    #[inline(never)]
    fn ends_in_time(&self, job: &Job, end: SimTime) -> bool {
        let request = &self.requests[job.request];
        let covers_wait = self.groups[usize::from(job.group)]
            .strategy
            .timeout_covers_wait;
        let patience = if covers_wait {
            request.deadline
        } else {
            request.gives_up_at
        };
        self.is_awaited(job) && end <= patience
    }

    /// The wait of an attempt is over, and with it a patience that covers the wait only; the deadline stays.
    #[inline(never)]
    fn stop_patience(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let job = &self.jobs[index];
        let request = &mut self.requests[job.request];
        let strategy = self.groups[usize::from(job.group)].strategy;
        if strategy.timeout_covers_wait && job.is_awaited_by(request) {
            let ends = strategy.deadline_ends_attempts();
            request.gives_up_at = if ends { request.deadline } else { SimTime::MAX };
            if request.gives_up_at < SimTime::MAX {
                let event = Event::GaveUp {
                    request: job.request,
                };
                scheduler.at(request.gives_up_at, event);
            }
        }
    }

    /// A worker has ended a job. An event that outlived its job is known by its time.
    #[inline(always)]
    pub(super) fn served(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let job = &self.jobs[index];
        if job.whereabouts != Whereabouts::InService || job.done_at != now {
            return Step::Rest;
        }
        if !PLAIN && job.outcome == AttemptOutcome::DeadlineExceeded {
            self.stop_work(index, now);
            self.free_worker(scheduler);
            return Step::Rest;
        }
        if job.counted {
            let in_time = self.is_awaited(job);
            self.tally.served += 1;
            self.tally.sojourns.record(now - job.reached_at);
            let work = u128::from((now - job.started_at).as_nanos());
            self.tally.work_ns += work;
            if !in_time {
                self.tally.served_late += 1;
                self.tally.wasted_ns += work;
            }
        }
        let failure = if PLAIN || self.plan.service.failures_take_time {
            self.failure(job)
        } else {
            None
        };
        if !PLAIN {
            self.learn(index, now, false);
        }
        self.free_worker(scheduler);
        let outcome = match failure {
            Some(_) => AttemptOutcome::Error,
            None => AttemptOutcome::Ok,
        };
        Step::Answer {
            job: index,
            outcome,
            code: failure.unwrap_or(0),
        }
    }

    #[inline(always)]
    pub(super) fn free_worker(&mut self, scheduler: &mut Scheduler<Event>) {
        self.service.busy -= 1;
        self.change(Gauge::Busy, -1);
        if self.service.queue.len() > 0 {
            self.take_from_queue(scheduler);
        }
    }

    /// Free workers take waiting jobs.
    #[inline(never)]
    pub(super) fn take_from_queue(&mut self, scheduler: &mut Scheduler<Event>) {
        while self.service.queue.len() > 0 && self.service.busy < self.conditions.workers {
            let now = scheduler.now();
            let Some(index) = self.service.queue.pop(&mut self.queue_draws, now) else {
                return;
            };
            self.change(Gauge::Queue, -1);
            if !PLAIN && self.is_too_slow(index, now) {
                self.shed(index, scheduler);
                continue;
            }
            let job = &self.jobs[index];
            let skips = !PLAIN && self.plan.service.on_abandon == OnAbandon::SkipWhenDequeued;
            if skips && !self.is_awaited(job) {
                self.vanish(index);
            } else {
                self.serve(index, scheduler);
            }
        }
    }

    /// A job ends without an answer.
    pub(super) fn vanish(&mut self, index: u32) -> Step {
        let job = &mut self.jobs[index];
        // Nobody can cancel it any more.
        job.whereabouts = Whereabouts::Stopped;
        self.tally.dropped += u64::from(job.counted);
        self.jobs.remove(index);
        Step::Rest
    }

    /// Sends the answer on its way back.
    #[inline(always)]
    pub(super) fn answer(
        &mut self,
        index: u32,
        outcome: AttemptOutcome,
        code: u16,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        let job = &mut self.jobs[index];
        job.whereabouts = Whereabouts::Returning;
        (job.outcome, job.code) = (outcome, code);
        if !PLAIN && self.plan.service.retry_after.is_some() {
            self.tell(index, outcome, code, scheduler.now());
        }
        let job = &mut self.jobs[index];
        let travel = match &self.plan.service.response_delay {
            Some(delay) if !PLAIN => delay.sample(&mut job.key.draws(Purpose::Response)),
            _ => SimDuration::ZERO,
        };
        job.done_at = scheduler.now() + travel;
        if travel == SimDuration::ZERO {
            return Step::Answered(index);
        }
        scheduler.after(travel, Event::Answered { job: index });
        Step::Rest
    }

    /// The answer reaches the client, who may have given up.
    #[inline(always)]
    pub(super) fn answered(&mut self, index: u32, scheduler: &mut Scheduler<Event>) -> Step {
        self.jobs.remove(index);
        let job = &self.jobs[index];
        if !self.is_awaited(job) {
            return Step::Rest;
        }
        if !PLAIN && self.requests[job.request].hedges {
            return self.answered_in_round(index, *job, scheduler);
        }
        Step::Settle {
            request: job.request,
            outcome: job.outcome,
            code: job.code,
        }
    }

    /// Whether the answer to the attempt with `key` is due at this moment, by an event to come.
    pub(super) fn is_answered_now(&self, index: u32, key: Key, now: SimTime) -> bool {
        let job = &self.jobs[index];
        let answers = match job.whereabouts {
            // Work that stops at the deadline has no answer.
            Whereabouts::InService => {
                self.plan.service.response_delay.is_none()
                    && job.outcome != AttemptOutcome::DeadlineExceeded
            }
            Whereabouts::Returning => true,
            Whereabouts::Travelling | Whereabouts::Waiting | Whereabouts::Stopped => false,
        };
        answers && job.done_at == now && job.key == key
    }
}
