//! What a sweep leaves behind: a directory that grows cell by cell, and what is made of it in the end.

mod charts;
mod curves;
mod heat;
mod manifest;
mod rows;
mod source;
mod store;
mod table;
mod terminal;
mod words;

pub use charts::sweep_charts;
pub use rows::cell_csv;
pub use store::SweepStore;
pub use terminal::sweep_table;
