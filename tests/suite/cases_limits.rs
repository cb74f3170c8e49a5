//! Situations that practitioners meet, fourth part: more calls than there is capacity, and what limits them.
//!
//! Each case has the number it has in the project's list of cases. Most figures are arithmetic and hold exactly; the
//! random ones are compared within four standard errors, and where a case gives a direction, the direction.

use crate::cases_herds::{ended, last_success, reached};
use crate::support::{Expected, Sample, agrees, assemble, exactly, records, replication, total};
use retrystorm::metrics::Tally;
use retrystorm::outcome::AttemptOutcome;

/// C05 at a hundredth of its size: 2,700 clients make five or six calls each, 14,850 in all, within `release`
/// seconds. 50 workers of 10 ms are good for 5,000 a second.
fn dam(release: u32, seed: u64, service: &str, strategy: &str) -> String {
    let clients = |calls: u32| {
        format!(
            "[[clients]]\nname = \"{calls} calls\"\ncount = 1350\n\
             arrivals.burst = {{ at = \"0s\", requests = {calls}, spread = \"{release}s\" }}\n"
        )
    };
    format!(
        "[run]\nduration = \"{}s\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n{}{}\
         [service.api]\nworkers = 50\nservice_time = \"10ms\"\n{service}\n\
         [[strategy]]\nname = \"s\"\n{strategy}\n",
        release + 1,
        clients(5),
        clients(6),
    )
}

const SHED: &str = "queue.capacity = 500";
const ONE_SECOND_ONCE: &str = "max_attempts = 1\nattempt_timeout = \"1s\"";
const ONE_SECOND_FOR_EVER: &str =
    "max_attempts = \"unlimited\"\nattempt_timeout = \"1s\"\nbackoff.fixed.delay = \"100ms\"";

/// C05. 2.97 times the capacity comes in the first second. Each worker has ended 99 calls when the last one comes, so
/// 9,900 are inside; with 297 each they are done after 2.97 s. Released over 5 minutes, no call ever waits and
/// there is no second dip. (Instances that leave when health checks fail cannot be written yet; they need a service
/// of several instances with health checks.)
#[test]
fn a_broken_dam_is_three_times_the_capacity_and_a_ramp_is_none() {
    let (tally, records) = records(&dam(1, 5, "", "max_attempts = 1"), 0);
    assert_eq!(reached(&tally)[0], 14_850);
    assert_eq!(tally.in_system_max, 9_900);
    let done = last_success(&records);
    assert!((2.97..2.98).contains(&done), "{done}");
    println!(
        "C05, at once: {} inside, done after {done:.3} s",
        tally.in_system_max
    );

    for service in ["", SHED] {
        let ramp = total(&dam(300, 5, service, ONE_SECOND_ONCE));
        assert_eq!(
            (ramp.succeeded, ramp.waited, ramp.attempts),
            (14_850, 0, 14_850)
        );
    }
}

/// C05. With a patience of 1 s, call k waits k/5,000 s less its own k/14,850: the first half is answered in
/// time, between 0.99 and 1 s ÷ 0.1327 ms calls (services begin up to 10 ms late). A queue of 0.1 s fails the
/// excess at once: 99 services of 50 workers, 50 in service and 500 waiting are 5,500.
#[test]
fn shedding_fails_the_excess_of_a_broken_dam_at_once() {
    let in_time = Sample::of((1..=20).map(|seed| {
        let tally = total(&dam(1, seed, "", ONE_SECOND_ONCE));
        assert_eq!(
            tally.succeeded + ended(&tally, AttemptOutcome::TimedOut),
            14_850
        );
        tally.succeeded as f64
    }));
    println!(
        "C05, in time of 14,850: {:.0} ± {:.0}",
        in_time.mean,
        in_time.error()
    );
    assert!(in_time.error() < 0.003 * in_time.mean, "{in_time:?}");
    assert!((7_462.0..7_538.0).contains(&in_time.mean), "{in_time:?}");

    for seed in 1..=20 {
        let tally = total(&dam(1, seed, SHED, ONE_SECOND_ONCE));
        let refused = ended(&tally, AttemptOutcome::QueueFull);
        assert_eq!((tally.succeeded, refused), (5_500, 9_350), "{seed}");
    }
}

/// C05. Callers that try again 0.1 s after a timeout of 1 s make a call every 1.1 s each: 6,700 a second by the half
/// that was late, more than the capacity. Nobody who missed the first wave is ever answered. With shedding the same
/// callers keep the service busy and no more, and all are answered within the 3 s that their calls take.
#[test]
fn a_broken_dam_with_retries_spirals_unless_calls_are_shed() {
    let (spiral, records_of_it) = records(&dam(1, 5, "", ONE_SECOND_FOR_EVER), 0);
    let calls: u64 = reached(&spiral)[27..60].iter().sum();
    println!(
        "C05, retries, no shedding: {} of 14,850, then {} calls a second",
        spiral.succeeded,
        calls / 33
    );
    assert!((7_300..7_700).contains(&spiral.succeeded), "{spiral:?}");
    assert!(last_success(&records_of_it) < 2.0);
    // 33 s are thirty rounds.
    assert_eq!(calls, 30 * (14_850 - spiral.succeeded));

    let (shed, records_of_it) = records(&dam(1, 5, SHED, ONE_SECOND_FOR_EVER), 0);
    let done = last_success(&records_of_it);
    println!("C05, retries, shedding: done after {done:.2} s");
    assert_eq!(shed.succeeded, 14_850);
    assert_eq!(ended(&shed, AttemptOutcome::TimedOut), 0);
    assert!((2.97..3.3).contains(&done), "{done}");
}

/// C06. A caller makes k calls where one was meant, which is `load` percent of a capacity of 20 a second, evenly; a
/// call that takes longer than 2 s is made again, three times in all. From 60 s on the fleet restarts in batches: the
/// workers of each are away for 30 s and come back one by one over 30 s.
fn rolling(k: u32, load: u32, batch: u32, backoff: &str) -> String {
    let batches = 100 / batch;
    format!(
        "[run]\nduration = \"{}s\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = 6\n\
         [clients]\ncount = 1000\narrivals.periodic.rate = \"{:?}/s\"\n\
         [service.api]\nworkers = 20\nservice_time = \"1s\"\n\
         [[fault]]\nat = \"60s\"\nlasts = \"60s\"\nramp_down = \"30s\"\nevery = \"60s\"\ntimes = {batches}\n\
         capacity = \"{}%\"\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = 3\nattempt_timeout = \"2s\"\nbackoff = {backoff}\n",
        180 + 60 * batches,
        f64::from(k * load) * 0.2,
        100 - batch,
    )
}

const AT_ONCE: &str = "\"immediate\"";
const JITTERED: &str = "{ exponential = { base = \"10s\", jitter = \"full\" } }";

/// Whether every call succeeds. If not, none of the last minute does, though the restart is over by then.
fn is_safe(k: u32, load: u32, batch: u32, backoff: &str) -> bool {
    let tally = total(&rolling(k, load, batch, backoff));
    if tally.failed_total() == 0 {
        return true;
    }
    let end = 180 + 60 * (100 / batch as usize);
    let last = &tally.timeline.cohorts()[end - 60..end];
    let succeeded: u64 = last.iter().map(|cohort| cohort.succeeded).sum();
    assert_eq!(succeeded, 0, "{k} {load} {batch} {backoff}");
    false
}

/// C06. Safe while k × load < capacity × (1 − batch): with 40 % up to two calls where one was meant, or one for
/// larger batches; with 8 % up to ten (nothing above was asked), nine (72 %) and six (48 %). A random delay of up to
/// 10 s before retries moves none of these limits.
#[test]
fn the_largest_safe_number_of_calls_leaves_room_for_the_batch() {
    for (load, expected) in [(40, [2, 1, 1]), (8, [10, 9, 6])] {
        for backoff in [AT_ONCE, JITTERED] {
            let largest = [10, 25, 50].map(|batch| {
                let safe = (1..=10).take_while(|&k| is_safe(k, load, batch, backoff));
                safe.count()
            });
            println!("C06, load {load} %, {backoff}: {largest:?}");
            assert_eq!(largest, expected, "{load} {backoff}");
        }
    }
}

/// C06. All instances restart within 1 ms: the 160 calls in service are lost and come back together, unless each
/// waits a random time of up to 10 s. (The restart of a batch alone, which loses only the calls of its instances,
/// cannot be written yet; it needs a service of several instances.)
#[test]
fn a_random_delay_lowers_the_peak_of_a_restart() {
    let peak = |backoff: &str| {
        let tally = total(&format!(
            "[run]\nduration = \"60s\"\nbin = \"100ms\"\nreplications = 1\nseed = 6\n\
             [clients]\ncount = 1000\narrivals.periodic.rate = \"160/s\"\n\
             [service.api]\nworkers = 200\nservice_time = \"1s\"\nnetwork.response = \"2ms\"\n\
             [[fault]]\nat = \"20s\"\nlasts = \"1ms\"\noutage = \"refuse\"\n\
             [[strategy]]\nname = \"s\"\nmax_attempts = 3\nbackoff = {backoff}\n"
        ));
        reached(&tally).into_iter().max().unwrap()
    };
    let (at_once, jittered) = (peak(AT_ONCE), peak(JITTERED));
    println!("C06, peak in 100 ms: {at_once} at once, {jittered} with a random delay");
    // 16 calls come in 100 ms by themselves; the first of them meets the restart and comes twice.
    assert_eq!(at_once, 160 + 16 + 1);
    // 161 × 0.1 ÷ 10 s = 1.6 retries on average.
    assert!((18..=24).contains(&jittered), "{jittered}");
}

/// C07. N callers write to one place at the same moment, a round trip of 1 ms away. A write succeeds unless another
/// one has succeeded since its caller looked, one round trip before. One worker without a queue that is taken for
/// just under a round trip says the same.
fn contenders(count: u32, attempts: &str, seed: u64, backoff: &str, failing: f64) -> Tally {
    let tally = total(&format!(
        "[run]\nduration = \"1s\"\ndrain = \"60s\"\nbin = \"1s\"\nreplications = 1\nseed = {seed}\n\
         [clients]\ncount = {count}\narrivals.burst.at = \"0s\"\n\
         [service.store]\nworkers = 1\nqueue.capacity = 0\nservice_time = \"999us\"\n\
         network.request = \"1ms\"\nfailures = [{{ code = 503, probability = {failing:?} }}]\n\
         failures_take_time = false\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = {attempts}\nbackoff = {backoff}\n"
    ));
    assert_eq!(tally.unfinished, 0);
    tally
}

const CONTENDERS: [u32; 6] = [10, 20, 50, 100, 200, 500];
const JITTERED_WRITES: &str =
    "{ exponential = { base = \"1ms\", cap = \"100ms\", jitter = \"full\" } }";

/// C07. At once, one write succeeds in each round: N + (N − 1) + … calls. With 500 attempts all succeed, at (N + 1)
/// ÷ 2 calls each; with 3 or 10 as many as there are rounds.
#[test]
fn without_a_delay_calls_per_write_grow_with_the_contenders() {
    for n in CONTENDERS {
        for limit in [3, 10, 500] {
            let tally = contenders(n, &limit.to_string(), 7, AT_ONCE, 0.0);
            let rounds = u64::from(limit.min(n));
            let calls: u64 = (0..rounds).map(|round| u64::from(n) - round).sum();
            assert_eq!(
                (tally.succeeded, tally.attempts),
                (rounds, calls),
                "{n} {limit}"
            );
            println!(
                "C07, at once, {n} contenders, {limit} attempts: {:.1} calls a write",
                calls as f64 / rounds as f64
            );
        }
    }
}

/// C07. Full jitter of 1 to 100 ms brings all writes through at a few calls each, which are no constant but grow with
/// the logarithm of N, and faster when N delays of 50 ms on average are too dense for writes of 1 ms. The figures
/// are those of a check model in which the place has versions.
#[test]
fn with_full_jitter_calls_per_write_are_few_for_any_number_of_contenders() {
    let model = [3.780, 4.857, 6.340, 7.513, 8.950, 12.226];
    for (n, value) in CONTENDERS.into_iter().zip(model) {
        let calls = Sample::of((1..=30).map(|seed| {
            let tally = contenders(n, "500", seed, JITTERED_WRITES, 0.0);
            assert_eq!(tally.succeeded, u64::from(n));
            tally.attempts as f64 / f64::from(n)
        }));
        println!(
            "C07, jitter, {n} contenders: {:.3} for {value} calls a write",
            calls.mean
        );
        let error = 0.003;
        agrees(
            "calls a write",
            calls.mean,
            calls.error(),
            Expected { value, error },
        );
    }
}

/// C07. A limit of 500 matters when no write succeeds: it multiplies the load by itself.
#[test]
fn a_huge_limit_multiplies_the_load_of_a_store_that_is_broken() {
    for limit in [3, 10, 500] {
        for backoff in [AT_ONCE, JITTERED_WRITES] {
            let tally = contenders(50, &limit.to_string(), 7, backoff, 1.0);
            assert_eq!((tally.succeeded, tally.attempts), (0, 50 * limit));
        }
    }
}

/// C08, C09. Success and attempts of a request at a service without limit, in 30 replications of 10,000 requests.
fn independent(clients: u32, failures: &str, attempts: u32) -> [Sample; 2] {
    let plan = assemble(&format!(
        "[run]\nduration = \"100s\"\ndrain = \"10s\"\nbin = \"1s\"\nreplications = 1\nseed = {clients}\n\
         [clients]\ncount = {clients}\narrivals.periodic.rate = \"100/s\"\n\
         [service.api]\nworkers = \"unlimited\"\nservice_time = \"1ms\"\nfailures = [{failures}]\n\
         [[strategy]]\nname = \"s\"\nmax_attempts = {attempts}\nbackoff.fixed.delay = \"100ms\"\n"
    ))
    .1;
    let tallies: Vec<Tally> = (0..30).map(|r| replication(&plan, 0, r)).collect();
    let success = tallies.iter().map(|tally| tally.success_rate().unwrap());
    let load = tallies.iter().map(|tally| tally.amplification().unwrap());
    [Sample::of(success), Sample::of(load)]
}

/// C08. At a failure share p, no retry keeps a load of 1 and a failure of p; three retries make (1 − p⁴) ÷ (1 − p)
/// attempts, which is 1.11, 1.88 and 4 at 10, 50 and 100 %, and leave a failure of p⁴. How many clients share
/// the load does not matter. What a token bucket, a failure share and a breaker make of them stands with the budgets.
#[test]
fn three_retries_cost_up_to_four_attempts_and_leave_the_fourth_power() {
    for clients in [1, 10, 1_000] {
        for p in [0.0, 0.09, 0.1, 0.3, 0.5, 0.8, 1.0] {
            let failures = format!("{{ code = 503, probability = {p:?} }}");
            let [success, load] = independent(clients, &failures, 1);
            agrees(
                "success at once",
                success.mean,
                success.error(),
                exactly(1.0 - p),
            );
            assert_eq!((load.mean, load.sd()), (1.0, 0.0));

            let [success, load] = independent(clients, &failures, 4);
            let left = p.powi(4);
            let attempts = (0..4).map(|n| p.powi(n)).sum();
            println!(
                "C08, {clients} clients, p = {p}: load {:.4} for {attempts:.4}, failure {:.6} for {left:.6}",
                load.mean,
                1.0 - success.mean
            );
            agrees(
                "success",
                success.mean,
                success.error(),
                exactly(1.0 - left),
            );
            agrees("load", load.mean, load.error(), exactly(attempts));
            if p >= 0.5 {
                agrees(
                    "failure",
                    1.0 - success.mean,
                    success.error(),
                    exactly(left),
                );
            }
        }
    }
}

/// C09. One of S shards fails for good, so that 1/S of the keys do, with a code that is not retried: (S − 1) ÷ S
/// succeed, however many attempts are allowed, and none costs more than one. A failure share whose code is retried
/// would draw a new shard each time and lose only S⁻⁴. This is also what a breaker of each shard would leave, which cannot
/// be written, for a scenario has one service; that of a client stands with the breakers.
#[test]
fn keys_of_a_bad_shard_fail_and_the_others_do_not() {
    for shards in [4.0f64, 20.0] {
        let share = 1.0 / shards;
        for attempts in [1, 4] {
            let failures = format!("{{ code = 404, probability = {share:?} }}");
            let [success, load] = independent(1_000, &failures, attempts);
            println!("C09, {shards} shards: {:.4} succeed", success.mean);
            agrees("keys", success.mean, success.error(), exactly(1.0 - share));
            assert_eq!((load.mean, load.sd()), (1.0, 0.0));
        }
        let failures = format!("{{ code = 503, probability = {share:?} }}");
        let [success, _] = independent(1_000, &failures, 4);
        agrees(
            "draws",
            success.mean,
            success.error(),
            exactly(1.0 - share.powi(4)),
        );
    }
}
