//! `gyrase search`.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use gyrase_picture::words::{self, grouped, things};
use gyrase_search::{Config, Summary, run, write_tabular};
use serde_json::json;

use crate::failure::{Failure, Result};
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase search proteins.faa --db refs.faa -o hits.tsv
  gyrase search proteins.faa --db refs.faa -o hits.tsv.gz --evalue 1e-5 --top 25
  gyrase search proteins.faa --db refs.faa | cut -f 1,2,11 | head

Each line of the table is an alignment, in the columns of BLAST's format 6:
query, subject, percent of identical residues, length, residues that differ,
gaps, first and last residue of the query, of the subject, E-value, bit score.
Scores, E-values and their order are those of blastp with its defaults.";

/// Search a database of proteins for the relatives of proteins.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Search {
    /// Proteins to search for; FASTA, plain or compressed; `-` for a pipe
    #[arg(value_name = "QUERIES", required = true)]
    queries: Vec<PathBuf>,

    /// Proteins to search in: FASTA files, which together are the database
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    db: Vec<PathBuf>,

    /// Table to write, compressed if its name ends so [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Report alignments of which chance would give no more than so many in the whole database
    #[arg(long, short, value_name = "E", default_value_t = 10.0, value_parser = evalue)]
    evalue: f64,

    /// Report so many subjects of a query at most, the best of the whole database
    #[arg(
        long, value_name = "N", default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..),
    )]
    top: u32,
}

fn evalue(text: &str) -> std::result::Result<f64, String> {
    let evalue = text
        .parse()
        .ok()
        .filter(|&evalue: &f64| evalue > 0.0 && evalue.is_finite());
    evalue.ok_or_else(|| "write a number above 0, such as 1e-3".into())
}

impl Search {
    /// Writes the hits.
    pub fn run(self, session: &Session) -> Result<()> {
        let inputs = self.queries.iter().chain(&self.db);
        session.keep_apart(inputs.clone(), &self.output)?;
        if inputs.filter(|path| path.as_os_str() == "-").count() > 1 {
            return Err(Failure::usage(
                "standard input can be read once: name a file for the queries or for --db",
            ));
        }
        let config = Config {
            queries: self.queries.clone(),
            subjects: self.db.clone(),
            evalue: self.evalue,
            top: self.top as usize,
            memory: session.memory,
            threads: session.threads,
        };
        let mut sink = Sink::open(self.output.as_deref())?;
        let summary = session.shown(|progress| {
            run::<Failure>(&config, progress, |queries, query, subjects, hits| {
                let written = write_tabular(&mut sink, queries, query, subjects, hits);
                Ok(written.map_err(|source| sink.error(source))?)
            })
        })?;
        sink.flush().map_err(|source| sink.error(source))?;
        sink.finish()?;
        self.note(session, &summary);
        tracing::info!(
            "{} in {} ({} residues): {} with {}, {}",
            things(summary.queries, "protein"),
            things(summary.subjects, "sequence"),
            grouped(summary.letters),
            grouped(summary.with_hits),
            things(summary.hits, "hit"),
            words::time(session.elapsed())
        );
        Ok(())
    }

    fn note(&self, session: &Session, summary: &Summary) {
        let names = |paths: &[PathBuf]| {
            let names = paths.iter().map(|path| path.display().to_string());
            names.collect::<Vec<_>>()
        };
        session.note("inputs", names(&self.queries));
        session.note("database", names(&self.db));
        let counts = json!({
            "queries": summary.queries, "with_hits": summary.with_hits, "hits": summary.hits,
            "subjects": summary.subjects, "residues": summary.letters,
        });
        session.note("counts", counts);
    }
}
