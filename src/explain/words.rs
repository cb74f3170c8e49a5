//! Numbers, times and owners as they are read.

use super::case::Case;
use crate::policy::Scope;
use crate::time::SimDuration;

/// `text` with spaces that hold it together.
pub(super) fn glue(text: &str) -> String {
    text.replace(' ', "\u{a0}")
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

/// A number with three significant digits; whole, with its thousands set apart, from a hundred on.
pub(super) fn number(value: f64) -> String {
    match value {
        v if v >= 1e15 => format!("{v:.1e}"),
        v if v >= 99.95 => count(v.round() as u64),
        v if v <= 0.0 => "0".into(),
        v => {
            let decimals = (2 - v.log10().floor() as i32).clamp(0, 9) as usize;
            trimmed(&format!("{v:.decimals$}"))
        }
    }
}

fn trimmed(text: &str) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').into(),
        false => text.into(),
    }
}

/// "1 retry", "2 retries".
pub(super) fn counted(value: u64, one: &str, many: &str) -> String {
    glue(&format!(
        "{} {}",
        count(value),
        if value == 1 { one } else { many }
    ))
}

/// A share as a percentage. What is not quite all or nothing never looks like it.
pub(super) fn percent(share: f64) -> String {
    let text = match share * 100.0 {
        v if v <= 0.0 => "0".into(),
        v if v > 0.0 && v < 0.005 => "<0.01".into(),
        v if (99.995..100.0).contains(&v) => ">99.99".into(),
        v => trimmed(&format!("{v:.2}")),
    };
    format!("{text}\u{a0}%")
}

/// A probability as a simple fraction where it is one, else as a percentage.
pub(super) fn probability(p: f64) -> String {
    if p == 0.0 || p == 1.0 {
        return number(p);
    }
    for below in 2..=8_u32 {
        let above = p * f64::from(below);
        let near = (above - above.round()).abs() < 1e-6;
        if near && above.round() >= 1.0 && above.round() < f64::from(below) {
            return format!("{}/{below}", above.round());
        }
    }
    percent(p)
}

/// A time in seconds, with three significant digits and the unit that suits it.
pub(super) fn seconds(value: f64) -> String {
    const UNITS: [(f64, f64, &str); 4] = [
        (0.9995, 1e-3, "ms"),
        (9_999.5, 1.0, "s"),
        (172_800.0, 3_600.0, "h"),
        (63_072_000.0, 86_400.0, "d"),
    ];
    if value == 0.0 {
        return glue("0 s");
    }
    if value < 5e-9 {
        return glue("<0.01 us");
    }
    if value < 5e-6 {
        return glue(&format!("{} us", number(value * 1e6)));
    }
    let found = UNITS.iter().find(|(below, ..)| value < *below);
    let &(_, unit, name) = found.unwrap_or(&(0.0, 31_536_000.0, "y"));
    glue(&format!("{} {name}", number(value / unit)))
}

/// A computed time; for ever is [`SimDuration::MAX`].
pub(super) fn time(value: SimDuration) -> String {
    match value {
        SimDuration::MAX => "unbounded".into(),
        value => seconds(value.as_secs_f64()),
    }
}

/// Who owns the states of a rule: "all 2,000 clients share one".
pub(super) fn owners(case: &Case<'_>, scope: Scope) -> String {
    let clients = case.clients as u64;
    match scope {
        Scope::Call => "every request starts with a new one".into(),
        Scope::Client if clients == 1 => "the only client has one".into(),
        Scope::Client => format!(
            "each of {} has its own",
            counted(clients, "client", "clients")
        ),
        Scope::Process(process) => format!(
            "each process of {} has its own, {} in all",
            counted(process.clients.into(), "client", "clients"),
            count(scope.states(case.clients) as u64)
        ),
        Scope::Shared if clients == 1 => "the only client has one".into(),
        Scope::Shared => format!("all {} share one", counted(clients, "client", "clients")),
    }
}

/// "For every request", "for each client", … for what happens per state.
pub(super) fn each(scope: Scope) -> &'static str {
    match scope {
        Scope::Call => "for every request",
        Scope::Client => "for each client",
        Scope::Process(_) => "for each process",
        Scope::Shared => "for all clients together",
    }
}

/// A list in words: "a, b and c".
pub(super) fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// With a capital letter and a full stop.
pub(super) fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars
        .next()
        .map(|c| c.to_uppercase().collect())
        .unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_never_lie_at_the_ends() {
        assert_eq!(
            [0.0, 0.0123, 0.5, 1.94, 99.949, 100.4, 1_234_567.0].map(number),
            ["0", "0.0123", "0.5", "1.94", "99.9", "100", "1,234,567"]
        );
        let shares = [0.0, 1e-9, 0.25, 0.973, 0.999_99, 1.0].map(percent);
        let expected = ["0 %", "<0.01 %", "25 %", "97.3 %", ">99.99 %", "100 %"];
        assert_eq!(shares, expected.map(glue));
        let chances = [0.25, 0.5, 2.0 / 3.0, 0.0, 1.0, 0.31].map(probability);
        let expected = ["1/4", "1/2", "2/3", "0", "1", "31 %"];
        assert_eq!(chances, expected.map(glue));
    }

    #[test]
    fn a_time_has_the_unit_that_suits_it() {
        let times = [0.0, 2e-6, 0.05, 0.9996, 12.34, 600.0, 10_800.0, 1e6, 1.8e10].map(seconds);
        let expected = [
            "0 s", "2 us", "50 ms", "1 s", "12.3 s", "600 s", "3 h", "11.6 d", "571 y",
        ];
        assert_eq!(times, expected.map(glue));
        assert_eq!(time(SimDuration::MAX), "unbounded");
    }

    #[test]
    fn words_are_put_together() {
        let parts = ["a", "b", "c"].map(String::from);
        assert_eq!(listed(&parts), "a, b and c");
        assert_eq!(listed(&parts[..1]), "a");
        assert_eq!(sentence("no wait"), "No wait.");
        assert_eq!(counted(1, "retry", "retries"), glue("1 retry"));
        assert_eq!(counted(2_000, "retry", "retries"), glue("2,000 retries"));
    }
}
