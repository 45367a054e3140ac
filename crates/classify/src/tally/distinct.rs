//! How many different features there were, in a few kilobytes.

use crate::bytes::Reader;

/// Distinct features that are kept; below this number the count is exact.
const KEPT: usize = 2048;

/// A set of features of which only the number is asked.
///
/// Every feature has a place, a bijection of its 32 bits that scatters it evenly. The set keeps the
/// 2,048 smallest places: fewer than that are counted exactly, from more the largest of them gives
/// an estimate with a standard error of 2.2 %. What is kept depends on the features alone, not on
/// their order nor on how sets were merged.
#[derive(Clone, Debug)]
pub struct Distinct {
    /// Places, unsorted and with repeats behind the sorted ones.
    places: Vec<u32>,
    /// No place from here on needs to be kept.
    bound: u64,
}

impl Default for Distinct {
    fn default() -> Distinct {
        Distinct {
            places: Vec::new(),
            bound: 1 << 32,
        }
    }
}

impl PartialEq for Distinct {
    fn eq(&self, other: &Distinct) -> bool {
        self.settled() == other.settled()
    }
}

impl Distinct {
    /// Adds a feature.
    pub fn insert(&mut self, feature: u32) {
        self.keep(place(feature));
    }

    /// Adds all features of another set.
    pub fn merge(&mut self, other: &Distinct) {
        other.places.iter().for_each(|&place| self.keep(place));
    }

    /// How many distinct features were added: exact below 2,048, an estimate from there on.
    pub fn count(&self) -> u64 {
        let places = self.settled();
        match places.get(KEPT - 1) {
            None => places.len() as u64,
            Some(&last) => ((KEPT as u64 - 1) << 32) / (u64::from(last) + 1),
        }
    }

    /// Appends how many places are kept (u32), and these.
    pub(super) fn put(&self, to: &mut Vec<u8>) {
        let places = self.settled();
        to.extend((places.len() as u32).to_le_bytes());
        to.extend(places.iter().flat_map(|place| place.to_le_bytes()));
    }

    /// Takes what [`Distinct::put`] wrote.
    pub(super) fn take(reader: &mut Reader<'_>) -> Option<Distinct> {
        let mut distinct = Distinct::default();
        for _ in 0..reader.u32()? {
            distinct.keep(reader.u32()?);
        }
        Some(distinct)
    }

    fn keep(&mut self, place: u32) {
        if u64::from(place) >= self.bound {
            return;
        }
        self.places.push(place);
        if self.places.len() == 2 * KEPT {
            self.places = self.settled();
            self.bound = self
                .places
                .get(KEPT - 1)
                .map_or(self.bound, |&last| u64::from(last));
        }
    }

    /// The smallest distinct places, ascending.
    fn settled(&self) -> Vec<u32> {
        let mut places = self.places.clone();
        places.sort_unstable();
        places.dedup();
        places.truncate(KEPT);
        places
    }
}

/// The finishing steps of MurmurHash3: a bijection, because the features of sketches are the small
/// hashes.
fn place(feature: u32) -> u32 {
    let mut place = feature;
    place = (place ^ (place >> 16)).wrapping_mul(0x85eb_ca6b);
    place = (place ^ (place >> 13)).wrapping_mul(0xc2b2_ae35);
    place ^ (place >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(features: impl Iterator<Item = u32>) -> Distinct {
        let mut set = Distinct::default();
        features.for_each(|feature| set.insert(feature));
        set
    }

    #[test]
    fn few_features_are_counted_exactly() {
        assert_eq!(Distinct::default().count(), 0);
        for count in [1, 2, 100, 2046, 2047] {
            let repeated = (0..10 * count).map(|i| (i % count) * 977);
            assert_eq!(set(repeated).count(), u64::from(count), "{count}");
        }
    }

    #[test]
    fn many_features_are_estimated_within_a_tenth() {
        for count in [2048u32, 5000, 100_000, 3_000_000] {
            let estimate = set(0..count).count() as f64;
            let error = (estimate / f64::from(count) - 1.0).abs();
            assert!(error < 0.1, "{count} {estimate}");
        }
    }

    #[test]
    fn order_and_merging_do_not_matter() {
        let forward = set(0..50_000);
        assert_eq!(set((0..50_000).rev()), forward);
        let mut merged = set((0..50_000).filter(|i| i % 3 == 0));
        merged.merge(&set((0..50_000).filter(|i| i % 3 != 0)));
        merged.merge(&set(100..200));
        assert_eq!(merged, forward);
        assert_eq!(merged.count(), forward.count());
        assert_ne!(set(0..2000), set(1..2000));
    }
}
