//! What must be on the axes of a chart, and what may not stretch them.
//!
//! Everything measured is on the axes. A theory or a capacity is there to be compared with; one that is a hundred
//! times as high would press all measurements onto the base line, so it ends at the edge of the plot.

use super::cast::Cast;
use super::data::{Point, Scale};
use super::span::{Side, usable};

/// On a logarithmic axis nothing reaches further than this beyond what was measured.
const FURTHEST: f64 = 30.0;

/// The values that an axis shows.
pub(super) fn values(cast: &Cast<'_>, scale: &Scale, side: Side) -> Vec<f64> {
    let log = *scale == Scale::Log;
    let part = |(x, y): (f64, f64)| if side == Side::Across { x } else { y };
    let points = cast.series().flat_map(|(series, _)| &series.points);
    let points: Vec<&Point> = points.filter(|p| usable(p.x) && usable(p.y)).collect();
    let mut found: Vec<f64> = points.iter().map(|p| part((p.x, p.y))).collect();
    let limits = limits(&found, log);
    let near = |&value: &f64| limits.is_none_or(|(low, high)| (low..=high).contains(&value));
    let possible = |value: &f64| usable(*value) && (!log || *value > 0.0);
    if side == Side::Upwards {
        let ends = points.iter().flat_map(|p| [p.low, p.high]).flatten();
        found.extend(ends.filter(possible).filter(|end| !log || near(end)));
        let references = cast.panels.iter().flat_map(|shown| &shown.panel.references);
        let references = references
            .flat_map(|reference| &reference.points)
            .map(|&p| part(p));
        found.extend(references.filter(possible).filter(near));
    }
    let predicted = cast
        .series()
        .flat_map(|(series, _)| &series.predicted)
        .map(|&p| part(p));
    found.extend(predicted.filter(possible).filter(near));
    found
}

/// How far an axis may reach beyond what was measured.
fn limits(values: &[f64], log: bool) -> Option<(f64, f64)> {
    let values = || values.iter().copied().filter(|&value| !log || value > 0.0);
    let low = values().reduce(f64::min)?;
    let high = values().reduce(f64::max)?;
    if log {
        return Some((low / FURTHEST, high * FURTHEST));
    }
    let aside = (high - low).max(high.abs().max(low.abs()) * 0.5);
    Some((low - aside, high + aside))
}

#[cfg(test)]
mod tests {
    use super::super::data::{Panel, Reference, Series};
    use super::*;

    fn panel(capacity: f64) -> Panel {
        let point = |x: f64, y: f64| Point {
            x,
            y,
            low: Some(y - 1.0),
            high: Some(y * 3.0),
        };
        Panel {
            series: vec![Series {
                points: vec![point(1.0, 0.0), point(2.0, 100.0), point(3.0, f64::NAN)],
                predicted: vec![(0.0, 120.0), (9.0, f64::INFINITY)],
                ..Series::default()
            }],
            references: vec![Reference {
                points: vec![(0.0, capacity), (50.0, capacity)],
                ..Reference::default()
            }],
            ..Panel::default()
        }
    }

    #[test]
    fn what_was_measured_is_on_the_axis_and_a_distant_capacity_is_not() {
        let panels = [panel(150.0)];
        let y = values(&Cast::new(&panels), &Scale::Linear, Side::Upwards);
        assert_eq!(y, [0.0, 100.0, -1.0, 0.0, 99.0, 300.0, 150.0, 150.0, 120.0]);
        let panels = [panel(1e6)];
        let y = values(&Cast::new(&panels), &Scale::Linear, Side::Upwards);
        assert!(!y.contains(&1e6));
    }

    #[test]
    fn only_what_was_measured_makes_a_band_of_zero() {
        let panels = [panel(-5.0)];
        let y = values(&Cast::new(&panels), &Scale::Log, Side::Upwards);
        assert_eq!(y, [0.0, 100.0, 99.0, 300.0, 120.0]);
        let x = values(&Cast::new(&panels), &Scale::Linear, Side::Across);
        assert_eq!(x, [1.0, 2.0, 0.0]);
    }
}
