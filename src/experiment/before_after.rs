//! Two runs held against each other, strategy by strategy: what has a change of the scenario done?
//!
//! When both runs have the same world, replication i of one met what replication i of the other met, and differences
//! are paired. Otherwise luck does not cancel, and the intervals have to be wider: that must be seen and not guessed.

use super::compare::{Finding, figures, finding, paired, threshold, unpaired};
use crate::metrics::{Estimate, Metric, ReplicationRow};
use crate::scenario::{self, Comparison, Scenario};

/// The results of a run as they were written.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// The resolved scenario.
    pub scenario: Scenario,
    /// Each strategy with its replications in order.
    pub strategies: Vec<(String, Vec<ReplicationRow>)>,
}

/// What changed from one run to another.
#[derive(Clone, Debug)]
pub struct BeforeAfter {
    /// The keys in which the worlds differ; without any, differences are paired.
    pub worlds: Vec<scenario::Difference>,
    /// Settings of strategies and prices that differ.
    pub settings: Vec<scenario::Difference>,
    /// Strategies that only the first run has.
    pub only_a: Vec<String>,
    /// Strategies that only the second run has.
    pub only_b: Vec<String>,
    /// The strategies that both have.
    pub strategies: Vec<Change>,
    /// The differences that matter, from the second run.
    pub thresholds: Comparison,
}

/// A strategy before and after.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its name in the first run.
    pub a: String,
    /// Its name in the second run.
    pub b: String,
    /// Replications that were used of each run.
    pub replications: (usize, usize),
    /// Every figure that is compared.
    pub figures: Vec<ChangedFigure>,
}

/// A figure before and after.
#[derive(Clone, Copy, Debug)]
pub struct ChangedFigure {
    /// Which one.
    pub metric: &'static Metric,
    /// Its mean in the first run.
    pub a: Option<f64>,
    /// Its mean in the second run.
    pub b: Option<f64>,
    /// Second − first.
    pub difference: Option<Estimate>,
    /// A smaller difference does not matter.
    pub threshold: Option<f64>,
    /// What the difference is worth.
    pub verdict: Option<Finding>,
}

/// Keys that make no world: what is compared, and how often and how it is judged.
const NO_WORLD: [&str; 9] = [
    "strategy",
    "compare",
    "cost",
    "check",
    "sweep",
    "run.replications",
    "run.precision",
    "run.max_replications",
    "run.max_requests",
];

impl BeforeAfter {
    /// Whether differences are taken replication by replication.
    pub fn is_paired(&self) -> bool {
        self.worlds.is_empty()
    }
}

/// Holds run `b` against run `a`.
pub fn before_after(a: &Recorded, b: &Recorded) -> BeforeAfter {
    let matched = matched(a, b);
    let all = scenario::differences(&renamed(a, b, &matched), &b.scenario.resolved());
    let worlds: Vec<_> = all
        .iter()
        .filter(|d| !NO_WORLD.iter().any(|key| d.is_below(key)))
        .cloned()
        .collect();
    let settings = all.into_iter();
    let settings = settings.filter(|d| d.is_below("strategy") || d.is_below("cost"));
    let thresholds = Comparison::of(&b.scenario.spec);
    let strategies = matched.iter().map(|&(i, j)| {
        let (a, b) = (&a.strategies[i], &b.strategies[j]);
        change(a, b, worlds.is_empty(), &thresholds)
    });
    let strategies = strategies.collect();
    let only = |run: &Recorded, used: &dyn Fn(usize) -> bool| {
        let names = run.strategies.iter().enumerate();
        let names = names.filter(|(i, _)| !used(*i));
        names.map(|(_, (name, _))| name.clone()).collect()
    };
    BeforeAfter {
        only_a: only(a, &|i| matched.iter().any(|pair| pair.0 == i)),
        only_b: only(b, &|j| matched.iter().any(|pair| pair.1 == j)),
        settings: settings.collect(),
        worlds,
        strategies,
        thresholds,
    }
}

/// Positions of strategies of the same name. Where each run has a single one they belong together by any name.
fn matched(a: &Recorded, b: &Recorded) -> Vec<(usize, usize)> {
    if a.strategies.len() == 1 && b.strategies.len() == 1 {
        return vec![(0, 0)];
    }
    let other = |name: &str| b.strategies.iter().position(|(other, _)| other == name);
    let names = a.strategies.iter().enumerate();
    names
        .filter_map(|(i, (name, _))| Some((i, other(name)?)))
        .collect()
}

/// The first scenario with the names that the second one gives to the same strategies.
fn renamed(a: &Recorded, b: &Recorded, matched: &[(usize, usize)]) -> String {
    let mut scenario = a.scenario.clone();
    for strategy in &mut scenario.spec.strategy {
        let here = |&&(i, _): &&(usize, usize)| a.strategies[i].0 == strategy.name;
        if let Some(&(_, j)) = matched.iter().find(here) {
            strategy.name = b.strategies[j].0.clone();
        }
    }
    scenario.resolved()
}

type Side = (String, Vec<ReplicationRow>);

fn change(a: &Side, b: &Side, same_world: bool, thresholds: &Comparison) -> Change {
    let (mut rows_a, mut rows_b): (Vec<_>, Vec<_>) = (a.1.iter().collect(), b.1.iter().collect());
    if same_world {
        let common = rows_a.len().min(rows_b.len());
        rows_a.truncate(common);
        rows_b.truncate(common);
    }
    let priced = [&rows_a, &rows_b].iter().all(|rows| {
        let cost = |row: &&ReplicationRow| row.cost_per_1000_requests.is_some();
        rows.iter().any(cost)
    });
    let figure = |metric: &'static Metric| {
        let before = metric.mean(rows_a.iter().copied());
        let threshold = before.map(|before| threshold(metric, thresholds, before));
        let difference = if same_world {
            paired(metric, &rows_b, &rows_a).map(|difference| difference.paired)
        } else {
            unpaired(metric, &rows_b, &rows_a)
        };
        let worth = |difference| Some(finding(&difference, threshold?, metric.better));
        ChangedFigure {
            metric,
            a: before,
            b: metric.mean(rows_b.iter().copied()),
            difference,
            threshold,
            verdict: difference.and_then(worth),
        }
    };
    Change {
        a: a.0.clone(),
        b: b.0.clone(),
        replications: (rows_a.len(), rows_b.len()),
        figures: figures(priced).map(figure).collect(),
    }
}
