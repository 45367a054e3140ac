//! From the candidates of a read to its taxon.
//!
//! Candidates are weighed by species. A strain that no reference has is a mosaic of those that are
//! there, so a species is first measured by how many features of the read any of its references
//! has, and then, between species that have as many, by its single best reference: a read of a
//! genome that is there is explained by that one alone. A read of which few features are found is
//! of a species that no reference has: it is as close to all that have nearly as many. But where
//! those that are found lie all over a long read, it is errors that took the others. This is where
//! we leave the published rule (thesis, section 6.4.3), which compares single references;
//! `docs/classification.md` has the figures.

use crate::candidates::Candidate;
use crate::catalogue::Catalogue;
use crate::confidence::{Confidence, Counted, Found, Support, supports};
use crate::lowest::LowestRank;
use gyrase_taxonomy::{Rank, Taxon};

/// When a read is classified, and how far down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// A read classifies nothing that has fewer hits in its best region: hits that are scattered
    /// over references are chance.
    pub least_hits: u32,
    /// Of a read's taxon at least this share of the features is found, or the nearest above it of
    /// which it is takes its place: of a long read, a few hits are chance.
    pub confidence: Confidence,
    /// No taxon below this is named.
    pub lowest: LowestRank,
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
            confidence: Confidence::DEFAULT,
            lowest: LowestRank::default(),
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

/// Features that must be found before it is asked how they are spread: more than are found of a
/// pair of short reads of which a share below [`CLOSE_SHARE`] is.
const LEAST_SPREAD: u32 = 20;

/// Found features for each of the stretches that a read is cut into to see how they are spread.
const SPREAD: u32 = 4;

/// Errors leave features everywhere: of so many stretches at least one is found. Those that a
/// relative has in common lie together, in conserved genes.
const SPREAD_SHARE: f64 = 0.75;

/// Of a read with errors, species with more than this share of the most features are equally close.
const ERRORS_SHARE: f64 = 0.97;

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
    counted: Counted,
    /// Likely candidates by their taxa.
    order: Vec<(Taxon, u32)>,
    /// Taxa below a species, and their features.
    strains: Vec<Support>,
    supports: Vec<Support>,
}

impl Judge {
    /// The taxon of a read; `None` when too little speaks for any.
    pub(crate) fn taxon(&mut self, rule: &Rule, found: &Found<'_>) -> Option<Taxon> {
        self.counted.begin(found.features);
        self.weigh(found);
        let most = self.species.iter().map(|species| species.features).max()?;
        // A reference without a taxon speaks for none.
        let in_best = self.species.iter().map(|species| species.best).max()?;
        if most.min(in_best) < rule.least_hits {
            return None;
        }
        let taxon = self.species_or_above(rule, found, most)?;
        let lowest = match rule.lowest {
            LowestRank::Strain | LowestRank::Subspecies => self.below(found, taxon),
            LowestRank::Rank(_) => taxon,
        };
        let lowest = rule.lowest.of(&found.index.taxonomy, lowest);
        // Its clade has the species with the most features.
        if lowest <= taxon && Confidence::of(most, found.features) >= rule.confidence {
            return Some(lowest);
        }
        self.list_supports(found, lowest);
        let enough =
            |one: &&Support| Confidence::of(one.features, found.features) >= rule.confidence;
        self.supports.iter().find(enough).map(|one| one.taxon)
    }

    /// Lists the taxon of the read that was judged last, and the taxa above it whose clades have
    /// more of its features, upwards.
    pub(crate) fn list_supports(&mut self, found: &Found<'_>, taxon: Taxon) {
        supports(found, taxon, &mut self.counted, &mut self.supports);
    }

    /// What was listed last.
    pub(crate) fn supports(&self) -> &[Support] {
        &self.supports
    }

    /// The species that stands out, or what those have in common that do.
    fn species_or_above(&mut self, rule: &Rule, found: &Found<'_>, most: u32) -> Option<Taxon> {
        let share = f64::from(most) / found.features as f64;
        let close = share >= CLOSE_SHARE;
        let of_errors = !close && self.is_spread(found, most);
        let index = found.index;
        let taxon = if close {
            self.ahead(index, rule, most)
        } else if of_errors {
            self.level(index, ERRORS_SHARE * f64::from(most))
        } else {
            self.level(index, LEVEL_SHARE * f64::from(most))
        }?;
        let known = close || of_errors || share >= rule.species_share && self.species.len() == 1;
        let genus = || {
            index
                .taxonomy
                .ancestor_at(taxon, Rank::Genus)
                .unwrap_or(taxon)
        };
        Some(if known { taxon } else { genus() })
    }

    /// True where the features that the first species with the most of them has lie all over the
    /// read.
    fn is_spread(&mut self, found: &Found<'_>, most: u32) -> bool {
        let first = self.species.iter().find(|one| one.features == most);
        let Some(species) = first.filter(|_| most >= LEAST_SPREAD) else {
            return false;
        };
        let (stretches, mut hit) = ((most / SPREAD) as usize, 0);
        self.counted.restart();
        for (_, candidate) in self.order.iter().filter(|one| one.0 == species.taxon) {
            let hits = found.candidates[*candidate as usize].hits.clone();
            for one in &found.hits[hits] {
                let stretch = one.feature() * stretches / found.features;
                hit += usize::from(self.counted.is_new(stretch));
            }
        }
        hit as f64 >= SPREAD_SHARE * stretches as f64
    }

    /// What the species have in common that have at least so many features.
    fn level(&self, index: &Catalogue, least: f64) -> Option<Taxon> {
        let level = self
            .species
            .iter()
            .filter(|species| f64::from(species.features) >= least);
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

    /// The taxon below a species that has more of the features than any other of its taxa has; what
    /// those have in common that have as many.
    fn below(&mut self, found: &Found<'_>, species: Taxon) -> Taxon {
        let taxonomy = &found.index.taxonomy;
        let Judge {
            order,
            counted,
            strains,
            ..
        } = self;
        if taxonomy.ancestor_at(species, Rank::Species).is_none() {
            return species;
        }
        order.retain(|&(of, _)| of == species);
        for (taxon, candidate) in order.iter_mut() {
            let target = found.candidates[*candidate as usize].target;
            *taxon = found.index.targets.get(target).taxon.unwrap_or(species);
        }
        order.sort_unstable();
        strains.clear();
        for of_taxon in order.chunk_by(|one, other| one.0 == other.0) {
            counted.restart();
            let candidates = of_taxon.iter().map(|one| one.1 as usize);
            let features =
                candidates.map(|candidate| counted.add(found, &found.candidates[candidate]));
            strains.push(Support {
                taxon: of_taxon[0].0,
                features: features.sum(),
            });
        }
        let most = strains.iter().map(|one| one.features).max().unwrap_or(0);
        let level = strains.iter().filter(|one| one.features == most);
        let common = level.map(|one| one.taxon);
        common
            .reduce(|one, other| taxonomy.lca(one, other))
            .unwrap_or(species)
    }

    /// Lists what speaks for each species that the candidates are of.
    fn weigh(&mut self, found: &Found<'_>) {
        let Judge {
            species,
            counted,
            order,
            ..
        } = self;
        let candidates = found.candidates;
        species.clear();
        let most = candidates
            .iter()
            .map(|candidate| candidate.hits.len())
            .max()
            .unwrap_or(0);
        let likely = |(number, candidate): (usize, &Candidate)| {
            let enough = candidate.hits.len() as f64 >= LEAST_SHARE * most as f64;
            enough.then(|| Some((found.index.species_of(candidate.target)?, number as u32)))?
        };
        order.clear();
        order.extend(candidates.iter().enumerate().filter_map(likely));
        order.sort_unstable();
        for of_species in order.chunk_by(|one, other| one.0 == other.0) {
            counted.restart();
            let mut one = Species {
                taxon: of_species[0].0,
                features: 0,
                best: 0,
            };
            for &(_, candidate) in of_species {
                let candidate = &candidates[candidate as usize];
                one.best = one.best.max(candidate.hits.len() as u32);
                one.features += counted.add(found, candidate);
            }
            species.push(one);
        }
    }
}
