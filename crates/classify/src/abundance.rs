//! How much of each taxon a sample holds, at a rank that is asked for.
//!
//! Reads of taxa below the rank count for the taxon of the rank that they belong to. Reads of taxa
//! above it are handed down: at every taxon they are divided among its children in proportion to
//! the reads of the sub-trees below these (section 6.4.5 of the thesis that the method is from).
//! What comes out is a number of reads per taxon of the rank; divided by the length of a genome it
//! becomes a number of genomes.
//!
//! A lineage may lack the rank: many viral species have no genus. There the first taxon of a lower
//! rank stands for what is missing, under its own name and rank. Reads of a taxon above the rank
//! that has no reads below it have nowhere to go; they stay and are listed as such, so that the
//! estimates add up to all classified reads.

mod genomes;
mod rounding;
mod table;

use std::collections::BTreeMap;

use self::rounding::rounded;
pub use self::table::table;
use crate::tally::Tally;
use gyrase_taxonomy::{ROOT, Rank, Taxon, Taxonomy};

/// The estimates for one sample at one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Abundance {
    /// Rank that was asked for.
    pub rank: Rank,
    /// Taxa of the rank, and those that stand for a missing one; by reads descending, then by
    /// taxid.
    pub taxa: Vec<TaxonEstimate>,
    /// Taxa above the rank whose reads could not be handed down; in the same order.
    pub above: Vec<TaxonEstimate>,
    /// Reads with a taxon: the sum of all estimates.
    pub classified: u64,
    /// Reads without a taxon.
    pub unclassified: u64,
}

/// The share of one taxon.
#[derive(Clone, Debug, PartialEq)]
pub struct TaxonEstimate {
    /// The taxon.
    pub taxon: Taxon,
    /// Reads that were assigned to the taxon or below it.
    pub assigned: u64,
    /// Reads with those that were handed down, in whole numbers that add up.
    pub reads: u64,
    /// Reads with those that were handed down, before rounding.
    pub share: f64,
    /// `share` of all classified reads, 0 to 1.
    pub fraction: f64,
    /// Letters of a genome of the taxon, where [`Abundance::normalise`] learnt of any.
    pub genome: Option<f64>,
    /// Share among the genomes of the sample, 0 to 1, where genome lengths are known.
    pub genomes: Option<f64>,
}

impl Abundance {
    /// Estimates the abundances of the taxa of `rank`.
    pub fn new(taxonomy: &Taxonomy, tally: &Tally, rank: Rank) -> Abundance {
        let tree = Tree::new(taxonomy, tally, rank);
        let shares = tree.hand_down(taxonomy);
        let mut estimates: Vec<_> = shares
            .iter()
            .map(|&(taxon, share)| TaxonEstimate {
                taxon,
                assigned: tree.assigned(taxon),
                reads: 0,
                share,
                fraction: share / tally.classified() as f64,
                genome: None,
                genomes: None,
            })
            .collect();
        let whole = rounded(
            &shares.iter().map(|entry| entry.1).collect::<Vec<_>>(),
            tally.classified(),
        );
        estimates
            .iter_mut()
            .zip(whole)
            .for_each(|(estimate, reads)| estimate.reads = reads);
        estimates.sort_by_key(|estimate| {
            (
                std::cmp::Reverse(estimate.reads),
                taxonomy.taxid(estimate.taxon),
            )
        });
        let (taxa, above) = estimates
            .into_iter()
            .partition(|estimate| tree.ends.contains_key(&estimate.taxon));
        Abundance {
            rank,
            taxa,
            above,
            classified: tally.classified(),
            unclassified: tally.unclassified(),
        }
    }

    /// The estimated reads as if they had been assigned so: every report can be made of estimates
    /// too.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::new();
        tally.leave(self.unclassified);
        self.taxa
            .iter()
            .chain(&self.above)
            .for_each(|estimate| tally.assign(estimate.taxon, estimate.reads));
        tally
    }
}

/// The taxon that takes the reads of one at or below the rank: the highest of the lineage that is
/// not above the rank.
fn end(taxonomy: &Taxonomy, taxon: Taxon, rank: Rank) -> Option<Taxon> {
    taxonomy
        .path(taxon)
        .filter(|&above| taxonomy.rank(above).is_some_and(|own| own >= rank))
        .last()
}

/// The taxa of a sample down to the rank.
#[derive(Default)]
struct Tree {
    /// Reads assigned at or below each taxon of the rank.
    ends: BTreeMap<Taxon, u64>,
    /// Reads of taxa above the rank themselves.
    higher: BTreeMap<Taxon, u64>,
    /// Reads of the sub-tree of every taxon.
    weights: BTreeMap<Taxon, u64>,
    /// Children with reads, by taxid.
    children: BTreeMap<Taxon, Vec<Taxon>>,
}

impl Tree {
    fn new(taxonomy: &Taxonomy, tally: &Tally, rank: Rank) -> Tree {
        let mut tree = Tree::default();
        for (taxon, reads) in tally.taxa() {
            match end(taxonomy, taxon, rank) {
                Some(end) => {
                    *tree.ends.entry(end).or_default() += reads;
                    tree.weigh(taxonomy, end, reads);
                }
                None => {
                    *tree.higher.entry(taxon).or_default() += reads;
                    tree.weigh(taxonomy, taxon, reads);
                }
            }
        }
        tree.children
            .values_mut()
            .for_each(|children| children.sort_by_key(|&child| taxonomy.taxid(child)));
        tree
    }

    /// Adds reads to a taxon and all above it.
    fn weigh(&mut self, taxonomy: &Taxonomy, taxon: Taxon, reads: u64) {
        for at in taxonomy.path(taxon) {
            let weight = self.weights.entry(at).or_insert_with(|| {
                self.children
                    .entry(taxonomy.parent(at))
                    .or_default()
                    .extend((at != ROOT).then_some(at));
                0
            });
            *weight += reads;
        }
    }

    fn assigned(&self, taxon: Taxon) -> u64 {
        self.ends
            .get(&taxon)
            .or_else(|| self.higher.get(&taxon))
            .copied()
            .unwrap_or(0)
    }

    /// The taxa where reads end, by taxid, each with its share.
    fn hand_down(&self, taxonomy: &Taxonomy) -> Vec<(Taxon, f64)> {
        let mut shares = Vec::new();
        let mut stack = vec![(ROOT, 0.0)];
        while let Some((taxon, handed)) = stack.pop() {
            let share = handed + self.assigned(taxon) as f64;
            let children = self.children.get(&taxon).map_or(&[][..], Vec::as_slice);
            if children.is_empty() {
                shares.extend((share > 0.0).then_some((taxon, share)));
                continue;
            }
            let weight: u64 = children.iter().map(|child| self.weights[child]).sum();
            stack.extend(
                children
                    .iter()
                    .map(|&child| (child, share * self.weights[&child] as f64 / weight as f64)),
            );
        }
        shares.sort_by_key(|&(taxon, _)| taxonomy.taxid(taxon));
        shares
    }
}
