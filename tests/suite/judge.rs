//! Samples of independent runs held against a reference file, with a report of how close it was.

use crate::support::{Expected, Row, Sample, agrees, exactly, number, replication};
use retrystorm::metrics::Tally;
use retrystorm::scenario::Plan;
use statrs::distribution::{Binomial, DiscreteCDF, Poisson};

/// Two-sided probability of four standard errors.
const FOUR_SIGMA: f64 = 6.3e-5;

/// Judges the rows of one file, and remembers what was furthest off.
#[derive(Debug)]
pub(crate) struct Judge {
    file: &'static str,
    rows: usize,
    worst: f64,
    worst_at: String,
}

impl Judge {
    pub(crate) fn of(file: &'static str) -> Self {
        Self {
            file,
            rows: 0,
            worst: 0.0,
            worst_at: "none".into(),
        }
    }

    /// Counts a row as covered.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    /// The mean of a sample is the expected value: within four standard errors, which are 1 % of it or those
    /// of the reference.
    pub(crate) fn agrees(&mut self, what: &str, sample: &Sample, expected: Expected) {
        agrees(what, sample.mean, sample.error(), expected);
        let together = sample.error().hypot(expected.error);
        // Else nothing varied but digits.
        if together > 1e-9 * expected.value.abs() {
            self.note(what, (sample.mean - expected.value) / together);
        }
    }

    /// The mean of a sample is the expected value, known to `small` of it: what is so rare that 1 % would take too long.
    pub(crate) fn agrees_roughly(&mut self, what: &str, sample: &Sample, value: f64, small: f64) {
        let z = (sample.mean - value) / sample.error();
        let what = format!("{what}: {} ± {} for {value}", sample.mean, sample.error());
        assert!(sample.error() <= small * value, "{what} is too vague");
        assert!(z.abs() < 4.0, "{what}, z = {z:.2}");
        self.note(&what, z);
    }

    /// Every value of a sample is `value`, but for the digits it was printed with.
    pub(crate) fn equals(&self, what: &str, sample: &Sample, value: f64) {
        let away = (sample.mean - value).abs();
        assert!(
            away <= 1e-9 * value.abs() && sample.sd() <= 1e-9 * value.abs(),
            "{what}: {sample:?} instead of {value} throughout"
        );
    }

    /// A figure that the reference simulated: equal where nothing varied there, else like [`Self::agrees`].
    pub(crate) fn simulated(&mut self, what: &str, sample: &Sample, expected: Expected) {
        if expected.error == 0.0 {
            self.equals(what, sample, expected.value);
        } else {
            self.agrees(what, sample, expected);
        }
    }

    /// Two counts among as many tries each may come from one probability: by z with the pooled variance. Two
    /// counts of nothing, or of every try, are equal.
    pub(crate) fn same_share(&mut self, what: &str, mine: u64, theirs: u64, tries: u64) {
        let both = mine + theirs;
        if both == 0 || both == 2 * tries {
            return;
        }
        let (n, share) = (tries as f64, both as f64 / (2.0 * tries as f64));
        let z = (mine as f64 - theirs as f64) / (2.0 * n * share * (1.0 - share)).sqrt();
        let what = format!("{what}: {mine} and {theirs} of {tries}, z = {z:.2}");
        assert!(z.abs() < 4.0, "{what}");
        self.note(&what, z);
    }

    /// Two counts of rare events over the same time may come from one rate: given both, one is binomial.
    pub(crate) fn same_rate(&self, what: &str, mine: u64, theirs: u64) {
        let law = Binomial::new(0.5, mine + theirs).unwrap();
        let tail = law.cdf(mine.min(theirs));
        assert!(2.0 * tail > FOUR_SIGMA, "{what}: {mine} and {theirs}");
    }

    fn note(&mut self, what: &str, z: f64) {
        if z.abs() > self.worst.abs() {
            (self.worst, self.worst_at) = (z, what.into());
        }
    }

    /// Tells how many of the file's rows were covered, and asserts that it is as many as meant.
    pub(crate) fn report(&self, covered: usize, of: usize) {
        let Self {
            file, rows, worst, ..
        } = self;
        println!(
            "{file}: {rows} of {of} rows, worst z {worst:.2} ({})",
            self.worst_at
        );
        assert_eq!(*rows, covered, "{file}");
    }
}

/// Whether a Poisson law of mean `expected` may give the count `found`: neither tail is less likely than that of
/// four standard errors.
pub(crate) fn is_rare_count(found: u64, expected: f64) -> bool {
    let law = Poisson::new(expected).unwrap();
    let at_least = found.checked_sub(1).map_or(1.0, |fewer| law.sf(fewer));
    2.0 * law.cdf(found).min(at_least) > FOUR_SIGMA
}

#[test]
fn a_rare_count_is_held_by_both_tails_of_its_law() {
    // None has a probability of e to the minus mean, and one or more that of about a small mean.
    assert!(is_rare_count(0, 10.3) && !is_rare_count(0, 10.4));
    assert!(is_rare_count(1, 4e-5) && !is_rare_count(1, 3e-5));
}

/// What a row expects of a column that was simulated with a 95 % interval.
pub(crate) fn simulated(row: &Row, column: &str, interval: &str) -> Expected {
    Expected {
        value: number(row, column),
        error: number(row, interval) / 1.96,
    }
}

/// What a row expects of an exact column.
pub(crate) fn exact(row: &Row, column: &str) -> Expected {
    exactly(number(row, column))
}

/// Independent runs, in rounds until every standard error is 1 % of what is expected or that of the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    pub(crate) runs: u64,
    pub(crate) most: u64,
}

impl Rounds {
    /// A sample of each figure, of runs that have them.
    pub(crate) fn sample(
        self,
        plan: &Plan,
        expected: &[Expected],
        mut figures: impl FnMut(&Tally) -> Option<Vec<f64>>,
    ) -> Vec<Sample> {
        let mut samples = vec![Sample::default(); expected.len()];
        for round in 0..self.most {
            for run in 0..self.runs {
                let tally = replication(plan, 0, round * self.runs + run);
                let Some(found) = figures(&tally) else {
                    continue;
                };
                assert_eq!(found.len(), samples.len());
                samples
                    .iter_mut()
                    .zip(found)
                    .for_each(|(sample, value)| sample.add(value));
            }
            let known = |(sample, expected): (&Sample, &Expected)| {
                sample.error() <= (0.01 * expected.value.abs()).max(expected.error)
            };
            if samples.iter().zip(expected).all(known) {
                break;
            }
        }
        samples
    }
}

/// Takes from `values` what goes along with `control` being away from its expectation, where it varies: the control
/// variate of Monte Carlo. They keep their expectation.
pub(crate) fn clear(values: &mut [f64], control: &[f64], expected: f64) {
    let v = Sample::of(values.iter().copied());
    let c = Sample::of(control.iter().copied());
    let pairs = values.iter().zip(control);
    let together: f64 = pairs.map(|(x, y)| (x - v.mean) * (y - c.mean)).sum();
    if c.sd() > 1e-6 * expected {
        let slope = together / (c.count - 1.0) / c.sd().powi(2);
        let all = values.iter_mut().zip(control);
        all.for_each(|(value, control)| *value -= slope * (control - expected));
    }
}
