//! Candidates: the regions of targets that a read may come from (thesis, section 6.4.3).

use std::ops::Range;

use crate::targets::Targets;

/// A feature of a read at a location: the window in the upper half, the number of the feature within the read in the lower.
pub type Hit = u64;

/// A feature of a read at a location.
#[inline(always)]
pub fn hit(window: u32, feature: u32) -> Hit {
    Hit::from(window) << 32 | Hit::from(feature)
}

/// The window of a hit.
pub fn window_of(hit: Hit) -> u32 {
    (hit >> 32) as u32
}

/// The windows of hits in order, each once.
pub fn windows_of(hits: &[Hit]) -> impl Iterator<Item = u32> {
    hits.chunk_by(|&one, &other| window_of(one) == window_of(other)).map(|of_window| window_of(of_window[0]))
}

/// The number within the read of the feature that hit.
pub fn feature_of(hit: Hit) -> usize {
    hit as u32 as usize
}

/// A region of a target that a read may come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The target.
    pub target: u32,
    /// Its first window in the region; windows are numbered through over all targets.
    pub first: u32,
    /// Its last window in the region.
    pub last: u32,
    /// The hits in the region, as a range of all hits of the read in order.
    pub hits: Range<usize>,
}

/// Calls `each` with the best region of every target hit, ascending: the stretch of up to `span` windows with the most of `hits`
/// (all of one read, in any order; sorted afterwards), the first of equals.
pub fn best_regions(hits: &mut [Hit], span: u32, targets: &Targets, mut each: impl FnMut(Candidate)) {
    hits.sort_unstable();
    let mut start = 0;
    while start < hits.len() {
        let target = targets.of_window(window_of(hits[start]));
        let end = targets.windows(target).end;
        let of_target = start + hits[start..].partition_point(|&hit| window_of(hit) < end);
        let region = best_region(&hits[start..of_target], span);
        let range = start + region.start..start + region.end;
        each(Candidate {
            target,
            first: window_of(hits[range.start]),
            last: window_of(hits[range.end - 1]),
            hits: range,
        });
        start = of_target;
    }
}

/// Where in the sorted hits of one target most of them are within `span` windows.
fn best_region(hits: &[Hit], span: u32) -> Range<usize> {
    let (mut from, mut best) = (0, 0..0);
    for to in 0..hits.len() {
        while window_of(hits[to]) - window_of(hits[from]) >= span {
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
            targets.push(Target { name: String::new(), taxon: None, letters: 0, windows, source: 0 }).unwrap();
        }
        targets
    }

    /// Tries every stretch: target, first and last window, hits.
    fn naive(windows: &[u32], span: u32, targets: &Targets) -> Vec<(u32, u32, u32, usize)> {
        let mut all = Vec::new();
        for target in 0..targets.len() as u32 {
            let of_target = targets.windows(target);
            let hits = |region: &Range<u32>| windows.iter().filter(|at| region.contains(at)).count();
            let regions = of_target.clone().map(|last| of_target.start.max((last + 1).saturating_sub(span))..last + 1);
            let Some(most) = regions.clone().map(|region| hits(&region)).max().filter(|&hits| hits > 0) else {
                continue;
            };
            let region = regions.clone().find(|region| hits(region) == most).unwrap();
            let inside = || windows.iter().copied().filter(|at| region.contains(at));
            all.push((target, inside().min().unwrap(), inside().max().unwrap(), most));
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
            let windows: Vec<u32> = picks.into_iter().filter(|_| all > 0).map(|pick| pick % all.max(1)).collect();
            let mut hits: Vec<Hit> = (0..).zip(&windows).map(|(feature, &window)| hit(window, feature)).collect();
            let mut found = Vec::new();
            best_regions(&mut hits, span, &targets, |one| found.push((one.target, one.first, one.last, one.hits.len())));
            prop_assert_eq!(found, naive(&windows, span, &targets));
            prop_assert!(hits.iter().all(|&hit| windows[feature_of(hit)] == window_of(hit)));
        }
    }
}
