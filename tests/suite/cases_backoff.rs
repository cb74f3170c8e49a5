//! Situations that practitioners meet, second part: what a backoff does, and what it was thought to do.
//!
//! Each case has the number it has in the project's list of cases. Schedules are asked of the policy itself;
//! what becomes of many clients with one schedule is simulated.

use crate::support::{Sample, agrees, backoff, exactly, log, millis, records};
use retrystorm::model::AttemptRecord;
use retrystorm::policy::{Backoff, BackoffState};
use retrystorm::rng::{Draws, Key, Purpose};
use retrystorm::theory::retries::total_backoff;
use retrystorm::time::{SimDuration, SimTime};
use std::collections::BTreeMap;

/// Clients whose attempts all fail, at a service without limit unless `service` says otherwise.
fn herd(clients: u32, seed: u64, service: &str, strategy: &str) -> String {
    format!(
        "[run]\nduration = \"1s\"\ndrain = \"1h\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {clients}\narrivals.burst.at = \"0s\"\n\
         [service.api]\n{service}\nfailures = [{{ code = 503, probability = 1.0 }}]\n\
         [[strategy]]\nname = \"s\"\n{strategy}\n"
    )
}

const NO_LIMIT: &str = "workers = \"unlimited\"\nservice_time = \"0s\"";

/// The most attempts sent within one bucket of `width`.
fn peak<'a>(records: impl Iterator<Item = &'a AttemptRecord>, width: SimDuration) -> f64 {
    let mut buckets = BTreeMap::new();
    for record in records {
        let bucket = record.sent_at.as_nanos() / width.as_nanos();
        *buckets.entry(bucket).or_insert(0u32) += 1;
    }
    f64::from(buckets.values().copied().max().unwrap_or(0))
}

/// Peaks per 100 ms of the retries of each round, mean over ten seeds.
fn peaks_by_round(generators: &str, jitter: &str) -> Vec<f64> {
    let strategy = format!(
        "max_attempts = 8\n{generators}\n\
         backoff.exponential = {{ base = \"1s\", cap = \"60s\", jitter = \"{jitter}\" }}"
    );
    let runs: Vec<_> = (1..=10)
        .map(|seed| records(&herd(1_000, seed, NO_LIMIT, &strategy), 0).1)
        .collect();
    let of_round = |round: u32| {
        let peaks = runs.iter().map(|records| {
            let retries = records.iter().filter(|record| record.attempt == round + 1);
            peak(retries, millis(100))
        });
        Sample::of(peaks).mean
    };
    (1..=7).map(of_round).collect()
}

/// C17. 1,000 clients with full jitter from 1 to 60 s. With one generator jitter is none at all. The more
/// generators, the lower the peak, about as 1/k: in the last rounds, which are wide enough to keep groups apart, between
/// one and ten groups of 1,000/k meet in a bucket (one for large groups, nine for single clients).
#[test]
fn one_shared_generator_is_no_jitter_and_many_divide_the_peak() {
    assert_eq!(peaks_by_round("", "none"), [1_000.0; 7]);
    assert_eq!(peaks_by_round("generators = 1", "full"), [1_000.0; 7]);
    let few = [10, 100, 1_000].map(|k| {
        (
            f64::from(k),
            peaks_by_round(&format!("generators = {k}"), "full"),
        )
    });
    println!("C17, peaks per 100 ms by round: {few:?}");
    for (k, peaks) in &few {
        for peak in &peaks[5..] {
            let groups = peak / (1_000.0 / k);
            assert!((1.0..10.0).contains(&groups), "{k}: {peaks:?}");
        }
    }
    for round in 5..7 {
        let [ten, hundred, thousand] = [0, 1, 2].map(|i| few[i].1[round]);
        assert!(
            1_000.0 > 4.0 * ten && ten > 3.0 * hundred && hundred > 2.5 * thousand,
            "{few:?}"
        );
    }
    // As many generators as clients are as good as clients that share nothing.
    let own = peaks_by_round("", "full");
    for (own, shared) in own.iter().zip(&few[2].1) {
        assert!((own / shared - 1.0).abs() < 0.2, "{own} {shared}");
    }
}

fn random(index: u64) -> Draws {
    Key::root(17, 0).child(index).draws(Purpose::Backoff)
}

/// `count` delays before retry `n`, whose nominal delay does not depend on the ones before.
fn delays(backoff: &Backoff, n: u32, count: u64) -> Vec<SimDuration> {
    let delay = |i| {
        let mut state = BackoffState {
            retries: n - 1,
            previous: SimDuration::ZERO,
        };
        backoff.next_delay(&mut state, &mut random(i))
    };
    (0..count).map(delay).collect()
}

/// C18. Base 1 s, factor 1.6, cap 120 s, ±20 % after the cap.
#[test]
fn a_schedule_that_grows_by_1_6_is_as_published() {
    let published = [
        1.0, 1.6, 2.56, 4.10, 6.55, 10.49, 16.78, 26.84, 42.95, 68.72, 109.95, 120.0, 120.0,
    ];
    let plain = backoff("{ exponential = { base = \"1s\", factor = 1.6, cap = \"120s\" } }");
    let (mut state, mut draws) = (BackoffState::NEW, random(0));
    for (n, published) in (1..).zip(published) {
        let exact = SimDuration::from_secs_f64(1.6f64.powi(n - 1).min(120.0));
        let delay = plain.next_delay(&mut state, &mut draws);
        assert_eq!(plain.bounds(n as u64), (exact, exact));
        assert_eq!(delay, exact, "the schedule is what clients follow");
        assert!((delay.as_secs_f64() - published).abs() <= 0.005, "{delay}");
    }
    let jittered = backoff(
        "{ exponential = { base = \"1s\", factor = 1.6, cap = \"120s\", jitter.proportional.ratio = 0.2 } }",
    );
    assert_eq!(jittered.bounds(1), (millis(800), millis(1_200)));
    for n in [12, 13, 1_000] {
        let ends = (SimDuration::from_secs(96), SimDuration::from_secs(144));
        assert_eq!(jittered.bounds(n), ends);
        let delays = delays(&jittered, n as u32, 10_000);
        let (least, most) = (delays.iter().min().unwrap(), delays.iter().max().unwrap());
        assert!(
            ends.0 <= *least && *least < SimDuration::from_secs_f64(96.1),
            "{least}"
        );
        assert!(
            SimDuration::from_secs_f64(143.9) < *most && *most <= ends.1,
            "{most}"
        );
    }
}

/// C19. The same settings with the cap before and after the jitter: (a) 500 ms ± 50 %, (b) 120 s + 0–50 % (written as up
/// to 60 s more), (c) 15 min + 0–100 %. Jitter last: up to 750 ms, 180 s, 30 min and nobody on the cap. Cap last: a
/// hard bound; of (a) half sit on it when the nominal delay is the cap, and all once it has grown to twice that; of (b)
/// and (c) all.
#[test]
fn a_cap_after_the_jitter_puts_clients_back_in_step() {
    for (base, cap, jitter, most, share) in [
        (
            "125ms",
            millis(500),
            "jitter.proportional.ratio = 0.5",
            millis(750),
            0.5,
        ),
        (
            "30s",
            millis(120_000),
            "jitter.additive.max = \"60s\"",
            millis(180_000),
            1.0,
        ),
        (
            "225s",
            millis(900_000),
            "jitter = \"raw_to_double\"",
            millis(1_800_000),
            1.0,
        ),
    ] {
        let of = |order: &str, n: u32| {
            let backoff = backoff(&format!(
                "{{ exponential = {{ base = \"{base}\", cap = \"{cap}\", {jitter}, cap_order = \"{order}\" }} }}"
            ));
            let upper = backoff.bounds(u64::from(n)).1;
            let delays = delays(&backoff, n, 20_000);
            assert!(delays.iter().all(|delay| *delay <= upper), "{cap} {order}");
            let on_cap = delays
                .iter()
                .map(|delay| f64::from(u32::from(*delay == cap)));
            (upper, Sample::of(on_cap))
        };
        // The third retry is the first whose nominal delay is the cap.
        for n in [3, 40] {
            let (upper, on_cap) = of("before_jitter", n);
            assert_eq!((upper, on_cap.mean), (most, 0.0), "{cap}: jitter last");
            let (upper, on_cap) = of("after_jitter", n);
            assert_eq!(upper, cap, "a hard bound");
            let share = if n == 3 { share } else { 1.0 };
            let what = format!("on the cap of {cap} at retry {n}");
            agrees(&what, on_cap.mean, on_cap.error(), exactly(share));
        }
    }
}

/// Sizes of the bursts at one server of 50 ms, with the times of their ends: attempts that it serves without a pause.
fn bursts(strategy: &str, seed: u64) -> Vec<(f64, f64)> {
    let service = "workers = 1\nservice_time = \"50ms\"";
    let mut ends: Vec<SimTime> = records(&herd(200, seed, service, strategy), 0)
        .1
        .iter()
        .map(|record| record.ended_at)
        .collect();
    ends.sort_unstable();
    let mut bursts: Vec<(f64, f64)> = Vec::new();
    let mut before = None;
    for end in ends {
        match bursts.last_mut() {
            Some(burst) if before.is_some_and(|before| end - before == millis(50)) => {
                *burst = (end.as_secs_f64(), burst.1 + 1.0);
            }
            _ => bursts.push((end.as_secs_f64(), 1.0)),
        }
        before = Some(end);
    }
    bursts
}

/// The bursts that end within 600 s of `from`: their mean size, their largest, and how many clients are in the burst of a
/// client on average.
fn sizes(bursts: &[(f64, f64)], from: f64) -> [f64; 3] {
    let inside = bursts
        .iter()
        .filter(|(end, _)| (from..from + 600.0).contains(end));
    let sizes: Vec<f64> = inside.map(|burst| burst.1).collect();
    let clients: f64 = sizes.iter().sum();
    let squares: f64 = sizes.iter().map(|size| size * size).sum();
    let largest = sizes.iter().fold(0.0f64, |a, b| a.max(*b));
    [clients / sizes.len() as f64, largest, squares / clients]
}

/// C20. 200 clients at a server of 20 a second that turns everybody away. Jitter that acts only while the delay grows
/// (± 10 % cut at the maximum of 30 s) leaves groups that stay together for ever. U(10 s, 30 s) wears them down to
/// what random arrivals make: 1/(1 − ρ) in a burst on average (± 10 %; a finite herd is a little more even).
#[test]
fn a_fixed_maximum_keeps_groups_together_that_a_window_would_dissolve() {
    let (mut grouped, mut worn) = (Sample::default(), Sample::default());
    let (mut mean, mut random) = (Sample::default(), Sample::default());
    for seed in 1..=8 {
        let fixed = bursts(
            "max_attempts = 120\nbackoff.exponential = { base = \"1s\", cap = \"30s\", jitter.proportional.ratio = 0.1, cap_order = \"after_jitter\" }",
            seed,
        );
        let [early, late] = [300.0, 1_500.0].map(|from| sizes(&fixed, from));
        assert_eq!(early[1], late[1], "the largest group stays, seed {seed}");
        assert!(late[2] > 0.98 * early[2], "seed {seed}: {early:?} {late:?}");
        grouped.add(late[2]);
        let window = bursts(
            "max_attempts = 120\nbackoff.uniform = { min = \"10s\", max = \"30s\" }",
            seed,
        );
        let late = sizes(&window, 1_500.0);
        let inside = |burst: &&(f64, f64)| (1_500.0..2_100.0).contains(&burst.0);
        let served: f64 = window.iter().filter(inside).map(|burst| burst.1).sum();
        // All begin as one group of 200, in this strategy as in the other.
        assert!(window[0].1 >= 200.0, "{:?}", window[0]);
        worn.add(late[2]);
        mean.add(late[0]);
        random.add(1.0 / (1.0 - served / 600.0 * 0.05));
    }
    println!(
        "C20, clients in the burst of a client: fixed {:.1}, window {:.1}; mean burst {:.2}, at random {:.2}",
        grouped.mean, worn.mean, mean.mean, random.mean
    );
    assert!(
        (mean.mean / random.mean - 1.0).abs() < 0.1,
        "{mean:?} {random:?}"
    );
    assert!(grouped.mean > 5.0 * worn.mean, "{grouped:?} {worn:?}");
}

/// The most attempts of any second after saturation over the mean, of 20 herds laid on each other.
fn peak_to_mean(jitter: &str) -> f64 {
    let strategy = format!(
        "max_attempts = \"unlimited\"\ndeadline = \"11m\"\n\
         backoff.exponential = {{ base = \"1s\", cap = \"60s\", {jitter} }}"
    );
    let mut seconds = vec![0.0; 470];
    for seed in 1..=20 {
        for record in records(&herd(1_000, seed, NO_LIMIT, &strategy), 0).1 {
            let second = record.sent_at.as_secs_f64() as usize;
            if let Some(count) = second.checked_sub(130).and_then(|i| seconds.get_mut(i)) {
                *count += 1.0;
            }
        }
    }
    seconds.iter().fold(0.0f64, |a, b| a.max(*b)) / Sample::of(seconds.iter().copied()).mean
}

/// C21. 1,000 clients, delays from 1 to 60 s, an outage of 10 min, the time after saturation from 130 s on. A
/// random part U(0, minimum) leaves a herd about a second wide in each minute: a peak of about 60 times the mean, less
/// what the draws of the rounds before add to its width (seven of them are about 2 s wide), so 20 to 60 here. U(0, current)
/// comes to 1 to 2.
#[test]
fn jitter_tied_to_the_minimum_leaves_a_herd_and_tied_to_the_delay_does_not() {
    let minimum = peak_to_mean("jitter.additive.max = \"1s\"");
    let added = peak_to_mean("jitter = \"raw_to_double\"");
    let full = peak_to_mean("jitter = \"full\"");
    println!("C21, peak to mean: minimum {minimum:.1}, added {added:.2}, full {full:.2}");
    assert!((20.0..60.0).contains(&minimum), "{minimum}");
    assert!(
        (1.0..2.0).contains(&added) && (1.0..2.0).contains(&full),
        "{added} {full}"
    );
}

/// C22. Base 100 ms, factor 2, cap 10 s, retries 1 to 10: the range and the mean of each name, and the formula that the
/// manual gives for it.
#[test]
fn each_name_of_a_jitter_has_the_range_and_mean_of_its_formula() {
    let manual = include_str!("../../docs/scenario.md");
    for (jitter, formula, low, high) in [
        ("\"full\"", "U(0, d)", 0.0, 1.0),
        ("\"equal\"", "U(d/2, d)", 0.5, 1.0),
        (
            "{ proportional.ratio = 0.2 }",
            "U(d(1 − ratio), d(1 + ratio))",
            0.8,
            1.2,
        ),
    ] {
        let name = jitter
            .trim_matches(|c: char| !c.is_alphabetic())
            .split('.')
            .next()
            .unwrap();
        let row = manual
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")) && line.contains("U("));
        assert!(
            row.is_some_and(|row| row.contains(formula)),
            "{name}: {row:?}"
        );
        let jittered = backoff(&format!(
            "{{ exponential = {{ base = \"100ms\", factor = 2, cap = \"10s\", jitter = {jitter} }} }}"
        ));
        for n in 1..=10u32 {
            let e = (0.1 * 2f64.powi(n as i32 - 1)).min(10.0);
            let range = (
                SimDuration::from_secs_f64(low * e),
                SimDuration::from_secs_f64(high * e),
            );
            assert_eq!(jittered.bounds(u64::from(n)), range, "{name} {n}");
            let (mean, sd) = jittered.moments(u64::from(n)).unwrap();
            let width = (high - low) * e;
            assert!(
                (mean / ((low + high) / 2.0 * e) - 1.0).abs() < 1e-9,
                "{name} {n}: {mean}"
            );
            assert!(
                (sd / (width / 12f64.sqrt()) - 1.0).abs() < 1e-9,
                "{name} {n}: {sd}"
            );
        }
    }
}

/// C22. Decorrelated: min(cap, U(base, 3 × previous)), the previous delay of the first being base.
#[test]
fn decorrelated_jitter_has_the_range_and_mean_of_its_formula() {
    let decorrelated = backoff("{ decorrelated = { base = \"100ms\", cap = \"10s\" } }");
    let mut mean = 0.1;
    for n in 1..=10u32 {
        let most = (0.1 * 3f64.powi(n as i32)).min(10.0);
        let range = (millis(100), SimDuration::from_secs_f64(most));
        assert_eq!(decorrelated.bounds(u64::from(n)), range, "{n}");
        // Below the cap the mean of the next is half of base + 3 × the mean before.
        mean = (0.1 + 3.0 * mean) / 2.0;
        let found = decorrelated.moments(u64::from(n)).unwrap().0;
        if n <= 4 {
            assert!((found / mean - 1.0).abs() < 1e-9, "{n}: {found} {mean}");
        } else {
            assert!(found < mean && found < 10.0, "{n}: {found} {mean}");
        }
    }
    // Each delay is drawn from the one before it.
    for client in 0..1_000 {
        let (mut state, mut draws, mut before) = (BackoffState::NEW, random(client), 0.1f64);
        for n in 1..=10 {
            let delay = decorrelated
                .next_delay(&mut state, &mut draws)
                .as_secs_f64();
            let most = (3.0 * before).min(10.0) + 1e-9;
            assert!(
                (0.1..=most).contains(&delay),
                "{client}.{n}: {delay} after {before}"
            );
            before = delay;
        }
    }
}

/// C23. With full jitter and factor 2 the next delay is shorter than the present one with probability 1/4 below the cap
/// and 1/2 at it: no fault.
#[test]
fn a_shorter_next_delay_has_probability_one_quarter_and_one_half_at_the_cap() {
    let full = backoff("{ exponential = { base = \"100ms\", cap = \"10s\", jitter = \"full\" } }");
    let mut shorter = [Sample::default(); 10];
    for client in 0..100_000 {
        let (mut state, mut draws) = (BackoffState::NEW, random(client));
        let mut before = full.next_delay(&mut state, &mut draws);
        for sample in &mut shorter {
            let next = full.next_delay(&mut state, &mut draws);
            sample.add(f64::from(u32::from(next < before)));
            before = next;
        }
    }
    // 0.1 · 2⁶ = 6.4 s is the last below the cap; from 6.4 to 10 the probability is 6.4 ÷ 20.
    let expected = [0.25, 0.25, 0.25, 0.25, 0.25, 0.25, 0.32, 0.5, 0.5, 0.5];
    for ((n, sample), expected) in (1..).zip(shorter).zip(expected) {
        agrees(
            &format!("after retry {n}"),
            sample.mean,
            sample.error(),
            exactly(expected),
        );
    }
}

/// C24. Base 300 ms, factor 2, 3 retries, patience 1 s, all attempts time out: 4 s and the delays. Minimum, mean and
/// maximum are arithmetic. For the 99 % point of three uniform delays of widths a, b and c, which add up to at most M:
/// P(sum > M − x) = x³ ÷ 6abc as long as x < a.
#[test]
fn the_total_time_of_an_operation_has_the_bounds_of_its_parts() {
    for (jitter, least, most, mean, widths) in [
        ("none", 2_100, 2_100, 2.1, 0.0),
        ("full", 0, 2_100, 1.05, 1.0),
        ("equal", 1_050, 2_100, 1.575, 0.5),
    ] {
        let value = format!(
            "{{ exponential = {{ base = \"300ms\", factor = 2, jitter = \"{jitter}\" }} }}"
        );
        let backoff = backoff(&value);
        let sum = |end: fn((SimDuration, SimDuration)) -> SimDuration| {
            (1..=3).fold(SimDuration::ZERO, |sum, n| sum + end(backoff.bounds(n)))
        };
        assert_eq!(
            (sum(|b| b.0), sum(|b| b.1)),
            (millis(least), millis(most)),
            "{jitter}"
        );
        let moments: Vec<(f64, f64)> = (1..=3).map(|n| backoff.moments(n).unwrap()).collect();
        let theory = total_backoff(1.0, &moments).mean_all_retries;
        assert!((theory - mean).abs() < 1e-9, "{jitter}: {theory}");

        let strategy = format!("max_attempts = 4\nattempt_timeout = \"1s\"\nbackoff = {value}");
        let service = "workers = \"unlimited\"\nservice_time = \"1h\"";
        let text = herd(100_000, 24, service, &strategy);
        let mut totals: Vec<SimDuration> = records(&text, 0)
            .1
            .iter()
            .filter(|record| record.attempt == 4)
            .map(|record| record.ended_at - record.intended_at)
            .collect();
        totals.sort_unstable();
        assert_eq!(totals.len(), 100_000);
        let (first, last) = (totals[0], totals[99_999]);
        assert!(
            first >= millis(4_000 + least) && last <= millis(4_000 + most),
            "{first} {last}"
        );
        let sample = Sample::of(totals.iter().map(|total| total.as_secs_f64()));
        agrees(jitter, sample.mean, sample.error(), exactly(4.0 + mean));
        let volume = 6.0 * 0.3 * 0.6 * 1.2 * f64::powi(widths, 3);
        let x = (0.01 * volume).cbrt();
        let density = if volume > 0.0 {
            3.0 * x * x / volume
        } else {
            f64::INFINITY
        };
        let error = (0.01 * 0.99 / 1e5f64).sqrt() / density;
        let p99 = totals[98_999].as_secs_f64();
        println!(
            "C24, {jitter}: {first} to {last}, mean {:.4}, 99 % {p99:.4} s",
            sample.mean
        );
        agrees("99 %", p99, error, exactly(6.1 - x));
    }
}

/// C24. Without jitter the total is 4 s + 2.1 s to the nanosecond.
#[test]
fn without_jitter_an_operation_takes_exactly_its_timeouts_and_delays() {
    let text = herd(
        1,
        1,
        "workers = \"unlimited\"\nservice_time = \"1h\"",
        "max_attempts = 4\nattempt_timeout = \"1s\"\nbackoff.exponential.base = \"300ms\"",
    );
    let expected = [
        "0.1 0-1000 timeout, again after 300",
        "0.2 1300-2300 timeout, again after 600",
        "0.3 2900-3900 timeout, again after 1200",
        "0.4 5100-6100 timeout, gave up: timeout",
    ];
    assert_eq!(log(&text), expected);
}
