//! Which scenarios a sweep consists of.
//!
//! A cell is the scenario with some of its values replaced. Cells are made one at a time when they are wanted, so that
//! ten thousand of them take no more memory than ten.

mod cells;
mod spec;
mod values;

pub(super) use cells::columns;
pub use cells::{Axis, Cell, Coordinate, Sweep};
pub(super) use spec::SWEEP_COLUMNS;
pub use spec::{AxisSpec, Bound, ChartSpec, Design, LatinHypercube, MOST_CELLS, Range, SweepSpec};
pub use values::{Quantity, Values};
