//! The event loop: what happens next, and never out of order.
//!
//! A simulated world is a list of things that will happen at known times. Everything it does is "take
//! the earliest, let the world react, note what that leads to", tens of millions of times a second, so
//! the list decides how fast a run is. A binary heap slows down with every pending event; the list
//! here costs about the same for ten as for a million. It knows nothing of clients or services: a
//! [`Model`] says what an event means.
//!
//! The rule for ties is the only one there is: **the earlier time first, then the event that was
//! scheduled first.** One counter numbers everything ever scheduled, wherever it is kept, so a run is
//! the same on every machine.
//!
//! Three places hold events, by how long they wait and how much is known about them:
//!
//! * the *run*: the events of the near future, sorted (`timeline.rs`);
//! * the *wheel*: later ones, sorted roughly, by the highest digit of their time (`wheel.rs`);
//! * *lanes*: queues for delays that are always the same, where events come up in the order they were
//!   put in and need no sorting at all (`lanes.rs`).

mod entry;
mod lanes;
#[cfg(test)]
mod order_tests;
mod scheduler;
mod simulation;
mod sort;
mod timeline;
mod wheel;

pub use lanes::{Lane, Ticket};
pub use scheduler::Scheduler;
pub use simulation::{Simulation, Stuck};

/// A world that reacts to events.
pub trait Model {
    /// What can happen. Small is fast: it is copied a few times on its way through the list.
    type Event: Copy;

    /// Reacts to `event`, which happens at `scheduler.now()`, and schedules what follows from it.
    fn handle(&mut self, event: Self::Event, scheduler: &mut Scheduler<Self::Event>);
}
