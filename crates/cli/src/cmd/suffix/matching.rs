//! `gyrase match`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gyrase_fastx::Complete;
use gyrase_picture::words::{grouped, things};
use gyrase_suffix::matching::{self, Config, Dots, MatchFormat, MatchKind, Summary};
use gyrase_suffix::{Error, Texts};
use gyrase_tabulate::Estimate;
use serde_json::json;

use super::plan;
use super::sequences::{LettersArg, Sequences, kind_name, say_texts};
use crate::cmd::folders::{self, Wanted};
use crate::failure::{Failure, Result};
use crate::places::{self, Picture, or_standard_output};
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase match ref.fa query.fa -o matches.tsv           all exact matches
  gyrase match ref.fa query.fa --mum --both-strands -l 50 -o mums.tsv
  gyrase match ref.fa query.fa --both-strands -o m.paf --plot dots.svg
  gyrase match genome.gysa r_1.fq r_2.fq -l 31 | head

The lines are those of `mummer -maxmatch -b -c`: the sequence of the reference
where there are several, the place in it, the place in the query counted along
its forward strand, from 1, and the letters. A name that ends in .paf makes PAF.
Both have the same bytes for any threads; docs/matching.md says more.";

/// Letters of a reference that are put into the index in a second, and of queries that are looked
/// up there by one thread.
const INDEXED_A_SECOND: f64 = 2e7;
const LOOKED_UP_A_SECOND: f64 = 2e7;

/// Find the exact matches between a reference and queries that cannot be longer: MEMs, MUMs.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Match {
    /// The reference: FASTA, plain or compressed, `@list` for a list of files, or `.gysa` of
    /// `gyrase suffix build`
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,

    /// The queries: FASTA or FASTQ, plain or compressed; `-` for a pipe, `@list` for a list of
    /// files, a folder for the files in it that are named like such
    #[arg(value_name = "QUERIES", required = true)]
    queries: Vec<PathBuf>,

    /// Tell all maximal exact matches (MEMs): the default
    #[arg(long, conflicts_with_all = ["mum", "mum_reference"])]
    mem: bool,

    /// Tell those whose letters occur once in the reference and once in the query (MUMs)
    #[arg(long, conflicts_with = "mum_reference")]
    mum: bool,

    /// Tell those whose letters occur once in the reference
    #[arg(long)]
    mum_reference: bool,

    /// Letters of the shortest match
    #[arg(
        short = 'l', long, value_name = "LETTERS", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    length: u32,

    /// Match the reverse complement of each query too
    #[arg(long, short)]
    both_strands: bool,

    #[command(flatten)]
    letters: LettersArg,

    /// File to make, compressed where its name says so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// How matches are written [default: paf where the output is named so, else mummer]
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Form>,

    /// Draw the matches as dots and lines, FILE.svg or FILE.png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Form {
    Mummer,
    Paf,
}

impl Match {
    /// Finds the matches and writes them.
    pub fn run(self, session: &Session) -> Result<()> {
        let picture = self.plot.as_deref().map(Picture::of).transpose()?;
        let sequences = self.sequences(session)?;
        let config = self.config(session)?;
        let outputs = [or_standard_output(&self.output)];
        session.keep_apart(
            sequences.files.iter().chain(&config.queries),
            outputs.into_iter().chain(&self.plot),
        )?;
        let reference = sequences.texts(session)?;
        let mut sink = Sink::open(self.output.as_deref())?;
        let mut dots = picture.map(|_| Dots::default());
        let ran = session.shown(|progress| {
            matching::run(&config, &reference, &mut sink, dots.as_mut(), progress)
        });
        let summary = ran.map_err(|error| match error {
            Error::Sink(source) => sink.error(source).into(),
            error => Failure::from(error),
        })?;
        let matches = sink.complete()?;
        if let Some((picture, dots)) = picture.zip(dots) {
            let names = [&self.reference, &self.queries[0]].map(|path| path.file_name());
            let names = names.map(|name| name.unwrap_or_default().to_string_lossy());
            let svg = dots.svg(&reference, [&names[0], &names[1]]);
            sink::write_all(self.plot.as_deref(), &picture.finish(svg))?;
        }
        matches.map_or(Ok(()), Complete::publish)?;
        self.say(session, &reference, &config, &summary);
        sequences.note_with(session, &config.queries);
        Ok(())
    }

    /// Says what it will take.
    pub fn plan(&self, session: &Session) -> Result<()> {
        let sequences = self.sequences(session)?;
        let config = self.config(session)?;
        let letters = plan::letters(&sequences)?;
        let longest = plan::longest(&config.queries)?;
        let taken = Estimate {
            least: config.memory_for(letters.least, longest.least),
            most: letters
                .most
                .zip(longest.most)
                .map(|(letters, longest)| config.memory_for(letters, longest)),
        };
        let sizes = config
            .queries
            .iter()
            .filter_map(|path| path.metadata().ok());
        let queries = sizes.map(|there| there.len() as f64).sum::<f64>();
        let strands = 1.0 + f64::from(u8::from(config.both_strands));
        let matching = queries * strands / LOOKED_UP_A_SECOND / config.threads as f64;
        let seconds = |letters| letters as f64 / INDEXED_A_SECOND + matching;
        plan::print(session, letters, taken, letters.most.map(seconds))
    }

    fn sequences(&self, session: &Session) -> Result<Sequences> {
        Sequences::find(std::slice::from_ref(&self.reference), self.letters, session)
    }

    fn config(&self, session: &Session) -> Result<Config> {
        Ok(Config {
            queries: folders::files(&self.queries, Wanted::Sequences, session)?,
            least: self.length as usize,
            kind: match (self.mum, self.mum_reference) {
                (true, _) => MatchKind::Unique,
                (_, true) => MatchKind::UniqueInReference,
                _ => MatchKind::All,
            },
            both_strands: self.both_strands,
            format: self.format(),
            threads: session.threads,
            memory: session.memory,
        })
    }

    fn format(&self) -> MatchFormat {
        let named_so = || {
            let name = places::without_compression(self.output.as_deref()?);
            Some(name.extension()?.eq_ignore_ascii_case("paf"))
        };
        match self.format {
            Some(Form::Paf) => MatchFormat::Paf,
            Some(Form::Mummer) => MatchFormat::Mummer,
            None if named_so() == Some(true) => MatchFormat::Paf,
            None => MatchFormat::Mummer,
        }
    }

    fn say(&self, session: &Session, reference: &Texts, config: &Config, found: &Summary) {
        say_texts(
            reference.texts.len() as u64,
            (reference.letters.len() - reference.texts.len()) as u64,
        );
        tracing::info!(
            matches = found.matches,
            longest = found.longest,
            "{} with {}: {} exact {}, the longest of {}",
            things(found.queries, "query sequence"),
            things(found.query_letters, "letter"),
            grouped(found.matches),
            if found.matches == 1 {
                "match"
            } else {
                "matches"
            },
            things(found.longest, "letter")
        );
        session.note(
            "parameters",
            json!({
                "least": config.least,
                "kind": match config.kind {
                    MatchKind::All => "mem",
                    MatchKind::Unique => "mum",
                    MatchKind::UniqueInReference => "mum-reference",
                },
                "both_strands": config.both_strands,
                "letters": kind_name(reference.kind),
                "threads": session.threads,
                "memory_bytes": session.memory,
            }),
        );
        session.note(
            "counts",
            json!({
                "reference_sequences": reference.texts.len(),
                "reference_letters": reference.letters.len() - reference.texts.len(),
                "queries": found.queries,
                "query_letters": found.query_letters,
                "matches": found.matches,
                "matched_letters": found.matched,
                "longest": found.longest,
            }),
        );
        session.say_end();
    }
}
