//! Random settings and courses of events.

use super::*;
use crate::units::Ratio;
use proptest::prelude::*;

/// Settings in nanoseconds and per cent.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) rule: Rule,
    pub(super) open_for: u64,
    pub(super) factor: u64,
    pub(super) longest: u64,
    pub(super) probes: Option<ProbePlan>,
    pub(super) ramp: Option<u64>,
}

#[derive(Clone, Debug)]
pub(super) enum Rule {
    Row(u32),
    Share {
        /// The last so many, or those of a past so long.
        calls: Option<u32>,
        length: u64,
        percent: u64,
        min: u32,
        slow: Option<(u64, u64)>,
    },
}

#[derive(Clone, Debug)]
pub(super) struct ProbePlan {
    pub(super) limit: Option<u32>,
    pub(super) successes: u32,
    pub(super) timeout: Option<u64>,
    pub(super) share: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Wait(u64),
    /// With luck in eighths.
    Admit(u32),
    /// The how manieth of those on their way, took, failed.
    End(usize, u64, bool),
}

pub(super) fn plans() -> impl Strategy<Value = Plan> {
    let slow = prop::option::of((0..4_u64, 1..=100_u64));
    let share = (
        prop::option::of(1..70_u32),
        1..40_u64,
        1..=100_u64,
        1..6_u32,
        slow,
    )
        .prop_map(|(calls, length, percent, min, slow)| Rule::Share {
            calls,
            length,
            percent,
            min,
            slow,
        });
    let rules = prop_oneof![(1..5_u32).prop_map(Rule::Row), share];
    let timeouts = prop::option::of(1..15_u64);
    let probes = (
        prop::option::weighted(0.8, 1..4_u32),
        1..4_u32,
        timeouts,
        any::<bool>(),
    )
        .prop_map(|(limit, successes, timeout, share)| ProbePlan {
            limit,
            successes,
            timeout,
            share: share && limit.is_some(),
        });
    let openings = (1..20_u64, 1..4_u64, 0..40_u64);
    (
        rules,
        openings,
        prop::option::weighted(0.8, probes),
        prop::option::weighted(0.3, 1..20_u64),
    )
        .prop_map(|(rule, (open_for, factor, more), probes, ramp)| Plan {
            rule,
            open_for,
            factor,
            longest: open_for + more,
            probes,
            ramp,
        })
}

pub(super) fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => (0..12_u64).prop_map(Step::Wait),
        3 => (0..8_u32).prop_map(Step::Admit),
        3 => (any::<usize>(), 0..5_u64, any::<bool>())
            .prop_map(|(place, took, failed)| Step::End(place, took, failed)),
    ];
    prop::collection::vec(step, 1..300)
}

fn percent(percent: u64) -> Ratio {
    Ratio::new(percent as f64 / 100.0).expect("a share")
}

pub(super) fn planned(plan: &Plan) -> CircuitBreaker {
    let nanos = SimDuration::from_nanos;
    let half_open = plan.probes.as_ref().map_or(HalfOpen::Everybody, |probes| {
        HalfOpen::Probes(Probes {
            limit: probes
                .limit
                .map_or(ProbeLimit::Unlimited, ProbeLimit::AtMost),
            successes: probes.successes,
            timeout: probes.timeout.map(nanos),
            judge: if probes.share {
                Judge::Share
            } else {
                Judge::Each
            },
        })
    });
    let common = BreakerCommon {
        open_factor: plan.factor as f64,
        open_longest: Some(nanos(plan.longest)),
        half_open,
        ramp: plan.ramp.map(nanos),
        ..BreakerCommon::new(nanos(plan.open_for))
    };
    match plan.rule {
        Rule::Row(failures) => CircuitBreaker::Consecutive(Consecutive { failures, common }),
        Rule::Share {
            calls,
            length,
            percent: limit,
            min,
            slow,
        } => CircuitBreaker::FailureRate(FailureRate {
            window: calls.map_or(
                RateWindow::Time(TimeWindow {
                    length: nanos(length),
                }),
                |calls| RateWindow::Count(CountWindow { calls }),
            ),
            rate: percent(limit),
            min_calls: Some(min),
            slow: slow.map(|(after, limit)| Slow {
                after: nanos(after),
                rate: percent(limit),
            }),
            common,
        }),
    }
}
