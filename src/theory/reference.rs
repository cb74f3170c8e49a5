//! Reads the reference figures that the tests compare with.

use std::collections::BTreeMap;
use std::path::Path;

/// One line of a reference file: column → text.
pub(crate) type Row = BTreeMap<String, String>;

/// All lines of tests/data/reference/`file`.
pub(crate) fn rows(file: &str) -> Vec<Row> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/reference")
        .join(file);
    let mut reader = csv::Reader::from_path(path).expect("the reference file is there");
    reader
        .deserialize()
        .map(|row| row.expect("a line of the reference file"))
        .collect()
}

/// The number in a column; `None` when it is blank.
pub(crate) fn number(row: &Row, column: &str) -> Option<f64> {
    let text = row[column].as_str();
    (!text.is_empty()).then(|| text.parse().expect("a number"))
}

/// Asserts that `value` is `expected` within a relative tolerance (absolute below one billionth).
pub(crate) fn close(value: f64, expected: Option<f64>, tolerance: f64, row: &Row) {
    let expected = expected.unwrap_or_else(|| panic!("a blank to compare {value} with: {row:?}"));
    let allowed = tolerance * expected.abs().max(1e-18);
    assert!(
        (value - expected).abs() <= allowed,
        "{value} instead of {expected}: {row:?}"
    );
}
