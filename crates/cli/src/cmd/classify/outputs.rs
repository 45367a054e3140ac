//! The files of one sample: they are opened before any work, written, and finished together.

use std::path::PathBuf;

use gyrase_classify::report::{NamedTally, Origin};
use gyrase_classify::{Catalogue, Columns, Extract, Summary, TaxonReport, Wanted};
use gyrase_fastx::{Complete, PairsWritten};
use gyrase_taxonomy::{Rank, Taxonomy};

use super::{extras, plots};
use crate::failure::Result;
use crate::session::Session;
use crate::sink::{Folder, Sink};

/// Where the outputs of a sample go.
#[derive(Clone, Debug)]
pub struct Places {
    /// A line for each read; nothing where they are not wanted, `-` for standard output.
    pub answers: Option<PathBuf>,
    /// The reports.
    pub reports: Vec<(TaxonReport, PathBuf)>,
    /// The rank of their estimates.
    pub rank: Rank,
    /// What the lines of reads tell.
    pub columns: Columns,
    /// Files for some of the reads.
    pub extracts: Vec<extras::ReadsOutput>,
    /// Folder of plots of coverage.
    pub plots: Option<PathBuf>,
}

impl Places {
    /// The files that are named.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let reports = self.reports.iter().map(|(_, path)| path);
        self.answers
            .iter()
            .chain(reports)
            .chain(self.extracts.iter().flat_map(extras::ReadsOutput::files))
    }

    /// What these outputs take beside reads per taxon.
    fn wanted(&self) -> Wanted {
        Wanted {
            evidence: self
                .reports
                .iter()
                .any(|(report, _)| report.needs_evidence()),
            depth: self.plots.is_some(),
        }
    }

    /// Opens all, for reads with taxa of `taxonomy`.
    fn open(&self, taxonomy: &Taxonomy) -> Result<Outputs> {
        let report = |(of, path): &(TaxonReport, PathBuf)| Ok((*of, Sink::open(Some(path))?));
        let answers = self
            .answers
            .as_ref()
            .map_or(Ok(Sink::NOWHERE), |path| Sink::open(Some(path)))?;
        let reports = self.reports.iter().map(report).collect::<Result<_>>()?;
        let extracts = self
            .extracts
            .iter()
            .map(|place| place.open(taxonomy))
            .collect::<Result<_>>()?;
        let plots = self.plots.as_deref().map(Folder::open).transpose()?;
        Ok(Outputs {
            answers,
            extracts,
            reports,
            plots,
            ..self.elsewhere()
        })
    }

    /// Opens all in the first process of a job; the others give it their answers.
    pub fn open_in(&self, session: &Session, taxonomy: &Taxonomy) -> Result<Outputs> {
        match session.is_first() {
            true => self.open(taxonomy),
            false => Ok(self.elsewhere()),
        }
    }

    /// The outputs of a process whose answers another one writes: none.
    fn elsewhere(&self) -> Outputs {
        Outputs {
            answers: Sink::NOWHERE,
            extracts: Vec::new(),
            reports: Vec::new(),
            rank: self.rank,
            plots: None,
            extracted: !self.extracts.is_empty(),
            wanted: self.wanted(),
            columns: self.columns,
        }
    }
}

/// The outputs of a sample under construction; dropped before [`Outputs::finish`], none appears.
pub struct Outputs {
    /// Takes a line for each read.
    pub answers: Sink,
    /// Take some of the reads.
    pub extracts: Vec<Extract>,
    /// True where some reads are extracted, here or in another process.
    pub extracted: bool,
    /// What is accumulated for the reports.
    pub wanted: Wanted,
    /// What the lines of reads tell.
    pub columns: Columns,
    reports: Vec<(TaxonReport, Sink)>,
    rank: Rank,
    plots: Option<Folder>,
}

impl Outputs {
    /// Writes the reports of a sample whose reads are all answered, and publishes everything.
    pub fn finish(
        mut self,
        (catalogue, origin): (&Catalogue, &Origin),
        summary: &Summary,
        name: &str,
    ) -> Result<()> {
        let sample = NamedTally {
            name,
            tally: &summary.tally,
        };
        for (report, sink) in &mut self.reports {
            let written = report.write(self.rank, (catalogue, origin), &sample, sink);
            written.map_err(|source| sink.error(source))?;
        }
        let draw = |folder| plots::draw(folder, catalogue, &summary.depth);
        let plots = self.plots.as_ref().map_or(Ok(Vec::new()), draw)?;
        let written = self
            .extracts
            .into_iter()
            .map(|extract| Ok(extract.to.complete()?))
            .collect::<Result<Vec<_>>>()?;
        let reports = self.reports.into_iter().map(|(_, sink)| sink);
        let sinks = [self.answers].into_iter().chain(reports);
        // A disk that is full is noticed before the first of them appears.
        let sinks = sinks.map(Sink::complete).collect::<Result<Vec<_>>>()?;
        let plots = plots.into_iter().map(Sink::complete);
        let plots = plots.collect::<Result<Vec<_>>>()?;
        sinks
            .into_iter()
            .flatten()
            .try_for_each(Complete::publish)?;
        let mut plots = plots.into_iter().flatten();
        plots.try_for_each(Complete::publish_unsynced)?;
        written.into_iter().try_for_each(PairsWritten::publish)?;
        if let Some(folder) = self.plots {
            folder.keep();
        }
        Ok(())
    }
}
