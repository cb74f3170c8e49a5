//! Whatever happens, no form grants more than its definition allows.
//!
//! A small world without time of its own makes up histories: requests begin, attempts end somehow, granted retries
//! are sent or withdrawn. What a form answers is compared with its definition, worked out anew from the whole
//! history at every question.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::cell::Cell;

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Began,
    Sent {
        retry: bool,
    },
    Ended {
        failed: bool,
        retryable: bool,
        retry: bool,
    },
    Granted(Kind),
    Withdrawn,
    Done {
        succeeded: bool,
        last: Option<Kind>,
    },
}
use What::{Began, Done, Ended, Granted, Sent, Withdrawn};

/// What happened so far, with times in milliseconds.
#[derive(Debug, Default)]
struct History(Vec<(u64, What)>);

impl History {
    /// How often such things happened.
    fn count(&self, such: impl Fn(What) -> bool) -> f64 {
        self.0.iter().filter(|(_, what)| such(*what)).count() as f64
    }

    /// How often such things happened in the time (now - window, now].
    fn recent(&self, now: u64, window: u64, such: impl Fn(What) -> bool) -> f64 {
        let recent = self.0.iter().filter(|(at, _)| at + window > now);
        recent.filter(|(_, what)| such(*what)).count() as f64
    }

    fn fold(&self, start: f64, step: impl Fn(f64, What) -> f64) -> f64 {
        self.0.iter().fold(start, |sum, (_, what)| step(sum, *what))
    }
}

fn granted(what: What) -> bool {
    matches!(what, Granted(_))
}

fn began(what: What) -> bool {
    what == Began
}

fn failed(what: What) -> bool {
    matches!(what, Ended { failed: true, .. })
}

fn succeeded(what: What) -> bool {
    matches!(
        what,
        Done {
            succeeded: true,
            ..
        }
    )
}

/// Less than any share of a count, more than any error of a sum.
const TINY: f64 = 1e-6;

type Law = Box<dyn Fn(&History, u64, Kind) -> bool>;

/// A budget and whether its definition allows one retry more.
struct Case {
    value: &'static str,
    law: Law,
    /// Whether what is allowed is also granted: the law is the definition and not only a bound.
    exact: bool,
}

fn exact(value: &'static str, law: impl Fn(&History, u64, Kind) -> bool + 'static) -> Case {
    Case {
        value,
        law: Box::new(law),
        exact: true,
    }
}

fn cases() -> Vec<Case> {
    let mut cases = token_cases();
    cases.extend(window_cases());
    cases.extend(concurrency_cases());
    cases.extend(share_cases());
    cases
}

/// Tokens left of a quota after all that happened.
fn quota(history: &History, capacity: f64, first: f64, refund: bool, cost: fn(Kind) -> f64) -> f64 {
    history.fold(capacity, |tokens, what| match what {
        Granted(kind) => tokens - cost(kind),
        Done {
            succeeded: true,
            last: None,
        } => (tokens + first).min(capacity),
        Done {
            succeeded: true,
            last: Some(kind),
        } if refund => (tokens + cost(kind)).min(capacity),
        _ => tokens,
    })
}

fn usual_cost(kind: Kind) -> f64 {
    if kind == Kind::Timeout { 10.0 } else { 5.0 }
}

fn odd_cost(kind: Kind) -> f64 {
    match kind {
        Kind::Timeout => 7.0,
        Kind::Throttled => 0.5,
        _ => 2.0,
    }
}

fn failure_tokens(history: &History, max: f64, ratio: f64) -> f64 {
    history.fold(max, |tokens, what| match what {
        Ended {
            failed: true,
            retryable: true,
            ..
        } => (tokens - 1.0).max(0.0),
        Done {
            succeeded: true, ..
        } => (tokens + ratio).min(max),
        _ => tokens,
    })
}

fn token_cases() -> Vec<Case> {
    let paid = |history: &History, now: u64, _| {
        let put_in = 0.25 * history.count(began) + 0.5 * history.count(succeeded);
        2.0 * (history.count(granted) + 1.0) <= 5.0 + put_in + 0.002 * now as f64 + TINY
    };
    vec![
        Case {
            value: r#"{ token_bucket = { capacity = 5, per_request = 0.25, per_success = 0.5, refill = "2/s", cost = 2 } }"#,
            law: Box::new(paid),
            exact: false,
        },
        exact("{ quota.capacity = 40 }", |history, _, kind| {
            quota(history, 40.0, 1.0, true, usual_cost) >= usual_cost(kind)
        }),
        exact(
            "{ quota = { capacity = 20, cost = { transient = 2, timeout = 7, throttled = 0.5 }, first_try_success = 3, refund = false } }",
            |history, _, kind| quota(history, 20.0, 3.0, false, odd_cost) >= odd_cost(kind),
        ),
        exact(
            "{ failure_tokens = { max = 7, ratio = 0.5 } }",
            |history, _, _| failure_tokens(history, 7.0, 0.5) > 3.5,
        ),
        exact(r#""failure_tokens""#, |history, _, _| {
            failure_tokens(history, 10.0, 0.1) > 5.0 + TINY
        }),
    ]
}

fn window_cases() -> Vec<Case> {
    vec![
        exact(
            r#"{ window_ratio = { ratio = "20%", min_per_second = "0/s", window = "2s" } }"#,
            |history, now, _| {
                let bought = 0.2 * history.recent(now, 2_000, began);
                bought - history.recent(now, 2_000, granted) >= 1.0 - TINY
            },
        ),
        exact(
            r#"{ window_ratio = { ratio = "30%", min_per_second = "0.7/s", window = "2s", deposit_at = "success" } }"#,
            |history, now, _| {
                let bought = 0.3 * history.recent(now, 2_000, succeeded) + 1.4;
                bought - history.recent(now, 2_000, granted) >= 1.0 - TINY
            },
        ),
        exact(
            r#"{ window_ratio = { ratio = "10%", min_per_second = "1/s", window = "2s", slices = 4 } }"#,
            |history, now, _| {
                // Everything counts from the start of its slice of 500 ms.
                let start = (now / 500 * 500 + 500).saturating_sub(2_000);
                let count = |such: fn(What) -> bool| {
                    let slices = history.0.iter().filter(|(at, _)| *at >= start);
                    slices.filter(|(_, what)| such(*what)).count() as f64
                };
                0.1 * count(began) + 2.0 - count(granted) >= 1.0 - TINY
            },
        ),
        exact(
            r#"{ count = { retries = 3, per = "1s" } }"#,
            |history, now, _| {
                let of_this_second =
                    |(at, what): &&(u64, What)| at / 1_000 == now / 1_000 && granted(*what);
                history.0.iter().filter(of_this_second).count() < 3
            },
        ),
        exact(
            r#"{ count = { retries = 3, per = "1s", window = "sliding" } }"#,
            |history, now, _| history.recent(now, 1_000, granted) < 3.0,
        ),
    ]
}

/// Retries outstanding and attempts on the wire.
fn outstanding(history: &History, counts_waiting: bool) -> (f64, f64) {
    let sent = history.count(|what| matches!(what, Sent { .. }));
    let ended = history.count(|what| matches!(what, Ended { .. }));
    let retries = if counts_waiting {
        history.count(granted) - history.count(|what| what == Withdrawn)
    } else {
        history.count(|what| what == Sent { retry: true })
    };
    let over = history.count(|what| matches!(what, Ended { retry: true, .. }));
    (retries - over, sent - ended)
}

fn concurrency_cases() -> Vec<Case> {
    vec![
        exact(
            r#"{ concurrency.limit.share = { of = "30%", min = 1 } }"#,
            |history, _, _| {
                let (retries, wire) = outstanding(history, true);
                retries < (0.3 * wire + TINY).floor().max(1.0)
            },
        ),
        exact(
            r#"{ concurrency = { limit.share = { of = "20%", min = 0 }, counts_waiting = false } }"#,
            |history, _, _| {
                let (retries, wire) = outstanding(history, false);
                retries < (0.2 * wire + TINY).floor()
            },
        ),
        exact(
            "{ concurrency.limit.fixed.retries = 2 }",
            |history, _, _| outstanding(history, true).0 < 2.0,
        ),
    ]
}

fn share_cases() -> Vec<Case> {
    vec![
        exact(r#"{ share.ratio = "30%" }"#, |history, _, _| {
            history.count(granted) < 0.3 * history.count(began) - TINY
        }),
        exact(
            r#"{ share = { ratio = "30%", of = "all_attempts", window = "1s" } }"#,
            |history, now, _| {
                let retries = history.recent(now, 1_000, granted);
                retries < 0.3 * (history.recent(now, 1_000, began) + retries) - TINY
            },
        ),
        exact(r#"{ failure_share.above = "70%" }"#, |history, _, _| {
            history.count(failed) <= 0.7 * history.count(began) + TINY
        }),
        exact(
            r#"{ failure_share = { above = "60%", window = "1s" } }"#,
            |history, now, _| {
                history.recent(now, 1_000, failed) <= 0.6 * history.recent(now, 1_000, began) + TINY
            },
        ),
    ]
}

fn at(ms: u64) -> SimTime {
    SimTime::ZERO + SimDuration::from_millis(ms)
}

/// A request that has not ended.
struct Request {
    attempts: u32,
    waits: bool,
    /// What its last retry took, and the failure that it followed.
    last: Option<(Charge, Kind)>,
}

/// A budget, what happened to it, and the requests under way.
struct World<'a> {
    case: &'a Case,
    budget: RetryBudget,
    state: BudgetState,
    history: History,
    requests: Vec<Request>,
    now: u64,
    /// Retries granted and refused.
    answers: [u32; 2],
}

impl<'a> World<'a> {
    fn new(case: &'a Case) -> Self {
        let budget = budget(case.value);
        Self {
            case,
            state: budget.fresh(),
            budget,
            history: History::default(),
            requests: Vec::new(),
            now: 0,
            answers: [0, 0],
        }
    }

    fn record(&mut self, what: What) {
        self.history.0.push((self.now, what));
    }

    fn send(&mut self, retry: bool) {
        self.budget.sent(&mut self.state, at(self.now), retry);
        self.record(Sent { retry });
    }

    fn begin(&mut self) {
        self.budget.began(&mut self.state, at(self.now));
        self.record(Began);
        self.send(false);
        self.requests.push(Request {
            attempts: 1,
            waits: false,
            last: None,
        });
    }

    /// The place of one of the requests that wait, or of one of those on the wire.
    fn pick(&self, waits: bool, pick: usize) -> Option<usize> {
        let mut such: Vec<usize> = (0..self.requests.len()).collect();
        such.retain(|i| self.requests[*i].waits == waits);
        such.get(pick % such.len().max(1)).copied()
    }

    fn done(&mut self, place: usize, succeeded: bool) {
        let last = self.requests.swap_remove(place).last;
        let charge = last.map(|(charge, _)| charge);
        self.budget
            .ended(&mut self.state, at(self.now), succeeded, charge);
        let last = last.map(|(_, kind)| kind);
        self.record(Done { succeeded, last });
    }

    fn end(&mut self, pick: usize, kind: Kind) -> Result<(), TestCaseError> {
        let Some(place) = self.pick(false, pick) else {
            return Ok(());
        };
        let attempts = self.requests[place].attempts;
        let (retry, retryable) = (attempts > 1, !matches!(kind, Kind::Ok | Kind::Permanent));
        self.budget.note(
            &mut self.state,
            &Seen {
                now: at(self.now),
                took: SimDuration::ZERO,
                kind,
                retryable,
                retry,
            },
        );
        let failed = kind != Kind::Ok;
        self.record(Ended {
            failed,
            retryable,
            retry,
        });
        if retryable && attempts < 4 && self.ask(place, kind)? {
            return Ok(());
        }
        self.done(place, !failed);
        Ok(())
    }

    fn ask(&mut self, place: usize, kind: Kind) -> Result<bool, TestCaseError> {
        let allowed = (self.case.law)(&self.history, self.now, kind);
        let charge = self.budget.ask(&mut self.state, at(self.now), kind);
        let granted = charge.is_some();
        self.answers[usize::from(!granted)] += 1;
        prop_assert!(
            allowed || !granted,
            "{} granted too much: {:?}",
            self.case.value,
            self.history
        );
        prop_assert!(
            granted || !allowed || !self.case.exact,
            "{} granted too little: {:?}",
            self.case.value,
            self.history
        );
        if let Some(charge) = charge {
            self.record(Granted(kind));
            let request = &mut self.requests[place];
            (request.waits, request.last) = (true, Some((charge, kind)));
        }
        Ok(granted)
    }

    fn step(&mut self, (what, pick, wait): (u8, usize, u64)) -> Result<(), TestCaseError> {
        self.now += wait;
        match what {
            0..4 => self.begin(),
            4 | 5 => self.end(pick, Kind::Ok)?,
            6 => self.end(pick, Kind::Transient)?,
            7 => self.end(pick, Kind::Timeout)?,
            8 => self.end(pick, Kind::Throttled)?,
            9 => self.end(pick, Kind::Permanent)?,
            10..13 => {
                if let Some(place) = self.pick(true, pick) {
                    let request = &mut self.requests[place];
                    (request.waits, request.attempts) = (false, request.attempts + 1);
                    self.send(true);
                }
            }
            _ => {
                if let Some(place) = self.pick(true, pick) {
                    self.budget.withdrawn(&mut self.state, at(self.now));
                    self.record(Withdrawn);
                    self.done(place, false);
                }
            }
        }
        let level = self.budget.level(&self.state, at(self.now));
        prop_assert!((0.0..=1.0).contains(&level), "{}: {level}", self.case.value);
        Ok(())
    }
}

fn steps() -> impl Strategy<Value = Vec<(u8, usize, u64)>> {
    let wait = prop_oneof![3 => Just(0_u64), 2 => 1..50_u64, 1 => 50..600_u64];
    proptest::collection::vec((0..14_u8, 0..1_000_usize, wait), 0..250)
}

#[test]
fn no_form_grants_more_or_less_than_its_definition_says() {
    for case in &cases() {
        let answers = [Cell::new(0), Cell::new(0)];
        let config = Config {
            cases: 128,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(5),
            ..Config::default()
        };
        let result = TestRunner::new(config).run(&steps(), |steps| {
            let mut world = World::new(case);
            for step in steps {
                world.step(step)?;
            }
            for (sum, answer) in answers.iter().zip(world.answers) {
                sum.set(sum.get() + answer);
            }
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{error}"));
        let [granted, refused] = answers.map(Cell::into_inner);
        assert!(
            granted > 50 && refused > 50,
            "{}: {granted} {refused}",
            case.value
        );
    }
}

#[test]
fn every_form_has_a_definition_here() {
    let form = |value: &str| format!("{:?}", std::mem::discriminant(&budget(value)));
    let defined: Vec<String> = cases().iter().map(|case| form(case.value)).collect();
    for doc in RetryBudget::VARIANTS {
        assert!(defined.contains(&form(doc.example)), "{}", doc.name);
    }
}
