//! What the two colours of the load chart mean, said where the eye is: inside the areas.

use super::bands::Band;
use super::canvas::{Canvas, Look};
use super::frame::Frame;
use super::{MARGIN, WIDTH, labels, palette};
use plotters::style::RGBColor;

const SIZE: f64 = 11.0;

/// A part of the stack.
struct Part {
    name: &'static str,
    /// Its lower and upper edge.
    extent: fn(&Band) -> (f64, f64),
    colour: RGBColor,
    ink: RGBColor,
}

const PARTS: [Part; 2] = [
    Part {
        name: "retries",
        extent: |band| (band.first_tries, band.total()),
        colour: palette::RETRIES,
        ink: palette::INK,
    },
    Part {
        name: "first tries",
        extent: |band| (0.0, band.first_tries),
        colour: palette::FIRST_TRIES,
        ink: palette::PAPER,
    },
];

/// Names the parts inside their areas in the first panel. A part that is too small there is named with a swatch
/// at the right on the line at `above`. Names keep off the value `line`, where another line is drawn. Returns how far
/// other words may reach on that line.
pub(super) fn draw(
    canvas: &Canvas<'_>,
    first: Option<(&Frame, &[Band])>,
    above: f64,
    line: Option<f64>,
) -> f64 {
    let look = Look::new(SIZE).bold().centred();
    let mut end = WIDTH - MARGIN - 14.0;
    for part in PARTS {
        let width = labels::width(part.name, look) + 8.0;
        let inside = first.and_then(|(frame, bands)| {
            let free = room(frame, bands, part.extent, (width, SIZE + 4.0))?;
            Some((free.x, free.off(line.map(|value| frame.at(0.0, value).1))))
        });
        if let Some((x, y)) = inside {
            canvas.text(part.name, (x, y + SIZE * 0.36), look.colour(part.ink));
            continue;
        }
        let look = Look::new(SIZE).right();
        canvas.text(part.name, (end, above), look);
        let swatch = end - labels::width(part.name, look) - 15.0;
        canvas.rectangle(
            (swatch, above - 9.0),
            (swatch + 10.0, above + 1.0),
            part.colour,
            1.0,
        );
        end = swatch - 16.0;
    }
    end
}

/// A place inside a part: its middle across, and from where to where it reaches down.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Free {
    x: f64,
    top: f64,
    bottom: f64,
}

impl Free {
    /// The height of a name in it: the middle, or else off the line at `y`, above it if there is room.
    fn off(self, y: Option<f64>) -> f64 {
        let middle = (self.top + self.bottom) / 2.0;
        let half = SIZE / 2.0 + 4.0;
        match y {
            Some(y) if (y - middle).abs() < half && y - 2.0 * half > self.top => y - half,
            Some(y) if (y - middle).abs() < half && y + 2.0 * half < self.bottom => y + half,
            _ => middle,
        }
    }
}

/// The tallest place of a (width, height) inside a part of the stack, if there is one.
fn room(
    frame: &Frame,
    bands: &[Band],
    extent: fn(&Band) -> (f64, f64),
    (width, height): (f64, f64),
) -> Option<Free> {
    let corners = |band: &Band| {
        let (low, high) = extent(band);
        (frame.at(band.from_s, high), frame.at(band.to_s, low))
    };
    let boxes: Vec<_> = bands.iter().map(corners).collect();
    let mut best: Option<Free> = None;
    for (i, ((left, _), _)) in boxes.iter().enumerate() {
        let (mut top, mut bottom) = (frame.top, frame.bottom);
        for ((_, upper), (right, lower)) in &boxes[i..] {
            (top, bottom) = (top.max(*upper), bottom.min(*lower));
            if bottom - top < height {
                break;
            }
            if right - left >= width {
                // A little taller is not worth a place further right.
                if best.is_none_or(|tallest| bottom - top > tallest.bottom - tallest.top + 0.5) {
                    let x = left + width / 2.0;
                    best = Some(Free { x, top, bottom });
                }
                break;
            }
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_where_its_part_is_tall_and_wide_enough() {
        let frame = Frame {
            left: 0.0,
            right: 100.0,
            top: 0.0,
            bottom: 100.0,
            x: 0.0..10.0,
            y: 0.0..100.0,
        };
        let bands: Vec<_> = [5.0, 5.0, 40.0, 40.0, 40.0, 5.0]
            .iter()
            .enumerate()
            .map(|(i, &retries)| Band {
                from_s: i as f64,
                to_s: i as f64 + 1.0,
                first_tries: 10.0,
                retries,
            })
            .collect();
        let extent = PARTS[0].extent;
        // Retries lie between 10 and 50 from second 2 to second 5.
        assert_eq!(
            room(&frame, &bands, extent, (28.0, 15.0)),
            Some(Free {
                x: 34.0,
                top: 50.0,
                bottom: 90.0
            })
        );
        assert_eq!(room(&frame, &bands, extent, (38.0, 15.0)), None);
        assert_eq!(room(&frame, &bands, extent, (28.0, 41.0)), None);
    }

    #[test]
    fn a_name_keeps_off_a_line_when_there_is_room() {
        let free = Free {
            x: 0.0,
            top: 0.0,
            bottom: 60.0,
        };
        let lower = Free {
            bottom: 40.0,
            ..free
        };
        assert_eq!(free.off(None), 30.0);
        assert_eq!(free.off(Some(10.0)), 30.0, "the line is far away");
        assert!(free.off(Some(32.0)) < 25.0);
        assert!(lower.off(Some(15.0)) > 20.0, "no room above");
        assert_eq!(
            Free {
                bottom: 16.0,
                ..free
            }
            .off(Some(8.0)),
            8.0,
            "no room at all"
        );
    }
}
