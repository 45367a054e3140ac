//! The runs that are left when many have stepped out: so few that one process follows their chains.

use std::iter::successors;
use std::mem::replace;

use super::seen::{Seen, VIEW, View};

/// A run that is left.
pub(super) struct LeftRun {
    /// Its number among those of all.
    pub(super) number: u32,
    pub(super) kmers: u64,
    /// What its ends see.
    pub(super) views: [View; 2],
}

/// Bytes of a [`LeftRun`].
const LEFT: usize = 12 + 2 * VIEW;

impl LeftRun {
    /// Appends it to what a process tells.
    pub(super) fn put(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.number.to_le_bytes());
        bytes.extend(self.kmers.to_le_bytes());
        bytes.extend(self.views.iter().flat_map(|view| view.to_bytes()));
    }

    fn of_bytes(bytes: &[u8; LEFT]) -> LeftRun {
        let (number, rest) = bytes.split_first_chunk().expect("four bytes");
        let (kmers, views) = rest.split_first_chunk().expect("eight bytes");
        let views = views.as_chunks().0;
        LeftRun {
            number: u32::from_le_bytes(*number),
            kmers: u64::from_le_bytes(*kmers),
            views: [views[0], views[1]].map(View::of_bytes),
        }
    }
}

/// What the ends of the runs that each process told see at last, in the same order: the ends of
/// their chains. Of each ring the left end of one run sees the right one of the same.
pub(super) fn followed(told: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let runs = told.iter().flat_map(|bytes| bytes.as_chunks().0);
    let rest = Rest {
        runs: runs.map(LeftRun::of_bytes).collect(),
    };
    let mut seen = rest.followed().into_iter();
    let of_process = |bytes: &Vec<u8>| {
        let views = seen.by_ref().take(2 * (bytes.len() / LEFT));
        views.flat_map(View::to_bytes).collect()
    };
    told.iter().map(of_process).collect()
}

/// The runs of all processes that are left, ascending by their numbers.
struct Rest {
    runs: Vec<LeftRun>,
}

impl Rest {
    /// What the ends see at last: the left and right one of each run, one behind the other.
    fn followed(&self) -> Vec<View> {
        let mut seen: Vec<View> = self.runs.iter().flat_map(|run| run.views).collect();
        for first in 0..seen.len() {
            if self.view(first).next().is_none() {
                self.pass_on(first, &mut seen);
            }
        }
        let mut is_passed = vec![false; self.runs.len()];
        for left in (0..seen.len()).step_by(2) {
            let is_new = |end: &usize| !replace(&mut is_passed[end / 2], true);
            if seen[left].next().is_some() && self.ends_from(left).take_while(is_new).count() > 0 {
                seen[left].seen = Seen::Run(2 * self.runs[left / 2].number + 1);
            }
        }
        seen
    }

    /// Lets all ends from one on see what that one sees.
    fn pass_on(&self, first: usize, seen: &mut [View]) {
        let mut from = first;
        for end in self.ends_from(first).skip(1) {
            let passed = self.runs[from / 2].kmers + self.view(end).passed;
            seen[end] = seen[from].behind(passed);
            from = end;
        }
    }

    /// The end of each run by which one comes to it, from one on through its chain.
    fn ends_from(&self, first: usize) -> impl Iterator<Item = usize> {
        successors(Some(first), |&end| {
            let next = self.view(end ^ 1).next()?;
            let run = self
                .runs
                .binary_search_by_key(&(next / 2), |run| run.number)
                .expect("runs that are left see each other");
            Some(2 * run + next as usize % 2)
        })
    }

    /// What an end sees before any chain is followed.
    fn view(&self, end: usize) -> View {
        self.runs[end / 2].views[end % 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_sees_that_of_its_chain_and_one_of_a_ring_itself() {
        let end = |kmer| Seen::End { bin: 1, kmer };
        let next = |number: u32, side: u32| Seen::Run(2 * number + side);
        // Run 4 from the left, 2 from the right, 7 from the left; a ring of 9 and 11.
        let left = [
            (2, 10, [(next(7, 0), 5), (next(4, 1), 0)]),
            (4, 20, [(end(6), 1), (next(2, 1), 0)]),
            (7, 30, [(next(2, 0), 5), (end(8), 0)]),
            (9, 40, [(next(11, 1), 0), (next(11, 0), 0)]),
            (11, 50, [(next(9, 1), 0), (next(9, 0), 0)]),
        ];
        let put = |&(number, kmers, views): &(u32, u64, [(Seen, u64); 2])| {
            let views = views.map(|(seen, passed)| View { seen, passed });
            let mut bytes = Vec::new();
            LeftRun {
                number,
                kmers,
                views,
            }
            .put(&mut bytes);
            bytes
        };
        let told = [&left[..1], &[], &left[1..]];
        let told = told.map(|left| left.iter().flat_map(put).collect());
        let views = |bytes: Vec<u8>| {
            bytes
                .as_chunks()
                .0
                .iter()
                .copied()
                .map(View::of_bytes)
                .collect()
        };
        let followed: Vec<Vec<View>> = followed(&told).into_iter().map(views).collect();
        let seen: Vec<Vec<(Seen, u64)>> = followed
            .iter()
            .map(|views| views.iter().map(|view| (view.seen, view.passed)).collect())
            .collect();
        assert_eq!(seen[0], [(end(8), 35), (end(6), 21)]);
        assert_eq!(seen[1], []);
        assert_eq!(
            seen[2][..4],
            [(end(6), 1), (end(8), 45), (end(6), 36), (end(8), 0)]
        );
        assert_eq!(seen[2][4], (next(9, 1), 0));
        assert_eq!(seen[2][6], left[4].2[0]);
    }
}
