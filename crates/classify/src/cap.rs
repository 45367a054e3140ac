//! The cap of locations: which of them a feature keeps that has too many.
//!
//! What stays depends on the names of the targets and on the windows within them, neither on what
//! else is in the database nor on the order of the references. So the cap of lists that were capped
//! before is the cap of all their locations, and databases can be merged, added to and queried in
//! parts as if they had been built as one.

use std::collections::BinaryHeap;

use gyrase_kmer::mix;
use gyrase_table::gydb::Location;

use crate::targets::Targets;

/// Chooses the locations that a feature keeps.
#[derive(Debug)]
pub struct Cap<'t> {
    targets: &'t Targets,
    /// The checksum of the name of each target.
    names: Vec<u64>,
    most: usize,
}

impl<'t> Cap<'t> {
    /// Keeps up to `most` locations of windows of `targets`.
    pub fn new(targets: &'t Targets, most: u8) -> Cap<'t> {
        let names = targets
            .iter()
            .map(|target| checksum(&target.name))
            .collect();
        Cap {
            targets,
            names,
            most: usize::from(most),
        }
    }

    /// The checksum of the name of each target, which the choice depends on.
    pub(crate) fn names(&self) -> &[u64] {
        &self.names
    }

    /// The most locations that a feature keeps.
    pub fn most(&self) -> usize {
        self.most
    }

    /// Leaves of ascending `locations` those that the feature keeps, ascending.
    ///
    /// # Panics
    /// When a location is no window of the targets.
    pub fn keep(&self, locations: &mut Vec<Location>) {
        if locations.len() > self.most {
            *locations = self.choose(locations.iter().copied());
        }
    }

    /// The `most` locations of smallest rank, ascending; all where there are fewer. It takes memory
    /// for those that are chosen only.
    ///
    /// # Panics
    /// As [`Cap::keep`].
    pub fn choose(&self, locations: impl Iterator<Item = Location>) -> Vec<Location> {
        let mut chosen = BinaryHeap::with_capacity(self.most + 1);
        for location in locations {
            let ranked = (self.rank(location), location);
            if chosen.len() < self.most {
                chosen.push(ranked);
            } else if chosen.peek().is_some_and(|worst| ranked < *worst) {
                chosen.pop();
                chosen.push(ranked);
            }
        }
        let mut chosen: Vec<Location> = chosen.into_iter().map(|(_, location)| location).collect();
        chosen.sort_unstable();
        chosen
    }

    /// What a location is chosen by, the smallest first. Targets of one name share their ranks; of
    /// their locations the first come first.
    fn rank(&self, location: Location) -> u64 {
        let target = self.targets.at(location);
        let within = location.0 - self.targets.windows(target).start.0;
        mix(self.names[target.index()] ^ u64::from(within))
    }
}

/// A checksum of a name in which every bit depends on every byte.
fn checksum(name: &str) -> u64 {
    name.bytes()
        .fold(0, |sum, byte| mix(sum ^ u64::from(byte)).wrapping_add(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::{Target, TargetId};

    fn targets(names: impl IntoIterator<Item = (String, u32)>) -> Targets {
        let mut targets = Targets::default();
        for (name, windows) in names {
            targets
                .push(Target {
                    name,
                    taxon: None,
                    letters: 0,
                    windows,
                    source: 0,
                })
                .unwrap();
        }
        targets
    }

    /// Ninety targets with 0 to 12 windows.
    fn parts() -> Vec<(String, u32)> {
        (0..90)
            .map(|i| (format!("chr{i}"), (mix(i) % 13) as u32))
            .collect()
    }

    fn all_of(targets: &Targets) -> Vec<Location> {
        (0..targets.all_windows()).map(Location).collect()
    }

    /// All locations, ranked and sorted.
    fn naive(targets: &Targets, locations: &[Location], most: usize) -> Vec<Location> {
        let cap = Cap::new(targets, 1);
        let mut ranked: Vec<(u64, Location)> = locations
            .iter()
            .map(|&location| (cap.rank(location), location))
            .collect();
        ranked.sort_unstable();
        ranked.truncate(most);
        let mut kept: Vec<Location> = ranked.into_iter().map(|(_, location)| location).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn the_smallest_ranks_stay() {
        let targets = targets(parts());
        for seed in 0..50 {
            let some = (0..targets.all_windows())
                .filter(|&window| mix(u64::from(window) ^ seed << 32) >> 62 > 0);
            let mut locations: Vec<Location> = some.map(Location).collect();
            let most = [1, 7, 100, 254][seed as usize % 4];
            let expected = naive(&targets, &locations, most);
            Cap::new(&targets, most as u8).keep(&mut locations);
            assert_eq!(locations, expected, "{seed}");
        }
    }

    /// Names and windows of locations, which are the same in any order of targets.
    fn named(targets: &Targets, locations: &[Location]) -> Vec<(String, u32)> {
        let name = |&location: &Location| {
            let target = targets.at(location);
            (
                targets.get(target).name.clone(),
                location.0 - targets.windows(target).start.0,
            )
        };
        let mut named: Vec<(String, u32)> = locations.iter().map(name).collect();
        named.sort();
        named
    }

    /// The numbers in `to` of windows that have their names from `from`.
    fn renumbered(from: &Targets, locations: &[Location], to: &Targets) -> Vec<Location> {
        let named = named(from, locations);
        let start = |name: &str| {
            let target = to.iter().position(|target| target.name == name).unwrap();
            to.windows(TargetId(target as u32)).start
        };
        named
            .iter()
            .map(|(name, within)| start(name).behind(*within))
            .collect()
    }

    #[test]
    fn lists_of_parts_merge_to_the_list_of_the_whole() {
        let mut shuffled = parts();
        for seed in 0..200u64 {
            shuffled.sort_by_key(|(name, _)| mix(checksum(name) ^ seed));
            let most = [1, 3, 40, 254][seed as usize % 4];
            let whole = targets(shuffled.clone());
            let all = naive(&whole, &all_of(&whole), usize::from(most));
            let mut merged = Vec::new();
            // Up to ten neighbouring parts of different sizes, some of them without a window.
            for part in shuffled.chunk_by(|one, _| mix(checksum(&one.0) ^ seed << 8) >> 61 > 0) {
                let part = targets(part.iter().cloned());
                let mut locations = all_of(&part);
                Cap::new(&part, most).keep(&mut locations);
                merged.extend(renumbered(&part, &locations, &whole));
            }
            merged.sort_unstable();
            Cap::new(&whole, most).keep(&mut merged);
            assert_eq!(merged, all, "{seed}");
            let in_order = targets(parts());
            let same = naive(&in_order, &all_of(&in_order), usize::from(most));
            assert_eq!(named(&whole, &merged), named(&in_order, &same), "{seed}");
        }
    }

    #[test]
    fn ranks_are_frozen() {
        let targets = targets([(String::new(), 1), ("NC_000913.3".to_string(), 9)]);
        let cap = Cap::new(&targets, 1);
        assert_eq!(
            [0, 1, 9].map(|location| cap.rank(Location(location))),
            [0, 0xb29f_cd03_6a6f_145b, 0x53fa_b589_8b8b_4513]
        );
    }

    #[test]
    fn targets_of_one_name_keep_their_first_windows() {
        let twins = targets(["a", "a", "a"].map(|name| (name.to_string(), 4)));
        let mut locations = all_of(&twins);
        Cap::new(&twins, 3).keep(&mut locations);
        let first = locations[0];
        assert_eq!(
            locations,
            [first, first.behind(4), first.behind(8)],
            "the same window of each has the smallest rank"
        );
        Cap::new(&twins, 2).keep(&mut locations);
        assert_eq!(locations, [first, first.behind(4)]);
    }
}
