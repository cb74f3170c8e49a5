//! Whether decisions of checks are as sure as they say, with one look and with many.

use crate::checks::{gate_in, only};
use crate::support::{assemble, results};
use retrystorm::experiment::{CheckOutcome, run as run_plan};
use std::fs;

/// Independent failures with a probability of a half and two attempts: success is 3/4. About 200 requests in each of
/// `replications`.
fn coins(seed: u64, replications: u32, check: &str) -> String {
    format!(
        "[run]\nduration = \"2s\"\nreplications = {replications}\nseed = {seed}\ndrain = \"1s\"\n\
         [clients]\ncount = 1000\narrivals.poisson.rate = \"100/s\"\n[service.api]\nworkers = \"unlimited\"\n\
         service_time = \"1ms\"\nfailures = [{{ code = 503, probability = \"50%\" }}]\n\
         [[strategy]]\nname = \"two\"\nmax_attempts = 2\n[[check]]\n{check}\n"
    )
}

const TRUTH: f64 = 0.75;

/// The standard error of the success rate over so many replications.
fn standard_error(replications: f64) -> f64 {
    (TRUTH * (1.0 - TRUTH) / (200.0 * replications)).sqrt()
}

/// A check that success is at least this, with a confidence.
fn at_least(value: f64, confidence: f64) -> String {
    format!(
        "metric = \"success_rate\"\nrelation = \">=\"\nvalue = {value}\nconfidence = {confidence}"
    )
}

/// How often each outcome came over `seeds`: holds, does not hold, undecided; and the replications that ran.
fn outcomes(seeds: u64, text: impl Fn(u64) -> String, until_decided: bool) -> ([u32; 3], u32) {
    let mut counts = [0; 3];
    let mut replications = 0;
    for seed in 1..=seeds {
        let (scenario, mut plan) = assemble(&text(seed));
        if until_decided {
            plan.run_until_decided(&scenario.spec.run);
        }
        let result = run_plan(&scenario, &plan, 1, &|| ()).unwrap();
        replications += result.replications;
        let place = match only(&result).outcome {
            CheckOutcome::Holds => 0,
            CheckOutcome::DoesNotHold => 1,
            CheckOutcome::Undecided => 2,
            CheckOutcome::NotChecked => panic!("it was run"),
        };
        counts[place] += 1;
    }
    (counts, replications)
}

/// What a share of so many seeds may be at the most, with three standard deviations of luck.
fn at_most(seeds: u32, share: f64) -> u32 {
    let n = f64::from(seeds);
    (n * share + 3.0 * (n * share * (1.0 - share)).sqrt()) as u32
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes long without optimisation")]
fn decisions_are_as_sure_as_they_say() {
    let away = 2.0 * standard_error(20.0);
    let (counts, _) = outcomes(
        200,
        |seed| coins(seed, 20, &at_least(TRUTH - away, 0.95)),
        false,
    );
    println!("truth 2 standard errors inside: {counts:?} hold, do not, undecided");
    let [right, wrong, _] = counts;
    assert!(wrong <= 1 && (60..=140).contains(&right), "{counts:?}");
    let (counts, _) = outcomes(
        200,
        |seed| coins(seed, 20, &at_least(TRUTH + away, 0.95)),
        false,
    );
    println!("truth 2 standard errors outside: {counts:?}");
    let [wrong, right, _] = counts;
    assert!(wrong <= 1 && (60..=140).contains(&right), "{counts:?}");
    // On the border itself either decision is a stroke of luck, of which the confidence says how rare it is.
    for (confidence, luck) in [(0.95, 0.05), (0.8, 0.2)] {
        let text = |seed| coins(seed, 20, &at_least(TRUTH, confidence));
        let ([above, below, _], _) = outcomes(200, text, false);
        println!("truth on the border, confidence {confidence}: {above} hold, {below} do not");
        assert!(above + below <= at_most(200, luck), "{above} + {below}");
        assert!(
            above + below >= (200.0 * luck / 3.0) as u32,
            "{above} + {below}"
        );
    }
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes long without optimisation")]
fn repeated_looks_spoil_no_decision() {
    let away = 2.0 * standard_error(20.0);
    for (bound, right) in [(TRUTH - away, 0), (TRUTH + away, 1)] {
        let text = |seed| coins(seed, 5, &at_least(bound, 0.95));
        let (counts, replications) = outcomes(100, text, true);
        println!("until decided, bound {bound:.4}: {counts:?}, {replications} replications");
        assert_eq!(counts[2], 0, "undecided");
        assert!(counts[1 - right] <= at_most(100, 0.05), "{counts:?}");
    }
    // On the border every look is one more chance to be wrong.
    let text = |seed| {
        coins(seed, 5, &at_least(TRUTH, 0.8)).replace("[run]\n", "[run]\nmax_replications = 160\n")
    };
    let (counts, replications) = outcomes(100, text, true);
    println!("until decided, on the border at 80 %: {counts:?}, {replications} replications");
    assert!(counts[0] + counts[1] <= 20, "{counts:?}");
}

#[test]
fn runs_go_on_until_every_check_is_decided_or_the_limit_is_reached() {
    let away = standard_error(20.0);
    let text = coins(3, 5, &at_least(TRUTH - away, 0.95));
    let (scenario, mut plan) = assemble(&text);
    plan.run_until_decided(&scenario.spec.run);
    let result = run_plan(&scenario, &plan, 2, &|| ()).unwrap();
    let check = only(&result);
    assert_ne!(check.outcome, CheckOutcome::Undecided);
    assert!(
        result.replications > 5 && result.looks > Some(1),
        "{result:?}"
    );
    let error = 0.05 * 0.5f64.powi(result.looks.unwrap() as i32);
    assert!((1.0 - check.interval_confidence - error).abs() < 1e-12);
    // The same as when so many had been asked for.
    let once = results(&text.replace(
        "replications = 5",
        &format!("replications = {}", result.replications),
    ));
    assert_eq!(once.strategies[0].summary, result.strategies[0].summary);
    assert_eq!((once.looks, only(&once).interval_confidence), (None, 0.95));

    let limited = text.replace("[run]\n", "[run]\nmax_replications = 7\n");
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("small.toml"), limited).unwrap();
    let (code, stdout, stderr) = gate_in(home.path(), &["--until-decided"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stdout.contains("After 7 replications the limit"),
        "{stdout}"
    );
}

#[test]
fn what_would_decide_a_check_does() {
    let text = |replications| {
        coins(
            11,
            replications,
            &at_least(TRUTH - standard_error(60.0), 0.95),
        )
    };
    let first = results(&text(20));
    let needed = only(&first)
        .replications_to_decide
        .expect("it is undecided");
    assert!((21..2_000).contains(&needed), "{needed}");
    let then = results(&text(needed as u32 * 2));
    assert_ne!(only(&then).outcome, CheckOutcome::Undecided, "{needed}");
}

#[test]
fn a_count_means_the_same_however_many_replications_run() {
    // Five replications of 200 requests of which a quarter fails: 250.
    let check = |value: u32| format!("metric = \"failed\"\nrelation = \"<=\"\nvalue = {value}");
    let text = coins(5, 5, &check(255));
    let (scenario, mut plan) = assemble(&text);
    plan.run_until_decided(&scenario.spec.run);
    let result = run_plan(&scenario, &plan, 2, &|| ()).unwrap();
    let check = only(&result);
    assert!(result.replications > 20, "{}", result.replications);
    let mean = check.estimate.unwrap().mean;
    assert!((mean - 250.0).abs() < 10.0, "{mean}");
    assert_eq!(check.note, "a count of 5 replications");
}

#[test]
fn a_figure_that_does_not_exist_does_not_hold() {
    let all_fail = coins(
        1,
        3,
        "metric = \"latency_p99_ms\"\nrelation = \"<=\"\nvalue = \"1s\"",
    )
    .replace("50%", "100%");
    let result = results(&all_fail);
    assert_eq!(only(&result).outcome, CheckOutcome::DoesNotHold);
    assert_eq!(only(&result).note, "no request succeeded");
    let border = coins(
        1,
        3,
        "metric = \"hidden_capacity_per_s\"\nrelation = \">=\"\nvalue = \"1/s\"",
    );
    let result = results(&border);
    assert!(
        only(&result).note.starts_with("it cannot be derived: "),
        "{:?}",
        only(&result)
    );
}
