//! Queues with losses, impatience, sources that wait, and retries, in steady state: what a part of the model
//! does is held against Markov chains that know nothing of it.

use crate::judge::is_rare_count;
use crate::support::{Expected, Row, Sample, agrees, assemble, number, replication, rows};
use retrystorm::metrics::{Gauge, Tally};
use retrystorm::outcome::AttemptOutcome;

/// Independent runs of a row come in rounds, until every figure is known well enough.
const ROUND: u64 = 10;
/// Nearly all rows need one or two rounds. The queue of `PUB-MMCK-10` refuses one request in three hundred, in clumps,
/// and needs about a hundred.
const MOST_ROUNDS: u64 = 150;
/// Bins of a run, and those of them in which requests count.
const BINS: f64 = 100.0;
const COUNTED: std::ops::Range<usize> = 10..100;

/// A figure: its column, perhaps the column of its 95 % interval, and what the run says.
type Figure = (&'static str, Option<&'static str>, fn(&Tally, f64) -> f64);

/// A world of one service and one strategy, run for `seconds`, of which the first tenth is not counted.
fn world(seconds: f64, clients: &str, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"{seconds:?}s\"\nwarmup = \"{:?}s\"\ndrain = \"{:?}s\"\nbin = \"{:?}s\"\nreplications = 1\nseed = 1\n\
         [clients]\n{clients}\n[service.api]\n{service}\n[[strategy]]\nname = \"s\"\n{strategy}\n",
        seconds / 10.0,
        seconds / 10.0,
        seconds / BINS,
    )
}

fn poisson(row: &Row) -> String {
    format!(
        "count = 1000\narrivals.poisson = {{ rate = \"{}/s\" }}",
        row["lambda_per_s"]
    )
}

fn service(row: &Row, servers: &str, places: Option<u64>) -> String {
    let queue = places.map_or(String::new(), |places| {
        format!("queue.capacity = {places}\n")
    });
    let mean = 1e3 / number(row, "mu_per_s");
    let servers = row[servers].as_str();
    format!("workers = {servers}\n{queue}service_time.exponential = {{ mean = \"{mean:?}ms\" }}")
}

/// Time for about `requests` of a row.
fn seconds(row: &Row, requests: f64) -> f64 {
    requests / number(row, "lambda_per_s")
}

/// Whether a figure is a share of attempts of which all the runs there may be would see fewer than twenty.
fn is_rare(row: &Row, figure: &Figure, attempts: u64) -> bool {
    let expected = number(row, figure.0);
    let most = (attempts * ROUND * MOST_ROUNDS) as f64;
    figure.0.starts_with("p_") && figure.1.is_none() && expected > 0.0 && expected * most < 20.0
}

/// Holds figures of a row against runs of its world: within four standard errors, which are 1 % of the value or
/// those of the reference. Shares too rare for that are held as counts, by the exact Poisson test.
fn hold(row: &Row, text: &str, figures: &[Figure]) {
    let plan = assemble(text).1;
    let seconds = plan.world.duration.as_secs_f64();
    let run = |number| replication(&plan, 0, number);
    let mut runs: Vec<Tally> = (0..ROUND).map(run).collect();
    let told = figures.iter().filter(|figure| !row[figure.0].is_empty());
    let (rare, told): (Vec<&Figure>, Vec<&Figure>) =
        told.partition(|figure| is_rare(row, figure, runs[0].attempts));
    let expected = |figure: &Figure| Expected {
        value: number(row, figure.0),
        error: figure
            .1
            .map_or(0.0, |interval| number(row, interval) / 1.96),
    };
    let sample = |figure: &Figure, runs: &[Tally]| {
        Sample::of(runs.iter().map(|tally| figure.2(tally, seconds)))
    };
    let known = |figure: &Figure, runs: &[Tally]| {
        let Expected { value, error } = expected(figure);
        sample(figure, runs).error() <= (0.01 * value.abs()).max(error)
    };
    for round in 1..MOST_ROUNDS {
        if told.iter().all(|figure| known(figure, &runs)) {
            break;
        }
        runs.extend((round * ROUND..(round + 1) * ROUND).map(run));
    }
    let what = |figure: &Figure| format!("{} of {}", figure.0, row["case_id"]);
    for figure in told {
        let sample = sample(figure, &runs);
        agrees(&what(figure), sample.mean, sample.error(), expected(figure));
    }
    for figure in rare {
        let attempts: u64 = runs.iter().map(|tally| tally.attempts).sum();
        let count = |tally: &Tally| (figure.2(tally, seconds) * tally.attempts as f64).round();
        let found: f64 = runs.iter().map(count).sum();
        let expected = expected(figure).value * attempts as f64;
        let what = what(figure);
        assert!(
            is_rare_count(found as u64, expected),
            "{what}: {found} instead of {expected}"
        );
    }
}

/// Runs every row of a file through `check`.
fn every(file: &str, count: usize, check: impl Fn(&Row)) {
    let rows = rows(file);
    rows.iter().for_each(check);
    println!("{file}: {} of {count} rows", rows.len());
    assert_eq!(rows.len(), count);
}

fn outcome(tally: &Tally, outcome: AttemptOutcome) -> f64 {
    tally.outcomes[outcome as usize] as f64 / tally.attempts as f64
}

/// A level over the time in which requests count.
fn level(tally: &Tally, gauge: Gauge, seconds: f64) -> f64 {
    let bins = &tally.timeline.bins()[COUNTED];
    let area: i64 = bins.iter().map(|bin| bin.areas[gauge as usize]).sum();
    area as f64 / 1e9 / (seconds / BINS * bins.len() as f64)
}

const REFUSED: Figure = ("p_blocked", None, |t, _| {
    outcome(t, AttemptOutcome::QueueFull)
});
const THROUGHPUT: Figure = ("throughput_per_s", None, |t, s| {
    t.succeeded as f64 / (0.9 * s)
});
const QUEUE: Figure = ("mean_queue", None, |t, s| level(t, Gauge::Queue, s));
const INSIDE: Figure = ("mean_in_system", None, |t, s| {
    level(t, Gauge::Queue, s) + level(t, Gauge::Busy, s)
});

#[test]
fn full_queues_refuse_what_birth_and_death_say() {
    every("03_mmck_loss.csv", 12, |row| {
        let places = row["queue_places"].parse().unwrap();
        let text = world(
            seconds(row, 1e5),
            &poisson(row),
            &service(row, "servers", Some(places)),
            "max_attempts = 1",
        );
        let quantiles: [Figure; 3] = [
            ("sojourn_p50_accepted_s", None, |t, _| {
                t.latency.quantile_ms(0.5).unwrap() / 1e3
            }),
            ("sojourn_p95_accepted_s", None, |t, _| {
                t.latency.quantile_ms(0.95).unwrap() / 1e3
            }),
            ("sojourn_p99_accepted_s", None, |t, _| {
                t.latency.quantile_ms(0.99).unwrap() / 1e3
            }),
        ];
        let means: [Figure; 6] = [
            REFUSED,
            THROUGHPUT,
            ("mean_wait_accepted_s", None, |t, _| t.waits.mean_s()),
            ("mean_sojourn_accepted_s", None, |t, _| t.sojourns.mean_s()),
            ("mean_busy_servers", None, |t, s| level(t, Gauge::Busy, s)),
            INSIDE,
        ];
        hold(row, &text, &[&means[..], &quantiles].concat());
    });
}

/// Time in the queue over all that arrive.
fn time_in_queue(tally: &Tally, seconds: f64) -> f64 {
    let bins = &tally.timeline.bins()[COUNTED];
    let arrived: u64 = bins.iter().map(|bin| bin.first_tries).sum();
    level(tally, Gauge::Queue, seconds) * 0.9 * seconds / arrived as f64
}

#[test]
fn callers_leave_a_queue_as_often_as_their_patience_says() {
    every("03_patience_fixed.csv", 6, |row| {
        let patience = format!(
            "max_attempts = 1\ntimeout_covers = \"wait\"\nattempt_timeout = \"{}s\"",
            row["queue_timeout_s"]
        );
        let text = world(
            seconds(row, 1e5),
            &poisson(row),
            &service(row, "servers", None),
            &patience,
        );
        hold(
            row,
            &text,
            &[
                ("p_timeout", None, |t, _| {
                    outcome(t, AttemptOutcome::TimedOut)
                }),
                ("p_wait_or_timeout", None, |t, _| {
                    t.waited as f64 / t.attempts as f64 + outcome(t, AttemptOutcome::TimedOut)
                }),
                THROUGHPUT,
                ("mean_wait_served_s", None, |t, _| t.waits.mean_s()),
                ("mean_time_in_queue_all_s", None, time_in_queue),
            ],
        );
    });
    every("03_erlang_a.csv", 7, |row| {
        let patience = format!(
            "max_attempts = 1\ntimeout_covers = \"wait\"\nattempt_timeout.exponential = {{ mean = \"{}s\" }}",
            row["mean_patience_s"]
        );
        let text = world(
            seconds(row, 2e5),
            &poisson(row),
            &service(row, "servers", None),
            &patience,
        );
        hold(
            row,
            &text,
            &[
                ("p_abandon", None, |t, _| {
                    outcome(t, AttemptOutcome::TimedOut)
                }),
                ("p_wait", None, |t, _| {
                    t.waited as f64 / t.attempts as f64 + outcome(t, AttemptOutcome::TimedOut)
                }),
                THROUGHPUT,
                ("mean_time_in_queue_all_s", None, time_in_queue),
                QUEUE,
                INSIDE,
            ],
        );
    });
}

#[test]
fn a_service_that_never_learns_of_timeouts_wastes_what_theory_says() {
    every("03_timeout_server_unaware.csv", 16, |row| {
        let places = row["max_in_system_K"].parse::<u64>().ok().map(|k| k - 1);
        let row = &Row::from_iter(
            row.clone()
                .into_iter()
                .chain([("servers".into(), "1".into())]),
        );
        let mut service = service(row, "servers", places);
        if row["service"] == "deterministic" {
            let mean = 1e3 / number(row, "mu_per_s");
            service = service.replace(
                &format!(".exponential = {{ mean = \"{mean:?}ms\" }}"),
                &format!(" = \"{mean:?}ms\""),
            );
        }
        let strategy = format!(
            "max_attempts = 1\nattempt_timeout = \"{}s\"",
            row["client_timeout_s"]
        );
        let text = world(seconds(row, 2e5), &poisson(row), &service, &strategy);
        let success = |t: &Tally, _: f64| t.success_rate().unwrap();
        let wasted = |t: &Tally, _: f64| t.served_late as f64 / t.served as f64;
        let refused = |t: &Tally, _: f64| outcome(t, AttemptOutcome::QueueFull);
        hold(
            row,
            &text,
            &[
                ("p_success_exact", None, success),
                ("wasted_fraction_of_served_exact", None, wasted),
                ("p_rejected_exact", None, refused),
                ("p_success_sim", Some("p_success_ci95"), success),
                ("wasted_fraction_sim", Some("wasted_ci95"), wasted),
            ],
        );
    });
}

#[test]
fn clients_that_wait_for_their_answer_load_a_service_as_a_finite_source() {
    // Memoryless pauses are simulated as one thinned stream, others by an event for each client: both are exact.
    for think in [
        "exponential = { mean = \"MEAN\" }",
        "erlang = { mean = \"MEAN\", shape = 1 }",
    ] {
        let clients = |n: &str, rate: f64| {
            let think = think.replace("MEAN", &format!("{:?}s", 1.0 / rate));
            format!("count = {n}\narrivals.closed_loop = {{ think.{think} }}")
        };
        every("03_closed_finite_source.csv", 6, |row| {
            let rate = number(row, "request_rate_when_idle_per_s");
            let seconds = 1e5 / number(row, "throughput_per_s");
            let text = world(
                seconds,
                &clients(&row["sources"], rate),
                &service(row, "servers", None),
                "max_attempts = 1",
            );
            hold(
                row,
                &text,
                &[
                    THROUGHPUT,
                    ("mean_wait_s", None, |t, _| t.waits.mean_s()),
                    ("mean_response_s", None, |t, _| {
                        t.latency.mean_ms().unwrap() / 1e3
                    }),
                    ("p_wait_seen_by_arrival", None, |t, _| {
                        t.waited as f64 / t.waits.count as f64
                    }),
                    QUEUE,
                    INSIDE,
                ],
            );
        });
        every("03_engset_loss.csv", 5, |row| {
            let rate = number(row, "request_rate_when_idle_per_s");
            let seconds = 2e5 / number(row, "attempt_rate_per_s");
            let text = world(
                seconds,
                &clients(&row["sources"], rate),
                &service(row, "servers_no_queue", Some(0)),
                "max_attempts = 1",
            );
            hold(
                row,
                &text,
                &[
                    ("p_blocked_seen_by_arrival", None, |t, _| {
                        outcome(t, AttemptOutcome::QueueFull)
                    }),
                    ("attempt_rate_per_s", None, |t, s| {
                        t.attempts as f64 / (0.9 * s)
                    }),
                    THROUGHPUT,
                    ("mean_busy", None, |t, s| level(t, Gauge::Busy, s)),
                ],
            );
        });
    }
}

#[test]
fn retries_in_a_closed_loop_set_its_rate_as_renewal_theory_says() {
    every("02_closed_loop_rate.csv", 6, |row| {
        let (base, cap) = (&row["base_s"], &row["cap_s"]);
        let backoff = match row["backoff"].as_str() {
            "none" => "backoff = \"immediate\"".into(),
            "fixed" => format!("backoff.fixed.delay = \"{base}s\""),
            "exponential" => {
                format!("backoff.exponential = {{ base = \"{base}s\", cap = \"{cap}s\" }}")
            }
            jitter => format!(
                "backoff.exponential = {{ base = \"{base}s\", cap = \"{cap}s\", jitter = \"{jitter}\" }}"
            ),
        };
        let clients = format!(
            "count = {}\narrivals.closed_loop = {{ think.exponential = {{ mean = \"{}s\" }} }}",
            row["clients"], row["mean_think_time_s"]
        );
        let service = format!(
            "workers = \"unlimited\"\nservice_time = \"{}s\"\nfailures = [{{ code = 503, probability = {:?} }}]",
            row["attempt_latency_s"],
            number(row, "p_fail")
        );
        let strategy = format!("max_attempts = {}\n{backoff}", row["attempts_k"]);
        let text = world(
            5e4 / number(row, "request_rate_per_s"),
            &clients,
            &service,
            &strategy,
        );
        hold(
            row,
            &text,
            &[
                ("request_rate_per_s", None, |t, s| {
                    t.requests as f64 / (0.9 * s)
                }),
                ("attempt_rate_per_s", None, |t, s| {
                    t.attempts as f64 / (0.9 * s)
                }),
                ("success_rate_per_s", None, |t, s| {
                    t.succeeded as f64 / (0.9 * s)
                }),
                ("mean_attempts", None, |t, _| t.amplification().unwrap()),
                ("mean_backoff_per_request_s", None, |t, _| {
                    t.backoff.mean_s()
                }),
            ],
        );
    });
}

#[test]
fn the_order_of_service_changes_the_spread_of_waits_alone() {
    every("03_fifo_lifo.csv", 10, |row| {
        let row = &Row::from_iter(
            row.clone()
                .into_iter()
                .chain([("servers".into(), "1".into())]),
        );
        let service = format!(
            "{}\nqueue.discipline = \"{}\"",
            service(row, "servers", None),
            row["discipline"]
        );
        let requests = if number(row, "utilisation") > 0.85 {
            1.5e6
        } else {
            4e5
        };
        let text = world(
            seconds(row, requests),
            &poisson(row),
            &service,
            "max_attempts = 1",
        );
        let means: [Figure; 3] = [
            ("p_wait", None, |t, _| {
                t.waited as f64 / t.waits.count as f64
            }),
            ("mean_wait_s", None, |t, _| t.waits.mean_s()),
            ("mean_sojourn_s", None, |t, _| t.sojourns.mean_s()),
        ];
        // The spread under LIFO settles slowly at high load.
        let spread: [Figure; 2] = [
            ("sd_wait_s", None, |t, _| t.waits.sd_s()),
            ("sd_sojourn_s", None, |t, _| t.sojourns.sd_s()),
        ];
        let settled = number(row, "utilisation") < 0.75 || row["discipline"] == "fifo";
        hold(
            row,
            &text,
            &[&means[..], if settled { &spread } else { &[] }].concat(),
        );
    });
}

#[test]
fn requests_that_come_back_for_ever_fill_the_orbit_as_the_chain_says() {
    every("03_retrial_infinite.csv", 12, |row| {
        let strategy = format!(
            "max_attempts = \"unlimited\"\nbackoff.memoryless.mean = \"{}s\"",
            row["mean_backoff_s"]
        );
        let text = world(
            seconds(row, 1.5e5),
            &poisson(row),
            &service(row, "servers_no_queue", Some(0)),
            &strategy,
        );
        hold(
            row,
            &text,
            &[
                ("p_first_attempt_refused", None, |t, _| {
                    1.0 - t.succeeded_with[0] as f64 / t.requests as f64
                }),
                ("mean_orbit", None, |t, s| level(t, Gauge::Backoff, s)),
                ("mean_total_time_s", None, |t, _| {
                    t.latency.mean_ms().unwrap() / 1e3
                }),
                ("mean_attempts", None, |t, _| t.amplification().unwrap()),
                ("p_any_attempt_refused", None, |t, _| {
                    outcome(t, AttemptOutcome::QueueFull)
                }),
            ],
        );
    });
}

#[test]
fn requests_that_come_back_a_few_times_succeed_as_the_chain_says() {
    every("03_refusal_retry_ctmc.csv", 8, |row| {
        let places =
            row["max_in_system_K"].parse::<u64>().unwrap() - row["servers"].parse::<u64>().unwrap();
        let strategy = format!(
            "max_attempts = {}\nbackoff.memoryless.mean = \"{}s\"",
            row["attempts_k"], row["mean_backoff_s"]
        );
        let text = world(
            seconds(row, 2e5),
            &poisson(row),
            &service(row, "servers", Some(places)),
            &strategy,
        );
        hold(
            row,
            &text,
            &[
                ("p_first_attempt_refused", None, |t, _| {
                    1.0 - t.succeeded_with[0] as f64 / t.requests as f64
                }),
                ("p_success", None, |t, _| t.success_rate().unwrap()),
                ("mean_attempts", None, |t, _| t.amplification().unwrap()),
                ("offered_attempt_rate_per_s", None, |t, s| {
                    t.attempts as f64 / (0.9 * s)
                }),
                THROUGHPUT,
                ("mean_waiting_to_retry", None, |t, s| {
                    level(t, Gauge::Backoff, s)
                }),
                INSIDE,
            ],
        );
    });
}
