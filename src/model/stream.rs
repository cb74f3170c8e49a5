//! Streams of arrivals: what an [`ArrivalPlan`] means while a world runs.

use super::arrival_plan::{ArrivalPlan, Kind};
use crate::rng::{Draws, Key, Purpose};
use crate::time::{SimDuration, SimTime};
use rand_distr::{Distribution as _, Exp1};

/// Stands for a client that is drawn from the number of the request.
pub(super) const ANY_CLIENT: u32 = u32::MAX;

/// A running stream.
#[derive(Debug)]
pub(super) struct Stream<'p> {
    plan: &'p ArrivalPlan,
    count: u32,
    draws: Draws,
    /// Arrivals so far, the next one included.
    number: u64,
    /// When the next one comes.
    at: SimTime,
    /// Its client; [`ANY_CLIENT`] when the number decides.
    client: u32,
    /// Position in operational time, for the forms that live in it.
    position: f64,
    /// Clients in the order of their places in the period.
    places: Vec<(u64, u32)>,
    /// The mean gap of a memoryless closed loop's clients taken together.
    thinned_gap: Option<f64>,
}
impl<'p> Stream<'p> {
    /// The stream of a group of `count` clients whose numbers belong to `key`.
    pub(super) fn new(plan: &'p ArrivalPlan, count: u32, key: Key) -> Self {
        let mut places = Vec::new();
        if let Kind::Cycle { period, aligned } = plan.kind {
            let place = |client| {
                if aligned {
                    0
                } else {
                    key.child(u64::from(client))
                        .draws(Purpose::Arrival)
                        .below(period)
                }
            };
            places = (0..count).map(|client| (place(client), client)).collect();
            places.sort_unstable();
        }
        let at = match plan.kind {
            Kind::Burst { at, .. } => at,
            _ => SimTime::ZERO,
        };
        Self {
            plan,
            count,
            draws: key.draws(Purpose::Arrival),
            number: 0,
            at,
            client: ANY_CLIENT,
            position: 0.0,
            places,
            thinned_gap: plan.thinned_gap(count),
        }
    }

    /// The number and the client of the arrival that was announced last. The number is the identity of the
    /// request; the client is [`ANY_CLIENT`] when the number decides.
    #[inline(always)]
    pub(super) fn announced(&self) -> (u64, u32) {
        (self.number - 1, self.client)
    }

    /// Announces the next arrival: when it comes. Arrivals never go back in time. `None` when there are no more.
    #[inline(always)]
    pub(super) fn announce(&mut self) -> Option<SimTime> {
        let gap = match &self.plan.kind {
            Kind::Poisson(mean) => *mean * self.draw_gap(),
            Kind::Even(gap) => *gap,
            Kind::ClosedLoop { .. } => self.thinned_gap? * self.draw_gap(),
            _ => return self.next_placed(),
        };
        let at = self.plan.pace.after(self.at, gap)?;
        Some(self.arrival(at, ANY_CLIENT))
    }

    /// The next arrival of the forms that give each client its place.
    #[inline(never)]
    fn next_placed(&mut self) -> Option<SimTime> {
        let client = (self.number % u64::from(self.count)) as u32;
        let (at, client) = match &self.plan.kind {
            Kind::Cycle { period, .. } => {
                let (place, owner) = self.places[client as usize];
                let round = self.number / u64::from(self.count);
                let position = place as f64 + round as f64 * *period as f64;
                let gap = position - self.position;
                self.position = position;
                (self.plan.pace.after(self.at, gap)?, owner)
            }
            Kind::Burst {
                requests, spread, ..
            } => {
                let total = u64::from(self.count) * requests;
                let left = total.checked_sub(self.number).filter(|&left| left > 0)?;
                let at = if *spread == 0.0 {
                    self.at
                } else {
                    self.spread_out(*spread, left)
                };
                (at, client)
            }
            Kind::Trace { at, times, speed } => {
                let offset = times.get(self.number as usize)?;
                (*at + offset.scale(1.0 / speed), ANY_CLIENT)
            }
            Kind::Poisson(_) | Kind::Even(_) | Kind::ClosedLoop { .. } => return None,
        };
        Some(self.arrival(at, client))
    }

    #[inline(always)]
    fn arrival(&mut self, at: SimTime, client: u32) -> SimTime {
        self.at = at;
        self.client = client;
        self.number += 1;
        at
    }

    /// A memoryless gap of mean 1.
    #[inline(always)]
    fn draw_gap(&mut self) -> f64 {
        Exp1.sample(&mut self.draws)
    }

    /// The next of `left` sorted uniform times: the least of n uniform numbers on [x, 1] is
    /// 1 − (1 − x)·u^(1/n).
    fn spread_out(&mut self, spread: f64, left: u64) -> SimTime {
        self.position =
            1.0 - (1.0 - self.position) * (1.0 - self.draws.unit()).powf(1.0 / left as f64);
        match self.plan.kind {
            Kind::Burst { at, .. } => at + SimDuration::from_nanos_f64(self.position * spread),
            _ => self.at,
        }
    }
}
