//! What a formula says, or why it does not apply.

use crate::metrics::Quantity;

/// What a formula says of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Prediction {
    /// Its name.
    pub(super) formula: &'static str,
    /// The figures that it predicts.
    pub(super) figures: Vec<(Quantity, f64)>,
}

/// A prediction, or the condition that fails, as a clause.
pub(super) type Fit = Result<Prediction, String>;

/// A formula that fits.
pub(super) fn found(formula: &'static str, figures: impl Into<Vec<(Quantity, f64)>>) -> Fit {
    Ok(Prediction {
        formula,
        figures: figures.into(),
    })
}

/// A condition that fails.
pub(super) fn no(why: &str) -> Fit {
    Err(why.to_owned())
}
