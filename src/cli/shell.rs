//! `completions`, `man` and `schema`: help outside of this program.

use super::terminal::print;
use super::{Arguments, Failure};
use crate::catalogue;
use clap::CommandFactory;
use clap_complete::Shell;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  retrystorm completions bash > /etc/bash_completion.d/retrystorm\n  retrystorm completions fish > ~/.config/fish/completions/retrystorm.fish"
)]
pub(super) struct CompletionsArguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  retrystorm schema > scenario.schema.json\n\nEditors that know Taplo complete keys when a scenario begins with the line\n  #:schema scenario.schema.json"
)]
pub(super) struct SchemaArguments {}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  retrystorm man > retrystorm.1")]
pub(super) struct ManArguments {}

pub(super) fn completions(arguments: &CompletionsArguments) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "retrystorm", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// The JSON Schema of scenarios.
pub(super) fn schema() -> Result<(), Failure> {
    print(&format!("{:#}\n", catalogue::schema()))
}

/// The manual page, with a section for each command.
pub(super) fn man() -> Result<(), Failure> {
    let mut page = Vec::new();
    let command = Arguments::command();
    let mut written = clap_mangen::Man::new(command.clone()).render(&mut page);
    for part in command.get_subcommands() {
        let name = format!("retrystorm {}", part.get_name());
        let part = clap_mangen::Man::new(part.clone().name(name));
        written = written
            .and_then(|()| part.render_name_section(&mut page))
            .and_then(|()| part.render_synopsis_section(&mut page))
            .and_then(|()| part.render_options_section(&mut page))
            .and_then(|()| part.render_extra_section(&mut page));
    }
    // A list of bytes takes all that is written.
    written.map_err(|_| Failure::Run)?;
    print(&String::from_utf8_lossy(&page))
}
