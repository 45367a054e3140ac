//! One file a verb: arguments -> `Config` of a library -> run -> print.

mod cite;
mod completions;
mod man;

use clap::Subcommand;

use crate::failure::Result;
use crate::session::Session;

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print the completion script of a shell.
    Completions(completions::Completions),
    /// Print the manual page, or write one for every verb into a folder.
    Man(man::Man),
    /// Say how to cite Gyrase.
    Cite(cite::Cite),
}

/// Runs a verb.
pub fn run(command: Command, _session: &Session) -> Result<()> {
    match command {
        Command::Completions(verb) => verb.run(),
        Command::Man(verb) => verb.run(),
        Command::Cite(verb) => verb.run(),
    }
}
