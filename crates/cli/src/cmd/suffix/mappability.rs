//! `gyrase mappability`.

use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{grouped, percent, things};
use gyrase_suffix::Error;
use gyrase_suffix::mappability::{self, Config, Summary};
use serde_json::json;

use super::plan;
use super::sequences::{LettersArg, Sequences, say_texts};
use crate::failure::{Failure, Result};
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase mappability genome.fa -k 50 -o k50.bedgraph
  gyrase mappability genome.fa -k 100 --both-strands -o k100.bedgraph.gz
  gyrase mappability a.fa b.fa -k 31 --counts | awk '$4 > 1'

The value at a place is 1 divided by how often the k letters from it on occur in
all files together, as GenMap has it without errors; places whose k letters are
not all bases, or leave the sequence, have no line.";

/// Say how often the k-mer at each place of a genome occurs in it, as a bedGraph.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Mappability {
    /// FASTA or FASTQ, plain or compressed; `-` for a pipe, `@list` for a list of files, a folder
    /// for the files in it that are named like such. Or a `.gysa` file
    #[arg(value_name = "GENOME", required = true)]
    sequences: Vec<PathBuf>,

    /// Letters of a k-mer: the length of reads
    #[arg(
        short, value_name = "K", default_value_t = 50,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    k: u32,

    /// Count where the reverse complement of a k-mer is, too
    #[arg(long, short)]
    both_strands: bool,

    /// Write how often k-mers occur, instead of 1 divided by that
    #[arg(long)]
    counts: bool,

    #[command(flatten)]
    letters: LettersArg,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE.bedgraph")]
    output: Option<PathBuf>,
}

impl Mappability {
    /// Counts, and writes the bedGraph.
    pub fn run(self, session: &Session) -> Result<()> {
        let sequences = Sequences::find(&self.sequences, self.letters, session)?;
        session.keep_apart(&sequences.files, [or_standard_output(&self.output)])?;
        let config = Config {
            k: self.k as usize,
            both_strands: self.both_strands,
            counts: self.counts,
            memory: session.memory,
        };
        let sorted = if self.both_strands {
            None
        } else {
            sequences.suffixes()?
        };
        let texts = sequences.texts(session)?;
        let mut sink = Sink::open(self.output.as_deref())?;
        let ran =
            session.shown(|progress| mappability::run(&config, texts, sorted, &mut sink, progress));
        let summary = ran.map_err(|error| match error {
            Error::Sink(source) => sink.error(source).into(),
            error => Failure::from(error),
        })?;
        sink.finish()?;
        sequences.note(session);
        self.say(session, &summary);
        Ok(())
    }

    /// Says what it will take.
    pub fn plan(&self, session: &Session) -> Result<()> {
        let sequences = Sequences::find(&self.sequences, self.letters, session)?;
        plan::print_sorting(session, plan::letters(&sequences)?, self.both_strands)
    }

    fn say(&self, session: &Session, found: &Summary) {
        say_texts(found.texts, found.letters);
        tracing::info!(
            places = found.places,
            unique = found.unique,
            most = found.most,
            "{} with {} letters, {} of them unique; the most frequent occurs {}",
            things(found.places, "place"),
            self.k,
            percent(found.unique, found.places),
            things(found.most, "time")
        );
        if found.places == 0 {
            tracing::warn!("no sequence has {} bases in a row", grouped(self.k.into()));
        }
        session.note(
            "parameters",
            json!({
                "k": self.k,
                "both_strands": self.both_strands,
                "counts": self.counts,
                "memory_bytes": session.memory,
            }),
        );
        session.note(
            "counts",
            json!({
                "sequences": found.texts,
                "letters": found.letters,
                "places": found.places,
                "unique": found.unique,
                "most": found.most,
            }),
        );
        session.say_end();
    }
}
