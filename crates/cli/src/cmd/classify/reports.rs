//! The reports of `gyrase classify`, each into its file.

use std::io;
use std::path::PathBuf;

use clap::{ArgGroup, Args};
use gyrase_classify::abundance::{self, Abundance};
use gyrase_classify::report::{self, Kreport, Profile, Sample};
use gyrase_classify::tally::Tally;
use gyrase_classify::taxonomy::{Rank, Taxonomy};

use crate::failure::Result;
use crate::sink::Sink;

/// The reports that are wanted.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reports", group = ArgGroup::new("estimates").multiple(true).args(["bracken", "abundance_out"]))]
pub struct Reports {
    /// Reads of every taxon, as Kraken 2's --report lists them, for MultiQC, Bracken and Pavian
    #[arg(long, value_name = "FILE")]
    kreport: Option<PathBuf>,

    /// Reads of every taxon by its lineage, as MetaPhlAn writes it
    #[arg(long, value_name = "FILE")]
    mpa: Option<PathBuf>,

    /// Profile in the format of CAMI: percent of all reads
    #[arg(long, value_name = "FILE")]
    cami: Option<PathBuf>,

    /// Interactive page of all taxa in one file; needs no network
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,

    /// Estimated reads of the taxa of a rank in Bracken's columns
    #[arg(long, value_name = "FILE")]
    bracken: Option<PathBuf>,

    /// Estimated reads and shares of the taxa of a rank, and what was left above it
    #[arg(long, value_name = "FILE")]
    abundance_out: Option<PathBuf>,

    /// The rank of --bracken and --abundance-out, domain to species [default: species]
    #[arg(long, value_name = "RANK", value_parser = rank, requires = "estimates")]
    abundance: Option<Rank>,
}

fn rank(text: &str) -> std::result::Result<Rank, String> {
    Rank::from_name(&text.to_lowercase()).ok_or_else(|| {
        let names: Vec<&str> = Rank::ALL.into_iter().map(Rank::name).collect();
        format!("write one of {}", names.join(", "))
    })
}

#[derive(Clone, Copy)]
enum Form {
    Kreport,
    Mpa,
    Cami,
    Html,
    Bracken,
    Abundance,
}

impl Reports {
    fn all(&self) -> impl Iterator<Item = (Form, &PathBuf)> {
        let all = [
            (Form::Kreport, &self.kreport),
            (Form::Mpa, &self.mpa),
            (Form::Cami, &self.cami),
            (Form::Html, &self.html),
            (Form::Bracken, &self.bracken),
            (Form::Abundance, &self.abundance_out),
        ];
        all.into_iter().filter_map(|(form, path)| Some((form, path.as_ref()?)))
    }

    /// Their files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.all().map(|(_, path)| path)
    }

    /// The rank of the estimates.
    pub fn rank(&self) -> Rank {
        self.abundance.unwrap_or(Rank::Species)
    }

    /// Opens the files, before any work is done for them.
    pub fn open(&self) -> Result<Vec<Sink>> {
        self.paths().map(|path| Sink::open(Some(path))).collect()
    }

    /// Writes every report into its sink of those that [`Reports::open`] opened; they are yet to be finished.
    pub fn write(&self, sinks: Vec<Sink>, taxonomy: &Taxonomy, tally: &Tally, sample: &str) -> Result<Vec<Sink>> {
        let write = |((form, _), mut sink): ((Form, _), Sink)| {
            let written = self.write_one(form, taxonomy, tally, sample, &mut sink);
            written.map_err(|source| sink.error(source))?;
            Ok(sink)
        };
        self.all().zip(sinks).map(write).collect()
    }

    fn write_one(
        &self,
        form: Form,
        taxonomy: &Taxonomy,
        tally: &Tally,
        name: &str,
        out: &mut dyn io::Write,
    ) -> io::Result<()> {
        let estimates = || Abundance::new(taxonomy, tally, self.rank());
        match form {
            Form::Kreport => report::kreport(taxonomy, tally, Kreport::default(), out),
            Form::Mpa => report::mpa(taxonomy, tally, out),
            Form::Cami => report::cami(taxonomy, name, &Profile::of_reads(tally), out),
            Form::Html => report::html(taxonomy, &format!("Taxa of {name}"), &[Sample { name, tally }], out),
            Form::Bracken => report::bracken(taxonomy, &estimates(), out),
            Form::Abundance => abundance::table(taxonomy, &estimates(), out),
        }
    }
}
