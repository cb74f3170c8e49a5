//! Where in a document something stands.

use std::ops::Range;

/// Where something was written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Place {
    /// Bytes of the file.
    File(Range<usize>),
    /// The n-th `--set` of the command line.
    Setting(usize),
    /// Nowhere: it is missing or made up.
    #[default]
    Nowhere,
}
