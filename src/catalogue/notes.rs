//! Formulas and origins of forms, beside what their types say of them.

/// What is known of a form beside its meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Note {
    /// The topic that it belongs to.
    pub topic: &'static str,
    /// The form.
    pub form: &'static str,
    /// How it is computed. Empty where the meaning says it.
    pub formula: &'static str,
    /// Where it comes from. Empty for what everybody knows.
    pub source: &'static str,
}

/// What is known of a form.
pub fn note(topic: &str, form: &str) -> Option<&'static Note> {
    NOTES
        .iter()
        .find(|note| note.topic == topic && note.form == form)
}

const fn of(
    topic: &'static str,
    form: &'static str,
    formula: &'static str,
    source: &'static str,
) -> Note {
    Note {
        topic,
        form,
        formula,
        source,
    }
}

const AWS: &str = "AWS Architecture Blog, \"Exponential Backoff and Jitter\" (2015)";

const NOTES: &[Note] = &[
    of("arrivals", "poisson", "P(n in t) = (λt)^n e^(−λt) / n!", ""),
    of(
        "arrivals",
        "closed_loop",
        "rate = count / (think + response)",
        "",
    ),
    of("distributions", "exponential", "P(T > t) = e^(−t/mean)", ""),
    of(
        "distributions",
        "erlang",
        "sum of `shape` exponentials of mean/shape; cv = 1/√shape",
        "",
    ),
    of(
        "distributions",
        "lognormal",
        "σ² = ln(1 + cv²), μ = ln(mean) − σ²/2",
        "",
    ),
    of(
        "distributions",
        "pareto",
        "P(T > t) = (t₀/t)^alpha, t₀ = mean·(alpha − 1)/alpha",
        "",
    ),
    of(
        "distributions",
        "weibull",
        "P(T > t) = e^(−(t/λ)^shape), λ = mean/Γ(1 + 1/shape)",
        "",
    ),
    of(
        "distributions",
        "hyperexponential",
        "p₁,₂ = (1 ± √((cv² − 1)/(cv² + 1)))/2, means mean/(2p)",
        "balanced means: Whitt (1982)",
    ),
    of(
        "distributions",
        "bimodal",
        "slow with probability slow_share, else fast",
        "",
    ),
    of("distributions", "absolute_normal", "|N(mean, sd²)|", ""),
    of(
        "disciplines",
        "adaptive_lifo",
        "last come, first served while a queue lasts",
        "Facebook, \"Fail at Scale\" (2015)",
    ),
    of(
        "abandonment",
        "stop_at_deadline",
        "",
        "gRPC deadline propagation",
    ),
    of(
        "concurrency-limits",
        "aimd",
        "limit + 1 a success at the limit, limit × backoff after a drop",
        "Netflix concurrency-limits",
    ),
    of(
        "concurrency-limits",
        "vegas",
        "queue = limit × (1 − rtt₀/rtt)",
        "Netflix concurrency-limits, after TCP Vegas",
    ),
    of(
        "concurrency-limits",
        "gradient2",
        "limit × max(0.5, min(1, tolerance × long/short)) + queue",
        "Netflix concurrency-limits",
    ),
    of(
        "codel",
        "folly",
        "sheds what waited 2 × target while the least wait of an interval is above target",
        "folly, Codel",
    ),
    of(
        "codel",
        "facebook",
        "limit = short while a queue lasts, else long",
        "Facebook, \"Fail at Scale\" (2015)",
    ),
    of(
        "codel",
        "rfc8289",
        "next drop after interval/√count",
        "RFC 8289",
    ),
    of("backoffs", "immediate", "d(n) = 0", ""),
    of("backoffs", "fixed", "d(n) = delay", ""),
    of(
        "backoffs",
        "linear",
        "d(n) = min(cap, base + step·(n − 1))",
        "",
    ),
    of(
        "backoffs",
        "exponential",
        "d(n) = min(cap, base·factor^(start + n − 1))",
        "",
    ),
    of(
        "backoffs",
        "fibonacci",
        "d(n) = min(cap, base·F(n)), F = 1, 1, 2, 3, 5, 8, …",
        "",
    ),
    of(
        "backoffs",
        "polynomial",
        "d(n) = min(cap, base·n^power)",
        "",
    ),
    of("backoffs", "uniform", "d(n) ~ U[min, max]", ""),
    of("backoffs", "memoryless", "d(n) ~ Exp(mean)", ""),
    of("backoffs", "list", "d(n) = delays[min(n, length)]", ""),
    of(
        "backoffs",
        "decorrelated",
        "d(n) = min(cap, U[base, factor·d(n − 1)])",
        AWS,
    ),
    of("jitters", "none", "d", ""),
    of("jitters", "full", "U[0, d]", AWS),
    of("jitters", "equal", "d/2 + U[0, d/2]", AWS),
    of("jitters", "raw_to_double", "U[d, 2d]", ""),
    of(
        "jitters",
        "proportional",
        "U[d·(1 − ratio), d·(1 + ratio)]",
        "",
    ),
    of("jitters", "multiplicative", "d·U[0.5, 1.5]", ""),
    of("jitters", "additive", "d + U[0, max]", ""),
    of("jitters", "lognormal", "d·e^(σZ − σ²/2), mean d", ""),
    of(
        "budgets",
        "token_bucket",
        "tokens + per_request, + per_success, + refill·t, at most capacity; a retry takes cost",
        "",
    ),
    of(
        "budgets",
        "quota",
        "a retry takes its cost; a success gives the last cost back, or `give_back` without one",
        "AWS SDKs, standard retry mode",
    ),
    of(
        "budgets",
        "failure_tokens",
        "failure −1, success +ratio; retries while tokens > max/2",
        "gRPC A6, retry throttling",
    ),
    of(
        "budgets",
        "window_ratio",
        "retries ≤ ratio·requests + min_per_second·window, in a sliding window",
        "Finagle and Linkerd, RetryBudget",
    ),
    of(
        "budgets",
        "concurrency",
        "retries outstanding < max(min, share·active), or < a fixed number",
        "Envoy, retry_budget and max_retries",
    ),
    of("budgets", "count", "retries in a window ≤ a number", ""),
    of(
        "budgets",
        "share",
        "retries ≤ ratio·(requests or attempts)",
        "Google, \"Site Reliability Engineering\" (2016), ch. 21",
    ),
    of(
        "budgets",
        "failure_share",
        "retries while failures ≤ above·requests",
        "M. Brooker, \"Fixing retries with token buckets and circuit breakers\" (2022)",
    ),
    of(
        "breakers",
        "consecutive",
        "opens at `failures` failures in a row",
        "gobreaker, Polly, Envoy outlier detection",
    ),
    of(
        "breakers",
        "failure_rate",
        "opens when failed/ended ≥ rate with at least min_calls",
        "resilience4j, Hystrix",
    ),
    of("limiters", "fixed", "token bucket of attempts", ""),
    of(
        "limiters",
        "adaptive",
        "cubic growth from the last throttled rate, × 0.7 at a throttle",
        "AWS SDKs, adaptive retry mode",
    ),
    of("hints", "max", "max(own, told)", ""),
    of("hints", "min", "min(own, told)", ""),
    of("hints", "clamp", "told, within own and own + more", ""),
    of("hints", "plus", "told + U[0, jitter]", ""),
    of("hints", "scale", "told·U[low, high]", ""),
];

#[cfg(test)]
mod tests {
    use super::super::TOPICS;
    use super::*;

    #[test]
    fn every_note_is_about_a_form_that_there_is() {
        for note in NOTES {
            let topic = TOPICS.iter().find(|topic| topic.name == note.topic);
            let entries = topic.expect(note.topic).entries();
            assert!(
                entries.iter().any(|entry| entry.name == note.form),
                "{note:?}"
            );
        }
    }

    #[test]
    fn every_backoff_jitter_and_budget_has_its_formula() {
        for topic in TOPICS {
            if ["backoffs", "jitters", "budgets"].contains(&topic.name) {
                for entry in topic.entries() {
                    let note = note(topic.name, &entry.name);
                    assert!(note.is_some_and(|n| !n.formula.is_empty()), "{entry:?}");
                }
            }
        }
    }
}
