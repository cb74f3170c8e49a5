//! What an event costs, by how many are pending and how they are scheduled.
//!
//! One iteration is one event: taken, handled, and followed by a new one, so that the number
//! pending stays the same.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand::rngs::SmallRng;
use rand_distr::{Distribution, Exp1};
use retrystorm::kernel::{Lane, Model, Scheduler, Simulation};
use retrystorm::time::SimDuration;
use std::hint::black_box;

const MEAN_NANOS: f64 = 1e10;

fn exponential(rng: &mut SmallRng) -> SimDuration {
    let draw: f64 = Exp1.sample(rng);
    SimDuration::from_nanos_f64(draw * MEAN_NANOS)
}

/// Every event is followed by one after an exponential time.
struct Hold(SmallRng);

impl Model for Hold {
    type Event = u64;
    fn handle(&mut self, event: u64, scheduler: &mut Scheduler<u64>) {
        let delay = exponential(&mut self.0);
        scheduler.after(delay, event);
    }
}

/// Every event is followed by one after a constant delay of its lane.
struct Timeouts(Vec<(Lane, SimDuration)>);

impl Model for Timeouts {
    type Event = u64;
    fn handle(&mut self, event: u64, scheduler: &mut Scheduler<u64>) {
        let (lane, delay) = self.0[event as usize % self.0.len()];
        scheduler.after_in(lane, delay, event);
    }
}

fn hold(pending: u64) -> Simulation<Hold> {
    let mut sim = Simulation::new(Hold(SmallRng::seed_from_u64(7)));
    for event in 0..pending {
        let delay = exponential(&mut sim.model.0);
        sim.scheduler().after(delay, event);
    }
    for _ in 0..2 * pending {
        sim.step();
    }
    sim
}

fn timeouts(lanes: u64, pending: u64) -> Simulation<Timeouts> {
    let mut sim = Simulation::new(Timeouts(Vec::new()));
    for nth in 1..=lanes {
        let lane = sim.scheduler().lane();
        let delay = SimDuration::from_millis(700 * nth);
        sim.model.0.push((lane, delay));
    }
    for event in 0..pending {
        let (lane, _) = sim.model.0[(event % lanes) as usize];
        let delay = SimDuration::from_nanos(event * 1_000);
        sim.scheduler().after_in(lane, delay, event);
    }
    sim
}

fn event_list(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("event_list");
    group.bench_function("draw_alone", |bencher| {
        let mut rng = SmallRng::seed_from_u64(7);
        bencher.iter(|| black_box(exponential(&mut rng)));
    });
    for pending in [10, 1_000, 100_000, 1_000_000] {
        let mut sim = hold(pending);
        group.bench_function(format!("hold/{pending}"), |bencher| {
            bencher.iter(|| sim.step());
        });
    }
    for lanes in [1, 4] {
        let mut sim = timeouts(lanes, 100_000);
        group.bench_function(format!("lanes_{lanes}/100000"), |bencher| {
            bencher.iter(|| sim.step());
        });
    }
    group.bench_function("herd_of_100000", |bencher| {
        bencher.iter_batched(
            || {
                let mut sim = Simulation::new(Timeouts(Vec::new()));
                let lane = sim.scheduler().lane();
                sim.model.0.push((lane, SimDuration::from_millis(1)));
                sim
            },
            |mut sim| {
                for event in 0..100_000 {
                    sim.scheduler().after(SimDuration::from_millis(500), event);
                }
                for _ in 0..100_000 {
                    sim.step();
                }
                sim
            },
            BatchSize::LargeInput,
        );
    });
    group.finish();
}

criterion_group!(benches, event_list);
criterion_main!(benches);
