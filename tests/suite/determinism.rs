//! A scenario and a seed fix every number, whatever runs beside it and on however many threads.

use crate::random_guards::hedge;
use crate::random_scenarios::{Random, cases, scenario};
use crate::support::{assemble, records};
use proptest::prelude::*;
use retrystorm::experiment::{RunResult, StrategyResult, run};
use retrystorm::time::SimTime;
use std::collections::BTreeSet;

/// A world with every source of randomness; 17 replications are more than one round of one thread.
const WORLD: &str = r#"
[run]
duration = "20s"
drain = "5s"
warmup = "2s"
replications = 17
seed = 11

[[clients]]
name = "open"
count = 200
arrivals.poisson = { rate = "150/s" }
pool = { size = 2, wait = "1s" }

[[clients]]
name = "closed"
count = 50
arrivals.closed_loop = { think.lognormal = { mean = "1s", cv = 2 } }
strategy = "decorrelated"

[service.api]
workers = 4
queue = { capacity = 30, discipline = "random" }
service_time.exponential = { mean = "15ms" }
failures = [{ code = 503, probability = "10%" }]
network = { request.exponential = { mean = "2ms" }, response.exponential = { mean = "2ms" } }
on_abandon = "cancel"

[[fault]]
at = "6s"
lasts = "3s"
ramp_up = "1s"
slow_down = 5
"#;

const STRATEGIES: [&str; 3] = [
    "[[strategy]]\nname = \"decorrelated\"\nmax_attempts = 6\nattempt_timeout.exponential = { mean = \"200ms\" }\n\
     backoff.decorrelated = { base = \"50ms\", cap = \"2s\" }\n",
    "[[strategy]]\nname = \"shared\"\nmax_attempts = 4\nattempt_timeout = \"150ms\"\ngenerators = 5\n\
     backoff.exponential = { base = \"100ms\", cap = \"2s\", jitter = \"full\" }\n",
    "[[strategy]]\nname = \"patient\"\nmax_attempts = 3\nattempt_timeout = \"100ms\"\ntimeout_covers = \"wait\"\n\
     deadline = \"2s\"\nbackoff.fixed.delay = \"100ms\"\n",
];

fn of(order: &[usize], threads: usize) -> RunResult {
    let strategies: String = order.iter().map(|&i| STRATEGIES[i]).collect();
    let (scenario, plan) = assemble(&format!("{WORLD}{strategies}"));
    run(&scenario, &plan, threads, &|| ()).unwrap()
}

/// Everything about a strategy but its place among the others.
fn apart(result: &StrategyResult) -> String {
    let mut result = result.clone();
    result.summary.rank = 0;
    (
        result.summary.success_behind_best,
        result.summary.ties_with_best,
    ) = (None, false);
    (
        result.summary.success_behind_best_low,
        result.summary.success_behind_best_high,
    ) = (None, None);
    format!("{result:?}")
}

#[test]
fn threads_and_repetition_change_nothing() {
    let one = format!("{:?}", of(&[0, 1, 2], 1));
    for threads in [2, 8, 1] {
        assert!(
            one == format!("{:?}", of(&[0, 1, 2], threads)),
            "{threads} threads"
        );
    }
}

#[test]
fn a_strategy_does_not_depend_on_the_others() {
    let all = of(&[0, 1, 2], 2);
    for order in [&[2, 1, 0][..], &[0, 2], &[1, 0]] {
        for (&i, found) in order.iter().zip(&of(order, 2).strategies) {
            let same = apart(found) == apart(&all.strategies[i]);
            assert!(same, "strategy {i} in {order:?}");
        }
    }
}

#[test]
fn the_seed_changes_the_numbers() {
    let with = |seed: &str| {
        let (scenario, plan) =
            assemble(&format!("{WORLD}{}", STRATEGIES[0]).replace("seed = 11", seed));
        run(&scenario, &plan, 2, &|| ()).unwrap().strategies[0]
            .total
            .requests
    };
    assert_ne!(with("seed = 11"), with("seed = 12"));
    assert_ne!(with("seed = 0"), with("seed = 9223372036854775807"));
}

/// The requests that began, with their clients and times, of groups whose arrivals do not wait for answers.
fn arrivals(text: &str, strategy: usize) -> BTreeSet<(u16, u64, u32, SimTime)> {
    let plan = assemble(text).1;
    let is_open = |group: u16| {
        let group = &plan.world.groups[usize::from(group)];
        group.pool.is_none() && group.arrivals.pause().is_none()
    };
    let records = records(text, strategy).1;
    let open = records.iter().filter(|record| is_open(record.group));
    open.map(|r| (r.group, r.request, r.client, r.intended_at))
        .collect()
}

proptest! {
    #![proptest_config(cases(100, 8))]
    #[test]
    fn no_random_scenario_depends_on_threads_or_order(Random { text, .. } in scenario()) {
        let text = text.replace("replications = 1", "replications = 3");
        let of = |text: &str, threads| {
            let (scenario, plan) = assemble(text);
            run(&scenario, &plan, threads, &|| ()).ok()
        };
        let one = of(&text, 1);
        prop_assert_eq!(format!("{:?}", one), format!("{:?}", of(&text, 3)));
        let Some(one) = one else {
            return Ok(());
        };
        let (head, strategies) = text.split_once("[[strategy]]").unwrap();
        let (first, second) = strategies.split_once("[[strategy]]").unwrap();
        let swapped = of(&format!("{head}[[strategy]]{second}[[strategy]]{first}"), 2).unwrap();
        prop_assert_eq!(apart(&one.strategies[0]), apart(&swapped.strategies[1]));
        prop_assert_eq!(apart(&one.strategies[1]), apart(&swapped.strategies[0]));
    }

    #[test]
    fn hedges_change_no_arrival(Random { text, .. } in scenario(), hedge in hedge()) {
        let head = text.split_once("[[strategy]]").unwrap().0;
        let plain = "max_attempts = 3\nattempt_timeout = \"50ms\"\nbackoff.fixed.delay = \"20ms\"\n";
        let named = |name: &str, more: &str| format!("[[strategy]]\nname = \"{name}\"\n{plain}{more}");
        let [kept, cancelled] = ["cancel = false", "cancel = true"].map(|cancel| {
            hedge.replace("cancel = false", cancel).replace("cancel = true", cancel)
        });
        let text = [head, &named("first", ""), &named("second", &kept), &named("third", &cancelled)].concat();
        let without = arrivals(&text, 0);
        prop_assert_eq!(&without, &arrivals(&text, 1));
        prop_assert_eq!(&without, &arrivals(&text, 2));
    }
}
