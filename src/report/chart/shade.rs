//! The colours of a heat map: light for little, dark for much, for every eye and in grey.
//!
//! From sand over green and blue to navy. Yellow against blue is the difference that all common kinds of colour
//! blindness keep, and the luminance falls all the way, so that a print in grey has the same order.

use super::palette::{INK, PAPER};
use plotters::style::RGBColor;

/// So many colours are told apart.
pub(super) const LEVELS: usize = 32;

const STOPS: [(f64, f64, f64); 5] = [
    (250.0, 243.0, 214.0),
    (176.0, 217.0, 190.0),
    (84.0, 170.0, 190.0),
    (38.0, 104.0, 164.0),
    (16.0, 34.0, 88.0),
];

/// The level of a value on a scale, from 0 to `LEVELS` − 1.
pub(super) fn level(value: f64, (low, high): (f64, f64)) -> usize {
    let part = (value - low) / (high - low);
    // What is not a number becomes zero.
    ((part.clamp(0.0, 1.0) * LEVELS as f64) as usize).min(LEVELS - 1)
}

/// The colour of a level.
pub(super) fn colour(level: usize) -> RGBColor {
    let part = level as f64 / (LEVELS - 1) as f64 * (STOPS.len() - 1) as f64;
    let stop = (part as usize).min(STOPS.len() - 2);
    let (from, to, t) = (STOPS[stop], STOPS[stop + 1], part - stop as f64);
    let mix = |a: f64, b: f64| (a + (b - a) * t).round() as u8;
    RGBColor(mix(from.0, to.0), mix(from.1, to.1), mix(from.2, to.2))
}

/// The colour of a text on a level.
pub(super) fn ink(level: usize) -> RGBColor {
    let ground = luminance(colour(level));
    let contrast = |ink: RGBColor| {
        let other = luminance(ink);
        (ground.max(other) + 0.05) / (ground.min(other) + 0.05)
    };
    if contrast(PAPER) > contrast(INK) {
        PAPER
    } else {
        INK
    }
}

/// Relative luminance, as the Web Content Accessibility Guidelines 2.1 define it.
fn luminance(RGBColor(red, green, blue): RGBColor) -> f64 {
    let linear = |part: u8| match f64::from(part) / 255.0 {
        v if v <= 0.04045 => v / 12.92,
        v => ((v + 0.055) / 1.055).powf(2.4),
    };
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_is_always_darker() {
        let all: Vec<f64> = (0..LEVELS).map(|i| luminance(colour(i))).collect();
        assert!(all.windows(2).all(|pair| pair[1] < pair[0]), "{all:?}");
        assert!(all[0] > 0.85 && all[LEVELS - 1] < 0.04);
    }

    #[test]
    fn texts_have_enough_contrast_on_every_level() {
        for i in 0..LEVELS {
            let (a, b) = (luminance(colour(i)), luminance(ink(i)));
            let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
            assert!(contrast >= 3.8, "{i}: {contrast}");
        }
        assert_eq!((ink(0), ink(LEVELS - 1)), (INK, PAPER));
    }

    #[test]
    fn values_beyond_the_scale_have_the_colours_of_its_ends() {
        let range = (1.0, 3.0);
        assert_eq!(
            [-9.0, 1.0, 2.0, 3.0, 9.0].map(|v| level(v, range)),
            [0, 0, 16, 31, 31]
        );
        assert_eq!(level(f64::NAN, range), 0);
        assert_eq!(level(5.0, (2.0, 2.0)), 31);
        assert_eq!(level(2.0, (2.0, 2.0)), 0);
    }
}
