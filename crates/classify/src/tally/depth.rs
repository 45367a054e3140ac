//! How many reads were found in each window.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use gyrase_table::gydb::Location;

/// Windows of one entry.
const RUN: u32 = 64;

/// Reads per window; parts of genomes without reads take no room.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Depth {
    pub(super) runs: HashMap<u32, Box<[u32; RUN as usize]>>,
}

impl Depth {
    /// Counts a read in every window of a range, as in those of a candidate.
    pub fn add(&mut self, windows: RangeInclusive<Location>) {
        for window in windows.start().0..=windows.end().0 {
            let run = self
                .runs
                .entry(window / RUN)
                .or_insert_with(|| Box::new([0; RUN as usize]));
            let reads = &mut run[(window % RUN) as usize];
            *reads = reads.saturating_add(1);
        }
    }

    /// Adds what was counted elsewhere.
    pub fn merge(&mut self, other: &Depth) {
        for (&place, counts) in &other.runs {
            let run = self
                .runs
                .entry(place)
                .or_insert_with(|| Box::new([0; RUN as usize]));
            run.iter_mut()
                .zip(counts.iter())
                .for_each(|(reads, more)| *reads = reads.saturating_add(*more));
        }
    }

    /// Reads in a window, up to 4,294,967,295.
    pub fn reads(&self, window: Location) -> u32 {
        self.runs
            .get(&(window.0 / RUN))
            .map_or(0, |run| run[(window.0 % RUN) as usize])
    }

    /// Reads in each window of a range, as in those of one genome.
    pub fn of(&self, windows: Range<Location>) -> Vec<u32> {
        (windows.start.0..windows.end.0)
            .map(|window| self.reads(Location(window)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted_in_all_their_windows() {
        let mut depth = Depth::default();
        for (first, last) in [(62, 65), (64, 64), (u32::MAX - 1, u32::MAX)] {
            depth.add(Location(first)..=Location(last));
        }
        let of = |first, end| depth.of(Location(first)..Location(end));
        assert_eq!(of(61, 67), [0, 1, 1, 2, 1, 0]);
        let reads = [u32::MAX, 1_000_000].map(|window| depth.reads(Location(window)));
        assert_eq!(reads, [1, 0]);
        assert!(of(5, 5).is_empty());
    }

    #[test]
    fn parts_in_any_order_give_the_whole() {
        let part = |reads: Range<u32>| {
            let mut depth = Depth::default();
            for read in reads {
                let first = Location(read * 31 % 977);
                depth.add(first..=first.behind(read % 3));
            }
            depth
        };
        let whole = part(0..5000);
        let mut merged = part(3000..5000);
        merged.merge(&part(0..3000));
        assert_eq!(merged, whole);
        assert_eq!(
            whole.of(Location(0)..Location(1000)).iter().sum::<u32>(),
            (0..5000).map(|read| read % 3 + 1).sum::<u32>()
        );
    }
}
