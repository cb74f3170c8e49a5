//! The Markov chain of a service that refuses, and of clients that come back.
//!
//! Its states are the number in the system and the numbers of clients who wait after 1, 2, … refusals: too
//! many for a direct solution, but most of the traffic is between states with the same clients waiting. So the
//! balance equations are solved for one such *line* at a time, over and over (block Gauss–Seidel; Stewart,
//! "Introduction to the Numerical Solution of Markov Chains", §3.3).

/// The most states that are solved.
pub(super) const MOST_STATES: usize = 60_000;
/// The most states that are looked at, over all sweeps: about half a second.
const MOST_LOOKS: usize = 10_000_000;
/// The change of a sweep that ends them.
const SETTLED: f64 = 1e-13;

/// The chain, cut off at `limits` clients of each stage; who would be one more is lost.
#[derive(Debug)]
pub(super) struct Chain {
    arrivals: f64,
    returns: f64,
    /// By number in the system, 0 to K.
    departures: Vec<f64>,
    limits: Vec<usize>,
    /// By number in the system, then by clients of stage 1, 2, …
    shares: Vec<f64>,
    /// How many states were looked at so far.
    looks: usize,
}

impl Chain {
    /// A chain that still needs limits. `departures` is by number in the system, 0 to K.
    pub(super) fn new(arrivals: f64, returns: f64, departures: Vec<f64>) -> Self {
        Self {
            arrivals,
            returns,
            departures,
            limits: Vec::new(),
            shares: Vec::new(),
            looks: 0,
        }
    }

    /// Starts over with these limits.
    pub(super) fn reset(&mut self, limits: &[f64]) -> Option<()> {
        let states = limits
            .iter()
            .fold(self.departures.len() as f64, |n, limit| n * (limit + 1.0));
        if states > MOST_STATES as f64 {
            return None;
        }
        // Below the number of states, so it fits.
        self.limits = limits.iter().map(|&limit| limit as usize).collect();
        let lines: usize = self.limits.iter().map(|limit| limit + 1).product();
        self.shares = vec![1.0; lines * self.departures.len()];
        Some(())
    }

    /// Sweeps up and down until nothing changes.
    pub(super) fn settle(&mut self) -> Option<()> {
        let states = self.departures.len();
        let lines = self.shares.len() / states;
        let (mut pivots, mut inflow) = (vec![0.0; states], vec![0.0; states]);
        let mut down = true;
        while self.looks < MOST_LOOKS {
            let mut change = 0.0;
            self.looks += self.shares.len();
            for step in 0..lines {
                let line = if down { lines - 1 - step } else { step };
                change += self.solve_line(line, &mut pivots, &mut inflow);
            }
            let total: f64 = self.shares.iter().sum();
            self.shares.iter_mut().for_each(|share| *share /= total);
            down = !down;
            if change <= SETTLED * total {
                return Some(());
            }
        }
        None
    }

    /// Balance of all states with the same clients waiting, given all other states. Returns by how much they
    /// changed. Elimination as in the retrial queue: all terms are positive.
    fn solve_line(&mut self, line: usize, pivots: &mut [f64], inflow: &mut [f64]) -> f64 {
        let (states, full) = (self.departures.len(), self.departures.len() - 1);
        let waiting = self.gather(line, inflow);
        let (mut excess, mut arrivals) = (self.returns * waiting as f64, self.arrivals);
        for n in 0..states {
            if n > 0 {
                let before = pivots[n - 1];
                excess = self.returns * waiting as f64 + self.departures[n] * excess / before;
                inflow[n] += self.arrivals / before * inflow[n - 1];
            }
            if n == full && self.clients(line, 0) == self.limits[0] {
                arrivals = 0.0;
            }
            pivots[n] = arrivals + excess;
        }
        let (mut change, mut from_above) = (0.0, 0.0);
        for n in (0..states).rev() {
            let share = (inflow[n] + from_above) / pivots[n];
            let old = std::mem::replace(&mut self.shares[line * states + n], share);
            change += (share - old).abs();
            from_above = self.departures[n] * share;
        }
        change
    }

    /// What comes into a line from other lines, by number in the system. Returns the clients who wait there.
    fn gather(&self, line: usize, inflow: &mut [f64]) -> usize {
        let (states, full) = (self.departures.len(), self.departures.len() - 1);
        let share = |line: usize, n: usize| self.shares[line * states + n];
        inflow.fill(0.0);
        if self.clients(line, 0) > 0 {
            inflow[full] += self.arrivals * share(line - 1, full);
        }
        let (mut stride, mut waiting) = (1, 0);
        for (stage, &limit) in self.limits.iter().enumerate() {
            let here = self.clients(line, stage);
            waiting += here;
            let wider = stride * (limit + 1);
            if here < limit {
                let rate = self.returns * (here + 1) as f64;
                let from = line + stride;
                let earlier = &self.shares[from * states..(from + 1) * states];
                for (inflow, share) in inflow[1..].iter_mut().zip(earlier) {
                    *inflow += rate * share;
                }
                // Refused again: on to the next stage, or lost after the last and at the limit.
                let next = self.limits.get(stage + 1);
                if next.is_none_or(|&next| self.clients(line, stage + 1) == next) {
                    inflow[full] += rate * share(from, full);
                }
                if next.is_some() && self.clients(line, stage + 1) > 0 {
                    inflow[full] += rate * share(from - wider, full);
                }
            }
            stride = wider;
        }
        waiting
    }

    /// The clients of a stage who wait in a line.
    fn clients(&self, line: usize, stage: usize) -> usize {
        let stride: usize = self.limits[..stage].iter().map(|limit| limit + 1).product();
        line / stride % (self.limits[stage] + 1)
    }

    /// Σ share · f(number in the system, line).
    fn mean(&self, f: impl Fn(usize, usize) -> f64) -> f64 {
        let states = self.departures.len();
        let weighted = |(i, share): (usize, &f64)| share * f(i % states, i / states);
        self.shares.iter().enumerate().map(weighted).sum()
    }

    /// The share of time that a stage is at its limit.
    pub(super) fn at_limit(&self, stage: usize) -> f64 {
        self.mean(|_, line| f64::from(u8::from(self.clients(line, stage) == self.limits[stage])))
    }

    /// The share of time that the system is full.
    pub(super) fn full(&self) -> f64 {
        let full = self.departures.len() - 1;
        self.mean(|n, _| f64::from(u8::from(n == full)))
    }

    /// Departures per unit of time.
    pub(super) fn throughput(&self) -> f64 {
        self.mean(|n, _| self.departures[n])
    }

    /// Mean number in the system.
    pub(super) fn mean_in_system(&self) -> f64 {
        self.mean(|n, _| n as f64)
    }

    /// Mean number of clients waiting, of all stages.
    pub(super) fn mean_waiting(&self) -> f64 {
        let stages = self.limits.len();
        self.mean(|_, line| {
            (0..stages)
                .map(|stage| self.clients(line, stage) as f64)
                .sum()
        })
    }
}
