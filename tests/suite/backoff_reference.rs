//! Delays of backoffs against independent reference figures.

use crate::support::{Row, rows};
use retrystorm::policy::Backoff;
use retrystorm::theory::retries::total_backoff;
/// The backoff of a row, as a user would write it.
fn backoff(row: &Row) -> Backoff {
    let base = format!("base = \"{}ms\"", row["base_ms"]);
    let cap = match row["cap_ms"].as_str() {
        "" => String::new(),
        cap => format!(", cap = \"{cap}ms\""),
    };
    let factor = format!("factor = {}", row["multiplier"]);
    let jitter = &row["jitter_fraction"];
    let value = match row["strategy"].as_str() {
        "none" => "\"immediate\"".into(),
        "fixed" => format!("{{ fixed.delay = \"{}ms\" }}", row["base_ms"]),
        "linear" => format!("{{ linear = {{ {base}{cap} }} }}"),
        "exponential" => format!("{{ exponential = {{ {base}{cap}, {factor} }} }}"),
        "proportional" => format!(
            "{{ exponential = {{ {base}{cap}, {factor}, jitter.proportional.ratio = {jitter} }} }}"
        ),
        "exponential_random" => format!("{{ memoryless.mean = \"{}ms\" }}", row["base_ms"]),
        "decorrelated" => format!("{{ decorrelated = {{ {base}{cap} }} }}"),
        jitter => format!("{{ exponential = {{ {base}{cap}, {factor}, jitter = \"{jitter}\" }} }}"),
    };
    crate::support::backoff(&value)
}

/// Asserts equality in milliseconds; the files have ten digits, "quadrature" rows about six.
fn close(seconds: f64, row: &Row, column: &str) {
    let exact = row["precision"] == "exact";
    let tolerance = if exact { 1e-8 } else { 1e-6 };
    let expected: f64 = row[column].parse().unwrap();
    assert!(
        (1e3 * seconds - expected).abs() <= tolerance * expected.abs(),
        "{column}: {} instead of {expected}: {row:?}",
        1e3 * seconds
    );
}

#[test]
fn every_reference_delay_is_reproduced() {
    let rows = rows("02_backoff_delay_per_retry.csv");
    assert_eq!(rows.len(), 162);
    for row in rows {
        let retry: u64 = row["retry_index"].parse().unwrap();
        let backoff = backoff(&row);
        let moments: Vec<(f64, f64)> = (1..=retry).map(|n| backoff.moments(n).unwrap()).collect();
        let (mean, sd) = moments[moments.len() - 1];
        close(mean, &row, "mean_delay_ms");
        let all: f64 = moments.iter().map(|(mean, _)| mean).sum();
        close(all, &row, "mean_cumulative_ms");
        if row["strategy"] != "decorrelated" {
            close(sd, &row, "sd_delay_ms");
            let total = total_backoff(1.0, &moments);
            close(total.sd_all_retries, &row, "sd_cumulative_ms");
        }
    }
}

#[test]
fn every_reference_total_of_delays_is_reproduced() {
    let rows = rows("02_backoff_delay_total.csv");
    assert_eq!(rows.len(), 108);
    for row in rows {
        let (p, k) = (
            row["p_fail"].parse().unwrap(),
            row["attempts_k"].parse::<u64>().unwrap(),
        );
        let backoff = backoff(&row);
        let moments: Vec<(f64, f64)> = (1..k).map(|n| backoff.moments(n).unwrap()).collect();
        let total = total_backoff(p, &moments);
        close(total.mean, &row, "mean_total_delay_ms");
        close(
            total.mean_all_retries,
            &row,
            "mean_total_delay_all_retries_ms",
        );
        match total.mean_given_success {
            Some(mean) => close(mean, &row, "mean_total_delay_given_success_ms"),
            None => assert_eq!(row["mean_total_delay_given_success_ms"], ""),
        }
        // Delays of the decorrelated form depend on each other.
        if row["strategy"] != "decorrelated" {
            close(total.sd, &row, "sd_total_delay_ms");
            close(total.sd_all_retries, &row, "sd_total_delay_all_retries_ms");
        }
    }
}
