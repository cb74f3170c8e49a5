//! The font of the charts, which is part of the program.

use plotters::style::{FontDesc, FontFamily, FontStyle, register_font};
use std::sync::Once;
use unicode_width::UnicodeWidthChar;

/// The font and what may stand in for it where an SVG is shown.
pub(super) const FAMILY: &str = "DejaVu Sans, sans-serif";

/// plotters divides a size by this to get the font size it writes.
pub(super) const PLOTTERS_SIZE: f64 = 1.24;
/// Height of the font's lines ÷ its size; the metrics plotters measures with count in lines.
const LINE_HEIGHT: f64 = 1.164;
/// What a character that the font lacks is wider than its stand-in, ÷ font size.
const FOREIGN: f64 = 0.4;

/// Makes the font known to plotters.
pub(super) fn register() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        for (style, bytes) in [
            (FontStyle::Normal, dejavu::sans::regular()),
            (FontStyle::Bold, dejavu::sans::bold()),
        ] {
            let known = register_font(FAMILY, style, bytes).is_ok();
            assert!(known, "the font in the program is a font");
        }
    });
}

/// Width of a text in units of the chart at a font size.
pub(super) fn width(text: &str, size: f64, bold: bool) -> f64 {
    /// Measured at this size, because plotters rounds to whole units.
    const FINE: f64 = 100.0;
    register();
    let style = if bold {
        FontStyle::Bold
    } else {
        FontStyle::Normal
    };
    let font = FontDesc::new(FontFamily::Name(FAMILY), FINE * LINE_HEIGHT, style);
    let (known, _) = font.box_size(text).expect("the font is registered");
    let foreign = text.chars().filter(|c| c.width() == Some(2)).count();
    size * (f64::from(known) / FINE + FOREIGN * foreign as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_grows_with_text_size_and_weight() {
        let plain = width("full jitter", 10.0, false);
        // The advances in the font's tables add up to 42.2.
        assert!((41.0..44.0).contains(&plain), "{plain}");
        assert!((width("full jitter", 20.0, false) / plain - 2.0).abs() < 1e-9);
        assert!(width("full jitter", 10.0, true) > plain);
        assert!(width("指数退避", 10.0, false) >= 40.0);
    }
}
