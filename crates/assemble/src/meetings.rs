//! Which sequences of all processes meet: one ends with the k-1 bases that another begins with.
//!
//! Each process sends both ends of its sequences to the process that their bases fall to. That one
//! sees all sequences around these bases, and tells their processes what follows what, and how many
//! lead there.

use gyrase_fabric::{Drain, Fabric, LocalPartitions, Owners, Sender};
use gyrase_kmer::{Key, Kmer};
use gyrase_work::{in_parallel, run_of};

use crate::Error;
use crate::among::Among;
use crate::over_bins::over_bins;
use crate::way::Way;

/// k-1 bases that several sequences end or begin with. Both strands are one.
pub struct Overlap<'o> {
    /// The ways that end with them.
    pub before: &'o [Way],
    /// Those that begin with them.
    pub behind: &'o [Way],
    /// Whether they are their own reverse complement.
    pub palindrome: bool,
}

impl Overlap<'_> {
    /// All ways that follow each other here.
    pub fn pairs(&self) -> impl Iterator<Item = (Way, Way)> {
        let before = self.before.iter();
        before.flat_map(|&one| self.behind.iter().map(move |&other| (one, other)))
    }

    /// The same in both directions.
    pub fn edges(&self) -> impl Iterator<Item = Edge> {
        let in_degrees = [self.before, self.behind].map(|ways| ways.len() as u8);
        // Around a palindrome each pair is there in both directions.
        let directions = if self.palindrome { 1 } else { 2 };
        self.pairs().flat_map(move |(one, other)| {
            let both = [[one, other], [other.flipped(), one.flipped()]];
            let edge = |(ways, in_degree)| Edge { ways, in_degree };
            both.into_iter().zip(in_degrees).take(directions).map(edge)
        })
    }

    /// The two ways that follow each other where nothing else does: they are joined.
    pub fn only_pair(&self) -> Option<(Way, Way)> {
        match (self.before, self.behind, self.palindrome) {
            ([one], [other], false) => Some((*one, *other)),
            _ => None,
        }
    }
}

/// A way, and one that follows it.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub ways: [Way; 2],
    /// How many ways the second follows.
    pub in_degree: u8,
}

impl Edge {
    /// As it travels.
    pub fn to_bytes(self) -> [u8; 9] {
        let mut bytes = [self.in_degree; 9];
        bytes[..8].copy_from_slice(&Way::two_to_bytes(self.ways));
        bytes
    }

    /// What [`Edge::to_bytes`] made.
    pub fn of_bytes(bytes: [u8; 9]) -> Edge {
        let (ways, rest) = bytes.split_first_chunk().expect("eight bytes of nine");
        Edge {
            ways: Way::two_of_bytes(*ways),
            in_degree: rest[0],
        }
    }
}

/// The sequences of a process, and how they are numbered among those of all.
pub struct Shared<'s, const W: usize> {
    /// How many there are.
    pub len: usize,
    /// The first and the last k-1 bases of one.
    pub ends: &'s (dyn Fn(usize) -> [Kmer<W>; 2] + Sync),
    /// The number of one among those of all.
    pub number: &'s (dyn Fn(usize) -> usize + Sync),
    /// The process that has the one of a number.
    pub owner: &'s (dyn Fn(usize) -> usize + Sync),
}

/// Parts that are searched by themselves; more where more processes take part.
const SHARDS: usize = 256;

/// Calls `hear` with what there is to say to the ways of this process, in no particular order:
/// `choose` adds what an overlap has to say, each to one way, with whose bytes it begins.
///
/// Collective.
pub fn meet<const W: usize, const N: usize>(
    k: usize,
    shared: Shared<W>,
    among: &Among,
    choose: impl Fn(&Overlap, &mut Vec<[u8; N]>) + Sync,
    hear: impl FnMut([u8; N]),
) -> Result<(), Error> {
    let shards = SHARDS.max(among.world.ranks()).next_power_of_two();
    let partitions = send_ends(k, &shared, shards, among)?;
    let owned = partitions.owned();
    among.progress.start("link", owned.len() as u64);
    let states = (0..among.threads).map(|_| (Vec::new(), Vec::new()));
    let find = |(said, ends): &mut (Vec<[u8; N]>, Vec<End<W>>), shard| {
        ends.clear();
        read(&partitions, shard, ends)?;
        ends.sort_unstable();
        for_each_overlap(k, ends, |overlap| choose(overlap, said));
        Ok::<_, Error>(())
    };
    let found = over_bins(states.collect(), &owned, among.progress, find)?;
    drop(partitions);
    let said: Vec<[u8; N]> = found.into_iter().flat_map(|(said, _)| said).collect();
    let to_owner = |bytes: [u8; N]| {
        let way = bytes.first_chunk().expect("it begins with the way");
        ((shared.owner)(Way::of_bytes(*way).node()), bytes)
    };
    Ok(among.tell(&said, to_owner, hear)?)
}

/// An end of a sequence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End<const W: usize> {
    /// Its bases, in canonical form.
    bases: Kmer<W>,
    begins: bool,
    /// The way that begins or ends with them.
    way: Way,
}

/// Calls `each` with every overlap of some ends, which are sorted, and all of their bases.
fn for_each_overlap<const W: usize>(k: usize, ends: &[End<W>], mut each: impl FnMut(&Overlap)) {
    let mut ways = Vec::new();
    for equal in ends.chunk_by(|one, other| one.bases == other.bases) {
        ways.clear();
        ways.extend(equal.iter().map(|end| end.way));
        let (before, behind) = ways.split_at(equal.partition_point(|end| !end.begins));
        let bases = equal[0].bases;
        each(&Overlap {
            before,
            behind,
            palindrome: bases == bases.reverse_complement(k - 1),
        });
    }
}

/// Sends the ends of the sequences of this process to the shards of their bases.
fn send_ends<const W: usize>(
    k: usize,
    shared: &Shared<W>,
    shards: usize,
    among: &Among,
) -> Result<LocalPartitions, Error> {
    let fabric = among.fabric(shards, Owners::default())?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        let mut send = |bases, way: Way, begins| {
            let place = Key::from(bases).0[0];
            let shard = (place >> 1 >> (63 - shards.ilog2())) as usize;
            let record = End { bases, begins, way }.record();
            sender.send(shard, record.as_flattened(), 8 * (W + 1))
        };
        for sequence in run_of(shared.len, thread, among.threads) {
            let way = Way::forward((shared.number)(sequence));
            for (bases, begins) in (shared.ends)(sequence).into_iter().zip([true, false]) {
                let other = bases.reverse_complement(k - 1);
                if bases <= other {
                    send(bases, way, begins)?;
                }
                // Both for a palindrome.
                if other <= bases {
                    send(other, way.flipped(), !begins)?;
                }
            }
        }
        Ok::<_, Error>(sender)
    })?;
    Ok(fabric.close(senders)?)
}

impl<const W: usize> End<W> {
    fn record(&self) -> [[u8; 8]; 5] {
        let mut record = [[0; 8]; 5];
        let words = record.iter_mut().zip(self.bases.0);
        words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        let last = (self.way.index() as u64) << 1 | u64::from(self.begins);
        record[W] = last.to_le_bytes();
        record
    }

    fn of_record(record: &[[u8; 8]]) -> End<W> {
        let word = |at: usize| u64::from_le_bytes(record[at]);
        End {
            bases: Kmer(std::array::from_fn(word)),
            begins: word(W) & 1 == 1,
            way: Way::of_index((word(W) >> 1) as usize),
        }
    }
}

fn read<const W: usize>(
    partitions: &LocalPartitions,
    shard: usize,
    ends: &mut Vec<End<W>>,
) -> Result<(), Error> {
    partitions.drain(shard, &mut |bytes, used| {
        let words: &[[u8; 8]] = bytes[..used].as_chunks().0;
        ends.extend(words.chunks_exact(W + 1).map(End::of_record));
        Ok(())
    })
}
