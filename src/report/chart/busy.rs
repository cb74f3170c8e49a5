//! Places that are taken, so that words find those that are not.

use super::canvas::Place;

/// Lines are remembered as points so far apart.
const STEP: f64 = 3.0;

/// A part of the sheet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// As near to where it is as it can be inside another.
    pub(super) fn moved_into(self, other: Area) -> Area {
        let aside =
            |from: f64, to: f64, low: f64, high: f64| (low - from).max(0.0) + (high - to).min(0.0);
        let x = aside(self.left, self.right, other.left, other.right);
        let y = aside(self.top, self.bottom, other.top, other.bottom);
        Area {
            left: self.left + x,
            top: self.top + y,
            right: self.right + x,
            bottom: self.bottom + y,
        }
    }
}

/// What is drawn already.
#[derive(Clone, Debug, Default)]
pub(super) struct Busy {
    points: Vec<Place>,
}

impl Busy {
    pub(super) fn add_line(&mut self, line: &[Place]) {
        for pair in line.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            let steps = ((to.0 - from.0).hypot(to.1 - from.1) / STEP)
                .ceil()
                .max(1.0);
            let between = (0..=steps as usize).map(|i| i as f64 / steps);
            let at = between.map(|t| (from.0 + t * (to.0 - from.0), from.1 + t * (to.1 - from.1)));
            self.points.extend(at);
        }
    }

    pub(super) fn add_area(&mut self, area: Area) {
        for y in [area.top, (area.top + area.bottom) / 2.0, area.bottom] {
            self.add_line(&[(area.left, y), (area.right, y)]);
        }
    }

    /// How much is drawn in a part of the sheet.
    pub(super) fn within(&self, area: Area) -> usize {
        let inside = |&&(x, y): &&Place| {
            (area.left..=area.right).contains(&x) && (area.top..=area.bottom).contains(&y)
        };
        self.points.iter().filter(inside).count()
    }

    /// Of several parts of the sheet the first that holds the least, and how much that is.
    pub(super) fn freest(&self, areas: &[Area]) -> Option<(Area, usize)> {
        let found = areas.iter().map(|&area| (area, self.within(area)));
        found.min_by_key(|(_, taken)| *taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(left: f64, top: f64) -> Area {
        Area {
            left,
            top,
            right: left + 10.0,
            bottom: top + 10.0,
        }
    }

    #[test]
    fn words_go_where_nothing_is() {
        let mut busy = Busy::default();
        busy.add_line(&[(0.0, 5.0), (100.0, 5.0)]);
        busy.add_area(square(0.0, 20.0));
        let areas = [
            square(50.0, 0.0),
            square(5.0, 25.0),
            square(50.0, 20.0),
            square(0.0, 90.0),
        ];
        assert_eq!(busy.freest(&areas), Some((areas[2], 0)));
        assert!(busy.within(areas[0]) >= 3 && busy.within(areas[1]) >= 3);
        assert_eq!(busy.freest(&[]), None);
    }

    #[test]
    fn an_area_is_moved_no_further_than_it_must() {
        let sheet = Area {
            left: 0.0,
            top: 0.0,
            right: 100.0,
            bottom: 100.0,
        };
        assert_eq!(square(50.0, 50.0).moved_into(sheet), square(50.0, 50.0));
        assert_eq!(square(-5.0, 95.0).moved_into(sheet), square(0.0, 90.0));
    }
}
