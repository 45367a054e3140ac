//! Guests: k-mers that also end in a junction of another bin, and are told to it.
//!
//! A k-mer has two junctions, its first and its last k-1 bases, and at least one of them holds its
//! minimizer and so belongs to its own bin. Where the other does not, the k-mer is a **guest** of
//! the bin that owns it: so all k-mers around a junction are known to its owner.
//!
//! A record is the junction's words, in canonical form, and then in eight bytes the bin of the
//! k-mer, which of the guests of that bin it is, and on which side of the junction it stands.

use gyrase_fabric::{Drain, Fabric, LocalPartitions, Sender};
use gyrase_kmer::{Kmer, Shape, bins_of_junctions};

use super::Side;
use super::junctions::{Junction, at_side};
use super::solid_kmers::{BinKmers, SolidKmers};
use crate::Error;
use crate::among::Among;
use crate::numbering::Numbering;
use crate::over_bins::over_bins;

/// All guests, in the bins that own their junctions.
pub(super) struct Guests {
    /// Those that came to the bins of this process; `None` where the graph is not cut into bins.
    partitions: Option<LocalPartitions>,
    /// By the bins that they come from, in the order of their k-mers.
    numbering: Numbering,
}

/// A guest that came to a bin.
#[derive(Clone, Copy)]
pub(super) struct Guest<const W: usize> {
    /// Where it stands.
    pub(super) junction: Junction<W>,
    /// Its number among all guests.
    pub(super) number: usize,
}

/// The side of a k-mer, if any, whose junction another bin owns, and which bin.
#[inline(always)]
pub(super) fn elsewhere<const W: usize>(
    kmer: Kmer<W>,
    reverse: Kmer<W>,
    bin: usize,
    shape: Shape,
) -> Option<(Side, usize)> {
    let [left, right] = bins_of_junctions(kmer, reverse, bin, shape);
    match (left == bin, right == bin) {
        (true, true) => None,
        (false, _) => Some((Side::Left, left)),
        (true, false) => Some((Side::Right, right)),
    }
}

const SIDE_BIT: u64 = 1;
const BIN_BITS: u32 = 12;

impl Guests {
    /// Finds those of all bins.
    ///
    /// Collective.
    pub(super) fn find<const W: usize>(
        source: &SolidKmers,
        among: &Among,
    ) -> Result<Guests, Error> {
        let mut counts = vec![0; among.place.partitions];
        if !source.is_cut() {
            return Ok(Guests {
                partitions: None,
                numbering: Numbering::agree(among.world, &among.place, &counts)?,
            });
        }
        let shape = source.shape();
        among.progress.start("guests", among.bins.len() as u64);
        let fabric = among.fabric_of_bins()?;
        let state = || (fabric.sender(), BinKmers::<W>::default(), Vec::new());
        let states = (0..among.threads).map(|_| state()).collect();
        let find = |(sender, kmers, found): &mut (_, BinKmers<W>, Vec<_>), bin| {
            kmers.load(source, bin)?;
            found.push((bin, send_all(kmers, bin, shape, sender)?));
            Ok::<_, Error>(())
        };
        let done = over_bins(states, &among.bins, among.progress, find)?;
        let found = done.iter().flat_map(|(_, _, found)| found);
        found.for_each(|&(bin, guests)| counts[bin] = guests as u64);
        let senders = done.into_iter().map(|(sender, ..)| sender).collect();
        Ok(Guests {
            partitions: Some(fabric.close(senders)?),
            numbering: Numbering::agree(among.world, &among.place, &counts)?,
        })
    }

    /// Their numbers.
    pub(super) fn numbering(&self) -> &Numbering {
        &self.numbering
    }

    /// The number of the first guest that comes from a bin.
    pub(super) fn first(&self, bin: usize) -> usize {
        self.numbering.of(bin).start
    }

    /// Appends those that came to a bin, in no particular order.
    pub(super) fn read<const W: usize>(
        &self,
        bin: usize,
        guests: &mut Vec<Guest<W>>,
    ) -> Result<(), Error> {
        let Some(partitions) = &self.partitions else {
            return Ok(());
        };
        partitions.drain(bin, &mut |bytes, used| {
            let words: &[[u8; 8]] = bytes[..used].as_chunks().0;
            for record in words.chunks_exact(W + 1) {
                let word = |at: usize| u64::from_le_bytes(record[at]);
                let (bin, rest) = (
                    word(W) as usize & ((1 << BIN_BITS) - 1),
                    word(W) >> BIN_BITS,
                );
                let junction = Junction {
                    bases: Kmer(std::array::from_fn(word)),
                    side: side_of(rest & SIDE_BIT != 0),
                };
                let number = self.first(bin) + (rest >> 1) as usize;
                guests.push(Guest { junction, number });
            }
            Ok::<(), Error>(())
        })
    }
}

fn side_of(right: bool) -> Side {
    if right { Side::Right } else { Side::Left }
}

/// Sends the guests that come from a bin; how many there are.
fn send_all<const W: usize>(
    kmers: &BinKmers<W>,
    bin: usize,
    shape: Shape,
    sender: &mut impl Sender,
) -> Result<usize, Error> {
    let mut found = 0;
    for number in 0..kmers.len() {
        let kmer = kmers.kmer(number);
        let reverse = kmer.reverse_complement(shape.k());
        let Some((side, owner)) = elsewhere(kmer, reverse, bin, shape) else {
            continue;
        };
        // A palindrome joins nothing, but the number is taken.
        if let Some(junction) = at_side(kmer, reverse, side, shape.k()) {
            let mut record = [[0; 8]; 5];
            let words = record.iter_mut().zip(junction.bases.0);
            words.for_each(|(bytes, word)| *bytes = word.to_le_bytes());
            let right = u64::from(junction.side == Side::Right);
            record[W] = (((found as u64) << 1 | right) << BIN_BITS | bin as u64).to_le_bytes();
            sender.send(owner, record.as_flattened(), 8 * (W + 1))?;
        }
        found += 1;
    }
    Ok(found)
}
