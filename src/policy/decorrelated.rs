//! The law of AWS's decorrelated delays, by quadrature.
//!
//! The delay is a Markov chain: s₀ = base, sₙ = min(cap, U(base, factor · sₙ₋₁)). Its mean has no closed
//! form once the cap takes part, so the density is carried from retry to retry:
//!
//! f′(x) = ∫ f(s) / (factor·s − base) ds over s ≥ x / factor, for base ≤ x < cap,
//!
//! and what lies above becomes an atom at the cap. The density bends only at base·factorʲ and cap/factorʲ.
//! Panels between those points are smooth, and x / factor maps panels onto panels and nodes onto nodes, so
//! Gauss–Legendre integration keeps about twelve digits.

use super::quadrature::{NODES, Rule};
use crate::time::SimDuration;

/// No panel may be wider than this ratio of its ends; the kernel has a pole at base / factor.
const WIDEST: f64 = 1.5;
/// Below this factor there would be too many panels.
const LEAST_FACTOR: f64 = 1.1;
/// The law settles long before; an unsettled one is not reported.
const MOST_STEPS: u32 = 20_000;
/// The law has settled when all probabilities together move less than this, a few times the rounding.
const SETTLED: f64 = 1e-13;
/// Relative tolerance when two ends of panels are the same point.
const SAME: f64 = 1e-9;

/// The settings of a decorrelated chain: each delay lies between `base` and `factor` times the one before, and
/// is `cap` at the most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    pub(super) base: SimDuration,
    pub(super) cap: SimDuration,
    pub(super) factor: f64,
}

/// Points in nanoseconds and weights that stand for the law of delay `n` ≥ 1, the atom at the cap
/// included. `None` for a factor below 1.1. Needs 0 < base < cap.
pub(super) fn distribution(form: Growth, n: u32) -> Option<Vec<(f64, f64)>> {
    if form.factor < LEAST_FACTOR {
        return None;
    }
    let mut chain = Chain::first(form);
    for step in 1..n {
        if chain.advance() < SETTLED {
            break;
        }
        if step == MOST_STEPS {
            return None;
        }
    }
    Some(chain.points())
}

/// A stretch on which the density is smooth.
struct Panel {
    middle: f64,
    half: f64,
    density: [f64; NODES],
}

struct Chain {
    base: f64,
    cap: f64,
    factor: f64,
    rule: Rule,
    tails: [[f64; NODES]; NODES],
    panels: Vec<Panel>,
    /// Probability of the cap.
    atom: f64,
}

impl Chain {
    /// The law of the first delay, min(cap, U(base, factor · base)).
    fn first(form: Growth) -> Self {
        let (base, cap) = (form.base.as_nanos() as f64, form.cap.as_nanos() as f64);
        let width = (form.factor - 1.0) * base;
        let ends = panel_ends(base, cap, form.factor);
        let panels = ends.windows(2).map(|pair| {
            let (middle, half) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0]));
            let inside = middle < form.factor * base;
            let density = [if inside { 1.0 / width } else { 0.0 }; NODES];
            Panel {
                middle,
                half,
                density,
            }
        });
        let rule = Rule::new();
        Self {
            base,
            cap,
            factor: form.factor,
            tails: rule.tails(),
            rule,
            panels: panels.collect(),
            atom: ((form.factor * base - cap) / width).max(0.0),
        }
    }

    /// Goes on to the next delay. Returns how far the law moved: the change of all probabilities.
    fn advance(&mut self) -> f64 {
        let spread = |s: f64| 1.0 / (self.factor * s - self.base);
        let mut kernels = Vec::with_capacity(self.panels.len());
        let mut integrals = Vec::with_capacity(self.panels.len());
        let mut atom = self.atom * (self.factor - 1.0) * self.cap * spread(self.cap);
        for panel in &self.panels {
            let mut integral = 0.0;
            let kernel: [f64; NODES] = std::array::from_fn(|i| {
                let s = panel.middle + panel.half * self.rule.nodes[i];
                let value = panel.density[i] * spread(s);
                let weight = panel.half * self.rule.weights[i];
                integral += weight * value;
                atom += weight * value * (self.factor * s - self.cap).max(0.0);
                value
            });
            kernels.push(kernel);
            integrals.push(integral);
        }
        // beyond[q]: what starts in a panel after q, or at the cap, spreads to any point below.
        let mut beyond = vec![self.atom * spread(self.cap); integrals.len()];
        for q in (1..integrals.len()).rev() {
            beyond[q - 1] = beyond[q] + integrals[q];
        }
        let everything = beyond[0] + integrals[0];
        let mut moved = (atom - self.atom).abs();
        let middles: Vec<f64> = self.panels.iter().map(|panel| panel.middle).collect();
        for panel in &mut self.panels {
            let image = panel.middle / self.factor;
            let after = middles.partition_point(|&middle| middle < image * (1.0 + SAME));
            for i in 0..NODES {
                let density = match after.checked_sub(1).filter(|_| image > self.base) {
                    None => everything,
                    Some(q) => {
                        let row = self.tails[i].iter().zip(&kernels[q]);
                        let partial: f64 = row.map(|(weight, value)| weight * value).sum();
                        beyond[q] + panel.half / self.factor * partial
                    }
                };
                moved += panel.half * self.rule.weights[i] * (density - panel.density[i]).abs();
                panel.density[i] = density;
            }
        }
        self.atom = atom;
        moved
    }

    fn points(&self) -> Vec<(f64, f64)> {
        let inside = self.panels.iter().flat_map(|panel| {
            std::array::from_fn::<_, NODES, _>(|i| {
                let x = panel.middle + panel.half * self.rule.nodes[i];
                (x, panel.density[i] * panel.half * self.rule.weights[i])
            })
        });
        inside.chain([(self.cap, self.atom)]).collect()
    }
}

/// The ends of all panels from `base` to `cap`, ascending.
fn panel_ends(base: f64, cap: f64, factor: f64) -> Vec<f64> {
    let up = std::iter::successors(Some(base), |x| Some(x * factor)).take_while(|&x| x < cap);
    let down = std::iter::successors(Some(cap), |x| Some(x / factor)).take_while(|&x| x > base);
    let mut bends: Vec<f64> = up.chain(down).collect();
    bends.sort_by(f64::total_cmp);
    bends.dedup_by(|later, earlier| *later < *earlier * (1.0 + SAME));
    let mut ends = vec![bends[0]];
    for pair in bends.windows(2) {
        let parts = ((pair[1] / pair[0]).ln() / WIDEST.ln() - SAME)
            .ceil()
            .max(1.0);
        ends.extend(
            (1..=parts as u32)
                .map(|part| pair[0] * (pair[1] / pair[0]).powf(f64::from(part) / parts)),
        );
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(base: u64, cap: u64, factor: f64, n: u32) -> Vec<(f64, f64)> {
        let form = Growth {
            base: SimDuration::from_nanos(base),
            cap: SimDuration::from_nanos(cap),
            factor,
        };
        distribution(form, n).unwrap()
    }

    #[test]
    fn probabilities_add_up_whatever_the_settings() {
        let unit = |base, cap, factor, n| {
            let mass: f64 = law(base, cap, factor, n).iter().map(|(_, w)| w).sum();
            assert!(
                (mass - 1.0).abs() < 1e-10,
                "{base} {cap} {factor} {n}: {mass}"
            );
        };
        for factor in [1.1, 1.5, 3.0, 100.0, 1e9] {
            for cap in [1_001, 81_000, 100_000] {
                for n in [1, 2, 5, 1_000_000] {
                    unit(1_000, cap, factor, n);
                }
            }
            unit(1, 1 << 54, factor, 5);
        }
        unit(1, 1 << 54, 3.0, 1_000_000);
    }

    #[test]
    fn below_the_cap_mean_and_second_moment_follow_their_recursions() {
        // E(U(b, f·s)) = (b + f·s)/2 and E(U²) = (b² + b·f·s + f²·s²)/3.
        for factor in [1.3, 3.0, 10.0] {
            let (base, mut mean, mut second) = (1e3, 1e3, 1e6);
            for n in 1..=9 {
                second = (base * base + base * factor * mean + factor * factor * second) / 3.0;
                mean = (base + factor * mean) / 2.0;
                let points = law(1_000, 1 << 54, factor, n);
                let moment = |power| points.iter().map(|(x, w)| w * x.powi(power)).sum::<f64>();
                assert!((moment(1) / mean - 1.0).abs() < 1e-11, "{factor} {n}");
                assert!((moment(2) / second - 1.0).abs() < 1e-11, "{factor} {n}");
            }
        }
    }
}
