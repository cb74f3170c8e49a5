//! Where a field on a grid is 1, as lines.
//!
//! Marching squares: between four neighbouring points the line enters and leaves through the sides whose ends lie
//! on different sides of 1, at the place that linear interpolation gives. A side belongs to two squares, so pieces
//! that share a side are one line (W. E. Lorensen and H. E. Cline, "Marching Cubes", 1987, in two dimensions).

use std::collections::BTreeMap;

/// The level that is looked for.
const LEVEL: f64 = 1.0;

/// A side of a square: from the point (column, row) to the right, or upwards.
type SideOf = (usize, usize, bool);

/// The lines along which `field` is 1, in columns and rows: (1.5, 0.0) is half way between the second and the
/// third point of the lowest row. Where a point is missing, there is no line.
pub(super) fn contour(field: &[Option<f64>], columns: usize) -> Vec<Vec<(f64, f64)>> {
    let rows = field.len().checked_div(columns).unwrap_or(0);
    let value = |column: usize, row: usize| field[row * columns + column].filter(|v| v.is_finite());
    let mut places = BTreeMap::new();
    let mut pieces = Vec::new();
    for row in 0..rows.saturating_sub(1) {
        for column in 0..columns.saturating_sub(1) {
            let corners = [
                value(column, row),
                value(column + 1, row),
                value(column + 1, row + 1),
                value(column, row + 1),
            ];
            let [Some(a), Some(b), Some(c), Some(d)] = corners else {
                continue;
            };
            let (x, y) = (column as f64, row as f64);
            let sides = [
                (a, b, (column, row, false), (x, y), (1.0, 0.0)),
                (b, c, (column + 1, row, true), (x + 1.0, y), (0.0, 1.0)),
                (d, c, (column, row + 1, false), (x, y + 1.0), (1.0, 0.0)),
                (a, d, (column, row, true), (x, y), (0.0, 1.0)),
            ];
            let mut crossed = Vec::new();
            for (from, to, side, start, way) in sides {
                if (from >= LEVEL) != (to >= LEVEL) {
                    let t = (LEVEL - from) / (to - from);
                    places.insert(side, (start.0 + t * way.0, start.1 + t * way.1));
                    crossed.push(side);
                }
            }
            pieces.extend(paired(&crossed, a, (a + b + c + d) / 4.0));
        }
    }
    let lines = joined(&pieces);
    let place = |line: Vec<SideOf>| line.iter().map(|side| places[side]).collect();
    lines.into_iter().map(place).collect()
}

/// Which crossings of a square belong together. Of a saddle, the middle decides: the corners on its side of the
/// level are connected.
fn paired(crossed: &[SideOf], first_corner: f64, middle: f64) -> Vec<(SideOf, SideOf)> {
    match *crossed {
        [from, to] => vec![(from, to)],
        [bottom, right, top, left] if (first_corner >= LEVEL) == (middle >= LEVEL) => {
            vec![(bottom, right), (top, left)]
        }
        [bottom, right, top, left] => vec![(left, bottom), (right, top)],
        _ => Vec::new(),
    }
}

/// Pieces that share a side, as lines. A closed line ends where it began.
fn joined(pieces: &[(SideOf, SideOf)]) -> Vec<Vec<SideOf>> {
    let mut at: BTreeMap<SideOf, Vec<usize>> = BTreeMap::new();
    for (i, &(from, to)) in pieces.iter().enumerate() {
        at.entry(from).or_default().push(i);
        at.entry(to).or_default().push(i);
    }
    let mut used = vec![false; pieces.len()];
    let mut lines = Vec::new();
    let ends: Vec<SideOf> = at
        .iter()
        .filter(|(_, here)| here.len() == 1)
        .map(|(&side, _)| side)
        .collect();
    // Open lines from their ends first; what is left over are closed ones.
    for start in ends.into_iter().chain(at.keys().copied()) {
        let mut line = vec![start];
        let mut side = start;
        while let Some(&next) = at[&side].iter().find(|&&piece| !used[piece]) {
            used[next] = true;
            let (from, to) = pieces[next];
            side = if from == side { to } else { from };
            line.push(side);
        }
        if line.len() > 1 {
            lines.push(line);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(columns: usize, rows: usize, at: impl Fn(f64, f64) -> f64) -> Vec<Option<f64>> {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (column, row)));
        places
            .map(|(column, row)| Some(at(column as f64, row as f64)))
            .collect()
    }

    #[test]
    fn the_line_of_a_product_runs_where_the_product_is_one() {
        let ratio = |x: f64, y: f64| (x + 1.0) * (y + 1.0) / 20.0;
        let lines = contour(&field(10, 8, ratio), 10);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].len() > 10);
        for &(x, y) in &lines[0] {
            assert!((ratio(x, y) - 1.0).abs() < 1e-12, "{x} {y}");
        }
        let from = lines[0][0];
        let to = lines[0][lines[0].len() - 1];
        assert!(from.0 == 9.0 || from.1 == 7.0 || to.0 == 9.0 || to.1 == 7.0);
    }

    #[test]
    fn a_hill_has_one_closed_line() {
        let hill = |x: f64, y: f64| 3.0 - (x - 4.0).hypot(y - 4.0);
        let lines = contour(&field(9, 9, hill), 9);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        assert!(
            lines[0]
                .iter()
                .all(|(x, y)| ((x - 4.0).hypot(y - 4.0) - 2.0).abs() < 0.2)
        );
    }

    #[test]
    fn a_missing_point_breaks_the_line() {
        let mut slope = field(7, 3, |_, y| y + 0.5);
        assert_eq!(
            contour(&slope, 7),
            [(0..7).map(|x| (f64::from(x), 0.5)).collect::<Vec<_>>()]
        );
        slope[3] = None;
        let lines = contour(&slope, 7);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].len(), lines[1].len()), (3, 3));
        slope[3] = Some(f64::NAN);
        assert_eq!(contour(&slope, 7).len(), 2);
    }

    #[test]
    fn a_saddle_has_two_lines_that_do_not_cross() {
        let saddle = [2.0, 0.0, 0.0, 2.0].map(Some);
        assert_eq!(contour(&saddle, 2).len(), 2);
        assert!(contour(&[], 0).is_empty());
        assert!(contour(&[Some(2.0), Some(0.5)], 2).is_empty());
    }
}
