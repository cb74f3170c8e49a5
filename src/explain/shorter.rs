//! How probable it is that a wait is shorter than the one before.

use super::words::{probability, sentence};
use crate::policy::{Backoff, CapOrder, Jitter, Rounding};

/// Retries that are looked at for where the probability changes.
const MOST_LOOKED_AT: u64 = 200;

/// The ends in seconds between which the wait before retry `n` is uniform and independent of the others; `None` when it
/// is not.
fn ends(backoff: &Backoff, n: u64) -> Option<(f64, f64)> {
    let shape = backoff.shape();
    let independent = match backoff {
        Backoff::Immediate
        | Backoff::Fixed(_)
        | Backoff::Linear(_)
        | Backoff::Exponential(_)
        | Backoff::Fibonacci(_)
        | Backoff::Polynomial(_)
        | Backoff::List(_) => !matches!(shape.jitter, Jitter::Lognormal(_)),
        Backoff::Uniform(_) => shape.jitter == Jitter::None,
        Backoff::Memoryless(_) | Backoff::Decorrelated(_) => false,
    };
    let piled = shape.cap_order == CapOrder::AfterJitter && backoff.cap().is_some();
    let plain = shape.rounding == Rounding::None && (!piled || shape.jitter == Jitter::None);
    let (low, high) = backoff.bounds(n);
    (independent && plain).then(|| (low.as_secs_f64(), high.as_secs_f64()))
}

/// P(Y < X) for independent X and Y that are uniform between two ends each.
pub(super) fn less(x: (f64, f64), y: (f64, f64)) -> f64 {
    let (wide_x, wide_y) = (x.1 - x.0, y.1 - y.0);
    if wide_x == 0.0 {
        return match wide_y {
            0.0 => f64::from(u8::from(y.0 < x.0)),
            wide => ((x.0 - y.0) / wide).clamp(0.0, 1.0),
        };
    }
    if wide_y == 0.0 {
        return ((x.1 - y.0) / wide_x).clamp(0.0, 1.0);
    }
    // The integral from −∞ to t of how much of Y lies below, times its width.
    let below = |t: f64| match t {
        t if t <= 0.0 => 0.0,
        t if t <= wide_y => 0.5 * t * t / wide_y,
        t => 0.5 * wide_y + (t - wide_y),
    };
    (below(x.1 - y.0) - below(x.0 - y.0)) / wide_x
}

/// The probability that the wait before retry `n` ≥ 2 is shorter than the one before, where it is known.
pub(super) fn exact(backoff: &Backoff, n: u64) -> Option<f64> {
    if let Backoff::Memoryless(form) = backoff
        && form.shape.jitter == Jitter::None
        && form.shape.rounding == Rounding::None
        && (n > 2 || form.shape.first.is_none())
        && form.mean.as_nanos() > 0
    {
        return Some(0.5);
    }
    Some(less(ends(backoff, n - 1)?, ends(backoff, n)?))
}

/// One line, from what is known or else from `drawn` shares for retry 2, 3, …; nothing when there are no two retries.
pub(super) fn line(backoff: &Backoff, retries: u64, drawn: &[f64]) -> Option<String> {
    if retries < 2 {
        return None;
    }
    let known: Option<Vec<f64>> = (2..=retries.min(MOST_LOOKED_AT))
        .map(|n| exact(backoff, n))
        .collect();
    // The draws are good for whole percent.
    let drawn: Vec<f64> = drawn.iter().map(|p| (p * 100.0).round() / 100.0).collect();
    let (chances, source) = match &known {
        Some(known) => (known, ""),
        None => (&drawn, " (from the draws)"),
    };
    let (least, most) = chances
        .iter()
        .fold((1.0, 0.0), |(a, b): (f64, f64), &p| (a.min(p), b.max(p)));
    if most == 0.0 {
        return Some("Waits never get shorter from one retry to the next.".into());
    }
    let said = match steps(chances, retries).as_slice() {
        [only] => only.0.clone(),
        [.., last] if last.1 > 4 => format!("{} to {}", probability(least), probability(most)),
        several => {
            let parts: Vec<String> = several.iter().map(|(text, _)| text.clone()).collect();
            super::words::listed(&parts)
        }
    };
    let text = format!("a wait is shorter than the one before with probability {said}{source}");
    Some(format!("{} {}", sentence(&text), meaning(least, most)))
}

/// "1/4 for retries 2 to 7", with the number of such parts so far.
fn steps(chances: &[f64], retries: u64) -> Vec<(String, usize)> {
    let mut groups: Vec<(u64, u64, f64)> = Vec::new();
    for (n, &p) in (2..).zip(chances) {
        match groups.last_mut() {
            Some(group) if (group.2 - p).abs() < 1e-6 => group.1 = n,
            _ => groups.push((n, n, p)),
        }
    }
    let alone = groups.len() == 1;
    let last = (chances.len() + 1) as u64;
    let words = |(from, to, p): (u64, u64, f64)| {
        let p = probability(p);
        match (from, to) {
            _ if alone => p,
            (from, to) if to == last && (to > from || retries > last) => {
                format!("{p} from retry {from} on")
            }
            (from, to) if from == to => format!("{p} at retry {from}"),
            (2, to) => format!("{p} up to retry {to}"),
            (from, to) => format!("{p} for retries {from} to {to}"),
        }
    };
    let parts = groups.into_iter().map(words).zip(1..);
    parts.collect()
}

fn meaning(least: f64, most: f64) -> &'static str {
    match (least, most) {
        (_, most) if most < 0.1 => {
            "Nearly every retry gives the service more time than the one before."
        }
        (least, _) if least >= 0.45 => {
            "A later retry does not give the service more time than an earlier one."
        }
        _ => "So it is the average, not each single wait, that gives the service more time.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uniform_times_are_compared_exactly() {
        for (x, y, expected) in [
            ((0.0, 1.0), (0.0, 2.0), 0.25),
            ((0.0, 1.0), (0.0, 1.0), 0.5),
            ((0.5, 1.0), (1.0, 2.0), 0.0),
            ((1.0, 2.0), (0.0, 1.0), 1.0),
            ((1.0, 1.0), (0.0, 4.0), 0.25),
            ((0.0, 4.0), (1.0, 1.0), 0.75),
            ((1.0, 1.0), (1.0, 1.0), 0.0),
            ((2.0, 2.0), (1.0, 1.0), 1.0),
            // U(0, 3) against U(1, 2): 1/3 · 1/2 + 1/3.
            ((0.0, 3.0), (1.0, 2.0), 0.5),
            ((0.0, 4.0), (0.0, 1.0), 0.875),
        ] {
            let p = less(x, y);
            assert!((p - expected).abs() < 1e-12, "{x:?} {y:?}: {p}");
        }
    }
}
