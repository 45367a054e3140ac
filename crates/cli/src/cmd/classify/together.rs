//! What the samples of a sheet give together: tables and a page of all their taxa.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gyrase_classify::report::{self, Matrix, NamedTally, Origin};
use gyrase_classify::samples::Done;
use gyrase_taxonomy::{Rank, Taxon, Taxonomy};
use serde_json::json;

use crate::failure::Result;
use crate::multiqc::{self, PERCENT, WHOLE, WORDS};
use crate::sink::Sink;

/// The files, in the folder of outputs.
pub const FILES: [&str; 5] = [
    "taxa.tsv",
    "taxa.biom",
    "taxa.html",
    "summary.tsv",
    "summary_mqc.json",
];

const TITLE: &str = "Taxa of all samples";

/// Those files under construction.
pub struct Together([Sink; 5]);

/// Where they are.
pub fn places(folder: &Path) -> Vec<PathBuf> {
    FILES.iter().map(|file| folder.join(file)).collect()
}

impl Together {
    /// Opens them, before any work.
    pub fn open(folder: &Path) -> Result<Together> {
        let open = |file: &str| Sink::open(Some(&folder.join(file)));
        let [tsv, biom, html, summary, multiqc] = FILES;
        Ok(Together([
            open(tsv)?,
            open(biom)?,
            open(html)?,
            open(summary)?,
            open(multiqc)?,
        ]))
    }

    /// Writes and publishes them.
    pub fn finish(mut self, taxonomy: &Taxonomy, origin: &Origin, samples: &[Done]) -> Result<()> {
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
        let [tsv, biom, html, summary, multiqc] = &mut self.0;
        matrix.tsv(tsv).map_err(|source| tsv.error(source))?;
        matrix.biom(biom).map_err(|source| biom.error(source))?;
        report::html(taxonomy, TITLE, &named, origin, html).map_err(|source| html.error(source))?;
        table(samples, summary).map_err(|source| summary.error(source))?;
        let written = multiqc.write_all(&for_multiqc(taxonomy, samples));
        written.map_err(|source| multiqc.error(source))?;
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

/// The same for MultiQC, with the species of each sample.
fn for_multiqc(taxonomy: &Taxonomy, samples: &[Done]) -> Vec<u8> {
    const COLUMNS: [multiqc::Column; 5] = [
        ("reads", "Reads", "Reads, or pairs of reads", WHOLE),
        ("classified", "Classified", "Reads with a taxon", PERCENT),
        ("species", "Species", "Species with reads", WHOLE),
        (
            "top",
            "Top species",
            "The species with the most reads",
            WORDS,
        ),
        ("top_share", "Of all", "Reads of that species", PERCENT),
    ];
    let row = |Done { name, summary, .. }: &Done| {
        let tally = &summary.tally;
        let mut species: BTreeMap<Taxon, u64> = BTreeMap::new();
        for (taxon, reads) in tally.taxa() {
            if let Some(at) = taxonomy.ancestor_at(taxon, Rank::Species) {
                *species.entry(at).or_default() += reads;
            }
        }
        let first = |taxon: Taxon| Reverse(taxonomy.taxid(taxon));
        let top = species.iter().max_by_key(|row| (*row.1, first(*row.0)));
        let row = json!({
            "reads": tally.total(),
            "classified": multiqc::percent(tally.classified(), tally.total()),
            "species": species.len(),
            "top": top.map_or("none", |(&taxon, _)| taxonomy.name(taxon)),
            "top_share": multiqc::percent(top.map_or(0, |row| *row.1), tally.total()),
        });
        (name.clone(), row)
    };
    let about = "Reads of each sample and the species that they come from.";
    multiqc::table(
        "classify",
        about,
        &COLUMNS,
        samples.iter().map(row).collect(),
    )
}
