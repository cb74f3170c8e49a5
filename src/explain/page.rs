//! What is said, before it is laid out.

/// A subject: its title, what is said of it, and figures below.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// What it is about.
    pub title: &'static str,
    /// Paragraphs. Spaces that should not be broken at are no-break spaces.
    pub lines: Vec<String>,
    /// A table below them.
    pub figures: Option<Figures>,
}

/// A table of figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figures {
    /// Two lines of heading for each column.
    pub headings: Vec<[&'static str; 2]>,
    /// Cells of each row, one for each column.
    pub rows: Vec<Vec<String>>,
}

impl Section {
    /// A section of paragraphs.
    pub(super) fn of(title: &'static str, lines: Vec<String>) -> Self {
        Self {
            title,
            lines,
            figures: None,
        }
    }
}
