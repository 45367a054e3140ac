//! The coverage filter (thesis, section 6.4.4): genomes of which the reads of a sample cover little
//! are no source of these reads.

use std::cmp::Ordering;

use crate::bytes::Reader;
use crate::candidates::{Candidate, Hit};
use crate::genomes::Genomes;
use crate::tally::Windows;
use crate::targets::{TargetId, Targets};

/// The windows that the reads of a sample were found in, over all targets.
#[derive(Clone, Debug, Default)]
pub struct Covered(Windows);

impl Covered {
    /// Notes a read by its hits and its candidates: of those with as many hits as the best, every
    /// window that was hit.
    pub(crate) fn add(&mut self, hits: &[Hit], candidates: &[Candidate]) {
        let most = candidates
            .iter()
            .map(|candidate| candidate.hits.len())
            .max();
        for best in candidates
            .iter()
            .filter(|candidate| Some(candidate.hits.len()) == most)
        {
            hits[best.hits.clone()]
                .iter()
                .for_each(|&hit| self.0.insert(hit.location()));
        }
    }

    /// Adds what other reads covered.
    pub fn merge(&mut self, other: &Covered) {
        self.0.merge(&other.0);
    }

    /// The windows in bytes, for the processes that share a sample.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Vec::new();
        self.0.put(&mut to);
        to
    }

    /// Reads what [`Covered::to_bytes`] wrote; nothing for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Covered> {
        let mut reader = Reader::new(bytes);
        let windows = Windows::take(&mut reader)?;
        reader.is_done().then_some(Covered(windows))
    }

    /// For every genome the windows covered.
    fn of(&self, targets: &Targets, genomes: &Genomes) -> Vec<u64> {
        let mut of_target = vec![0u64; targets.len()];
        self.0
            .each(|window| of_target[targets.at(window).index()] += 1);
        let sum = |targets: &[TargetId]| {
            targets
                .iter()
                .map(|&target| of_target[target.index()])
                .sum()
        };
        genomes.iter().map(|genome| sum(&genome.targets)).collect()
    }
}

/// Genomes that no read may come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// By target, true for those of the genomes dropped.
    targets: Vec<bool>,
    /// How many genomes.
    pub genomes: usize,
    /// Of how many that have reads.
    pub hit: usize,
}

impl Dropped {
    /// Chooses the least covered of the genomes with reads, in ascending order of coverage, as long
    /// as the sum of their coverages is at most `share` (0 to 1) of that of all.
    ///
    /// Where all genomes are covered alike none or few are dropped, however many there are; of a
    /// long tail of genomes that share a region with one that is there, all are.
    pub fn least_covered(
        covered: &Covered,
        targets: &Targets,
        genomes: &Genomes,
        share: f64,
    ) -> Dropped {
        let covered = covered.of(targets, genomes);
        let mut hit: Vec<_> = genomes
            .iter()
            .zip(covered)
            .filter(|&(_, covered)| covered > 0)
            .collect();
        hit.sort_by(|a, b| compare((a.1, a.0.windows), (b.1, b.0.windows)));
        let coverage = |&(genome, covered): &(&crate::genomes::ReferenceGenome, u64)| {
            covered as f64 / genome.windows as f64
        };
        let most = share * hit.iter().map(coverage).sum::<f64>();
        let mut dropped = Dropped {
            targets: vec![false; targets.len()],
            genomes: 0,
            hit: hit.len(),
        };
        let mut sum = 0.0;
        for genome in &hit {
            sum += coverage(genome);
            if sum > most {
                break;
            }
            dropped.genomes += 1;
            genome
                .0
                .targets
                .iter()
                .for_each(|&target| dropped.targets[target.index()] = true);
        }
        dropped
    }

    /// True for a target of a genome that was dropped.
    #[inline]
    pub fn has(&self, target: TargetId) -> bool {
        self.targets
            .get(target.index())
            .is_some_and(|&dropped| dropped)
    }
}

/// Compares a of b with c of d; no division decides a tie.
fn compare((a, b): (u64, u64), (c, d): (u64, u64)) -> Ordering {
    (u128::from(a) * u128::from(d)).cmp(&(u128::from(c) * u128::from(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::candidates::Regions;
    use crate::genomes::tests::targets;
    use gyrase_table::gydb::Location;

    /// Three genomes of 10 windows, the second of them in two pieces; one window of no taxon.
    fn some() -> Targets {
        targets(&[
            (Some(1), 0, 10),
            (Some(2), 1, 4),
            (None, 1, 1),
            (Some(2), 1, 6),
            (Some(3), 2, 10),
        ])
    }

    fn covered(targets: &Targets, reads: &[&[u32]]) -> Covered {
        let mut covered = Covered::default();
        for windows in reads {
            let mut hits: Vec<Hit> = (0..)
                .zip(*windows)
                .map(|(feature, &window)| Hit::new(Location(window), feature))
                .collect();
            let mut candidates = Vec::new();
            Regions::new(targets).best(&mut hits, 3, |candidate| candidates.push(candidate));
            covered.add(&hits, &candidates);
        }
        covered
    }

    #[test]
    fn windows_of_the_best_regions_are_covered() {
        let targets = some();
        let genomes = Genomes::new(&targets);
        // The first read has two hits in genomes 1 and 3, one in 2; the third is of no taxon.
        let all = covered(
            &targets,
            &[&[0, 1, 10, 21, 21], &[12, 13, 13], &[14, 14], &[15, 15, 16]],
        );
        assert_eq!(all.of(&targets, &genomes), [2, 4, 1]);
        let mut merged = covered(&targets, &[&[15, 15, 16], &[14, 14]]);
        merged.merge(&covered(&targets, &[&[12, 13, 13], &[0, 1, 10, 21, 21]]));
        assert_eq!(merged.of(&targets, &genomes), [2, 4, 1]);
    }

    #[test]
    fn the_least_covered_go_first() {
        let targets = some();
        let genomes = Genomes::new(&targets);
        let all = covered(
            &targets,
            &[&[0, 1, 2], &[3, 4, 5], &[10, 11], &[12, 15], &[21]],
        );
        let drop = |share| Dropped::least_covered(&all, &targets, &genomes, share);
        // 6 of 10, 4 of 10 (13 is not hit), 1 of 10.
        let dropped = |share| {
            (0..5)
                .filter(|&target| drop(share).has(TargetId(target)))
                .collect::<Vec<u32>>()
        };
        for (share, expected) in [
            (0.0, vec![]),
            (0.05, vec![]),
            (0.1, vec![4]),
            (0.4, vec![4]),
            (0.5, vec![1, 3, 4]),
            (0.99, vec![1, 3, 4]),
        ] {
            assert_eq!(dropped(share), expected, "{share}");
        }
        assert_eq!(
            (drop(0.5).genomes, drop(0.5).hit, drop(1.0).genomes),
            (2, 3, 3)
        );
        let none = Dropped::least_covered(&Covered::default(), &targets, &genomes, 1.0);
        assert_eq!((none.genomes, none.hit), (0, 0));
    }
}
