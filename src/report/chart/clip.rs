//! Lines that leave a plot end at its edge, and not in the margin or bent along the edge.
//!
//! The way of Y.-D. Liang and B. A. Barsky, "A New Concept and Method for Line Clipping" (1984): a piece of a line
//! is a + t (b − a), and each edge limits t from one side.

use super::canvas::Place;

/// The parts inside the unit square of the line through `points`. A point that is missing interrupts it.
pub(super) fn clip(points: &[Option<Place>]) -> Vec<Vec<Place>> {
    let mut runs: Vec<Vec<Place>> = Vec::new();
    for pair in points.windows(2) {
        let (Some(from), Some(to)) = (pair[0], pair[1]) else {
            continue;
        };
        let Some((start, end)) = inside(from, to) else {
            continue;
        };
        match runs.last_mut() {
            Some(run) if run.last() == Some(&start) => run.push(end),
            _ => runs.push(vec![start, end]),
        }
    }
    runs
}

/// What of the piece between two points is inside.
fn inside(from: Place, to: Place) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (mut first, mut last) = (0.0f64, 1.0f64);
    for (step, room) in [
        (-dx, from.0),
        (dx, 1.0 - from.0),
        (-dy, from.1),
        (dy, 1.0 - from.1),
    ] {
        let limit = room / step;
        if step < 0.0 {
            first = first.max(limit);
        } else if step > 0.0 {
            last = last.min(limit);
        } else if room < 0.0 {
            return None;
        }
    }
    let at = |t: f64| match t {
        0.0 => from,
        1.0 => to,
        t => (from.0 + t * dx, from.1 + t * dy),
    };
    (first <= last).then(|| (at(first), at(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_where_it_meets_the_edge() {
        let clipped = clip(&[Some((0.0, 0.0)), Some((2.0, 4.0))]);
        assert_eq!(clipped, [[(0.0, 0.0), (0.25 * 2.0, 1.0)]]);
        assert!(clip(&[Some((0.5, 1.5)), Some((0.9, 1.1))]).is_empty());
        assert!(clip(&[Some((-1.0, 0.5)), Some((0.5, 2.5))]).is_empty());
    }

    #[test]
    fn a_line_that_leaves_and_comes_back_has_two_parts() {
        let points = [(0.0, 0.5), (0.25, 1.5), (0.5, 0.5), (1.0, 0.5)].map(Some);
        let parts = clip(&points);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0], [(0.0, 0.5), (0.125, 1.0)]);
        assert_eq!(parts[1], [(0.375, 1.0), (0.5, 0.5), (1.0, 0.5)]);
    }

    #[test]
    fn a_missing_point_interrupts_a_line() {
        let points = [
            Some((0.0, 0.0)),
            Some((0.1, 0.0)),
            None,
            Some((0.3, 0.0)),
            Some((0.4, 0.1)),
        ];
        assert_eq!(clip(&points).len(), 2);
        assert!(clip(&[Some((0.5, 0.5))]).is_empty());
        assert!(clip(&[]).is_empty());
    }
}
