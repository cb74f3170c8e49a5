//! Random settings that bound retries, as text: of strategies, and of a service that protects itself.

use proptest::prelude::*;
use proptest::sample::select;

const SCOPES: [&str; 5] = [
    "\"call\"",
    "\"client\"",
    "\"client\"",
    "{ process = { clients = 3 } }",
    "\"shared\"",
];
const BUDGETS: [&str; 17] = [
    "token_bucket = { capacity = 3, per_request = 0.2",
    "token_bucket = { capacity = 5, start = 0, per_success = 0.5, refill = \"2/s\", cost = 2",
    "token_bucket = { capacity = 5, above = 2, refill = \"4/s\"",
    "quota = { capacity = 50",
    "quota = { capacity = 30, cost = { transient = 5, timeout = 10, throttled = 7 }, refund = false",
    "failure_tokens = { max = 6, ratio = 0.3",
    "window_ratio = { ratio = \"20%\", min_per_second = \"2/s\", window = \"500ms\"",
    "window_ratio = { ratio = \"50%\", min_per_second = \"0/s\", window = \"1s\", slices = 5, deposit_at = \"success\"",
    "concurrency = { limit.share = { of = \"20%\", min = 1 }",
    "concurrency = { limit.fixed.retries = 1, counts_waiting = false",
    "concurrency = { limit.fixed.retries = 2",
    "count = { retries = 3, per = \"400ms\"",
    "count = { retries = 2, per = \"300ms\", window = \"sliding\"",
    "share = { ratio = \"30%\"",
    "share = { ratio = \"20%\", of = \"all_attempts\", window = \"700ms\"",
    "failure_share = { above = \"60%\"",
    "failure_share = { above = \"40%\", window = \"600ms\"",
];
const BREAKERS: [&str; 6] = [
    "consecutive = { failures = 2, open_for = \"150ms\"",
    "consecutive = { failures = 1, open_for = \"40ms\", open_factor = 2, open_longest = \"300ms\"",
    "failure_rate = { window.count.calls = 5, rate = \"50%\", open_for = \"200ms\"",
    "failure_rate = { window.count.calls = 70, rate = \"30%\", min_calls = 4, open_for = \"100ms\"",
    "failure_rate = { window.time.length = \"400ms\", rate = \"50%\", min_calls = 3, open_for = \"0s\"",
    "failure_rate = { window.time.length = \"300ms\", rate = \"90%\", min_calls = 2, slow = { after = \"25ms\", rate = \"40%\" }, open_for = \"100ms\"",
];
const HALF_OPEN: [&str; 6] = [
    "",
    ", half_open = \"everybody\"",
    ", half_open = \"everybody\", ramp = \"200ms\"",
    ", half_open.probes = { limit = 2, successes = 2, timeout = \"50ms\" }",
    ", half_open.probes = { limit = 3, judge = \"share\" }, ramp = \"100ms\"",
    ", half_open.probes = { limit = \"unlimited\" }",
];
const THROTTLES: [&str; 2] = [
    "throttle = { k = 1.2, window = \"500ms\"",
    "throttle = { k = 2, window = \"2s\"",
];
const LIMITERS: [&str; 4] = [
    "rate_limit.fixed = { rate = \"20/s\"",
    "rate_limit.fixed = { rate = \"8/s\", burst = 3, longest_wait = \"60ms\"",
    "rate_limit.adaptive = { longest_wait = \"100ms\"",
    "rate_limit.adaptive = { scope",
];
const HEALTH: [&str; 2] = [
    "health = { window = \"500ms\", above = \"30%\", min_attempts = 3, factor = 3",
    "health = { window = \"2s\", above = \"0%\", min_attempts = 0, factor = 1.5",
];
const HEDGES: [&str; 4] = [
    "after.fixed.delay = \"0s\"",
    "after.fixed.delay = \"10ms\"",
    "after.quantile = { q = \"80%\", window = \"300ms\", start = \"15ms\" }",
    "after.quantile = { q = \"50%\", of = \"request\", window = \"200ms\", start = \"0s\" }",
];
const HINTS: [&str; 9] = [
    "hints.heed = \"ignore\"",
    "hints.heed = \"replace\"",
    "hints = { heed = \"replace\", resets = true, ceiling = \"50ms\", above_ceiling = \"abort\" }",
    "hints = { heed = \"max\", ceiling = \"100ms\" }",
    "hints.heed = \"min\"",
    "hints.heed.clamp.more = \"30ms\"",
    "hints = { heed.plus.jitter = \"40ms\", ceiling = \"80ms\", above_ceiling = \"ignore\" }",
    "hints.heed.scale = { low = 0.5, high = 1.5 }",
    "hints.heed.scale = { low = 0, high = 1 }",
];
const LETTERS: [&str; 8] = [
    "dead_letters = {}",
    "dead_letters = { retention = \"400ms\", permanent = false }",
    "dead_letters.redrive.rate = { rate = \"20/s\" }",
    "dead_letters = { redrive.rate = { rate = \"50/s\", from = \"1s\" }, most_redrives = 2 }",
    "dead_letters = { redrive.rate = { rate = \"5/s\" }, retention = \"500ms\" }",
    "dead_letters.redrive.after.delay = \"200ms\"",
    "dead_letters = { redrive.after.delay = \"100ms\", most_redrives = 1, permanent = false }",
    "dead_letters = { redrive.after.delay = \"300ms\", most_redrives = 1, retention = \"310ms\" }",
];
const CALLERS: [&str; 3] = [
    "callers.patience = \"90ms\"",
    "callers = { patience = \"60ms\", cancels = false }",
    "callers = { patience = \"400ms\", cancels = false }",
];
const CHECKS: [&str; 2] = [
    "deadline_check = \"during_wait\"",
    "deadline_check = \"between_attempts\"",
];
const NEVER: [&str; 3] = [
    "never_retry = [503]",
    "never_retry = [\"timeout\", \"shed\"]",
    "throttled_on = [429, 503, \"shed\"]",
];
const RATES: [&str; 4] = [
    "rate_limit.bucket = { rate = \"40/s\", burst = 3 }",
    "rate_limit.window = { attempts = 8, per = \"200ms\" }",
    "rate_limit.window = { attempts = 6, per = \"150ms\", window = \"sliding\" }",
    "rate_limit.window = { attempts = 9, per = \"100ms\", window = \"sliding\", count_refused = true }",
];
const LIMITS: [&str; 4] = [
    "concurrency_limit.fixed.limit = 3",
    "concurrency_limit.aimd = { initial = 4, min = 2, max = 9, timeout = \"60ms\" }",
    "concurrency_limit.vegas = { initial = 3, max = 12 }",
    "concurrency_limit.gradient2 = { initial = 4, min = 2, max = 9, queue = 1, long_window = 20 }",
];
const CODELS: [&str; 3] = [
    "codel.folly = { target = \"5ms\", interval = \"50ms\" }",
    "codel.facebook = { short = \"5ms\", long = \"60ms\" }",
    "codel.rfc8289 = { target = \"10ms\", interval = \"40ms\" }",
];
const PLACES: [&str; 2] = ["retry_places = 0", "retry_places = 2"];
const TOLD: [&str; 5] = [
    "retry_after.fixed = { after = \"30ms\", whole_seconds = false }",
    "retry_after.fixed = { after = \"200ms\", jitter = \"50%\" }",
    "retry_after.queue = { per_waiting = \"5ms\", whole_seconds = false }",
    "retry_after.queue = { per_waiting = \"3ms\", at_least = \"20ms\", jitter = 1.0, whole_seconds = false }\nretry_after_on = [\"5xx\", \"queue_full\"]",
    "retry_after.free = { whole_seconds = false }",
];

/// One of some settings in so many of ten cases, and nothing otherwise.
fn at_times(tenths: u32, settings: &'static [&'static str]) -> impl Strategy<Value = String> {
    proptest::option::weighted(f64::from(tenths) / 10.0, select(settings))
        .prop_map(|setting| setting.map_or_else(String::new, |setting| format!("{setting}\n")))
}

/// The same for settings that leave their table open for a scope.
fn scoped(tenths: u32, settings: &'static [&'static str]) -> impl Strategy<Value = String> {
    (at_times(tenths, settings), select(&SCOPES[..])).prop_map(|(setting, scope)| {
        let open = setting.trim_end();
        match open.strip_suffix("{ scope") {
            _ if open.is_empty() => String::new(),
            Some(empty) => format!("{empty}{{ scope = {scope} }}\n"),
            None => format!("{open}, scope = {scope} }}\n"),
        }
    })
}

fn budget() -> impl Strategy<Value = String> {
    let charged = select(vec!["decision", "send"]);
    (scoped(4, &BUDGETS), charged).prop_map(|(budget, charged)| {
        match budget.trim_end().strip_suffix(" }") {
            Some(open) => format!("budget.{open}, charged = \"{charged}\" }}\n"),
            None => budget,
        }
    })
}

fn breaker() -> impl Strategy<Value = String> {
    let around = select(vec!["attempt", "attempt", "call"]);
    (scoped(3, &BREAKERS), select(&HALF_OPEN[..]), around).prop_map(|(breaker, half, around)| {
        match breaker.trim_end().strip_suffix(" }") {
            Some(open) => format!("breaker.{open}, around = \"{around}\"{half} }}\n"),
            None => breaker,
        }
    })
}

/// A table for hedging; it begins with `hedge = {`.
pub(crate) fn hedge() -> impl Strategy<Value = String> {
    let (most, cancel, pays) = (1..4u32, any::<bool>(), any::<bool>());
    let scope = select(&SCOPES[..]);
    (select(&HEDGES[..]), most, cancel, pays, scope).prop_map(|(after, most, cancel, pays, scope)| {
        format!("hedge = {{ {after}, most = {most}, cancel = {cancel}, from_budget = {pays}, scope = {scope} }}\n")
    })
}

/// What a strategy has beside its attempts, patience and backoff.
pub(crate) fn guards() -> impl Strategy<Value = String> {
    let hedge = proptest::option::weighted(0.3, hedge()).prop_map(Option::unwrap_or_default);
    (
        budget(),
        breaker(),
        scoped(2, &THROTTLES),
        scoped(2, &LIMITERS),
        scoped(2, &HEALTH),
        hedge,
        at_times(4, &HINTS),
        at_times(3, &LETTERS),
        at_times(2, &CALLERS),
        at_times(3, &CHECKS),
        at_times(2, &NEVER),
    )
        .prop_map(|(a, b, c, d, e, f, g, h, i, j, k)| [a, b, c, d, e, f, g, h, i, j, k].concat())
}

/// How a service protects itself: keys of its own, and keys of its queue.
pub(crate) fn protection() -> impl Strategy<Value = (String, String)> {
    let keys = (
        at_times(2, &RATES),
        at_times(3, &LIMITS),
        at_times(4, &TOLD),
    );
    let queue = (at_times(3, &CODELS), at_times(2, &PLACES));
    (keys, queue).prop_map(|((rate, limit, told), (codel, places))| {
        let queue = [codel, places].into_iter().filter(|key| !key.is_empty());
        let queue = queue.map(|key| format!(", {}", key.trim_end()));
        ([rate, limit, told].concat(), queue.collect())
    })
}
