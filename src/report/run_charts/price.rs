//! What success costs: attempts for each request against the share that succeeds.

use super::super::chart::{Form, Point, Points};
use super::source::{Source, axis, axis_for};

/// Strategies that make as many attempts as this one, as a factor, cost the same.
const LEAST_SPREAD: f64 = 1.005;

/// A point a strategy; drawn when there are two strategies or more that differ in attempts or in success.
pub(super) fn price(source: &Source<'_>) -> Option<Points> {
    let points = source.strategies.iter().filter_map(|rows| {
        let row = rows.summary;
        let point = Point {
            x: row.amplification?,
            y: row.success_rate?,
            low: row.success_rate_low,
            high: row.success_rate_high,
        };
        Some((rows.name(), point))
    });
    let points: Vec<(String, Point)> = points.collect();
    let apart = |value: fn(&Point) -> f64, factor: f64| {
        let values = || points.iter().map(|(_, point)| value(point));
        let (low, high) = (values().reduce(f64::min), values().reduce(f64::max));
        low.zip(high).is_some_and(|(low, high)| high > low * factor)
    };
    let differ = apart(|point| point.x, LEAST_SPREAD) || apart(|point| point.y, LEAST_SPREAD);
    let mut note = format!(
        "Attempts ÷ requests, and requests that succeeded ÷ requests that ended, {}",
        source.mean_over()
    );
    note += if source.replications > 1 {
        "; bars are 95 % intervals of success."
    } else {
        "."
    };
    let values = points.iter().map(|(_, point)| point.x);
    let x = axis_for("attempts per request, ×", Form::Factor, values);
    let chart = Points {
        words: source.words("What does success cost in attempts?", &note),
        x,
        y: axis("requests that succeeded, %", Form::Share),
        points,
        corner: "good corner: few attempts, high success".into(),
    };
    (chart.points.len() > 1 && differ).then_some(chart)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn strategies_that_are_alike_or_alone_are_not_drawn() {
        let result = sample::herd();
        let chart = price(&Source::of(&result)).unwrap();
        assert_eq!(chart.points.len(), 5);
        assert!(chart.points[0].0.starts_with("1. "));
        assert_eq!(price(&Source::of(&sample::silent())), None);
        let mut alike = sample::herd();
        alike.strategies[1] = alike.strategies[0].clone();
        alike.strategies.truncate(2);
        assert_eq!(price(&Source::of(&alike)), None);
    }
}
