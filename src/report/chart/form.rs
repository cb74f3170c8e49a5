//! Values as an axis, a key or a small cell can show them.
//!
//! The numbers of an axis share their decimals, so that they can be compared at a glance; in a cell there is room
//! for three digits.

use super::data::Form;
use super::number::{count, factor, latency, short_percent, thousands};

/// From here on a number is written as a power of ten.
const HUGE: f64 = 1e7;

impl Form {
    /// A number of an axis whose numbers are `step` apart and reach up to `most`.
    pub(super) fn tick(self, value: f64, step: f64, most: f64) -> String {
        if value == 0.0 && self != Form::Share {
            return "0".into();
        }
        match self {
            Form::Plain | Form::PerSecond => apart(value, step),
            Form::Share => format!("{} %", apart(value * 100.0, step * 100.0)),
            Form::Factor => format!("{}×", apart(value, step)),
            Form::Seconds if most < 1.0 => format!("{} ms", apart(value * 1e3, step * 1e3)),
            Form::Seconds => format!("{} s", apart(value, step)),
        }
    }

    /// A value with its unit.
    pub(super) fn full(self, value: f64) -> String {
        match self {
            Form::Plain => plain(value),
            Form::PerSecond => format!("{}/s", plain(value)),
            Form::Share => short_percent(value),
            Form::Factor if value < HUGE => format!("{}×", plain(value)),
            Form::Factor => factor(value),
            Form::Seconds if value == 0.0 => "0 s".into(),
            Form::Seconds if value < 0.9995 => format!("{} ms", plain(value * 1e3)),
            Form::Seconds => format!("{} s", plain(value)),
        }
    }

    /// A value for a small place; a share has no sign of percent there. What is not quite all or nothing never
    /// looks like it.
    pub(super) fn short(self, value: f64) -> String {
        match self {
            Form::Share => match value * 100.0 {
                v if v > 0.0 && v < 0.05 => "<0.1".into(),
                v if (99.95..100.0).contains(&v) => ">99.9".into(),
                v if v == 0.0 || v == 100.0 => format!("{v:.0}"),
                v => format!("{v:.1}"),
            },
            Form::PerSecond => plain(value),
            Form::Seconds if value != 0.0 && value < 3_600.0 => latency(value * 1e3),
            form => form.full(value),
        }
    }
}

fn plain(value: f64) -> String {
    if value.abs() >= HUGE {
        format!("{value:.1e}").replace(".0e", "e")
    } else if value < 0.0 {
        format!("−{}", thousands(-value))
    } else {
        thousands(value)
    }
}

/// A number with its thousands set apart and the decimals that steps of `step` need.
fn apart(value: f64, step: f64) -> String {
    if value.abs() >= HUGE {
        return plain(value);
    }
    let decimals = (2 - (step.abs() * 1.000_001).log10().floor() as i32).clamp(0, 12) as usize;
    let needed = (0..decimals)
        .find(|&d| {
            let scaled = step * 10f64.powi(d as i32);
            (scaled - scaled.round()).abs() < 1e-6 * scaled.abs()
        })
        .unwrap_or(decimals);
    let text = format!("{:.needed$}", value.abs());
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), count);
    let sign = if value < 0.0 { "−" } else { "" };
    format!("{sign}{whole}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_an_axis_have_the_decimals_of_its_step() {
        for (form, value, step, text) in [
            (Form::Plain, 0.0, 0.5, "0"),
            (Form::Plain, 1.0, 0.5, "1.0"),
            (Form::Plain, 1200.0, 400.0, "1,200"),
            (Form::Plain, -2.5, 2.5, "−2.5"),
            (Form::Plain, 1e9, 1e9, "1e9"),
            (Form::Plain, 0.0002, 0.0002, "0.0002"),
            (Form::Share, 0.985, 0.005, "98.5 %"),
            (Form::Share, 0.0, 0.25, "0 %"),
            (Form::Share, 0.25, 0.25, "25 %"),
            (Form::Factor, 1.5, 0.5, "1.5×"),
            (Form::PerSecond, 1e6, 1e6, "1,000,000"),
        ] {
            assert_eq!(form.tick(value, step, 10.0), text);
        }
        assert_eq!(Form::Seconds.tick(0.5, 0.5, 2.0), "0.5 s");
        assert_eq!(Form::Seconds.tick(0.05, 0.01, 0.2), "50 ms");
    }

    #[test]
    fn a_small_place_gets_three_digits_and_never_rounds_a_failure_away() {
        let shares = [0.0, 0.0001, 0.5, 0.1234, 0.9997, 1.0].map(|v| Form::Share.short(v));
        assert_eq!(shares, ["0", "<0.1", "50.0", "12.3", ">99.9", "100"]);
        assert_eq!(Form::Factor.short(1.424), "1.42×");
        assert_eq!(Form::Seconds.short(0.0321), "32.1 ms");
        assert_eq!(Form::Plain.short(-3.0), "−3");
    }

    #[test]
    fn a_full_value_has_its_unit() {
        assert_eq!(Form::Share.full(0.9831), "98.31 %");
        assert_eq!(Form::PerSecond.full(1200.0), "1,200/s");
        assert_eq!(Form::Seconds.full(0.25), "250 ms");
        assert_eq!(Form::Seconds.full(90.0), "90 s");
        assert_eq!(Form::Factor.full(3.0), "3×");
        assert_eq!(Form::Plain.full(2.5e8), "2.5e8");
    }
}
