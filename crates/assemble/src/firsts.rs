//! Things that are numbered through, group by group.

use std::ops::Range;

/// Where each group begins among all things.
#[derive(Clone, Debug)]
pub struct Firsts {
    /// The number of the first of each group, and how many there are.
    firsts: Vec<usize>,
    /// The group of each thing whose number ends with `shift` zero bits: between two of these are
    /// on average less than three groups, so that one is found without a search among all.
    marks: Vec<u32>,
    shift: u32,
}

impl Default for Firsts {
    fn default() -> Firsts {
        Firsts::of([])
    }
}

impl Firsts {
    /// Of groups that have so many things each.
    pub fn of(counts: impl IntoIterator<Item = u64>) -> Firsts {
        let mut firsts = vec![0];
        let mut all = 0;
        firsts.extend(counts.into_iter().map(|count| {
            all += count as usize;
            all
        }));
        let groups = firsts.len() - 1;
        let shift = (all / (2 * groups).max(1)).max(1).ilog2();
        let mut group = 0;
        let mark = |block: usize| {
            while group < groups && firsts[group + 1] <= block << shift {
                group += 1;
            }
            group as u32
        };
        Firsts {
            marks: (0..(all >> shift) + 2).map(mark).collect(),
            firsts,
            shift,
        }
    }

    /// How many things there are.
    pub fn len(&self) -> usize {
        self.first(self.groups())
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.firsts.len() - 1
    }

    /// The number of the first of a group.
    #[inline]
    pub fn first(&self, group: usize) -> usize {
        self.firsts[group]
    }

    /// The numbers of a group.
    pub fn range(&self, group: usize) -> Range<usize> {
        self.firsts[group]..self.firsts[group + 1]
    }

    /// The group of a thing.
    #[inline]
    pub fn group(&self, number: usize) -> usize {
        debug_assert!(number < self.len());
        let block = number >> self.shift;
        let [low, high] = [block, block + 1].map(|block| self.marks[block] as usize);
        let behind = self.firsts[low + 1..=high].partition_point(|&first| first <= number);
        low + behind
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_thing_is_in_its_group(
            counts in proptest::collection::vec(prop_oneof![0..3u64, 0..200u64], 0..40),
        ) {
            let firsts = Firsts::of(counts.iter().copied());
            prop_assert_eq!(firsts.len() as u64, counts.iter().sum::<u64>());
            prop_assert_eq!(firsts.groups(), counts.len());
            let mut number = 0;
            for (group, &count) in counts.iter().enumerate() {
                prop_assert_eq!(firsts.range(group), number..number + count as usize);
                for _ in 0..count {
                    prop_assert_eq!(firsts.group(number), group);
                    number += 1;
                }
            }
        }
    }
}
