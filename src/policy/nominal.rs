//! The delay before jitter: known in advance, or drawn from a law.

use super::decorrelated::{Growth, distribution};
use super::law::Law;
use super::quadrature::unit_points;
use super::state::BackoffState;
use crate::rng::Draws;
use crate::time::SimDuration;
use rand_distr::{Distribution, Exp1};

/// What a form says about the delay before one retry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Nominal {
    /// Exactly this.
    Known(SimDuration),
    /// Uniform between two ends.
    Uniform {
        /// The least delay.
        min: SimDuration,
        /// The greatest delay.
        max: SimDuration,
    },
    /// Exponentially distributed with this mean.
    Memoryless(SimDuration),
    /// Uniform between the base and a multiple of the previous delay.
    Decorrelated(Growth),
}

impl Nominal {
    /// The nominal delay; what the next one depends on is left in `state`.
    #[inline]
    pub(super) fn draw(self, state: &mut BackoffState, draws: &mut Draws) -> SimDuration {
        match self {
            Self::Known(delay) => delay,
            Self::Uniform { min, max } => {
                // Whole numbers plus a drawn part: exact even where f64 cannot tell nanoseconds apart.
                let width = max.saturating_sub(min);
                min + width.scale(draws.unit()).min(width)
            }
            Self::Memoryless(mean) => {
                let time: f64 = Exp1.sample(draws);
                mean.scale(time)
            }
            Self::Decorrelated(form) => {
                let longest = form.factor * state.previous.max(form.base).as_nanos() as f64;
                let width = longest - form.base.as_nanos() as f64;
                // Cut, not rounded: no chain of delays then outgrows base · factorⁿ.
                let drawn = SimDuration::from_nanos((draws.unit() * width) as u64);
                state.previous = (form.base + drawn).min(form.cap);
                state.previous
            }
        }
    }

    /// The least and the greatest nominal delay before retry `n`.
    pub(super) fn range(self, n: u32) -> (SimDuration, SimDuration) {
        match self {
            Self::Known(delay) => (delay, delay),
            Self::Uniform { min, max } => (min, max),
            Self::Memoryless(mean) if mean == SimDuration::ZERO => {
                (SimDuration::ZERO, SimDuration::ZERO)
            }
            Self::Memoryless(_) => (SimDuration::ZERO, SimDuration::MAX),
            Self::Decorrelated(form) => (form.base.min(form.cap), greatest(form, n)),
        }
    }

    /// The law of the nominal delay where it has a simple form.
    pub(super) fn law(self) -> Option<Law> {
        match self {
            Self::Known(delay) => Some(Law::Point(delay.as_nanos() as f64)),
            Self::Uniform { min, max } if min == max => Some(Law::Point(min.as_nanos() as f64)),
            Self::Uniform { min, max } => Some(Law::Uniform {
                low: min.as_nanos() as f64,
                high: max.as_nanos() as f64,
            }),
            Self::Memoryless(mean) if mean == SimDuration::ZERO => Some(Law::Point(0.0)),
            Self::Memoryless(mean) => Some(Law::Exponential {
                mean: mean.as_nanos() as f64,
            }),
            Self::Decorrelated(form) if form.base >= form.cap || form.factor == 1.0 => {
                Some(Law::Point(form.base.min(form.cap).as_nanos() as f64))
            }
            Self::Decorrelated(form) if form.base == SimDuration::ZERO => Some(Law::Point(0.0)),
            Self::Decorrelated(_) => None,
        }
    }

    /// Points in nanoseconds and weights that stand for the law before retry `n` in an integral.
    pub(super) fn points(self, n: u32) -> Option<Vec<(f64, f64)>> {
        const PANELS: u32 = 512;
        /// Beyond this many means an exponential law has no weight left.
        const FARTHEST: f64 = 45.0;
        match (self, self.law()) {
            (_, Some(Law::Point(x))) => Some(vec![(x, 1.0)]),
            (_, Some(Law::Uniform { low, high })) => Some(
                unit_points(PANELS)
                    .map(|(t, weight)| (low + t * (high - low), weight))
                    .collect(),
            ),
            (_, Some(Law::Exponential { mean })) => Some(
                unit_points(PANELS)
                    .map(|(t, weight)| (t * FARTHEST, weight * FARTHEST))
                    .map(|(x, weight)| (mean * x, weight * (-x).exp()))
                    .collect(),
            ),
            (Self::Decorrelated(form), _) => distribution(form, n),
            _ => None,
        }
    }
}

/// The longest delay of a decorrelated chain of `n` draws: base · factorⁿ, with room for the rounding of
/// n multiplications.
fn greatest(form: Growth, n: u32) -> SimDuration {
    if form.factor == 1.0 {
        return form.base.min(form.cap);
    }
    let room = 1.0 + 1e-15 * f64::from(n);
    let longest = form.base.as_nanos() as f64 * form.factor.powf(f64::from(n)) * room;
    SimDuration::from_nanos(longest as u64).min(form.cap)
}
