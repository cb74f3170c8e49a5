//! Made-up results for tests: a restart herd, and a run without traffic.

use crate::experiment::{
    CapacityStep, CheckOutcome, CheckResult, Comparisons, FaultSpan, Loss, RunResult,
    StrategyResult, TheoryLine, comparisons,
};
use crate::metrics::{
    Estimate, FailureReason, Gauge, Headline, Measure, Tally, VerdictRule, metric,
    success_by_attempt, summarise,
};
use crate::scenario::{Comparison, MetricName, Relation};
use crate::time::{SimDuration, SimTime};

const REPLICATIONS: u32 = 4;
const ARRIVALS_PER_S: f64 = 800.0;

/// A strategy in a few strokes.
struct Stroke {
    name: &'static str,
    max_attempts: Option<u64>,
    /// Retries a second at a time in seconds.
    retries: fn(f64) -> f64,
    /// Share of requests that succeed at that time.
    good: fn(f64) -> f64,
    latency_ms: u64,
}

fn bump(t: f64, from: f64, height: f64, decay_s: f64) -> f64 {
    if t < from {
        0.0
    } else {
        height * (-(t - from) / decay_s).exp()
    }
}

const HERD: [Stroke; 5] = [
    Stroke {
        name: "fixed 100ms",
        max_attempts: None,
        retries: |t| {
            if t < 30.0 {
                16.0
            } else {
                2900.0 + 60.0 * (t / 3.0).sin()
            }
        },
        good: |t| if t < 30.0 { 1.0 } else { 0.31 },
        latency_ms: 950,
    },
    Stroke {
        name: "exponential, no jitter",
        max_attempts: Some(6),
        retries: |t| {
            16.0 + [31.0, 33.0, 37.0, 45.0, 61.0]
                .map(|at| bump(t, at, 2400.0, 1.5))
                .iter()
                .sum::<f64>()
        },
        good: |t| {
            if (30.0..62.0).contains(&t) {
                0.55
            } else {
                0.999
            }
        },
        latency_ms: 210,
    },
    Stroke {
        name: "exponential, full jitter",
        max_attempts: Some(6),
        retries: |t| {
            16.0 + if (30.0..40.0).contains(&t) {
                1100.0
            } else {
                bump(t, 40.0, 700.0, 6.0)
            }
        },
        good: |t| {
            if (30.0..38.0).contains(&t) {
                0.82
            } else {
                0.9999
            }
        },
        latency_ms: 95,
    },
    Stroke {
        name: "full jitter + 10% budget",
        max_attempts: Some(6),
        retries: |t| 16.0 + if (30.0..40.0).contains(&t) { 80.0 } else { 0.0 },
        good: |t| {
            if (30.0..40.0).contains(&t) {
                0.1
            } else {
                0.9999
            }
        },
        latency_ms: 60,
    },
    Stroke {
        name: "no retries",
        max_attempts: Some(1),
        retries: |_| 0.0,
        good: |t| if (30.0..40.0).contains(&t) { 0.0 } else { 0.98 },
        latency_ms: 50,
    },
];

/// Five strategies through an outage of ten seconds, 120 bins.
pub(crate) fn herd() -> RunResult {
    herd_with_bins(120)
}

/// The same two minutes in another number of bins.
pub(crate) fn herd_with_bins(bins: u64) -> RunResult {
    let horizon = SimDuration::from_secs(120);
    let mut result = RunResult {
        name: "restart-herd".into(),
        question: "Which backoff lets a service come back after a restart?".into(),
        resolved: "# resolved\nseed = 42\n".into(),
        seed: 42,
        replications: REPLICATIONS,
        precision: None,
        max_replications: 1_000,
        warmup: SimDuration::ZERO,
        duration: horizon,
        horizon,
        service: "checkout".into(),
        capacity: [(0, 1200.0), (30, 0.0), (40, 1200.0)]
            .map(|(s, per_s)| CapacityStep {
                from: SimTime::from_nanos(s * 1_000_000_000),
                per_s,
            })
            .into(),
        faults: vec![FaultSpan {
            from: SimTime::from_nanos(30_000_000_000),
            to: SimTime::from_nanos(40_000_000_000),
            label: "outage".into(),
        }],
        currency: None,
        comparison: NOTHING,
        strategies: HERD
            .iter()
            .map(|stroke| strategy(stroke, bins, horizon))
            .collect(),
        checks: Vec::new(),
        looks: None,
    };
    rank(&mut result);
    compare(&mut result);
    result
}

/// The herd with a check of each outcome.
pub(crate) fn checked() -> RunResult {
    let mut result = herd();
    let estimate = |mean: f64, half: f64| Estimate {
        mean,
        low: Some(mean - half),
        high: Some(mean + half),
        standard_error: Some(half / 2.0),
    };
    let plain = CheckResult {
        number: 1,
        words: "success_rate >= 85%".into(),
        metric: MetricName(metric("success_rate").unwrap()),
        relation: Relation::AtLeast,
        bound: 0.85,
        strategy: "exponential, no jitter".into(),
        outcome: CheckOutcome::Holds,
        estimate: Some(estimate(0.8733, 0.0074)),
        misses_by: Some(-0.0233),
        confidence: 0.95,
        interval_confidence: 0.95,
        replications: REPLICATIONS,
        replications_to_decide: None,
        note: String::new(),
    };
    let fails = CheckResult {
        number: 2,
        words: "success_rate >= 99%".into(),
        bound: 0.99,
        outcome: CheckOutcome::DoesNotHold,
        misses_by: Some(0.1167),
        ..plain.clone()
    };
    let open = CheckResult {
        number: 3,
        words: "latency_p99_ms < 1s".into(),
        metric: MetricName(metric("latency_p99_ms").unwrap()),
        relation: Relation::Below,
        bound: 1_000.0,
        outcome: CheckOutcome::Undecided,
        estimate: Some(estimate(1_030.0, 55.0)),
        misses_by: Some(30.0),
        replications_to_decide: Some(15),
        ..plain.clone()
    };
    let left_out = CheckResult {
        number: 4,
        strategy: "no retries".into(),
        outcome: CheckOutcome::NotChecked,
        estimate: None,
        misses_by: None,
        replications: 0,
        note: "the strategy was not run".into(),
        ..plain.clone()
    };
    result.checks = vec![plain, fails, open, left_out];
    result
}

/// One strategy, nothing arrives, nothing limits and nothing fails.
pub(crate) fn silent() -> RunResult {
    let mut result = herd();
    let tally = Tally::new(SimDuration::from_secs(60), SimTime::ZERO + result.horizon);
    result.name = "silence".into();
    result.question = String::new();
    result.replications = 1;
    result.capacity.clear();
    result.faults.clear();
    result.strategies.truncate(1);
    let only = &mut result.strategies[0];
    only.summary = summarise(
        "nobody",
        &tally,
        &[headline(&tally, result.horizon)],
        result.horizon,
    );
    only.summary.rank = 1;
    only.success = None;
    only.success_by_attempt.clear();
    only.each = vec![headline(&tally, result.horizon)];
    only.total = tally;
    only.theory = TheoryLine::Nothing;
    compare(&mut result);
    result
}

/// The herd with `names.len()` strategies of these names, made from the five in turn.
pub(crate) fn herd_named(names: &[&str]) -> RunResult {
    let mut result = herd();
    let five = result.strategies.clone();
    result.strategies = names
        .iter()
        .enumerate()
        .map(|(i, name)| {
            let mut strategy = five[i % five.len()].clone();
            strategy.summary.strategy = (*name).into();
            strategy.summary.rank = i as u32 + 1;
            strategy
        })
        .collect();
    compare(&mut result);
    result
}

/// Before anything is compared.
const NOTHING: Comparisons = Comparisons {
    baseline: None,
    success: 1e-3,
    relative: 0.01,
    rows: Vec::new(),
    ranking: Vec::new(),
};

fn compare(result: &mut RunResult) {
    let thresholds = Comparison {
        baseline: None,
        success: NOTHING.success,
        relative: NOTHING.relative,
    };
    result.comparison = comparisons(&result.strategies, None, &thresholds);
}

/// A replication whose success is judged by what follows the outage.
fn headline(tally: &Tally, span: SimDuration) -> Headline {
    let at = |s: u64| SimTime::ZERO + SimDuration::from_secs(s);
    let rule = VerdictRule {
        measured_from: SimTime::ZERO,
        arrivals_end: SimTime::ZERO + span,
        faults: Some((at(30), at(40))),
        settle: SimDuration::from_secs(10),
        promised: 0.98,
        one_wave: false,
        too_much_load: false,
    };
    let measure = Measure {
        strategy: "sample".into(),
        rule,
        span,
        prices: None,
    };
    measure.headline(0, tally)
}

fn rank(result: &mut RunResult) {
    let mut order: Vec<usize> = (0..result.strategies.len()).collect();
    let rate = |i: &usize| result.strategies[*i].summary.success_rate;
    order.sort_by(|a, b| rate(b).partial_cmp(&rate(a)).unwrap());
    for (place, i) in order.into_iter().enumerate() {
        result.strategies[i].summary.rank = place as u32 + 1;
    }
}

fn strategy(stroke: &Stroke, bins: u64, horizon: SimDuration) -> StrategyResult {
    let each: Vec<Tally> = (0..REPLICATIONS)
        .map(|r| tally(stroke, bins, horizon, r))
        .collect();
    let mut total = each[0].clone();
    each[1..].iter().for_each(|tally| total.merge(tally));
    let rates: Vec<f64> = each.iter().filter_map(Tally::success_rate).collect();
    let ended = (total.succeeded + total.failed_total()) as f64;
    let losses = [FailureReason::QueueFull, FailureReason::Timeout]
        .map(|reason| Loss {
            reason,
            share: total.failed[reason as usize] as f64 / ended,
        })
        .into();
    let headlines: Vec<Headline> = each.iter().map(|tally| headline(tally, horizon)).collect();
    StrategyResult {
        summary: summarise(stroke.name, &total, &headlines, horizon),
        success: Estimate::from_replications(&rates).map(Estimate::clamped_to_share),
        max_attempts: stroke.max_attempts,
        success_by_attempt: success_by_attempt(&headlines),
        theory: TheoryLine::Dependent {
            why: "the outage and the queue fail many attempts together".into(),
            p: 0.02,
            promised: stroke
                .max_attempts
                .map_or(1.0, |k| 1.0 - 0.02f64.powi(k as i32)),
            came: total.success_rate().unwrap(),
            losses,
        },
        theory_rows: Vec::new(),
        border: Err("it is made up".into()),
        total,
        each: headlines,
    }
}

fn tally(stroke: &Stroke, bins: u64, horizon: SimDuration, replication: u32) -> Tally {
    let width = horizon.as_nanos() / bins;
    let seconds = width as f64 / 1e9;
    let mut tally = Tally::new(SimDuration::from_nanos(width), SimTime::ZERO + horizon);
    for i in 0..bins {
        let t = i as f64 * seconds;
        let noise = 1.0 + 0.02 * (f64::from(replication) * 1.7 + t * 2.3).sin();
        let start = SimTime::from_nanos(i * width);
        tally.timeline.advance(start);
        let first = (ARRIVALS_PER_S * noise * seconds).ceil() as u64;
        let retries = ((stroke.retries)(t) * noise * seconds).round() as u64;
        let succeeded = (first as f64 * (stroke.good)(t) * (1.0 - 0.004 * f64::from(replication)))
            .floor() as u64;
        let bin = tally.timeline.bin();
        bin.first_tries = first;
        bin.retries = retries;
        bin.succeeded = succeeded;
        bin.failed = first - succeeded;
        let cohort = tally.timeline.cohort(i as u32);
        (cohort.succeeded, cohort.failed) = (succeeded, first - succeeded);
        tally
            .timeline
            .change(Gauge::Queue, if i % 2 == 0 { 5 } else { -5 });
        tally.requests += first;
        tally.attempts += first + retries;
        tally.succeeded += succeeded;
        tally.failed[FailureReason::QueueFull as usize] += (first - succeeded) / 3;
        tally.failed[FailureReason::Timeout as usize] +=
            (first - succeeded) - (first - succeeded) / 3;
    }
    tally.timeline.close(SimTime::ZERO + horizon);
    let most = stroke.max_attempts.unwrap_or(40) as usize;
    let mut left = tally.succeeded;
    for j in 0..most {
        let share = if j == 0 { 0.9 } else { 0.6 };
        let now = if j + 1 == most {
            left
        } else {
            (left as f64 * share) as u64
        };
        tally.succeeded_with.push(now);
        left -= now;
    }
    tally.failed_with = vec![0; most];
    tally.failed_with.push(tally.failed_total());
    for i in 1..=500 {
        tally.latency.record(SimDuration::from_millis(
            stroke.latency_ms * i * i / 50_000 + 4,
        ));
    }
    tally
}
