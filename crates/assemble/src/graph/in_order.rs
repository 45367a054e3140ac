//! Sequences of all processes in the order of the nodes of a graph: each process gets a part of
//! them (sample sort; Frazer and McKellar 1970).
//!
//! The order begins with the longest. Processes with one run of it each would have few long nodes
//! or many short ones, and it is the short ones that make work. So each gets several runs.

use std::cmp::Reverse;

use gyrase_fabric::{Drain, Fabric, Owners, Place, Sender};
use gyrase_work::{in_parallel, run_of};

use super::nodes::Pieces;
use crate::among::Among;
use crate::numbering::Numbering;
use crate::records::{append_bases, put_slice, take_number};
use crate::{BaseSlice, Error};

/// Words by which sequences of one length are told apart: more are equal in few, and these are in
/// one process.
const WORDS: usize = 4;
/// How long a sequence is, and its first bases.
type Key = (Reverse<u64>, [u64; WORDS]);
/// Runs of the order for each process.
const RUNS: u64 = 16;
/// Keys that a process gives, of as many parts of what it has.
const SAMPLES: u64 = 16 * RUNS;
/// Bytes that a node takes beside its bases.
const NODE: u64 = 48;

/// Those of all sequences that this process gets, and how all are numbered in their order. Each
/// process gets about as many bytes of the graph, and about as many nodes.
///
/// Collective.
pub fn in_order(pieces: &Pieces, among: &Among) -> Result<(Pieces, Numbering), Error> {
    let keys: Vec<Key> = (0..pieces.len())
        .map(|piece| key(pieces.bases(piece)))
        .collect();
    let runs = OrderedRuns::of(&keys, among)?;
    let fabric = among.fabric_to_processes()?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        let mut record = Vec::new();
        for piece in run_of(pieces.len(), thread, among.threads) {
            record.clear();
            record.extend(pieces.counts[piece].to_le_bytes());
            put_slice(pieces.bases(piece), &mut record);
            sender.send(runs.owner(&keys[piece]), &record, record.len())?;
        }
        Ok::<_, Error>(sender)
    })?;
    let partitions = fabric.close(senders)?;
    let (mut own, mut counts) = (Pieces::default(), vec![0; runs.len()]);
    for rank in partitions.owned() {
        partitions.drain::<Error>(rank, &mut |bytes, used| {
            let mut from = &bytes[..used];
            while !from.is_empty() {
                let count = take_number(&mut from);
                append_bases(&mut from, &mut own.bases);
                own.close(count);
                counts[runs.run(&key(own.bases(own.len() - 1)))] += 1;
            }
            Ok(())
        })?;
    }
    Ok((own, Numbering::agree(among.world, &runs.place, &counts)?))
}

fn key(bases: BaseSlice) -> Key {
    let mut words = [0; WORDS];
    words
        .iter_mut()
        .zip(bases.words())
        .for_each(|(word, own)| *word = own);
    (Reverse(bases.len() as u64), words)
}

/// Runs of the order, and which process has each.
struct OrderedRuns {
    /// The last key of each run but the last.
    borders: Vec<Key>,
    place: Place,
}

impl OrderedRuns {
    /// Of the keys of all processes, of which these are this one's.
    ///
    /// Collective.
    fn of(keys: &[Key], among: &Among) -> Result<OrderedRuns, Error> {
        let peer = among.world.peer();
        let mut told = Vec::new();
        for border in borders(samples(keys, among)?, RUNS * peer.ranks as u64) {
            put(&border, &mut told);
        }
        let told = among.world.broadcast(0, told)?;
        let (mut from, mut borders) = (&told[..], Vec::new());
        while !from.is_empty() {
            borders.push(take(&mut from));
        }
        // What is longer than a run is several of them.
        let sizes = borders.chunk_by(|one, next| one == next);
        let sizes: Vec<u64> = sizes.map(|equal| equal.len() as u64).chain([1]).collect();
        borders.dedup();
        let owners = Owners::weighted(&sizes, peer.ranks);
        Ok(OrderedRuns {
            borders,
            place: Place::among(sizes.len(), peer).owned_by(owners),
        })
    }

    fn len(&self) -> usize {
        self.place.partitions
    }

    fn run(&self, key: &Key) -> usize {
        self.borders.partition_point(|border| border < key)
    }

    fn owner(&self, key: &Key) -> usize {
        self.place.owner(self.run(key))
    }
}

/// Appends a key to what one process sends to another.
fn put(key: &Key, bytes: &mut Vec<u8>) {
    let numbers = [key.0.0].into_iter().chain(key.1);
    bytes.extend(numbers.flat_map(u64::to_le_bytes));
}

/// Takes one from the front.
fn take(from: &mut &[u8]) -> Key {
    let length = take_number(from);
    (Reverse(length), std::array::from_fn(|_| take_number(from)))
}

/// The last key of each of so many runs but the last, where samples are in their order.
fn borders(samples: Vec<(Key, u64)>, runs: u64) -> Vec<Key> {
    let all: u64 = samples.iter().map(|one| one.1).sum();
    let (mut borders, mut seen) = (Vec::new(), 0);
    for (key, weight) in samples {
        seen += weight;
        while (borders.len() as u64) + 1 < runs && seen * runs >= all * (borders.len() as u64 + 1) {
            borders.push(key);
        }
    }
    borders
}

/// Some keys of all processes, ascending, and the weight of what is up to each from the one before
/// it in its process: in the first process; in others none.
///
/// Collective.
fn samples(keys: &[Key], among: &Among) -> Result<Vec<(Key, u64)>, Error> {
    let weight = |key: &Key| key.0.0 / 2 + NODE;
    let mut own: Vec<Key> = keys.to_vec();
    own.sort_unstable();
    let all: u64 = own.iter().map(weight).sum();
    let (mut sample, mut seen) = (Vec::new(), 0);
    for (number, key) in own.iter().enumerate() {
        seen += weight(key);
        if seen * SAMPLES >= all || number + 1 == own.len() {
            put(key, &mut sample);
            sample.extend(seen.to_le_bytes());
            seen = 0;
        }
    }
    let mut samples = Vec::new();
    for mut from in among.world.gather(sample)?.iter().map(Vec::as_slice) {
        while !from.is_empty() {
            samples.push((take(&mut from), take_number(&mut from)));
        }
    }
    samples.sort_unstable();
    Ok(samples)
}

#[cfg(test)]
mod tests {
    use gyrase_fabric::testing::{Process, run};
    use gyrase_fabric::{Steal, World};
    use gyrase_kmer::mix;
    use gyrase_work::Progress;

    use super::*;

    /// How many sequences and how many bases each process gets of some lengths.
    fn shares(lengths: &[usize], ranks: usize) -> Vec<[usize; 2]> {
        let shares = run(ranks, Steal::default(), |process: &Process| {
            let progress = Progress::default();
            let among = Among::of_test(process, &progress);
            let mut own = Pieces::default();
            let dealt = lengths.iter().zip(0u64..);
            for (&length, number) in dealt.skip(World::rank(process)).step_by(ranks) {
                let code = |at: usize| (mix(mix(number) ^ at as u64) >> 62) as u8;
                own.push(&(0..length).map(code).collect::<Vec<u8>>(), 1);
            }
            let (own, numbering) = in_order(&own, &among)?;
            assert_eq!(numbering.own_len(), own.len());
            assert_eq!(numbering.len(), lengths.len());
            let bases = (0..own.len()).map(|piece| own.bases(piece).len()).sum();
            Ok::<_, Error>([own.len(), bases])
        });
        let shares = shares.into_iter();
        shares
            .map(|share| share.expect("no process fails"))
            .collect()
    }

    #[test]
    fn processes_get_as_many_sequences_and_as_many_bases() {
        let short = (0..4000).map(|number| 31 + mix(number) as usize % 100);
        let long = (0..200).map(|number| 1000 + mix(number) as usize % 3000);
        let lengths: Vec<usize> = short.chain(long).collect();
        for ranks in 2..=5 {
            let shares = shares(&lengths, ranks);
            for of in [0, 1] {
                let all: usize = shares.iter().map(|share| share[of]).sum();
                let most = shares.iter().map(|share| share[of]).max().unwrap_or(0);
                assert!(4 * most * ranks < 5 * all, "{shares:?}");
            }
        }
    }

    #[test]
    fn who_gets_half_of_all_bases_at_once_gets_little_else() {
        let short = (0..1000).map(|number| 31 + mix(number) as usize % 100);
        let lengths: Vec<usize> = short.chain([200_000]).collect();
        let shares = shares(&lengths, 4);
        let longest = shares.iter().find(|share| share[1] >= 200_000);
        assert!(longest.is_some_and(|share| share[0] < 100), "{shares:?}");
    }
}
