//! Candidates: the regions of targets that a read may come from (thesis, section 6.4.3).

use crate::targets::Targets;

/// A region of a target and how many features of a read it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The target.
    pub target: u32,
    /// Its first window in the region; windows are numbered through over all targets.
    pub first: u32,
    /// Its last window in the region.
    pub last: u32,
    /// Locations of the read's features in the region: one for each window that a feature is in.
    pub hits: u32,
}

/// Finds the best region of every target.
#[derive(Debug, Default)]
pub struct Regions {
    /// Windows hit, ascending, and how often.
    windows: Vec<(u32, u32)>,
}

impl Regions {
    /// Calls `each` with the best region of every target that `locations` (of all features of one read, in any order; sorted
    /// afterwards) hit, ascending: the stretch of up to `span` windows with the most hits, the first of equals.
    pub fn best(&mut self, locations: &mut [u32], span: u32, targets: &Targets, mut each: impl FnMut(Candidate)) {
        locations.sort_unstable();
        self.windows.clear();
        for run in locations.chunk_by(|one, other| one == other) {
            self.windows.push((run[0], run.len() as u32));
        }
        let mut rest = &self.windows[..];
        while let Some(&(window, _)) = rest.first() {
            let target = targets.of_window(window);
            let end = targets.windows(target).end;
            let (of_target, others) = rest.split_at(rest.partition_point(|&(window, _)| window < end));
            each(best_region(target, of_target, span));
            rest = others;
        }
    }
}

/// The stretch of up to `span` windows with the most hits.
fn best_region(target: u32, windows: &[(u32, u32)], span: u32) -> Candidate {
    let (mut from, mut hits) = (0, 0);
    let mut best = Candidate { target, first: 0, last: 0, hits: 0 };
    for &(last, more) in windows {
        hits += more;
        while last - windows[from].0 >= span {
            hits -= windows[from].1;
            from += 1;
        }
        if hits > best.hits {
            best = Candidate { target, first: windows[from].0, last, hits };
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
            targets.push(Target { name: String::new(), taxon: None, letters: 0, windows }).unwrap();
        }
        targets
    }

    /// Tries every stretch.
    fn naive(locations: &[u32], span: u32, targets: &Targets) -> Vec<Candidate> {
        let mut all = Vec::new();
        for target in 0..targets.len() as u32 {
            let windows = targets.windows(target);
            let hits = |range: std::ops::Range<u32>| locations.iter().filter(|at| range.contains(at)).count() as u32;
            let ends = windows.clone().map(|last| {
                let region = windows.start.max((last + 1).saturating_sub(span))..last + 1;
                (hits(region.clone()), region)
            });
            let Some(most) = ends.clone().map(|(hits, _)| hits).max().filter(|&hits| hits > 0) else { continue };
            let (_, region) = ends.into_iter().find(|(hits, _)| *hits == most).unwrap();
            let inside = || locations.iter().copied().filter(|at| region.contains(at));
            let (first, last) = (inside().min().unwrap(), inside().max().unwrap());
            all.push(Candidate { target, first, last, hits: most });
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
            let mut locations: Vec<u32> = picks.into_iter().filter(|_| all > 0).map(|pick| pick % all.max(1)).collect();
            let mut found = Vec::new();
            let expected = naive(&locations, span, &targets);
            Regions::default().best(&mut locations, span, &targets, |candidate| found.push(candidate));
            prop_assert_eq!(found, expected);
        }
    }
}
