//! Random scenarios as text, over every part of the format.

use crate::random_guards::{guards, protection};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::RngSeed;
use retrystorm::decode::Severity;
use retrystorm::scenario::{Plan, Scenario};
use std::path::Path;

const ARRIVALS: [&str; 15] = [
    "poisson = { rate = \"80/s\" }",
    "poisson = { per_client = \"6/s\" }",
    "periodic = { every = \"300ms\" }",
    "periodic = { every = \"250ms\", offset = \"aligned\" }",
    "periodic = { rate = \"70/s\" }",
    "closed_loop = { think.exponential = { mean = \"100ms\" } }",
    "closed_loop = { think = \"90ms\", start = \"at_once\" }",
    "closed_loop = { think = \"90ms\", start = \"spread\" }",
    "closed_loop = { think.uniform = { min = \"1ms\", max = \"200ms\" } }",
    "closed_loop = { think.exponential = { mean = \"50ms\" }, start = \"at_once\" }",
    "burst = { at = \"500ms\", requests = 5 }",
    "burst = { at = \"100ms\", requests = 20, spread = \"1s\" }",
    "profile = { points = [{ at = \"0s\", rate = \"10/s\" }, { at = \"1s\", rate = \"150/s\" }] }",
    "profile = { points = [{ at = \"500ms\", rate = \"90/s\" }], shape = \"steps\", spacing = \"even\" }",
    "profile = { points = [{ at = \"0s\", rate = \"0/s\" }, { at = \"1s\", rate = \"100/s\" }, { at = \"2s\", rate = \"0/s\" }] }",
];
const POOLS: [&str; 6] = [
    "",
    "",
    "pool = { size = 1 }",
    "pool = { size = 2, wait = \"0s\" }",
    "pool = { size = 3, per = \"group\", wait = \"60ms\" }",
    "pool = { size = 4, per = \"group\" }",
];
const SERVICE: [&str; 6] = [
    "service_time = \"20ms\"",
    "service_time.exponential = { mean = \"30ms\" }",
    "service_time = \"0s\"",
    "service_time.uniform = { min = \"1ms\", max = \"40ms\" }",
    "service_time = \"20ms\"\nfailures_take_time = false",
    "service_time.exponential = { mean = \"15ms\" }\nfailures_take_time = false",
];
const FAILURES: [&str; 4] = [
    "",
    "failures = [{ code = 503, probability = \"20%\" }]",
    "failures = [{ code = 404, probability = \"10%\" }, { code = 500, probability = \"30%\" }]",
    "failures = [{ code = 503, probability = 1.0 }]",
];
const NETWORK: [&str; 4] = [
    "",
    "network.request = \"5ms\"",
    "network = { request.exponential = { mean = \"4ms\" }, response.uniform = { min = \"0s\", max = \"9ms\" } }",
    "network.response = \"20ms\"",
];
const EFFECTS: [&str; 14] = [
    "outage = \"refuse\"",
    "outage = \"hang\"",
    "outage = \"stall\"",
    "error_rate = \"60%\"\ncode = 500",
    "slow_down = 4",
    "slow_down = 0",
    "workers = 1",
    "capacity = \"30%\"",
    "latency = \"15ms\"",
    "surge = 3",
    "surge = 0",
    "fail_first = 3",
    "fail_every = 4\ncode = 404",
    "fail_all = true",
];
const COURSES: [&str; 5] = [
    "at = \"0s\"\nlasts = \"700ms\"",
    "at = \"1s\"\nlasts = \"500ms\"",
    "at = \"800ms\"\nlasts = \"600ms\"\nramp_up = \"200ms\"\nramp_down = \"300ms\"",
    "at = \"300ms\"\nlasts = \"100ms\"\nevery = \"400ms\"\ntimes = 5",
    "at = \"300ms\"\nlasts = \"400ms\"\nevery = \"400ms\"\ntimes = 3\nramp_up = \"50ms\"",
];
const BACKOFFS: [&str; 15] = [
    "fixed.delay = \"0s\"",
    "fixed.delay = \"50ms\"",
    "fixed = { delay = \"80ms\", jitter = \"full\" }",
    "fixed = { delay = \"40ms\", first = \"0s\" }",
    "linear = { base = \"20ms\", cap = \"100ms\", jitter.additive = { max = \"10ms\" } }",
    "exponential = { base = \"20ms\", cap = \"300ms\" }",
    "exponential = { base = \"20ms\", cap = \"300ms\", jitter = \"full\" }",
    "exponential = { base = \"30ms\", jitter = \"equal\", state.client = { reset = \"success\" } }",
    "exponential = { base = \"30ms\", cap = \"1s\", jitter.proportional = { ratio = 0.5 }, cap_order = \"after_jitter\", rounding = \"floor_ms\" }",
    "fibonacci = { base = \"10ms\", cap = \"500ms\", jitter = \"multiplicative\" }",
    "polynomial = { base = \"10ms\", power = 2, jitter.lognormal = { sigma = 0.5 } }",
    "uniform = { min = \"5ms\", max = \"90ms\" }",
    "memoryless.mean = \"60ms\"",
    "list.delays = [\"0s\", \"10ms\", \"100ms\"]",
    "decorrelated = { base = \"10ms\", cap = \"400ms\", state.client = { reset = \"never\" } }",
];
const TIMEOUTS: [&str; 6] = [
    "",
    "attempt_timeout = \"40ms\"",
    "attempt_timeout = \"20ms\"",
    "attempt_timeout.exponential = { mean = \"60ms\" }",
    "attempt_timeout = \"30ms\"\ntimeout_covers = \"wait\"",
    "attempt_timeout.uniform = { min = \"0s\", max = \"90ms\" }\ntimeout_covers = \"wait\"",
];
const RETRY_ON: [&str; 6] = [
    "",
    "",
    "retry_on = [\"shed\", \"timeout\", \"breaker_open\", \"throttled\", \"rate_limited\", \"5xx\"]",
    "retry_on = [\"breaker_open\", \"rate_limited\", 429, 503]",
    "retry_on = [\"error\", \"timeout\"]",
    "retry_on = [\"queue_full\", 503]",
];

const DISCIPLINES: [&str; 5] = [
    " = \"fifo\"",
    " = \"lifo\"",
    " = \"random\"",
    ".adaptive_lifo.after = \"30ms\"",
    ".adaptive_lifo.after = \"0s\"",
];
const ABANDONED: [&str; 5] = [
    "continue",
    "skip_when_dequeued",
    "drop_if_late",
    "cancel",
    "stop_at_deadline",
];

/// What the checks need to know of a scenario beside its text.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    pub(crate) text: String,
    pub(crate) warmup: bool,
}

fn run() -> impl Strategy<Value = (String, bool)> {
    (
        any::<u32>(),
        select(vec!["0s", "0s", "600ms"]),
        select(vec!["0s", "150ms", "30s"]),
    )
        .prop_map(|(seed, warmup, drain)| {
            let text = format!(
                "[run]\nduration = \"2500ms\"\nreplications = 1\nbin = \"70ms\"\nmax_requests = 20000\nseed = {seed}\n\
                 warmup = \"{warmup}\"\ndrain = \"{drain}\"\n"
            );
            (text, warmup != "0s")
        })
}

fn group() -> impl Strategy<Value = String> {
    let pinned = select(vec!["", "", "strategy = \"second\""]);
    (
        select(vec![1, 4, 15]),
        select(&ARRIVALS[..]),
        select(&POOLS[..]),
        pinned,
    )
        .prop_map(|(count, arrivals, pool, pinned)| {
            format!("count = {count}\narrivals.{arrivals}\n{pool}\n{pinned}\n")
        })
}

fn service() -> impl Strategy<Value = (String, bool)> {
    (
        select(vec!["1", "2", "5", "\"unlimited\""]),
        select(vec!["0", "1", "6", "\"unlimited\""]),
        select(&DISCIPLINES[..]),
        select(&SERVICE[..]),
        select(&FAILURES[..]),
        select(&ABANDONED[..]),
        select(&NETWORK[..]),
        protection(),
    )
        .prop_map(|(workers, places, discipline, time, failures, abandon, network, (keys, queue))| {
            let text = format!(
                "[service.api]\nworkers = {workers}\nqueue = {{ capacity = {places}, discipline{discipline}{queue} }}\n\
                 {time}\n{failures}\non_abandon = \"{abandon}\"\n{network}\n{keys}"
            );
            (text, workers.starts_with('"'))
        })
}

fn faults() -> impl Strategy<Value = Vec<(&'static str, &'static str)>> {
    let effects = subsequence(&EFFECTS[..], 0..4);
    (effects, proptest::collection::vec(select(&COURSES[..]), 3))
        .prop_map(|(effects, courses)| effects.into_iter().zip(courses).collect())
}

fn strategy(name: &'static str) -> impl Strategy<Value = String> {
    (
        select(vec!["1", "2", "3", "6", "\"unlimited\""]),
        select(&TIMEOUTS[..]),
        select(vec!["", "", "deadline = \"100ms\"", "deadline = \"600ms\""]),
        select(&BACKOFFS[..]),
        select(&RETRY_ON[..]),
        select(vec!["", "", "generators = 1", "generators = 3"]),
        guards(),
    )
        .prop_map(move |(attempts, timeout, deadline, backoff, retry_on, generators, guards)| {
            format!(
                "[[strategy]]\nname = \"{name}\"\nmax_attempts = {attempts}\n{timeout}\n{deadline}\n\
                 backoff.{backoff}\n{retry_on}\n{generators}\n{guards}"
            )
        })
}

/// Whether a scenario is not refused. Only retries without an end are.
fn is_valid(text: &str) -> bool {
    let refused = match Scenario::parse("random", text, Path::new(".")) {
        Ok(scenario) => Plan::assemble(&scenario).err(),
        Err(error) => Some(error.problems),
    };
    let errors = refused.iter().flatten();
    for problem in errors.filter(|problem| problem.severity == Severity::Error) {
        assert!(
            problem.reason.contains("stop the clock") || problem.remedy.contains("max_requests"),
            "{problem:?}\n{text}"
        );
    }
    refused.is_none()
}

/// How many cases of a property are tried, and from which seed. For a longer look the environment says how many
/// and from where.
pub(crate) fn cases(usual: u32, seed: u64) -> ProptestConfig {
    let told = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let seed = told("RANDOM_SEED").unwrap_or(seed);
    ProptestConfig {
        cases: told("RANDOM_CASES").map_or(usual, |cases: u64| cases as u32),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Any valid scenario.
pub(crate) fn scenario() -> impl Strategy<Value = Random> {
    any_scenario().prop_filter("it would stop the clock", |random| is_valid(&random.text))
}

fn any_scenario() -> impl Strategy<Value = Random> {
    let groups = proptest::collection::vec(group(), 1..4);
    (
        run(),
        groups,
        service(),
        faults(),
        strategy("first"),
        strategy("second"),
    )
        .prop_map(
            |((run, warmup), groups, (service, unlimited), faults, first, second)| {
                let mut text = run;
                for (i, group) in groups.iter().enumerate() {
                    text += &format!("[[clients]]\nname = \"g{i}\"\n{group}");
                }
                text += &service;
                for (effect, course) in faults {
                    if !(unlimited
                        && (effect.starts_with("workers") || effect.starts_with("capacity")))
                    {
                        text += &format!("[[fault]]\n{course}\n{effect}\n");
                    }
                }
                text += &first;
                text += &second;
                Random { text, warmup }
            },
        )
}
