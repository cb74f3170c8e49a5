//! Values written into the cells of a map, out of the way of the border.

use super::busy::{Area, Busy};
use super::canvas::{Canvas, Look, Place};
use super::labels;
use plotters::style::RGBColor;

/// Sizes of the values, from the one that reads best.
const SIZES: [f64; 3] = [11.5, 10.5, 9.5];
/// What a cell is wider and higher than its value.
const ROOM: f64 = 7.0;

/// A value in a cell.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) text: String,
    /// The middle of the cell.
    pub(super) middle: Place,
    pub(super) ground: RGBColor,
    pub(super) ink: RGBColor,
    /// Whether there is a pattern that would run through the value.
    pub(super) patterned: bool,
}

/// Writes all values, if the cells are large enough for each of them.
pub(super) fn write(canvas: &Canvas<'_>, figures: &[Figure], cell: Place, busy: &Busy) {
    let Some(size) = SIZES.into_iter().find(|&size| fit(figures, size, cell)) else {
        return;
    };
    let look = Look::new(size).centred();
    for figure in figures {
        let half = (
            labels::width(&figure.text, look) / 2.0 + 1.5,
            size / 2.0 + 0.5,
        );
        let places = places(figure.middle, half, cell);
        let Some((area, taken)) = busy.freest(&places) else {
            continue;
        };
        if taken > 0 || figure.patterned {
            let (from, to) = ((area.left, area.top), (area.right, area.bottom));
            canvas.rectangle(from, to, figure.ground, 1.0);
        }
        let at = (
            (area.left + area.right) / 2.0,
            (area.top + area.bottom) / 2.0 + size * 0.36,
        );
        canvas.text(&figure.text, at, look.colour(figure.ink));
    }
}

fn fit(figures: &[Figure], size: f64, cell: Place) -> bool {
    let look = Look::new(size);
    let widths = figures
        .iter()
        .map(|figure| labels::width(&figure.text, look));
    widths.fold(0.0, f64::max) + ROOM <= cell.0 && size + ROOM <= cell.1
}

/// Where a value can be in its cell: in the middle, or else above, below and in the corners.
fn places(middle: Place, half: Place, cell: Place) -> Vec<Area> {
    let (right, down) = (cell.0 / 2.0 - half.0 - 2.0, cell.1 / 2.0 - half.1 - 2.0);
    let aside = [
        (0.0, 0.0),
        (0.0, -1.0),
        (0.0, 1.0),
        (1.0, -1.0),
        (-1.0, 1.0),
        (-1.0, -1.0),
        (1.0, 1.0),
    ];
    let place = |(x, y): Place| {
        let at = (middle.0 + x * right.max(0.0), middle.1 + y * down.max(0.0));
        Area {
            left: at.0 - half.0,
            top: at.1 - half.1,
            right: at.0 + half.0,
            bottom: at.1 + half.1,
        }
    };
    aside.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_leaves_the_middle_only_for_a_line_and_never_its_cell() {
        let places = places((50.0, 50.0), (12.0, 6.0), (60.0, 40.0));
        let mut busy = Busy::default();
        assert_eq!(busy.freest(&places).map(|found| found.0), Some(places[0]));
        busy.add_line(&[(20.0, 30.0), (80.0, 70.0)]);
        let (free, taken) = busy.freest(&places).unwrap();
        assert_eq!(taken, 0);
        assert!(free != places[0]);
        for place in places {
            assert!(place.left >= 20.0 && place.right <= 80.0);
            assert!(place.top >= 30.0 && place.bottom <= 70.0);
        }
    }
}
