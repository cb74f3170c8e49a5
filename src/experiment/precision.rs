//! How many replications a wanted precision needs.
//!
//! The half-width of an interval shrinks with the square root of the number of replications, so the first few tell
//! how many more are needed. The estimate is rough while they are few: the number grows in steps, at most fourfold.

use crate::metrics::{Estimate, Headline, estimate, success_of};

/// A little more than the estimate, so that one more step is usually the last.
const MARGIN: f64 = 1.1;
/// The number of replications grows by this factor at most in a step.
const STEP: u32 = 4;

/// Replications that would bring the interval of every strategy to `precision`: of success in points, of attempts
/// per request as a share of its value. `None` when they have it already, or when nothing is known.
pub fn replications_for<'a>(
    precision: f64,
    strategies: impl IntoIterator<Item = &'a [Headline]>,
) -> Option<u32> {
    let needs = strategies.into_iter().filter_map(|each| {
        let success = needed(success_of(each), precision, each.len());
        let load = estimate(each, |run| run.row.amplification);
        let load = needed(load, precision * load.map_or(1.0, |l| l.mean), each.len());
        success.max(load)
    });
    needs.max()
}

fn needed(estimate: Option<Estimate>, half: f64, replications: usize) -> Option<u32> {
    let ratio = estimate?.half_width()? / half;
    (ratio > 1.0).then(|| (replications as f64 * ratio * ratio * MARGIN).ceil() as u32)
}

/// The next number of replications to run, given how many there are and how many are needed.
pub(super) fn next_step(now: u32, needed: u32, most: u32) -> u32 {
    needed.clamp(now + 1, now.saturating_mul(STEP)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_the_width_takes_four_times_as_many() {
        let estimate = Estimate::from_replications(&[0.4, 0.6, 0.4, 0.6]);
        let half = estimate.unwrap().half_width().unwrap();
        assert_eq!(needed(estimate, half * 1.001, 4), None);
        assert_eq!(needed(estimate, half / 2.0, 4), Some(18), "16 and a margin");
    }

    #[test]
    fn steps_are_bounded() {
        assert_eq!(next_step(10, 15, 1000), 15);
        assert_eq!(next_step(10, 10_000, 1000), 40);
        assert_eq!(next_step(400, 10_000, 1000), 1000);
        assert_eq!(next_step(10, 3, 1000), 11, "a step is a step");
    }
}
