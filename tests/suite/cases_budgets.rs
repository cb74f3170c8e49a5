//! Situations that practitioners meet, sixth part: what bounds retries, and who shares the bound.
//!
//! Each case has the number it has in the project's list of cases. Figures that are arithmetic hold exactly or within
//! the rounding that stands beside them; random ones are compared within four standard errors.

use crate::judge::is_rare_count;
use crate::support::{log, records, total};
use retrystorm::metrics::{Bin, Tally};
use retrystorm::model::{AttemptRecord, Next};
use retrystorm::outcome::FailureReason;
use statrs::distribution::{DiscreteCDF, Poisson};

const NO_LIMIT: &str = "workers = \"unlimited\"\nservice_time = \"1ms\"";

fn retries(tally: &Tally) -> u64 {
    tally.attempts - tally.requests
}

fn denied(tally: &Tally) -> u64 {
    tally.failed[FailureReason::Budget as usize]
}

/// 100 calls a second of `clients` alike, for so many seconds, four attempts each, which fail with probability `p`.
fn independent(clients: u32, seconds: u32, p: f64, guard: &str) -> Tally {
    let tally = total(&format!(
        "[run]\nduration = \"{seconds}s\"\ndrain = \"10s\"\nbin = \"1s\"\nreplications = 1\nseed = 8\n\
         [clients]\ncount = {clients}\narrivals.periodic.every = \"{}ms\"\n\
         [service.api]\n{NO_LIMIT}\nfailures = [{{ code = 503, probability = {p:?} }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 4\nbackoff.fixed.delay = \"100ms\"\n{guard}\n",
        10 * clients
    ));
    assert_eq!(tally.requests, u64::from(100 * seconds));
    tally
}

/// C08. A bucket that takes a token for a retry and gets a tenth of one for a success never grants more than was in it
/// at first and a tenth of the successes. Below a failure share of about 9 % it denies next to nothing. Above, one
/// client and ten spend what was saved, and the load is at most 1.1 from then on. With a thousand clients what was
/// saved lasts long: ten tokens each double the load when all calls fail, and a hundred deny nothing.
#[test]
fn a_bucket_bounds_the_load_to_a_tenth_once_what_was_saved_is_spent() {
    for clients in [1, 10, 1_000u32] {
        for size in [10, 100u32] {
            let budget =
                format!("budget.token_bucket = {{ capacity = {size}, per_success = 0.1 }}");
            let saved = u64::from(clients * size);
            for p in [0.0, 0.05, 0.3, 0.5, 0.8] {
                let tally = independent(clients, 100, p, &budget);
                let granted = retries(&tally) as f64;
                let earned = saved as f64 + 0.1 * tally.succeeded as f64;
                let what = format!("C08, {clients} clients, {size} tokens, p = {p}");
                println!("{what}: load {:.4}", tally.amplification().unwrap());
                assert!(granted <= earned + 1e-6, "{what}: {granted} of {earned}");
                let lasts = p <= 0.05 || clients == 1_000 && size == 100;
                if lasts {
                    // Of ten tokens the last one is gone now and then.
                    let free = retries(&independent(clients, 100, p, "")) as f64;
                    assert!(granted >= 0.99 * free, "{what}: {granted} of {free}");
                    assert!(size == 10 || denied(&tally) == 0, "{what}");
                } else if clients < 1_000 {
                    let left = earned - granted;
                    assert!(left < 3.0 * f64::from(clients), "{what}: {left} left");
                    assert!(
                        granted - saved as f64 <= 0.1 * 10_000.0,
                        "{what}: {granted}"
                    );
                } else {
                    // Nearly what three retries cost.
                    let free = retries(&independent(clients, 100, p, "")) as f64;
                    assert!(granted > 0.4 * free, "{what}: {granted} of {free}");
                }
            }
            let outage = independent(clients, 100, 1.0, &budget);
            let wanted = u64::from(3 * 10_000 / clients);
            assert_eq!(
                retries(&outage),
                u64::from(clients) * wanted.min(u64::from(size))
            );
        }
    }
}

/// C08. Retries that stop while more than 10 % has failed: a client whose requests are nine at the most has lost more
/// than that with its first failure, and never retries. One client with the same traffic knows its share of 5 % after
/// some hundred calls, and retries as if nothing held it back; at 30 % and more it stops for good.
#[test]
fn a_failure_share_of_few_calls_is_no_retry_at_all() {
    let budget = "budget.failure_share.above = \"10%\"";
    for p in [0.05, 0.3, 0.8] {
        let many = independent(1_000, 90, p, budget);
        assert_eq!(retries(&many), 0, "{p}");
        let failed = 1.0 - many.success_rate().unwrap();
        assert!((failed - p).abs() < 4.0 * (p * (1.0 - p) / 9_000.0).sqrt());

        let one = independent(1, 90, p, budget);
        let free = independent(1, 90, p, "");
        let share = retries(&one) as f64 / retries(&free) as f64;
        println!("C08, failure share, p = {p}: {share:.4} of the retries of one client");
        if p == 0.05 {
            assert!(share > 0.95, "{share}");
        } else {
            assert!(share < 0.01, "{share}");
        }
    }
}

/// C08. A breaker that wants a hundred results before it judges never opens for clients of forty attempts each, and a
/// total outage costs four attempts a call. One client with the same traffic is cut off at its hundredth attempt.
#[test]
fn a_breaker_of_each_of_many_clients_never_learns_of_an_outage() {
    let breaker =
        "breaker.failure_rate = { window.count.calls = 100, rate = \"50%\", open_for = \"1h\" }";
    let many = independent(1_000, 100, 1.0, breaker);
    assert_eq!((many.attempts, many.held_back()), (40_000, 0));
    let one = independent(1, 100, 1.0, breaker);
    assert_eq!(one.attempts, 100);
}

/// One client that calls every second, three attempts each, with the throttle of gRPC.
fn tokens(seconds: u32, rate: &str, max: u32, world: &str) -> String {
    format!(
        "[run]\nduration = \"{seconds}s\"\ndrain = \"10s\"\nbin = \"{}s\"\nreplications = 1\nseed = 28\n\
         [clients]\ncount = 1\narrivals.periodic.rate = \"{rate}\"\n[service.api]\n{NO_LIMIT}\n{world}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\n\
         budget.failure_tokens = {{ max = {max}, ratio = 0.1 }}\n",
        seconds / 2
    )
}

/// C28. From ten tokens the fifth failed attempt leaves five, no more than half, and there are no retries from then on.
/// A day without a fault changes nothing, for there are never more than ten.
#[test]
fn five_failures_stop_retries_even_after_a_perfect_day() {
    for quiet in [0, 86_400] {
        let outage = format!("[[fault]]\nat = \"{quiet}s\"\nlasts = \"1h\"\nfail_all = true");
        let lines = log(&tokens(quiet + 100, "1/s", 10, &outage));
        let failed: Vec<&String> = lines.iter().filter(|line| line.contains("error")).collect();
        let good = lines.len() - failed.len();
        assert_eq!(good, (quiet as usize).saturating_sub(1), "one a second");
        let again: Vec<usize> = (0..failed.len())
            .filter(|&i| failed[i].contains("again after"))
            .collect();
        assert_eq!(again, [0, 1, 3], "{quiet}: {:#?}", &failed[..8]);
        assert!(failed[4].ends_with("gave up: budget"), "{}", failed[4]);
        assert!(failed.len() > 100, "{}", failed.len());
    }
}

/// C28. The border of lasting retries is a failure share of 0.1 ÷ 1.1 = 9.09 % of attempts. With a thousand tokens,
/// whose luck averages out, all wanted retries are made at 9 % and none at 10 %, once the saved tokens are spent; with
/// ten the border is soft, and even 5 % is not quite safe.
#[test]
fn lasting_retries_end_at_nine_per_cent_of_failures() {
    let made = |p: f64, max: u32| {
        let failures = format!("failures = [{{ code = 503, probability = {p:?} }}]");
        let tally = total(&tokens(800, "1000/s", max, &failures));
        let late = &tally.timeline.bins()[1];
        late.retries as f64 / (late.first_tries as f64 * (p + p * p))
    };
    let of = |max: u32| [0.05, 0.09, 0.1, 0.2].map(|p| made(p, max));
    let (few, many) = (of(10), of(1_000));
    println!(
        "C28, share of wanted retries at 5, 9, 10 and 20 %: {few:.4?}, with 1,000 tokens {many:.4?}"
    );
    for share in [many[0], many[1]] {
        assert!((share - 1.0).abs() < 0.03, "{many:?}");
    }
    assert!(many[2] < 1e-3 && many[3] == 0.0, "{many:?}");
    assert!(few.is_sorted_by(|a, b| a > b), "{few:?}");
    assert!(few[0] > 0.95 && few[0] < 1.02 && few[3] < 1e-3, "{few:?}");
    assert!(few[1] < 0.9 && few[2] > 0.01, "{few:?}");
}

/// C29. An outage of 60 s drains a quota of 500 tokens with its first hundred retries. An hour later, with 1 %
/// transient failures and three attempts, one call in a million fails if successes have refilled it. If a defect keeps
/// them from doing so, 1 % fail for ever.
#[test]
fn a_quota_without_a_refill_ends_retries_for_ever() {
    let run = |quota: &str| {
        total(&format!(
            "[run]\nduration = \"13660s\"\nwarmup = \"3660s\"\ndrain = \"10s\"\nbin = \"1h\"\nreplications = 1\n\
             seed = 29\n[clients]\ncount = 100\narrivals.periodic.rate = \"100/s\"\n[service.api]\n{NO_LIMIT}\n\
             failures = [{{ code = 503, probability = 0.01 }}]\n\
             [[fault]]\nat = \"0s\"\nlasts = \"60s\"\nfail_all = true\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbudget.quota = {{ {quota} scope = \"shared\" }}\n"
        ))
    };
    let refilled = run("");
    assert_eq!(refilled.requests, 1_000_000);
    println!(
        "C29, failed of a million: {} with refill",
        refilled.failed_total()
    );
    assert_eq!(denied(&refilled), 0);
    assert!(is_rare_count(refilled.failed_total(), 1.0));

    let drained = run("first_try_success = 0, refund = false,");
    assert_eq!((drained.attempts, retries(&drained)), (1_000_000, 0));
    let failed = drained.failed_total() as f64 / 1e6;
    println!("C29, {failed:.6} without");
    assert!(
        (failed - 0.01).abs() < 4.0 * (0.0099f64 / 1e6).sqrt(),
        "{failed}"
    );
}

/// C30. Nineteen callers of healthy dependencies, ten calls a second each, and ten calls a second to a dead one: each
/// of those comes from a client of its own whose first three attempts fail. Healthy calls have 1 % transient failures.
fn dependencies(scope: &str) -> Vec<AttemptRecord> {
    let text = format!(
        "[run]\nduration = \"600s\"\ndrain = \"10s\"\nbin = \"10s\"\nreplications = 1\nseed = 30\n\
         [[clients]]\nname = \"healthy\"\ncount = 19\narrivals.periodic.rate = \"190/s\"\n\
         [[clients]]\nname = \"dead\"\ncount = 6000\narrivals.burst = {{ spread = \"600s\" }}\n\
         [service.api]\n{NO_LIMIT}\nfailures = [{{ code = 503, probability = 0.01 }}]\n\
         [[fault]]\nat = \"0s\"\nlasts = \"1h\"\nfail_first = 3\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbackoff.fixed.delay = \"100ms\"\n\
         budget.count = {{ retries = 60, per = \"60s\", scope = \"{scope}\" }}\n"
    );
    let records = records(&text, 0).1;
    let is_dead = |record: &&AttemptRecord| record.group == 1;
    assert!(
        records
            .iter()
            .filter(is_dead)
            .all(|record| record.next != Next::Succeeded)
    );
    // Three failures at the start are for every client; whole minutes count.
    let counts =
        |record: &AttemptRecord| record.group == 0 && record.intended_at.as_secs_f64() >= 60.0;
    records.into_iter().filter(counts).collect()
}

/// C30. With one quota of 60 retries a minute for all, the dead dependency's 20 a second have used it up after three
/// seconds of each minute, and healthy calls fall to the 99 % of no retries. With a quota for each they lose one in a
/// million.
#[test]
fn a_dead_dependency_takes_the_shared_quota_of_the_healthy_ones() {
    let failures = |scope: &str| {
        let records = dependencies(scope);
        let calls = records.iter().filter(|record| record.attempt == 1).count();
        assert_eq!(calls, 190 * 540);
        let gave_up = |record: &&AttemptRecord| matches!(record.next, Next::GaveUp(_));
        records.iter().filter(gave_up).count() as u64
    };
    let (shared, own) = (failures("shared"), failures("client"));
    println!(
        "C30, failed of 102,600 healthy calls: {shared} with a shared quota, {own} with their own"
    );
    // 60 ÷ (20 + 1.9) s of each minute have retries.
    let expected = 102_600.0 * 0.01 * (1.0 - 60.0 / 21.9 / 60.0);
    assert!(
        (shared as f64 - expected).abs() < 4.0 * expected.sqrt(),
        "{expected}"
    );
    assert!(is_rare_count(own, 0.1));
}

/// C31. A thousand calls fail at the same moment, wait 25 to 250 ms and may be retried within a budget of a fifth of
/// what is on the wire. Charged at the decision, waiters counted, 166 go out (each failure leaves the wire before it
/// asks, so it is a sixth and not the fifth of 1,000 active ones). Not counted, all do, and so they do when the budget
/// is charged at the send and failures are immediate: then nothing is ever outstanding. A slow service is what makes a
/// charge at the send a bound, of its floor.
#[test]
fn a_budget_must_be_charged_at_the_decision_and_count_those_that_wait() {
    let slow = "failures_take_time = true";
    let fast = "failures_take_time = false";
    for (service, charged, waiting, min, expected) in [
        (slow, "decision", true, 0, 166),
        (fast, "decision", true, 3, 3),
        (slow, "decision", false, 3, 1_000),
        (fast, "send", false, 3, 1_000),
        (slow, "send", false, 3, 3),
    ] {
        let tally = total(&format!(
            "[run]\nduration = \"1s\"\ndrain = \"10s\"\nreplications = 1\nseed = 31\n\
             [clients]\ncount = 1000\narrivals.burst = {{}}\n\
             [service.api]\nworkers = \"unlimited\"\nservice_time = \"1s\"\n{service}\n\
             failures = [{{ code = 503, probability = 1.0 }}]\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 2\nbackoff.uniform = {{ min = \"25ms\", max = \"250ms\" }}\n\
             budget.concurrency = {{ limit.share = {{ of = \"20%\", min = {min} }}, counts_waiting = {waiting}, \
             charged = \"{charged}\", scope = \"shared\" }}\n"
        ));
        assert_eq!(tally.requests, 1_000);
        let what = format!("{service}, {charged}, {waiting}");
        assert_eq!(retries(&tally), expected, "{what}");
        assert_eq!(denied(&tally), 1_000 - expected, "{what}");
    }
}

/// 1,000 calls a second of 20 ms, a wait of 25 to 250 ms and one retry, which a share and a floor bound.
fn floor(seconds: u32, share: &str, min: u32, arrivals: &str, world: &str) -> Tally {
    total(&format!(
        "[run]\nduration = \"{seconds}s\"\ndrain = \"10s\"\nbin = \"1s\"\nreplications = 1\nseed = {min}\n\
         [clients]\ncount = 1000\narrivals.{arrivals}.rate = \"1000/s\"\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"20ms\"\n{world}\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 2\nattempt_timeout = \"1s\"\n\
         backoff.uniform = {{ min = \"25ms\", max = \"250ms\" }}\n\
         budget.concurrency = {{ limit.share = {{ of = \"{share}\", min = {min} }}, scope = \"shared\" }}\n"
    ))
}

/// Mean number of retries outstanding when none is refused: 10 a second, 137.5 ms of wait and 20 ms of call.
const HARMLESS: f64 = 10.0 * 0.1575;

/// The share that finds all of `places` taken, by Erlang.
fn all_taken(places: u32) -> f64 {
    (1..=places).fold(1.0, |b, n| HARMLESS * b / (f64::from(n) + HARMLESS * b))
}

/// C32. 1 % of 1,000 calls a second fail for no reason that matters. Two per cent of twenty calls on the wire are no
/// retry at all, so the floor m alone decides, and the share of refused retries is Erlang's loss of m places. It is
/// below 0.1 % from m = 7 on, which is also the 99.9th percentile of the retries that are outstanding at once. A share
/// of 20 % of the wire refuses hardly less by itself.
#[test]
fn the_floor_of_a_share_is_the_percentile_of_harmless_retries() {
    let smallest = (0..100).find(|&m| all_taken(m) < 1e-3).unwrap();
    let percentile = Poisson::new(HARMLESS).unwrap().inverse_cdf(0.999);
    assert_eq!((smallest, percentile), (7, 7));
    let refused = |share: &str, m: u32| {
        let failures = "failures = [{ code = 503, probability = 0.01 }]";
        let tally = floor(240, share, m, "poisson", failures);
        let wanted = retries(&tally) + denied(&tally);
        assert!((2_200..2_600).contains(&wanted), "{wanted}");
        (denied(&tally), wanted as f64)
    };
    for m in [1, 3, 5, 7] {
        let (found, wanted) = refused("2%", m);
        let expected = all_taken(m) * wanted;
        println!("C32, 2 % and {m}: {found} of {wanted} refused, {expected:.1} by Erlang");
        // Refusals come in clumps: half as uncertain again as independent ones.
        let error = 1.5 * (all_taken(m) * (1.0 - all_taken(m)) * wanted).sqrt();
        assert!(
            (found as f64 - expected).abs() < 4.0 * error.max(1.0),
            "{m}: {found}"
        );
        let (with_share, wanted) = refused("20%", m);
        println!("C32, 20 % and {m}: {with_share} of {wanted} refused");
        assert!(with_share <= found, "{m}: {with_share}");
        assert!(m < 7 || with_share as f64 <= 0.002 * wanted);
    }
    assert!(refused("20%", 1).0 as f64 > 0.002 * refused("20%", 1).1);
}

/// C32. When all calls hang for 1 s, a thousand are on the wire. A fifth of them may be retries that wait or hang: 1 +
/// 0.2 ÷ (0.8 + 0.1375) = 1.21 attempts a call. Two per cent are 1.018, and there a floor of 100 is the larger: 100 ÷
/// 1.1375 s make 1.088. The worked example of the rule: the fifth retry is let go while 25 are active, the sixth is
/// not, and of three calls all are, by the floor.
#[test]
fn the_share_decides_what_an_outage_costs_and_a_high_floor_more() {
    for (share, min, expected) in [
        ("20%", 7, 0.2 / 0.9375),
        ("20%", 100, 0.2 / 0.9375),
        ("2%", 7, 0.02 / 1.1175),
        ("2%", 100, 0.1 / 1.1375),
    ] {
        let hang = "[[fault]]\nat = \"0s\"\nlasts = \"1h\"\noutage = \"hang\"";
        let tally = floor(60, share, min, "periodic", hang);
        let late = &tally.timeline.bins()[20..60];
        let made: u64 = late.iter().map(|bin| bin.retries).sum();
        let each = made as f64 / 40_000.0;
        println!(
            "C32, {share} and {min}: {:.4} for {:.4}",
            1.0 + each,
            1.0 + expected
        );
        assert!(
            (each - expected).abs() < 0.03 * expected,
            "{share} {min}: {each}"
        );
    }
    for (calls, min, granted) in [(30, 3, 5), (3, 3, 3), (3, 2, 2)] {
        let failing = "failures = [{ code = 503, probability = 1.0 }]";
        let text = "arrivals.burst = {}";
        let tally = total(&format!(
            "[run]\nduration = \"1s\"\ndrain = \"10s\"\nreplications = 1\n[clients]\ncount = {calls}\n{text}\n\
             [service.api]\n{NO_LIMIT}\n{failing}\n[[strategy]]\nname = \"s\"\nmax_attempts = 2\n\
             backoff.fixed.delay = \"100ms\"\n\
             budget.concurrency = {{ limit.share = {{ of = \"20%\", min = {min} }}, scope = \"shared\" }}\n"
        ));
        assert_eq!(retries(&tally), granted, "{calls} {min}");
    }
}

/// Retries a second in a total outage, from the 20th second to the 40th.
fn in_an_outage(rate: u32, takes: &str, backoff: &str, budget: &str) -> f64 {
    let tally = total(&format!(
        "[run]\nduration = \"40s\"\ndrain = \"10s\"\nbin = \"1s\"\nreplications = 1\nseed = 33\n\
         [clients]\ncount = 100\narrivals.periodic.rate = \"{rate}/s\"\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"{takes}\"\n\
         failures = [{{ code = 503, probability = 1.0 }}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 4\nbackoff = {backoff}\n\
         budget.{budget}\n"
    ));
    let late: &[Bin] = &tally.timeline.bins()[20..40];
    late.iter().map(|bin| bin.retries).sum::<u64>() as f64 / 20.0
}

/// C33. Six meanings of "20 %" at 100 and 10,000 calls a second of which all fail: of the calls of a window and 10 a
/// second besides, 30 and 2,010; tokens for calls, 20 and 2,000 once the first hundred are spent; of first attempts,
/// the same; of all attempts, retries of retries too, 25 and 2,500; tokens for successes, none.
#[test]
fn twenty_per_cent_of_what() {
    for (budget, expected) in [
        (
            "window_ratio = { ratio = \"20%\", scope = \"shared\" }",
            [30.0, 2_010.0],
        ),
        (
            "window_ratio = { ratio = \"20%\", deposit_at = \"success\", scope = \"shared\" }",
            [10.0, 10.0],
        ),
        (
            "token_bucket = { capacity = 100, per_request = 0.2, scope = \"shared\" }",
            [20.0, 2_000.0],
        ),
        (
            "token_bucket = { capacity = 100, per_success = 0.2, scope = \"shared\" }",
            [0.0, 0.0],
        ),
        (
            "share = { ratio = \"20%\", scope = \"shared\" }",
            [20.0, 2_000.0],
        ),
        (
            "share = { ratio = \"20%\", of = \"all_attempts\", scope = \"shared\" }",
            [25.0, 2_500.0],
        ),
    ] {
        for (rate, expected) in [100, 10_000].into_iter().zip(expected) {
            let found = in_an_outage(rate, "0s", "\"immediate\"", budget);
            println!("C33, {budget}, {rate}/s: {found} for {expected}");
            // A retry may fall over either end of the 20 s.
            assert!(
                (found - expected).abs() <= 0.051,
                "{budget} {rate}: {found}"
            );
        }
    }
}

/// C33. A share of active calls means a rate that the latency decides: r retries outstanding, r = 0.2 × (calls on the
/// wire), for a call and a wait of 100 ms each. Calls of 10 ms leave 1 or 100 on the wire, and then the floor of three
/// makes 27 a second, 20 retries 182; calls of 1 s make 22 and 2,222.
#[test]
fn twenty_per_cent_of_active_calls_is_a_matter_of_latency() {
    let budget = "concurrency = { scope = \"shared\" }";
    let wait = "{ fixed.delay = \"100ms\" }";
    for (rate, takes, expected) in [
        (100, "10ms", 3.0 / 0.11),
        (10_000, "10ms", 20.0 / 0.11),
        (100, "1s", 100.0 * 0.2 / 0.9),
        (10_000, "1s", 10_000.0 * 0.2 / 0.9),
    ] {
        let found = in_an_outage(rate, takes, wait, budget);
        println!("C33, {rate}/s of {takes}: {found} for {expected:.1}");
        assert!(
            (found - expected).abs() < 0.05 * expected,
            "{rate} {takes}: {found}"
        );
    }
}
