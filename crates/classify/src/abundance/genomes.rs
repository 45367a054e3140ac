//! From shares of reads to shares of genomes.

use std::collections::BTreeMap;

use super::{Abundance, TaxonEstimate};
use gyrase_taxonomy::{Taxon, Taxonomy};

impl Abundance {
    /// Divides the shares by the lengths of the genomes, so that a long genome, which gives more
    /// reads, counts no more than a short one.
    ///
    /// `lengths` has an entry per reference genome: its taxon, and its letters. A taxon takes the
    /// mean of the genomes at or below it; where there are none, that of the closest clade around
    /// it that has some. Without any lengths `genome` and `genomes` stay empty.
    pub fn normalise(&mut self, taxonomy: &Taxonomy, lengths: &[(Taxon, u64)]) {
        let sums = sums(taxonomy, lengths);
        for estimate in self.taxa.iter_mut().chain(&mut self.above) {
            estimate.genome = mean(taxonomy, &sums, estimate.taxon);
        }
        let all: f64 = self.taxa.iter().chain(&self.above).filter_map(copies).sum();
        for estimate in self.taxa.iter_mut().chain(&mut self.above) {
            estimate.genomes = copies(estimate).map(|copies| copies / all);
        }
    }
}

/// Reads per letter: as good as the number of genomes.
fn copies(estimate: &TaxonEstimate) -> Option<f64> {
    estimate.genome.map(|letters| estimate.share / letters)
}

/// For every taxon with genomes at or below it, their letters and their number.
fn sums(taxonomy: &Taxonomy, lengths: &[(Taxon, u64)]) -> BTreeMap<Taxon, (u64, u64)> {
    let mut sums = BTreeMap::new();
    for &(taxon, letters) in lengths.iter().filter(|entry| entry.1 > 0) {
        for above in taxonomy.path(taxon) {
            let sum: &mut (u64, u64) = sums.entry(above).or_default();
            *sum = (sum.0 + letters, sum.1 + 1);
        }
    }
    sums
}

fn mean(taxonomy: &Taxonomy, sums: &BTreeMap<Taxon, (u64, u64)>, taxon: Taxon) -> Option<f64> {
    let closest = taxonomy.path(taxon).find_map(|above| sums.get(&above));
    closest.map(|&(letters, genomes)| letters as f64 / genomes as f64)
}
