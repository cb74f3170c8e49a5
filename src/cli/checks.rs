//! Checks on the command line: what fails is told and decides the exit code, and a build server gets a file.

use super::terminal::{clean, not_written, tell};
use super::{Failure, RunArguments};
use crate::experiment::RunResult;
use crate::report::{JUNIT, JunitSuite, check_file, check_line, junit, write_file};
use crate::scenario::{Plan, Scenario};
use std::path::Path;

/// What came of the checks of all scenarios.
#[derive(Debug, Default)]
pub(super) struct Gate {
    suites: Vec<JunitSuite>,
}

impl Gate {
    /// Keeps the checks of a run and tells how to repeat it when some fail. Where no table shows them, those are told
    /// as well: a gate that fails silently is useless.
    pub(super) fn add(
        &mut self,
        scenario: &Scenario,
        result: &RunResult,
        arguments: &RunArguments,
    ) {
        let command = repeat(scenario, result.seed, arguments);
        let failing = result.checks.iter();
        let failing = failing.filter(|check| check.fails(arguments.allow_undecided));
        let failing: Vec<_> = failing.collect();
        if arguments.quiet || arguments.json {
            for check in &failing {
                tell(&clean(&format!("{}: {}", scenario.name, check_line(check))));
            }
        }
        if !failing.is_empty() {
            tell(&clean(&format!("repeat it with: {command}")));
        }
        self.suites.push(JunitSuite {
            scenario: scenario.name.clone(),
            checks: result.checks.clone(),
            command,
        });
    }

    /// Writes the file for a build server and says whether all that was asked is kept.
    ///
    /// # Errors
    /// When a check fails, or the file cannot be written.
    pub(super) fn close(self, arguments: &RunArguments) -> Result<(), Failure> {
        if let Some(path) = &arguments.junit {
            let text = junit(&self.suites, arguments.allow_undecided);
            write_file(path, text.as_bytes(), JUNIT)
                .map_err(|error| not_written(&error.to_string(), &error.remedy))?;
        }
        let mut checks = self.suites.iter().flat_map(|suite| &suite.checks);
        match checks.any(|check| check.fails(arguments.allow_undecided)) {
            true => Err(Failure::Checks),
            false => Ok(()),
        }
    }
}

/// Whether the file for a build server can be written, and whether there is anything to write: asked before the runs.
///
/// # Errors
/// When the file cannot be written, or would lie inside results that are replaced as a whole.
pub(super) fn check_options(
    ready: &[(Scenario, Plan)],
    arguments: &RunArguments,
) -> Result<(), Failure> {
    let without = ready.iter().all(|(_, plan)| plan.checks.is_empty());
    if without && arguments.until_decided {
        tell("warning: there is no [[check]] to decide");
    }
    let Some(path) = &arguments.junit else {
        return Ok(());
    };
    check_file(path, JUNIT).map_err(|error| not_written(&error.to_string(), &error.remedy))?;
    for (scenario, _) in ready {
        let results = arguments.out.join(&scenario.name);
        if lies_in(path, &results) {
            let what = format!(
                "cannot write to `{}`: the results in `{}` are replaced as a whole",
                path.display(),
                results.display()
            );
            return Err(not_written(
                &what,
                "choose a --junit file beside that folder",
            ));
        }
    }
    if without {
        tell("warning: no scenario has a [[check]], so the --junit file will be empty");
    }
    Ok(())
}

/// Whether a path lies in a folder, both as written and as they are.
fn lies_in(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.into());
    let above = path.parent().unwrap_or(Path::new(""));
    path.starts_with(folder) || real(above).starts_with(real(folder))
}

/// The command that repeats a run, for a shell.
pub(super) fn repeat(scenario: &Scenario, seed: u64, arguments: &RunArguments) -> String {
    let mut words = vec!["retrystorm run".to_owned()];
    let file = &scenario.document.name;
    words.push(quoted(&match file.starts_with('-') {
        true => format!("./{file}"),
        false => file.clone(),
    }));
    let mut option = |name: &str, value: &str| {
        // A value that looks like an option has to be tied to its own.
        let tie = if value.starts_with('-') { "=" } else { " " };
        words.push(format!("{name}{tie}{}", quoted(value)));
    };
    option("--seed", &seed.to_string());
    let replications = arguments.replications.map(|number| number.to_string());
    replications
        .iter()
        .for_each(|number| option("--replications", number));
    arguments
        .precision
        .iter()
        .for_each(|share| option("--precision", share));
    arguments
        .set
        .iter()
        .for_each(|setting| option("--set", setting));
    arguments
        .only
        .iter()
        .for_each(|strategy| option("--only", strategy));
    let switches = [
        (arguments.events, "--events"),
        (arguments.until_decided, "--until-decided"),
        (arguments.allow_undecided, "--allow-undecided"),
    ];
    let given = switches.iter().filter(|(given, _)| *given);
    words.extend(given.map(|(_, name)| (*name).to_owned()));
    words.join(" ")
}

/// `text` as a single word of a shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%+,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        for (text, word) in [
            ("run.duration=30s", "run.duration=30s"),
            ("full jitter", "'full jitter'"),
            ("it's $HOME", r"'it'\''s $HOME'"),
            ("", "''"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(text), word);
        }
    }
}
