//! Counts of k-mers that threads add up together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use gyrase_kmer::Kmer;
use gyrase_work::give_back_pieces;

use crate::together::{Counted, add_up};

/// Bases by which k-mers are divided into parts.
const FIRST: usize = 4;
/// Parts that are moved into one list before their memory goes back.
const MOVED: usize = 16;

/// k-mers with their counts, in parts by their first bases: no thread waits for another for long.
pub struct Counts<const W: usize> {
    k: usize,
    /// Each ascending.
    parts: Vec<Mutex<Vec<Counted<W>>>>,
    len: AtomicUsize,
}

impl<const W: usize> Counts<W> {
    /// No k-mers of so many bases.
    pub fn new(k: usize) -> Counts<W> {
        let parts = (0..1 << (2 * FIRST)).map(|_| Mutex::default());
        Counts {
            k,
            parts: parts.collect(),
            len: AtomicUsize::new(0),
        }
    }

    /// About how many different ones there are.
    pub fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Counts k-mers, and clears the list.
    pub fn add(&self, kmers: &mut Vec<Kmer<W>>) {
        kmers.sort_unstable();
        let part_of = |kmer: &Kmer<W>| {
            let bases = self.k.saturating_sub(FIRST)..self.k;
            let first = bases.rev().map(|place| usize::from(kmer.base(place)));
            first.fold(0, |part, code| part << 2 | code)
        };
        for of_part in kmers.chunk_by(|one, other| part_of(one) == part_of(other)) {
            let runs = of_part.chunk_by(|one, other| one == other);
            let counted: Vec<_> = runs.map(|run| (run[0], run.len() as u32)).collect();
            let part = &self.parts[part_of(&of_part[0])];
            let mut part = part.lock().expect("no thread panics while it merges");
            let before = part.len();
            merge(&mut part, &counted);
            self.len.fetch_add(part.len() - before, Relaxed);
        }
        kmers.clear();
    }

    /// All, ascending.
    pub fn into_counted(self) -> Vec<Counted<W>> {
        let mut all = Vec::with_capacity(self.len());
        for (number, part) in self.parts.into_iter().enumerate() {
            all.append(&mut part.into_inner().expect("no thread panicked"));
            if number % MOVED == 0 {
                give_back_pieces();
            }
        }
        all
    }
}

/// Adds k-mers to others, both ascending and each once: from the last on, so that all stay where
/// there is room already.
pub fn merge<const W: usize>(counted: &mut Vec<Counted<W>>, others: &[Counted<W>]) {
    let (mut own, mut left) = (counted.len(), others.len());
    counted.extend_from_slice(others);
    let mut to = counted.len();
    while left > 0 {
        to -= 1;
        counted[to] = match own.checked_sub(1) {
            Some(last) if counted[last].0 > others[left - 1].0 => {
                own = last;
                counted[last]
            }
            _ => {
                left -= 1;
                others[left]
            }
        };
    }
    add_up(counted);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn counts_are_those_of_all_threads(
            lists in proptest::collection::vec(proptest::collection::vec(0..1000u64, 0..200), 0..6),
            k in 5..20usize,
        ) {
            let kmer = |number: u64| Kmer::<1>([gyrase_kmer::mix(number)]).masked(k);
            let mut expected = BTreeMap::new();
            let all = lists.iter().flatten().map(|&number| kmer(number));
            all.for_each(|kmer| *expected.entry(kmer).or_insert(0) += 1);
            let counts = Counts::new(k);
            std::thread::scope(|scope| {
                for list in &lists {
                    let mut kmers: Vec<_> = list.iter().map(|&number| kmer(number)).collect();
                    let counts = &counts;
                    scope.spawn(move || counts.add(&mut kmers));
                }
            });
            prop_assert_eq!(counts.len(), expected.len());
            prop_assert!(counts.into_counted().into_iter().eq(expected));
        }
    }
}
