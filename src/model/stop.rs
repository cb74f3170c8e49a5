//! Work stops: its client has given up, or a fault takes it away.

use super::log::AttemptLog;
use super::step::Step;
use super::world::{Event, Whereabouts, World};
use crate::kernel::Scheduler;
use crate::metrics::Gauge;
use crate::outcome::AttemptOutcome;
use crate::rng::Key;
use crate::time::{SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// The client of a job has given up, and the service learns of it at once. Work that has begun goes on unless it
    /// `stops_work`.
    pub(super) fn cancel(
        &mut self,
        index: u32,
        key: Key,
        stops_work: bool,
        scheduler: &mut Scheduler<Event>,
    ) {
        let job = self.jobs[index];
        if job.key != key {
            return;
        }
        match job.whereabouts {
            Whereabouts::Waiting => {
                self.service.queue.leave(job.ticket);
                self.note_empty(scheduler.now());
                self.change(Gauge::Queue, -1);
                self.jobs[index].whereabouts = Whereabouts::Stopped;
                self.vanish(index);
            }
            Whereabouts::InService if stops_work => {
                self.stop_work(index, scheduler.now());
                self.free_worker(scheduler);
            }
            Whereabouts::Travelling => self.jobs[index].whereabouts = Whereabouts::Stopped,
            Whereabouts::InService | Whereabouts::Returning | Whereabouts::Stopped => {}
        }
    }

    /// Ends a job in service without a result. Its event will find it gone.
    pub(super) fn stop_work(&mut self, index: u32, now: SimTime) {
        self.jobs[index].whereabouts = Whereabouts::Stopped;
        self.count_lost_work(index, now);
        self.vanish(index);
    }

    fn count_lost_work(&mut self, index: u32, now: SimTime) {
        let job = &self.jobs[index];
        if job.counted {
            let work = u128::from((now - job.started_at).as_nanos());
            self.tally.work_ns += work;
            self.tally.wasted_ns += work;
        }
    }

    /// A fault starts, ends or moves on.
    #[inline(never)]
    pub(super) fn conditions_changed(&mut self, scheduler: &mut Scheduler<Event>) -> Step {
        let was_refusing = self.conditions.refuse;
        let counted_from = self.conditions.counts_from;
        self.conditions = self
            .plan
            .faults
            .conditions(scheduler.now(), self.plan.service.workers);
        if self.conditions.counts_from.is_some() && self.conditions.counts_from != counted_from {
            for group in &mut self.groups {
                group.attempts_seen.fill(0);
            }
        }
        if self.conditions.refuse && !was_refusing {
            self.lose_work(scheduler);
        }
        self.take_from_queue(scheduler);
        Step::Rest
    }

    /// The service goes down: all work inside is lost, and its clients see their connections refused.
    fn lose_work(&mut self, scheduler: &mut Scheduler<Event>) {
        let now = scheduler.now();
        let mut lost = Vec::new();
        while let Some(index) = self.service.queue.pop(&mut self.queue_draws, now) {
            self.change(Gauge::Queue, -1);
            lost.push(index);
        }
        self.note_empty(now);
        let busy = i64::from(std::mem::take(&mut self.service.busy));
        self.change(Gauge::Busy, -busy);
        let running = self
            .jobs
            .iter()
            .enumerate()
            .filter(|(_, job)| job.whereabouts == Whereabouts::InService);
        let running: Vec<u32> = running.map(|(index, _)| index as u32).collect();
        for &index in &running {
            self.count_lost_work(index, now);
        }
        for index in lost.into_iter().chain(running) {
            if let Step::Answered(job) = self.answer(index, AttemptOutcome::Refused, 0, scheduler) {
                scheduler.after(SimDuration::ZERO, Event::Answered { job });
            }
        }
    }
}
