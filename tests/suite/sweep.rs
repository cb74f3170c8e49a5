//! Sweeps: every cell is the run that it would be alone, a sweep that was killed goes on to the same bytes, and what
//! theory says about a border shows in the map.

use crate::program::{SMALL, folder, names, program, run, texts};
use retrystorm::experiment::{self, prepare_cell};
use retrystorm::report::SweepStore;
use retrystorm::scenario::{Scenario, Sweep};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A row of `sweep.csv` by column.
type Row = BTreeMap<String, String>;

fn rows(dir: &Path) -> Vec<Row> {
    let mut reader = csv::Reader::from_path(dir.join("sweep.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn number(row: &Row, column: &str) -> f64 {
    let text = &row[column];
    text.parse()
        .unwrap_or_else(|_| panic!("{column} of {row:?} is no number"))
}

/// The figure of a row that these columns pick.
fn figure<'a>(rows: &'a [Row], metric: &str, at: &[(&str, &str)]) -> &'a Row {
    let matches = |row: &&Row| {
        row["metric"] == metric && at.iter().all(|(column, value)| row[*column] == *value)
    };
    let mut found = rows.iter().filter(matches);
    let row = found
        .next()
        .unwrap_or_else(|| panic!("no {metric} at {at:?}"));
    assert_eq!(found.next(), None, "{metric} at {at:?} is not one row");
    row
}

fn gallery(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("scenarios")
        .join(name);
    path.display().to_string()
}

/// Runs a sweep of the gallery and gives its rows.
fn swept(name: &str) -> Vec<Row> {
    let out = tempfile::tempdir().unwrap();
    let file = gallery(&format!("{name}.toml"));
    let done = run(
        out.path(),
        &["sweep", &file, "--no-charts", "--quiet", "--out", "."],
    );
    assert!(done.status.success(), "{}", texts(&done).1);
    rows(&out.path().join(format!("{name}-sweep")))
}

/// Mean, and standard error from the half-width of the interval over 20 replications (t = 2.093).
fn mean_and_error(row: &Row) -> (f64, f64) {
    let half = (number(row, "high") - number(row, "low")) / 2.0;
    (number(row, "value"), half / 2.093)
}

/// The table that was published for this scenario is one run of 30,000 requests, so its own error of sampling is known.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes a minute without optimisation")]
fn retries_buy_and_cost_what_was_published_and_what_theory_says() {
    const REQUESTS: f64 = 30_000.0;
    let published = [
        ("0.01", (98.97, 1.0), (100.0, 1.010)),
        ("0.05", (94.91, 1.0), (100.0, 1.052)),
        ("0.1", (89.49, 1.0), (100.0, 1.110)),
        ("0.2", (80.03, 1.0), (99.80, 1.245)),
        ("0.5", (50.31, 1.0), (93.86, 1.869)),
        ("0.75", (24.99, 1.0), (68.43, 2.732)),
    ];
    let rows = swept("brooker_retries");
    let mut worst = 0.0f64;
    for (p, none, three) in published {
        for (strategy, k, (success, load)) in [("no retries", 1, none), ("3 retries", 4, three)] {
            let at = [("p", p), ("strategy", strategy)];
            let p: f64 = p.parse().unwrap();
            let exact = 1.0 - p.powi(k);
            let attempts = exact / (1.0 - p);
            let second: f64 = (0..k).map(|j| f64::from(2 * j + 1) * p.powi(j)).sum();
            let of_one = [exact * (1.0 - exact), second - attempts * attempts];
            for (metric, exact, published, half_a_digit, variance) in [
                ("success_rate", exact, success / 100.0, 5e-5, of_one[0]),
                ("amplification", attempts, load, 5e-4, of_one[1]),
            ] {
                let row = figure(&rows, metric, &at);
                let (mean, error) = mean_and_error(row);
                assert!((number(row, "predicted") - exact).abs() < 1e-12, "{row:?}");
                assert!(error < 2e-3, "{row:?}");
                let off = (mean - exact).abs();
                // All requests succeeded: the interval is Wilson's, whose error says little.
                let all_alike = mean == 1.0 && variance < 1e-6;
                assert!(
                    off <= 4.0 * error + 1e-9 || all_alike && off < 1e-6,
                    "{metric} {at:?}: {mean}"
                );
                if error > 0.0 && !all_alike {
                    worst = worst.max(off / error);
                }
                let of_published = (variance.max(0.0) / REQUESTS).sqrt();
                let allowed = 4.0 * of_published.hypot(error) + half_a_digit;
                assert!(
                    (mean - published).abs() <= allowed,
                    "{metric} {at:?}: {mean}, {published}"
                );
            }
        }
    }
    println!("24 figures of 6 chances of failure, worst {worst:.2} standard errors");
}

/// The border is μ/k: 5 % below it all replications come back, 5 % above none does. With one attempt the load above
/// the border is more than the service can do before any stall.
#[test]
#[cfg_attr(debug_assertions, ignore = "takes minutes without optimisation")]
fn collapses_follow_the_border_of_theory() {
    const CAPACITY: f64 = 300.0;
    let rows = swept("hidden_capacity");
    let mut cells = 0;
    for row in rows.iter().filter(|row| row["metric"] == "collapsed_share") {
        let (load, k) = (number(row, "load_per_s"), number(row, "attempts"));
        let at = [("cell", row["cell"].as_str())];
        let of = |metric: &str| number(figure(&rows, metric, &at), "value");
        let border = of("hidden_capacity_per_s");
        assert!((border - CAPACITY / k).abs() < 1e-9, "k = {k}: {border}");
        let ratio = of("load_of_border");
        assert!((ratio - load * k / CAPACITY).abs() < 1e-9, "{ratio}");
        assert!(
            (ratio - 1.0).abs() > 0.049,
            "{load} at k = {k} is too near to the border"
        );
        let (back, down) = (
            of("stable_replications") + of("recovered_replications"),
            of("collapsed_replications") + of("overloaded_replications"),
        );
        let expected = if ratio < 1.0 { (5.0, 0.0) } else { (0.0, 5.0) };
        assert_eq!((back, down), expected, "load {load}, k = {k}");
        if load < CAPACITY {
            assert_eq!(number(row, "value"), f64::from(u8::from(ratio > 1.0)));
        }
        cells += 1;
    }
    assert_eq!(cells, 50);
}

/// Three axes of the small scenario, 3 × 2 × 2 cells.
const AXES: &str = r#"
[[sweep.axis]]
name = "load"
key = "clients.arrivals.poisson.rate"
range = { from = "20/s", to = "60/s", steps = 3 }

[[sweep.axis]]
keys = ["strategy.full jitter.max_attempts", "strategy.fixed.max_attempts"]
name = "attempts"
values = [[2, 3], 5]

[[sweep.axis]]
key = "strategy.fixed.backoff"
values = ["immediate", { fixed = { delay = "1s" } }]
"#;

fn small_sweep(axes: &str) -> tempfile::TempDir {
    let folder = folder();
    fs::write(folder.path().join("small.toml"), format!("{SMALL}{axes}")).unwrap();
    folder
}

fn sweep(dir: &Path, more: &[&str]) -> (bool, String) {
    let arguments = [&["sweep", "small.toml", "--no-charts"], more].concat();
    let done = run(dir, &arguments);
    (done.status.success(), texts(&done).1)
}

/// Every file below a folder with its content.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(
                tree(&path).into_iter().map(|(below, bytes)| {
                    (Path::new(path.file_name().unwrap()).join(below), bytes)
                }),
            );
        } else {
            let name = PathBuf::from(path.file_name().unwrap());
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn a_cell_is_the_run_that_it_would_be_alone() {
    let folder = small_sweep(AXES);
    assert!(sweep(folder.path(), &[]).0);
    let rows = rows(&folder.path().join("output/small-sweep"));
    // The last cell but one: 60/s, 5 attempts, immediate.
    let arguments = [
        "run",
        "small.toml",
        "--no-charts",
        "--set",
        "clients.arrivals.poisson.rate=60/s",
        "--set",
        "strategy.full jitter.max_attempts=5",
        "--set",
        "strategy.fixed.max_attempts=5",
        "--set",
        "strategy.fixed.backoff=immediate",
    ];
    assert!(run(folder.path(), &arguments).status.success());
    let summary = folder.path().join("output/small/summary.csv");
    let mut reader = csv::Reader::from_path(summary).unwrap();
    let mut compared = 0;
    for strategy in reader.deserialize::<Row>() {
        let strategy = strategy.unwrap();
        let at = [("cell", "10"), ("strategy", strategy["strategy"].as_str())];
        for metric in [
            "success_rate",
            "amplification",
            "goodput_per_s",
            "collapsed_share",
            "failed_refused",
        ] {
            let row = figure(&rows, metric, &at);
            assert_eq!(row["load_per_s"], "60");
            assert_eq!(
                (row["attempts"].as_str(), row["backoff"].as_str()),
                ("5", "immediate")
            );
            let off = (number(row, "value") - number(&strategy, metric)).abs();
            assert!(
                off <= 1e-9 * number(row, "value").abs(),
                "{metric}: {row:?}"
            );
            compared += 1;
        }
    }
    assert_eq!(compared, 15);
    assert_eq!(rows.len() % 12, 0, "every cell has the same rows");
}

#[test]
fn the_bytes_are_the_same_for_any_number_of_threads() {
    let folders = ["1", "2", "3", "100000"].map(|threads| {
        let folder = small_sweep(AXES);
        let (done, error) = sweep(folder.path(), &["--threads", threads]);
        assert!(done, "{error}");
        tree(&folder.path().join("output/small-sweep"))
    });
    assert_eq!(folders[0].len(), 4 + 12);
    assert!(folders.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Two hundred cells that take a few milliseconds each.
const TWO_HUNDRED: &str = r#"
[[sweep.axis]]
key = "clients.arrivals.poisson.rate"
range = { from = "20/s", to = "100/s", steps = 20 }

[[sweep.axis]]
key = "service.api.workers"
range = { from = 1, to = 10, steps = 10 }
"#;

/// Numbers that look random and are the same in each run.
fn scatter(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761) >> 7
}

#[cfg(unix)]
#[test]
fn a_sweep_that_is_killed_twenty_times_ends_in_the_same_bytes() {
    let whole = small_sweep(TWO_HUNDRED);
    let (done, error) = sweep(whole.path(), &["--quiet"]);
    assert!(done, "{error}");
    let folder = small_sweep(TWO_HUNDRED);
    let cells = folder.path().join("output/small-sweep/cells");
    let there = || fs::read_dir(&cells).map_or(0, |entries| entries.flatten().count());
    let mut kills = 0;
    for i in 0..20 {
        let mut child = Command::new(env!("CARGO_BIN_EXE_retrystorm"))
            .current_dir(folder.path())
            .args(["sweep", "small.toml", "--quiet", "--no-charts"])
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // At a moment that depends on what is done, so that a slow machine kills as often as a fast one, and a little
        // later, so that it may be in the middle of anything.
        let target = there() + scatter(i) as usize % 9;
        while there() < target && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(u64::from(scatter(i + 100) % 9_000)));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(kills, 20, "the sweep ended too early to be killed");
    let before = there();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(done, "{error}");
    assert!(
        before > 0 && error.contains("there already"),
        "{before}: {error}"
    );
    let trees = [&whole, &folder].map(|folder| tree(&folder.path().join("output/small-sweep")));
    assert!(trees[0] == trees[1], "the bytes differ");
    assert_eq!(names(&cells).len(), 200);
}

#[test]
fn another_sweep_is_refused_with_the_difference_named() {
    let folder = small_sweep(AXES);
    let dir = folder.path().join("output/small-sweep");
    assert!(sweep(folder.path(), &["--quiet"]).0);
    let before = tree(&dir);
    let refused = |more: &[&str], reason: &str| {
        let (done, error) = sweep(folder.path(), more);
        assert!(!done && error.contains(reason), "{more:?}: {error}");
        assert!(error.contains("--fresh"), "{error}");
        assert!(tree(&dir) == before, "{more:?} has changed something");
    };
    refused(&["--seed", "8"], "`run.seed` is 7 there and 8 here");
    refused(
        &["--set", "service.api.workers=5"],
        "`service.api.workers` is 4 there and 5 here",
    );
    refused(&["--only", "fixed"], "other strategies");
    let manifest = dir.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let version = concat!("retrystorm ", env!("CARGO_PKG_VERSION"));
    assert!(text.contains(version), "{text}");
    fs::write(&manifest, text.replace(version, "retrystorm 0.0.1")).unwrap();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(
        !done && error.contains("a sweep by retrystorm 0.0.1"),
        "{error}"
    );
    let (done, error) = sweep(folder.path(), &["--seed", "8", "--fresh"]);
    assert!(done, "{error}");
    assert!(tree(&dir) != before);
    for name in ["notes.txt", "photo.png", "cells/notes.txt", "cells/7.csv"] {
        fs::write(dir.join(name), "mine").unwrap();
        let (done, error) = sweep(folder.path(), &["--fresh"]);
        assert!(
            !done && error.contains("not the output of a run"),
            "{name}: {error}"
        );
        assert_eq!(fs::read_to_string(dir.join(name)).unwrap(), "mine");
        fs::remove_file(dir.join(name)).unwrap();
    }
}

#[test]
fn a_file_with_another_content_is_another_sweep() {
    let folder = small_sweep(AXES);
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let text = text
        .replace(
            "arrivals.poisson = { rate = \"40/s\" }",
            "arrivals.trace = { file = \"t.csv\" }",
        )
        .replace(
            "key = \"clients.arrivals.poisson.rate\"",
            "key = \"service.api.network.request.constant.value\"",
        )
        .replace("\"20/s\", to = \"60/s\"", "\"1ms\", to = \"3ms\"");
    fs::write(folder.path().join("small.toml"), text).unwrap();
    fs::write(folder.path().join("t.csv"), "1\n2\n3\n").unwrap();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(done, "{error}");
    fs::write(folder.path().join("t.csv"), "1\n2\n4\n").unwrap();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(
        !done && error.contains("`t.csv` had another content"),
        "{error}"
    );
}

/// The name of a file may stand deep in the values of several keys that move together.
#[test]
fn a_swept_file_with_another_content_is_noticed() {
    let folder = small_sweep(
        "[[sweep.axis]]\nname = \"day\"\nkeys = [\"clients.arrivals.trace.file\", \"service.api.workers\"]\n\
         values = [[\"a.csv\", 2], [\"b.csv\", 3]]\n",
    );
    let text = fs::read_to_string(folder.path().join("small.toml")).unwrap();
    let poisson = "arrivals.poisson = { rate = \"40/s\" }";
    let text = text.replace(poisson, "arrivals.trace = { file = \"a.csv\" }");
    fs::write(folder.path().join("small.toml"), text).unwrap();
    for name in ["a.csv", "b.csv"] {
        fs::write(folder.path().join(name), "1\n2\n3\n").unwrap();
    }
    let (done, error) = sweep(folder.path(), &[]);
    assert!(done, "{error}");
    fs::write(folder.path().join("b.csv"), "1\n2\n").unwrap();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(
        !done && error.contains("`b.csv` had another content"),
        "{error}"
    );
}

/// A cell may have read a file before or after it was touched, so it is not kept, even when the content is back.
#[test]
fn a_cell_that_ran_while_a_file_was_touched_is_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.csv");
    fs::write(&trace, "1\n2\n3\n").unwrap();
    let poisson = "arrivals.poisson = { rate = \"40/s\" }";
    let text = SMALL.replace(poisson, "arrivals.trace = { file = \"a.csv\" }");
    let text = format!("{text}[[sweep.axis]]\nkey = \"run.seed\"\nvalues = [1, 2]\n");
    let scenario = Scenario::parse("small", &text, folder.path()).unwrap();
    let sweep = Sweep::of(&scenario).unwrap().unwrap();
    let dir = folder.path().join("out");
    let store = SweepStore::open(&dir, &scenario, &sweep, &[], false).unwrap();
    let keep = |number: u32| {
        let cell = sweep.cell(number);
        let (scenario, plan) = prepare_cell::<()>(&scenario, &sweep, &cell, &[]).unwrap();
        let result = experiment::run(&scenario, &plan, 1, &|| ()).unwrap();
        store.keep(&sweep, &cell, &plan, &result)
    };
    keep(0).unwrap();
    let later = fs::metadata(&trace).unwrap().modified().unwrap() + Duration::from_secs(5);
    fs::File::options()
        .append(true)
        .open(&trace)
        .unwrap()
        .set_modified(later)
        .unwrap();
    let error = keep(1).unwrap_err();
    assert!(error.what.contains("`a.csv` has changed"), "{error}");
    assert_eq!(store.missing(), [1]);
    drop(store);
    let store = SweepStore::open(&dir, &scenario, &sweep, &[], false).unwrap();
    assert_eq!(store.missing(), [1], "the content is what it was");
}

#[test]
fn another_drawing_or_another_check_costs_no_cell() {
    let folder = small_sweep(AXES);
    let dir = folder.path().join("output/small-sweep");
    let drawn = || {
        let done = run(folder.path(), &["sweep", "small.toml"]);
        assert!(done.status.success(), "{}", texts(&done).1);
        texts(&done).1
    };
    drawn();
    assert!(names(&dir).contains(&"amplification-by-load.svg".into()));
    let more = "[[sweep.chart]]\nmetric = \"failed\"\ny = \"load\"\n\
                [[check]]\nmetric = \"success_rate\"\nrelation = \">=\"\nvalue = \"10%\"\n";
    fs::write(
        folder.path().join("small.toml"),
        format!("{SMALL}{AXES}{more}"),
    )
    .unwrap();
    assert!(drawn().contains("12 cells are there already"));
    let files = names(&dir);
    let chart = "failed-by-attempts-and-load.svg";
    assert!(files.contains(&chart.into()), "{files:?}");
    assert!(
        !files.contains(&"amplification-by-load.svg".into()),
        "{files:?}"
    );
    let resolved = fs::read_to_string(dir.join("scenario.toml")).unwrap();
    assert!(resolved.contains("[[check]]"), "{resolved}");
}

#[test]
fn a_damaged_cell_is_run_again() {
    let folder = small_sweep(AXES);
    let dir = folder.path().join("output/small-sweep");
    assert!(sweep(folder.path(), &["--quiet"]).0);
    let before = tree(&dir);
    let cell = |number: u32| dir.join(format!("cells/{number:06}.csv"));
    let text = fs::read_to_string(cell(3)).unwrap();
    fs::write(cell(3), &text[..text.len() / 2]).unwrap();
    fs::write(cell(5), "").unwrap();
    fs::copy(cell(7), cell(6)).unwrap();
    fs::remove_file(cell(9)).unwrap();
    fs::write(dir.join("cells/.retrystorm-leftover"), "torn").unwrap();
    let (done, error) = sweep(folder.path(), &[]);
    assert!(
        done && error.contains("8 cells are there already"),
        "{error}"
    );
    assert!(tree(&dir) == before);
}

/// A limit on the size of files stands for a full disk: a write fails in the middle.
#[cfg(unix)]
#[test]
fn a_write_that_fails_leaves_no_torn_file_and_the_sweep_goes_on_later() {
    let folder = small_sweep(AXES);
    let command = format!(
        "trap '' XFSZ; ulimit -f 8; exec {} sweep small.toml --no-charts",
        env!("CARGO_BIN_EXE_retrystorm")
    );
    let done = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .output();
    let done = done.unwrap();
    let error = texts(&done).1;
    assert_eq!(done.status.code(), Some(3), "{error}");
    assert!(
        error.contains("too large") && error.contains("finished cells are kept"),
        "{error}"
    );
    let dir = folder.path().join("output/small-sweep");
    assert_eq!(names(&dir.join("cells")), [""; 0]);
    let (done, error) = sweep(folder.path(), &[]);
    assert!(done, "{error}");
    let whole = small_sweep(AXES);
    assert!(sweep(whole.path(), &[]).0);
    assert!(tree(&dir) == tree(&whole.path().join("output/small-sweep")));
}

#[test]
fn two_processes_never_write_one_sweep() {
    let folder = small_sweep(AXES);
    let dir = folder.path().join("output/small-sweep");
    assert!(sweep(folder.path(), &["--quiet"]).0);
    let before = tree(&dir);
    let lock = fs::File::open(dir.join(".lock")).unwrap();
    lock.lock().unwrap();
    for more in [&[][..], &["--fresh"], &["--fresh", "--seed", "8"]] {
        let (done, error) = sweep(folder.path(), more);
        assert!(
            !done && error.contains("another sweep is being written there"),
            "{more:?}: {error}"
        );
        assert!(tree(&dir) == before, "{more:?}");
    }
}

/// Whoever comes first into a new folder has it; the other one is refused, or goes on where the same sweep has ended.
#[test]
fn of_two_sweeps_that_start_together_one_is_refused() {
    for round in 0..5 {
        let folder = small_sweep(TWO_HUNDRED);
        let start = |seed: &str| {
            Command::new(env!("CARGO_BIN_EXE_retrystorm"))
                .current_dir(folder.path())
                .args([
                    "sweep",
                    "small.toml",
                    "--quiet",
                    "--no-charts",
                    "--seed",
                    seed,
                ])
                .stderr(Stdio::null())
                .spawn()
                .unwrap()
        };
        let mut both = [start("5"), start("99")];
        let done = both.each_mut().map(|child| child.wait().unwrap().success());
        assert_eq!(
            done.iter().filter(|&&done| done).count(),
            1,
            "round {round}"
        );
        let alone = small_sweep(TWO_HUNDRED);
        let seed = if done[0] { "5" } else { "99" };
        assert!(sweep(alone.path(), &["--seed", seed]).0);
        let trees = [&folder, &alone].map(|home| tree(&home.path().join("output/small-sweep")));
        assert!(trees[0] == trees[1], "round {round}: cells of two seeds");
    }
}

fn complaints(axes: &str) -> String {
    let folder = small_sweep(axes);
    let done = program(folder.path())
        .args(["sweep", "small.toml"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(2), "{axes}");
    assert!(
        !folder.path().join("output").exists(),
        "something was written"
    );
    texts(&done).1
}

#[test]
fn what_is_wrong_in_any_cell_is_told_before_anything_runs() {
    let axis = |text: &str| format!("[[sweep.axis]]\n{text}\n");
    for (axes, words) in [
        (String::new(), vec!["no [sweep]", "[[sweep.axis]]"]),
        (
            axis("key = \"service.api.wrokers\"\nvalues = [1, 2]"),
            vec!["unknown key `wrokers`", "did you mean `workers`?"],
        ),
        (
            axis("key = \"service.api.workers\"\nvalues = [1, 0]"),
            vec!["service.api.workers"],
        ),
        (
            axis("key = \"strategy.none.max_attempts\"\nvalues = [1]"),
            vec!["no element `none`"],
        ),
        (
            axis("key = \"service.api.workers\""),
            vec!["the axis has no values"],
        ),
        (axis("values = [1]"), vec!["the axis has no key"]),
        (
            axis("key = \"service.api.workers\"\nvalues = [1]\nrange = { from = 1, to = 2 }"),
            vec!["an axis has its values from one of"],
        ),
        (
            axis("key = \"service.api.workers\"\nrange = { from = 1, to = \"2s\" }"),
            vec!["of one kind"],
        ),
        (
            axis("key = \"service.api.workers\"\nlog_range = { from = 0, to = 5 }"),
            vec!["never reach zero"],
        ),
        (
            axis("keys = [\"run.seed\", \"service.api.workers\"]\nvalues = [[1, 2, 3]]"),
            vec!["3 values stand for 2 keys"],
        ),
        (
            axis("key = \"sweep.axis\"\nvalues = [1]"),
            vec!["cannot vary"],
        ),
        (
            axis("key = \"run.seed\"\nname = \"cell\"\nvalues = [1]"),
            vec!["is a column of sweep.csv already"],
        ),
        (
            axis("key = \"run.seed\"\nrange = { from = 1, to = 1000, steps = 1000 }")
                + &axis(
                    "key = \"service.api.workers\"\nrange = { from = 1, to = 1000, steps = 1000 }",
                ),
            vec!["1000000 cells", "latin_hypercube"],
        ),
        (
            axis("key = \"run.seed\"\nvalues = [1, 2]")
                + "[[sweep.chart]]\nmetric = \"succes_rate\"\nx = \"sed\"\n",
            vec!["did you mean `success_rate`?"],
        ),
        (
            axis("key = \"run.seed\"\nvalues = [1, 2]")
                + "[[sweep.chart]]\nmetric = \"success_rate\"\nx = \"sede\"\n",
            vec!["names no axis", "did you mean \"seed\"?"],
        ),
        ("[sweep]\n".into(), vec!["[[sweep.axis]]"]),
        (
            axis("key = \"strategy[1].max_attempts\"\nvalues = [2, 3]")
                + &axis("name = \"b\"\nkey = \"strategy.full jitter.max_attempts\"\nvalues = [4, 5]"),
            vec!["varies in two places"],
        ),
        (
            axis("key = \" run.seed\"\nvalues = [2, 3]") + &axis("name = \"b\"\nkey = \"run.seed \"\nvalues = [4, 5]"),
            vec!["varies in two places"],
        ),
        (
            axis("key = \"service.api\"\nvalues = [{ workers = 1, service_time = \"1ms\" }]")
                + &axis("key = \"service.api.workers\"\nvalues = [1, 2]"),
            vec!["varies in two places"],
        ),
        (
            axis("key = \"run.drain\"\nname = \"x\"\nvalues = [\"1s\", \"2s\"]")
                + &axis("key = \"run.seed\"\nname = \"x_s\"\nvalues = [1, 2]"),
            vec!["\"x_s\" is a column of sweep.csv already"],
        ),
        (
            axis("key = \"run.seed\"\nname = \"a\\u001bb\"\nvalues = [1]"),
            vec!["an axis's name cannot hold control characters"],
        ),
        (
            "[sweep]\ndesign = { latin_hypercube = { cells = 4 } }\n[[sweep.chart]]\nmetric = \"success_rate\"\ny = \"seed\"\n".to_owned()
                + &axis("key = \"run.seed\"\nvalues = [1, 2]")
                + &axis("key = \"service.api.workers\"\nvalues = [1, 2]"),
            vec!["is a map, which needs all combinations"],
        ),
    ] {
        let error = complaints(&axes);
        for word in words {
            assert!(error.contains(word), "{axes}: {word} is not in\n{error}");
        }
    }
}

#[test]
fn a_latin_hypercube_meets_each_part_of_each_axis_once() {
    let text = format!(
        "{SMALL}[sweep]\ndesign = {{ latin_hypercube = {{ cells = 50 }} }}\n\
         [[sweep.axis]]\nname = \"load\"\nkey = \"clients.arrivals.poisson.rate\"\nrange = {{ from = \"10/s\", to = \"60/s\" }}\n\
         [[sweep.axis]]\nname = \"delay\"\nkey = \"strategy.fixed.backoff.fixed.delay\"\nlog_range = {{ from = \"10ms\", to = \"10s\" }}\n\
         [[sweep.axis]]\nkey = \"service.api.workers\"\nvalues = [2, 3, 4, 5, 6]\n"
    );
    let scenario = Scenario::parse("small", &text, Path::new(".")).unwrap();
    let sweep = Sweep::of(&scenario).unwrap().unwrap();
    let cells: Vec<_> = (0..sweep.len()).map(|i| sweep.cell(i)).collect();
    let mut parts = [vec![0; 50], vec![0; 50], vec![0; 5]];
    for cell in &cells {
        let size = |axis: usize| cell.coordinates[axis].size.unwrap();
        // Values have four digits, so one may be rounded into the part beside its own.
        let part = |share: f64| ((share * 50.0).max(0.0) as usize).min(49);
        parts[0][part((size(0) - 10.0) / 50.0)] += 1;
        parts[1][part((size(1) / 0.01).ln() / 1000f64.ln())] += 1;
        parts[2][size(2) as usize - 2] += 1;
        sweep.scenario(&scenario, cell).unwrap();
    }
    assert!(
        parts[0].iter().filter(|&&n| n == 1).count() >= 48,
        "{:?}",
        parts[0]
    );
    assert!(
        parts[1].iter().filter(|&&n| n == 1).count() >= 46,
        "{:?}",
        parts[1]
    );
    assert_eq!(parts[2], [10; 5]);
    let order: Vec<_> = cells
        .iter()
        .map(|cell| cell.coordinates[0].size.unwrap())
        .collect();
    assert!(!order.is_sorted(), "cells come in random company");
}

#[test]
fn ranges_are_even_and_keep_their_ends() {
    let marks = |axis: &str| {
        let text = format!("{SMALL}[[sweep.axis]]\nkey = \"run.seed\"\n{axis}\n");
        let scenario = Scenario::parse("small", &text, Path::new(".")).unwrap();
        let sweep = Sweep::of(&scenario).unwrap().unwrap();
        let marks = sweep.axes[0].marks.iter().map(|mark| mark.text.clone());
        marks.collect::<Vec<_>>()
    };
    for (axis, expected) in [
        (
            "range = { from = 1, to = 9, steps = 3 }",
            vec!["1", "5", "9"],
        ),
        (
            "range = { from = 1, to = 3, steps = 5 }",
            vec!["1", "2", "3"],
        ),
        (
            "range = { from = 1, to = 2.0, steps = 3 }",
            vec!["1", "1.5", "2"],
        ),
        (
            "range = { from = \"10%\", to = \"70%\", steps = 4 }",
            vec!["10%", "30%", "50%", "70%"],
        ),
        (
            "range = { from = \"100ms\", to = \"1s\", steps = 4 }",
            vec!["100ms", "400ms", "700ms", "1s"],
        ),
        (
            "range = { from = \"9/s\", to = \"3/s\", steps = 3 }",
            vec!["9/s", "6/s", "3/s"],
        ),
        (
            "log_range = { from = \"10ms\", to = \"10s\", steps = 4 }",
            vec!["10ms", "100ms", "1s", "10s"],
        ),
        (
            "log_range = { from = 1.0, to = 8.0, steps = 4 }",
            vec!["1", "2", "4", "8"],
        ),
    ] {
        assert_eq!(marks(axis), expected, "{axis}");
    }
}

#[test]
fn charts_are_drawn_as_asked() {
    let folder = small_sweep(&format!(
        "{AXES}[[sweep.chart]]\nmetric = \"latency_p99_ms\"\nx = \"backoff\"\n\
         [[sweep.chart]]\nmetric = \"success_rate\"\nx = \"load\"\ny = \"attempts\"\n\
         [[sweep.chart]]\nmetric = \"goodput_per_s\"\nx = \"offered_mean_per_s\"\n"
    ));
    let done = run(folder.path(), &["sweep", "small.toml", "--quiet"]);
    assert!(done.status.success(), "{}", texts(&done).1);
    let dir = folder.path().join("output/small-sweep");
    assert_eq!(
        names(&dir),
        [
            ".lock",
            "cells",
            "goodput_per_s-by-offered_mean_per_s.png",
            "goodput_per_s-by-offered_mean_per_s.svg",
            "latency_p99_ms-by-backoff.png",
            "latency_p99_ms-by-backoff.svg",
            "manifest.toml",
            "scenario.toml",
            "success_rate-by-load-and-attempts.png",
            "success_rate-by-load-and-attempts.svg",
            "sweep.csv"
        ]
    );
    let svg = fs::read_to_string(dir.join("success_rate-by-load-and-attempts.svg")).unwrap();
    for text in [
        "How do load and attempts change success?",
        "With backoff = immediate.",
        "full jitter",
    ] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = fs::read_to_string(dir.join("latency_p99_ms-by-backoff.svg")).unwrap();
    assert!(
        svg.contains("fixed = { delay"),
        "a category is named by its value"
    );
}
