//! The standard table of taxpasta: taxids and counts.

use std::io::{self, Write};

use crate::tally::Tally;
use gyrase_taxonomy::Taxonomy;

/// Writes `taxonomy_id` and `count` (reads of the taxon itself) by ascending taxid; the
/// unclassified have taxid 0.
///
/// The counts add up to all reads of the sample. Fails as `out` does.
pub fn taxpasta(taxonomy: &Taxonomy, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
    let mut rows: Vec<_> = tally
        .taxa()
        .map(|(taxon, reads)| (taxonomy.taxid(taxon), reads))
        .collect();
    rows.push((0, tally.unclassified()));
    rows.sort_unstable();
    writeln!(out, "taxonomy_id\tcount")?;
    rows.iter()
        .try_for_each(|(taxid, reads)| writeln!(out, "{taxid}\t{reads}"))
}
