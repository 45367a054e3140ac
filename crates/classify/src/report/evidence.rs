//! What speaks for each taxon, as a table.

use std::io::{self, Write};

use super::clades::Clades;
use super::lines::name;
use crate::tally::Tally;
use gyrase_taxonomy::Taxonomy;

const HEADER: &str = "taxonomy_id\tname\trank\tclade_reads\ttaxon_reads\tfeature_hits\tdistinct_features\texpected_features\tcovered_windows\twindows\tcoverage";

/// Writes a line for every clade with reads, in the order of the kreport. Evidence is that of the
/// whole clade; cells are empty where something is not known. Fails as `out` does.
///
/// `expected_features` are the distinct features that so many hits reach when they fall evenly over
/// the genomes of the clade. Many fewer, or few of the windows covered by many reads, point to a
/// region shared with something else.
pub fn evidence(taxonomy: &Taxonomy, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
    let clades = Clades::new(taxonomy, tally, false);
    writeln!(out, "{HEADER}")?;
    let with = clades.iter().zip(clades.evidence(taxonomy, tally));
    for (clade, evidence) in with.filter(|(clade, _)| clade.reads > 0) {
        let taxon = clade.taxon;
        write!(
            out,
            "{}\t{}\t{}\t",
            taxonomy.taxid(taxon),
            name(taxonomy, taxon),
            taxonomy.rank_name(taxon)
        )?;
        write!(out, "{}\t{}\t", clade.reads, clade.direct)?;
        let seen = evidence.hits > 0;
        write!(out, "{}\t", cell(seen.then_some(evidence.hits)))?;
        write!(out, "{}\t", cell(seen.then_some(evidence.distinct)))?;
        write!(
            out,
            "{}\t",
            cell(
                evidence
                    .expected_features
                    .map(|expected| format!("{expected:.0}"))
            )
        )?;
        write!(
            out,
            "{}\t",
            cell(evidence.all_windows.map(|_| evidence.covered_windows))
        )?;
        write!(out, "{}\t", cell(evidence.all_windows))?;
        writeln!(
            out,
            "{}",
            cell(evidence.coverage.map(|coverage| format!("{coverage:.4}")))
        )?;
    }
    Ok(())
}

fn cell(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
