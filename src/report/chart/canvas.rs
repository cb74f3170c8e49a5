//! A sheet to draw on in fractions of a unit.
//!
//! plotters places everything on whole pixels, which shifts thin lines and uneven bars. So it is given a sheet
//! several times as large, and the SVG says at what size to show it.

use super::font;
use plotters::backend::SVGBackend;
use plotters::coord::Shift;
use plotters::drawing::{DrawingArea, IntoDrawingArea};
use plotters::element::{Circle, DashedPathElement, PathElement, Polygon, Rectangle, Text};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{
    Color, FontDesc, FontFamily, FontStyle, FontTransform, IntoTextStyle, RGBColor, TextStyle,
};

/// Pixels of plotters in a unit of the chart.
const FINE: f64 = 8.0;
/// Drawing into a string has no way to fail.
const NO_FAILURE: &str = "drawing into memory cannot fail";

/// A place in units of the chart, from its upper left corner.
pub(super) type Place = (f64, f64);

/// How a text looks, and which of its points stands at its place.
#[derive(Clone, Copy)]
pub(super) struct Look {
    pub(super) size: f64,
    pub(super) bold: bool,
    colour: RGBColor,
    across: HPos,
    upright: bool,
}

impl Look {
    /// Plain text of a size, to the right of its place and standing on it.
    pub(super) fn new(size: f64) -> Self {
        Self {
            size,
            bold: false,
            colour: super::palette::INK,
            across: HPos::Left,
            upright: false,
        }
    }

    pub(super) fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    pub(super) fn colour(mut self, colour: RGBColor) -> Self {
        self.colour = colour;
        self
    }

    /// Ends at its place.
    pub(super) fn right(mut self) -> Self {
        self.across = HPos::Right;
        self
    }

    /// Has its middle at its place.
    pub(super) fn centred(mut self) -> Self {
        self.across = HPos::Center;
        self
    }

    /// Reads upwards.
    pub(super) fn upright(mut self) -> Self {
        self.upright = true;
        self
    }
}

/// The sheet.
#[derive(Clone)]
pub(super) struct Canvas<'a> {
    root: DrawingArea<SVGBackend<'a>, Shift>,
}

/// An SVG of a size that shows what `paint` draws. `title` is what a screen reader says.
pub(super) fn picture(size: Place, title: &str, paint: impl FnOnce(&Canvas<'_>)) -> String {
    font::register();
    let mut svg = String::new();
    let pixels = ((size.0 * FINE) as u32, (size.1 * FINE) as u32);
    {
        let root = SVGBackend::with_string(&mut svg, pixels).into_drawing_area();
        root.fill(&super::palette::PAPER).expect(NO_FAILURE);
        let canvas = Canvas { root };
        paint(&canvas);
        canvas.root.present().expect(NO_FAILURE);
    }
    let title = escaped(title);
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" viewBox=\"0 0 {} {}\" role=\"img\">\n\
         <title>{title}</title>{body}",
        size.0, size.1, pixels.0, pixels.1
    )
}

/// A text as XML holds it.
fn escaped(text: &str) -> String {
    let text: String = text.chars().map(super::printable).collect();
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

fn fine(at: Place) -> (i32, i32) {
    ((at.0 * FINE).round() as i32, (at.1 * FINE).round() as i32)
}

fn fine_all(points: &[Place]) -> Vec<(i32, i32)> {
    points.iter().copied().map(fine).collect()
}

fn fine_width(width: f64) -> u32 {
    (width * FINE).round() as u32
}

impl Canvas<'_> {
    /// A text on the base line at `at`.
    pub(super) fn text(&self, text: &str, at: Place, look: Look) {
        let style = if look.bold {
            FontStyle::Bold
        } else {
            FontStyle::Normal
        };
        let size = look.size * FINE * font::PLOTTERS_SIZE;
        let mut font = FontDesc::new(FontFamily::Name(font::FAMILY), size, style);
        if look.upright {
            font = font.transform(FontTransform::Rotate270);
        }
        // plotters puts the bottom of a text half an x-height above its place.
        let lift = look.size * 0.5 * X_HEIGHT;
        let at = if look.upright {
            (at.0 + lift, at.1)
        } else {
            (at.0, at.1 + lift)
        };
        let style: TextStyle<'_> = font
            .into_text_style(&self.root)
            .with_color(look.colour)
            .with_anchor::<RGBColor>(Pos::new(look.across, VPos::Bottom))
            .into_text_style(&self.root);
        let text: String = text.chars().map(super::printable).collect();
        self.put(&Text::new(text, fine(at), style));
    }

    /// A line through `points`.
    pub(super) fn line(&self, points: &[Place], colour: RGBColor, width: f64) {
        let style = colour.stroke_width(fine_width(width));
        self.put(&PathElement::new(fine_all(points), style));
    }

    /// A line in dashes; without a gap a full line.
    pub(super) fn dashed(&self, points: &[Place], dash: (f64, f64), colour: RGBColor, width: f64) {
        if dash.1 <= 0.0 {
            return self.line(points, colour, width);
        }
        let style = colour.stroke_width(fine_width(width));
        let (dash, gap) = (fine_width(dash.0), fine_width(dash.1));
        self.put(&DashedPathElement::new(fine_all(points), dash, gap, style));
    }

    /// A filled area.
    pub(super) fn area(&self, points: &[Place], colour: RGBColor) {
        self.put(&Polygon::new(fine_all(points), colour.filled()));
    }

    /// A filled area, as opaque as `alpha` from 0 to 1.
    pub(super) fn tint(&self, points: &[Place], colour: RGBColor, alpha: f64) {
        let style = colour.mix(alpha).filled();
        self.put(&Polygon::new(fine_all(points), style));
    }

    /// A filled rectangle, as opaque as `alpha` from 0 to 1.
    pub(super) fn rectangle(&self, corner: Place, opposite: Place, colour: RGBColor, alpha: f64) {
        let style = colour.mix(alpha).filled();
        self.put(&Rectangle::new([fine(corner), fine(opposite)], style));
    }

    /// A filled circle.
    pub(super) fn disc(&self, centre: Place, radius: f64, colour: RGBColor) {
        self.put(&Circle::new(
            fine(centre),
            fine_width(radius),
            colour.filled(),
        ));
    }

    fn put<E>(&self, element: &E)
    where
        for<'e> &'e E: plotters::element::PointCollection<'e, (i32, i32)>,
        E: for<'b> plotters::element::Drawable<SVGBackend<'b>>,
    {
        self.root.draw(element).expect(NO_FAILURE);
    }
}

/// Height of an x ÷ font size.
const X_HEIGHT: f64 = 0.547;
