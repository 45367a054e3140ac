//! What the samples of a sheet give together: tables and a page of all their taxa.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gyrase_classify::report::{self, Matrix, NamedTally};
use gyrase_classify::samples::Done;
use gyrase_taxonomy::Taxonomy;

use crate::failure::Result;
use crate::sink::Sink;

/// The files, in the folder of outputs.
pub const FILES: [&str; 4] = ["taxa.tsv", "taxa.biom", "taxa.html", "summary.tsv"];

const TITLE: &str = "Taxa of all samples";

/// Those files under construction.
pub struct Together([Sink; 4]);

/// Where they are.
pub fn places(folder: &Path) -> Vec<PathBuf> {
    FILES.iter().map(|file| folder.join(file)).collect()
}

impl Together {
    /// Opens them, before any work.
    pub fn open(folder: &Path) -> Result<Together> {
        let open = |file: &str| Sink::open(Some(&folder.join(file)));
        let [tsv, biom, html, summary] = FILES;
        Ok(Together([
            open(tsv)?,
            open(biom)?,
            open(html)?,
            open(summary)?,
        ]))
    }

    /// Writes and publishes them.
    pub fn finish(mut self, taxonomy: &Taxonomy, samples: &[Done]) -> Result<()> {
        let mut matrix = Matrix::new(taxonomy);
        samples
            .iter()
            .for_each(|sample| matrix.push(&sample.name, &sample.summary.tally));
        let named: Vec<NamedTally> = samples
            .iter()
            .map(|sample| NamedTally {
                name: &sample.name,
                tally: &sample.summary.tally,
            })
            .collect();
        let [tsv, biom, html, summary] = &mut self.0;
        matrix.tsv(tsv).map_err(|source| tsv.error(source))?;
        matrix.biom(biom).map_err(|source| biom.error(source))?;
        report::html(taxonomy, TITLE, &named, html).map_err(|source| html.error(source))?;
        table(samples, summary).map_err(|source| summary.error(source))?;
        self.0.into_iter().try_for_each(Sink::finish)
    }
}

/// A row a sample.
fn table(samples: &[Done], out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "sample\treads\tclassified\tunclassified\ttaxa")?;
    for Done { name, summary, .. } in samples {
        let tally = &summary.tally;
        let (all, classified, others) = (tally.total(), tally.classified(), tally.unclassified());
        writeln!(
            out,
            "{name}\t{all}\t{classified}\t{others}\t{}",
            tally.taxa().count()
        )?;
    }
    Ok(())
}
