//! Clients: requests arrive, wait for a place in flight, and begin.

use super::arrival::Start;
use super::group::{Group, Pool};
use super::log::AttemptLog;
use super::slab::NONE;
use super::step::Step;
use super::stream::ANY_CLIENT;
use super::world::{Event, Request, Stage, World};
use crate::kernel::Scheduler;
use crate::metrics::Gauge;
use crate::outcome::FailureReason;
use crate::rng::{Key, Purpose};
use crate::time::{SimDuration, SimTime};

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'_, L, PLAIN, GUARDED> {
    /// Schedules the first arrivals of a group.
    pub(super) fn start_group(&mut self, group: u16, scheduler: &mut Scheduler<Event>) {
        let index = usize::from(group);
        let arrivals = &self.groups[index].plan.arrivals;
        let Some((think, start)) = arrivals.client_pauses() else {
            return self.schedule_arrival(group, scheduler);
        };
        let (key, mean) = (
            self.groups[index].key,
            SimDuration::from_secs_f64(think.mean()),
        );
        let first = |client: u32| match start {
            Start::AtOnce => SimDuration::ZERO,
            Start::Spread => {
                mean.scale(key.child(u64::from(client)).draws(Purpose::Arrival).unit())
            }
            Start::Thinking => think.sample(&mut pause_key(key, client, 0).draws(Purpose::Think)),
        };
        for client in 0..self.groups[index].plan.count {
            let at = arrivals.end_of_pause(SimTime::ZERO, first(client));
            scheduler.at(at, Event::PauseOver { group, client });
        }
    }

    #[inline(always)]
    /// Draws the next arrival of a stream and schedules it, if it comes before arrivals end.
    fn schedule_arrival(&mut self, group: u16, scheduler: &mut Scheduler<Event>) {
        let end = self.arrivals_end;
        let state = &mut self.groups[usize::from(group)];
        if let Some(at) = state.stream.announce().filter(|&at| at < end) {
            scheduler.at_in(state.arrival_lane, at, Event::Arrival { group });
        }
    }

    /// A request of a stream arrives.
    #[inline]
    pub(super) fn arrive(&mut self, group: u16, scheduler: &mut Scheduler<Event>) -> Step {
        let state = &mut self.groups[usize::from(group)];
        let (number, client) = state.stream.announced();
        let key = state.key.child(number);
        let owner = if client == ANY_CLIENT {
            key.draws(Purpose::Owner).below(u64::from(state.plan.count)) as u32
        } else {
            client
        };
        // A memoryless pause: what comes while the client is busy is no request.
        let counts = state.busy.get_mut(owner as usize / 64).is_none_or(|word| {
            let free = *word >> (owner % 64) & 1 == 0;
            *word |= 1 << (owner % 64);
            free
        });
        self.schedule_arrival(group, scheduler);
        if counts {
            self.begin(group, owner, number, key, scheduler)
        } else {
            Step::Rest
        }
    }

    /// A client of a closed loop has paused long enough.
    #[inline(never)]
    pub(super) fn pause_over(
        &mut self,
        group: u16,
        client: u32,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        if scheduler.now() >= self.arrivals_end {
            return Step::Rest;
        }
        let calls = &mut self.groups[usize::from(group)].calls[client as usize];
        let number = u64::from(client) | u64::from(*calls) << 32;
        *calls += 1;
        let key = self.groups[usize::from(group)].key.child(number);
        self.begin(group, client, number, key, scheduler)
    }

    /// A request begins, or waits for a place.
    #[inline(always)]
    fn begin(
        &mut self,
        group: u16,
        client: u32,
        number: u64,
        key: Key,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        let now = scheduler.now();
        let counted = now >= self.measuring_from;
        let state = &self.groups[usize::from(group)];
        let deadline = state
            .strategy
            .deadline
            .map_or(SimTime::MAX, |deadline| now + deadline);
        let pooled = !PLAIN && !state.pools.is_empty();
        let request = self.requests.claim();
        if request == NONE {
            self.crowded_at = Some(now);
            return Step::Rest;
        }
        self.requests[request] = Request {
            number,
            key,
            intended_at: now,
            sent_at: now,
            deadline,
            client,
            bin: self.tally.timeline.present(),
            group,
            counted,
            stage: Stage::Attempting,
            ..Request::BLANK
        };
        self.tally.requests += u64::from(counted);
        if pooled && !self.enter_pool(request, scheduler) {
            return Step::Rest;
        }
        self.change(Gauge::InFlight, 1);
        Step::Attempt(request)
    }

    /// The pool of a request.
    fn pool_of(&self, request: u32) -> u32 {
        let Request { group, client, .. } = self.requests[request];
        let per_client = self.groups[usize::from(group)]
            .plan
            .pool
            .is_some_and(|(_, per_client, _)| per_client);
        if per_client { client } else { 0 }
    }

    /// Takes a place in the pool, or joins the line for one. Returns whether the request has a place.
    #[inline(never)]
    fn enter_pool(&mut self, request: u32, scheduler: &mut Scheduler<Event>) -> bool {
        let pool_index = self.pool_of(request);
        let group = self.requests[request].group;
        let state = &mut self.groups[usize::from(group)];
        let Some((size, _, patience)) = state.plan.pool else {
            return true;
        };
        let pool = &mut state.pools[pool_index as usize];
        if pool.in_flight < size && pool.first == NONE {
            pool.in_flight += 1;
            self.count_pool_wait(request, SimDuration::ZERO);
            return true;
        }
        let last = std::mem::replace(&mut pool.last, request);
        if last == NONE {
            pool.first = request;
        } else {
            self.requests[last].next_in_pool = request;
            self.requests[request].previous_in_pool = last;
        }
        self.requests[request].stage = Stage::InPool;
        let limit = self.requests[request]
            .deadline
            .min(patience.map_or(SimTime::MAX, |wait| scheduler.now() + wait));
        self.requests[request].gives_up_at = limit;
        if limit < SimTime::MAX {
            scheduler.at(limit, Event::PoolWaitOver { request });
        }
        false
    }

    fn count_pool_wait(&mut self, request: u32, wait: SimDuration) {
        if self.requests[request].counted {
            self.tally.pool_waits.record(wait);
        }
    }

    /// A request has waited for a place long enough: it leaves the line and fails without an attempt.
    #[inline(never)]
    pub(super) fn pool_wait_over(
        &mut self,
        request: u32,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        let waiting = self.requests[request];
        if waiting.stage != Stage::InPool || waiting.gives_up_at != scheduler.now() {
            return Step::Rest;
        }
        let late = waiting.gives_up_at == waiting.deadline;
        let reason = if late {
            FailureReason::Deadline
        } else {
            FailureReason::NotStarted
        };
        self.count_pool_wait(request, scheduler.now() - waiting.intended_at);
        self.tally.count_failure(&waiting, reason, scheduler.now());
        self.leave_line(request);
        self.requests[request].stage = Stage::Ended;
        self.requests.remove(request);
        let (group, client) = (waiting.group, waiting.client);
        self.groups[usize::from(group)].release(client, group, scheduler);
        Step::Rest
    }

    /// A request that held a place has ended. The next one is let in by an event, so that a line of requests
    /// that fail at once does not nest.
    #[inline(never)]
    fn leave_pool(&mut self, request: u32, scheduler: &mut Scheduler<Event>) {
        let (pool_index, group) = (self.pool_of(request), self.requests[request].group);
        let Some(pool) = self.groups[usize::from(group)]
            .pools
            .get_mut(pool_index as usize)
        else {
            return;
        };
        pool.in_flight -= 1;
        self.open_pool(group, pool_index, scheduler);
    }

    /// Lets the next waiting request in by an event, if there is a place for it.
    fn open_pool(&mut self, group: u16, index: u32, scheduler: &mut Scheduler<Event>) {
        let state = &mut self.groups[usize::from(group)];
        let size = state.plan.pool.map_or(u32::MAX, |(size, ..)| size);
        let pool = &mut state.pools[index as usize];
        if pool.first != NONE && pool.in_flight < size && !pool.opening {
            pool.opening = true;
            let event = Event::PoolFreed { group, pool: index };
            scheduler.after(SimDuration::ZERO, event);
        }
    }

    /// Lets the next waiting request in.
    #[inline(never)]
    pub(super) fn pool_freed(
        &mut self,
        group: u16,
        index: u32,
        scheduler: &mut Scheduler<Event>,
    ) -> Step {
        let now = scheduler.now();
        let size = self.groups[usize::from(group)].plan.pool;
        let size = size.map_or(u32::MAX, |(size, ..)| size);
        let pool = self.pool_mut(group, index);
        pool.opening = false;
        let request = pool.first;
        // The line may have run out of patience, and the place may be taken, at this very moment.
        if request == NONE || pool.in_flight >= size {
            return Step::Rest;
        }
        pool.in_flight += 1;
        self.leave_line(request);
        self.open_pool(group, index, scheduler);
        self.count_pool_wait(request, now - self.requests[request].intended_at);
        self.change(Gauge::InFlight, 1);
        Step::Attempt(request)
    }

    /// Takes a request out of the line for its pool.
    fn leave_line(&mut self, request: u32) {
        let index = self.pool_of(request);
        let Request {
            group,
            next_in_pool: next,
            previous_in_pool: previous,
            ..
        } = self.requests[request];
        if previous == NONE {
            self.pool_mut(group, index).first = next;
        } else {
            self.requests[previous].next_in_pool = next;
        }
        if next == NONE {
            self.pool_mut(group, index).last = previous;
        } else {
            self.requests[next].previous_in_pool = previous;
        }
    }

    fn pool_mut(&mut self, group: u16, pool: u32) -> &mut Pool {
        &mut self.groups[usize::from(group)].pools[pool as usize]
    }

    /// A request that had begun has ended: its place in flight and its client are free again.
    #[inline(always)]
    pub(super) fn end_request(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        self.change(Gauge::InFlight, -1);
        self.requests[index].stage = Stage::Ended;
        self.requests.remove(index);
        self.free_client(index, scheduler);
    }

    /// The client of a request, and its place in flight, are free again. Those of a letter were free already.
    #[inline(always)]
    pub(super) fn free_client(&mut self, index: u32, scheduler: &mut Scheduler<Event>) {
        let Request {
            group,
            client,
            redrives,
            ..
        } = self.requests[index];
        if !PLAIN && redrives > 0 {
            return;
        }
        let state = &mut self.groups[usize::from(group)];
        state.release(client, group, scheduler);
        if !PLAIN && !state.pools.is_empty() {
            self.leave_pool(index, scheduler);
        }
    }
}

impl Group<'_> {
    /// A client is done with a request. In a closed loop it begins its next pause.
    #[inline(always)]
    fn release(&mut self, client: u32, group: u16, scheduler: &mut Scheduler<Event>) {
        if let Some(word) = self.busy.get_mut(client as usize / 64) {
            *word &= !(1 << (client % 64));
        } else if let Some((think, _)) = self.plan.arrivals.client_pauses() {
            let calls = self.calls[client as usize];
            let key = pause_key(self.key, client, calls);
            let pause = think.sample(&mut key.draws(Purpose::Think));
            let at = self.plan.arrivals.end_of_pause(scheduler.now(), pause);
            let event = Event::PauseOver { group, client };
            match self.pause_lane {
                Some(lane) => {
                    scheduler.at_in(lane, at, event);
                }
                None => scheduler.at(at, event),
            }
        }
    }
}

/// The key of a client's pause after `calls` requests.
fn pause_key(group: Key, client: u32, calls: u32) -> Key {
    group.child(u64::from(client) | u64::from(calls) << 32)
}
