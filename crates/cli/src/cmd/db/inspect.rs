//! `gyrase db inspect`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use gyrase_classify::report::{Kreport, kreport};
use gyrase_classify::{Contents, Index, inspect};
use gyrase_kmer::Choice;
use gyrase_picture::words::{grouped, things};
use serde_json::json;

use crate::failure::Result;
use crate::places::or_standard_output;
use crate::session::Session;
use crate::sink::Sink;

const EXAMPLES: &str = "\
Examples:
  gyrase db inspect refs.gydb -o inspect.txt
  gyrase db inspect refs.gydb | awk '$4 == \"S\"'       features of each species
  gyrase db inspect refs.gydb --histogram              locations of a feature

Lines that begin with # say how the database was made. The others have, between
tabs: percent of all features, features of the clade, features of this very
taxon, letter of the rank, taxid, name. A feature is a k-mer that the database
keeps. It counts for the lowest taxon that all references with it share.";

/// Print the features (k-mers kept) of every taxon, as `kraken2-inspect` prints minimizers.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Inspect {
    /// The database
    #[arg(value_name = "DATABASE.gydb")]
    database: PathBuf,

    /// File to write [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Print how many k-mers were kept with how many locations instead; tab-separated
    #[arg(long)]
    histogram: bool,

    /// Also taxa of which no k-mer was kept
    #[arg(long, conflicts_with = "histogram")]
    zeros: bool,
}

impl Inspect {
    /// Counts and prints.
    pub fn run(self, session: &Session) -> Result<()> {
        session.keep_apart([&self.database], [or_standard_output(&self.output)])?;
        let index = Index::open(&self.database)?;
        let contents = session.shown(|progress| inspect(&index, session.threads, progress))?;
        session.note("inputs", self.database.display().to_string());
        let (all, without) = (contents.tally.total(), contents.tally.unclassified());
        session.note(
            "counts",
            json!({"features": all, "without_taxon": without, "taxa": index.taxonomy.len()}),
        );
        let mut sink = Sink::open(self.output.as_deref())?;
        let written = match self.histogram {
            true => histogram(&contents, &mut sink),
            false => self.report(&index, &contents, &mut sink),
        };
        written.map_err(|source| sink.error(source))?;
        sink.finish()?;
        let taxa = grouped(contents.tally.taxa().count() as u64);
        tracing::info!(
            "{} of {taxa} taxa, {} without a taxon",
            things(all, "feature"),
            grouped(without)
        );
        Ok(())
    }

    fn report(&self, index: &Index, contents: &Contents, out: &mut dyn Write) -> io::Result<()> {
        let (sketch, table) = (&index.parameters.sketch, index.features.summary());
        let (k, window, stride) = (sketch.k(), sketch.window(), sketch.stride());
        let chosen = match sketch.choice() {
            Choice::OneIn(one_in) => format!("one in = {one_in}"),
            Choice::Smallest(smallest) => format!("smallest = {smallest}"),
        };
        writeln!(
            out,
            "# Database options: nucleotide db, k = {k}, window = {window}, stride = {stride}, \
             {chosen}"
        )?;
        writeln!(out, "# Total taxonomy nodes: {}", index.taxonomy.len())?;
        writeln!(out, "# Table size: {}", table.features)?;
        writeln!(
            out,
            "# Locations: {}, at most {} a feature",
            table.locations, table.cap
        )?;
        let shown = Kreport {
            zeros: self.zeros,
            ..Kreport::default()
        };
        kreport(&index.taxonomy, &contents.tally, shown, out)
    }
}

fn histogram(contents: &Contents, out: &mut dyn Write) -> io::Result<()> {
    let some = contents
        .histogram
        .iter()
        .enumerate()
        .filter(|(_, features)| **features > 0);
    writeln!(out, "locations\tfeatures")?;
    some.into_iter()
        .try_for_each(|(locations, features)| writeln!(out, "{locations}\t{features}"))
}
