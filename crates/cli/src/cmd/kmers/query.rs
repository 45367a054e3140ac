//! `gyrase kmers query`.

use std::fmt::Write;
use std::path::PathBuf;
use std::slice;

use clap::Args;
use gyrase_count::query::{self, Config};
use gyrase_table::gyk::Database;
use serde_json::json;

use crate::cmd::counts::note_databases;
use crate::failure::{Failure, Result};
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::{self, Sink};

const EXAMPLES: &str = "\
Examples:
  gyrase kmers query s.gyk GATTACAGATTACAGATTACAGATTACAGAT    KMER<TAB>count
  gyrase kmers query s.gyk --reads contigs.fa               a line a sequence
  gyrase kmers query s.gyk --reads contigs.fa --all         with every count

For sequences the columns are name, k-mers, how many of them the database has,
mean and median count, and with --all the counts in order, `.` for no k-mer.";

/// Look up k-mers, or all k-mers of sequences.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Query {
    /// The database
    #[arg(value_name = "DATABASE.gyk")]
    database: PathBuf,

    /// k-mers to look up; on either strand unless the database is stranded
    #[arg(value_name = "KMER", required_unless_present = "reads")]
    kmers: Vec<String>,

    /// Sequences to look up, FASTA or FASTQ, plain or compressed; `-` for a pipe
    #[arg(long, short, value_name = "FILE", num_args = 1.., conflicts_with = "kmers")]
    reads: Vec<PathBuf>,

    /// Also print the count of every k-mer of a sequence
    #[arg(long, requires = "reads")]
    all: bool,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Query {
    /// Prints the counts.
    pub fn run(self, session: &Session) -> Result<()> {
        session.note("inputs", self.database.display().to_string());
        session.keep_apart(
            self.reads.iter().chain([&self.database]),
            [or_standard_output(&self.output)],
        )?;
        note_databases(slice::from_ref(&self.database), session)?;
        if self.reads.is_empty() {
            self.look_up()
        } else {
            self.profile(session)
        }
    }

    fn look_up(&self) -> Result<()> {
        let database = Database::open(&self.database)?;
        let mut text = String::new();
        for kmer in &self.kmers {
            let count = query::look_up(&database, kmer)?;
            writeln!(text, "{kmer}\t{count}").map_err(Failure::usage)?;
        }
        sink::write_all(self.output.as_deref(), text.as_bytes())
    }

    fn profile(self, session: &Session) -> Result<()> {
        let config = Config {
            database: self.database,
            inputs: self.reads,
            all_counts: self.all,
            threads: session.threads,
        };
        let mut sink = Sink::open(self.output.as_deref())?;
        let summary = session.shown(|progress| query::run(&config, &mut sink, progress));
        let summary = summary.map_err(|error| sink.failure(error))?;
        sink.finish()?;
        session.note(
            "counts",
            json!({
                "sequences": summary.sequences, "kmers": summary.kmers, "present": summary.present,
            }),
        );
        Ok(())
    }
}
