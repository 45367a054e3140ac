//! The profiling format of CAMI (bioboxes), version 0.9.1.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::lines::name;
use crate::abundance::Abundance;
use crate::tally::Tally;
use gyrase_taxonomy::{Rank, Taxon, Taxonomy};

/// The ranks of the format, from the top, with ours; a strain is none of the eight.
const RANKS: [(&str, Option<Rank>); 8] = [
    ("superkingdom", Some(Rank::Domain)),
    ("phylum", Some(Rank::Phylum)),
    ("class", Some(Rank::Class)),
    ("order", Some(Rank::Order)),
    ("family", Some(Rank::Family)),
    ("genus", Some(Rank::Genus)),
    ("species", Some(Rank::Species)),
    ("strain", None),
];

/// Shares of a sample in percent, each of a taxon itself without what is below it.
#[derive(Clone, Debug, PartialEq)]
pub struct CamiProfile(Vec<(Taxon, f64)>);

impl CamiProfile {
    /// The reads as they were assigned, of all reads; at every rank what is missing to 100 was not
    /// classified so far.
    pub fn of_reads(tally: &Tally) -> CamiProfile {
        let total = tally.total() as f64;
        CamiProfile(
            tally
                .taxa()
                .map(|(taxon, reads)| (taxon, 100.0 * reads as f64 / total))
                .collect(),
        )
    }

    /// Estimated abundances, of what was classified: shares of genomes where genome lengths are
    /// known, else of reads.
    pub fn estimated(abundance: &Abundance) -> CamiProfile {
        let estimates = abundance.taxa.iter().chain(&abundance.above);
        let fraction = |estimate: &crate::abundance::TaxonEstimate| {
            estimate.genomes.unwrap_or(estimate.fraction)
        };
        CamiProfile(
            estimates
                .map(|estimate| (estimate.taxon, 100.0 * fraction(estimate)))
                .collect(),
        )
    }

    /// Percent of every clade, from the taxa with the smallest taxids up, so that the sums are
    /// always the same.
    fn clades(&self, taxonomy: &Taxonomy) -> BTreeMap<Taxon, f64> {
        let mut shares = self.0.clone();
        shares.sort_by_key(|&(taxon, _)| taxonomy.taxid(taxon));
        let mut clades = BTreeMap::new();
        for (taxon, percent) in shares {
            taxonomy
                .path(taxon)
                .for_each(|above| *clades.entry(above).or_default() += percent);
        }
        clades
    }
}

/// Writes a profile: rank after rank from the top, in each by percentage descending, then by taxid.
///
/// Ranks that a lineage lacks are empty in its paths. In the name of the sample, letters that the
/// format does not know become `_`; in names of taxa `|` does. Fails as `out` does.
pub fn cami(
    taxonomy: &Taxonomy,
    sample: &str,
    profile: &CamiProfile,
    out: &mut dyn Write,
) -> io::Result<()> {
    let known = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let sample = if sample.is_empty() {
        "sample".to_owned()
    } else {
        sample.chars().map(known).collect()
    };
    let ranks = RANKS.map(|rank| rank.0).join("|");
    write!(out, "@SampleID:{sample}\n@Version:0.9.1\n@Ranks:{ranks}\n")?;
    writeln!(out, "@@TAXID\tRANK\tTAXPATH\tTAXPATHSN\tPERCENTAGE")?;
    let clades = profile.clades(taxonomy);
    for (place, (title, _)) in RANKS.iter().enumerate() {
        let mut rows: Vec<_> = clades
            .iter()
            .filter(|&(&taxon, _)| place_of(taxonomy, taxon) == Some(place))
            .collect();
        rows.sort_by(|a, b| {
            b.1.total_cmp(a.1)
                .then(taxonomy.taxid(*a.0).cmp(&taxonomy.taxid(*b.0)))
        });
        for (&taxon, percent) in rows {
            let path = path(taxonomy, taxon, place);
            let taxids = join(&path, |taxon| taxonomy.taxid(taxon).to_string());
            let names = join(&path, |taxon| name(taxonomy, taxon).replace('|', "_"));
            writeln!(
                out,
                "{}\t{title}\t{taxids}\t{names}\t{percent:.6}",
                taxonomy.taxid(taxon)
            )?;
        }
    }
    Ok(())
}

/// The place of a taxon among the ranks of the format.
fn place_of(taxonomy: &Taxonomy, taxon: Taxon) -> Option<usize> {
    match taxonomy.rank(taxon) {
        None => (taxonomy.rank_name(taxon) == "strain").then_some(RANKS.len() - 1),
        rank => RANKS.iter().position(|entry| entry.1 == rank),
    }
}

/// The lineage of a taxon at the ranks of the format, down to its own at `place`.
fn path(taxonomy: &Taxonomy, taxon: Taxon, place: usize) -> Vec<Option<Taxon>> {
    let above = RANKS[..place]
        .iter()
        .map(|rank| rank.1.and_then(|rank| taxonomy.ancestor_at(taxon, rank)));
    above.chain([Some(taxon)]).collect()
}

fn join(path: &[Option<Taxon>], text: impl Fn(Taxon) -> String) -> String {
    path.iter()
        .map(|taxon| taxon.map(&text).unwrap_or_default())
        .collect::<Vec<_>>()
        .join("|")
}
