//! `gyrase db`: databases of references.

mod build;
mod info;
mod list;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase db build refs/ --taxonomy taxdump/ --map acc2taxid.gz -o refs.gydb
  gyrase db info refs.gydb
  gyrase db taxa refs.gydb | grep Escherichia
  gyrase db verify refs.gydb";

/// Build databases of references for `classify`, and look into them.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Db {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build a database of references
    Build(build::Build),
    /// Say what a database holds
    Info(info::Info),
    /// List the references: name, taxid, letters, windows, file
    Targets(list::Targets),
    /// List the taxa: taxid, rank, name, and the references at and below each
    Taxa(list::Taxa),
    /// Read all of a database and check it
    Verify(info::Verify),
}

impl Db {
    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            What::Build(verb) => verb.run(session),
            What::Info(verb) => verb.run(session),
            What::Targets(verb) => verb.run(session),
            What::Taxa(verb) => verb.run(session),
            What::Verify(verb) => verb.run(session),
        }
    }
}
