//! How long a request stays that finds a queue in front of c servers.
//!
//! When it finds all servers busy and m − 1 requests waiting, it needs m departures, which come at rate cμ, and
//! its own service. On a Poisson clock of rate cμ its service starts at the m-th tick (at once for m = 0), and
//! it is still there i ticks later with probability (1 − 1/c)^i. With J ticks up to t the law of the sojourn is
//! a mean over a Poisson variable, and all its terms are positive (uniformization; Jensen, 1953).

use super::birth_death::Law;
use super::poisson::{GREATEST_MEAN, expectation, reach};

/// The law of a sojourn, in ticks of a clock of rate cμ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sojourn {
    servers: f64,
    /// After 0, 1, … M ticks, where M is the number of places to wait.
    ticks: Vec<Tick>,
}

/// The probability that a request is still there, and that it is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Tick {
    there: f64,
    gone: f64,
}

impl Sojourn {
    /// The sojourn of requests that find the law `found` in front of `c` servers, with `places` to wait.
    pub(super) fn new(found: &Law, c: u64, places: u64) -> Self {
        Self {
            servers: c as f64,
            ticks: ticks(found, c, places),
        }
    }

    /// P(sojourn > t), when `mean` ticks are expected up to t.
    pub(super) fn later_than(&self, mean: f64) -> f64 {
        if self.all_started(mean) {
            self.later_when_all_started(mean)
        } else {
            expectation(mean, |j| self.tick(j).there)
        }
    }

    /// P(sojourn ≤ t), when `mean` ticks are expected up to t.
    pub(super) fn within(&self, mean: f64) -> f64 {
        if self.all_started(mean) {
            1.0 - self.later_when_all_started(mean)
        } else {
            expectation(mean, |j| self.tick(j).gone)
        }
    }

    /// 1 − 1/c.
    fn stays(&self) -> f64 {
        1.0 - 1.0 / self.servers
    }

    fn all_started(&self, mean: f64) -> bool {
        mean - reach(mean) > self.ticks.len() as f64 || mean > GREATEST_MEAN
    }

    /// There(M) E (1 − 1/c)^(J − M), when J is beyond the last place M for sure.
    fn later_when_all_started(&self, mean: f64) -> f64 {
        let (last, stays) = (self.ticks.len() - 1, self.stays());
        let there = self.ticks[last].there;
        if stays == 0.0 || there == 0.0 {
            return 0.0;
        }
        let decay = last as f64 * stays.ln() + mean / self.servers;
        (there.ln() - decay).exp().min(1.0)
    }

    fn tick(&self, j: u64) -> Tick {
        let last = self.ticks.len() - 1;
        let index = usize::try_from(j).unwrap_or(usize::MAX);
        if let Some(&tick) = self.ticks.get(index) {
            return tick;
        }
        let there = self.ticks[last].there * self.stays().powf((index - last) as f64);
        Tick {
            there,
            gone: 1.0 - there,
        }
    }
}

/// The state of an accepted arrival after 0, 1, … `places` ticks, where it needs m ticks to start service
/// with probability w(m): still waiting Σ w(m) over m > j, or in service Σ w(m) (1 − 1/c)^(j − m) over m ≤ j.
fn ticks(found: &Law, c: u64, places: u64) -> Vec<Tick> {
    let stays = 1.0 - 1.0 / c as f64;
    let needs = |m: u64| found.share(c - 1 + m);
    // Summed from the far end, where the terms may be smallest, as `started` is from the near end.
    let mut waiting = vec![0.0; places as usize + 1];
    for j in (0..places).rev() {
        waiting[j as usize] = waiting[j as usize + 1] + needs(j + 1);
    }
    let at_once = found.below(c);
    let (mut serving, mut started, mut gone) = (at_once, at_once, 0.0);
    let mut ticks = vec![Tick {
        there: waiting[0] + serving,
        gone,
    }];
    for (j, waiting) in (1..=places).zip(&waiting[1..]) {
        gone = stays * gone + (1.0 - stays) * started;
        serving = stays * serving + needs(j);
        started += needs(j);
        ticks.push(Tick {
            there: waiting + serving,
            gone,
        });
    }
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_and_two_places_by_hand() {
        // Finds 0, 1 or 2 requests with 1/3 each, and then stays for 1, 2 or 3 ticks.
        let law = Law::new(2, |_| 1.0).unwrap();
        let sojourn = Sojourn::new(&law, 1, 2);
        let there: Vec<f64> = (0..5).map(|j| sojourn.tick(j).there).collect();
        let expected = [1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0];
        assert!(
            there
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).abs() < 1e-15)
        );
        // Two ticks expected: e^−2 (1 + 2 · 2/3 + 2 · 1/3).
        let later = sojourn.later_than(2.0);
        assert!((later - 3.0 * (-2.0f64).exp()).abs() < 1e-15);
        assert!((sojourn.within(2.0) + later - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_two_ways_to_the_tail_agree_where_both_hold() {
        let law = Law::new(1_019, |n| 950.0 / n.min(1_000) as f64).unwrap();
        let sojourn = Sojourn::new(&law, 1_000, 20);
        let mean = 9_000.0;
        assert!(sojourn.all_started(mean) && !sojourn.all_started(900.0));
        let direct = expectation(mean, |j| sojourn.tick(j).there);
        assert!((sojourn.later_than(mean) / direct - 1.0).abs() < 1e-10);
    }
}
