//! What happened when: counters and levels per bin of time.
//!
//! A level (queue length, busy workers, clients in backoff) is averaged over each bin by its area. Instead of
//! touching the area at every change with the time since the last one, a change by δ at time t adds
//! δ · (end of bin − t): one multiplication, and no memory of the last change.

use crate::time::{SimDuration, SimTime};

/// A quantity that goes up and down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Gauge {
    /// Attempts waiting at the service.
    Queue,
    /// Workers busy at the service.
    Busy,
    /// Requests waiting for their next attempt.
    Backoff,
    /// Requests in flight: started and not ended.
    InFlight,
    /// Requests that have failed and are kept.
    DeadLetters,
}

const GAUGES: usize = 5;

/// What happened in one bin; levels as areas in unit · nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// First attempts that reached the service.
    pub first_tries: u64,
    /// Later attempts that reached the service.
    pub retries: u64,
    /// Attempts that clients held back.
    pub held_back: u64,
    /// Retries that succeeded.
    pub retries_succeeded: u64,
    /// Requests whose retry the budget denied.
    pub budget_denied: u64,
    /// Requests that became dead letters.
    pub dead_lettered: u64,
    /// Requests that succeeded.
    pub succeeded: u64,
    /// Requests that failed.
    pub failed: u64,
    /// What is left of retry budgets at the start of the bin, as a share of a full one, in millionths.
    pub budget_level_ppm: u64,
    /// Share of circuit breakers that are open or half open at the start of the bin, in millionths.
    pub breakers_open_ppm: u64,
    /// Area under each [`Gauge`].
    pub areas: [i64; GAUGES],
}

/// What became of the requests that started in one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cohort {
    /// They succeeded, whenever that was.
    pub succeeded: u64,
    /// They failed.
    pub failed: u64,
    /// They were still in flight at the end of the run.
    pub open: u64,
}

impl Cohort {
    /// Adds the requests of another cohort.
    pub fn add(&mut self, other: &Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.open += other.open;
    }
}

/// Equal bins from the start of a run to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timeline {
    width: u64,
    bins: Vec<Bin>,
    cohorts: Vec<Cohort>,
    /// The bin of the present, which takes its place in `bins` when it is over.
    open: Bin,
    open_index: usize,
    open_end: u64,
    /// What is left of the open bin, now.
    left: i64,
    levels: [i64; GAUGES],
    highest: [i64; GAUGES],
}

impl Timeline {
    /// Empty bins of `width` up to `end`. The last bin may reach beyond the end.
    ///
    /// # Panics
    /// When `width` is zero.
    pub fn new(width: SimDuration, end: SimTime) -> Self {
        let width = width.as_nanos();
        assert!(width > 0, "a bin must have a width");
        let count = end.as_nanos().div_ceil(width).max(1) as usize;
        Self {
            width,
            bins: vec![Bin::default(); count],
            cohorts: vec![Cohort::default(); count],
            open: Bin::default(),
            open_index: 0,
            open_end: width,
            left: width as i64,
            levels: [0; GAUGES],
            highest: [0; GAUGES],
        }
    }

    /// Moves to the bin of `now`. Every other method counts into that bin; time never goes back.
    #[inline(always)]
    pub fn advance(&mut self, now: SimTime) {
        if now.as_nanos() >= self.open_end {
            self.roll(now.as_nanos());
        }
        self.left = self.open_end.saturating_sub(now.as_nanos()) as i64;
    }

    #[cold]
    fn roll(&mut self, now: u64) {
        while now >= self.open_end && self.open_index + 1 < self.bins.len() {
            self.bins[self.open_index] = self.open;
            self.open_index += 1;
            self.open_end += self.width;
            self.open = Bin {
                areas: self.levels.map(|level| level * self.width as i64),
                ..Bin::default()
            };
        }
    }

    /// The open bin, for counting.
    #[inline(always)]
    pub fn bin(&mut self) -> &mut Bin {
        &mut self.open
    }

    /// The number of the open bin, which names the cohort of the requests that start now.
    #[inline(always)]
    pub fn present(&self) -> u32 {
        self.open_index as u32
    }

    /// The cohort of a bin, for counting.
    #[inline(always)]
    pub fn cohort(&mut self, bin: u32) -> &mut Cohort {
        &mut self.cohorts[bin as usize]
    }

    /// The cohorts of all bins in order of time.
    pub fn cohorts(&self) -> &[Cohort] {
        &self.cohorts
    }

    /// Changes a level by `delta` at the time of the last [`advance`](Self::advance).
    #[inline(always)]
    pub fn change(&mut self, gauge: Gauge, delta: i64) {
        let i = gauge as usize;
        self.levels[i] += delta;
        if delta > 0 {
            self.highest[i] = self.highest[i].max(self.levels[i]);
        }
        self.open.areas[i] += delta * self.left;
    }

    /// The present level.
    pub fn level(&self, gauge: Gauge) -> i64 {
        self.levels[gauge as usize]
    }

    /// The highest level ever reached.
    pub fn highest(&self, gauge: Gauge) -> i64 {
        self.highest[gauge as usize]
    }

    /// Fills the bins up to `end` with the last levels, and takes off what lies beyond it.
    pub fn close(&mut self, end: SimTime) {
        self.advance(end);
        let beyond = self.open_end.saturating_sub(end.as_nanos()) as i64;
        for (area, level) in self.open.areas.iter_mut().zip(self.levels) {
            *area -= level * beyond;
        }
        self.bins[self.open_index] = self.open;
    }

    /// All bins in order of time, once the timeline is [closed](Self::close).
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }

    /// The end of the last bin.
    pub fn end(&self) -> SimTime {
        SimTime::from_nanos(self.width.saturating_mul(self.bins.len() as u64))
    }

    /// The width of a bin.
    pub fn width(&self) -> SimDuration {
        SimDuration::from_nanos(self.width)
    }

    /// The area under a level over the whole run, in unit · nanoseconds.
    pub fn area(&self, gauge: Gauge) -> i128 {
        self.bins
            .iter()
            .map(|bin| i128::from(bin.areas[gauge as usize]))
            .sum()
    }

    /// Adds the bins of another run of the same length; both are closed. Levels keep their highest.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.bins.iter_mut().zip(&other.bins) {
            mine.first_tries += theirs.first_tries;
            mine.retries += theirs.retries;
            mine.dead_lettered += theirs.dead_lettered;
            mine.held_back += theirs.held_back;
            mine.retries_succeeded += theirs.retries_succeeded;
            mine.budget_denied += theirs.budget_denied;
            mine.budget_level_ppm += theirs.budget_level_ppm;
            mine.breakers_open_ppm += theirs.breakers_open_ppm;
            mine.succeeded += theirs.succeeded;
            mine.failed += theirs.failed;
            for (a, b) in mine.areas.iter_mut().zip(theirs.areas) {
                *a = a.saturating_add(b);
            }
        }
        for (mine, theirs) in self.cohorts.iter_mut().zip(&other.cohorts) {
            mine.add(theirs);
        }
        for (a, b) in self.highest.iter_mut().zip(other.highest) {
            *a = (*a).max(b);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_are_exact_over_bin_borders() {
        let mut timeline = Timeline::new(SimDuration::from_nanos(10), SimTime::from_nanos(35));
        let at = SimTime::from_nanos;
        for (t, delta) in [(3, 2), (12, -1), (30, 4)] {
            timeline.advance(at(t));
            timeline.change(Gauge::Queue, delta);
        }
        timeline.close(at(35));
        let areas: Vec<i64> = timeline
            .bins()
            .iter()
            .map(|bin| bin.areas[Gauge::Queue as usize])
            .collect();
        // 2 from 3 to 12, 1 from 12 to 30, 5 from 30 to 35.
        assert_eq!(areas, [14, 4 + 8, 10, 25]);
        assert_eq!(timeline.level(Gauge::Queue), 5);
        assert_eq!(timeline.highest(Gauge::Queue), 5);
        assert_eq!(timeline.area(Gauge::Queue), 61);
    }

    #[test]
    fn counts_go_to_the_bin_of_their_time() {
        let mut timeline = Timeline::new(SimDuration::from_nanos(10), SimTime::from_nanos(30));
        for t in [0, 9, 10, 29] {
            timeline.advance(SimTime::from_nanos(t));
            timeline.bin().first_tries += 1;
        }
        timeline.close(SimTime::from_nanos(30));
        let counts: Vec<u64> = timeline.bins().iter().map(|bin| bin.first_tries).collect();
        assert_eq!(counts, [2, 1, 1]);
    }
}
