//! Which partitions a job has: the bins of its output, and heavy bins in ranges of their keys.

use std::iter::once;

use crate::{Owners, Peer, Place};

/// Keys from one to another, both included. What is compared are the first 64 bits of a key, which
/// are uniform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyRange {
    /// The least.
    pub first: u64,
    /// The greatest.
    pub last: u64,
}

impl KeyRange {
    /// All keys.
    pub const ALL: KeyRange = KeyRange {
        first: 0,
        last: u64::MAX,
    };

    /// True for a key of the range.
    #[inline(always)]
    pub const fn contains(self, key: u64) -> bool {
        key.wrapping_sub(self.first) <= self.last - self.first
    }

    /// Part `number` of `parts` of about equal length.
    ///
    /// # Panics
    /// When there is no such part, or there are more parts than keys.
    pub fn part(self, number: u64, parts: u64) -> KeyRange {
        let width = u128::from(self.last - self.first) + 1;
        assert!(number < parts && u128::from(parts) <= width);
        let border = |number| (width * u128::from(number) / u128::from(parts)) as u64;
        let first = self.first + border(number);
        // The last border may be 2^64.
        let last = match number + 1 < parts {
            true => self.first + border(number + 1) - 1,
            false => self.last,
        };
        KeyRange { first, last }
    }
}

/// Which partitions a job has, and who owns them.
///
/// A file keeps its bins as an order. What a process works on are *partitions*: bins as they are
/// or, where one is too heavy for an equal share, ranges of its keys. The records of a bin that is
/// cut go to the owners of all its partitions, and each takes the keys of its range.
///
/// ```text
/// bin         │  0  │      1      │ 2 │    3    │
/// partition   │  0  │  1   │   2  │ 3 │    4    │
/// owned by    │  0  │  0   │   1  │ 1 │    2    │
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partitioning {
    /// The first partition of each bin, and how many partitions there are.
    firsts: Vec<u32>,
    /// The bin of each partition.
    bins: Vec<u32>,
    /// The keys of each partition.
    ranges: Vec<KeyRange>,
    owners: Owners,
}

/// A share may be off the mean by this part of it, so that fewer bins are cut: most of the time a
/// border is that close.
const TOLERANCE: u128 = 25;

impl Partitioning {
    /// A partition for each bin, owned by [`Owners::Modulo`].
    pub fn of_bins(bins: usize) -> Partitioning {
        let cuts = (0..bins as u32).map(|bin| (bin, KeyRange::ALL));
        Partitioning::new(bins, cuts.collect(), Owners::Modulo)
    }

    /// Shares out bins so that the sums of their `sizes` are within 8 % of each other. The line of
    /// all bins is cut into `ranks` intervals of equal size, at the borders of bins where these are
    /// close. In the line stand first the bins that [`Owners::Modulo`] gives the first process,
    /// then those of the second, and so on: processes that go through their partitions in order
    /// still go through the file side by side.
    ///
    /// # Panics
    /// When `ranks` is 0.
    pub fn balanced(sizes: &[u64], ranks: usize) -> Partitioning {
        let mut line: Vec<usize> = (0..sizes.len()).collect();
        line.sort_by_key(|bin| (bin % ranks, *bin));
        // What no sample has seen may still come.
        let size = |bin: usize| u128::from(sizes[bin]) + 1;
        let all: u128 = (0..sizes.len()).map(size).sum();
        let border = |rank: usize| all * rank as u128 / ranks as u128;
        let tolerance = all / ranks as u128 / TOLERANCE;
        let (mut cuts, mut rank, mut start) = (Vec::new(), 0, 0);
        for bin in line {
            let end = start + size(bin);
            let mut first = 0;
            while rank + 1 < ranks && border(rank + 1) + tolerance < end {
                let at = border(rank + 1);
                if at > start + tolerance {
                    let key = (((at - start) << 64) / size(bin)) as u64;
                    cuts.push((
                        bin as u32,
                        KeyRange {
                            first,
                            last: key - 1,
                        },
                        rank as u32,
                    ));
                    first = key;
                }
                rank += 1;
            }
            let last = u64::MAX;
            cuts.push((bin as u32, KeyRange { first, last }, rank as u32));
            start = end;
        }
        Partitioning::of_cuts(sizes.len(), cuts, ranks)
    }

    /// Bin, keys and owner of each partition.
    fn of_cuts(bins: usize, mut cuts: Vec<(u32, KeyRange, u32)>, ranks: usize) -> Partitioning {
        cuts.sort_unstable_by_key(|&(bin, keys, _)| (bin, keys.first));
        let owners: Vec<u32> = cuts.iter().map(|cut| cut.2).collect();
        let cuts = cuts.into_iter().map(|(bin, keys, _)| (bin, keys));
        Partitioning::new(bins, cuts.collect(), Owners::table(&owners, ranks))
    }

    fn new(bins: usize, cuts: Vec<(u32, KeyRange)>, owners: Owners) -> Partitioning {
        let (of, ranges): (Vec<u32>, Vec<KeyRange>) = cuts.into_iter().unzip();
        let firsts = (0..=bins as u32).map(|bin| of.partition_point(|&other| other < bin) as u32);
        Partitioning {
            firsts: firsts.collect(),
            bins: of,
            ranges,
            owners,
        }
    }

    /// How many partitions there are.
    pub fn partitions(&self) -> usize {
        self.ranges.len()
    }

    /// The most partitions that so many bins become for `ranks` processes.
    pub fn most_partitions(bins: usize, ranks: usize) -> usize {
        bins + ranks - 1
    }

    /// True where every bin is a partition of the same number.
    pub fn is_of_bins(&self) -> bool {
        self.partitions() == self.firsts.len() - 1
    }

    /// The partitions of a bin.
    #[inline(always)]
    pub fn of_bin(&self, bin: usize) -> std::ops::Range<usize> {
        self.firsts[bin] as usize..self.firsts[bin + 1] as usize
    }

    /// The bin of a partition.
    pub fn bin(&self, partition: usize) -> usize {
        self.bins[partition] as usize
    }

    /// The keys of a partition.
    pub fn keys(&self, partition: usize) -> KeyRange {
        self.ranges[partition]
    }

    /// Who owns the partitions.
    pub fn owners(&self) -> Owners {
        self.owners.clone()
    }

    /// Where a process stands among those that own the partitions.
    pub fn place(&self, peer: Peer) -> Place {
        Place::among(self.partitions(), peer).owned_by(self.owners())
    }

    /// Where a process stands among those that own the bins: each is its who owns its first
    /// partition.
    pub fn place_of_bins(&self, peer: Peer) -> Place {
        let bins = self.firsts.len() - 1;
        let place = self.place(peer);
        let owner = |bin: usize| place.owner(self.firsts[bin] as usize) as u32;
        let owners: Vec<u32> = (0..bins).map(owner).collect();
        Place::among(bins, peer).owned_by(Owners::table(&owners, peer.ranks))
    }

    /// The same partitions, owned by [`Owners::Modulo`]: by another number of processes than that
    /// they were made for.
    pub fn owned_by_others(self) -> Partitioning {
        Partitioning {
            owners: Owners::Modulo,
            ..self
        }
    }

    /// In numbers, for [`Partitioning::of_numbers`]: the number of bins and that of processes, then
    /// bin, first key and owner of each partition. Nothing for [`Partitioning::of_bins`].
    pub fn numbers(&self, ranks: usize) -> Vec<u64> {
        if self.owners == Owners::Modulo {
            return Vec::new();
        }
        let place = self.place(Peer { rank: 0, ranks });
        let cut = |partition: usize| {
            let (bin, owner) = (self.bins[partition], place.owner(partition));
            [u64::from(bin), self.ranges[partition].first, owner as u64]
        };
        let head = [self.firsts.len() as u64 - 1, ranks as u64];
        let cuts = (0..self.partitions()).flat_map(cut);
        head.into_iter().chain(cuts).collect()
    }

    /// What [`Partitioning::numbers`] gave, of so many bins; `None` where it cannot have given
    /// these.
    pub fn of_numbers(bins: usize, numbers: &[u64]) -> Option<Partitioning> {
        let Some((&[of, ranks], cuts)) = numbers.split_first_chunk() else {
            return numbers.is_empty().then(|| Partitioning::of_bins(bins));
        };
        let (cuts, []) = cuts.as_chunks::<3>() else {
            return None;
        };
        let ends = cuts.iter().skip(1).map(|next| (next[0], next[1]));
        let ends = ends.chain(once((bins as u64, 0)));
        let cut = |(&[bin, first, owner], (next, end)): (&[u64; 3], (u64, u64))| {
            let ends = next == bin + 1 && end == 0;
            let last = if ends { u64::MAX } else { end.checked_sub(1)? };
            let follows = (ends || next == bin) && first <= last && owner < ranks;
            let keys = KeyRange { first, last };
            follows.then_some((bin as u32, keys, owner as u32))
        };
        let cuts: Vec<_> = cuts.iter().zip(ends).map(cut).collect::<Option<_>>()?;
        let begins = cuts.first().map(|cut| (cut.0, cut.1.first)) == Some((0, 0));
        let whole = of == bins as u64 && begins;
        whole.then(|| Partitioning::of_cuts(bins, cuts, ranks as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_range_are_the_range() {
        let odd = KeyRange {
            first: 17,
            last: 1 << 63,
        };
        let small = KeyRange { first: 5, last: 7 };
        for (range, parts) in [
            (KeyRange::ALL, 1),
            (KeyRange::ALL, 7),
            (odd, 1000),
            (small, 3),
        ] {
            let mut next = range.first;
            for number in 0..parts {
                let part = range.part(number, parts);
                assert_eq!(part.first, next);
                assert!(part.contains(part.first) && part.contains(part.last));
                assert!(part.first == 0 || !part.contains(part.first - 1));
                next = part.last.wrapping_add(1);
            }
            assert_eq!(next, range.last.wrapping_add(1));
        }
    }

    /// Sizes with a heavy tail, as bins have them: Pareto, with exponent 2.5.
    fn sizes(bins: usize) -> Vec<u64> {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut size = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
            (1e6 * (1.0 - uniform).powf(-0.4)) as u64
        };
        (0..bins).map(|_| size()).collect()
    }

    /// What each process has, keys being uniform, beside how many more partitions than bins there
    /// are.
    fn shares(sizes: &[u64], ranks: usize) -> (Vec<f64>, usize) {
        let made = Partitioning::balanced(sizes, ranks);
        let place = made.place(Peer { rank: 0, ranks });
        let mut shares = vec![0.0; ranks];
        for partition in 0..made.partitions() {
            let KeyRange { first, last } = made.keys(partition);
            let part = (last - first) as f64 / u64::MAX as f64;
            shares[place.owner(partition)] += part * sizes[made.bin(partition)] as f64;
        }
        (shares, made.partitions() - sizes.len())
    }

    #[test]
    fn no_share_is_a_tenth_above_the_mean() {
        let sizes = sizes(4096);
        let all: f64 = sizes.iter().map(|&size| size as f64).sum();
        for ranks in [1, 2, 3, 7, 64, 100, 1000, 1024, 3072, 4096, 5000, 20_000] {
            let (shares, cuts) = shares(&sizes, ranks);
            let most = shares.iter().copied().fold(0.0, f64::max);
            assert!(most <= 1.1 * all / ranks as f64, "{most} of {ranks}");
            assert!(cuts < ranks, "{cuts} cuts for {ranks}");
            assert!(ranks > 64 || cuts == 0, "{cuts} cuts for {ranks}");
        }
    }

    #[test]
    fn ranges_of_a_bin_are_all_its_keys() {
        for (sizes, ranks) in [
            (sizes(4096), 5000),
            (vec![0; 9], 3),
            (vec![1000, 0, 1, 7], 30),
        ] {
            let made = Partitioning::balanced(&sizes, ranks);
            assert!(made.partitions() <= Partitioning::most_partitions(sizes.len(), ranks));
            for bin in 0..sizes.len() {
                let mut next = 0;
                for partition in made.of_bin(bin) {
                    let keys = made.keys(partition);
                    assert_eq!((made.bin(partition), keys.first), (bin, next));
                    next = keys.last.wrapping_add(1);
                }
                assert_eq!(next, 0);
            }
        }
    }

    #[test]
    fn partitions_are_remembered() {
        for made in [
            Partitioning::of_bins(7),
            Partitioning::balanced(&[5, 0, 900, 40, 3, 0, 1], 4),
        ] {
            let numbers = made.numbers(4);
            assert_eq!(Partitioning::of_numbers(7, &numbers), Some(made));
            for end in 1..numbers.len() {
                assert_eq!(Partitioning::of_numbers(7, &numbers[..end]), None, "{end}");
            }
            assert_eq!(
                Partitioning::of_numbers(8, &numbers).is_some(),
                numbers.is_empty()
            );
        }
    }

    #[test]
    fn a_bin_is_its_who_owns_its_first_keys() {
        let made = Partitioning::balanced(&[1, 1000, 1], 4);
        for rank in 0..4 {
            let peer = Peer { rank, ranks: 4 };
            let (all, bins) = (made.place(peer), made.place_of_bins(peer));
            let firsts = all
                .owned()
                .filter(|&partition| made.keys(partition).first == 0);
            assert!(firsts.map(|partition| made.bin(partition)).eq(bins.owned()));
        }
    }
}
