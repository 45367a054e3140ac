//! From the candidates of a read to its taxon.
//!
//! Candidates are weighed by species. A strain that no reference has is a mosaic of those that are there, so a species is first
//! measured by how many features of the read any of its references has, and then, between species that have as many, by its single
//! best reference: a read of a genome that is there is explained by that one alone. This is where we leave the published rule
//! (thesis, section 6.4.3), which compares single references; `docs/classification.md` has the figures.

use crate::candidates::{Candidate, Hit, feature_of};
use crate::catalogue::Catalogue;
use crate::taxonomy::{Rank, Taxon};

/// When a read is classified, and how far down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// A species with fewer of the read's features classifies nothing.
    pub least_hits: u32,
    /// Between species with as many features, one whose best reference has at least this share more of them than those of the others
    /// is taken; otherwise what they have in common.
    pub lead: f64,
    /// A read of which less than this share of the features is found is of no species known, only of its genus.
    pub species_share: f64,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule { least_hits: 2, lead: 0.09, species_share: 0.1 }
    }
}

/// Candidates with less than this share of the hits of the best are chance, not the read's origin.
const LEAST_SHARE: f64 = 0.25;

/// What speaks for a species.
#[derive(Clone, Copy, Debug)]
struct Species {
    taxon: Taxon,
    /// Features of the read that any of its candidates has.
    features: u32,
    /// Hits of its best candidate.
    best: u32,
}

/// Weighs candidates. Make one and use it for many reads.
#[derive(Debug, Default)]
pub(crate) struct Judge {
    species: Vec<Species>,
    /// For each feature of the read the last species found to have it, by its place in the list.
    seen: Vec<u32>,
    order: Vec<(Taxon, u32)>,
}

impl Judge {
    /// The taxon of a read with so many features; `None` when nothing speaks for any.
    pub(crate) fn taxon(
        &mut self,
        index: &Catalogue,
        rule: &Rule,
        features: usize,
        hits: &[Hit],
        candidates: &[Candidate],
    ) -> Option<Taxon> {
        self.weigh(index, features, hits, candidates);
        let most = self.species.iter().map(|species| species.features).max()?;
        if most < rule.least_hits {
            return None;
        }
        let level = self.species.iter().filter(|species| species.features == most);
        let best = level.clone().map(|species| species.best).max()?;
        let behind = best.saturating_sub((f64::from(best) * rule.lead).ceil().max(1.0) as u32);
        let close = level.filter(|species| species.best > behind).map(|species| species.taxon);
        let taxon = close.reduce(|one, other| index.taxonomy.lca(one, other))?;
        let known = f64::from(most) >= rule.species_share * features as f64;
        let genus = || index.taxonomy.ancestor_at(taxon, Rank::Genus).unwrap_or(taxon);
        Some(if known { taxon } else { genus() })
    }

    /// Lists what speaks for each species that the candidates are of.
    fn weigh(&mut self, index: &Catalogue, features: usize, hits: &[Hit], candidates: &[Candidate]) {
        self.species.clear();
        self.seen.clear();
        self.seen.resize(features, 0);
        let most = candidates.iter().map(|candidate| candidate.hits.len()).max().unwrap_or(0);
        let likely = |(number, candidate): (usize, &Candidate)| {
            let enough = candidate.hits.len() as f64 >= LEAST_SHARE * most as f64;
            enough.then(|| Some((index.species_of(candidate.target)?, number as u32)))?
        };
        self.order.clear();
        self.order.extend(candidates.iter().enumerate().filter_map(likely));
        self.order.sort_unstable();
        for of_species in self.order.chunk_by(|one, other| one.0 == other.0) {
            let number = self.species.len() as u32 + 1;
            let mut species = Species { taxon: of_species[0].0, features: 0, best: 0 };
            for &(_, candidate) in of_species {
                let range = candidates[candidate as usize].hits.clone();
                species.best = species.best.max(range.len() as u32);
                for &hit in &hits[range] {
                    let last = std::mem::replace(&mut self.seen[feature_of(hit)], number);
                    species.features += u32::from(last != number);
                }
            }
            self.species.push(species);
        }
    }
}
