//! Numbers as people read them: percentages that never round a failure away, thousands set apart, latencies in
//! a unit that suits them.

/// A share as a percentage with two decimals. What is not quite all or nothing never looks like it.
pub(super) fn percent(share: f64) -> String {
    match share * 100.0 {
        v if v > 0.0 && v < 0.005 => "<0.01 %".into(),
        v if (99.995..100.0).contains(&v) => ">99.99 %".into(),
        v => format!("{v:.2} %"),
    }
}

/// A share as a percentage with as few digits as tell four significant ones: "2 %", "0.15 %".
pub(super) fn short_percent(share: f64) -> String {
    format!("{} %", significant(share * 100.0, 4))
}

/// A share as points of a percentage: "20.1", "0.35".
pub(super) fn points(share: f64) -> String {
    match share * 100.0 {
        v if v > 0.0 && v < 0.005 => "<0.01".into(),
        v if v < 1.0 => format!("{v:.2}"),
        v => format!("{v:.1}"),
    }
}

/// How many times: "1.42×".
pub(super) fn factor(value: f64) -> String {
    match value {
        v if v < 99.95 => format!("{v:.2}×"),
        v if v < 999_999.5 => format!("{}×", thousands(v)),
        v => format!("{v:.1e}×"),
    }
}

/// A latency given in milliseconds, with three significant digits, in ms, s or h.
pub(super) fn latency(ms: f64) -> String {
    let (value, unit) = match ms {
        ms if ms < 999.5 => (ms, "ms"),
        ms if ms < 9_999_500.0 => (ms / 1e3, "s"),
        ms => (ms / 3.6e6, "h"),
    };
    match value {
        v if v < 9.995 => format!("{v:.2} {unit}"),
        v if v < 99.95 => format!("{v:.1} {unit}"),
        v => format!("{v:.0} {unit}"),
    }
}

/// A count with its thousands set apart.
pub(super) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number with its thousands set apart; whole from a hundred on, below with three significant digits.
pub(super) fn thousands(value: f64) -> String {
    if value >= 99.5 {
        count(value.round() as u64)
    } else {
        significant(value, 3)
    }
}

/// Decimals that show three digits of a number, and at most three.
pub(super) fn places(value: f64) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 2;
    }
    (2 - value.abs().log10().floor() as i32).clamp(0, 3) as usize
}

/// With so many decimals; without any, thousands are set apart. Never a negative zero.
pub(super) fn fixed(value: f64, places: usize) -> String {
    let text = format!("{value:.places$}");
    let bare = text.trim_start_matches('-');
    let sign = if text == bare || bare.chars().all(|c| "0.".contains(c)) {
        ""
    } else {
        "-"
    };
    match bare.parse() {
        Ok(whole) if places == 0 => format!("{sign}{}", count(whole)),
        _ => format!("{sign}{bare}"),
    }
}

/// [`fixed`] with a plus sign where it is above zero.
pub(super) fn signed(value: f64, places: usize) -> String {
    let text = fixed(value, places);
    if text.chars().all(|c| "0.,-".contains(c)) || text.starts_with('-') {
        text
    } else {
        format!("+{text}")
    }
}

/// Rounded to so many significant digits, without zeros at the end.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".into();
    }
    let decimals = (digits - 1 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_never_rounds_a_failure_away() {
        let shown: Vec<_> = [0.0, 1e-7, 0.8319, 0.999_94, 0.999_99, 1.0]
            .map(percent)
            .into();
        let expected = [
            "0.00 %", "<0.01 %", "83.19 %", "99.99 %", ">99.99 %", "100.00 %",
        ];
        assert_eq!(shown, expected);
        assert_eq!(short_percent(0.02), "2 %");
        assert_eq!(short_percent(0.0015), "0.15 %");
        assert_eq!(short_percent(0.0), "0 %");
        assert_eq!(short_percent(1.0), "100 %");
        assert_eq!(
            [0.201, 0.0035, 1e-6, 0.0].map(points),
            ["20.1", "0.35", "<0.01", "0.00"]
        );
    }

    #[test]
    fn a_latency_has_three_digits_and_a_unit_that_suits_it() {
        for (ms, text) in [
            (0.0123, "0.01 ms"),
            (1.234, "1.23 ms"),
            (12.34, "12.3 ms"),
            (999.4, "999 ms"),
            (999.6, "1.00 s"),
            (59_990.0, "60.0 s"),
            (3_600_000.0, "3600 s"),
            (36_000_000.0, "10.0 h"),
        ] {
            assert_eq!(latency(ms), text);
        }
    }

    #[test]
    fn differences_have_a_sign_and_never_a_negative_zero() {
        let shown = [-0.467, 0.0412, -0.001, 12_345.6].map(|v| signed(v, 2));
        assert_eq!(shown, ["-0.47", "+0.04", "0.00", "+12345.60"]);
        assert_eq!(
            [1234.5, -1234.5, 0.4, -0.4].map(|v| fixed(v, 0)),
            ["1,234", "-1,234", "0", "0"]
        );
        assert_eq!(
            [0.0, 0.036, 0.47, 9.7, 54.0, 1e4].map(places),
            [2, 3, 3, 2, 1, 0]
        );
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 7, 999, 1_000, 1_234_567].map(count),
            ["0", "7", "999", "1,000", "1,234,567"]
        );
        assert_eq!(thousands(1e9), "1,000,000,000");
        assert_eq!(
            [0.0, 0.25, 12.5, 1200.4].map(thousands),
            ["0", "0.25", "12.5", "1,200"]
        );
        assert_eq!(
            [1.424, 99.96, 12_345.0, 1.25e9].map(factor),
            ["1.42×", "100×", "12,345×", "1.2e9×"]
        );
    }
}
