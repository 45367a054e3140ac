//! Databases whose locations go into another one, with other numbers or not at all.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_table::gydb::{Database, GydbError, Location, place_of};

use crate::targets::Targets;

/// A database on its way into another.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    features: &'a Database,
    moves: Moves,
    /// Features that had as many locations as they may and lost some: what the cap had left out
    /// does not come back.
    incomplete: AtomicU64,
}

impl<'a> Part<'a> {
    /// `features` with their windows moved.
    pub(crate) fn new(features: &'a Database, moves: Moves) -> Part<'a> {
        Part {
            features,
            moves,
            incomplete: AtomicU64::new(0),
        }
    }

    /// How many records a partition has at most.
    pub(crate) fn most_rows(&self, partition: usize) -> u64 {
        self.features.bytes_of(partition..partition + 1) / size_of::<u32>() as u64
    }

    /// Appends the records of a partition (the place of a feature in the upper half, a location in
    /// the lower), ascending.
    pub(crate) fn rows(&self, partition: usize, rows: &mut Vec<u64>) -> Result<(), GydbError> {
        let cap = usize::from(self.features.summary().cap);
        let mut incomplete = 0;
        for feature in self.features.features_of(partition..partition + 1) {
            let (feature, locations) = feature?;
            let (place, before) = (u64::from(place_of(feature)) << 32, rows.len());
            self.moves.each(locations, |location| {
                rows.push(place | u64::from(location.0))
            });
            let kept = rows.len() - before;
            incomplete += u64::from(locations.len() == cap && kept > 0 && kept < cap);
        }
        self.features.let_go(partition..partition + 1);
        self.incomplete.fetch_add(incomplete, Relaxed);
        Ok(())
    }

    /// Features that have lost locations, though others that the cap had left out would have had
    /// room then: of the partitions whose rows were asked for.
    pub(crate) fn incomplete(&self) -> u64 {
        self.incomplete.load(Relaxed)
    }
}

/// Where windows go. They keep their order.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Moves {
    /// Neighbouring windows with a common fate, by the first: which number that gets, or that none
    /// of them stays. The first run begins at 0.
    runs: Vec<(Location, Option<Location>)>,
}

impl Moves {
    /// All windows, from number `first` on.
    pub(crate) fn behind(first: Location) -> Moves {
        Moves {
            runs: vec![(Location(0), Some(first))],
        }
    }

    /// The windows of the targets that are kept, numbered anew from 0.
    pub(crate) fn of_kept(targets: &Targets, kept: &[bool]) -> Moves {
        let mut runs = vec![(Location(0), None)];
        let mut next = Location(0);
        for (target, &kept) in targets.ids().zip(kept) {
            let windows = targets.windows(target);
            let goes_on = runs.last().is_some_and(|run| run.1.is_some() == kept);
            if !windows.is_empty() && !goes_on {
                runs.push((windows.start, kept.then_some(next)));
            }
            if kept {
                next = next.behind(targets.get(target).windows);
            }
        }
        Moves { runs }
    }

    /// Calls `each` with the new numbers of ascending locations, ascending.
    fn each(&self, locations: &[Location], mut each: impl FnMut(Location)) {
        let mut run = 0;
        for &location in locations {
            run += self.runs[run + 1..].partition_point(|next| next.0 <= location);
            let (first, to) = self.runs[run];
            if let Some(to) = to {
                each(to.behind(location.0 - first.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Target;
    use proptest::prelude::*;

    fn moved(moves: &Moves, locations: &[u32]) -> Vec<u32> {
        let (mut moved, locations) = (Vec::new(), locations.iter().copied().map(Location));
        moves.each(&locations.collect::<Vec<_>>(), |location| {
            moved.push(location.0)
        });
        moved
    }

    proptest! {
        #[test]
        fn kept_windows_close_up(
            targets in proptest::collection::vec((0..5u32, any::<bool>()), 0..20),
            step in 1..3usize,
        ) {
            let mut all = Targets::default();
            for &(windows, _) in &targets {
                all.push(Target {
                    name: String::new(),
                    taxon: None,
                    letters: 0,
                    windows,
                    source: 0,
                })
                .unwrap();
            }
            let kept: Vec<bool> = targets.iter().map(|target| target.1).collect();
            let moves = Moves::of_kept(&all, &kept);
            let stays = |&window: &u32| kept[all.at(Location(window)).index()];
            let locations: Vec<u32> = (0..all.all_windows()).step_by(step).collect();
            let naive = |location: &u32| (0..*location).filter(stays).count() as u32;
            let expected: Vec<u32> = locations
                .iter()
                .filter(|window| stays(window))
                .map(naive)
                .collect();
            prop_assert_eq!(moved(&moves, &locations), expected);
        }
    }

    #[test]
    fn all_windows_move_together() {
        assert_eq!(
            moved(&Moves::behind(Location(7)), &[0, 3, u32::MAX - 7]),
            [7, 10, u32::MAX]
        );
    }
}
