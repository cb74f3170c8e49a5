//! Situations that practitioners meet, third part: many clients that come at the same moment, and again.
//!
//! Each case has the number it has in the project's list of cases. Most figures are arithmetic and hold exactly; the
//! random ones are compared within four standard errors.

use crate::support::{Sample, agrees, exactly, records, total};
use retrystorm::metrics::Tally;
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::AttemptOutcome;

/// Attempts that reached the service in each bin.
pub(crate) fn reached(tally: &Tally) -> Vec<u64> {
    let bins = tally.timeline.bins().iter();
    bins.map(|bin| bin.first_tries + bin.retries).collect()
}

/// How many attempts ended like this.
pub(crate) fn ended(tally: &Tally, outcome: AttemptOutcome) -> u64 {
    tally.outcomes[outcome as usize]
}

/// When the last request succeeded, in seconds.
pub(crate) fn last_success(records: &[AttemptRecord]) -> f64 {
    let good = records.iter().filter(|r| r.next == Next::Succeeded);
    good.map(|r| r.ended_at.as_secs_f64()).fold(0.0, f64::max)
}

/// Clients that knock at a service which is gone, `every` so often or with another backoff, for `seconds`.
fn knocking(clients: u32, requests: u32, seconds: u32, seed: u64, backoff: &str) -> String {
    format!(
        "[run]\nduration = \"{seconds}s\"\nbin = \"100ms\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {clients}\narrivals.burst = {{ at = \"0s\", requests = {requests} }}\n\
         [service.api]\nworkers = 1\nservice_time = \"1ms\"\n\
         [[fault]]\nat = \"0s\"\nlasts = \"1h\"\noutage = \"refuse\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\nbackoff = {backoff}\n"
    )
}

/// C11. Each of N − 1 nodes knocks at m dead peers every 100 ms: 10 · (N − 1) · m a second in all. Doubling to 5 s
/// leaves (N − 1) · m ÷ 5.
#[test]
fn a_mesh_without_backoff_knocks_ten_times_a_second_at_each_dead_peer() {
    let cap = "{ exponential = { base = \"100ms\", cap = \"5s\" } }";
    for nodes in [200, 301, 1_000] {
        for dead in [1, 5] {
            let pairs = u64::from((nodes - 1) * dead);
            let tick = knocking(nodes - 1, dead, 10, 11, "{ fixed.delay = \"100ms\" }");
            let per_second: Vec<u64> = reached(&total(&tick))
                .chunks_exact(10)
                .map(|bins| bins.iter().sum())
                .collect();
            println!(
                "C11, {nodes} nodes, {dead} dead: {} a second",
                per_second[0]
            );
            assert_eq!(per_second, [10 * pairs; 10], "{nodes} {dead}");

            let slow = reached(&total(&knocking(nodes - 1, dead, 110, 11, cap)));
            // From 6.3 s on, when the delays have grown, to 106.3 s.
            let sum: u64 = slow[63..1_063].iter().sum();
            assert_eq!(sum, 100 * pairs / 5, "{nodes} {dead}");
        }
    }
}

/// Slots whose handshake is refused after 2 ms, whatever they do.
fn slots(count: u32, seconds: u32, seed: u64, backoff: &str) -> Tally {
    total(&knocking(count, 1, seconds, seed, backoff).replace(
        "service_time",
        "network = { request = \"1ms\", response = \"1ms\" }\nservice_time",
    ))
}

/// C12. 25 slots that try again at once make 25 ÷ 2 ms = 12,500 attempts a second, 400 pools of them 5 million.
#[test]
fn slots_that_retry_at_once_are_limited_by_the_refusal_alone() {
    let pool = slots(25, 2, 12, "\"immediate\"");
    assert_eq!(reached(&pool), [1_250; 20]);
    let pools = slots(400 * 25, 1, 12, "\"immediate\"");
    assert_eq!(reached(&pools), [500_000; 10]);
}

/// C12. Full jitter from 0.1 to 2 s: about 500 a second of each pool at first, 25 ÷ 1.002 s at the cap. In the first
/// tenth a slot has made its first try; its n-th retry has come too when n uniform delays of widths 0.1, 0.2 …
/// add up to less than 0.099 s − n · 2 ms = x: x^n ÷ (n! · product of the widths). Forty pools at a time.
#[test]
fn jittered_slots_make_five_hundred_attempts_a_second_and_then_twenty_five() {
    let mut at_first = Sample::default();
    let mut at_the_cap = Sample::default();
    let cap = "{ exponential = { base = \"100ms\", cap = \"2s\", jitter = \"full\" } }";
    for seed in 1..=10 {
        let bins = reached(&slots(40 * 25, 120, seed, cap));
        at_first.add(bins[0] as f64 / 40.0 / 0.1);
        at_the_cap.add(bins[600..].iter().sum::<u64>() as f64 / 40.0 / 60.0);
    }
    let mut volume = 1.0;
    let mut tries = 1.0;
    for n in 1..=4 {
        volume *= f64::from(n) * 0.1 * 2f64.powi(n - 1);
        tries += (0.099 - 0.002 * f64::from(n)).powi(n) / volume;
    }
    println!("C12, a second of a pool: {at_first:?}, at the cap {at_the_cap:?}");
    agrees(
        "first tenth",
        at_first.mean,
        at_first.error(),
        exactly(25.0 * tries / 0.1),
    );
    assert!((450.0..600.0).contains(&at_first.mean));
    agrees(
        "cap",
        at_the_cap.mean,
        at_the_cap.error(),
        exactly(25.0 / 1.002),
    );
}

/// C14. 10,000 agents lose their link at the same moment; one worker makes 200 handshakes a second. A handshake that
/// takes longer than 5 s is given up.
fn fleet(service: &str, backoff: &str, seed: u64) -> String {
    format!(
        "[run]\nduration = \"1s\"\ndrain = \"600s\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 10000\narrivals.burst.at = \"0s\"\n\
         [service.api]\nworkers = 1\nservice_time = \"5ms\"\n{service}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\nattempt_timeout = \"5s\"\n\
         backoff = {backoff}\n"
    )
}

const SKIP: &str = "on_abandon = \"skip_when_dequeued\"";
const SHED: &str = "queue.capacity = 999";

/// C14. Tries every 10 s: 1,000 handshakes fit into a patience of 5 s, so the waves are 10,000, 9,000 … 1,000 and the
/// last agent is back after 95 s (50 s at the least: 10,000 ÷ 200), with 45,000 handshakes in vain. It is the same
/// whether the rest times out or is turned away. Where handshakes are made for agents that have gone, no agent
/// comes back after the first wave: 9,000 more every 10 s keep a service for 2,000 busy with them.
#[test]
fn a_fleet_that_reconnects_on_a_tick_comes_in_waves_most_of_which_fail() {
    for (service, delay, in_vain) in [
        (SKIP, 5, AttemptOutcome::TimedOut),
        (SHED, 10, AttemptOutcome::QueueFull),
    ] {
        let backoff = format!("{{ fixed.delay = \"{delay}s\" }}");
        let (tally, records) = records(&fleet(service, &backoff, 14), 0);
        let waves: Vec<u64> = reached(&tally).into_iter().filter(|&n| n > 0).collect();
        let expected: Vec<u64> = (1..=10).rev().map(|n| 1_000 * n).collect();
        assert_eq!(waves, expected, "{service}");
        assert_eq!((tally.succeeded, ended(&tally, in_vain)), (10_000, 45_000));
        assert_eq!(last_success(&records), 95.0);
    }
    let (tally, records) = records(&fleet("", "{ fixed.delay = \"5s\" }", 14), 0);
    assert_eq!((tally.succeeded, last_success(&records)), (1_000, 5.0));
}

/// C14. Full jitter up to 120 s. When the first delay is already that wide, 75 agents a second come to 200
/// handshakes, and nothing is in vain but the 9,000 of the first moment; the last is back with the cap. Growing from
/// 10 s wastes more, about half of what the tick does, and the end is still about the cap. It also ends where work
/// for nobody is done, later by the 50 s which that takes.
#[test]
fn a_fleet_with_full_jitter_is_back_within_about_the_cap() {
    let jitter = |base: &str| {
        format!("{{ exponential = {{ base = \"{base}\", cap = \"120s\", jitter = \"full\" }} }}")
    };
    for seed in 1..=5 {
        let run = |service, base| {
            let (tally, records) = records(&fleet(service, &jitter(base), seed), 0);
            assert_eq!(tally.succeeded, 10_000, "{service} {base}");
            (tally, last_success(&records))
        };
        for service in [SKIP, SHED] {
            let (tally, done) = run(service, "120s");
            // Some may meet the queue of the first moment.
            assert!((19_000..19_020).contains(&tally.attempts), "{tally:?}");
            assert!((115.0..125.1).contains(&done), "{service}: {done}");
            let peak = reached(&tally)[1..].iter().copied().max().unwrap();
            assert!(peak < 120, "{peak}");

            let (tally, done) = run(service, "10s");
            let in_vain = tally.attempts - 10_000;
            println!("C14, {service}, jitter from 10 s: {in_vain} in vain, done after {done:.0} s");
            assert!((18_000..27_000).contains(&in_vain), "{in_vain}");
            assert!((100.0..180.0).contains(&done), "{done}");
        }
        let done = run("", "120s").1;
        assert!((150.0..240.0).contains(&done), "{done}");
    }
}

/// C15. 50,000 clients lose their links within `spread` seconds; the first try fails at once, the second comes
/// within a window. Three workers of 1 ms are good for 3,000 reconnects a second.
fn reconnects(window: u32, spread: u32) -> Tally {
    total(&format!(
        "[run]\nduration = \"{}s\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = {window}\n\
         [clients]\ncount = 50000\narrivals.burst = {{ at = \"0s\", spread = \"{spread}s\" }}\n\
         [service.api]\nworkers = 3\nservice_time = \"1ms\"\nfailures_take_time = false\n\
         [[fault]]\nat = \"0s\"\nlasts = \"24h\"\nfail_first = 1\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 2\n\
         backoff.uniform = {{ min = \"0s\", max = \"{window}s\" }}\n",
        spread + 1
    ))
}

/// C15. A restart of the server is a peak of N ÷ window and leaves N − 3,000 · window waiting, so 16.7 s are needed.
/// A single drop (two a client and day: one each in 12 hours) costs half the window and needs none of it.
#[test]
fn the_first_window_trades_the_peak_of_a_restart_for_the_delay_of_every_drop() {
    println!("C15, window s: peak of a restart a second, most waiting, mean cost of a drop s");
    for window in [1, 2, 4, 8, 12, 16, 17, 18, 24, 36] {
        let restart = reconnects(window, 0);
        let retries = restart.timeline.bins().iter().map(|bin| bin.retries);
        let peak = retries.max().unwrap() as f64;
        let width = f64::from(window);
        let mean = 50_000.0 / width;
        let sd = (mean * (1.0 - 1.0 / width)).sqrt();
        assert!(
            (mean..=mean + 4.0 * sd).contains(&peak),
            "{window}: {peak} for {mean}"
        );
        let waiting = restart.in_system_max as f64;
        let left = (50_000.0 - 3_000.0 * width).max(0.0);
        // A tenth of a second of work: what chance alone makes wait.
        assert!(
            (waiting - left).abs() < 300.0,
            "{window}: {waiting}, {left}"
        );
        assert_eq!(window < 17, waiting > 300.0, "{window}: {waiting}");

        let drops = reconnects(window, 12 * 3_600).latency;
        let cost = drops.mean_ms().unwrap();
        println!("{window}: {peak}, {waiting}, {:.2}", cost / 1e3);
        let error = drops.sd_ms().unwrap() / 50_000f64.sqrt();
        agrees("cost", cost, error, exactly(500.0 * width + 1.0));
    }
}

/// C16. Jobs of every five minutes for a quarter of an hour, of 1 s each. A job that is refused tries three more
/// times, after 10 s each. Waiting places are for 4 s of work.
fn jobs(count: u32, workers: u32, offset: &str, seed: u64) -> Tally {
    total(&format!(
        "[run]\nduration = \"15m\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {count}\narrivals.periodic = {{ every = \"5m\", offset = \"{offset}\" }}\n\
         [service.api]\nworkers = {workers}\nservice_time = \"1s\"\nqueue.capacity = {}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 4\nbackoff.fixed.delay = \"10s\"\n",
        4 * workers
    ))
}

/// C16. Aligned, all N come in one second and all but 5 s of work are refused; they come again for 30 s, less 5 s of
/// work each time, and the rest fails. At hashed offsets N ÷ 300 come a second and nothing is refused.
#[test]
fn round_schedules_are_refused_where_hashed_ones_are_not() {
    for (count, workers) in [(100, 1), (10_000, 50)] {
        let (n, taken) = (u64::from(count), 5 * u64::from(workers));
        let aligned = jobs(count, workers, "aligned", 16);
        let mut expected = vec![0; 960];
        for tick in [0, 300, 600] {
            for round in 0..4 {
                expected[tick + 10 * round] = n - taken * round as u64;
            }
        }
        assert_eq!(reached(&aligned), expected, "{count}");
        assert_eq!(aligned.succeeded, 3 * 4 * taken);
        assert_eq!(
            ended(&aligned, AttemptOutcome::QueueFull),
            3 * (4 * n - 10 * taken)
        );

        let mean = f64::from(count) / 300.0;
        for seed in 1..=5 {
            let hashed = jobs(count, workers, "random", seed);
            assert_eq!(hashed.succeeded, 3 * n, "{count} {seed}");
            let periods = reached(&hashed);
            let periods = periods[..900]
                .chunks_exact(300)
                .map(|p| p.iter().sum::<u64>());
            assert!(periods.eq([n; 3]), "{count} {seed}");
            assert_eq!(hashed.attempts, 3 * n, "{count} {seed}");
            let peak = reached(&hashed).into_iter().max().unwrap() as f64;
            println!("C16, {count} jobs: peak {n} aligned, {peak} hashed, mean {mean:.2}");
            assert!(peak < 2.0 * mean + 6.0, "{count} {seed}: {peak}");
        }
    }
}
