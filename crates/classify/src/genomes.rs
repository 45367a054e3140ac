//! Genomes: targets that belong together.

use std::collections::HashMap;

use crate::targets::{TargetId, Targets};
use gyrase_taxonomy::Taxon;

/// The targets of one taxon in one file of references: a genome, be it in one piece or in many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReferenceGenome {
    /// Its taxon.
    pub taxon: Taxon,
    /// Letters of all its targets.
    pub letters: u64,
    /// Windows of all its targets.
    pub windows: u64,
    /// Its targets, ascending.
    pub targets: Vec<TargetId>,
}

/// The genomes of a database, in the order of their first targets. Targets without a taxon are of
/// none.
#[derive(Clone, Debug, Default)]
pub struct Genomes(Vec<ReferenceGenome>);

impl Genomes {
    /// Sorts the targets of a database into genomes.
    pub fn new(targets: &Targets) -> Genomes {
        let mut genomes: Vec<ReferenceGenome> = Vec::new();
        let mut places = HashMap::new();
        for (id, target) in targets.ids().zip(targets.iter()) {
            let Some(taxon) = target.taxon else { continue };
            let place = *places
                .entry((taxon, target.source))
                .or_insert(genomes.len());
            if place == genomes.len() {
                genomes.push(ReferenceGenome {
                    taxon,
                    letters: 0,
                    windows: 0,
                    targets: Vec::new(),
                });
            }
            let genome = &mut genomes[place];
            genome.letters += target.letters;
            genome.windows += u64::from(target.windows);
            genome.targets.push(id);
        }
        Genomes(genomes)
    }

    /// The genomes in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &ReferenceGenome> {
        self.0.iter()
    }

    /// The taxon and the letters of each, as
    /// [`Abundance::normalise`](crate::abundance::Abundance::normalise) takes them.
    pub fn lengths(&self) -> Vec<(Taxon, u64)> {
        self.iter()
            .map(|genome| (genome.taxon, genome.letters))
            .collect()
    }

    /// The windows of every taxon: those of all genomes of exactly that taxon.
    pub fn windows(&self) -> HashMap<Taxon, u64> {
        let mut windows = HashMap::new();
        self.iter()
            .for_each(|genome| *windows.entry(genome.taxon).or_default() += genome.windows);
        windows
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::targets::Target;

    /// Targets of (taxon, file, windows), 100 letters a window.
    pub(crate) fn targets(all: &[(Option<u32>, u32, u32)]) -> Targets {
        let mut targets = Targets::default();
        for &(taxon, source, windows) in all {
            let letters = 100 * u64::from(windows);
            targets
                .push(Target {
                    name: String::new(),
                    taxon: taxon.map(Taxon),
                    letters,
                    windows,
                    source,
                })
                .unwrap();
        }
        targets
    }

    #[test]
    fn a_genome_is_a_taxon_in_a_file() {
        let targets = targets(&[
            (Some(7), 0, 1),
            (Some(5), 0, 2),
            (None, 0, 50),
            (Some(7), 0, 4),
            (Some(7), 1, 8),
        ]);
        let genomes = Genomes::new(&targets);
        let genome = |taxon, windows, targets: &[u32]| ReferenceGenome {
            taxon: Taxon(taxon),
            letters: 100 * windows,
            windows,
            targets: targets.iter().copied().map(TargetId).collect(),
        };
        let expected = [
            genome(7, 5, &[0, 3]),
            genome(5, 2, &[1]),
            genome(7, 8, &[4]),
        ];
        assert!(genomes.iter().eq(&expected));
        let lengths =
            [(7, 500), (5, 200), (7, 800)].map(|(taxon, letters)| (Taxon(taxon), letters));
        assert_eq!(genomes.lengths(), lengths);
        assert_eq!(
            genomes.windows(),
            HashMap::from([(Taxon(7), 13), (Taxon(5), 2)])
        );
        assert_eq!(Genomes::new(&Targets::default()).iter().len(), 0);
    }
}
