//! `gyrase repeats`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use gyrase_fastx::Complete;
use gyrase_picture::words::{grouped, things};
use gyrase_suffix::Error;
use gyrase_suffix::repeats::{self, Config, RepeatKind, Spread, Summary};
use serde_json::json;

use super::plan;
use super::sequences::{LettersArg, Sequences, say_texts};
use crate::failure::{Failure, Result};
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase repeats genome.fa -l 100 -o repeats.tsv
  gyrase repeats genome.fa -l 100 --both-strands --supermaximal
  gyrase repeats a.fa b.fa -l 500 --between-files -o shared.tsv
  gyrase repeats proteins.faa -l 40 --duplicates same.tsv -o repeats.tsv

A maximal repeat occurs at least twice, and would lose copies if it were longer.
Each line is a copy: the number of its repeat, letters and copies of that, the
sequence, the first and last place from 1, strand, and which of the files.";

/// Find what occurs twice in sequences: maximal repeats, and sequences that are equal.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Repeats {
    /// FASTA or FASTQ, plain or compressed, nucleotides or proteins; `-` for a pipe, `@list` for a
    /// list of files, a folder for the files in it that are named like such. Or a `.gysa` file
    #[arg(value_name = "SEQUENCES", required = true)]
    sequences: Vec<PathBuf>,

    /// Letters of the shortest repeat
    #[arg(
        short = 'l', long, value_name = "LETTERS", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    length: u32,

    /// Take a reverse complement for a copy too
    #[arg(long, short)]
    both_strands: bool,

    /// Tell only repeats of which no copy lies within a longer repeat
    #[arg(long)]
    supermaximal: bool,

    /// Tell only repeats with copies in at least two files
    #[arg(long, conflicts_with = "within_file")]
    between_files: bool,

    /// Tell only repeats with at least two copies in one file
    #[arg(long)]
    within_file: bool,

    #[command(flatten)]
    letters: LettersArg,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write which sequences equal others from end to end
    #[arg(long, value_name = "FILE")]
    duplicates: Option<PathBuf>,
}

impl Repeats {
    /// Finds the repeats and writes them.
    pub fn run(self, session: &Session) -> Result<()> {
        let sequences = Sequences::find(&self.sequences, self.letters, session)?;
        let outputs = [or_standard_output(&self.output)];
        let outputs = outputs.into_iter().chain(&self.duplicates);
        session.keep_apart(&sequences.files, outputs)?;
        let config = self.config(session);
        let sorted = if self.both_strands {
            None
        } else {
            sequences.suffixes()?
        };
        let texts = sequences.texts(session)?;
        let mut sink = Sink::open(self.output.as_deref())?;
        let duplicates = self.duplicates.as_deref();
        let mut duplicates = duplicates.map(|path| Sink::open(Some(path))).transpose()?;
        let ran = session.shown(|progress| {
            let duplicates = duplicates.as_mut().map(|sink| sink as &mut dyn Write);
            repeats::run(&config, texts, sorted, &mut sink, duplicates, progress)
        });
        let summary = ran.map_err(|error| match error {
            Error::Sink(source) => sink.error(source).into(),
            error => Failure::from(error),
        })?;
        let complete = [Some(sink), duplicates]
            .into_iter()
            .flatten()
            .map(Sink::complete);
        for one in complete.collect::<Result<Vec<_>>>()? {
            one.map_or(Ok(()), Complete::publish)?;
        }
        sequences.note(session);
        self.say(session, &config, &summary);
        Ok(())
    }

    /// Says what it will take.
    pub fn plan(&self, session: &Session) -> Result<()> {
        let sequences = Sequences::find(&self.sequences, self.letters, session)?;
        plan::print_sorting(session, plan::letters(&sequences)?, self.both_strands)
    }

    fn config(&self, session: &Session) -> Config {
        Config {
            least: self.length as usize,
            kind: match self.supermaximal {
                true => RepeatKind::Supermaximal,
                false => RepeatKind::Maximal,
            },
            spread: match (self.between_files, self.within_file) {
                (true, _) => Spread::BetweenFiles,
                (_, true) => Spread::WithinFile,
                _ => Spread::Anywhere,
            },
            both_strands: self.both_strands,
            memory: session.memory,
        }
    }

    fn say(&self, session: &Session, config: &Config, found: &Summary) {
        say_texts(found.texts, found.letters);
        let copies = match found.copies {
            1 => "1 copy".to_owned(),
            copies => format!("{} copies", grouped(copies)),
        };
        tracing::info!(
            repeats = found.repeats,
            copies = found.copies,
            duplicates = found.duplicates,
            "{} with {copies}, the longest of {}; {}",
            things(found.repeats, "repeat"),
            things(found.longest, "letter"),
            things(found.duplicates, "duplicate sequence")
        );
        session.note(
            "parameters",
            json!({
                "least": config.least,
                "both_strands": config.both_strands,
                "supermaximal": self.supermaximal,
                "between_files": self.between_files,
                "within_file": self.within_file,
                "memory_bytes": session.memory,
            }),
        );
        session.note(
            "counts",
            json!({
                "sequences": found.texts,
                "letters": found.letters,
                "repeats": found.repeats,
                "copies": found.copies,
                "longest": found.longest,
                "duplicates": found.duplicates,
            }),
        );
        session.say_end();
    }
}
