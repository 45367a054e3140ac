//! What the reads of one sample were assigned to, and what speaks for each taxon.
//!
//! A [`Tally`] is filled read by read, in any order, by any number of workers; merged tallies equal
//! the tally of all reads. It counts exactly, except that the distinct features of a taxon are
//! estimated once there are many ([`Distinct`]).

mod bytes;
mod depth;
mod distinct;
mod windows;

use std::collections::BTreeMap;

pub use self::depth::Depth;
pub use self::distinct::Distinct;
pub use self::windows::Windows;
use gyrase_table::gydb::Location;
use gyrase_taxonomy::Taxon;

/// Reads per taxon, reads without one, and the evidence for each taxon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// By taxon; as long as the largest taxon with reads.
    reads: Vec<u64>,
    classified: u64,
    unclassified: u64,
    evidence: BTreeMap<Taxon, Evidence>,
}

impl Tally {
    /// A tally of no reads.
    pub fn new() -> Tally {
        Tally::default()
    }

    /// Counts reads as assigned to `taxon` itself. A pair of mates is one read.
    pub fn assign(&mut self, taxon: Taxon, reads: u64) {
        if reads == 0 {
            return;
        }
        let place = taxon.index();
        if place >= self.reads.len() {
            self.reads.resize(place + 1, 0);
        }
        self.reads[place] += reads;
        self.classified += reads;
    }

    /// Counts reads that no taxon was found for.
    pub fn leave(&mut self, reads: u64) {
        self.unclassified += reads;
    }

    /// Reads that were assigned to `taxon` itself, without those of the taxa below it.
    pub fn reads(&self, taxon: Taxon) -> u64 {
        self.reads.get(taxon.index()).copied().unwrap_or(0)
    }

    /// Reads with a taxon.
    pub fn classified(&self) -> u64 {
        self.classified
    }

    /// Reads without a taxon.
    pub fn unclassified(&self) -> u64 {
        self.unclassified
    }

    /// All reads, classified or not.
    pub fn total(&self) -> u64 {
        self.classified + self.unclassified
    }

    /// The taxa that reads were assigned to, ascending, each with its reads.
    pub fn taxa(&self) -> impl Iterator<Item = (Taxon, u64)> + '_ {
        let counted = (0..).zip(&self.reads).filter(|entry| *entry.1 > 0);
        counted.map(|(taxon, &reads)| (Taxon(taxon), reads))
    }

    /// What was noted of `taxon` itself; nothing where nothing was.
    pub fn evidence(&self, taxon: Taxon) -> Option<&Evidence> {
        self.evidence.get(&taxon)
    }

    /// The place to note evidence for `taxon` itself.
    pub fn evidence_mut(&mut self, taxon: Taxon) -> &mut Evidence {
        self.evidence.entry(taxon).or_default()
    }

    /// The taxa that evidence was noted for, ascending.
    pub fn witnessed(&self) -> impl Iterator<Item = (Taxon, &Evidence)> {
        self.evidence
            .iter()
            .map(|(&taxon, evidence)| (taxon, evidence))
    }

    /// Tells of every taxon with evidence how many distinct features and windows its targets have,
    /// where that is known.
    pub fn know(
        &mut self,
        features: impl Fn(Taxon) -> Option<u64>,
        windows: impl Fn(Taxon) -> Option<u64>,
    ) {
        for (&taxon, evidence) in &mut self.evidence {
            evidence.all_features = features(taxon);
            evidence.all_windows = windows(taxon);
        }
    }

    /// Adds the reads and the evidence of another tally over the same taxonomy and database.
    pub fn merge(&mut self, other: &Tally) {
        for (taxon, reads) in other.taxa() {
            self.assign(taxon, reads);
        }
        self.unclassified += other.unclassified;
        for (taxon, evidence) in other.witnessed() {
            self.evidence_mut(taxon).merge(evidence);
        }
    }
}

/// What speaks for one taxon beside its number of reads.
///
/// Many reads that hit few different features, or few of the windows, are a sign of a region shared
/// with another genome and not of the taxon.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Features of the reads of the taxon that were found in it, each as often as it was found.
    pub hits: u64,
    /// Which features those were.
    pub features: Distinct,
    /// How many distinct features the targets of the taxon have, where that is known.
    pub all_features: Option<u64>,
    /// The windows of the targets of the taxon that reads were found in.
    pub windows: Windows,
    /// How many windows the targets of the taxon have, where that is known.
    pub all_windows: Option<u64>,
    /// Of a clade, the sum of what was expected of its taxa.
    expected: Option<f64>,
}

impl Evidence {
    /// Notes features of one read that were found in the taxon, and the windows that they were
    /// found in.
    pub fn hit_in(&mut self, features: &[u32], windows: impl Iterator<Item = Location>) {
        self.hit(features);
        windows.for_each(|window| self.windows.insert(window));
    }

    /// Notes features of one read that were found in the taxon.
    pub fn hit(&mut self, features: &[u32]) {
        self.hits += features.len() as u64;
        features
            .iter()
            .for_each(|&feature| self.features.insert(feature));
    }

    /// How many different features those were; estimated where there are many, and never more than
    /// the hits.
    pub fn distinct(&self) -> u64 {
        self.features.count().min(self.hits)
    }

    /// How many distinct features so many hits reach when every feature of the taxon is as likely
    /// as any other: `n (1 - (1 - 1/n)^hits)` of n; for a clade the sum over its taxa. Nothing
    /// where the number of all features is not known.
    pub fn expected_features(&self) -> Option<f64> {
        if self.expected.is_some() {
            return self.expected;
        }
        let all = self.all_features? as f64;
        if all < 2.0 {
            return Some(all.min(self.hits as f64));
        }
        Some(-all * (self.hits as f64 * (-1.0 / all).ln_1p()).exp_m1())
    }

    /// The share of the windows that reads were found in, 0 to 1; nothing where the number of
    /// windows is not known.
    pub fn coverage(&self) -> Option<f64> {
        let all = self.all_windows.filter(|&all| all > 0)?;
        Some(self.windows.len() as f64 / all as f64)
    }

    /// Adds what other reads gave for the same taxon.
    pub fn merge(&mut self, other: &Evidence) {
        self.found(other);
        self.all_features = self.all_features.max(other.all_features);
        self.all_windows = self.all_windows.max(other.all_windows);
    }

    /// Adds the evidence of a taxon below, so that it speaks for the clade.
    pub fn add_below(&mut self, below: &Evidence) {
        // Hits of one taxon cannot be expected on the features of another.
        self.expected = sum(self.expected_features(), below.expected_features());
        self.found(below);
        self.all_features = sum(self.all_features, below.all_features);
        self.all_windows = sum(self.all_windows, below.all_windows);
    }

    /// Its numbers, without what they were counted with.
    pub(crate) fn numbers(&self) -> EvidenceNumbers {
        EvidenceNumbers {
            hits: self.hits,
            distinct: self.distinct(),
            expected_features: self.expected_features(),
            covered_windows: self.windows.len(),
            all_windows: self.all_windows,
            coverage: self.coverage(),
        }
    }

    fn found(&mut self, other: &Evidence) {
        self.hits += other.hits;
        self.features.merge(&other.features);
        self.windows.merge(&other.windows);
    }
}

/// What an [`Evidence`] amounts to; each number as the method or field of this name gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EvidenceNumbers {
    pub hits: u64,
    pub distinct: u64,
    pub expected_features: Option<f64>,
    pub covered_windows: u64,
    pub all_windows: Option<u64>,
    pub coverage: Option<f64>,
}

fn sum<N: std::ops::Add<Output = N>>(a: Option<N>, b: Option<N>) -> Option<N> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a + b),
        (known, None) | (None, known) => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_and_their_sums() {
        let mut tally = Tally::new();
        assert_eq!(
            (tally.total(), tally.reads(Taxon(7)), tally.taxa().count()),
            (0, 0, 0)
        );
        for (taxon, reads) in [(7, 2), (3, 1), (7, 3), (9, 0)] {
            tally.assign(Taxon(taxon), reads);
        }
        tally.leave(4);
        assert_eq!(
            tally.taxa().collect::<Vec<_>>(),
            [(Taxon(3), 1), (Taxon(7), 5)]
        );
        assert_eq!(
            (tally.classified(), tally.unclassified(), tally.total()),
            (6, 4, 10)
        );
        assert_eq!(
            [7, 9, u32::MAX].map(|taxon| tally.reads(Taxon(taxon))),
            [5, 0, 0]
        );
    }

    /// Notes the reads of `range` in a tally of their own.
    fn part(range: impl Iterator<Item = u32>) -> Tally {
        let mut tally = Tally::new();
        for read in range {
            match read % 5 {
                0 => tally.leave(1),
                rest => {
                    let taxon = Taxon(rest * rest);
                    tally.assign(taxon, 1);
                    let evidence = tally.evidence_mut(taxon);
                    evidence.hit(&[read, read / 2, 77]);
                    evidence.windows.insert(Location(read / 3));
                    evidence.all_windows = Some(1000);
                }
            }
        }
        tally
    }

    #[test]
    fn parts_in_any_order_give_the_whole() {
        let whole = part(0..20_000);
        let mut forward = part(0..7000);
        forward.merge(&part(7000..20_000));
        let mut backward = part((7000..20_000).rev());
        backward.merge(&part((0..7000).rev()));
        backward.merge(&Tally::new());
        assert_eq!(forward, whole);
        assert_eq!(backward, whole);
        assert_eq!(
            whole
                .evidence(Taxon(4))
                .map(|evidence| evidence.all_windows),
            Some(Some(1000))
        );
        assert_eq!(whole.evidence(Taxon(5)), None);
    }

    #[test]
    fn expected_features_are_those_of_random_hits() {
        let expected = |all, hits| {
            Evidence {
                hits,
                all_features: Some(all),
                ..Evidence::default()
            }
            .expected_features()
        };
        assert_eq!(Evidence::default().expected_features(), None);
        assert_eq!(
            (expected(0, 9), expected(1, 0), expected(1, 9)),
            (Some(0.0), Some(0.0), Some(1.0))
        );
        let of = |all, hits| expected(all, hits).unwrap();
        // Two draws of two features: the second is a new one half the time.
        assert!((of(2, 2) - 1.5).abs() < 1e-12);
        assert!((of(1_000_000_000, 1000) - 1000.0).abs() < 0.001);
        assert!((of(100, 1_000_000) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_clade_sums_what_is_known() {
        let mut clade = Evidence {
            all_windows: Some(10),
            ..Evidence::default()
        };
        clade.windows.insert(Location(3));
        let mut below = Evidence {
            all_windows: Some(30),
            all_features: Some(5),
            ..Evidence::default()
        };
        below.windows.insert(Location(12));
        below.hit(&[1, 1]);
        clade.add_below(&below);
        assert_eq!(
            (clade.all_windows, clade.all_features, clade.hits),
            (Some(40), Some(5), 2)
        );
        assert_eq!((clade.coverage(), clade.features.count()), (Some(0.05), 1));
        let hits = |hits| Evidence {
            hits,
            all_features: Some(10),
            ..Evidence::default()
        };
        let (few, many) = (hits(1), hits(1000));
        let mut both = few.clone();
        both.add_below(&many);
        both.add_below(&few);
        assert!((both.expected_features().unwrap() - 12.0).abs() < 1e-9);
        assert_eq!(
            Evidence {
                all_windows: Some(0),
                ..Evidence::default()
            }
            .coverage(),
            None
        );
    }
}
