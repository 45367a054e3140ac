//! `gyrase graph to-gfa`.

use std::path::PathBuf;

use clap::Args;
use gyrase_assemble::gfa::{GfaError, unitigs_to_gfa};
use gyrase_picture::words::things;
use serde_json::json;

use crate::cmd::counts::length;
use crate::failure::{Failure, Result};
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase graph to-gfa reads.unitigs.fa -o reads.gfa
  gyrase graph to-gfa reads.unitigs.fa.gz -k 31 | gyrase graph info -

The FASTA has headers as BCALM 2 writes them: `>12 LN:i:38 KC:i:16 km:f:2.0
L:-:17:+`. k follows from the overlaps and the counts; -k says it where they
do not tell. Linked unitigs that do not overlap by k-1 letters are refused.";

/// Make GFA 1 of unitigs that BCALM 2 or `gyrase unitigs` wrote as FASTA.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ToGfa {
    /// The unitigs, plain or compressed; `-` for a pipe
    #[arg(value_name = "UNITIGS.fa")]
    unitigs: PathBuf,

    /// Length of the k-mers that they are made of [default: what fits all unitigs]
    #[arg(short, value_name = "K", value_parser = length)]
    k: Option<usize>,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE.gfa")]
    output: Option<PathBuf>,
}

impl ToGfa {
    /// Writes the graph, and says what it is of.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.unitigs], [or_standard_output(&self.output)])?;
        let mut sink = Sink::open(self.output.as_deref())?;
        let written = unitigs_to_gfa(&self.unitigs, self.k, session.memory, &mut sink);
        let written = written.map_err(|error| match error {
            GfaError::Sink(source) => sink.error(source).into(),
            error => Failure::from(error),
        })?;
        sink.finish()?;
        session.note("inputs", self.unitigs.display().to_string());
        session.note(
            "counts",
            json!({"k": written.k, "segments": written.segments, "links": written.links}),
        );
        tracing::info!(
            segments = written.segments,
            links = written.links,
            "{} of {}-mers, {}",
            things(written.segments, "unitig"),
            written.k,
            things(written.links, "link")
        );
        Ok(())
    }
}
