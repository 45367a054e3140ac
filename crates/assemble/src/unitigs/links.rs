//! Which ends of unitigs meet.

use gyrase_fabric::{Drain, Fabric, LocalPartitions, Owners, Sender};
use gyrase_kmer::{Key, Kmer, Shape, with_words};
use gyrase_work::{in_parallel, run_of};

use super::among::{Among, pair, unpair};
use super::junctions::at_side;
use super::over_bins::over_bins;
use super::pieces::{end_of, of_end};
use super::{SharedUnitigs, Side, UnitigEnd};
use crate::Error;

/// For each end of each unitig of a process the ends that it meets: those on the other side of its
/// junction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Links {
    /// Where those of each end begin, and how many there are.
    first: Vec<usize>,
    ends: Vec<u32>,
}

impl Links {
    /// Finds those of the unitigs of this process. Ends meet where the junction is that they share:
    /// in the process that has its place.
    ///
    /// Collective.
    pub(super) fn of(shared: &SharedUnitigs, among: &Among) -> Result<Links, Error> {
        let shape = Shape::new(shared.own().k(), false).expect("unitigs are of k-mers");
        with_words!(shape, W => Links::find::<W>(shared, among))
    }

    /// The ends that one meets, in the order of unitigs: what leaves a unitig of this process at
    /// this end goes on at these, which are numbered among those of all.
    pub(super) fn from(
        &self,
        UnitigEnd { unitig, side }: UnitigEnd,
    ) -> impl Iterator<Item = UnitigEnd> {
        let end = end_of(unitig, side) as usize;
        let ends = &self.ends[self.first[end]..self.first[end + 1]];
        ends.iter().map(|&end| {
            let (unitig, side) = of_end(end);
            UnitigEnd { unitig, side }
        })
    }

    /// How many there are here; of all processes each is counted from both of its ends.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    fn find<const W: usize>(shared: &SharedUnitigs, among: &Among) -> Result<Links, Error> {
        // A power of two: the highest bits of a place say which shard it is in.
        let shards = SHARDS.max(among.world.ranks()).next_power_of_two();
        let partitions = send_all::<W>(shared, shards, among)?;
        let owned = partitions.owned();
        among.progress.start("link", owned.len() as u64);
        let states = (0..among.threads).map(|_| (Vec::new(), Vec::new()));
        let find = |(pairs, shard): &mut (Vec<[u32; 2]>, Vec<Meeting<W>>), number| {
            shard.clear();
            read(&partitions, number, shard)?;
            shard.sort_unstable_by_key(|meeting| meeting.bases);
            for group in shard.chunk_by(|one, other| one.bases == other.bases) {
                meet(group, pairs);
            }
            Ok(())
        };
        let found = over_bins(states.collect(), &owned, among.progress, find)?;
        drop(partitions);
        let pairs: Vec<[u32; 2]> = found.into_iter().flat_map(|(pairs, _)| pairs).collect();
        let (numbering, mut own) = (&shared.numbering, Vec::new());
        let owner = |[from, to]: [u32; 2]| (numbering.owner(from as usize >> 1), pair([from, to]));
        among.tell(&pairs, owner, |told| {
            let [from, to] = unpair(told);
            let (unitig, side) = of_end(from);
            own.push([end_of(numbering.own_place(unitig), side), to]);
        })?;
        Ok(Links::of_pairs(2 * shared.own().len(), &own))
    }

    /// Orders pairs of ends by the first, and then by the second.
    fn of_pairs(ends: usize, pairs: &[[u32; 2]]) -> Links {
        let mut first = vec![0; ends + 2];
        pairs
            .iter()
            .for_each(|pair| first[pair[0] as usize + 2] += 1);
        (2..ends + 2).for_each(|end| first[end] += first[end - 1]);
        let mut links = vec![0; pairs.len()];
        for &[from, to] in pairs {
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

/// Parts that are searched by themselves, by the place of a junction; more where more processes
/// take part.
const SHARDS: usize = 256;

/// An end beside a junction.
#[derive(Clone, Copy)]
struct Meeting<const W: usize> {
    /// The junction, in canonical form.
    bases: Kmer<W>,
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

/// Bits of a record, behind the words of its junction, that are the side; the others are the end.
const BESIDE_BITS: u32 = 2;

/// Sends the ends of the unitigs of this process to the shards of their junctions.
fn send_all<const W: usize>(
    shared: &SharedUnitigs,
    shards: usize,
    among: &Among,
) -> Result<LocalPartitions, Error> {
    let fabric = among.fabric(shards, Owners::default())?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        for unitig in run_of(shared.own().len(), thread, among.threads) {
            for side in [Side::Left, Side::Right] {
                let meeting = Meeting::<W>::of(shared, UnitigEnd { unitig, side });
                let place = Key::from(meeting.bases).0[0];
                let shard = (place >> 1 >> (63 - shards.ilog2())) as usize;
                let record = meeting.record();
                sender.send(shard, record.as_flattened(), 8 * (W + 1))?;
            }
        }
        Ok::<_, Error>(sender)
    })?;
    Ok(fabric.close(senders)?)
}

impl<const W: usize> Meeting<W> {
    /// An end of a unitig of this process.
    fn of(shared: &SharedUnitigs, end: UnitigEnd) -> Meeting<W> {
        let (unitigs, side) = (shared.own(), end.side);
        let kmer = unitigs.end_kmer::<W>(end);
        let reverse = kmer.reverse_complement(unitigs.k());
        let (bases, beside) = match at_side(kmer, reverse, side, unitigs.k()) {
            Some(junction) if junction.side == Side::Left => (junction.bases, Beside::Left),
            Some(junction) => (junction.bases, Beside::Right),
            None => (unitigs.junction(end), Beside::Both),
        };
        let end = end_of(shared.numbering.number(end.unitig), side);
        Meeting { bases, end, beside }
    }

    fn record(&self) -> [[u8; 8]; 5] {
        let mut record = [[0; 8]; 5];
        let words = record.iter_mut().zip(self.bases.0);
        words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
        let last = u64::from(self.end) << BESIDE_BITS | self.beside as u64;
        record[W] = last.to_le_bytes();
        record
    }

    fn of_record(record: &[[u8; 8]]) -> Meeting<W> {
        let word = |at: usize| u64::from_le_bytes(record[at]);
        let beside = [Beside::Left, Beside::Right, Beside::Both];
        Meeting {
            bases: Kmer(std::array::from_fn(word)),
            end: (word(W) >> BESIDE_BITS) as u32,
            beside: beside[(word(W) & ((1 << BESIDE_BITS) - 1)) as usize],
        }
    }
}

fn read<const W: usize>(
    partitions: &LocalPartitions,
    shard: usize,
    meetings: &mut Vec<Meeting<W>>,
) -> Result<(), Error> {
    partitions.drain(shard, &mut |bytes, used| {
        let words: &[[u8; 8]] = bytes[..used].as_chunks().0;
        meetings.extend(words.chunks_exact(W + 1).map(Meeting::of_record));
        Ok(())
    })
}

/// Adds the pairs that meet of ends that share a junction.
fn meet<const W: usize>(group: &[Meeting<W>], pairs: &mut Vec<[u32; 2]>) {
    for one in group {
        let met = group.iter().filter(|other| one.beside.meets(other.beside));
        pairs.extend(met.map(|other| [one.end, other.end]));
    }
}
