//! The figures that can be checked, compared and swept, each by the name of its column in `summary.csv`.
//!
//! A check, a comparison and a chart must mean the same by a name, and all need the figure of each replication: that
//! is where intervals come from. So each figure is defined once, here.

use super::{
    Estimate, Headline, ReplicationRow, SummaryRow, Verdict, students_t, success_at, wilson,
};

/// What a figure is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A part of a whole, 0 to 1.
    Share,
    /// Times something.
    Factor,
    /// Something a second.
    PerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
    /// A number of things, added up over replications.
    Count,
    /// The currency of the scenario's prices.
    Money,
}

/// Which direction is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither by itself.
    Neither,
}

/// A figure of a strategy.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Its column in `summary.csv`.
    pub name: &'static str,
    /// What it is counted in.
    pub unit: Unit,
    /// Which direction is good.
    pub better: Better,
    kind: Kind,
}

/// How a figure follows from the replications.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// The mean over the replications that have it.
    Mean(fn(&ReplicationRow) -> Option<f64>),
    /// The same of a share, with Wilson's interval when all requests ended alike.
    Success,
    /// The sum over replications.
    Sum(fn(&ReplicationRow) -> u64),
    /// The number of replications with a verdict.
    Verdicts(Verdict),
    /// The share of replications that collapsed.
    Collapsed,
    /// How far success is behind that of the best.
    BehindBest,
    /// Known without any run.
    Exact(fn(&SummaryRow) -> Option<f64>),
}

const fn metric_of(name: &'static str, unit: Unit, better: Better, kind: Kind) -> Metric {
    Metric {
        name,
        unit,
        better,
        kind,
    }
}

const fn mean(
    name: &'static str,
    unit: Unit,
    better: Better,
    of: fn(&ReplicationRow) -> Option<f64>,
) -> Metric {
    metric_of(name, unit, better, Kind::Mean(of))
}

const fn sum(name: &'static str, better: Better, of: fn(&ReplicationRow) -> u64) -> Metric {
    metric_of(name, Unit::Count, better, Kind::Sum(of))
}

const fn verdicts(name: &'static str, better: Better, verdict: Verdict) -> Metric {
    metric_of(name, Unit::Count, better, Kind::Verdicts(verdict))
}

use Better::{Higher, Lower, Neither};
use Unit::{Factor, Milliseconds, Money, PerSecond, Seconds, Share};

/// All of them, in the order of the columns.
pub const METRICS: &[Metric] = &[
    sum("requests", Neither, |row| row.requests),
    sum("succeeded", Higher, |row| row.succeeded),
    sum("failed", Lower, |row| row.failed),
    sum("dead_lettered", Lower, |row| row.dead_lettered),
    sum("redriven", Neither, |row| row.redriven),
    sum("unfinished", Lower, |row| row.unfinished),
    metric_of("success_rate", Share, Higher, Kind::Success),
    sum("attempts", Lower, |row| row.attempts),
    mean("amplification", Factor, Lower, |row| row.amplification),
    mean("offered_mean_per_s", PerSecond, Lower, |row| {
        Some(row.offered_mean_per_s)
    }),
    mean("offered_peak_per_s", PerSecond, Lower, |row| {
        Some(row.offered_peak_per_s)
    }),
    mean("goodput_per_s", PerSecond, Higher, |row| {
        Some(row.goodput_per_s)
    }),
    mean("wasted_work_share", Share, Lower, |row| {
        row.wasted_work_share
    }),
    mean("wasted_served_share", Share, Lower, |row| {
        row.wasted_served_share
    }),
    mean("latency_mean_ms", Milliseconds, Lower, |row| {
        row.latency_mean_ms
    }),
    mean("latency_p50_ms", Milliseconds, Lower, |row| {
        row.latency_p50_ms
    }),
    mean("latency_p95_ms", Milliseconds, Lower, |row| {
        row.latency_p95_ms
    }),
    mean("latency_p99_ms", Milliseconds, Lower, |row| {
        row.latency_p99_ms
    }),
    mean("latency_p999_ms", Milliseconds, Lower, |row| {
        row.latency_p999_ms
    }),
    verdicts("stable_replications", Higher, Verdict::Stable),
    verdicts("recovered_replications", Neither, Verdict::Recovered),
    verdicts("degraded_replications", Lower, Verdict::Degraded),
    verdicts("collapsed_replications", Lower, Verdict::Collapsed),
    verdicts("overloaded_replications", Lower, Verdict::Overloaded),
    metric_of("collapsed_share", Share, Lower, Kind::Collapsed),
    mean("recovery_s", Seconds, Lower, |row| row.recovery_s),
    metric_of(
        "hidden_capacity_per_s",
        PerSecond,
        Higher,
        Kind::Exact(|row| row.hidden_capacity_per_s),
    ),
    metric_of("success_behind_best", Share, Lower, Kind::BehindBest),
    mean("cost_per_1000_requests", Money, Lower, |row| {
        row.cost_per_1000_requests
    }),
    sum("failed_error", Lower, |row| row.failed_error),
    sum("failed_permanent_error", Lower, |row| {
        row.failed_permanent_error
    }),
    sum("failed_refused", Lower, |row| row.failed_refused),
    sum("failed_queue_full", Lower, |row| row.failed_queue_full),
    sum("failed_timeout", Lower, |row| row.failed_timeout),
    sum("failed_deadline", Lower, |row| row.failed_deadline),
    sum("failed_not_started", Lower, |row| row.failed_not_started),
    sum("failed_shed", Lower, |row| row.failed_shed),
    sum("failed_budget", Lower, |row| row.failed_budget),
    sum("failed_breaker_open", Lower, |row| row.failed_breaker_open),
    sum("failed_throttled", Lower, |row| row.failed_throttled),
    sum("failed_rate_limited", Lower, |row| row.failed_rate_limited),
    sum("failed_expired", Lower, |row| row.failed_expired),
    sum("failed_caller_left", Lower, |row| row.failed_caller_left),
    sum("attempts_error", Lower, |row| row.attempts_error),
    sum("attempts_refused", Lower, |row| row.attempts_refused),
    sum("attempts_queue_full", Lower, |row| row.attempts_queue_full),
    sum("attempts_timeout", Lower, |row| row.attempts_timeout),
    sum("attempts_shed", Lower, |row| row.attempts_shed),
    sum("attempts_held_back", Neither, |row| row.attempts_held_back),
    sum("attempts_dropped", Lower, |row| row.attempts_dropped),
];

/// The figure of this name.
pub fn metric(name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|metric| metric.name == name)
}

impl Metric {
    /// Its value in one replication, where that has one; a verdict is 0 or 1.
    pub fn of(&self, row: &ReplicationRow) -> Option<f64> {
        let whether = |verdict| Some(f64::from(u8::from(row.verdict == verdict)));
        match self.kind {
            Kind::Mean(of) => of(row),
            Kind::Success => row.success_rate,
            Kind::Sum(of) => Some(of(row) as f64),
            Kind::Verdicts(verdict) => whether(verdict),
            Kind::Collapsed => whether(Verdict::Collapsed),
            Kind::BehindBest | Kind::Exact(_) => None,
        }
    }

    /// Its mean over the replications that have it.
    pub fn mean<'a>(&self, rows: impl Iterator<Item = &'a ReplicationRow>) -> Option<f64> {
        let values: Vec<f64> = rows.filter_map(|row| self.of(row)).collect();
        Estimate::from_replications(&values).map(|estimate| estimate.mean)
    }

    /// The figure of a strategy with its interval at `confidence`, strictly between 0 and 1. `None` when there is
    /// nothing it could be computed from. Percentiles are means over replications of each one's percentile, so that
    /// figure and interval are of the same thing.
    pub fn estimate(
        &self,
        summary: &SummaryRow,
        each: &[Headline],
        confidence: f64,
    ) -> Option<Estimate> {
        let n = each.len() as f64;
        let mean = || {
            let values: Vec<f64> = each.iter().filter_map(|run| self.of(&run.row)).collect();
            Estimate::with_confidence(&values, confidence)
        };
        match self.kind {
            Kind::Mean(_) if self.unit == Share => mean().map(Estimate::clamped_to_share),
            Kind::Mean(_) => mean().map(Estimate::not_below_zero),
            Kind::Success => success_at(each, confidence),
            Kind::Sum(_) => mean().map(|mean| mean.times(n).not_below_zero()),
            Kind::Verdicts(verdict) => Some(share_of(each, verdict, confidence).times(n)),
            Kind::Collapsed => Some(share_of(each, Verdict::Collapsed, confidence)),
            Kind::Exact(of) => of(summary).map(Estimate::exact),
            Kind::BehindBest => behind_best(summary, n, confidence),
        }
    }

    /// Whether its interval comes from a share of replications, so that it keeps a width whatever happens.
    pub fn is_share_of_replications(&self) -> bool {
        matches!(self.kind, Kind::Verdicts(_) | Kind::Collapsed)
    }
}

/// The share of replications with a verdict, with Wilson's interval.
fn share_of(each: &[Headline], verdict: Verdict, confidence: f64) -> Estimate {
    let with = each.iter().filter(|run| run.row.verdict == verdict).count() as u64;
    let (low, high) = wilson(with, each.len() as u64, confidence);
    let share = with as f64 / (each.len() as f64).max(1.0);
    Estimate {
        mean: share,
        low: Some(low),
        high: Some(high),
        standard_error: None,
    }
}

/// The paired difference that the summary holds, with its interval widened or narrowed to another confidence.
fn behind_best(summary: &SummaryRow, n: f64, confidence: f64) -> Option<Estimate> {
    let mean = summary.success_behind_best?;
    let Some(high) = summary.success_behind_best_high else {
        return Some(Estimate {
            mean,
            ..Estimate::default()
        });
    };
    let standard_error = (high - mean) / students_t(n - 1.0, super::CONFIDENCE);
    let half = standard_error * students_t(n - 1.0, confidence);
    Some(Estimate {
        mean,
        low: Some(mean - half),
        high: Some(mean + half),
        standard_error: Some(standard_error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Columns of `summary.csv` that are no figure of this kind: names, places, and a maximum, which has no interval.
    const OTHERS: [&str; 6] = [
        "strategy",
        "rank",
        "replications",
        "latency_max_ms",
        "verdict",
        "ties_with_best",
    ];

    #[test]
    fn every_figure_of_the_summary_has_its_name_here() {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.serialize(SummaryRow::default()).unwrap();
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let columns = text.lines().next().unwrap().split(',');
        let figures: Vec<&str> = columns
            .filter(|name| !name.ends_with("_low") && !name.ends_with("_high"))
            .filter(|name| !OTHERS.contains(name))
            .collect();
        let names: Vec<&str> = METRICS.iter().map(|metric| metric.name).collect();
        assert_eq!(names, figures);
    }

    #[test]
    fn a_unit_is_in_the_name() {
        for metric in METRICS {
            let name = metric.name;
            let unit = match metric.unit {
                Milliseconds => name.ends_with("_ms"),
                Seconds => name.ends_with("_s") && !name.ends_with("_per_s"),
                PerSecond => name.ends_with("_per_s"),
                Share => ["_share", "_rate", "_best"]
                    .iter()
                    .any(|end| name.ends_with(end)),
                Factor | Unit::Count | Money => !name.ends_with("_s"),
            };
            assert!(unit, "{name}");
        }
    }
}
