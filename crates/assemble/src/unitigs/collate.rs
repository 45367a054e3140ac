//! The runs of all processes, put together where the unitig that they make belongs.

use std::ops::Range;

use gyrase_fabric::{Drain, Fabric, Sender};
use gyrase_work::{in_parallel, run_of};

use super::Side;
use super::linear::Linear;
use super::rings::Ring;
use super::runs::{RunPlace, Runs};
use crate::among::Among;
use crate::numbering::Numbering;
use crate::over_bins::over_bins;
use crate::records::{append_bases, put_bases, take_number};
use crate::{BaseString, Error};

/// A run on its way.
struct Part {
    kmer: u64,
    offset: u64,
    is_ring: bool,
    count_sum: u64,
    /// Where its bases are among those of all.
    stretch: Range<usize>,
}

/// The unitigs that several processes have runs of: for each bin of this process, in their order,
/// those with ends whose lesser end it has, and rings.
///
/// Collective.
pub(crate) fn collate(
    runs: &Runs,
    pieces: &Numbering,
    k: usize,
    among: &Among,
) -> Result<Vec<(Linear, Vec<Ring>)>, Error> {
    among.progress.start("chains", among.bins.len() as u64);
    let places = runs.places(pieces, among)?;
    let fabric = among.fabric_of_bins()?;
    let senders = (0..among.threads).map(|thread| (thread, fabric.sender()));
    let senders = in_parallel(senders.collect(), |(thread, mut sender)| {
        let (mut record, mut bases) = (Vec::new(), BaseString::default());
        for run in run_of(runs.len(), thread, among.threads) {
            put(runs, run, places[run], k, &mut bases, &mut record);
            sender.send(places[run].bin as usize, &record, record.len())?;
        }
        Ok::<_, Error>(sender)
    })?;
    let partitions = fabric.close(senders)?;
    let states = (0..among.threads).map(|_| Vec::new()).collect();
    let of_bin = |made: &mut Vec<_>, bin| {
        made.push((bin, whole(&partitions, bin, k)?));
        Ok::<_, Error>(())
    };
    let made = over_bins(states, &among.bins, among.progress, of_bin)?;
    let mut made: Vec<_> = made.into_iter().flatten().collect();
    made.sort_unstable_by_key(|&(bin, _)| bin);
    Ok(made.into_iter().map(|(_, made)| made).collect())
}

/// Makes `record` a run as it is read in its chain, without what the one before it ends with: the
/// bases pass through `bases`.
fn put(
    runs: &Runs,
    run: usize,
    place: RunPlace,
    k: usize,
    bases: &mut BaseString,
    record: &mut Vec<u8>,
) {
    bases.clear();
    record.clear();
    let strings = runs.strings();
    let mut stretch = strings.stretch(run);
    let shared = if place.offset == 0 { 0 } else { k - 1 };
    match place.side {
        Side::Left => {
            stretch.start += shared;
            bases.append(strings.bases(), stretch);
        }
        Side::Right => {
            stretch.end -= shared;
            bases.append_reverse_complement(strings.bases(), stretch);
        }
    }
    let numbers = [
        u64::from(place.kmer) << 1 | u64::from(place.is_ring),
        place.offset,
        strings.count_sum(run),
    ];
    record.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    put_bases(bases, record);
}

/// The unitigs of a bin.
fn whole(partitions: &impl Drain, bin: usize, k: usize) -> Result<(Linear, Vec<Ring>), Error> {
    let (mut parts, mut all) = (Vec::new(), BaseString::default());
    partitions.drain::<Error>(bin, &mut |bytes, used| {
        let mut from = &bytes[..used];
        while !from.is_empty() {
            let mut number = || take_number(&mut from);
            let [chain, offset, count_sum] = std::array::from_fn(|_| number());
            parts.push(Part {
                kmer: chain >> 1,
                offset,
                is_ring: chain & 1 > 0,
                count_sum,
                stretch: append_bases(&mut from, &mut all),
            });
        }
        Ok(())
    })?;
    parts.sort_unstable_by_key(|part| (part.kmer, part.offset));
    let (mut linear, mut rings) = (Linear::new(k), Vec::new());
    for chain in parts.chunk_by(|one, other| one.kmer == other.kmer) {
        let mut bases = BaseString::default();
        bases.reserve(chain.iter().map(|part| part.stretch.len()).sum());
        chain
            .iter()
            .for_each(|part| bases.append(&all, part.stretch.clone()));
        let count_sum = chain.iter().map(|part| part.count_sum).sum();
        if chain[0].is_ring {
            rings.push(Ring { bases, count_sum });
        } else {
            linear.kmers.push(chain[0].kmer as u32);
            linear.unitigs.push_lesser(&bases, count_sum);
        }
    }
    Ok((linear, rings))
}
