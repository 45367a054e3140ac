//! How much of a read speaks for its taxon: Kraken 2's confidence, in features.

use std::fmt;
use std::str::FromStr;

use gyrase_taxonomy::Taxon;

use crate::candidates::{Candidate, Hit};
use crate::catalogue::Catalogue;

/// A share of the features of a read, from 0 to 1, in ten-thousandths, rounded down: as it is
/// written, so that who reads a line decides as the run did that wrote it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Confidence(u16);

impl Confidence {
    const ONE: u64 = 10_000;

    /// What a taxon needs unless something else is asked for. Two hits are as much of a pair of 150
    /// letters; of a long read they are chance, as most are of metagenomes of strangers
    /// (`docs/performance.md`).
    pub const DEFAULT: Confidence = Confidence(350);

    /// That of so many of a read's features, of which there is at least one.
    pub fn of(found: u32, features: usize) -> Confidence {
        Confidence((u64::from(found) * Confidence::ONE / features as u64) as u16)
    }

    /// It as a number from 0 to 1.
    pub fn share(self) -> f64 {
        f64::from(self.0) / Confidence::ONE as f64
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{:.4}", self.share())
    }
}

impl FromStr for Confidence {
    type Err = String;

    fn from_str(text: &str) -> Result<Confidence, String> {
        let share: Option<f64> = text.parse().ok();
        let share = share.filter(|share| (0.0..=1.0).contains(share));
        let share = share.ok_or("write a share from 0 to 1, such as 0.05")?;
        Ok(Confidence((share * Confidence::ONE as f64).round() as u16))
    }
}

/// A taxon, and how many features of a read the best regions of its clade have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// The taxon.
    pub taxon: Taxon,
    /// Features of the read, each once.
    pub features: u32,
}

/// What is known of a read: its features, its hits, and the best region of each target.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub index: &'a Catalogue,
    pub features: usize,
    pub hits: &'a [Hit],
    pub candidates: &'a [Candidate],
}

impl Found<'_> {
    fn taxon_of(&self, candidate: &Candidate) -> Option<Taxon> {
        self.index.targets.get(candidate.target).taxon
    }
}

/// The features of a read that are counted, each once. Make one and use it for many reads.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    /// For each feature the last count that it was in.
    seen: Vec<u32>,
    count: u32,
}

impl Counted {
    /// Begins with a read of so many features.
    pub fn begin(&mut self, features: usize) {
        self.seen.clear();
        self.seen.resize(features, 0);
        self.count = 0;
    }

    /// Begins a count, of none.
    pub fn restart(&mut self) {
        self.count += 1;
    }

    /// Counts the features of a candidate; how many of them were not counted before.
    pub fn add(&mut self, found: &Found<'_>, candidate: &Candidate) -> u32 {
        let hits = found.hits[candidate.hits.clone()].iter();
        hits.map(|hit| u32::from(self.is_new(hit.feature()))).sum()
    }

    /// True for a feature, or any number below that of the features, that was not counted before.
    pub fn is_new(&mut self, feature: usize) -> bool {
        std::mem::replace(&mut self.seen[feature], self.count) != self.count
    }
}

/// Lists `taxon`, and of the taxa above it those whose clades have more of the features, upwards.
pub(crate) fn supports(
    found: &Found<'_>,
    taxon: Taxon,
    counted: &mut Counted,
    supports: &mut Vec<Support>,
) {
    let taxonomy = &found.index.taxonomy;
    supports.clear();
    counted.restart();
    let (mut at, mut features, mut inside) = (taxon, 0, taxon..taxon);
    loop {
        let (clade, mut above) = (taxonomy.clade(at), None);
        for candidate in found.candidates {
            let Some(other) = found.taxon_of(candidate) else {
                continue;
            };
            if !clade.contains(&other) {
                above = above.max(Some(taxonomy.lca(at, other)));
            } else if !inside.contains(&other) {
                features += counted.add(found, candidate);
            }
        }
        if supports.last().is_none_or(|last| last.features < features) {
            supports.push(Support {
                taxon: at,
                features,
            });
        }
        let Some(next) = above else {
            return;
        };
        (at, inside) = (next, clade);
    }
}
