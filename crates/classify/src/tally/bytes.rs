//! What reads were assigned to in bytes, for the processes that share a sample.
//!
//! Little-endian; what is listed is listed in ascending order, so equal tallies give equal bytes.

use super::{Depth, Distinct, Evidence, Tally, Windows};
use crate::bytes::{Reader, put_option};
use gyrase_taxonomy::Taxon;

impl Tally {
    /// The tally in bytes: unclassified reads (u64); how many taxa have reads (u64), taxon (u32)
    /// and reads (u64) of each; how many taxa have evidence (u64), taxon (u32) and evidence of
    /// each.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = self.unclassified().to_le_bytes().to_vec();
        to.extend((self.taxa().count() as u64).to_le_bytes());
        for (taxon, reads) in self.taxa() {
            to.extend(taxon.0.to_le_bytes());
            to.extend(reads.to_le_bytes());
        }
        to.extend((self.witnessed().count() as u64).to_le_bytes());
        for (taxon, evidence) in self.witnessed() {
            to.extend(taxon.0.to_le_bytes());
            evidence.put(&mut to);
        }
        to
    }

    /// Reads what [`Tally::to_bytes`] wrote; nothing for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Tally> {
        let mut reader = Reader::new(bytes);
        let mut tally = Tally::new();
        tally.leave(reader.u64()?);
        for _ in 0..reader.u64()? {
            let taxon = Taxon(reader.u32()?);
            tally.assign(taxon, reader.u64()?);
        }
        for _ in 0..reader.u64()? {
            let taxon = Taxon(reader.u32()?);
            *tally.evidence_mut(taxon) = Evidence::take(&mut reader)?;
        }
        reader.is_done().then_some(tally)
    }
}

impl Evidence {
    fn put(&self, to: &mut Vec<u8>) {
        to.extend(self.hits.to_le_bytes());
        self.features.put(to);
        put_option(to, self.all_features);
        self.windows.put(to);
        put_option(to, self.all_windows);
        put_option(to, self.expected.map(f64::to_bits));
    }

    fn take(reader: &mut Reader<'_>) -> Option<Evidence> {
        Some(Evidence {
            hits: reader.u64()?,
            features: Distinct::take(reader)?,
            all_features: reader.option()?,
            windows: Windows::take(reader)?,
            all_windows: reader.option()?,
            expected: reader.option()?.map(f64::from_bits),
        })
    }
}

impl Depth {
    /// The depth in bytes: how many runs of windows (u64), number (u32) and reads of each window
    /// (u32) of each.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_unstable_by_key(|run| run.0);
        let mut to = (runs.len() as u64).to_le_bytes().to_vec();
        for (number, reads) in runs {
            to.extend(number.to_le_bytes());
            to.extend(reads.iter().flat_map(|reads| reads.to_le_bytes()));
        }
        to
    }

    /// Reads what [`Depth::to_bytes`] wrote; nothing for any other bytes.
    pub fn from_bytes(bytes: &[u8]) -> Option<Depth> {
        let mut reader = Reader::new(bytes);
        let mut depth = Depth::default();
        for _ in 0..reader.u64()? {
            let run = depth
                .runs
                .entry(reader.u32()?)
                .or_insert_with(|| Box::new([0; _]));
            for reads in run.iter_mut() {
                *reads = reader.u32()?;
            }
        }
        reader.is_done().then_some(depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_table::gydb::Location;

    fn tally(reads: impl Iterator<Item = u32>) -> Tally {
        let mut tally = Tally::new();
        for read in reads {
            match read % 5 {
                0 => tally.leave(1),
                rest => {
                    let taxon = Taxon(rest * rest);
                    tally.assign(taxon, 1);
                    let evidence = tally.evidence_mut(taxon);
                    evidence.hit_in(&[read, read / 2, 77], [Location(read / 3)].into_iter());
                    evidence.all_windows = (rest == 2).then_some(1000);
                }
            }
        }
        tally
    }

    #[test]
    fn shares_that_travel_give_the_whole() {
        let whole = tally(0..20_000);
        let mut merged = Tally::new();
        for share in [7000..20_000, 0..10, 10..7000] {
            let travelled = Tally::from_bytes(&tally(share).to_bytes());
            merged.merge(&travelled.expect("these are the bytes of a tally"));
        }
        assert_eq!(merged, whole);
        assert_eq!(merged.to_bytes(), whole.to_bytes());
        assert_eq!(
            Tally::from_bytes(&Tally::new().to_bytes()),
            Some(Tally::new())
        );
    }

    #[test]
    fn depth_travels() {
        let mut depth = Depth::default();
        for (first, last) in [(3, 4), (64, 200), (u32::MAX - 1, u32::MAX)] {
            depth.add(Location(first)..=Location(last));
        }
        assert_eq!(Depth::from_bytes(&depth.to_bytes()), Some(depth));
        assert_eq!(
            Depth::from_bytes(&Depth::default().to_bytes()),
            Some(Depth::default())
        );
    }

    #[test]
    fn other_bytes_are_refused() {
        let bytes = tally(0..500).to_bytes();
        for end in 0..bytes.len() {
            assert_eq!(Tally::from_bytes(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Tally::from_bytes(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Depth::from_bytes(&[1, 0, 0, 0, 0, 0, 0, 0, 9]), None);
    }
}
