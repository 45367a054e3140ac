//! Which process owns which partition.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use gyrase_work::{run_of, runner};

/// Which process owns a partition. It is the same everywhere, as all processes make it of the same
/// numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Owners {
    /// Partition `p` falls to process `p` mod the number of processes. Processes that go through
    /// their partitions in order go through all of them side by side, so that what they make of
    /// them can be put in order as they go.
    #[default]
    Modulo,
    /// Each process has a run of neighbouring partitions, all of about equal length.
    Runs,
    /// As a table says.
    Table(Arc<OwnerTable>),
}

/// An owner for each partition, whatever their order.
#[derive(Debug, PartialEq, Eq)]
pub struct OwnerTable {
    /// By partition: its owner, and which of the owner's partitions it is.
    owners: Vec<(u32, u32)>,
    /// The partitions of process 0, ascending, then those of process 1, and so on.
    owned: Vec<u32>,
    /// Where the partitions of a process begin in `owned`, and where the last ones end.
    starts: Vec<u32>,
}

impl Owners {
    /// Shares partitions out so that the sums of their `sizes` are about equal: the largest first,
    /// each to the process that has least so far (longest processing time first; Graham, *Bounds on
    /// multiprocessing timing anomalies*, 1969). A process then has at most a third more than the
    /// best way of sharing them out would give it.
    ///
    /// # Panics
    /// When `ranks` is 0.
    pub fn weighted(sizes: &[u64], ranks: usize) -> Owners {
        let mut heaviest: Vec<usize> = (0..sizes.len()).collect();
        heaviest.sort_by_key(|&partition| Reverse(sizes[partition]));
        let mut lightest: BinaryHeap<_> = (0..ranks as u32)
            .map(|rank| Reverse((0, 0, rank)))
            .collect();
        let mut owners = vec![0; sizes.len()];
        for partition in heaviest {
            let mut least = lightest.peek_mut().expect("one process at least");
            let Reverse((size, partitions, rank)) = *least;
            owners[partition] = rank;
            // Where all are empty they are shared out all the same.
            *least = Reverse((size + u128::from(sizes[partition]), partitions + 1, rank));
        }
        Owners::Table(Arc::new(OwnerTable::new(&owners, ranks)))
    }

    /// As `owners` says, the rank for each partition.
    ///
    /// # Panics
    /// When one of them is not below `ranks`.
    pub fn table(owners: &[u32], ranks: usize) -> Owners {
        Owners::Table(Arc::new(OwnerTable::new(owners, ranks)))
    }
}

impl OwnerTable {
    fn new(owners: &[u32], ranks: usize) -> OwnerTable {
        let mut counts = vec![0; ranks];
        let mut number = |&owner: &u32| {
            let count: &mut u32 = &mut counts[owner as usize];
            *count += 1;
            (owner, *count - 1)
        };
        let owners: Vec<(u32, u32)> = owners.iter().map(&mut number).collect();
        let mut starts = vec![0];
        starts.extend(counts.iter().scan(0, |end, &count| {
            *end += count;
            Some(*end)
        }));
        let mut owned = vec![0; owners.len()];
        for (partition, &(owner, number)) in owners.iter().enumerate() {
            owned[(starts[owner as usize] + number) as usize] = partition as u32;
        }
        OwnerTable {
            owners,
            owned,
            starts,
        }
    }

    fn owned(&self, rank: usize) -> &[u32] {
        &self.owned[self.starts[rank] as usize..self.starts[rank + 1] as usize]
    }
}

/// A process of a job: by name, since numbers of processes and of what they share are easily
/// mixed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Which process it is, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub ranks: usize,
}

/// Which of the partitions of one process a partition is, from 0: not its number among all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nth(pub usize);

/// Where a process stands among those that partitions are spread over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// How many partitions there are, in all processes together.
    pub partitions: usize,
    /// Which process this is, from 0.
    pub rank: usize,
    /// How many processes there are.
    pub ranks: usize,
    owners: Owners,
}

impl Place {
    /// The only process.
    pub const fn alone(partitions: usize) -> Place {
        Place::among(partitions, Peer { rank: 0, ranks: 1 })
    }

    /// A process of a job, where partitions are owned by [`Owners::Modulo`].
    pub const fn among(partitions: usize, peer: Peer) -> Place {
        Place {
            partitions,
            rank: peer.rank,
            ranks: peer.ranks,
            owners: Owners::Modulo,
        }
    }

    /// The same process where partitions are owned otherwise.
    ///
    /// # Panics
    /// When a table of owners is for another number of partitions or processes.
    pub fn owned_by(self, owners: Owners) -> Place {
        if let Owners::Table(table) = &owners {
            assert_eq!(
                (table.owners.len(), table.starts.len()),
                (self.partitions, self.ranks + 1),
                "a table of owners for these partitions and processes"
            );
        }
        Place { owners, ..self }
    }

    /// Who owns the partitions.
    pub fn owners(&self) -> &Owners {
        &self.owners
    }

    /// The partitions of this process, ascending.
    pub fn owned(&self) -> impl Iterator<Item = usize> + use<> {
        let place = self.clone();
        (0..self.count()).map(move |number| place.partition(Nth(number)))
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.count_of(self.rank)
    }

    /// How many the process `rank` has.
    pub fn count_of(&self, rank: usize) -> usize {
        match &self.owners {
            Owners::Modulo => self.partitions.saturating_sub(rank).div_ceil(self.ranks),
            Owners::Runs => run_of(self.partitions, rank, self.ranks).len(),
            Owners::Table(table) => table.owned(rank).len(),
        }
    }

    /// The process that owns a partition.
    pub fn owner(&self, partition: usize) -> usize {
        match &self.owners {
            Owners::Modulo => partition % self.ranks,
            Owners::Runs => runner(partition, self.partitions, self.ranks),
            Owners::Table(table) => table.owners[partition].0 as usize,
        }
    }

    /// True for a partition of this process.
    pub fn owns(&self, partition: usize) -> bool {
        partition < self.partitions && self.owner(partition) == self.rank
    }

    /// Which of its partitions one is.
    pub fn nth(&self, partition: usize) -> Nth {
        Nth(match &self.owners {
            Owners::Modulo => partition / self.ranks,
            Owners::Runs => partition - run_of(self.partitions, self.rank, self.ranks).start,
            Owners::Table(table) => table.owners[partition].1 as usize,
        })
    }

    /// Its partition of that number.
    pub fn partition(&self, Nth(number): Nth) -> usize {
        match &self.owners {
            Owners::Modulo => self.rank + number * self.ranks,
            Owners::Runs => run_of(self.partitions, self.rank, self.ranks).start + number,
            Owners::Table(table) => table.owned(self.rank)[number] as usize,
        }
    }

    /// Where the process `rank` stands.
    pub fn of(&self, rank: usize) -> Place {
        Place {
            rank,
            ..self.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CASES: [(usize, usize); 7] = [
        (1, 1),
        (4, 4),
        (7, 3),
        (4096, 1),
        (4096, 7),
        (4096, 3072),
        (3, 5),
    ];

    fn ways(partitions: usize, ranks: usize) -> [Owners; 4] {
        let owners: Vec<u32> = (0..partitions).map(|p| (p * p % ranks) as u32).collect();
        let sizes: Vec<u64> = (0..partitions as u64).map(|p| p * 7919 % 1000).collect();
        [
            Owners::Modulo,
            Owners::Runs,
            Owners::table(&owners, ranks),
            Owners::weighted(&sizes, ranks),
        ]
    }

    #[test]
    fn every_partition_has_one_owner() {
        for (partitions, ranks) in CASES {
            for owners in ways(partitions, ranks) {
                let place =
                    |rank| Place::among(partitions, Peer { rank, ranks }).owned_by(owners.clone());
                let mut times = vec![0; partitions];
                for rank in 0..ranks {
                    let place = place(rank);
                    assert_eq!(place.count(), place.owned().count());
                    assert!(place.owned().is_sorted());
                    for (number, partition) in place.owned().enumerate() {
                        let found = (place.nth(partition).0, place.partition(Nth(number)));
                        assert_eq!(found, (number, partition), "{owners:?}");
                        assert!(place.owns(partition) && place.owner(partition) == rank);
                        times[partition] += 1;
                    }
                    assert!(!place.owns(partitions));
                }
                assert!(times.iter().all(|&times| times == 1), "{ranks} {owners:?}");
            }
        }
    }

    /// Sizes of 4,096 partitions as bins have them: a few are heavy, most are light, some empty.
    fn heavy_tailed(partitions: usize) -> Vec<u64> {
        let mut random = 0x9e37_79b9_7f4a_7c15u64;
        let mut size = || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            // Pareto, with exponent 1.5.
            let uniform = (random >> 11) as f64 / (1u64 << 53) as f64;
            (1000.0 * (1.0 - uniform).powf(-1.0 / 1.5)) as u64
                * u64::from(!random.is_multiple_of(9))
        };
        (0..partitions).map(|_| size()).collect()
    }

    #[test]
    fn no_share_is_larger_than_the_greedy_bound() {
        let sizes = heavy_tailed(40_000);
        let all: u64 = sizes.iter().sum();
        for ranks in [1, 2, 3, 64, 1000, 1024, 3072, 4096] {
            let owners = Owners::weighted(&sizes, ranks);
            let place =
                |rank| Place::among(sizes.len(), Peer { rank, ranks }).owned_by(owners.clone());
            for rank in 0..ranks {
                let own: Vec<u64> = place(rank).owned().map(|p| sizes[p]).collect();
                let share: u64 = own.iter().sum();
                // Its last partition came when no process had less than it.
                let last = own.iter().min().copied().unwrap_or(0);
                let bound = (all - last) as f64 / ranks as f64 + last as f64;
                assert!(
                    share as f64 <= bound + 1.0,
                    "{rank} of {ranks}: {share} {bound}"
                );
            }
        }
    }

    #[test]
    fn few_more_partitions_than_processes_are_shared_out_well() {
        // Against the best way there is: the mean, or the largest partition.
        let sizes = heavy_tailed(4096);
        let largest = *sizes.iter().max().expect("some");
        let all: u64 = sizes.iter().sum();
        for ranks in [1, 7, 64, 256] {
            let owners = Owners::weighted(&sizes, ranks);
            let share = |rank| {
                let place = Place::among(4096, Peer { rank, ranks }).owned_by(owners.clone());
                place.owned().map(|p| sizes[p]).sum::<u64>()
            };
            let most = (0..ranks).map(share).max().expect("one process");
            let best = largest.max(all.div_ceil(ranks as u64));
            assert!(most * 10 <= best * 11, "{most} {best} of {ranks}");
        }
    }

    #[test]
    fn the_same_numbers_give_the_same_owners() {
        let sizes = [5, 0, 9, 9, 1, 1, 0, 3];
        let Owners::Table(table) = Owners::weighted(&sizes, 3) else {
            panic!("a table");
        };
        let by_rank: Vec<&[u32]> = (0..3).map(|rank| table.owned(rank)).collect();
        assert_eq!(by_rank, [&[2, 5][..], &[1, 3, 6], &[0, 4, 7]]);
        assert_eq!(Owners::weighted(&sizes, 3), Owners::Table(table));
    }
}
