//! An SVG as pixels, with the fonts of the program alone.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::{Database, Source};
use resvg::usvg::{Options, Tree};
use std::sync::{Arc, LazyLock};

/// Width of every picture in pixels.
const PIXELS_ACROSS: f32 = 1600.0;

/// The PNG of a chart, 1600 pixels wide.
///
/// # Panics
/// When `svg` is no SVG: only charts of this module are meant.
pub fn png(svg: &str) -> Vec<u8> {
    let tree = Tree::from_str(svg, &options()).expect("a chart is valid SVG");
    let size = tree.size();
    let scale = PIXELS_ACROSS / size.width();
    let height = (size.height() * scale).ceil() as u32;
    let mut pixels = Pixmap::new(PIXELS_ACROSS as u32, height).expect("a chart has a size");
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    pixels.encode_png().expect("memory can be written to")
}

/// The fonts of the program, read once.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    for bytes in [dejavu::sans::regular(), dejavu::sans::bold()] {
        fonts.load_font_source(Source::Binary(Arc::new(bytes)));
    }
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

pub(super) fn options() -> Options<'static> {
    Options {
        font_family: "DejaVu Sans".into(),
        fontdb: Arc::clone(&FONTS),
        ..Options::default()
    }
}
