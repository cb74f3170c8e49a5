//! How an outcome depends on one setting: lines over a sweep, in one plot or in small ones side by side.

use super::canvas::{Canvas, picture};
use super::cast::{Cast, Shown};
use super::data::{Axis, Curves, Series, Shade, Words};
use super::ends::{self, End};
use super::frame::Frame;
use super::grid::{self, Grid, HEAD};
use super::legend::{Entry, Legend, Sample};
use super::plot::Plot;
use super::ruler::Ruler;
use super::span::Side;
use super::{MARGIN, MOST_SHOWN, WIDTH, faults, reach, titles};

/// Height of a plot when one, two or three stand side by side.
const HEIGHTS: [f64; 3] = [380.0, 240.0, 190.0];
/// The most that names take beside a plot when one or two stand side by side.
const NAMES: [f64; 2] = [250.0, 170.0];
/// The least beside a plot, for half of its last number.
const LEAST_BESIDE: f64 = 14.0;
/// A line that ends in this part of a plot ends at its right edge.
const AT_EDGE: f64 = 0.06;

/// A chart of lines as SVG: bands of intervals, markers and theory, with the same axes in every panel. At most
/// eight panels of at most eight series.
pub fn curves_svg(curves: &Curves) -> String {
    let mut cast = Cast::new(&curves.panels);
    cast.key &= !curves.stacked;
    let legend = Legend::new(entries(&cast));
    let (grid, x, y) = layout(curves, &cast, HEAD + legend.height());
    let note = grid::footnote_lines(&note(curves));
    let size = (WIDTH, grid.height(note.len()));
    picture(size, &curves.words.title, |canvas| {
        let Words {
            title, subtitle, ..
        } = &curves.words;
        titles(canvas, title, subtitle, WIDTH - MARGIN);
        legend.draw(canvas, HEAD);
        for (i, shown) in cast.panels.iter().enumerate() {
            let y = &y[i.min(y.len() - 1)];
            shade(canvas, &grid.frame(i), &x, &curves.shades);
            draw(canvas, &grid, i, shown, (&x, y), cast.key);
        }
        if cast.panels.is_empty() {
            grid::nothing(canvas, &grid.frame(0));
        }
        grid.labels(canvas, &curves.x.label, &curves.y.label);
        grid::footnotes(canvas, size.1, &note);
    })
}

/// Where the plots are, and their axes: one upwards for all, or one for each.
fn layout(curves: &Curves, cast: &Cast<'_>, top: f64) -> (Grid, Ruler, Vec<Ruler>) {
    let count = cast.panels.len();
    // Names beside three plots would leave no room for the plots.
    let across = match curves.stacked {
        true => 1,
        false => grid::across(count).min(if cast.key { 3 } else { 2 }),
    };
    let beside = match cast.key {
        true => 0.0,
        false => ends::room(cast.names(), NAMES[across - 1]),
    };
    let beside = beside.max(LEAST_BESIDE);
    let height = HEIGHTS[across.max(count.min(HEIGHTS.len()) * usize::from(curves.stacked)) - 1];
    let axis = |axis: &Axis, cast: &Cast<'_>, side: Side, length: f64| {
        Ruler::new(axis, &reach::values(cast, &axis.scale, side), side, length)
    };
    let y: Vec<Ruler> = if curves.stacked && count > 0 {
        let each = cast.panels.iter().map(|shown| Cast {
            panels: vec![shown.clone()],
            key: cast.key,
        });
        each.map(|one| axis(&curves.y, &one, Side::Upwards, height))
            .collect()
    } else {
        vec![axis(&curves.y, cast, Side::Upwards, height)]
    };
    let left = MARGIN + 26.0 + y.iter().map(Ruler::widest).fold(0.0, f64::max);
    let width = grid::room(left, across, beside);
    let x = axis(&curves.x, cast, Side::Across, width);
    let title = |shown: &Shown<'_>| !shown.panel.title.is_empty();
    let grid = Grid {
        count,
        across,
        left,
        top,
        plot: (width, height),
        beside,
        titled: cast.panels.iter().any(title),
        shaded: !curves.shades.is_empty(),
    };
    (grid, x, y)
}

/// The shaded spans of a plot, as far as they lie on its axis.
pub(super) fn shade(canvas: &Canvas<'_>, frame: &Frame, x: &Ruler, shades: &[Shade]) {
    let spans = shades.iter().filter_map(|shade| {
        let (from, to) = (x.place(shade.from)?, x.place(shade.to)?);
        let on_axis = from < 1.0 && to >= 0.0;
        let at = |part: f64| frame.at(part, 0.0).0;
        on_axis.then(|| (at(from), at(to), &shade.label[..]))
    });
    faults::draw(canvas, frame, spans);
}

/// What lines and bands mean.
fn entries(cast: &Cast<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    if cast.key {
        entries.extend(cast.looks().into_iter().map(|(series, stroke)| Entry {
            sample: Sample::Line(stroke, series.joined),
            text: series.name.clone(),
        }));
    }
    let banded = |series: &Series| {
        series
            .points
            .iter()
            .any(|p| p.low.is_some() && p.high.is_some())
    };
    if cast
        .series()
        .any(|(series, _)| series.joined && banded(series))
    {
        entries.push(Entry {
            sample: Sample::Interval,
            text: "shaded: interval".into(),
        });
    }
    if cast
        .series()
        .any(|(series, _)| !series.predicted.is_empty())
    {
        entries.push(Entry {
            sample: Sample::Predicted,
            text: "dotted: theory".into(),
        });
    }
    entries
}

fn draw(
    canvas: &Canvas<'_>,
    grid: &Grid,
    i: usize,
    shown: &Shown<'_>,
    (x, y): (&Ruler, &Ruler),
    key: bool,
) {
    let frame = grid.frame(i);
    let references = &shown.panel.references;
    let plot = Plot {
        canvas,
        frame: &frame,
        x,
        y,
    };
    let drawn = plot.draw(&shown.series, references);
    grid.numbers(canvas, i, x, y);
    grid.title(canvas, i, &shown.panel.title);
    if drawn.series.iter().all(Vec::is_empty) {
        grid::nothing(canvas, &frame);
    }
    let ends = shown.series.iter().zip(&drawn.series);
    let ends = ends.filter_map(|((series, stroke), points)| {
        Some(End {
            name: &series.name,
            note: &series.note,
            at: ends::rightmost(points)?,
            stroke: Some(*stroke),
        })
    });
    let mut ends: Vec<End<'_>> = ends.collect();
    let mut inside = Vec::new();
    for (reference, points) in references.iter().zip(&drawn.references) {
        let Some(at) = ends::rightmost(points) else {
            continue;
        };
        if key || at.0 < frame.right - (frame.right - frame.left) * AT_EDGE {
            inside.push((&reference.label[..], &points[..]));
        } else {
            ends.push(End {
                name: &reference.label,
                note: "",
                at,
                stroke: None,
            });
        }
    }
    ends::inside(canvas, &frame, &inside, &drawn.busy);
    if !key {
        ends::beside(canvas, &frame, &ends, grid.beside);
    }
}

/// The note with what is left out.
fn note(curves: &Curves) -> String {
    let mut text = curves.words.note.trim().to_owned();
    let (panels, rest) = curves.panels.split_at(curves.panels.len().min(MOST_SHOWN));
    let series = panels
        .iter()
        .map(|panel| panel.series.len().saturating_sub(MOST_SHOWN));
    text += &grid::left_out(series.max().unwrap_or(0), "series");
    text += &grid::left_out(rest.len(), "panels");
    text
}

#[cfg(test)]
mod tests {
    use super::super::data::{Form, Panel, Point, Reference, Scale};
    use super::super::png;
    use super::super::probe::{count_inside, texts};
    use super::*;

    fn axis(label: &str, scale: Scale, form: Form) -> Axis {
        Axis {
            label: label.into(),
            scale,
            form,
        }
    }

    fn series(name: &str, rise: f64) -> Series {
        let point = |i: i32| {
            let (x, y) = (f64::from(i) * 100.0, f64::from(i) * rise);
            Point {
                x,
                y,
                low: Some(y * 0.9),
                high: Some(y * 1.1),
            }
        };
        Series {
            name: name.into(),
            points: (0..6).map(point).collect(),
            predicted: vec![(0.0, 0.0), (500.0, 5.0 * rise)],
            joined: true,
            note: String::new(),
        }
    }

    fn panel(title: &str, names: &[&str]) -> Panel {
        Panel {
            title: title.into(),
            series: names
                .iter()
                .zip(1..)
                .map(|(name, i)| series(name, f64::from(i) * 9.0))
                .collect(),
            references: vec![Reference {
                label: "capacity 40/s".into(),
                points: vec![(0.0, 40.0), (500.0, 40.0)],
            }],
        }
    }

    fn chart(panels: Vec<Panel>) -> Curves {
        Curves {
            words: Words {
                title: "Does <it> hold & last?".into(),
                subtitle: "a sweep".into(),
                note: "Mean over 5 replications.".into(),
            },
            x: axis("load, requests per second", Scale::Linear, Form::PerSecond),
            y: axis(
                "goodput, requests per second",
                Scale::Linear,
                Form::PerSecond,
            ),
            panels,
            shades: Vec::new(),
            stacked: false,
        }
    }

    const NAMES: [&str; 3] = [
        "<b>&\"x\"</b>",
        "a name that goes on and on, for a hundred characters and more",
        "c",
    ];

    #[test]
    fn a_chart_says_what_it_shows() {
        let found = texts(&curves_svg(&chart(vec![panel("", &NAMES)])));
        for text in [
            "Does <it> hold & last?",
            "a sweep",
            "load, requests per second",
            "goodput, requests per second",
            "<b>&\"x\"</b>",
            "c",
            "capacity 40/s",
            "dotted: theory",
            "shaded: interval",
            "Mean over 5 replications.",
            "500",
        ] {
            assert!(found.iter().any(|t| t == text), "{text} in {found:?}");
        }
        assert!(
            found
                .iter()
                .any(|t| t.starts_with("a name that") && t.ends_with('…'))
        );
        assert!(!found.iter().any(|t| t == "nothing to draw"));
    }

    #[test]
    fn every_text_is_inside_the_picture() {
        let scales = [
            Scale::Linear,
            Scale::Log,
            Scale::Steps(vec!["a long category".repeat(5); 501]),
        ];
        for scale in scales {
            for count in 0..=9 {
                let titles = [
                    "one",
                    "a title that goes on and on for more than a panel is wide, and then on",
                ];
                let panels = (0..count).map(|i| panel(titles[i % 2], &NAMES)).collect();
                let mut chart = chart(panels);
                chart.words.subtitle = "words ".repeat(60);
                chart.words.note = "words ".repeat(200);
                chart.y.label = "words ".repeat(60);
                chart.x.scale = scale.clone();
                chart.y.scale = if scale == Scale::Log {
                    Scale::Log
                } else {
                    Scale::Linear
                };
                assert!(count_inside(&curves_svg(&chart)) >= 5);
                // Different names in each panel stand at their lines.
                for (i, panel) in chart.panels.iter_mut().enumerate() {
                    panel
                        .series
                        .iter_mut()
                        .for_each(|series| series.name += &format!(" {i}"));
                }
                assert!(count_inside(&curves_svg(&chart)) >= 5);
            }
        }
    }

    #[test]
    fn panels_with_the_same_names_share_a_key() {
        let svg = curves_svg(&chart(vec![
            panel("one", &["a", "b"]),
            panel("two", &["b", "a"]),
        ]));
        let found = texts(&svg);
        for text in ["one", "two", "a", "b"] {
            assert_eq!(found.iter().filter(|t| *t == text).count(), 1, "{text}");
        }
    }

    #[test]
    fn shaded_spans_lie_behind_the_lines_and_have_names() {
        let plain = chart(vec![panel("one", &NAMES), panel("two", &NAMES)]);
        let mut shaded = plain.clone();
        let spans = [
            (100.0, 200.0, "outage"),
            (450.0, 900.0, "slow"),
            (2e3, 3e3, "later"),
        ];
        shaded.shades = spans
            .map(|(from, to, label)| Shade {
                from,
                to,
                label: label.into(),
            })
            .into();
        let svg = curves_svg(&shaded);
        let found = texts(&svg);
        let count = |name: &str| found.iter().filter(|text| *text == name).count();
        assert_eq!([count("outage"), count("slow"), count("later")], [2, 2, 0]);
        assert!(count_inside(&svg) > 10);
        let colour = |svg: &str| svg.rfind("#EEE0E8");
        assert!(colour(&svg) < svg.rfind("<circle") && colour(&svg).is_some());
        assert_eq!(colour(&curves_svg(&plain)), None);
    }

    #[test]
    fn stacked_plots_have_numbers_of_their_own_and_names_at_their_lines() {
        let mut chart = chart(vec![panel("one", &["a", "b"]), panel("two", &["a"])]);
        for point in &mut chart.panels[1].series[0].points {
            (point.y, point.low, point.high) = (point.y * 1e5, None, None);
        }
        chart.panels[1].series[0].predicted.clear();
        chart.stacked = true;
        let svg = curves_svg(&chart);
        let found = texts(&svg);
        let has = |text: &str| found.iter().filter(|t| *t == text).count();
        assert_eq!(
            [has("a"), has("b"), has("4,000,000")],
            [2, 1, 1],
            "{found:?}"
        );
        assert!(has("100") == 2 && count_inside(&svg) > 10, "{found:?}");
    }

    #[test]
    fn at_most_eight_are_shown_and_the_rest_is_mentioned() {
        let names: Vec<String> = (0..11).map(|i| format!("s{i}")).collect();
        let names: Vec<&str> = names.iter().map(|name| &name[..]).collect();
        let found = texts(&curves_svg(&chart(vec![panel("", &names)])));
        assert!(found.iter().any(|t| t == "s7") && !found.iter().any(|t| t == "s8"));
        assert!(
            found
                .iter()
                .any(|t| t.ends_with(" The last 3 series are not shown.")),
            "{found:?}"
        );
        let panels = (0..9).map(|i| panel(&format!("p{i}"), &["a"])).collect();
        let found = texts(&curves_svg(&chart(panels)));
        assert!(found.iter().any(|t| t == "p7") && !found.iter().any(|t| t == "p8"));
        assert!(
            found
                .iter()
                .any(|t| t.ends_with(" The last of the panels is not shown."))
        );
    }

    #[test]
    fn without_a_value_there_is_nothing_to_draw() {
        let mut broken = panel("", &["a"]);
        for (i, point) in broken.series[0].points.iter_mut().enumerate() {
            (point.x, point.y) = if i % 2 == 0 {
                (f64::NAN, 1.0)
            } else {
                (1.0, f64::INFINITY)
            };
        }
        broken.series[0].predicted = vec![(f64::NAN, f64::NAN)];
        for panels in [vec![], vec![Panel::default()], vec![broken]] {
            let svg = curves_svg(&chart(panels));
            assert!(texts(&svg).contains(&"nothing to draw".to_string()));
            assert!(count_inside(&svg) >= 4);
        }
    }

    #[test]
    fn values_that_are_no_numbers_are_left_out() {
        let whole = chart(vec![panel("", &["a"])]);
        let mut holed = whole.clone();
        let nan = Point {
            x: 250.0,
            y: f64::NAN,
            ..Point::default()
        };
        holed.panels[0].series[0].points.insert(3, nan);
        let svg = curves_svg(&holed);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let discs = |svg: &str| svg.matches("<circle").count();
        assert_eq!(discs(&svg), discs(&curves_svg(&whole)));
        let lines = |svg: &str| svg.matches("stroke-width=\"15\"").count();
        assert_eq!(
            lines(&svg),
            lines(&curves_svg(&whole)) + 1,
            "the line is interrupted"
        );
    }

    #[test]
    fn a_logarithmic_axis_marks_zero_only_where_it_is_needed() {
        let mut chart = chart(vec![panel("", &["a"])]);
        (chart.x.scale, chart.y.scale) = (Scale::Log, Scale::Log);
        let zeros = |chart: &Curves| {
            texts(&curves_svg(chart))
                .iter()
                .filter(|t| *t == "0")
                .count()
        };
        assert_eq!(zeros(&chart), 2);
        chart.panels[0].series[0].points.remove(0);
        assert_eq!(zeros(&chart), 0);
    }

    #[test]
    fn the_same_curves_give_the_same_bytes_and_a_picture() {
        let chart = chart(vec![panel("", &NAMES)]);
        assert_eq!(curves_svg(&chart), curves_svg(&chart));
        assert_eq!(png(&curves_svg(&chart))[..4], *b"\x89PNG");
    }
}
