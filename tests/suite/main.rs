//! Tests of the program as a whole: one binary, so that it is linked once.

mod docs;
mod gallery;
mod tidy;
