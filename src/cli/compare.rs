//! `compare`: two runs, before and after a change.

use super::terminal::{Look, not_written, print, tell};
use super::{CompareArguments, Failure};
use crate::experiment::{BeforeAfter, Recorded, before_after};
use crate::report::{
    BEFORE_AFTER, Style, before_after_csv, before_after_json, before_after_table, read_output,
    write_file,
};
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

/// Writes the CSV file, complete or not at all, and over nothing but an earlier one.
fn write(file: &Path, compared: &BeforeAfter) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    before_after_csv(compared, &mut bytes).expect("memory can be written to");
    write_file(file, &bytes, BEFORE_AFTER)
        .map_err(|error| not_written(&error.to_string(), &error.remedy))
}
