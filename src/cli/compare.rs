//! `compare`: two runs, before and after a change.

use super::terminal::{Look, print, tell};
use super::{CompareArguments, Failure};
use crate::experiment::{BeforeAfter, Recorded, before_after};
use crate::report::{Style, before_after_csv, before_after_json, before_after_table, read_output};
use std::io::Write as _;
use std::path::Path;

pub(super) fn compare(arguments: &CompareArguments) -> Result<(), Failure> {
    // Both are read first, so that both can be said to be wrong.
    let both = [&arguments.a, &arguments.b].map(|dir| read(dir));
    let [Some(a), Some(b)] = both else {
        return Err(Failure::Input);
    };
    let compared = before_after(&a, &b);
    let names = [&arguments.a, &arguments.b].map(|dir| dir.display().to_string());
    let names = [names[0].as_str(), names[1].as_str()];
    if let Some(file) = &arguments.csv {
        write(file, &compared)?;
    }
    if arguments.json {
        return print(&before_after_json(&compared, names));
    }
    let look = Look::of_stdout();
    let style = Style {
        colour: look.colour,
        unicode: look.unicode,
    };
    let cost = b.scenario.spec.cost.as_ref();
    let currency = cost.map_or("", |cost| cost.currency.as_str());
    print(&before_after_table(
        &compared, names, currency, look.width, style,
    ))
}

fn read(dir: &Path) -> Option<Recorded> {
    let read = read_output(dir).map_err(|error| {
        tell(&super::terminal::clean(&format!("error: {error}")));
        tell(&format!("  help: {}", error.remedy));
    });
    read.ok()
}

/// Writes the CSV file, complete or not at all.
fn write(file: &Path, compared: &BeforeAfter) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    before_after_csv(compared, &mut bytes).expect("memory can be written to");
    let parent = file
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // It will be the file: with the permissions a common new file gets.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let written = builder
        .tempfile_in(parent.unwrap_or(Path::new(".")))
        .and_then(|mut fresh| {
            fresh.write_all(&bytes)?;
            fresh.persist(file).map_err(|error| error.error)
        });
    written.map(|_| ()).map_err(|error| {
        tell(&format!(
            "error: cannot write to `{}`: {error}",
            file.display()
        ));
        tell("  help: name a file in a folder where you may write");
        Failure::Run
    })
}
