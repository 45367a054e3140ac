//! Which ends of unitigs meet.

use gyrase_kmer::{Key, Shape, with_words};
use gyrase_work::{Progress, in_parallel, run_of};

use super::junctions::at_side;
use super::over_bins::over_bins;
use super::pieces::{end_of, of_end};
use super::{Side, UnitigEnd, Unitigs};
use crate::Error;

/// For each end of each unitig the ends that it meets: those on the other side of its junction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Where those of each end begin, and how many there are.
    first: Vec<usize>,
    ends: Vec<u32>,
}

impl Links {
    /// Finds those of all ends.
    ///
    /// # Errors
    /// Somebody cancelled.
    pub fn of(unitigs: &Unitigs, threads: usize, progress: &Progress) -> Result<Links, Error> {
        let shape = Shape::new(unitigs.k(), false).expect("unitigs are of k-mers");
        with_words!(shape, W => Links::find::<W>(unitigs, threads, progress))
    }

    /// The ends that one meets, in the order of unitigs: what leaves a unitig at this end goes on
    /// at these.
    pub fn from(&self, UnitigEnd { unitig, side }: UnitigEnd) -> impl Iterator<Item = UnitigEnd> {
        let end = end_of(unitig, side) as usize;
        let ends = &self.ends[self.first[end]..self.first[end + 1]];
        ends.iter().map(|&end| {
            let (unitig, side) = of_end(end);
            UnitigEnd { unitig, side }
        })
    }

    /// How many there are, each counted from both of its ends.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when no two ends meet.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn find<const W: usize>(
        unitigs: &Unitigs,
        threads: usize,
        progress: &Progress,
    ) -> Result<Links, Error> {
        progress.start("link", SHARDS as u64);
        let sorted = in_parallel((0..threads).collect(), |thread| {
            Ok::<_, Error>(shards::<W>(unitigs, run_of(unitigs.len(), thread, threads)))
        })?;
        let states = (0..threads).map(|_| (Vec::new(), Vec::new())).collect();
        let found = over_bins(states, SHARDS, progress, |(pairs, shard), number| {
            shard.clear();
            sorted
                .iter()
                .for_each(|part| shard.extend_from_slice(&part[number]));
            shard.sort_unstable_by_key(|meeting: &Meeting| meeting.place);
            for group in shard.chunk_by(|one, other| one.place == other.place) {
                meet::<W>(unitigs, group, pairs);
            }
            Ok(())
        })?;
        drop(sorted);
        let pairs: Vec<Vec<[u32; 2]>> = found.into_iter().map(|(pairs, _)| pairs).collect();
        Ok(Links::of_pairs(2 * unitigs.len(), &pairs))
    }

    /// Orders pairs of ends by the first, and then by the second.
    fn of_pairs(ends: usize, pairs: &[Vec<[u32; 2]>]) -> Links {
        let mut first = vec![0; ends + 2];
        let all = || pairs.iter().flatten();
        all().for_each(|pair| first[pair[0] as usize + 2] += 1);
        (2..ends + 2).for_each(|end| first[end] += first[end - 1]);
        let mut links = vec![0; all().count()];
        for &[from, to] in all() {
            let place = &mut first[from as usize + 1];
            links[*place] = to;
            *place += 1;
        }
        first.pop();
        for end in 0..ends {
            links[first[end]..first[end + 1]].sort_unstable();
        }
        Links { first, ends: links }
    }
}

/// Parts that are searched by themselves, by the place of a junction.
const SHARDS: usize = 256;

/// An end beside a junction.
#[derive(Clone, Copy)]
struct Meeting {
    /// Equal where junctions are equal, and hardly ever else.
    place: u64,
    end: u32,
    beside: Beside,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Left,
    Right,
    /// Of a palindrome, whose sides are one.
    Both,
}

impl Beside {
    fn meets(self, other: Beside) -> bool {
        self == Beside::Both || self != other
    }
}

/// The ends of some unitigs by the places of their junctions.
fn shards<const W: usize>(unitigs: &Unitigs, some: std::ops::Range<usize>) -> Vec<Vec<Meeting>> {
    let mut shards = vec![Vec::new(); SHARDS];
    let k = unitigs.k();
    for unitig in some {
        for side in [Side::Left, Side::Right] {
            let kmer = unitigs.end_kmer::<W>(UnitigEnd { unitig, side });
            let reverse = kmer.reverse_complement(k);
            let (bases, beside) = match at_side(kmer, reverse, side, k) {
                Some(junction) if junction.side == Side::Left => (junction.bases, Beside::Left),
                Some(junction) => (junction.bases, Beside::Right),
                None => (unitigs.junction(UnitigEnd { unitig, side }), Beside::Both),
            };
            let place = Key::from(bases).0[0];
            let end = end_of(unitig, side);
            shards[(place >> 56) as usize].push(Meeting { place, end, beside });
        }
    }
    shards
}

/// Adds the pairs that meet of ends whose junctions have equal places.
fn meet<const W: usize>(unitigs: &Unitigs, group: &[Meeting], pairs: &mut Vec<[u32; 2]>) {
    let junction = |end: u32| {
        let (unitig, side) = of_end(end);
        let bases = unitigs.junction::<W>(UnitigEnd { unitig, side });
        bases.canonical(unitigs.k() - 1)
    };
    for one in group {
        let met = group.iter().filter(|other| one.beside.meets(other.beside));
        let equal = met.filter(|other| W == 1 || junction(one.end) == junction(other.end));
        pairs.extend(equal.map(|other| [one.end, other.end]));
    }
}
