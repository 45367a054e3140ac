//! From the candidates of a read to its taxon.
//!
//! Candidates are weighed by species. A strain that no reference has is a mosaic of those that are
//! there, so a species is first measured by how many features of the read any of its references
//! has, and then, between species that have as many, by its single best reference: a read of a
//! genome that is there is explained by that one alone. A read of which few features are found is
//! of a species that no reference has: it is as close to all that have nearly as many. This is
//! where we leave the published rule (thesis, section 6.4.3), which compares single references;
//! `docs/classification.md` has the figures.

use crate::candidates::{Candidate, Hit};
use crate::catalogue::Catalogue;
use gyrase_taxonomy::{Rank, Taxon};

/// When a read is classified, and how far down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// A read classifies nothing that has fewer hits in its best region: hits that are scattered
    /// over references are chance.
    pub least_hits: u32,
    /// Between species with as many features, one whose best reference has at least this share more
    /// of them than those of the others is taken; otherwise what they have in common.
    pub lead: f64,
    /// A read of which less than this share of the features is found is of no species known, only
    /// of its genus.
    pub species_share: f64,
}

impl Default for Rule {
    fn default() -> Rule {
        Rule {
            least_hits: 2,
            lead: 0.12,
            species_share: 0.09,
        }
    }
}

/// Candidates with less than this share of the hits of the best are chance, not the read's origin.
const LEAST_SHARE: f64 = 0.25;

/// A read of which less than this share of the features is found comes from none of the references,
/// nor from a relative as close as a strain. A species is named only if no other has a likely
/// candidate.
const CLOSE_SHARE: f64 = 0.3;

/// Of such a read, species with at least this share of the most features are equally close.
const LEVEL_SHARE: f64 = 0.7;

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
        // A reference without a taxon speaks for none.
        let in_best = self.species.iter().map(|species| species.best).max()?;
        if most.min(in_best) < rule.least_hits {
            return None;
        }
        let found = f64::from(most) / features as f64;
        let close = found >= CLOSE_SHARE;
        let taxon = if close {
            self.ahead(index, rule, most)
        } else {
            self.level(index, most)
        }?;
        let known = close || found >= rule.species_share && self.species.len() == 1;
        let genus = || {
            index
                .taxonomy
                .ancestor_at(taxon, Rank::Genus)
                .unwrap_or(taxon)
        };
        Some(if known { taxon } else { genus() })
    }

    /// What the species have in common that have nearly the most features.
    fn level(&self, index: &Catalogue, most: u32) -> Option<Taxon> {
        let level = self
            .species
            .iter()
            .filter(|species| f64::from(species.features) >= LEVEL_SHARE * f64::from(most));
        level
            .map(|species| species.taxon)
            .reduce(|one, other| index.taxonomy.lca(one, other))
    }

    /// What the species have in common that have the most features and, of these, the best
    /// reference.
    fn ahead(&self, index: &Catalogue, rule: &Rule, most: u32) -> Option<Taxon> {
        let level = self
            .species
            .iter()
            .filter(|species| species.features == most);
        let best = level.clone().map(|species| species.best).max()?;
        let behind = best.saturating_sub((f64::from(best) * rule.lead).ceil().max(1.0) as u32);
        let close = level
            .filter(|species| species.best > behind)
            .map(|species| species.taxon);
        close.reduce(|one, other| index.taxonomy.lca(one, other))
    }

    /// Lists what speaks for each species that the candidates are of.
    fn weigh(
        &mut self,
        index: &Catalogue,
        features: usize,
        hits: &[Hit],
        candidates: &[Candidate],
    ) {
        self.species.clear();
        self.seen.clear();
        self.seen.resize(features, 0);
        let most = candidates
            .iter()
            .map(|candidate| candidate.hits.len())
            .max()
            .unwrap_or(0);
        let likely = |(number, candidate): (usize, &Candidate)| {
            let enough = candidate.hits.len() as f64 >= LEAST_SHARE * most as f64;
            enough.then(|| Some((index.species_of(candidate.target)?, number as u32)))?
        };
        self.order.clear();
        self.order
            .extend(candidates.iter().enumerate().filter_map(likely));
        self.order.sort_unstable();
        for of_species in self.order.chunk_by(|one, other| one.0 == other.0) {
            let number = self.species.len() as u32 + 1;
            let mut species = Species {
                taxon: of_species[0].0,
                features: 0,
                best: 0,
            };
            for &(_, candidate) in of_species {
                let range = candidates[candidate as usize].hits.clone();
                species.best = species.best.max(range.len() as u32);
                for &hit in &hits[range] {
                    let last = std::mem::replace(&mut self.seen[hit.feature()], number);
                    species.features += u32::from(last != number);
                }
            }
            self.species.push(species);
        }
    }
}
