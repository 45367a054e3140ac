//! The files of one sample: they are opened before any work, written, and finished together.

use std::path::PathBuf;

use gyrase_classify::abundance::{self, Abundance};
use gyrase_classify::report::{self, Kreport, Profile, Sample};
use gyrase_classify::tally::Tally;
use gyrase_classify::taxonomy::{Rank, Taxonomy};

use super::reports::Form;
use crate::failure::Result;
use crate::sink::Sink;

/// Where the outputs of a sample go.
#[derive(Clone, Debug)]
pub struct Places {
    /// A line for each read; nothing where they are not wanted, `-` for standard output.
    pub answers: Option<PathBuf>,
    /// The reports.
    pub reports: Vec<(Form, PathBuf)>,
    /// The rank of their estimates.
    pub rank: Rank,
}

impl Places {
    /// The files that are named.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.answers.iter().chain(self.reports.iter().map(|(_, path)| path))
    }

    /// How many outputs go to standard output.
    pub fn to_stdout(&self) -> usize {
        self.files().filter(|path| path.as_os_str() == "-").count()
    }

    /// Opens all.
    pub fn open(&self) -> Result<Outputs> {
        let report = |(form, path): &(Form, PathBuf)| Ok((*form, Sink::open(Some(path))?));
        let answers = self.answers.as_ref().map_or(Ok(Sink::Nowhere), |path| Sink::open(Some(path)))?;
        let reports = self.reports.iter().map(report).collect::<Result<_>>()?;
        Ok(Outputs { answers, reports, rank: self.rank })
    }
}

/// The outputs of a sample under construction; dropped before [`Outputs::finish`], none appears.
pub struct Outputs {
    /// Takes a line for each read.
    pub answers: Sink,
    reports: Vec<(Form, Sink)>,
    rank: Rank,
}

impl Outputs {
    /// Writes the reports of a sample whose reads are all answered, and publishes everything.
    pub fn finish(mut self, taxonomy: &Taxonomy, tally: &Tally, sample: &str) -> Result<()> {
        for (form, sink) in &mut self.reports {
            let written = write(*form, self.rank, taxonomy, &Sample { name: sample, tally }, sink);
            written.map_err(|source| sink.error(source))?;
        }
        self.answers.finish()?;
        self.reports.into_iter().try_for_each(|(_, sink)| sink.finish())
    }
}

fn write(form: Form, rank: Rank, taxonomy: &Taxonomy, sample: &Sample, out: &mut Sink) -> std::io::Result<()> {
    let &Sample { name, tally } = sample;
    let estimates = || Abundance::new(taxonomy, tally, rank);
    match form {
        Form::Kreport => report::kreport(taxonomy, tally, Kreport::default(), out),
        Form::Mpa => report::mpa(taxonomy, tally, out),
        Form::Cami => report::cami(taxonomy, name, &Profile::of_reads(tally), out),
        Form::Html => report::html(taxonomy, &format!("Taxa of {name}"), &[*sample], out),
        Form::Bracken => report::bracken(taxonomy, &estimates(), out),
        Form::Abundance => abundance::table(taxonomy, &estimates(), out),
    }
}
