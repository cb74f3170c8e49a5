//! A request's way, step by step, in one readable pass.
//!
//! An event puts a request, or a job of it, somewhere on its way: sending an attempt, reaching the service, being
//! answered, hearing the answer, deciding what next. From there it goes on until something takes time. Each
//! step returns the next one, so the order stands here once and nothing nests.

use super::log::AttemptLog;
use super::step::Step;
use super::world::{Event, World};
use crate::kernel::Scheduler;

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Follows a request as far as it gets at this moment.
    #[inline(always)]
    pub(super) fn follow(&mut self, mut step: Step, scheduler: &mut Scheduler<Event>) {
        let mut sent = None;
        if let Step::Attempt(request) = step {
            sent = Some(request);
            step = self.attempt(request, scheduler);
        }
        if let Step::Reach(job) = step {
            step = self.reach(job, scheduler);
        }
        if let Step::Answer { job, outcome, code } = step {
            step = self.answer(job, outcome, code, scheduler);
        }
        // An attempt that was refused at once needs no patience.
        if let (Some(request), Step::Rest) = (sent, step) {
            self.limit_patience(request, scheduler);
        }
        if let Step::Answered(job) = step {
            step = self.answered(job, scheduler);
        }
        if let Step::Settle {
            request,
            outcome,
            code,
        } = step
        {
            self.settle(request, outcome, code, scheduler);
        }
        if GUARDED && let Step::GiveUp { request, reason } = step {
            self.give_up_request(request, reason, scheduler);
        }
    }
}
