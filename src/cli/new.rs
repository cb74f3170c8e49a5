//! `new`: a scenario to begin with.

use super::Failure;
use super::terminal::{clean, not_written, print, tell};
use crate::catalogue::{GALLERY, STARTER};
use crate::decode::{nearest, shown};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  retrystorm new mine.toml\n  retrystorm new stall.toml --from stuck_after_stall\n\nScenarios of the gallery: retrystorm new --gallery"
)]
pub(super) struct NewArguments {
    /// The file to write; it must not be there yet.
    #[arg(value_name = "FILE", required_unless_present = "gallery")]
    file: Option<PathBuf>,
    /// A scenario of the gallery, or a file, to copy instead of the starter.
    #[arg(long, value_name = "SCENARIO")]
    from: Option<String>,
    /// Name the scenarios of the gallery, and write nothing.
    #[arg(long, exclusive = true)]
    gallery: bool,
}

pub(super) fn new(arguments: &NewArguments) -> Result<(), Failure> {
    let Some(file) = &arguments.file else {
        return print(&gallery());
    };
    let text = match &arguments.from {
        None => STARTER.to_owned(),
        Some(name) => find(name)?,
    };
    write(file, &text)?;
    let name = clean(&file.display().to_string());
    print(&format!("wrote {name}\nnext: retrystorm run {name}\n"))
}

/// The names of the gallery with their questions.
fn gallery() -> String {
    let question = |text: &str| {
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches('#').trim().to_owned()
    };
    let lines = GALLERY
        .iter()
        .map(|(name, text)| format!("{name}\n  {}\n", question(text)));
    lines.collect()
}

/// A scenario of the gallery, or the text of a file.
fn find(name: &str) -> Result<String, Failure> {
    let short = name.strip_suffix(".toml").unwrap_or(name);
    if let Some((_, text)) = GALLERY.iter().find(|(known, _)| *known == short) {
        return Ok((*text).into());
    }
    if let Ok(text) = std::fs::read_to_string(name) {
        return Ok(text);
    }
    tell(&format!(
        "error: there is no scenario `{}`, and no such file",
        shown(name)
    ));
    let near = nearest(short, GALLERY.iter().map(|(known, _)| *known));
    let remedy = near.map_or_else(
        || "`retrystorm new --gallery` names all".into(),
        |near| format!("did you mean `{near}`?"),
    );
    tell(&format!("  help: {remedy}"));
    Err(Failure::Input)
}

/// Writes a file that is not there yet.
fn write(file: &Path, text: &str) -> Result<(), Failure> {
    let name = clean(&file.display().to_string());
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    match opened.and_then(|mut opened| opened.write_all(text.as_bytes())) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            tell(&format!("error: {name} is there already"));
            tell("  help: give another name, or remove it first");
            Err(Failure::Input)
        }
        Err(error) => Err(not_written(
            &format!("{name} cannot be written: {error}"),
            "give a place where files may be written",
        )),
    }
}
