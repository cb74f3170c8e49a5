//! Which series a chart shows, how each looks, and where its name stands.
//!
//! A strategy that is blue in one panel and green in the next cannot be followed. So a name has one look in the
//! whole chart, as long as there are looks for all names.

use super::MOST_SHOWN;
use super::data::{Panel, Series};
use super::ends::behind;
use super::palette::{SERIES, Stroke};

/// A panel with the looks of the series that are shown.
#[derive(Clone, Debug)]
pub(super) struct Shown<'a> {
    pub(super) panel: &'a Panel,
    pub(super) series: Vec<(&'a Series, Stroke)>,
}

/// What a chart shows.
#[derive(Clone, Debug)]
pub(super) struct Cast<'a> {
    /// At most eight panels.
    pub(super) panels: Vec<Shown<'a>>,
    /// Whether names are in a key above the plots and not at the ends of lines: those of small plots with names
    /// in common, and those of points without lines.
    pub(super) key: bool,
}

impl<'a> Cast<'a> {
    pub(super) fn new(panels: &'a [Panel]) -> Self {
        let panels = &panels[..panels.len().min(MOST_SHOWN)];
        let names = common_names(panels);
        let shown = |panel| look(panel, names.as_deref());
        let panels: Vec<Shown<'a>> = panels.iter().map(shown).collect();
        let scattered = |(series, _): &(&Series, Stroke)| !series.joined;
        let scattered = panels
            .iter()
            .any(|panel| panel.series.iter().any(scattered));
        Self {
            key: names.is_some() && (panels.len() > 1 || scattered),
            panels,
        }
    }

    /// The series of all panels with their looks.
    pub(super) fn series(&self) -> impl Iterator<Item = (&'a Series, Stroke)> {
        self.panels
            .iter()
            .flat_map(|panel| panel.series.iter().copied())
    }

    /// Everything that has a name, with what stands behind it.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let references = self.panels.iter().flat_map(|shown| &shown.panel.references);
        let references = references.map(|reference| reference.label.clone());
        self.series()
            .map(|(series, _)| series.name.clone() + &behind(&series.note))
            .chain(references)
    }

    /// One series for each look, in the order of their first panels.
    pub(super) fn looks(&self) -> Vec<(&'a Series, Stroke)> {
        let mut looks: Vec<(&Series, Stroke)> = Vec::new();
        for (series, stroke) in self.series() {
            if !looks.iter().any(|(_, other)| *other == stroke) {
                looks.push((series, stroke));
            }
        }
        looks
    }
}

/// The different names of all series, if they are few enough to give each a look of its own.
fn common_names(panels: &[Panel]) -> Option<Vec<&str>> {
    let mut names: Vec<&str> = Vec::new();
    for panel in panels {
        for (i, series) in panel.series.iter().take(MOST_SHOWN).enumerate() {
            if panel.series[..i]
                .iter()
                .any(|other| other.name == series.name)
            {
                return None;
            }
            if !names.contains(&&series.name[..]) {
                names.push(&series.name);
            }
        }
    }
    (names.len() <= MOST_SHOWN).then_some(names)
}

/// The series of a panel that are shown. A name has the same look in every panel, if there is a list of them.
fn look<'a>(panel: &'a Panel, names: Option<&[&str]>) -> Shown<'a> {
    let series = panel.series.iter().take(MOST_SHOWN).enumerate();
    let series = series.map(|(i, series)| {
        let known = names.and_then(|names| names.iter().position(|name| *name == series.name));
        (series, SERIES[known.unwrap_or(i)])
    });
    Shown {
        panel,
        series: series.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel(names: &[&str], joined: bool) -> Panel {
        let series = names.iter().map(|name| Series {
            name: (*name).into(),
            joined,
            ..Series::default()
        });
        Panel {
            series: series.collect(),
            ..Panel::default()
        }
    }

    #[test]
    fn a_name_has_the_same_look_in_every_panel() {
        let panels = [panel(&["a", "b"], true), panel(&["b", "c"], true)];
        let cast = Cast::new(&panels);
        let looks = cast.looks();
        let found: Vec<_> = looks
            .iter()
            .map(|(series, stroke)| (&series.name[..], *stroke))
            .collect();
        assert_eq!(
            found,
            [("a", SERIES[0]), ("b", SERIES[1]), ("c", SERIES[2])]
        );
        assert_eq!(cast.panels[1].series[0].1, SERIES[1]);
        assert!(cast.key);
    }

    #[test]
    fn too_many_names_or_two_alike_stand_at_their_lines() {
        let many = [
            panel(&["a", "b", "c", "d", "e"], true),
            panel(&["f", "g", "h", "i"], true),
        ];
        let cast = Cast::new(&many);
        assert!(!cast.key);
        assert_eq!(cast.panels[1].series[0].1, SERIES[0]);
        assert!(!Cast::new(&[panel(&["a", "a"], true), panel(&["a"], true)]).key);
        assert_eq!(Cast::new(&[panel(&["a", "a"], true)]).looks().len(), 2);
    }

    #[test]
    fn one_plot_of_lines_has_no_key_but_points_need_one() {
        assert!(!Cast::new(&[panel(&["a", "b"], true)]).key);
        assert!(Cast::new(&[panel(&["a", "b"], false)]).key);
    }
}
