//! Requests that have failed become letters, come back, and grow too old.

use super::letters::{AfterTime, AtRate, Letter, Redrive};
use super::log::AttemptLog;
use super::step::Step;
use super::world::{Event, Request, Stage, World};
use crate::kernel::Scheduler;
use crate::metrics::Gauge;
use crate::outcome::FailureReason;
use crate::policy::BackoffState;
use crate::time::{NANOS_PER_SEC, SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Keeps a request that has failed as a letter, if its strategy does. Returns whether it did.
    #[inline(never)]
    pub(super) fn keep_letter(
        &mut self,
        index: u32,
        reason: FailureReason,
        scheduler: &mut Scheduler<Event>,
    ) -> bool {
        let group = self.requests[index].group;
        let state = &mut self.groups[usize::from(group)];
        let Some(rule) = state
            .strategy
            .dead_letters
            .filter(|rule| rule.keeps(reason))
        else {
            return false;
        };
        let request = &mut self.requests[index];
        let letter = Letter {
            request: index,
            since: scheduler.now(),
            reason,
        };
        if rule.may_come_back(request.redrives) {
            state.letters.waiting.push_back(letter);
        } else {
            state.letters.resting.push_back(letter);
        }
        let bin = self.tally.timeline.bin();
        bin.dead_lettered += 1;
        bin.budget_denied += u64::from(reason == FailureReason::Budget);
        self.change(Gauge::InFlight, -1);
        self.change(Gauge::DeadLetters, 1);
        self.free_client(index, scheduler);
        self.requests[index].stage = Stage::DeadLettered;
        if let Some(kept) = rule.retention {
            scheduler.after(kept, Event::LetterExpires { group });
        }
        self.ring(group, scheduler);
        true
    }

    /// Schedules the next letter to come back, if there is one and none is under way.
    fn ring(&mut self, group: u16, scheduler: &mut Scheduler<Event>) {
        let state = &mut self.groups[usize::from(group)];
        let (Some(rule), Some(next)) = (state.strategy.dead_letters, state.letters.waiting.front())
        else {
            return;
        };
        if state.letters.rings {
            return;
        }
        let at = match rule.redrive {
            Redrive::Never => return,
            Redrive::After(AfterTime { delay }) => next.since + delay,
            Redrive::Rate(AtRate { rate, from }) => {
                let gap = NANOS_PER_SEC as f64 / rate.as_per_second();
                let gap = SimDuration::from_nanos_f64(gap.max(1.0));
                let due = state.letters.last.map_or(SimTime::ZERO, |last| last + gap);
                due.max(SimTime::ZERO + from)
            }
        };
        if at < SimTime::MAX {
            state.letters.rings = true;
            scheduler.at(at.max(scheduler.now()), Event::LetterDue { group });
        }
    }

    /// The next letter comes back: its request begins anew.
    #[inline(never)]
    pub(super) fn letter_due(&mut self, group: u16, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let state = &mut self.groups[usize::from(group)];
        state.letters.rings = false;
        let due = match state.strategy.dead_letters.map(|rule| rule.redrive) {
            Some(Redrive::After(AfterTime { delay })) => {
                let next = state.letters.waiting.front();
                next.is_some_and(|letter| now - letter.since >= delay)
            }
            _ => true,
        };
        // The letter that this was about may have grown too old meanwhile.
        let Some(letter) = due.then(|| state.letters.waiting.pop_front()).flatten() else {
            self.ring(group, scheduler);
            return Step::Rest;
        };
        state.letters.last = Some(now);
        let deadline = state.strategy.deadline;
        self.ring(group, scheduler);
        self.change(Gauge::DeadLetters, -1);
        self.change(Gauge::InFlight, 1);
        let request = &mut self.requests[letter.request];
        self.tally.redriven += u64::from(request.counted);
        *request = Request {
            // Attempts are numbered from 1, so this key is that of none.
            key: request.key.child(0),
            deadline: deadline.map_or(SimTime::MAX, |deadline| now + deadline),
            backoff: BackoffState::NEW,
            redrives: request.redrives.saturating_add(1),
            attempts: 0,
            stage: Stage::Attempting,
            ..*request
        };
        Step::Attempt(letter.request)
    }

    /// Letters that have been kept for too long have failed for good.
    #[inline(never)]
    pub(super) fn letter_expires(&mut self, group: u16, scheduler: &mut Scheduler<Event>) -> Step {
        let now = scheduler.now();
        let state = &mut self.groups[usize::from(group)];
        let retention = state.strategy.dead_letters.and_then(|rule| rule.retention);
        let Some(retention) = retention else {
            return Step::Rest;
        };
        while let Some(letter) = self.groups[usize::from(group)]
            .letters
            .expired(now, retention)
        {
            self.change(Gauge::DeadLetters, -1);
            let request = self.requests[letter.request];
            self.tally
                .count_failure(&request, FailureReason::Expired, now);
            self.requests[letter.request].stage = Stage::Ended;
            self.requests.remove(letter.request);
        }
        Step::Rest
    }

    /// Counts the letters that are left at the end.
    pub(super) fn count_letters(&mut self) {
        for group in &self.groups {
            for letter in group.letters.iter() {
                let request = &self.requests[letter.request];
                self.tally.count_letter(request, letter.reason);
            }
        }
    }
}
