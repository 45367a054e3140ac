//! Estimated abundances as a table.

use std::io::{self, Write};

use super::{Abundance, TaxonEstimate};
use crate::report::lines::{name, ratio};
use gyrase_taxonomy::Taxonomy;

const HEADER: &str = "taxonomy_id\tname\trank\tassigned_reads\testimated_reads\tfraction_classified\tfraction_total\tgenome_length\tfraction_genomes";

/// Writes a line per estimate: the taxa of the rank, then those above it whose reads stayed, then
/// the unclassified.
///
/// `fraction_classified` is of the reads with a taxon, `fraction_total` of all reads; the two
/// columns of genomes are empty where no genome lengths are known. Fails as `out` does.
pub fn table(taxonomy: &Taxonomy, abundance: &Abundance, out: &mut dyn Write) -> io::Result<()> {
    let total = abundance.classified + abundance.unclassified;
    writeln!(out, "{HEADER}")?;
    for estimate in abundance.taxa.iter().chain(&abundance.above) {
        let TaxonEstimate {
            taxon,
            assigned,
            reads,
            share,
            fraction,
            genome,
            genomes,
        } = estimate;
        write!(
            out,
            "{}\t{}\t{}\t",
            taxonomy.taxid(*taxon),
            name(taxonomy, *taxon),
            taxonomy.rank_name(*taxon)
        )?;
        write!(
            out,
            "{assigned}\t{reads}\t{fraction:.6}\t{:.6}\t",
            share / total as f64
        )?;
        let letters = genome
            .map(|letters| format!("{letters:.0}"))
            .unwrap_or_default();
        let genomes = genomes
            .map(|genomes| format!("{genomes:.6}"))
            .unwrap_or_default();
        writeln!(out, "{letters}\t{genomes}")?;
    }
    let reads = abundance.unclassified;
    writeln!(
        out,
        "0\tunclassified\tno rank\t{reads}\t{reads}\t\t{:.6}\t\t",
        ratio(reads, total)
    )
}
