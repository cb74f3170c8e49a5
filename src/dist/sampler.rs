//! Draws lengths of time; everything that does not depend on the draw is computed before.
//!
//! A run draws a time for every attempt, so a draw must cost nanoseconds: exponential and normal numbers come
//! from the ziggurat of `rand_distr`, parameters are in nanoseconds and logarithms are taken beforehand.
//! A draw is rounded to whole nanoseconds, saturates at the top and is never negative.

use super::column::{ColumnSpec, Content, read_times};
use super::form::{Empirical, Form, Hyperexponential, Moments};
use super::{Bimodal, Distribution, Weibull};
use crate::rng::Draws;
use crate::time::SimDuration;
use rand_distr::{Distribution as _, Exp1, Gamma, StandardNormal};
use statrs::function::gamma::ln_gamma;
use std::path::Path;
use std::sync::Arc;

/// The running form of a [`Distribution`]. Cheap to clone: measured values are shared.
#[derive(Clone, Debug)]
pub struct Sampler {
    kind: Kind,
    moments: Moments,
}

/// How to draw; parameters are nanoseconds.
#[derive(Clone, Debug)]
enum Kind {
    Constant(SimDuration),
    Uniform {
        min: u64,
        steps: u64,
    },
    Exponential {
        mean: f64,
    },
    Erlang(Gamma<f64>),
    Lognormal {
        mu: f64,
        sigma: f64,
    },
    Pareto {
        least: f64,
        inverse_alpha: f64,
    },
    Weibull {
        ln_scale: f64,
        inverse_shape: f64,
    },
    Hyperexponential {
        long_share: f64,
        short: f64,
        long: f64,
    },
    Bimodal {
        slow_share: f64,
        fast: SimDuration,
        slow: SimDuration,
    },
    AbsoluteNormal {
        mean: f64,
        sd: f64,
    },
    Empirical(Arc<[SimDuration]>),
}

impl Distribution {
    /// The form that draws. Only `empirical` reads a file, whose name is relative to `base`.
    ///
    /// # Errors
    /// A message with file, line, reason and remedy when the file cannot be used; a reason when the
    /// settings are ones that a scenario cannot hold.
    pub fn sampler(&self, base: &Path) -> Result<Sampler, String> {
        if let Form::Empirical(empirical) = &self.0 {
            return read_empirical(empirical, base);
        }
        let moments = moments(&self.0);
        if moments.variance == 0.0 {
            let value = match &self.0 {
                Form::Constant(constant) => constant.value,
                Form::Uniform(uniform) => uniform.min,
                Form::Bimodal(two) if two.slow_share.get() > 0.5 => two.slow,
                Form::Bimodal(two) => two.fast,
                _ => SimDuration::from_secs_f64(moments.mean),
            };
            return Ok(Sampler::always(value));
        }
        let kind = kind(&self.0)?;
        Ok(Sampler { kind, moments })
    }
}

fn moments(form: &Form) -> Moments {
    let fixed = |value: SimDuration| Moments {
        mean: value.as_secs_f64(),
        variance: 0.0,
    };
    match form {
        Form::Zero | Form::Empirical(_) => fixed(SimDuration::ZERO),
        Form::Constant(form) => fixed(form.value),
        Form::Uniform(form) => form.moments(),
        Form::Exponential(form) => form.moments(),
        Form::Erlang(form) => form.moments(),
        Form::Lognormal(form) => form.moments(),
        Form::Pareto(form) => form.moments(),
        Form::Weibull(form) => form.moments(),
        Form::Hyperexponential(form) => form.moments(),
        Form::Bimodal(form) => form.moments(),
        Form::AbsoluteNormal(form) => form.moments(),
    }
}

fn nanos(duration: SimDuration) -> f64 {
    duration.as_nanos() as f64
}

/// How to draw from a form that varies.
fn kind(form: &Form) -> Result<Kind, String> {
    let exponential = |mean| Kind::Exponential { mean: nanos(mean) };
    Ok(match form {
        Form::Zero | Form::Empirical(_) => Kind::Constant(SimDuration::ZERO),
        Form::Constant(form) => Kind::Constant(form.value),
        Form::Uniform(form) => Kind::Uniform {
            min: form.min.as_nanos(),
            steps: form
                .max
                .saturating_sub(form.min)
                .as_nanos()
                .saturating_add(1),
        },
        Form::Exponential(form) => exponential(form.mean),
        Form::Erlang(form) if form.shape == 1 => exponential(form.mean),
        Form::Erlang(form) => {
            let shape = f64::from(form.shape);
            let gamma = Gamma::new(shape, nanos(form.mean) / shape);
            Kind::Erlang(gamma.map_err(|error| format!("erlang: {error}"))?)
        }
        Form::Lognormal(form) => {
            let variance = (form.cv * form.cv).ln_1p();
            Kind::Lognormal {
                mu: nanos(form.mean).ln() - variance / 2.0,
                sigma: variance.sqrt(),
            }
        }
        Form::Pareto(form) => Kind::Pareto {
            least: nanos(form.mean) * (form.alpha - 1.0) / form.alpha,
            inverse_alpha: 1.0 / form.alpha,
        },
        Form::Weibull(Weibull { mean, shape: 1.0 }) => exponential(*mean),
        Form::Weibull(form) => Kind::Weibull {
            ln_scale: nanos(form.mean).ln() - ln_gamma(1.0 + 1.0 / form.shape),
            inverse_shape: 1.0 / form.shape,
        },
        Form::Hyperexponential(Hyperexponential { mean, cv: 1.0 }) => exponential(*mean),
        Form::Hyperexponential(form) => balanced(nanos(form.mean), form.cv * form.cv),
        Form::Bimodal(Bimodal {
            fast,
            slow,
            slow_share,
        }) => Kind::Bimodal {
            slow_share: slow_share.get(),
            fast: *fast,
            slow: *slow,
        },
        Form::AbsoluteNormal(form) => Kind::AbsoluteNormal {
            mean: nanos(form.mean),
            sd: nanos(form.sd),
        },
    })
}

/// Two phases that contribute half of the mean each. The share of the long one is (1 − r)/2 with
/// r² = (cv² − 1)/(cv² + 1), written so that no digits are lost when it is small.
fn balanced(mean: f64, cv_squared: f64) -> Kind {
    let r = ((cv_squared - 1.0) / (cv_squared + 1.0)).sqrt();
    let long_share = 1.0 / ((cv_squared + 1.0) * (1.0 + r));
    Kind::Hyperexponential {
        long_share,
        short: mean / (2.0 * (1.0 - long_share)),
        long: mean / (2.0 * long_share),
    }
}

fn read_empirical(empirical: &Empirical, base: &Path) -> Result<Sampler, String> {
    let spec = ColumnSpec {
        column: empirical.column.clone(),
        unit: empirical.unit,
        content: Content::Lengths,
    };
    let column = read_times(&base.join(&empirical.file), &spec).map_err(|e| e.to_string())?;
    Ok(Sampler::of_values(column.values))
}

impl Sampler {
    /// Draws `value` always.
    fn always(value: SimDuration) -> Self {
        let mean = value.as_secs_f64();
        Self {
            kind: Kind::Constant(value),
            moments: Moments {
                mean,
                variance: 0.0,
            },
        }
    }

    /// Draws one of `values`, which are not empty.
    fn of_values(values: Vec<SimDuration>) -> Self {
        if values.iter().all(|value| *value == values[0]) {
            return Self::always(values[0]);
        }
        let count = values.len() as f64;
        let mean = values.iter().map(|v| v.as_secs_f64()).sum::<f64>() / count;
        let squares = values.iter().map(|v| (v.as_secs_f64() - mean).powi(2));
        let variance = squares.sum::<f64>() / count;
        Self {
            kind: Kind::Empirical(values.into()),
            moments: Moments { mean, variance },
        }
    }

    /// The next length of time.
    #[inline(always)]
    pub fn sample(&self, draws: &mut Draws) -> SimDuration {
        // The forms of most runs stay small enough to be inlined at the caller.
        match self.kind {
            Kind::Constant(value) => value,
            Kind::Exponential { mean } => SimDuration::from_nanos_f64(mean * exponential(draws)),
            _ => self.kind.sample(draws),
        }
    }

    /// The mean in seconds.
    pub fn mean(&self) -> f64 {
        self.moments.mean
    }

    /// The variance in seconds squared; may be infinite.
    pub fn variance(&self) -> f64 {
        self.moments.variance
    }

    /// The value, if every draw is the same.
    pub fn constant(&self) -> Option<SimDuration> {
        match self.kind {
            Kind::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// The mean, if draws are exponential. A mean of zero is constant instead.
    pub fn is_exponential(&self) -> Option<SimDuration> {
        match self.kind {
            Kind::Exponential { mean } => Some(SimDuration::from_nanos_f64(mean)),
            _ => None,
        }
    }

    /// The longest possible draw, if there is one. Looks through all values of `empirical`.
    pub fn max(&self) -> Option<SimDuration> {
        match &self.kind {
            Kind::Constant(value) => Some(*value),
            Kind::Uniform { min, steps } => Some(SimDuration::from_nanos(min + (steps - 1))),
            Kind::Bimodal { fast, slow, .. } => Some(*fast.max(slow)),
            Kind::Empirical(values) => values.iter().max().copied(),
            _ => None,
        }
    }
}

impl Kind {
    #[inline(never)]
    fn sample(&self, draws: &mut Draws) -> SimDuration {
        let nanos = match self {
            Self::Constant(value) => return *value,
            Self::Uniform { min, steps } => {
                return SimDuration::from_nanos(min + draws.below(*steps));
            }
            Self::Bimodal {
                slow_share,
                fast,
                slow,
            } => {
                let is_slow = draws.unit() < *slow_share;
                return if is_slow { *slow } else { *fast };
            }
            Self::Empirical(values) => return values[draws.below(values.len() as u64) as usize],
            Self::Exponential { mean } => mean * exponential(draws),
            Self::Erlang(gamma) => gamma.sample(draws),
            Self::Lognormal { mu, sigma } => (mu + sigma * normal(draws)).exp(),
            // The logarithm of a Pareto number is exponential, which spares a power.
            Self::Pareto {
                least,
                inverse_alpha,
            } => least * (exponential(draws) * inverse_alpha).exp(),
            Self::Weibull {
                ln_scale,
                inverse_shape,
            } => (ln_scale + exponential(draws).ln() * inverse_shape).exp(),
            Self::Hyperexponential {
                long_share,
                short,
                long,
            } => {
                let is_long = draws.unit() < *long_share;
                exponential(draws) * if is_long { long } else { short }
            }
            Self::AbsoluteNormal { mean, sd } => (mean + sd * normal(draws)).abs(),
        };
        SimDuration::from_nanos_f64(nanos)
    }
}

/// An exponential number of mean 1.
#[inline]
fn exponential(draws: &mut Draws) -> f64 {
    Exp1.sample(draws)
}

/// A standard normal number.
#[inline]
fn normal(draws: &mut Draws) -> f64 {
    StandardNormal.sample(draws)
}

#[cfg(test)]
mod tests;
