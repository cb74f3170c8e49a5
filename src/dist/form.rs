//! The forms a distribution can have: their settings, what they allow, and their mean and variance.
//!
//! Every form but `bimodal` and the bounds of `uniform` is given by its mean, so that a sweep over the
//! spread leaves the load unchanged. The formulas are those of Law, "Simulation Modeling and Analysis",
//! chapter 6, unless a form says otherwise.

use super::column::TimeUnit;
use crate::decode::{Check, Reader};
use crate::time::SimDuration;
use crate::units::{LONGEST, Ratio};
use crate::{choice, record};
use statrs::function::{erf::erf, gamma::ln_gamma};

/// The largest coefficient of variation; beyond it no run is long enough to see the mean.
const MOST_CV: f64 = 1_000.0;

choice! {
    /// The forms; [`Distribution`](super::Distribution) adds the bare duration.
    pub enum Form as "distribution" {
        /// No time at all.
        Zero = "zero", r#""zero""#;
        /// The same time always; a bare duration means the same.
        Constant(Constant) = "constant", r#"{ constant = { value = "50ms" } }"#;
        /// Every length between two bounds is equally likely.
        Uniform(Uniform) = "uniform", r#"{ uniform = { min = "10ms", max = "90ms" } }"#;
        /// Memoryless: the time left does not depend on the time passed.
        Exponential(Exponential) = "exponential", r#"{ exponential = { mean = "50ms" } }"#;
        /// The sum of equal exponential phases: less varied than exponential.
        Erlang(Erlang) = "erlang", r#"{ erlang = { mean = "50ms", shape = 4 } }"#;
        /// The logarithm is normal: the usual shape of measured latencies.
        Lognormal(Lognormal) = "lognormal", r#"{ lognormal = { mean = "50ms", cv = 1.5 } }"#;
        /// A power tail: rare, very long times.
        Pareto(Pareto) = "pareto", r#"{ pareto = { mean = "50ms", alpha = 2.5 } }"#;
        /// Heavier than exponential for a shape below 1, lighter above.
        Weibull(Weibull) = "weibull", r#"{ weibull = { mean = "50ms", shape = 0.7 } }"#;
        /// Two exponentials with balanced means: more varied than exponential.
        Hyperexponential(Hyperexponential) = "hyperexponential", r#"{ hyperexponential = { mean = "50ms", cv = 3 } }"#;
        /// Mostly one time, sometimes another, as with a cache.
        Bimodal(Bimodal) = "bimodal", r#"{ bimodal = { fast = "5ms", slow = "200ms", slow_share = "10%" } }"#;
        /// The absolute value of a normal number.
        AbsoluteNormal(AbsoluteNormal) = "absolute_normal", r#"{ absolute_normal = { mean = "50ms", sd = "10ms" } }"#;
        /// Measured values from a CSV file, each equally likely.
        Empirical(Empirical) = "empirical", r#"{ empirical = { file = "latency.csv", column = "latency", unit = "ms" } }"#;
    }
}

/// Mean in seconds and variance in seconds squared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Moments {
    /// From a mean and the coefficient of variation, squared.
    fn spread(mean: SimDuration, cv_squared: f64) -> Self {
        let mean = mean.as_secs_f64();
        // Nothing varies around a mean of zero, however large the spread.
        let variance = if mean == 0.0 {
            0.0
        } else {
            mean * mean * cv_squared
        };
        Self { mean, variance }
    }

    /// Warns when a usual draw is longer than any time a scenario may name. An infinite variance is no
    /// sign of that.
    fn caution(self, reader: &mut Reader) {
        let usual = self.mean + self.variance.sqrt();
        if usual.is_finite() && usual > LONGEST.as_secs_f64() {
            reader.warn_at(
                &["mean"],
                "many of these times will be longer than a year",
                "use a smaller mean or a smaller spread, or check the unit",
            );
        }
    }
}

/// Notes that the setting `key`, which is `value`, must be as `rule` says.
fn refuse(reader: &mut Reader, key: &str, value: impl std::fmt::Display, rule: &str) {
    reader.error_at(
        &[key],
        format!("`{key}` is {value}, but it {rule}"),
        remedy(key),
    );
}

fn remedy(key: &str) -> &'static str {
    match key {
        "cv" => "give the standard deviation divided by the mean, like 1.5",
        "alpha" => "use a number like 2.5; smaller means a heavier tail",
        _ => "use a number like 2; larger means less varied times",
    }
}

record! {
    /// The same time always.
    pub struct Constant {
        /// The time.
        value: SimDuration,
    }
}
impl Check for Constant {}

record! {
    /// Every length from `min` to `max`, both included, is equally likely.
    pub struct Uniform {
        /// The shortest time.
        min: SimDuration,
        /// The longest time.
        max: SimDuration,
    }
}
impl Check for Uniform {
    fn check(&self, reader: &mut Reader) {
        if self.min > self.max {
            reader.error_at(
                &["min", "max"],
                format!("`min` is above `max`: {} > {}", self.min, self.max),
                "exchange the two",
            );
        }
    }
}
impl Uniform {
    /// Of the whole nanoseconds from `min` to `max`.
    pub(super) fn moments(&self) -> Moments {
        let width = self.max.saturating_sub(self.min);
        let step = SimDuration::from_nanos(2).as_secs_f64();
        Moments {
            mean: self.min.as_secs_f64() + width.as_secs_f64() / 2.0,
            variance: width.as_secs_f64() * (width.as_secs_f64() + step) / 12.0,
        }
    }
}

record! {
    /// Exponential: the coefficient of variation is 1.
    pub struct Exponential {
        /// The mean time.
        mean: SimDuration,
    }
}
impl Check for Exponential {
    fn check(&self, reader: &mut Reader) {
        self.moments().caution(reader);
    }
}
impl Exponential {
    pub(super) fn moments(&self) -> Moments {
        Moments::spread(self.mean, 1.0)
    }
}

record! {
    /// The sum of `shape` exponential phases of equal mean: cv = 1/√shape.
    pub struct Erlang {
        /// The mean of the sum.
        mean: SimDuration,
        /// How many phases, at least one.
        shape: u32,
    }
}
impl Check for Erlang {
    fn check(&self, reader: &mut Reader) {
        if self.shape == 0 {
            refuse(reader, "shape", 0, "counts phases and must be at least 1");
            return;
        }
        self.moments().caution(reader);
    }
}
impl Erlang {
    pub(super) fn moments(&self) -> Moments {
        Moments::spread(self.mean, 1.0 / f64::from(self.shape))
    }
}

record! {
    /// Lognormal, given by mean and spread: sigma² = ln(1 + cv²), mu = ln(mean) − sigma²/2.
    pub struct Lognormal {
        /// The mean time, not the median.
        mean: SimDuration,
        /// Standard deviation divided by the mean.
        cv: f64,
    }
}
impl Check for Lognormal {
    fn check(&self, reader: &mut Reader) {
        if !(0.0..=MOST_CV).contains(&self.cv) {
            refuse(reader, "cv", self.cv, "must lie between 0 and 1000");
            return;
        }
        self.moments().caution(reader);
    }
}
impl Lognormal {
    pub(super) fn moments(&self) -> Moments {
        Moments::spread(self.mean, self.cv * self.cv)
    }
}

record! {
    /// Pareto of type I: P(X > x) = (least/x)^alpha from the least time mean·(alpha − 1)/alpha on.
    pub struct Pareto {
        /// The mean time.
        mean: SimDuration,
        /// The exponent of the tail, above 1; the variance is infinite up to 2.
        alpha: f64,
    }
}
impl Check for Pareto {
    fn check(&self, reader: &mut Reader) {
        if !(self.alpha > 1.0 && self.alpha.is_finite()) {
            let rule = "must be above 1, or there is no mean";
            refuse(reader, "alpha", self.alpha, rule);
            return;
        }
        self.moments().caution(reader);
    }
}
impl Pareto {
    pub(super) fn moments(&self) -> Moments {
        let finite = self.alpha > 2.0;
        let cv_squared = if finite {
            1.0 / (self.alpha * (self.alpha - 2.0))
        } else {
            f64::INFINITY
        };
        Moments::spread(self.mean, cv_squared)
    }
}

record! {
    /// Weibull: P(X > x) = exp(−(x/scale)^shape), scale = mean/Γ(1 + 1/shape).
    pub struct Weibull {
        /// The mean time.
        mean: SimDuration,
        /// The exponent: 1 is exponential.
        shape: f64,
    }
}
impl Check for Weibull {
    fn check(&self, reader: &mut Reader) {
        if !(0.1..=1_000.0).contains(&self.shape) {
            refuse(
                reader,
                "shape",
                self.shape,
                "must lie between 0.1 (cv 429) and 1000 (nearly constant)",
            );
            return;
        }
        self.moments().caution(reader);
    }
}
impl Weibull {
    /// cv² = Γ(1 + 2/shape)/Γ(1 + 1/shape)² − 1.
    pub(super) fn moments(&self) -> Moments {
        let log_ratio = ln_gamma(1.0 + 2.0 / self.shape) - 2.0 * ln_gamma(1.0 + 1.0 / self.shape);
        Moments::spread(self.mean, log_ratio.exp_m1())
    }
}

record! {
    /// With some probability a short exponential time, else a long one; both contribute half of the mean
    /// (Whitt 1982, "Approximating a point process by a renewal process").
    pub struct Hyperexponential {
        /// The mean time.
        mean: SimDuration,
        /// Standard deviation divided by the mean, at least 1.
        cv: f64,
    }
}
impl Check for Hyperexponential {
    fn check(&self, reader: &mut Reader) {
        if !(1.0..=MOST_CV).contains(&self.cv) {
            let rule = "must lie between 1 (exponential) and 1000";
            refuse(reader, "cv", self.cv, rule);
            return;
        }
        self.moments().caution(reader);
    }
}
impl Hyperexponential {
    pub(super) fn moments(&self) -> Moments {
        Moments::spread(self.mean, self.cv * self.cv)
    }
}

record! {
    /// One of two times.
    pub struct Bimodal {
        /// The usual time.
        fast: SimDuration,
        /// The other time.
        slow: SimDuration,
        /// How often the other.
        slow_share: Ratio,
    }
}
impl Check for Bimodal {
    fn check(&self, reader: &mut Reader) {
        if self.fast > self.slow {
            reader.warn_at(
                &["fast", "slow"],
                format!(
                    "`fast` is slower than `slow`: {} > {}",
                    self.fast, self.slow
                ),
                "exchange the two",
            );
        }
    }
}
impl Bimodal {
    pub(super) fn moments(&self) -> Moments {
        let (fast, slow) = (self.fast.as_secs_f64(), self.slow.as_secs_f64());
        let share = self.slow_share.get();
        Moments {
            mean: fast + share * (slow - fast),
            variance: share * (1.0 - share) * (slow - fast).powi(2),
        }
    }
}

record! {
    /// |Y| of a normal Y. The mean of |Y| is a little above `mean`, much above it when `sd` is large.
    pub struct AbsoluteNormal {
        /// The mean of the normal number.
        mean: SimDuration,
        /// The standard deviation of the normal number.
        sd: SimDuration,
    }
}
impl Check for AbsoluteNormal {
    fn check(&self, reader: &mut Reader) {
        self.moments().caution(reader);
    }
}
impl AbsoluteNormal {
    /// Of the folded normal distribution (Leone, Nelson and Nottingham 1961).
    pub(super) fn moments(&self) -> Moments {
        let (mu, sigma) = (self.mean.as_secs_f64(), self.sd.as_secs_f64());
        // Nothing is folded beyond eight sigma, and the general formula would only lose digits.
        if mu >= 8.0 * sigma {
            return Moments {
                mean: mu,
                variance: sigma * sigma,
            };
        }
        let z = mu / sigma;
        let edge = sigma * std::f64::consts::FRAC_2_PI.sqrt() * (-z * z / 2.0).exp();
        let mean = edge + mu * erf(z / std::f64::consts::SQRT_2);
        Moments {
            mean,
            variance: mu * mu + sigma * sigma - mean * mean,
        }
    }
}

record! {
    /// The values of a column, drawn with equal probability.
    pub struct Empirical {
        /// The CSV file, relative to the scenario; may be compressed with gzip.
        file: String,
        /// The column, by its name in the header or its position from 1; else a usual name like `latency`.
        column: Option<String> = None,
        /// The unit of the numbers: s, ms, us or ns; else that of a name like `latency_ms`, else seconds.
        unit: Option<TimeUnit> = None,
    }
}
impl Check for Empirical {
    fn check(&self, reader: &mut Reader) {
        if self.file.trim().is_empty() {
            let remedy = "name a CSV file, like file = \"latency.csv\"";
            reader.error_at(&["file"], "`file` names no file", remedy);
        }
    }
}
