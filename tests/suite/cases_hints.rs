//! Situations that practitioners meet, ninth part: delays that a server tells, and schedules at their limits.
//!
//! Each case has the number it has in the project's list of cases.

use crate::cases_herds::reached;
use crate::support::{Sample, agrees, exactly, records, total};
use retrystorm::metrics::Tally;
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::AttemptOutcome;

/// 1,000 clients that are turned away at the same moment. Their own delay is anything up to 32 s.
fn told(seed: u64, service: &str, fault: &str, hints: &str) -> Vec<u64> {
    let tally = total(&format!(
        "[run]\nduration = \"1s\"\ndrain = \"120s\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = 1000\narrivals.burst = {{}}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n{service}\n\
         [[fault]]\nat = \"0s\"\nlasts = \"1ms\"\n{fault}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 2\nbackoff.uniform = {{ min = \"1ms\", max = \"32s\" }}\n{hints}\n"
    ));
    assert_eq!((tally.succeeded, tally.attempts), (1_000, 2_000));
    let mut bins = reached(&tally);
    bins[0] -= 1_000;
    bins
}

/// Every second of a range has its part of the thousand, within four standard errors of a binomial count, and all
/// others have none.
fn is_even(bins: &[u64], seconds: std::ops::Range<usize>) -> bool {
    let share = 1.0 / seconds.len() as f64;
    let error = (1e3 * share * (1.0 - share)).sqrt();
    bins.iter().enumerate().all(|(second, &count)| {
        if seconds.contains(&second) {
            (count as f64 - 1e3 * share).abs() < 4.0 * error
        } else {
            count == 0
        }
    })
}

/// C34. The larger of 60 s told and an own delay of at most 32 s is 60 s for everybody: a thousand in one second, in
/// one nanosecond even. The told delay and up to 30 s on top are 33 a second from 60 to 90 s, and a server that varies
/// its value by a quarter makes 33 a second from 45 to 75 s. After a restart nobody is told anything, and the own delay
/// alone has to do: 31 a second for 32 s.
#[test]
fn a_told_delay_brings_all_clients_back_at_once_unless_somebody_varies_it() {
    let fixed = "retry_after.fixed.after = \"60s\"";
    let varied = "retry_after.fixed = { after = \"60s\", jitter = \"25%\", whole_seconds = false }";
    let fails = "fail_all = true";
    let larger = "hints.heed = \"max\"";
    for seed in 1..=5 {
        let together = told(seed, fixed, fails, larger);
        assert_eq!(together[60], 1_000);

        let spread = told(seed, fixed, fails, "hints.heed.plus.jitter = \"30s\"");
        assert!(is_even(&spread, 60..90), "{spread:?}");

        let by_server = told(seed, varied, fails, larger);
        assert!(is_even(&by_server, 45..75), "{by_server:?}");

        let untold = told(seed, fixed, "outage = \"refuse\"", larger);
        assert!(is_even(&untold, 0..32), "{untold:?}");
        let peaks = [&spread, &by_server, &untold].map(|bins| bins.iter().max().copied().unwrap());
        println!(
            "C34, peak a second: {} together, {peaks:?} spread",
            together[60]
        );
    }
}

/// One client that calls again as soon as it is answered. The server lets a call in when there was none for a window of
/// so many seconds, let in or not, and tells the window to whoever comes too early.
fn window(seconds: u32, retry_after: &str, heed: &str) -> Tally {
    let tally = total(&format!(
        "[run]\nduration = \"{}s\"\ndrain = \"100h\"\nbin = \"1h\"\nreplications = 1\nseed = 35\n\
         [clients]\ncount = 1\narrivals.closed_loop = {{ think = \"{seconds}ms\", start = \"at_once\" }}\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
         rate_limit.window = {{ attempts = 1, per = \"{seconds}s\", window = \"sliding\", count_refused = true }}\n\
         retry_after.{retry_after}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = \"unlimited\"\n\
         backoff.exponential = {{ base = \"{}ms\", cap = \"{}s\", jitter = \"full\" }}\nhints.heed{heed}\n",
        40_000 * seconds,
        100 * seconds,
        2 * seconds,
    ));
    assert_eq!(tally.unfinished, 0);
    tally
}

/// Of the retries of a run: the share that came too early, and of a call: how many came too early, and the time to
/// success in windows.
fn early(tally: &Tally, seconds: u32) -> [f64; 3] {
    // The first call comes to an empty window, and each later one right after the one before.
    let calls = (tally.requests - 1) as f64;
    let refused = tally.outcomes[AttemptOutcome::Error as usize] as f64;
    let retries = (tally.attempts - tally.requests) as f64;
    let too_early = refused - calls;
    let time = tally.latency.sum_ns() as f64 / 1e9 / calls / f64::from(seconds);
    [too_early / retries, too_early / calls, time]
}

/// C35. As a floor no call is early, and the next one succeeds after one window. Multiplied by U(0.5, 1.5) half are
/// early: one more refusal a call, and two windows. As a bound on an own delay that begins at a tenth of the window
/// nearly every call is refused again: four times for sure, then with 1 ÷ 1.6, then with 1/2 at a cap of two windows:
/// 5.25 in 6.25. A bound is what an own delay is that nothing was told to: no call is later than the window.
#[test]
fn a_told_delay_is_a_floor_and_neither_a_bound_nor_a_factor() {
    for seconds in [1, 30] {
        let fixed = format!("fixed.after = \"{seconds}s\"");
        let of = |told: &str, heed: &str| early(&window(seconds, told, heed), seconds);
        for told in [fixed.as_str(), "free.whole_seconds = false"] {
            assert_eq!(of(told, " = \"replace\""), [0.0, 0.0, 1.0]);
            // An own delay between one window and two is longer now and then.
            let [share, _, time] = of(told, " = \"max\"");
            assert!(share == 0.0 && time == 1.0, "{share} {time}");

            let scaled = of(told, ".scale = { low = 0.5, high = 1.5 }");
            println!(
                "C35, window {seconds} s, {told}: early, refusals, windows: {scaled:.3?} multiplied"
            );
            for (found, expected, error) in [
                (scaled[0], 0.5, 0.5 / 40_000f64.sqrt()),
                (scaled[1], 1.0, 2f64.sqrt() / 20_000f64.sqrt()),
                (scaled[2], 2.0, 1.3 / 20_000f64.sqrt()),
            ] {
                assert!((found - expected).abs() < 4.0 * error, "{scaled:?}");
            }
        }
        let bounded = of(&fixed, " = \"min\"");
        println!("C35, window {seconds} s: {bounded:.3?} as a bound");
        assert!((bounded[0] - 5.25 / 6.25).abs() < 0.005, "{bounded:?}");
        assert!((bounded[1] - 5.25).abs() < 0.06, "{bounded:?}");
    }
}

/// Delays of one request whose attempts all fail, in seconds; the run ends after 366 days.
fn schedule(attempts: u32, backoff: &str) -> (Tally, Vec<f64>) {
    let (tally, records) = records(
        &format!(
            "[run]\nduration = \"1s\"\ndrain = \"365d\"\nbin = \"1d\"\nreplications = 1\nseed = 26\n\
             [clients]\ncount = 1\narrivals.burst = {{}}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"0s\"\n\
             failures = [{{ code = 503, probability = 1.0 }}]\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = {attempts}\nbackoff = {backoff}\n"
        ),
        0,
    );
    let delay = |record: &AttemptRecord| match record.next {
        Next::RetryAfter(delay) => Some(delay.as_secs_f64()),
        _ => None,
    };
    let delays = records.iter().filter_map(delay).collect();
    (tally, delays)
}

/// C25. The first retry at once, later ones after 0.1 s × 2^(n − 1): 0, 0.2, 0.4 … 102.4, 120, 120 s. With a factor
/// that is zero by default ten retries are eleven calls at the same moment.
#[test]
fn a_preset_whose_factor_is_zero_makes_eleven_calls_at_once() {
    let preset = "{ exponential = { base = \"100ms\", cap = \"120s\", first = \"0s\" } }";
    let expected = [
        0.0, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 120.0, 120.0,
    ];
    assert_eq!(schedule(14, preset).1, expected);
    for zero in [
        "{ exponential = { base = \"0s\", cap = \"120s\", first = \"0s\" } }",
        "{ exponential = { base = \"100ms\", factor = 0, start = 1 } }",
    ] {
        let (tally, delays) = schedule(11, zero);
        assert_eq!(delays, [0.0; 10], "{zero}");
        let first = &tally.timeline.bins()[0];
        assert_eq!((first.first_tries, first.retries), (1, 10));
        assert_eq!(tally.failed_after_ns, 0);
    }
}

/// C26. Ten thousand attempts at a cap of 60 s: seven days of the same delay, whatever 2 to the power of 10,000 is. A
/// multiplier of zero stays at zero. Doubling from 5 s the eleventh delay is 85.3 min, and factor 5 without a cap has
/// soon grown beyond the end of the run, which leaves the request open and stops nothing else.
#[test]
fn a_delay_at_its_cap_stays_there_for_ten_thousand_attempts() {
    let (tally, delays) = schedule(10_000, "{ exponential = { base = \"1s\", cap = \"60s\" } }");
    assert_eq!(delays[..6], [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
    assert!(delays[6..].iter().all(|&delay| delay == 60.0));
    assert_eq!((delays.len(), tally.attempts), (9_999, 10_000));
    assert_eq!(tally.failed_after_ns, (63 + 9_993 * 60) * 1_000_000_000);

    let zero = schedule(
        10_000,
        "{ exponential = { base = \"1s\", factor = 0, start = 1 } }",
    );
    assert!(zero.1.len() == 9_999 && zero.1.iter().all(|&delay| delay == 0.0));

    let (tally, delays) = schedule(2_000, "{ exponential = { base = \"5s\" } }");
    assert!((delays[10] / 60.0 - 85.3).abs() < 0.04, "{}", delays[10]);
    assert_eq!(tally.unfinished, 1);
    let (tally, delays) = schedule(2_000, "{ exponential = { base = \"1s\", factor = 5 } }");
    // 5^11 s are 565 days.
    assert_eq!(
        (delays.len(), tally.attempts, tally.unfinished),
        (12, 12, 1)
    );
    let saturated = "{ exponential = { base = \"1h\", factor = 1e30, start = 100 } }";
    assert_eq!(schedule(2_000, saturated).0.unfinished, 1);
}

/// C27. A minimum of 0.1 s that doubles up to 5 s and ± 50 % of the minimum, which is a uniform tenth of a second from
/// 4.95 s on: at attempts 60 to 70 and at the thousandth the delay is the maximum ± 50 ms. A jitter larger than the
/// delay leaves none below zero.
#[test]
fn attempts_beyond_the_word_size_wait_for_the_maximum() {
    let jitter = "jitter.additive.max = \"100ms\"";
    let (_, delays) = schedule(
        1_001,
        &format!("{{ exponential = {{ base = \"100ms\", cap = \"4950ms\", {jitter} }} }}"),
    );
    assert_eq!(delays.len(), 1_000);
    let capped = Sample::of(delays[6..].iter().copied());
    for &delay in delays[59..70].iter().chain(&delays[999..]) {
        assert!((4.95..=5.05).contains(&delay), "{delay}");
    }
    assert!(
        delays[6..]
            .iter()
            .all(|delay| (4.95..=5.05).contains(delay))
    );
    agrees("maximum", capped.mean, capped.error(), exactly(5.0));

    let whole = "{ exponential = { base = \"100ms\", cap = \"5s\", jitter.proportional.ratio = \"100%\" } }";
    let (_, delays) = schedule(1_001, whole);
    assert!(delays.iter().all(|delay| (0.0..=10.0).contains(delay)));
    assert!(delays[59..].iter().any(|&delay| delay < 0.1));
}
