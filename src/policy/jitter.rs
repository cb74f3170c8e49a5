//! Randomness laid on a delay, so that clients which failed together do not return together.
//!
//! Every jitter is a law around the nominal delay d. All but one are uniform between two ends, and those
//! ends are their whole definition, in [`Jitter::ends`].
//!
//! Full and equal jitter: Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog 2015.

use super::law::Law;
use crate::decode::{Check, Reader};
use crate::rng::Draws;
use crate::time::SimDuration;
use crate::units::Ratio;
use crate::{choice, record};
use rand_distr::{Distribution, StandardNormal};

record! {
    /// Settings of proportional jitter.
    pub struct Proportional {
        /// The greatest deviation, as a share of the delay.
        ratio: Ratio = Ratio::new(0.15).expect("lies between 0 and 1"),
    }
}
impl Check for Proportional {}

record! {
    /// Settings of additive jitter.
    pub struct Additive {
        /// The most that is added.
        max: SimDuration,
    }
}
impl Check for Additive {}

record! {
    /// Settings of lognormal jitter.
    pub struct Lognormal {
        /// Standard deviation of the logarithm of the delay, from 0 to 10.
        sigma: f64,
    }
}
impl Check for Lognormal {
    fn check(&self, reader: &mut Reader) {
        if !(0.0..=10.0).contains(&self.sigma) {
            reader.error_at(
                &["sigma"],
                format!("`sigma` = {} is out of range", self.sigma),
                "give a number from 0 to 10, like 0.5",
            );
        }
    }
}

choice! {
    /// Randomness laid on a delay d. U(a, b) is uniform from a to b.
    pub enum Jitter as "jitter" {
        /// None: exactly d.
        None = "none", r#""none""#;
        /// U(0, d).
        Full = "full", r#""full""#;
        /// U(d/2, d).
        Equal = "equal", r#""equal""#;
        /// U(d, 2d).
        Double = "raw_to_double", r#""raw_to_double""#;
        /// U(d(1 − ratio), d(1 + ratio)), ±15 % unless said otherwise.
        Proportional(Proportional) = "proportional", r#"{ proportional = { ratio = "20%" } }"#;
        /// U(d/2, 3d/2).
        Multiplicative = "multiplicative", r#""multiplicative""#;
        /// U(d, d + max).
        Additive(Additive) = "additive", r#"{ additive = { max = "1s" } }"#;
        /// d · exp(N(0, sigma²)): the median is d, the mean d · exp(sigma²/2).
        Lognormal(Lognormal) = "lognormal", r#"{ lognormal = { sigma = 0.5 } }"#;
    }
}

impl Jitter {
    /// The ends of a uniform jitter around `d` nanoseconds; `None` for a law of another form.
    #[inline]
    fn ends(&self, d: f64) -> Option<(f64, f64)> {
        Some(match self {
            Self::None => (d, d),
            Self::Full => (0.0, d),
            Self::Equal => (0.5 * d, d),
            Self::Double => (d, 2.0 * d),
            Self::Proportional(Proportional { ratio }) => {
                (d * (1.0 - ratio.get()), d * (1.0 + ratio.get()))
            }
            Self::Multiplicative => (0.5 * d, 1.5 * d),
            Self::Additive(Additive { max }) => (d, d + max.as_nanos() as f64),
            Self::Lognormal(_) => return None,
        })
    }

    /// A random delay around `nominal`.
    #[inline]
    pub fn apply(&self, nominal: SimDuration, draws: &mut Draws) -> SimDuration {
        match self {
            Self::None => nominal,
            Self::Lognormal(Lognormal { sigma }) => {
                let normal: f64 = StandardNormal.sample(draws);
                nominal.scale((sigma * normal).exp())
            }
            uniform => uniform
                .ends(nominal.as_nanos() as f64)
                .map_or(nominal, |ends| between(ends, draws.unit())),
        }
    }

    /// The least and the greatest delay around `nominal`, both included. What has no upper end gives
    /// [`SimDuration::MAX`].
    pub fn range(&self, nominal: SimDuration) -> (SimDuration, SimDuration) {
        match (self, self.ends(nominal.as_nanos() as f64)) {
            (Self::None, _) => (nominal, nominal),
            (_, Some((low, high))) => (
                SimDuration::from_nanos_f64(low),
                SimDuration::from_nanos_f64(high),
            ),
            (_, None) if self.is_trivial() || nominal == SimDuration::ZERO => (nominal, nominal),
            (_, None) => (SimDuration::ZERO, SimDuration::MAX),
        }
    }

    /// Whether the delay is the nominal one whatever is drawn.
    pub fn is_trivial(&self) -> bool {
        matches!(self.law(1.0), Law::Point(_))
    }

    /// The law of the delay around `d` nanoseconds.
    pub(super) fn law(&self, d: f64) -> Law {
        match (self, self.ends(d)) {
            (_, Some((low, high))) if low < high => Law::Uniform { low, high },
            (Self::Lognormal(Lognormal { sigma }), _) if *sigma > 0.0 && d > 0.0 => {
                Law::Lognormal {
                    median: d,
                    sigma: *sigma,
                }
            }
            _ => Law::Point(d),
        }
    }
}

/// The delay that lies the share `unit` of the way between two ends in nanoseconds.
#[inline]
fn between((low, high): (f64, f64), unit: f64) -> SimDuration {
    // Rounding could pass the upper end by one unit in the last place.
    SimDuration::from_nanos_f64((low + unit * (high - low)).min(high))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::jitters;
    use crate::rng::{Key, Purpose};

    const SECOND: SimDuration = SimDuration::from_secs(1);

    #[test]
    fn every_jitter_has_the_ends_of_its_definition() {
        let jitters = jitters(SimDuration::from_millis(300).as_nanos());
        let ends = [
            (1_000, 1_000),
            (0, 1_000),
            (500, 1_000),
            (1_000, 2_000),
            (850, 1_150),
            (500, 1_500),
            (1_000, 1_300),
        ]
        .map(|(low, high)| {
            (
                SimDuration::from_millis(low),
                SimDuration::from_millis(high),
            )
        });
        for (jitter, ends) in jitters.iter().zip(ends) {
            assert_eq!(jitter.range(SECOND), ends, "{jitter:?}");
        }
        assert_eq!(
            jitters[7].range(SECOND),
            (SimDuration::ZERO, SimDuration::MAX)
        );
    }

    #[test]
    fn lognormal_jitter_has_its_median_and_spread() {
        // One standard deviation of the logarithm holds 68.27 % (standard error 0.15 %).
        let sigma = 0.5;
        let jitter = Jitter::Lognormal(Lognormal { sigma });
        let (mut below, mut inside) = (0u32, 0u32);
        for i in 0..100_000 {
            let mut draws = Key::root(3, 0).child(i).draws(Purpose::Jitter);
            let logarithm = jitter.apply(SECOND, &mut draws).as_secs_f64().ln();
            below += u32::from(logarithm < 0.0);
            inside += u32::from(logarithm.abs() < sigma);
        }
        assert!((f64::from(below) / 1e5 - 0.5).abs() < 0.0064, "{below}");
        assert!(
            (f64::from(inside) / 1e5 - 0.6827).abs() < 0.0059,
            "{inside}"
        );
    }

    #[test]
    fn no_delay_stays_none_unless_something_is_added() {
        let mut draws = Key::root(3, 1).draws(Purpose::Jitter);
        for jitter in jitters(5) {
            let delay = jitter.apply(SimDuration::ZERO, &mut draws);
            let most = match jitter {
                Jitter::Additive(_) => SimDuration::from_nanos(5),
                _ => SimDuration::ZERO,
            };
            assert!(delay <= most, "{jitter:?}: {delay}");
        }
    }
}
