//! Which charts are drawn, and what every chart has, over made-up results and scenarios of the gallery.

use super::*;
use crate::experiment::{first_tries, run};
use crate::metrics::Timeline;
use crate::report::chart::probe::{apart, count_inside, texts};
use crate::report::sample;
use crate::scenario::{Plan, load};
use crate::time::SimTime;

fn names(result: &RunResult) -> Vec<&'static str> {
    run_charts(result, &[])
        .iter()
        .map(|chart| chart.name)
        .collect()
}

#[test]
fn only_what_a_run_has_is_drawn() {
    let mut result = sample::herd();
    let usual = names(&result);
    assert!(!usual.contains(&"limits") && !usual.contains(&"dead_letters"));
    assert_eq!(names(&sample::silent()), ["load", "success"]);
    result.strategies[1].total.has_budgets = true;
    assert_eq!(names(&result), [&usual[..], &["limits"]].concat());
    let only = limits::limits(&Source::of(&result)).unwrap();
    assert_eq!(only.panels.len(), 1);
    assert_eq!(only.panels[0].series.len(), 1, "the others have no budget");
    assert_eq!(only.shades[0].label, "outage");
    let end = SimTime::ZERO + result.horizon;
    let mut letters = Timeline::new(result.strategies[0].total.timeline.width(), end);
    letters.bin().dead_lettered += 1;
    letters.close(end);
    result.strategies[0].total.timeline.merge(&letters);
    assert_eq!(
        names(&result),
        [&usual[..], &["limits", "dead_letters"]].concat()
    );
}

#[test]
fn lines_over_many_bins_have_few_points() {
    let result = sample::herd_with_bins(5_000);
    let source = Source::of(&result);
    let success = success::success_over_time(&source).unwrap();
    for series in &success.panels[0].series {
        assert!((60..=120).contains(&series.points.len()));
    }
    // Means keep what single bins would lose.
    let lowest = |series: &chart::Series| {
        let values = series.points.iter().map(|point| point.y);
        values.fold(f64::INFINITY, f64::min)
    };
    let series = &success.panels[0].series;
    let none = series
        .iter()
        .find(|series| series.name.ends_with("no retries"));
    assert!(lowest(none.unwrap()) < 0.01);
}

/// What stands at the axes of each chart, with units.
const AXES: [(&str, &[&str]); 10] = [
    ("load", &["attempts per second", "time, s"]),
    (
        "success_over_time",
        &["requests that succeeded, by their start, %", "time, s"],
    ),
    (
        "success",
        &[
            "share of requests that succeeded, %",
            "attempts made at the most",
        ],
    ),
    (
        "latency",
        &[
            "latency of successes, ms or s",
            "share of successes that take no longer, %",
        ],
    ),
    ("waiting", &["how many wait", "time, s"]),
    ("tries", &["client, by number", "time, s"]),
    ("lost", &["requests lost, % of those that ended"]),
    (
        "price",
        &["attempts per request, ×", "requests that succeeded, %"],
    ),
    ("limits", &["share, %", "time, s"]),
    ("dead_letters", &["dead letters", "time, s"]),
];

/// Holds every chart to the rules, and returns the names of those that were drawn.
fn check_all(result: &RunResult, recorded: &[Tries]) -> Vec<&'static str> {
    let charts = run_charts(result, recorded);
    for chart in &charts {
        let found = texts(&chart.svg);
        let name = format!("{} of {}", chart.name, result.name);
        assert_eq!(
            found.iter().filter(|text| **text == chart.title).count(),
            1,
            "{name}"
        );
        assert!(chart.title.ends_with('?'), "{name}: a title is a question");
        let axes = AXES
            .iter()
            .find(|(known, _)| *known == chart.name)
            .unwrap()
            .1;
        for axis in axes {
            assert!(found.iter().any(|text| text == axis), "{name}: {axis}");
        }
        count_inside(&chart.svg);
        apart(&chart.svg);
        let faults = result.faults.len().min(1);
        let over_time = axes.contains(&"time, s");
        assert!(
            !over_time || chart.svg.matches("#EEE0E8").count() >= faults,
            "{name}"
        );
    }
    charts.iter().map(|chart| chart.name).collect()
}

/// A scenario of the gallery with few replications, and the attempts of its first clients.
fn of_gallery(name: &str) -> (RunResult, Vec<Tries>) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = root.join(format!("scenarios/{name}.toml"));
    let scenario = load(&file, &["run.replications=2".into()]).unwrap();
    let plan = Plan::assemble(&scenario).unwrap();
    let result = run(&scenario, &plan, 1, &|| {}).unwrap();
    let places = crate::report::places_by_rank(&result);
    let recorded = first_tries(&plan, 3, &places, 1).unwrap();
    (result, recorded)
}

#[test]
fn every_chart_has_a_question_units_and_words_that_stay_apart() {
    let many = [
        "a",
        "指数退避とジッターの組み合わせ",
        "<b>&",
        "d ".repeat(60).trim(),
        "e",
        "f",
        "g",
        "h",
        "i",
    ]
    .map(str::to_owned);
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for result in [sample::herd(), sample::herd_named(&many), sample::silent()] {
        check_all(&result, &[]);
    }
    let (result, recorded) = of_gallery("restart_herd");
    let names = check_all(&result, &recorded);
    let without: Vec<&str> = CHARTS
        .into_iter()
        .filter(|name| !names.contains(name))
        .collect();
    assert_eq!(without, ["limits", "dead_letters"]);
    let (result, recorded) = of_gallery("breaker_and_dead_letters");
    assert_eq!(check_all(&result, &recorded), CHARTS);
}

#[test]
fn recorded_attempts_are_those_of_the_run() {
    let (result, recorded) = of_gallery("breaker_and_dead_letters");
    assert_eq!(recorded.len(), result.strategies.len());
    for of in &recorded {
        let name = &result.strategies[of.strategy].summary.strategy;
        assert!(of.tries.iter().any(|attempt| !attempt.retry), "{name}");
        assert!(
            of.tries.iter().all(|attempt| attempt.client < 200),
            "{name}"
        );
    }
}
