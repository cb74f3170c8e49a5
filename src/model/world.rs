//! The simulated world: its state, and what each event does to it.
//!
//! A request's way: arrival → client (place among its requests in flight) → attempt → network → service
//! (admit, queue, work) → outcome → network → client decides → again or done. The files beside this one
//! tell it in that order: [`client`](super::client), [`serving`](super::serving), [`settle`](super::settle).

use super::clients::GroupPlan;
use super::conditions::{Conditions, FaultSchedule};
pub(super) use super::event::Event;
pub(super) use super::flight::{Job, Request, Stage, Whereabouts};
use super::group::Group;
use super::guarded::WorldGuards;
use super::log::{AttemptLog, AttemptRecord, Next};
use super::round::Round;
use super::service::{OnAbandon, Service, ServicePlan};
use super::slab::{NONE, Slab};
use super::step::Step;
use super::strategy::Strategy;
use crate::kernel::{Model, Scheduler, Simulation, Stuck};
use crate::metrics::{Gauge, Tally};
use crate::policy::DeadlineCheck;
use crate::rng::{Draws, Key, Purpose};
use crate::time::{SimDuration, SimTime};

/// Everything about a world but the strategy and the seed. Shared by all runs of a scenario.
#[derive(Clone, Debug)]
pub struct WorldPlan {
    /// Requests that start before this are simulated but not counted.
    pub warmup: SimDuration,
    /// Requests arrive until here.
    pub duration: SimDuration,
    /// After that, time for what is in flight to end.
    pub drain: SimDuration,
    /// The width of a bin of the timeline.
    pub bin: SimDuration,
    /// The service.
    pub service: ServicePlan,
    /// The client groups.
    pub groups: Vec<GroupPlan>,
    /// What is done to the world.
    pub faults: FaultSchedule,
    /// A world that makes more attempts than this ends without a result.
    pub most_attempts: u64,
    /// The same for requests, or attempts, in flight at once; at most [`MOST_IN_FLIGHT`].
    pub most_in_flight: usize,
}

impl WorldPlan {
    /// The end of the run.
    pub fn end(&self) -> SimTime {
        SimTime::ZERO + self.duration + self.drain
    }
}

/// How often a run tells that it moves on.
pub const PARTS: u32 = 50;

/// Requests, or attempts, in flight at once at the most: with all that belongs to them about 4 GiB.
pub const MOST_IN_FLIGHT: usize = 16_000_000;

/// Why a world has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorldError {
    /// Time stood still.
    Stuck(Stuck),
    /// More attempts were made than [`WorldPlan::most_attempts`].
    Endless {
        /// When.
        at: SimTime,
    },
    /// More was in flight than [`WorldPlan::most_in_flight`].
    Crowded {
        /// When.
        at: SimTime,
    },
}

impl From<Stuck> for WorldError {
    fn from(stuck: Stuck) -> Self {
        Self::Stuck(stuck)
    }
}

/// A world that runs one strategy. In a `PLAIN` world (see [`is_plain`]) what most scenarios do without is not
/// even asked for, and guards only in a `GUARDED` one.
#[derive(Debug)]
pub(super) struct World<'p, L, const PLAIN: bool, const GUARDED: bool> {
    pub(super) plan: &'p WorldPlan,
    pub(super) groups: Vec<Group<'p>>,
    pub(super) guards: WorldGuards<'p>,
    /// Rounds of hedged requests, by the place of the request.
    pub(super) rounds: Vec<Round>,
    pub(super) service: Service,
    pub(super) conditions: Conditions,
    pub(super) requests: Slab<Request>,
    pub(super) jobs: Slab<Job>,
    pub(super) tally: Tally,
    pub(super) log: L,
    pub(super) queue_draws: Draws,
    /// Attempts sent or held back.
    pub(super) sent: u64,
    /// When there was no room for what is in flight, or too many attempts.
    pub(super) crowded_at: Option<SimTime>,
    /// Whether some strategy's attempt timeout covers the wait only.
    pub(super) some_cover_wait: bool,
    pub(super) measuring_from: SimTime,
    pub(super) arrivals_end: SimTime,
}

/// Runs one world to its end. `strategies` has one for each client group.
///
/// # Errors
/// When the world does not move on in time, or fills up without bound.
///
/// # Panics
/// When a request or an attempt is lost: that is a bug.
pub fn run_world<L: AttemptLog>(
    plan: &WorldPlan,
    strategies: &[&Strategy],
    root: Key,
    log: L,
) -> Result<(Tally, L), WorldError> {
    run_world_telling(plan, strategies, root, log, &|| ())
}

/// The same; `told` is called [`PARTS`] times, as the time of the run passes.
///
/// # Errors
/// When the world does not move on in time, or fills up without bound.
///
/// # Panics
/// When a request or an attempt is lost: that is a bug.
pub fn run_world_telling<L: AttemptLog>(
    plan: &WorldPlan,
    strategies: &[&Strategy],
    root: Key,
    log: L,
    told: &dyn Fn(),
) -> Result<(Tally, L), WorldError> {
    let plain = !L::ENABLED && is_plain(plan, strategies);
    let guarded = strategies.iter().any(|s| !s.rule.guards.is_empty());
    let run = match (plain, guarded) {
        (true, false) => run_as::<L, true, false>,
        (true, true) => run_as::<L, true, true>,
        (false, _) => run_as::<L, false, true>,
    };
    run(plan, strategies, root, log, told)
}

/// Whether a world has none of what costs a question at every attempt: network delays, pools, failures on
/// arrival or by the load, work that stops when it is abandoned, patience with the wait alone, hedges, and backoff or jitter
/// that belongs to the client. A logged run never is, so that the log checks the one way against the other.
fn is_plain(plan: &WorldPlan, strategies: &[&Strategy]) -> bool {
    let service = &plan.service;
    service.request_delay.is_none()
        && service.response_delay.is_none()
        && service.failures_take_time
        && !service.failures.depend_on_load()
        && service.on_abandon == OnAbandon::Continue
        && !service.sheds()
        && service.retry_after.is_none()
        && plan.groups.iter().all(|group| group.pool.is_none())
        && strategies.iter().all(|strategy| {
            !strategy.timeout_covers_wait
                && strategy.generators == 0
                && strategy.rule.guards.hedge.is_none()
                && strategy.dead_letters.is_none()
                && strategy.callers_leave_after.is_none()
                && strategy.rule.deadline_check == DeadlineCheck::BeforeWait
                && !strategy.rule.backoff.uses_client_state()
        })
}

fn run_as<L: AttemptLog, const PLAIN: bool, const GUARDED: bool>(
    plan: &WorldPlan,
    strategies: &[&Strategy],
    root: Key,
    log: L,
    told: &dyn Fn(),
) -> Result<(Tally, L), WorldError> {
    let mut simulation = Simulation::build(|scheduler| {
        let mut world = World::<L, PLAIN, GUARDED>::new(plan, strategies, root, log, scheduler);
        world.start(scheduler);
        world
    });
    // Runs are told of in equal parts of their time.
    for part in 1..=PARTS {
        let until = plan.end().as_nanos() as u128 * u128::from(part) / u128::from(PARTS);
        simulation.run_until(SimTime::from_nanos(until as u64))?;
        told();
    }
    let events = simulation.events();
    let mut world = simulation.into_model();
    match world.crowded_at {
        Some(at) if world.sent > plan.most_attempts => return Err(WorldError::Endless { at }),
        Some(at) => return Err(WorldError::Crowded { at }),
        None => {}
    }
    world.finish(events);
    if let Err(error) = world.tally.check_conservation() {
        panic!("the counts of a run do not close: {error}");
    }
    Ok((world.tally, world.log))
}

impl<'p, L: AttemptLog, const PLAIN: bool, const GUARDED: bool> World<'p, L, PLAIN, GUARDED> {
    fn new(
        plan: &'p WorldPlan,
        strategies: &[&'p Strategy],
        root: Key,
        log: L,
        scheduler: &mut Scheduler<Event>,
    ) -> Self {
        assert_eq!(
            plan.groups.len(),
            strategies.len(),
            "every client group has a strategy"
        );
        let groups: Vec<Group<'_>> = plan
            .groups
            .iter()
            .zip(strategies)
            .enumerate()
            .map(|(i, (group, strategy))| {
                let key = root.child(i as u64);
                Group::new(
                    group,
                    strategy,
                    key,
                    plan.faults.counts_client_attempts(),
                    scheduler,
                )
            })
            .collect();
        let start = SimTime::ZERO;
        Self {
            plan,
            guards: WorldGuards::new(strategies, &groups),
            rounds: Vec::new(),
            groups,
            service: Service::new(&plan.service),
            conditions: plan.faults.conditions(start, plan.service.workers),
            requests: Slab::new(plan.most_in_flight, Request::BLANK),
            jobs: Slab::new(plan.most_in_flight, Job::of(&Request::BLANK, NONE, start)),
            tally: Tally::new(plan.bin, plan.end()),
            log,
            queue_draws: root.draws(Purpose::QueueOrder),
            sent: 0,
            crowded_at: None,
            some_cover_wait: strategies.iter().any(|s| s.timeout_covers_wait),
            measuring_from: start + plan.warmup,
            arrivals_end: start + plan.duration,
        }
    }

    /// Schedules what happens by itself: faults and first arrivals.
    fn start(&mut self, scheduler: &mut Scheduler<Event>) {
        for time in self.plan.faults.changes(self.plan.end()) {
            scheduler.at(time, Event::ConditionsChanged);
        }
        if self.guards.exist() {
            scheduler.at(SimTime::ZERO, Event::LevelsDue);
        }
        for i in 0..self.groups.len() {
            self.start_group(i as u16, scheduler);
        }
    }

    /// Counts what is still in flight, and closes the books.
    fn finish(&mut self, events: u64) {
        let end = self.plan.end();
        let open = |request: &Request| !matches!(request.stage, Stage::Ended | Stage::DeadLettered);
        for slot in (0..self.requests.len()).filter(|&slot| open(&self.requests[slot])) {
            let request = self.requests[slot];
            let attempting = request.stage == Stage::Attempting;
            self.tally.unfinished += u64::from(request.counted);
            self.tally.timeline.cohort(request.bin).open += 1;
            for live in self.in_flight_of(slot).into_iter().filter(|_| attempting) {
                self.tally.attempts_in_flight += u64::from(request.counted);
                if L::ENABLED {
                    self.log.record(AttemptRecord {
                        group: request.group,
                        request: request.number,
                        client: request.client,
                        attempt: live.number,
                        redrives: request.redrives,
                        intended_at: request.intended_at,
                        sent_at: live.sent_at,
                        started_at: self.jobs[live.job].start_with(live.key),
                        ended_at: end,
                        outcome: None,
                        code: 0,
                        next: Next::Unfinished,
                    });
                }
            }
        }
        self.count_letters();
        self.tally.timeline.close(end);
        self.tally.in_system_max = self.service.most_inside;
        self.tally.events = events;
    }

    /// Changes a level of the timeline.
    #[inline(always)]
    pub(super) fn change(&mut self, gauge: Gauge, delta: i64) {
        self.tally.timeline.change(gauge, delta);
    }
}

impl<L: AttemptLog, const PLAIN: bool, const GUARDED: bool> Model for World<'_, L, PLAIN, GUARDED> {
    type Event = Event;

    #[inline]
    fn handle(&mut self, event: Event, scheduler: &mut Scheduler<Event>) {
        if self.crowded_at.is_some() {
            // Nothing new is scheduled, so the run ends soon.
            return;
        }
        self.tally.timeline.advance(scheduler.now());
        let step = match event {
            Event::Arrival { group } => self.arrive(group, scheduler),
            Event::PauseOver { group, client } => self.pause_over(group, client, scheduler),
            Event::Reached { job } => Step::Reach(job),
            Event::Served { job } => self.served(job, scheduler),
            Event::Answered { job } => Step::Answered(job),
            Event::GaveUp { request } => self.gave_up(request, scheduler),
            Event::RetryDue { request } => {
                self.change(Gauge::Backoff, -1);
                Step::Attempt(request)
            }
            Event::PoolFreed { group, pool } => self.pool_freed(group, pool, scheduler),
            Event::PoolWaitOver { request } => self.pool_wait_over(request, scheduler),
            Event::HedgeDue { request } => self.hedge_due(request, scheduler),
            Event::LevelsDue => self.note_levels(scheduler),
            Event::LetterDue { group } => self.letter_due(group, scheduler),
            Event::LetterExpires { group } => self.letter_expires(group, scheduler),
            Event::ConditionsChanged => self.conditions_changed(scheduler),
        };
        self.follow(step, scheduler);
    }
}
