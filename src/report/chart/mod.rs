//! Charts that answer a question at a glance, as SVG and as PNG.
//!
//! A chart in an incident review is printed in grey, shown from afar and read without its author. So its title is
//! a question, every axis has a unit, lines carry their names, and colours are told apart by everybody. All fonts
//! come with the program: what is drawn does not depend on the machine.

mod axes;
mod bands;
mod bars;
mod busy;
mod canvas;
mod cast;
mod cells;
mod clip;
mod contour;
mod curves;
mod data;
mod ends;
mod faults;
mod figures;
mod font;
mod form;
mod frame;
mod grid;
mod heat;
mod key;
mod labels;
mod legend;
mod load;
mod palette;
mod pattern;
mod plot;
mod png;
mod points;
#[cfg(test)]
pub(super) mod probe;
mod raster;
mod reach;
mod ruler;
mod series;
mod shade;
mod span;
mod success;

pub use bars::bars_svg;
pub use curves::curves_svg;
pub use data::{
    Axis, Bar, Bars, Curves, Form, Heat, HeatPanel, Mark, Panel, Point, Points, Raster, Reference,
    Scale, Series, Shade, Steps, Words,
};
pub use heat::heat_svg;
pub use load::{TITLE as LOAD_TITLE, load_svg};
pub use png::png;
pub use points::points_svg;
pub use raster::raster_svg;
pub use success::{TITLE as SUCCESS_TITLE, success_svg};

/// At most so many panels or series: more cannot be told apart.
const MOST_SHOWN: usize = 8;

/// Width of every chart in the units of its SVG.
const WIDTH: f64 = 960.0;
/// Space around everything.
const MARGIN: f64 = 20.0;

use super::text::{fit_by, printable};
use super::{number, ranked, replications_words};
use crate::experiment::{RunResult, StrategyResult};
use canvas::{Canvas, Look};

/// Title and subtitle of a chart of a run. The subtitle ends at `right`.
fn headline(canvas: &Canvas<'_>, title: &str, result: &RunResult, right: f64) {
    let subtitle = match result.question.trim() {
        "" => result.name.clone(),
        question => format!("{}: {question}", result.name),
    };
    titles(canvas, title, &subtitle, right);
}

/// Title and subtitle. The subtitle ends at `right`.
fn titles(canvas: &Canvas<'_>, title: &str, subtitle: &str, right: f64) {
    let look = Look::new(19.0).bold();
    let title = labels::fit(title, look, WIDTH - 2.0 * MARGIN);
    canvas.text(&title, (MARGIN, 32.0), look);
    let look = Look::new(13.0).colour(palette::FAINT);
    let subtitle = labels::fit(subtitle, look, right - MARGIN);
    canvas.text(&subtitle, (MARGIN, 54.0), look);
}

/// What the numbers are, and what is not shown, at the lower edge.
fn footnote(canvas: &Canvas<'_>, height: f64, text: &str) {
    let look = Look::new(11.0).colour(palette::FAINT);
    let text = labels::fit(text, look, WIDTH - 2.0 * MARGIN);
    canvas.text(&text, (MARGIN, height - 14.0), look);
}

/// A strategy with its place, which also tells names apart that the font has no characters for.
fn name_of(strategy: &StrategyResult) -> String {
    let summary = &strategy.summary;
    format!("{}. {}", summary.rank, summary.strategy)
}

/// "mean over 20 replications", or that there is only one.
fn mean_over(replications: u32) -> String {
    match replications {
        1 => "a single replication".into(),
        n => format!("mean over {}", replications_words(n)),
    }
}

/// The strategies that are shown, and a clause about the others.
fn shown(result: &RunResult) -> (Vec<&StrategyResult>, String) {
    let mut strategies = ranked(result);
    let left_out = strategies.len().saturating_sub(MOST_SHOWN);
    strategies.truncate(MOST_SHOWN);
    let clause = match left_out {
        0 => String::new(),
        1 => " The lowest rank is not shown.".into(),
        n => format!(" The {n} lowest ranks are not shown."),
    };
    (strategies, clause)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Timeline;
    use crate::report::sample;
    use crate::time::SimTime;
    use probe::texts;
    use resvg::tiny_skia::Pixmap;

    const NAMES: [&str; 12] = [
        "<b>&\"quoted\"'</b>",
        "指数退避とフルジッターを組み合わせた再試行戦略の長い名前でございます",
        "a strategy with a name that goes on for sixty characters or so",
        "esc \u{1b}[31m\u{ffff}",
        "e",
        "f",
        "g",
        "h",
        "i",
        "j",
        "k",
        "l",
    ];

    fn storm() -> RunResult {
        let mut result = sample::herd();
        let end = SimTime::ZERO + result.horizon;
        let total = &mut result.strategies[0].total;
        let mut peak = Timeline::new(total.timeline.width(), end);
        peak.advance(SimTime::from_nanos(119_500_000_000));
        peak.bin().retries += 4_000_000_000;
        peak.close(end);
        total.timeline.merge(&peak);
        result
    }

    fn cases() -> Vec<RunResult> {
        let named = sample::herd_named(&NAMES);
        let one = sample::herd_named(&["only"]);
        let (two_bins, silent) = (sample::herd_with_bins(2), sample::silent());
        let mut none = sample::silent();
        none.strategies.clear();
        vec![sample::herd(), named, one, two_bins, silent, none, storm()]
    }

    fn charts(result: &RunResult) -> [String; 2] {
        [load_svg(result), success_svg(result)]
    }

    #[test]
    fn charts_say_what_they_show() {
        let result = sample::herd();
        let [load, success] = charts(&result).map(|svg| texts(&svg));
        for text in [
            "How much load does each strategy put on the service?",
            "restart-herd: Which backoff lets a service come back after a restart?",
            "attempts per second",
            "time, s",
            "first tries",
            "retries",
            "outage",
            "capacity 1,200/s",
            "1. exponential, full jitter",
        ] {
            assert!(load.iter().any(|t| t == text), "{text} in {load:?}");
        }
        for text in [
            "Does retrying deliver what 1 − pᵏ promises?",
            "attempts made at the most",
            "share of requests that succeeded, %",
            "1 − pᵏ for p = 2 %",
        ] {
            assert!(success.iter().any(|t| t == text), "{text} in {success:?}");
        }
        for strategy in &result.strategies {
            let name = name_of(strategy);
            assert!(load.contains(&name));
            assert!(success.iter().any(|t| t.starts_with(&name)), "{name}");
        }
    }

    #[test]
    fn every_text_is_inside_the_picture() {
        for result in cases() {
            for svg in charts(&result) {
                assert!(probe::count_inside(&svg) >= 4, "{}", result.name);
            }
        }
    }

    #[test]
    fn at_most_eight_are_shown_and_the_rest_is_mentioned() {
        let result = sample::herd_named(&NAMES);
        for svg in charts(&result) {
            let texts = texts(&svg);
            assert!(
                texts
                    .iter()
                    .any(|t| t.contains("The 4 lowest ranks are not shown."))
            );
            assert!(texts.iter().any(|t| t.starts_with("8. h")));
            assert!(!texts.iter().any(|t| t.starts_with("9. ")));
        }
    }

    #[test]
    fn names_are_escaped_and_cut() {
        let texts = texts(&load_svg(&sample::herd_named(&NAMES)));
        assert!(
            texts.contains(&"1. <b>&\"quoted\"'</b>".to_string()),
            "{texts:?}"
        );
        assert!(
            texts
                .iter()
                .any(|t| t.starts_with("2. 指数退避") && t.ends_with('…'))
        );
        assert!(
            texts
                .iter()
                .any(|t| t.starts_with("3. a strategy") && t.ends_with('…'))
        );
        assert!(texts.contains(&"4. esc  [31m".to_string()), "{texts:?}");
    }

    #[test]
    fn an_extreme_peak_is_cut_and_says_so() {
        let texts = texts(&load_svg(&storm()));
        assert!(
            texts
                .iter()
                .any(|t| t.starts_with("peak 1,000,00") && t.ends_with(", cut"))
        );
        assert!(texts.contains(&"2,000".to_string()), "{texts:?}");
    }

    #[test]
    fn the_same_result_gives_the_same_bytes_with_a_size_and_text_in_them() {
        let [load, success] = charts(&sample::herd());
        assert_eq!([load, success.clone()], charts(&sample::herd()));
        let bytes = png(&success);
        assert_eq!(bytes, png(&success));
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        let picture = Pixmap::decode_png(&bytes).unwrap();
        assert_eq!((picture.width(), picture.height()), (1600, 900));
        // The title is the darkest thing in the upper left corner; without a font there would be nothing.
        let dark = |x: u32, y: u32| picture.pixel(x, y).is_some_and(|p| p.red() < 100);
        let ink = (0..800u32).flat_map(|x| (20..60u32).map(move |y| (x, y)));
        let ink = ink.filter(|&(x, y)| dark(x, y)).count();
        assert!((1_500..15_000).contains(&ink), "{ink}");
        assert_eq!(picture.pixel(1, 1).unwrap().red(), 255);
    }

    #[test]
    fn a_hundred_thousand_bins_are_no_more_work_to_look_at() {
        let svg = load_svg(&sample::herd_with_bins(100_000));
        assert!(svg.len() < 500_000, "{}", svg.len());
    }
}
