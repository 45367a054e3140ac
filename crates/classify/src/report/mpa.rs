//! Lineages with counts, as MetaPhlAn 1 and `kraken2 --use-mpa-style` wrote them.

use std::io::{self, Write};

use super::clades::Clades;
use super::lines::name;
use crate::tally::Tally;
use gyrase_taxonomy::Taxonomy;

/// Writes a line for every clade with reads at one of the eight ranks: `d__Bacteria|p__Bacillota`,
/// a tab, its reads.
///
/// The order is that of the kreport. A `|` in a name becomes `_`. Fails as `out` does.
pub fn mpa(taxonomy: &Taxonomy, tally: &Tally, out: &mut dyn Write) -> io::Result<()> {
    // Of every clade on the way from the root, how much of `lineage` leads to it.
    let mut ends: Vec<usize> = Vec::new();
    let mut lineage = String::new();
    for clade in Clades::new(taxonomy, tally, false)
        .iter()
        .filter(|clade| clade.reads > 0)
    {
        ends.truncate(clade.depth);
        lineage.truncate(ends.last().copied().unwrap_or(0));
        if let Some(rank) = taxonomy.rank(clade.taxon) {
            let bar = if lineage.is_empty() { "" } else { "|" };
            let name = name(taxonomy, clade.taxon).replace('|', "_");
            lineage.push_str(&format!(
                "{bar}{}__{name}",
                rank.letter().to_ascii_lowercase()
            ));
            writeln!(out, "{lineage}\t{}", clade.reads)?;
        }
        ends.push(lineage.len());
    }
    Ok(())
}
