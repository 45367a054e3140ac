//! `gyrase index`: databases of sequences for `gyrase search`.

mod build;
mod get;
mod info;

use clap::{Args, Subcommand};

use crate::failure::Result;
use crate::session::Session;

const EXAMPLES: &str = "\
Examples:
  gyrase index refs.fa.gz -o refs.gysd                 as `index build`
  gyrase index refs.faa --taxonomy taxdump/ --map prot.accession2taxid.gz \\
      -o refs.gysd
  gyrase index nr -o nr.gysd                           of a BLAST database
  gyrase index add refs.gysd new.faa
  gyrase index info refs.gysd
  gyrase index get refs.gysd P12345 WP_000000001.1:20-80
  gyrase index verify refs.gysd
  gyrase search q.faa --db refs.gysd new.faa";

/// Build databases of sequences for `search`, look into them, and take sequences out.
#[derive(Debug, Args)]
#[command(
    after_help = EXAMPLES,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
pub struct Index {
    #[command(subcommand)]
    what: Option<What>,

    #[command(flatten)]
    build: build::Build,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Build a database of files of sequences and of other databases
    Build(build::Build),
    /// Add sequences to a database
    Add(build::Add),
    /// Say what a database holds
    Info(info::Info),
    /// Print sequences as FASTA, by name and range, or all
    Get(get::Get),
    /// Read all of a database and check it
    Verify(info::Verify),
}

impl Index {
    /// Does it.
    pub fn run(self, session: &Session) -> Result<()> {
        match self.what {
            None => self.build.run(session),
            Some(What::Build(verb)) => verb.run(session),
            Some(What::Add(verb)) => verb.run(session),
            Some(What::Info(verb)) => verb.run(session),
            Some(What::Get(verb)) => verb.run(session),
            Some(What::Verify(verb)) => verb.run(session),
        }
    }
}
