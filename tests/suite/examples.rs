//! The programs in `examples` run and say what they promise.

use std::path::Path;
use std::process::Command;

/// What an example prints. Tests build all of them, beside the program.
fn output(name: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_retrystorm"));
    let folder = program
        .parent()
        .expect("it lies in a folder")
        .join("examples");
    let done = Command::new(folder.join(name))
        .output()
        .expect("it was built");
    assert!(done.status.success(), "{name}: {:?}", done.status);
    String::from_utf8(done.stdout).expect("a text")
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes seconds without optimisation")]
fn a_strategy_is_chosen_and_passes_its_gate() {
    let text = output("choose_strategy");
    assert!(text.contains("against no retries"), "{text}");
    assert!(
        text.contains("full jitter: success_rate differs by +0.0"),
        "{text}"
    );
    assert_eq!(text.matches("holds").count(), 2, "{text}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "takes seconds without optimisation")]
fn a_sweep_over_the_load_finds_the_border() {
    let text = output("sweep_load");
    let share = |load: &str| {
        let line = text
            .lines()
            .find(|line| line.contains(load))
            .expect("a line a load");
        line.split_once(':').expect("a share").1.trim().to_owned()
    };
    for load in ["100/s", "120/s", "140/s"] {
        assert!(share(load).starts_with("0 %"), "{text}");
    }
    for load in ["160/s", "180/s", "200/s"] {
        assert!(share(load).starts_with("100 %"), "{text}");
    }
}
