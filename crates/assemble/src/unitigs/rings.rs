//! Rings: unitigs without an end, in the order of their letters.

use gyrase_fabric::{Drain, Fabric, Sender};
use gyrase_kmer::Kmer;

use crate::among::Among;
use crate::records::{put_bases, take_bases, take_number};
use crate::{BaseString, Error};

/// A chain without an end.
pub(crate) struct Ring {
    /// All of them, and the first k-1 again.
    pub(crate) bases: BaseString,
    pub(crate) count_sum: u64,
}

/// Bases by which rings are shared out to bins.
const PREFIX: usize = 6;

/// The rings of all processes, from their least canonical k-mer on: those of the bins of this
/// process, in the order of their letters. Which bin has a ring is said by its first letters, so
/// that the order of bins is theirs.
///
/// Collective.
pub(super) fn in_order<const W: usize>(
    rings: Vec<Ring>,
    k: usize,
    among: &Among,
) -> Result<Vec<(usize, Vec<Ring>)>, Error> {
    if among.sum(rings.len())? == 0 {
        return Ok(Vec::new());
    }
    let fabric = among.fabric_of_bins()?;
    let (mut sender, mut record) = (fabric.sender(), Vec::new());
    for ring in rings {
        let bases = rotated::<W>(&ring.bases, k);
        let bin = bin_of(&bases, k, among.place.partitions);
        record.clear();
        record.extend(ring.count_sum.to_le_bytes());
        put_bases(&bases, &mut record);
        sender.send(bin, &record, record.len())?;
    }
    let partitions = fabric.close(vec![sender])?;
    let of_bin = |&bin: &usize| {
        let mut rings = Vec::new();
        partitions.drain::<Error>(bin, &mut |bytes, used| {
            let mut from = &bytes[..used];
            while !from.is_empty() {
                let count_sum = take_number(&mut from);
                let bases = take_bases(&mut from);
                rings.push(Ring { bases, count_sum });
            }
            Ok(())
        })?;
        // No two rings share a k-mer.
        rings.sort_unstable_by_key(|ring| ring.bases.kmer::<W>(0, k));
        Ok((bin, rings))
    };
    among.bins.iter().map(of_bin).collect()
}

/// The bin of so many that a ring is in: an ascending function of its letters.
fn bin_of(bases: &BaseString, k: usize, bins: usize) -> usize {
    let prefix = (0..PREFIX).fold(0, |prefix, at| {
        let base = if at < k { bases.base(at) } else { 0 };
        prefix << 2 | usize::from(base)
    });
    (prefix * bins) >> (2 * PREFIX)
}

/// A ring, the first k-1 bases of which are at its end again, from its least canonical k-mer on, in
/// the direction in which that is canonical.
fn rotated<const W: usize>(ring: &BaseString, k: usize) -> BaseString {
    let kmers = ring.len() + 1 - k;
    let kmer = |at: usize| -> Kmer<W> { ring.kmer(at, k) };
    let least = (0..kmers).min_by_key(|&at| kmer(at).canonical(k));
    let least = least.expect("a ring has a k-mer");
    let is_forward = kmer(least).canonical(k) == kmer(least);
    let mut turned = BaseString::default();
    let mut at = if is_forward {
        least
    } else {
        (least + k - 1) % kmers
    };
    for _ in 0..ring.len() {
        if is_forward {
            turned.push(ring.base(at));
            at = (at + 1) % kmers;
        } else {
            turned.push(3 - ring.base(at));
            at = (at + kmers - 1) % kmers;
        }
    }
    turned
}
