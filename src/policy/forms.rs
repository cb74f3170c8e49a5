//! The forms of backoff one by one: their settings, what does not fit together, and the nominal delay.
//!
//! The settings are the user's words for a delay; each form states its formula with n = 1 for the first
//! retry. Forms that draw their delay are completed in `nominal.rs`.

use super::shape::Shape;
use crate::decode::{Check, Reader};
use crate::record;
use crate::time::SimDuration;

record! {
    /// The same delay each time.
    pub struct Fixed {
        /// The delay.
        delay: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base + step · (n − 1)).
    pub struct Linear {
        /// The delay before the first retry.
        base: SimDuration,
        /// What each further retry adds; `base` when absent, which gives base · n.
        step: Option<SimDuration> = None,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · factor^(start + n − 1)).
    pub struct Exponential {
        /// The delay at exponent 0.
        base: SimDuration,
        /// How much longer each delay is, zero or more. Below 1 delays shrink; with 0 only the delay at
        /// exponent 0 is above zero.
        factor: f64 = 2.0,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None,
        /// The exponent of the first retry: 0 makes it wait `base`, 1 makes it wait `base · factor`.
        start: u32 = 0;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · F(n)) with F = 1, 1, 2, 3, 5, 8, …
    pub struct Fibonacci {
        /// The delay before the first two retries.
        base: SimDuration,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// min(cap, base · n^power).
    pub struct Polynomial {
        /// The delay before the first retry.
        base: SimDuration,
        /// The exponent, zero or more: 1 grows linearly, 2 quadratically.
        power: f64,
        /// The greatest nominal delay.
        cap: Option<SimDuration> = None;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// Uniform from min to max, whatever n is.
    pub struct Uniform {
        /// The least delay.
        min: SimDuration,
        /// The greatest delay.
        max: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// Exponentially distributed, whatever n is.
    pub struct Memoryless {
        /// The mean delay.
        mean: SimDuration;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// The delays of a list in turn.
    pub struct List {
        /// At least one delay; the last one repeats.
        delays: Vec<SimDuration>;
        /// Shared settings.
        flatten shape: Shape,
    }
}

record! {
    /// sₙ = min(cap, U(base, factor · sₙ₋₁)) with s₀ = base. The capped value is remembered, before jitter
    /// and rounding.
    pub struct Decorrelated {
        /// The least delay.
        base: SimDuration,
        /// The greatest nominal delay.
        cap: SimDuration,
        /// How far a delay may exceed the one before, at least 1.
        factor: f64 = 3.0;
        /// Shared settings.
        flatten shape: Shape,
    }
}

impl Linear {
    /// base + step · (n − 1).
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        self.base + times(self.step.unwrap_or(self.base), u64::from(n - 1))
    }
}

impl Exponential {
    /// base · factor^(start + n − 1). With a base of zero, 0 · ∞ counts as zero.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        let exponent = u64::from(self.start) + u64::from(n - 1);
        if self.factor == 2.0 {
            return doubled(self.base, exponent);
        }
        self.base.scale(self.factor.powf(exponent as f64))
    }
}

impl Fibonacci {
    /// base · F(n).
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        times(self.base, FIBONACCI[(n as usize).min(FIBONACCI.len() - 1)])
    }
}

impl Polynomial {
    /// base · n^power. With a base of zero, 0 · ∞ counts as zero.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        self.base.scale(f64::from(n).powf(self.power))
    }
}

impl List {
    /// The n-th delay, or the last.
    #[inline]
    pub(super) fn nominal(&self, n: u32) -> SimDuration {
        let nth = self.delays.get(n as usize - 1).or(self.delays.last());
        nth.copied().unwrap_or_default()
    }
}

/// `base` · 2^`exponent`, saturating.
#[inline]
fn doubled(base: SimDuration, exponent: u64) -> SimDuration {
    let nanos = base.as_nanos();
    SimDuration::from_nanos(
        if exponent <= u64::from(nanos.leading_zeros()) && exponent < 64 {
            nanos << exponent
        } else if nanos == 0 {
            0
        } else {
            u64::MAX
        },
    )
}

/// `delay` · `count`, saturating.
#[inline]
fn times(delay: SimDuration, count: u64) -> SimDuration {
    SimDuration::from_nanos(delay.as_nanos().saturating_mul(count))
}

/// F(0), F(1), …, and at the end the greatest number in place of the first that does not fit.
const FIBONACCI: [u64; 95] = {
    let mut numbers = [1; 95];
    numbers[0] = 0;
    let mut n = 2;
    while n < numbers.len() {
        numbers[n] = u64::saturating_add(numbers[n - 1], numbers[n - 2]);
        n += 1;
    }
    numbers
};

impl Check for Fixed {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.delay, None, reader);
    }
}

impl Check for Linear {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
    }
}

impl Check for Exponential {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
        check_least("factor", self.factor, 0.0, reader);
    }
}

impl Check for Fibonacci {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
    }
}

impl Check for Polynomial {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, self.cap, reader);
        check_least("power", self.power, 0.0, reader);
    }
}

impl Check for Uniform {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.min, None, reader);
        if self.max < self.min {
            reader.error_at(
                &["max", "min"],
                format!("`max` = {} is below `min` = {}", self.max, self.min),
                "exchange the two",
            );
        }
    }
}

impl Check for Memoryless {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.mean, None, reader);
    }
}

impl Check for List {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(SimDuration::ZERO, None, reader);
        if self.delays.is_empty() {
            reader.error_at(
                &["delays"],
                "`delays` is empty",
                "give at least one delay, like [\"1s\"]",
            );
        }
    }
}

impl Check for Decorrelated {
    fn check(&self, reader: &mut Reader) {
        self.shape.check_cap(self.base, Some(self.cap), reader);
        check_least("factor", self.factor, 1.0, reader);
    }
}

fn check_least(key: &str, value: f64, least: f64, reader: &mut Reader) {
    if value < least {
        reader.error_at(
            &[key],
            format!("`{key}` = {value} is below {least}"),
            format!("give {least} or more"),
        );
    }
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "the macros define public types")]
mod tests {
    use crate::decode::{Check, Choice, Decode, Document, Problem, Reader, Severity};
    use crate::policy::{Backoff, Client, Jitter, Reset, StateOwner};
    use crate::record;

    record! {
        /// A document with one backoff.
        pub struct Whole {
            /// It.
            backoff: Backoff,
        }
    }
    impl Check for Whole {}

    fn read(text: &str) -> (Option<Backoff>, Vec<Problem>) {
        read_document(&Document::parse("a.toml", text).expect("valid TOML"))
    }

    fn read_document(document: &Document) -> (Option<Backoff>, Vec<Problem>) {
        let mut reader = Reader::new();
        let whole = Whole::decode(&document.root, &mut reader);
        (whole.map(|whole| whole.backoff), reader.into_problems())
    }

    fn problem(text: &str) -> Problem {
        let (_, mut problems) = read(text);
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        problems.remove(0)
    }

    fn backoff_with(jitter: &str) -> String {
        format!("backoff.fixed = {{ delay = \"1s\", jitter = {jitter} }}")
    }

    #[test]
    fn every_example_reads_and_writes_itself_back() {
        let examples = Backoff::VARIANTS
            .iter()
            .map(|doc| format!("backoff = {}", doc.example));
        let jitters = Jitter::VARIANTS.iter().map(|doc| backoff_with(doc.example));
        let owners = StateOwner::VARIANTS.iter().map(|doc| {
            format!(
                "backoff.fixed = {{ delay = \"1s\", state = {} }}",
                doc.example
            )
        });
        for example in examples.chain(jitters).chain(owners) {
            let (backoff, problems) = read(&example);
            assert!(problems.is_empty(), "{example}: {problems:?}");
            let backoff = backoff.unwrap();
            let text = toml::to_string(&Whole {
                backoff: backoff.clone(),
            })
            .unwrap();
            assert_eq!(read(&text), (Some(backoff), Vec::new()), "{text}");
        }
    }

    #[test]
    fn one_extra_key_is_refused_with_the_key_that_was_meant() {
        for doc in Backoff::VARIANTS {
            let text = format!("backoff = {}", doc.example);
            let mut document = Document::parse("a.toml", &text).unwrap();
            let extra = format!("backoff.{}.jiter=full", doc.name);
            document.set(&extra).unwrap();
            let (_, problems) = read_document(&document);
            assert_eq!(problems.len(), 1, "{text}: {problems:?}");
            assert!(problems[0].reason.contains("`jiter`"), "{problems:?}");
            let remedy = match doc.name {
                "immediate" => "nothing can be set",
                _ => "`jitter`",
            };
            assert!(problems[0].remedy.contains(remedy), "{problems:?}");
        }
    }

    #[test]
    fn bare_tags_take_defaults() {
        let (bare, _) = read(&backoff_with("\"proportional\""));
        let (full, _) = read(&backoff_with("{ proportional = { ratio = \"15%\" } }"));
        assert_eq!(bare, full);
        let (state, _) = read("backoff.fixed = { delay = \"1s\", state = \"client\" }");
        let client = StateOwner::Client(Client {
            reset: Reset::Success,
        });
        assert_eq!(state.unwrap().shape().state, client);
        let Some(Backoff::Exponential(form)) = read("backoff.exponential.base = \"1s\"").0 else {
            panic!("an exponential backoff");
        };
        assert_eq!((form.factor, form.cap, form.start), (2.0, None, 0));
        assert_eq!(form.shape, super::Shape::PLAIN);
        let Some(Backoff::Decorrelated(form)) =
            read("backoff.decorrelated = { base = \"1s\", cap = \"9s\" }").0
        else {
            panic!("a decorrelated backoff");
        };
        assert_eq!(form.factor, 3.0);
    }

    #[test]
    fn nonsense_is_refused_and_doubtful_settings_are_warned_of() {
        let exponential = |rest: &str| {
            problem(&format!(
                "backoff.exponential = {{ base = \"1s\", {rest} }}"
            ))
        };
        for (found, severity, part) in [
            (exponential("factor = -1"), Severity::Error, "below 0"),
            (exponential("factor = nan"), Severity::Error, "finite"),
            (exponential("factor = inf"), Severity::Error, "finite"),
            (exponential("start = -1"), Severity::Error, "below zero"),
            (
                exponential("cap = \"1ms\""),
                Severity::Warning,
                "below the base",
            ),
            (
                exponential("cap_order = \"after_jitter\""),
                Severity::Warning,
                "without a cap",
            ),
            (
                exponential("jitter.lognormal.sigma = -0.5"),
                Severity::Error,
                "out of range",
            ),
            (
                exponential("jitter.lognormal.sigma = 11"),
                Severity::Error,
                "out of range",
            ),
            (
                exponential("jitter.proportional.ratio = 1.5"),
                Severity::Error,
                "between 0%",
            ),
            (
                exponential("state.request.reset = \"never\""),
                Severity::Error,
                "`reset`",
            ),
            (
                problem("backoff.list.delays = []"),
                Severity::Error,
                "empty",
            ),
            (
                problem("backoff.fixed = {}"),
                Severity::Error,
                "`delay` is missing",
            ),
            (
                problem("backoff.fixed = { delay = \"1s\", cap_order = \"after_jitter\" }"),
                Severity::Warning,
                "without a cap",
            ),
            (
                problem("backoff.uniform = { min = \"2s\", max = \"1s\" }"),
                Severity::Error,
                "below `min`",
            ),
            (
                problem("backoff.polynomial = { base = \"1s\", power = -1 }"),
                Severity::Error,
                "below 0",
            ),
            (
                problem("backoff.decorrelated = { base = \"1s\", cap = \"9s\", factor = 0.9 }"),
                Severity::Error,
                "below 1",
            ),
        ] {
            assert_eq!(found.severity, severity, "{found:?}");
            assert!(found.reason.contains(part), "{found:?}");
            assert!(!found.remedy.is_empty(), "{found:?}");
        }
    }
}
