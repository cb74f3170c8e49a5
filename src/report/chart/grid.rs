//! Several plots of the same size on one sheet, and the words around them.

use super::axes;
use super::canvas::{Canvas, Look};
use super::frame::Frame;
use super::ruler::Ruler;
use super::{MARGIN, WIDTH, footnote, labels, palette};

/// Height of the titles of a chart.
pub(super) const HEAD: f64 = 70.0;
/// Above a plot, where its title is; without titles there is the half of it.
const ABOVE: f64 = 26.0;
/// Above a plot with shaded spans, where their names are.
const NAMED: f64 = 14.0;
/// Below a plot, where numbers may be.
const BELOW: f64 = 22.0;
/// Space between plots.
const BETWEEN: f64 = 18.0;
/// From the lowest plots to the lower edge, without the footnote.
const FOOT: f64 = 50.0;
/// Height of a line of the footnote.
const LINE: f64 = 15.0;
const LABEL_SIZE: f64 = 11.5;

/// Where the plots of a chart are.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    pub(super) count: usize,
    pub(super) across: usize,
    /// Left edge of the first plot.
    pub(super) left: f64,
    /// Lower edge of what stands above the plots.
    pub(super) top: f64,
    /// Width and height of a plot.
    pub(super) plot: (f64, f64),
    /// What each plot needs at its right, for labels.
    pub(super) beside: f64,
    pub(super) titled: bool,
    /// Whether spans are shaded, with names above the plots.
    pub(super) shaded: bool,
}

/// How many plots stand side by side.
pub(super) fn across(count: usize) -> usize {
    match count {
        0 | 1 => 1,
        2 | 4 => 2,
        _ => 3,
    }
}

/// The width of a plot when the first begins at `left` and each needs `beside` at its right.
pub(super) fn room(left: f64, across: usize, beside: f64) -> f64 {
    let gaps = BETWEEN * (across as f64 - 1.0);
    (WIDTH - MARGIN - left - gaps) / across as f64 - beside
}

impl Grid {
    fn above(&self) -> f64 {
        let title = if self.titled { ABOVE } else { ABOVE / 2.0 };
        title + self.names()
    }

    /// Height of the names of shaded spans.
    fn names(&self) -> f64 {
        if self.shaded { NAMED } else { 0.0 }
    }

    /// A plot, with axes from 0 to 1.
    pub(super) fn frame(&self, i: usize) -> Frame {
        let (row, column) = ((i / self.across) as f64, (i % self.across) as f64);
        let (width, height) = self.plot;
        let left = self.left + column * (width + self.beside + BETWEEN);
        let top = self.top + row * (self.above() + height + BELOW) + self.above();
        Frame {
            left,
            right: left + width,
            top,
            bottom: top + height,
            x: 0.0..1.0,
            y: 0.0..1.0,
        }
    }

    /// Nothing stands left of it.
    pub(super) fn leftmost(&self, i: usize) -> bool {
        i.is_multiple_of(self.across)
    }

    /// Nothing stands below it.
    pub(super) fn lowest(&self, i: usize) -> bool {
        i + self.across >= self.count
    }

    /// The frame of all plots together.
    fn whole(&self) -> Frame {
        let last = self.frame(self.count.max(1) - 1);
        let corner = self.frame(self.across.min(self.count.max(1)) - 1);
        Frame {
            right: corner.right,
            bottom: last.bottom,
            ..self.frame(0)
        }
    }

    /// The height of the chart with a footnote of so many lines.
    pub(super) fn height(&self, lines: usize) -> f64 {
        self.whole().bottom + FOOT + LINE * lines as f64 + 6.0
    }

    /// The marks and numbers of the axes of a plot, where nothing else stands in their place.
    pub(super) fn numbers(&self, canvas: &Canvas<'_>, i: usize, x: &Ruler, y: &Ruler) {
        let frame = self.frame(i);
        axes::across(canvas, &frame, x, self.lowest(i));
        if self.leftmost(i) {
            axes::upwards(canvas, &frame, y);
        }
    }

    /// The title of a plot.
    pub(super) fn title(&self, canvas: &Canvas<'_>, i: usize, title: &str) {
        let frame = self.frame(i);
        let look = Look::new(12.5).bold();
        let title = labels::fit(title, look, self.plot.0 + self.beside);
        canvas.text(&title, (frame.left, frame.top - 8.0 - self.names()), look);
    }

    /// What the axes measure, once for all plots.
    pub(super) fn labels(&self, canvas: &Canvas<'_>, x: &str, y: &str) {
        let all = self.whole();
        let look = Look::new(LABEL_SIZE).colour(palette::FAINT).centred();
        let middle = (all.left + all.right) / 2.0;
        let room = 2.0 * (middle - MARGIN).min(WIDTH - MARGIN - middle);
        let below = (middle, all.bottom + 35.0);
        canvas.text(&labels::fit(x, look, room), below, look);
        let beside = (MARGIN + 8.0, (all.top + all.bottom) / 2.0);
        let room = all.bottom - all.top + 2.0 * ABOVE;
        canvas.text(&labels::fit(y, look, room), beside, look.upright());
    }
}

/// A footnote in as many lines as it needs, three at the most.
pub(super) fn footnote_lines(text: &str) -> Vec<String> {
    const MOST: usize = 3;
    let look = Look::new(11.0);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        let fits = |line: &String| labels::width(line, look) <= WIDTH - 2.0 * MARGIN;
        let full = lines.len() == MOST;
        match (longer.filter(|line| full || fits(line)), lines.last_mut()) {
            (Some(longer), Some(line)) => *line = longer,
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// Puts a footnote at the lower edge.
pub(super) fn footnotes(canvas: &Canvas<'_>, height: f64, lines: &[String]) {
    for (above, line) in lines.iter().rev().enumerate() {
        footnote(canvas, height - LINE * above as f64, line);
    }
}

/// A clause about what is not shown.
pub(super) fn left_out(count: usize, what: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(" The last of the {what} is not shown."),
        n => format!(" The last {n} {what} are not shown."),
    }
}

/// Says that there is nothing, in the middle of a plot.
pub(super) fn nothing(canvas: &Canvas<'_>, frame: &Frame) {
    let look = Look::new(13.0).colour(palette::FAINT).centred();
    let middle = (
        (frame.left + frame.right) / 2.0,
        (frame.top + frame.bottom) / 2.0,
    );
    canvas.text("nothing to draw", middle, look);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_stand_in_rows_inside_the_sheet() {
        for count in 1..=8 {
            let across = across(count);
            let grid = Grid {
                count,
                across,
                left: 80.0,
                top: 100.0,
                plot: (room(80.0, across, 30.0), 150.0),
                beside: 30.0,
                titled: true,
                shaded: count % 2 == 0,
            };
            let frames: Vec<Frame> = (0..count).map(|i| grid.frame(i)).collect();
            for (i, frame) in frames.iter().enumerate() {
                assert!(frame.left >= 80.0 && frame.right + 30.0 <= WIDTH - MARGIN + 1e-9);
                assert!(frame.top > 100.0 && frame.bottom + FOOT < grid.height(1));
                for other in &frames[..i] {
                    let beside = other.right + 30.0 < frame.left;
                    let above = other.bottom < frame.top && other.top < frame.top;
                    assert!(beside || above, "{count}: {i}");
                }
            }
            assert_eq!(
                (0..count).filter(|&i| grid.lowest(i)).count(),
                across.min(count)
            );
        }
    }

    #[test]
    fn a_long_footnote_has_lines_and_an_end() {
        assert!(footnote_lines("").is_empty());
        assert_eq!(footnote_lines("a  b"), ["a b"]);
        let lines = footnote_lines(&"many words ".repeat(20));
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert_eq!(footnote_lines(&"many words ".repeat(300)).len(), 3);
    }
}
