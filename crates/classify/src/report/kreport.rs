//! The report of Kraken 2, line by line what MultiQC, Bracken and Pavian read.

use std::io::{self, Write};

use super::clades::Clades;
use super::lines::{name, percent};
use crate::tally::Tally;
use gyrase_taxonomy::{RankStyle, Taxonomy};

/// What a kreport shows beside the taxa with reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kreport {
    /// Every taxon of the taxonomy, and the unclassified, also without reads
    /// (`--report-zero-counts` of Kraken 2).
    pub zeros: bool,
    /// Two columns more, behind the reads of the taxon itself: feature hits and distinct features
    /// of the clade (`--report-minimizer-data` of Kraken 2).
    pub evidence: bool,
    /// How ranks become letters.
    pub style: RankStyle,
}

/// Levels that are set in: no taxonomy of life has as many. What lies deeper stands no further to
/// the right, or a chain of taxa would fill a disk with spaces.
const DEEPEST: usize = 1000;

/// Writes the report: percent of all reads, reads of the clade, reads of the taxon itself, rank
/// code, taxid, and the name behind two spaces per level.
///
/// The root is always there, and without any reads the unclassified too, where Kraken 2 leaves
/// lines or the whole file out and readers stumble. Fails as `out` does.
pub fn kreport(
    taxonomy: &Taxonomy,
    tally: &Tally,
    shown: Kreport,
    out: &mut dyn Write,
) -> io::Result<()> {
    let total = tally.total();
    if tally.unclassified() > 0 || shown.zeros || total == 0 {
        let reads = tally.unclassified();
        let more = if shown.evidence { "0\t0\t" } else { "" };
        writeln!(
            out,
            "{:6.2}\t{reads}\t{reads}\t{more}U\t0\tunclassified",
            percent(reads, total)
        )?;
    }
    let clades = Clades::new(taxonomy, tally, shown.zeros);
    let evidence = if shown.evidence {
        clades.evidence(taxonomy, tally)
    } else {
        Vec::new()
    };
    for (place, clade) in clades.iter().enumerate() {
        write!(
            out,
            "{:6.2}\t{}\t{}\t",
            percent(clade.reads, total),
            clade.reads,
            clade.direct
        )?;
        if let Some(evidence) = evidence.get(place) {
            write!(out, "{}\t{}\t", evidence.hits, evidence.distinct)?;
        }
        let (code, taxid) = (
            taxonomy.rank_code_in(clade.taxon, shown.style),
            taxonomy.taxid(clade.taxon),
        );
        writeln!(
            out,
            "{code}\t{taxid}\t{:indent$}{}",
            "",
            name(taxonomy, clade.taxon),
            indent = 2 * clade.depth.min(DEEPEST)
        )?;
    }
    Ok(())
}
