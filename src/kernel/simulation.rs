//! The loop that lets events happen.

use super::{Model, Scheduler};
use crate::time::SimTime;

/// A world, its clock and its pending events.
#[derive(Debug)]
pub struct Simulation<M: Model> {
    /// The world. Look at it between steps.
    pub model: M,
    scheduler: Scheduler<M::Event>,
    /// The instant that is counted, and the events handled at it.
    instant: SimTime,
    at_instant: u64,
    instant_limit: u64,
}

/// So many events happened at one instant that time seems to stand still.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// When.
    pub at: SimTime,
    /// How many events happened then.
    pub events: u64,
}

impl<M: Model> Simulation<M> {
    /// Events allowed at one instant unless [`Self::set_instant_limit`] says otherwise.
    pub const INSTANT_LIMIT: u64 = 50_000_000;

    /// `model` at time zero with nothing pending.
    pub fn new(model: M) -> Self {
        Self {
            model,
            scheduler: Scheduler::new(),
            instant: SimTime::ZERO,
            at_instant: 0,
            instant_limit: Self::INSTANT_LIMIT,
        }
    }

    /// The model that `make` makes, which may set up lanes and first events as it does.
    pub fn build(make: impl FnOnce(&mut Scheduler<M::Event>) -> M) -> Self {
        let mut scheduler = Scheduler::new();
        let model = make(&mut scheduler);
        Self {
            scheduler,
            ..Self::new(model)
        }
    }

    /// The model alone, when the run is over.
    pub fn into_model(self) -> M {
        self.model
    }

    /// For making lanes and the first events.
    pub fn scheduler(&mut self) -> &mut Scheduler<M::Event> {
        &mut self.scheduler
    }

    /// Allows at most `events` events at one instant.
    pub fn set_instant_limit(&mut self, events: u64) {
        self.instant_limit = events;
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.scheduler.taken()
    }

    /// Handles the next event and gives its time; `None` if nothing is pending.
    pub fn step(&mut self) -> Option<SimTime> {
        self.step_until(u64::MAX)
    }

    /// Handles all events before `end`, then lets time pass until `end`. Later events stay pending. Does
    /// nothing if `end` is already past.
    ///
    /// # Errors
    ///
    /// [`Stuck`] as soon as more events than the limit have happened at one instant.
    pub fn run_until(&mut self, end: SimTime) -> Result<(), Stuck> {
        if let Some(limit) = end.as_nanos().checked_sub(1) {
            while let Some(time) = self.step_until(limit) {
                if self.at_instant > self.instant_limit {
                    let events = self.at_instant;
                    return Err(Stuck { at: time, events });
                }
            }
        }
        self.scheduler.pass_until(end.as_nanos());
        Ok(())
    }

    /// Handles the next event if it is not after `limit`.
    #[inline(always)]
    fn step_until(&mut self, limit: u64) -> Option<SimTime> {
        let (time, event) = self.scheduler.pop(limit)?;
        let time = SimTime::from_nanos(time);
        if time == self.instant {
            self.at_instant += 1;
        } else {
            (self.instant, self.at_instant) = (time, 1);
        }
        self.model.handle(event, &mut self.scheduler);
        Some(time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SimDuration;

    /// Notes when each event came, and lets `2` cause a `9` now and a `3` two nanoseconds later.
    #[derive(Default)]
    struct Notes(Vec<(u64, u32)>);

    impl Model for Notes {
        type Event = u32;
        fn handle(&mut self, event: u32, scheduler: &mut Scheduler<u32>) {
            self.0.push((scheduler.now().as_nanos(), event));
            if event == 2 {
                scheduler.after(SimDuration::from_nanos(2), 3);
                scheduler.after(SimDuration::ZERO, 9);
            }
        }
    }

    /// Schedules itself again after a delay, for ever.
    struct Loop(SimDuration);

    impl Model for Loop {
        type Event = ();
        fn handle(&mut self, (): (), scheduler: &mut Scheduler<()>) {
            scheduler.after(self.0, ());
        }
    }

    fn nanos(nanos: u64) -> SimTime {
        SimTime::from_nanos(nanos)
    }

    fn notes() -> Simulation<Notes> {
        let mut sim = Simulation::new(Notes::default());
        for (time, event) in [(5, 4), (3, 2), (0, 0), (3, 1)] {
            sim.scheduler().at(nanos(time), event);
        }
        sim
    }

    #[test]
    fn step_handles_one_event_and_tells_its_time() {
        let mut sim = notes();
        assert_eq!(sim.scheduler().pending(), 4);
        assert_eq!(sim.step(), Some(nanos(0)));
        assert_eq!(sim.step(), Some(nanos(3)));
        assert_eq!(sim.model.0, [(0, 0), (3, 2)]);
        assert_eq!(sim.scheduler().pending(), 4, "two are done, two are new");
        while sim.step().is_some() {}
        assert_eq!(sim.model.0[2..], [(3, 1), (3, 9), (5, 4), (5, 3)]);
        assert_eq!((sim.events(), sim.scheduler().pending()), (6, 0));
        assert_eq!(sim.scheduler().now(), nanos(5));
    }

    #[test]
    fn run_until_leaves_events_at_its_end_pending() {
        let mut sim = notes();
        assert_eq!(sim.run_until(nanos(5)), Ok(()));
        assert_eq!(sim.events(), 4);
        assert_eq!(sim.scheduler().now(), nanos(5));
        assert_eq!(sim.scheduler().pending(), 2);
        sim.scheduler().after(SimDuration::ZERO, 7);
        assert_eq!(sim.run_until(nanos(6)), Ok(()));
        assert_eq!(sim.model.0[4..], [(5, 4), (5, 3), (5, 7)]);
        assert_eq!(
            sim.run_until(nanos(2)),
            Ok(()),
            "an end in the past does nothing"
        );
        assert_eq!(sim.scheduler().now(), nanos(6));
        assert_eq!(sim.run_until(SimTime::ZERO), Ok(()));
        assert_eq!(sim.scheduler().now(), nanos(6));
    }

    #[test]
    fn a_world_that_stands_still_is_reported() {
        let mut sim = Simulation::new(Loop(SimDuration::ZERO));
        sim.set_instant_limit(1000);
        sim.scheduler().at(nanos(7), ());
        let stuck = Stuck {
            at: nanos(7),
            events: 1001,
        };
        assert_eq!(sim.run_until(nanos(8)), Err(stuck));
        assert_eq!(sim.events(), 1001);
    }

    #[test]
    fn as_many_events_as_allowed_may_share_an_instant() {
        let mut sim = Simulation::new(Loop(SimDuration::from_nanos(1)));
        sim.set_instant_limit(3);
        for _ in 0..3 {
            sim.scheduler().at(SimTime::ZERO, ());
        }
        assert_eq!(sim.run_until(nanos(100)), Ok(()));
        assert_eq!(sim.events(), 300);
    }

    #[test]
    fn an_event_at_the_end_of_time_never_happens_before_an_end() {
        let mut sim = Simulation::new(Notes::default());
        sim.scheduler().after(SimDuration::MAX, 1);
        sim.scheduler().after(SimDuration::MAX, 0);
        assert_eq!(sim.run_until(SimTime::MAX), Ok(()));
        assert_eq!(sim.scheduler().pending(), 2);
        assert_eq!(sim.step(), Some(SimTime::MAX));
        assert_eq!(sim.step(), Some(SimTime::MAX));
        assert_eq!(sim.step(), None);
        assert_eq!(sim.model.0, [(u64::MAX, 1), (u64::MAX, 0)]);
    }
}
