//! Runs the program under test.

use assert_cmd::Command;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

/// Longer than any run here takes, even on a busy machine; only a hang gets there.
const HANG: Duration = Duration::from_secs(120);

/// A scenario that runs in a blink and has everything in it.
pub(crate) const SMALL: &str = r#"# Does it work?
[run]
duration = "20s"
warmup = "0s"
replications = 2
seed = 7

[clients]
count = 50
arrivals.poisson = { rate = "40/s" }

[service.api]
workers = 4
queue = { capacity = 10 }
service_time.exponential = { mean = "50ms" }
failures = [{ code = 503, probability = "5%" }]

[[fault]]
at = "5s"
lasts = "3s"
outage = "refuse"

[[strategy]]
name = "no retries"
max_attempts = 1
attempt_timeout = "1s"

[[strategy]]
name = "full jitter"
max_attempts = 4
attempt_timeout = "1s"
backoff.exponential = { base = "200ms", cap = "5s", jitter = "full" }

[[strategy]]
name = "fixed"
max_attempts = 4
attempt_timeout = "1s"
backoff.fixed = { delay = "500ms" }
"#;

/// The program in the folder `dir`, as in a plain UTF-8 environment of 80 columns.
pub(crate) fn program(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_retrystorm"));
    command
        .current_dir(dir)
        .env_clear()
        .env("LANG", "C.UTF-8")
        .env("COLUMNS", "80")
        .timeout(HANG);
    command
}

/// What the program does with `arguments` in `dir`.
pub(crate) fn run(dir: &Path, arguments: &[&str]) -> Output {
    program(dir)
        .args(arguments)
        .output()
        .expect("the program starts")
}

/// A new folder with `SMALL` in it as `small.toml`.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("small.toml"), SMALL).expect("it can be written to");
    folder
}

/// The names in a folder, in order.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).expect("a folder");
    let name = |entry: std::io::Result<std::fs::DirEntry>| {
        let name = entry.expect("an entry").file_name();
        name.into_string().expect("a name in UTF-8")
    };
    let mut names: Vec<String> = entries.map(name).collect();
    names.sort();
    names
}

/// The folder of data for tests.
pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(name)
}

/// Standard output and standard error.
pub(crate) fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
    (text(&output.stdout), text(&output.stderr))
}
