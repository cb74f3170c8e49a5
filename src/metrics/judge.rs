//! The rule by which a run is judged.
//!
//! Success is followed by the time at which requests started. A bin of few requests scatters, so it has left the
//! baseline only when four standard deviations of counting cannot explain it.

use super::{Course, Timeline, Verdict, VerdictRule};
use crate::time::{SimDuration, SimTime};
use std::ops::Range;

/// Success this close to its baseline is back.
const BACK: f64 = 0.98;
/// Below this share of the baseline a run has collapsed.
const COLLAPSE: f64 = 0.5;
/// Standard deviations of counting that a bin is granted: a run has hundreds of bins, and few should leave by chance.
const GRANTED: f64 = 4.0;

/// Judges a closed timeline. A request that is still open although it is older than `longest`, the longest latency of
/// a success, will not succeed any more and counts as failed.
pub fn judge(timeline: &Timeline, rule: &VerdictRule, longest: SimDuration) -> Course {
    let judge = Judge {
        timeline,
        rule,
        decided_until: timeline.end().as_nanos().saturating_sub(longest.as_nanos()),
    };
    if rule.one_wave {
        judge.judge_wave()
    } else {
        judge.judge()
    }
}

struct Judge<'a> {
    timeline: &'a Timeline,
    rule: &'a VerdictRule,
    /// Of requests that started before this it is known what became of them, in nanoseconds.
    decided_until: u64,
}

/// What is known of some requests.
#[derive(Clone, Copy, Default)]
struct Known {
    succeeded: u64,
    /// Succeeded, failed, or open for too long.
    decided: u64,
    all: u64,
}

impl Known {
    fn plus(self, other: Self) -> Self {
        Self {
            succeeded: self.succeeded + other.succeeded,
            decided: self.decided + other.decided,
            all: self.all + other.all,
        }
    }

    fn minus(self, part: Self) -> Self {
        Self {
            succeeded: self.succeeded - part.succeeded,
            decided: self.decided - part.decided,
            all: self.all - part.all,
        }
    }

    fn share(self) -> Option<f64> {
        (self.decided > 0).then(|| self.succeeded as f64 / self.decided as f64)
    }

    /// Whether enough of them are decided to judge by them: those that end first are not like the others.
    fn is_telling(self) -> bool {
        2 * self.decided >= self.all
    }
}

impl Judge<'_> {
    /// Requests that start together are judged by what was promised to them.
    fn judge_wave(&self) -> Course {
        let all = self.sum(0..self.timeline.cohorts().len());
        let baseline = Baseline {
            share: self.rule.promised,
            requests: f64::INFINITY,
        };
        let verdict = if has_collapsed(all, baseline) {
            Verdict::Collapsed
        } else if is_close(all, baseline) {
            Verdict::Stable
        } else {
            Verdict::Degraded
        };
        Course {
            verdict,
            baseline: baseline.share,
            last: all.share(),
            recovery_s: None,
        }
    }

    fn judge(&self) -> Course {
        let rule = self.rule;
        let third =
            SimDuration::from_nanos((rule.arrivals_end - rule.measured_from).as_nanos() / 3);
        let baseline_end = rule
            .faults
            .map_or(rule.measured_from + third, |(from, _)| from);
        let before = self.sum(self.bins_inside(rule.measured_from, baseline_end));
        let baseline = Baseline {
            share: before.share().unwrap_or(rule.promised),
            requests: before
                .share()
                .map_or(f64::INFINITY, |_| before.decided as f64),
        };
        let after = rule.faults.map_or(baseline_end, |(_, to)| to);
        let last = self.last(after);
        let left = self
            .bins(baseline_end, rule.arrivals_end)
            .any(|bin| !self.is_back(bin, baseline));
        let back_at = self.back_at(after, baseline);
        let is_back = last.decided > 0 && is_close(last, baseline);
        let promised = Baseline {
            share: rule.promised,
            requests: f64::INFINITY,
        };
        let sound = !has_collapsed(before, promised);
        let verdict = if rule.too_much_load || !sound {
            Verdict::Overloaded
        } else if has_collapsed(last, baseline) {
            Verdict::Collapsed
        } else if !left {
            Verdict::Stable
        } else if rule.faults.is_some() && back_at.is_some() && is_back {
            Verdict::Recovered
        } else if rule.faults.is_none() && is_back {
            Verdict::Stable
        } else {
            Verdict::Degraded
        };
        let recovery = back_at.filter(|_| verdict == Verdict::Recovered);
        Course {
            verdict,
            baseline: baseline.share,
            last: last.share(),
            recovery_s: recovery.map(|at| at.since(after).as_secs_f64()),
        }
    }

    /// The last requests of which enough are decided: those of the settling time before arrivals end, or of an
    /// earlier one, but none from before `after` unless the fault lasts to the end. When nothing starts any more
    /// because everybody waits, those who wait for ever are the last.
    fn last(&self, after: SimTime) -> Known {
        let settle = self.rule.settle.as_nanos();
        let first = if after < self.rule.arrivals_end {
            after
        } else {
            SimTime::from_nanos(self.rule.arrivals_end.as_nanos().saturating_sub(settle))
        };
        let width = self.timeline.width().as_nanos();
        let all = self.bins(first, self.rule.arrivals_end);
        let length = settle.div_ceil(width).max(1) as usize;
        // What is known of the bins before each, so that a window costs two look-ups.
        let mut until = vec![Known::default()];
        for bin in all.clone() {
            until.push(until[until.len() - 1].plus(self.known(bin)));
        }
        let windows = (1..until.len()).rev().map(|end| {
            let from = end.saturating_sub(length);
            until[end].minus(until[from])
        });
        let telling = |known: &Known| known.all > 0 && known.is_telling();
        if let Some(known) = windows.into_iter().find(telling) {
            return known;
        }
        let whole = self.sum(all);
        if whole.all > 0 {
            return whole;
        }
        self.stranded()
    }

    /// Requests that are open for too long, wherever they started.
    fn stranded(&self) -> Known {
        let old = (0..self.timeline.cohorts().len()).map(|bin| self.known(bin));
        let cohorts = self.timeline.cohorts().iter();
        let open = old
            .zip(cohorts)
            .map(|(known, cohort)| known.decided - cohort.succeeded - cohort.failed);
        let open = open.sum();
        Known {
            succeeded: 0,
            decided: open,
            all: open,
        }
    }

    /// The first time from `after` on from which success stays back for the settling time, or to the end.
    fn back_at(&self, after: SimTime, baseline: Baseline) -> Option<SimTime> {
        let (width, end) = (self.timeline.width(), self.rule.arrivals_end);
        let mut since = None;
        for bin in self.bins(after, end) {
            let start = self.start(bin).max(after);
            if !self.is_back(bin, baseline) {
                since = None;
                continue;
            }
            let first = *since.get_or_insert(start);
            if (self.start(bin) + width).since(first) >= self.rule.settle {
                return since;
            }
        }
        since
    }

    fn start(&self, bin: usize) -> SimTime {
        SimTime::from_nanos(self.timeline.width().as_nanos().saturating_mul(bin as u64))
    }

    /// Bins that touch a span of time.
    fn bins(&self, from: SimTime, to: SimTime) -> Range<usize> {
        let width = self.timeline.width().as_nanos();
        self.range(from.as_nanos() / width, to.as_nanos().div_ceil(width))
    }

    /// Bins that lie wholly inside a span of time.
    fn bins_inside(&self, from: SimTime, to: SimTime) -> Range<usize> {
        let width = self.timeline.width().as_nanos();
        self.range(from.as_nanos().div_ceil(width), to.as_nanos() / width)
    }

    fn range(&self, first: u64, end: u64) -> Range<usize> {
        let count = self.timeline.cohorts().len() as u64;
        let first = first.min(count);
        first as usize..end.min(count).max(first) as usize
    }

    /// What is known of the requests of a bin.
    fn known(&self, bin: usize) -> Known {
        let cohort = self.timeline.cohorts()[bin];
        let ended = cohort.succeeded + cohort.failed;
        let end = self.start(bin) + self.timeline.width();
        let old = end.as_nanos() <= self.decided_until;
        Known {
            succeeded: cohort.succeeded,
            decided: if old { ended + cohort.open } else { ended },
            all: ended + cohort.open,
        }
    }

    fn sum(&self, bins: Range<usize>) -> Known {
        bins.fold(Known::default(), |sum, bin| sum.plus(self.known(bin)))
    }

    /// Whether a bin did as well as the baseline. One of which too little is known is given the benefit.
    fn is_back(&self, bin: usize, baseline: Baseline) -> bool {
        let known = self.known(bin);
        !known.is_telling() || is_close(known, baseline)
    }
}

/// A success and from how many requests it is known.
#[derive(Clone, Copy)]
struct Baseline {
    share: f64,
    requests: f64,
}

/// Whether a number of requests did as well as the baseline, but for luck on either side. No requests did. The luck
/// is that of a share a little nearer to one half, so that a baseline without any failure grants some.
fn is_close(known: Known, baseline: Baseline) -> bool {
    let n = known.decided as f64;
    let (share, m) = (baseline.share, baseline.requests);
    let likely = if m.is_finite() {
        (share * m + 1.0) / (m + 2.0)
    } else {
        share
    };
    let variance = n * likely * (1.0 - likely) * (1.0 + n / m);
    known.succeeded as f64 >= BACK * share * n - GRANTED * variance.max(0.0).sqrt()
}

/// Whether success was below half of the baseline, and not by luck.
fn has_collapsed(known: Known, baseline: Baseline) -> bool {
    let below = |share| share < COLLAPSE * baseline.share;
    known.share().is_some_and(below) && !is_close(known, baseline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> SimTime {
        SimTime::ZERO + SimDuration::from_secs(s)
    }

    const RULE: VerdictRule = VerdictRule {
        measured_from: SimTime::ZERO,
        arrivals_end: SimTime::from_nanos(100_000_000_000),
        faults: Some((
            SimTime::from_nanos(30_000_000_000),
            SimTime::from_nanos(40_000_000_000),
        )),
        settle: SimDuration::from_secs(10),
        promised: 1.0,
        one_wave: false,
        too_much_load: false,
    };

    /// A hundred seconds of a hundred requests each, of which `good` succeed.
    fn course(rule: &VerdictRule, good: impl Fn(u64) -> u64) -> Course {
        let mut timeline = Timeline::new(SimDuration::from_secs(1), at(100));
        for second in 0..100 {
            let cohort = timeline.cohort(second);
            cohort.succeeded = good(u64::from(second));
            cohort.failed = 100 - cohort.succeeded;
        }
        judge(&timeline, rule, SimDuration::from_millis(100))
    }

    #[test]
    fn success_that_never_leaves_is_stable() {
        let course = course(&RULE, |_| 100);
        assert_eq!((course.verdict, course.baseline), (Verdict::Stable, 1.0));
        assert_eq!((course.last, course.recovery_s), (Some(1.0), None));
    }

    #[test]
    fn recovery_counts_from_the_end_of_the_last_fault() {
        let course = course(&RULE, |s| if (32..47).contains(&s) { 10 } else { 100 });
        assert_eq!(course.verdict, Verdict::Recovered);
        assert_eq!(course.recovery_s, Some(7.0));
    }

    #[test]
    fn a_short_return_is_no_recovery() {
        let late = course(&RULE, |s| match s {
            30..44 | 50..60 => 10,
            _ => 100,
        });
        assert_eq!(
            late.recovery_s,
            Some(20.0),
            "back for six seconds does not count"
        );
        let early = course(&RULE, |s| match s {
            30..44 | 55..60 => 10,
            _ => 100,
        });
        assert_eq!(early.recovery_s, Some(4.0), "eleven seconds do");
    }

    #[test]
    fn below_half_at_the_end_is_a_collapse_and_between_is_degraded() {
        let from_fault = |then| move |s| if s < 30 { 100 } else { then };
        assert_eq!(course(&RULE, from_fault(49)).verdict, Verdict::Collapsed);
        assert_eq!(course(&RULE, from_fault(51)).verdict, Verdict::Degraded);
    }

    #[test]
    fn a_fault_to_the_end_is_judged_by_the_end() {
        let rule = VerdictRule {
            faults: Some((at(30), at(100))),
            ..RULE
        };
        let drop = |s| if s < 30 { 100 } else { 0 };
        assert_eq!(course(&rule, drop).verdict, Verdict::Collapsed);
        assert_eq!(course(&rule, |_| 100).verdict, Verdict::Stable);
    }

    #[test]
    fn scatter_of_small_counts_is_no_departure() {
        // 70 of 100 on average; 56 is within four standard deviations of counting, 45 is not.
        let rule = VerdictRule {
            promised: 0.7,
            ..RULE
        };
        let wobble = |low| move |s: u64| if s % 2 == 1 { 140 - low } else { low };
        assert_eq!(course(&rule, wobble(56)).verdict, Verdict::Stable);
        let one_bad = |s| if s == 70 { 45 } else { 70 };
        assert_eq!(course(&rule, one_bad).verdict, Verdict::Recovered);
    }

    #[test]
    fn a_wave_is_judged_by_what_was_promised() {
        let rule = VerdictRule {
            one_wave: true,
            ..RULE
        };
        for (good, verdict) in [
            (100, Verdict::Stable),
            (66, Verdict::Degraded),
            (40, Verdict::Collapsed),
        ] {
            assert_eq!(course(&rule, |_| good).verdict, verdict);
        }
    }

    #[test]
    fn what_never_works_is_overloaded() {
        assert_eq!(course(&RULE, |_| 30).verdict, Verdict::Overloaded);
        let rule = VerdictRule {
            too_much_load: true,
            ..RULE
        };
        assert_eq!(course(&rule, |_| 100).verdict, Verdict::Overloaded);
    }

    #[test]
    fn one_unlucky_request_before_a_fault_is_no_overload() {
        let rule = VerdictRule {
            promised: 0.7,
            ..RULE
        };
        let mut timeline = Timeline::new(SimDuration::from_secs(1), at(100));
        timeline.cohort(20).failed = 1;
        for second in 41..100 {
            let cohort = timeline.cohort(second);
            (cohort.succeeded, cohort.failed) = (7, 3);
        }
        let verdict = judge(&timeline, &rule, SimDuration::from_millis(100)).verdict;
        assert_ne!(verdict, Verdict::Overloaded);
    }

    #[test]
    fn without_faults_the_first_third_is_the_baseline() {
        let rule = VerdictRule {
            faults: None,
            ..RULE
        };
        assert_eq!(course(&rule, |_| 100).verdict, Verdict::Stable);
        assert_eq!(
            course(&rule, |s| if s < 50 { 100 } else { 0 }).verdict,
            Verdict::Collapsed
        );
        assert_eq!(
            course(&rule, |s| if s < 50 { 100 } else { 80 }).verdict,
            Verdict::Degraded
        );
    }

    #[test]
    fn requests_that_are_open_for_too_long_have_failed() {
        let mut timeline = Timeline::new(SimDuration::from_secs(1), at(100));
        for second in 0..100 {
            let cohort = timeline.cohort(second);
            match second {
                0..30 => cohort.succeeded = 100,
                _ => (cohort.succeeded, cohort.open) = (1, 99),
            }
        }
        assert_eq!(
            judge(&timeline, &RULE, SimDuration::from_millis(100)).verdict,
            Verdict::Collapsed
        );
        // Slow successes leave as much open, and that is no collapse.
        let slow = judge(&timeline, &RULE, SimDuration::from_secs(80));
        assert_ne!(slow.verdict, Verdict::Collapsed);
        // A few that are still open at the end are not missed.
        let mut timeline = Timeline::new(SimDuration::from_secs(1), at(100));
        for second in 0..100 {
            let cohort = timeline.cohort(second);
            cohort.succeeded = 100;
            cohort.open = u64::from(second > 98) * 40;
        }
        assert_eq!(
            judge(&timeline, &RULE, SimDuration::from_millis(100)).verdict,
            Verdict::Stable
        );
    }
}
