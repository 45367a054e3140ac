//! How many distinct features of the database each taxon has: what its evidence is a share of.

use crate::targets::{TargetOf, Targets};
use gyrase_table::gydb::Location;
use gyrase_taxonomy::Taxon;

/// Counts features by taxon: those at a location that the database keeps in a target of exactly
/// that taxon, each once.
#[derive(Debug)]
pub(crate) struct Distinct<'t> {
    target_of: &'t TargetOf<'t>,
    /// Of each target the end of its windows, and the number of its taxon.
    of_targets: &'t [(Location, u32)],
    /// Features of every taxon, and at last those of none.
    counts: Vec<u64>,
    /// The last feature, by its number, that each taxon was seen with.
    seen: Vec<u64>,
    /// Features so far.
    features: u64,
}

impl<'t> Distinct<'t> {
    /// Nothing counted, of `taxa` taxa; `target_of` and `of_targets` ([`of_targets`]) are of the
    /// same targets.
    pub fn new(
        target_of: &'t TargetOf<'t>,
        of_targets: &'t [(Location, u32)],
        taxa: usize,
    ) -> Distinct<'t> {
        Distinct {
            target_of,
            of_targets,
            counts: vec![0; taxa + 1],
            seen: vec![0; taxa + 1],
            features: 0,
        }
    }

    /// Counts one more feature, at these ascending locations.
    #[inline]
    pub fn add(&mut self, locations: &[Location]) {
        self.features += 1;
        let mut end = Location(0);
        for &location in locations {
            if location < end {
                continue;
            }
            let (end_of_target, taxon) = self.of_targets[self.target_of.at(location).index()];
            end = end_of_target;
            let seen = &mut self.seen[taxon as usize];
            self.counts[taxon as usize] += u64::from(*seen != self.features);
            *seen = self.features;
        }
    }

    /// What was counted; the counts of several are to be added.
    pub fn into_counts(mut self) -> Vec<u64> {
        self.counts.pop();
        self.counts
    }
}

/// Of each target the end of its windows, and the number of its taxon: `taxa` where it has none.
pub(crate) fn of_targets(targets: &Targets, taxa: usize) -> Vec<(Location, u32)> {
    let of_target = |id| {
        let taxon = targets.get(id).taxon.map_or(taxa, Taxon::index);
        (targets.windows(id).end, taxon.min(taxa) as u32)
    };
    targets.ids().map(of_target).collect()
}

/// The bytes that [`from_bytes`] reads.
pub(crate) fn to_bytes(counts: &[u64]) -> Vec<u8> {
    counts
        .iter()
        .flat_map(|count| count.to_le_bytes())
        .collect()
}

/// A count for each of `taxa` taxa; `None` when there are not as many.
pub(crate) fn from_bytes(bytes: &[u8], taxa: usize) -> Option<Vec<u64>> {
    let (counts, rest) = bytes.as_chunks();
    (counts.len() == taxa && rest.is_empty()).then(|| {
        counts
            .iter()
            .map(|count| u64::from_le_bytes(*count))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Target;
    use gyrase_taxonomy::Taxon;

    #[test]
    fn a_feature_counts_once_for_a_taxon() {
        let mut targets = Targets::default();
        for (taxon, windows) in [
            (Some(2), 3),
            (None, 2),
            (Some(0), 0),
            (Some(1), 1),
            (Some(2), 5),
        ] {
            targets
                .push(Target {
                    name: String::new(),
                    taxon: taxon.map(Taxon),
                    letters: 0,
                    windows,
                    source: 0,
                })
                .unwrap();
        }
        let target_of = targets.finder();
        let of_targets = of_targets(&targets, 3);
        let mut distinct = Distinct::new(&target_of, &of_targets, 3);
        for locations in [&[0, 1, 2, 6, 10][..], &[3], &[4, 5], &[5, 6], &[7]] {
            distinct.add(&locations.iter().copied().map(Location).collect::<Vec<_>>());
        }
        assert_eq!(distinct.into_counts(), [0, 2, 3]);
    }

    #[test]
    fn bytes_are_of_as_many_taxa_or_refused() {
        let bytes = to_bytes(&[3, 1 << 40]);
        assert_eq!(from_bytes(&bytes, 2), Some(vec![3, 1 << 40]));
        assert_eq!(
            [
                from_bytes(&bytes, 1),
                from_bytes(&bytes[1..], 2),
                from_bytes(&[], 2)
            ],
            [None, None, None]
        );
    }
}
