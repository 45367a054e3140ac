//! Sequences of all processes in the order of the nodes of a graph: each process gets a part of
//! them (sample sort; Frazer and McKellar 1970).

use std::cmp::Reverse;

use gyrase_fabric::{Drain, Fabric, Sender};
use gyrase_work::{in_parallel, run_of};

use super::nodes::Pieces;
use crate::among::Among;
use crate::unitigs::records::{append_bases, put_slice, take_number};
use crate::{BaseSlice, Error};

/// Words by which sequences of one length are told apart: more are equal in few, and these are in
/// one process.
const WORDS: usize = 4;
/// How long a sequence is, and its first bases.
type Key = (Reverse<u64>, [u64; WORDS]);
/// Keys that a process gives, of as many parts of what it has.
const SAMPLES: u64 = 256;
/// Bytes that a node takes beside its bases.
const NODE: u64 = 48;

/// Those of all sequences that this process gets: what is in lower ranks comes before them. Each
/// process gets about as many bytes of the graph.
///
/// Collective.
pub fn in_order(pieces: &Pieces, among: &Among) -> Result<Pieces, Error> {
    let keys: Vec<Key> = (0..pieces.len())
        .map(|piece| key(pieces.bases(piece)))
        .collect();
    let borders = borders(&keys, among)?;
    let fabric = among.fabric_to_processes()?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        let mut record = Vec::new();
        for piece in run_of(pieces.len(), thread, among.threads) {
            record.clear();
            record.extend(pieces.counts[piece].to_le_bytes());
            put_slice(pieces.bases(piece), &mut record);
            let rank = borders.partition_point(|border| *border < keys[piece]);
            sender.send(rank, &record, record.len())?;
        }
        Ok::<_, Error>(sender)
    })?;
    let partitions = fabric.close(senders)?;
    let mut own = Pieces::default();
    for rank in partitions.owned() {
        partitions.drain::<Error>(rank, &mut |bytes, used| {
            let mut from = &bytes[..used];
            while !from.is_empty() {
                let count = take_number(&mut from);
                append_bases(&mut from, &mut own.bases);
                own.close(count);
            }
            Ok(())
        })?;
    }
    Ok(own)
}

fn key(bases: BaseSlice) -> Key {
    let mut words = [0; WORDS];
    words
        .iter_mut()
        .zip(bases.words())
        .for_each(|(word, own)| *word = own);
    (Reverse(bases.len() as u64), words)
}

/// The last key of each process but the last.
///
/// Collective.
fn borders(keys: &[Key], among: &Among) -> Result<Vec<Key>, Error> {
    let weight = |key: &Key| key.0.0 / 2 + NODE;
    let mut own: Vec<Key> = keys.to_vec();
    own.sort_unstable();
    let all: u64 = own.iter().map(weight).sum();
    let (mut sample, mut seen) = (Vec::new(), 0);
    for (number, key) in own.iter().enumerate() {
        seen += weight(key);
        if seen * SAMPLES >= all || number + 1 == own.len() {
            let numbers = [seen, key.0.0].into_iter().chain(key.1);
            sample.extend(numbers.flat_map(u64::to_le_bytes));
            seen = 0;
        }
    }
    let mut samples = Vec::new();
    for bytes in among.world.all_gather(&sample)? {
        for row in bytes.as_chunks::<8>().0.chunks_exact(2 + WORDS) {
            let number = |at: usize| u64::from_le_bytes(row[at]);
            let words = std::array::from_fn(|word| number(2 + word));
            samples.push(((Reverse(number(1)), words), number(0)));
        }
    }
    samples.sort_unstable();
    let (ranks, all) = (
        among.world.ranks() as u64,
        samples.iter().map(|one| one.1).sum::<u64>(),
    );
    let (mut borders, mut seen) = (Vec::new(), 0);
    for (key, weight) in samples {
        seen += weight;
        while (borders.len() as u64) + 1 < ranks && seen * ranks >= all * (borders.len() as u64 + 1)
        {
            borders.push(key);
        }
    }
    Ok(borders)
}
