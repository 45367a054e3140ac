//! The table of Bracken.

use std::io::{self, Write};

use super::lines::{name, ratio};
use crate::abundance::Abundance;
use gyrase_taxonomy::{ROOT, Taxonomy};

const HEADER: &str = "name\ttaxonomy_id\ttaxonomy_lvl\tkraken_assigned_reads\tadded_reads\tnew_est_reads\tfraction_total_reads";

/// Writes estimates in the columns of Bracken: `added_reads` were handed down from above, and the
/// fractions are of all reads that are listed, as Bracken's are.
///
/// A taxon that stands for a missing one of the rank has its own rank code as level. Without any
/// taxon there is a line of the root without reads: readers such as taxpasta take a table without
/// lines for a damaged one. Fails as `out` does.
pub fn bracken(taxonomy: &Taxonomy, abundance: &Abundance, out: &mut dyn Write) -> io::Result<()> {
    let listed = abundance.taxa.iter().map(|estimate| estimate.reads).sum();
    writeln!(out, "{HEADER}")?;
    if abundance.taxa.is_empty() {
        let (taxid, name) = (taxonomy.taxid(ROOT), name(taxonomy, ROOT));
        return writeln!(out, "{name}\t{taxid}\tR\t0\t0\t0\t0.00000");
    }
    for estimate in &abundance.taxa {
        let (taxon, assigned, reads) = (estimate.taxon, estimate.assigned, estimate.reads);
        let (taxid, code) = (taxonomy.taxid(taxon), taxonomy.rank_code(taxon));
        let (added, fraction) = (reads - assigned, ratio(reads, listed));
        writeln!(
            out,
            "{}\t{taxid}\t{code}\t{assigned}\t{added}\t{reads}\t{fraction:.5}",
            name(taxonomy, taxon)
        )?;
    }
    Ok(())
}
