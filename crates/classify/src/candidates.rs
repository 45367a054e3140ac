//! Candidates: the regions of targets that a read may come from (thesis, section 6.4.3).

use std::ops::Range;

use gyrase_table::gydb::Location;

use crate::targets::{TargetId, TargetOf, Targets};

/// A feature of a read at a location: the location in the upper half, the number of the feature
/// within the read in the lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Hit(u64);

impl Hit {
    /// The feature of that number within the read, at a location.
    #[inline(always)]
    pub fn new(location: Location, feature: u32) -> Hit {
        Hit(u64::from(location.0) << 32 | u64::from(feature))
    }

    /// The window that was hit.
    #[inline(always)]
    pub fn location(self) -> Location {
        Location((self.0 >> 32) as u32)
    }

    /// The number within the read of the feature that hit.
    #[inline(always)]
    pub fn feature(self) -> usize {
        self.0 as u32 as usize
    }
}

/// The windows of hits in order, each once.
pub fn windows_of(hits: &[Hit]) -> impl Iterator<Item = Location> {
    hits.chunk_by(|one, other| one.location() == other.location())
        .map(|of_window| of_window[0].location())
}

/// A region of a target that a read may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The target.
    pub target: TargetId,
    /// Its first window in the region.
    pub first: Location,
    /// Its last window in the region.
    pub last: Location,
    /// The hits in the region, in any order, as a range of all hits of the read.
    pub hits: Range<usize>,
}

/// Finds the best regions of reads. Make one and use it for many: what it needs is kept from read
/// to read.
#[derive(Debug)]
pub struct Regions<'t> {
    finder: TargetOf<'t>,
    /// What the read has in each target.
    shares: Vec<Share>,
    /// The targets hit, in the order of their first hits.
    hit: Vec<TargetId>,
    /// The target of each hit.
    of_hits: Vec<TargetId>,
    grouped: Vec<Hit>,
}

/// What a read has in a target.
#[derive(Clone, Copy, Debug)]
struct Share {
    hits: u32,
    /// Where the next of them goes.
    next: u32,
    /// The first and the last window with a hit.
    first: Location,
    last: Location,
}

impl Share {
    const NONE: Share = Share {
        hits: 0,
        next: 0,
        first: Location(u32::MAX),
        last: Location(0),
    };
}

impl<'t> Regions<'t> {
    /// Finds regions of these targets.
    pub fn new(targets: &'t Targets) -> Regions<'t> {
        let (shares, finder) = (vec![Share::NONE; targets.len()], targets.finder());
        Regions {
            finder,
            shares,
            hit: Vec::new(),
            of_hits: Vec::new(),
            grouped: Vec::new(),
        }
    }

    /// Calls `each` with the best region of every target hit, the targets in any order: the stretch
    /// of up to `span` windows with the most of `hits` (all of one read, in any order; those of a
    /// region are together afterwards, in any order), the first of equals.
    pub fn best(&mut self, hits: &mut [Hit], span: u32, mut each: impl FnMut(Candidate)) {
        self.count(hits);
        self.group(hits);
        let Regions { shares, hit, .. } = self;
        for target in hit.drain(..) {
            let share = std::mem::replace(&mut shares[target.index()], Share::NONE);
            let start = (share.next - share.hits) as usize;
            let of_target = start..share.next as usize;
            // Nearly always all hits of a target are near each other.
            let is_near = share.last.0 - share.first.0 < span;
            each(if is_near {
                Candidate {
                    target,
                    first: share.first,
                    last: share.last,
                    hits: of_target,
                }
            } else {
                best_of_target(target, hits, of_target, span)
            });
        }
    }

    /// Counts the hits in each target.
    fn count(&mut self, hits: &[Hit]) {
        let Regions {
            finder,
            shares,
            hit,
            of_hits,
            ..
        } = self;
        of_hits.clear();
        of_hits.extend(hits.iter().map(|&one| {
            let location = one.location();
            let target = finder.at(location);
            let share = &mut shares[target.index()];
            if share.hits == 0 {
                hit.push(target);
            }
            share.hits += 1;
            share.first = share.first.min(location);
            share.last = share.last.max(location);
            target
        }));
    }

    /// Brings the hits of each target together, in the order that they have.
    fn group(&mut self, hits: &mut [Hit]) {
        let Regions {
            shares,
            hit,
            of_hits,
            grouped,
            ..
        } = self;
        let mut next = 0;
        for &target in &*hit {
            let share = &mut shares[target.index()];
            share.next = next;
            next += share.hits;
        }
        grouped.resize(hits.len(), Hit::default());
        for (&one, &target) in hits.iter().zip(&*of_hits) {
            let next = &mut shares[target.index()].next;
            grouped[*next as usize] = one;
            *next += 1;
        }
        hits.copy_from_slice(grouped);
    }
}

/// The best region of a target, whose hits are in that range; they are sorted.
fn best_of_target(
    target: TargetId,
    hits: &mut [Hit],
    of_target: Range<usize>,
    span: u32,
) -> Candidate {
    let start = of_target.start;
    let hits = &mut hits[of_target];
    hits.sort_unstable();
    let region = best_region(hits, span);
    let [first, last] = [region.start, region.end - 1].map(|at| hits[at].location());
    Candidate {
        target,
        first,
        last,
        hits: start + region.start..start + region.end,
    }
}

/// Where in the sorted hits of one target most of them are within `span` windows.
fn best_region(hits: &[Hit], span: u32) -> Range<usize> {
    let (mut from, mut best) = (0, 0..0);
    for to in 0..hits.len() {
        while hits[to].location().0 - hits[from].location().0 >= span {
            from += 1;
        }
        if to + 1 - from > best.len() {
            best = from..to + 1;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::targets::Target;
    use proptest::prelude::*;

    fn targets(windows: &[u32]) -> Targets {
        let mut targets = Targets::default();
        for &windows in windows {
            targets
                .push(Target {
                    name: String::new(),
                    taxon: None,
                    letters: 0,
                    windows,
                    source: 0,
                })
                .unwrap();
        }
        targets
    }

    /// Tries every stretch: target, first and last window, hits.
    fn naive(windows: &[u32], span: u32, targets: &Targets) -> Vec<(TargetId, u32, u32, usize)> {
        let mut all = Vec::new();
        for target in targets.ids() {
            let of_target = targets.windows(target);
            let hits =
                |region: &Range<u32>| windows.iter().filter(|at| region.contains(at)).count();
            let (start, end) = (of_target.start.0, of_target.end.0);
            let regions =
                (start..end).map(|last| start.max((last + 1).saturating_sub(span))..last + 1);
            let Some(most) = regions
                .clone()
                .map(|region| hits(&region))
                .max()
                .filter(|&hits| hits > 0)
            else {
                continue;
            };
            let region = regions.clone().find(|region| hits(region) == most).unwrap();
            let inside = || windows.iter().copied().filter(|at| region.contains(at));
            all.push((
                target,
                inside().min().unwrap(),
                inside().max().unwrap(),
                most,
            ));
        }
        all
    }

    proptest! {
        #[test]
        fn the_best_region_of_every_target(
            sizes in proptest::collection::vec(0..9u32, 1..6), span in 1..5u32,
            picks in proptest::collection::vec(0..1000u32, 0..60),
        ) {
            let targets = targets(&sizes);
            let all = targets.all_windows();
            let windows: Vec<u32> = picks
                .into_iter()
                .filter(|_| all > 0)
                .map(|pick| pick % all.max(1))
                .collect();
            let mut hits: Vec<Hit> = (0..)
                .zip(&windows)
                .map(|(feature, &window)| Hit::new(Location(window), feature))
                .collect();
            let mut found = Vec::new();
            let before = hits.clone();
            let mut regions = Regions::new(&targets);
            regions.best(&mut hits, span, |one| found.push(one));
            for one in &found {
                let mut windows: Vec<Location> = hits[one.hits.clone()]
                    .iter()
                    .map(|hit| hit.location())
                    .collect();
                windows.sort_unstable();
                prop_assert_eq!(
                    [windows.first(), windows.last()],
                    [Some(&one.first), Some(&one.last)]
                );
            }
            let mut shown: Vec<_> = found
                .iter()
                .map(|one| (one.target, one.first.0, one.last.0, one.hits.len()))
                .collect();
            shown.sort_unstable();
            prop_assert_eq!(shown, naive(&windows, span, &targets));
            // It is ready for the next read, and no hit is lost.
            let mut again = Vec::new();
            regions.best(&mut before.clone(), span, |one| again.push(one));
            prop_assert_eq!(again, found);
            hits.sort_unstable_by_key(|hit| hit.feature());
            prop_assert_eq!(hits, before);
        }
    }
}
