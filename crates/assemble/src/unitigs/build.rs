//! From k-mers to unitigs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gyrase_fabric::{ExchangeFabric, SpillFolder, World};
use gyrase_kmer::{Shape, with_words};
use gyrase_work::{Progress, give_back_pieces};

use super::glue::{Glued, Made, OfBin};
use super::guests::Guests;
use super::pieces::{MOST, Maker, Pieces};
use super::{SharedUnitigs, SolidKmers, chains};
use crate::Error;
use crate::among::Among;
use crate::over_bins::over_bins;

/// With what means a graph is built.
#[derive(Clone)]
pub struct Means {
    /// Threads, at least 1.
    pub threads: usize,
    /// Bytes of memory, for k-mers that are held as well.
    pub memory: u64,
    /// Folder for temporary files.
    pub folder: Arc<SpillFolder>,
}

/// The unitigs of all k-mers of a source, which is used up: each process of a job gets its share.
///
/// They depend on the k-mers and their counts alone: not on threads, memory or processes.
///
/// Collective.
///
/// # Errors
/// [`Error::Even`] or [`Error::Stranded`] for k-mers that make no unitigs, [`Error::Memory`] where
/// the graph outgrows the memory; else what cannot be read or spilled, or somebody cancelled.
pub fn build(
    source: SolidKmers,
    means: &Means,
    world: &dyn World,
    progress: &Progress,
) -> Result<SharedUnitigs, Error> {
    check(source.shape())?;
    let among = among(&source, means, world, progress)?;
    build_among(source, means, &among)
}

/// Shares the bins of a source out.
///
/// Collective.
pub(super) fn among<'a>(
    source: &SolidKmers,
    means: &Means,
    world: &'a dyn World,
    progress: &'a Progress,
) -> Result<Among<'a>, Error> {
    let (place, threads) = (source.place(world.peer()), means.threads);
    let least = ExchangeFabric::least_memory(place.partitions, world.ranks(), threads);
    let free = means.memory.saturating_sub(beside(threads) + source.held());
    Ok(Among {
        world,
        bins: place.owned().collect(),
        place,
        threads,
        memory: world.min(&[least.max(free / 4)])?[0],
        room: free,
        folder: Arc::clone(&means.folder),
        bases: 0,
        progress,
    })
}

/// As [`build`], of k-mers that were checked.
pub(super) fn build_among(
    source: SolidKmers,
    means: &Means,
    among: &Among,
) -> Result<SharedUnitigs, Error> {
    with_words!(source.shape(), W => build_of::<W>(source, means, among))
}

/// Refuses k-mers that make no unitigs.
pub(super) fn check(shape: Shape) -> Result<(), Error> {
    match shape.k() {
        k if k.is_multiple_of(2) || k < 3 => Err(Error::Even { k }),
        _ if shape.stranded() => Err(Error::Stranded),
        _ => Ok(()),
    }
}

fn build_of<const W: usize>(
    source: SolidKmers,
    means: &Means,
    among: &Among,
) -> Result<SharedUnitigs, Error> {
    let shape = source.shape();
    let guests = Guests::find::<W>(&source, among)?;
    if guests.numbering().len() >= MOST {
        return Err(Error::TooLarge);
    }
    let pieces = pieces::<W>(&source, &guests, means, among)?;
    let known = guests.numbering().clone();
    drop((source, guests));
    give_back_pieces();
    let glued = Glued::of(pieces, &known, among)?;
    chains::unitigs::<W>(glued, shape, among)
}

/// Bytes that a run takes beside the graph: code, stacks, buffers, the tables of a bin.
pub(super) fn beside(threads: usize) -> u64 {
    (20 << 20) + threads as u64 * (8 << 20)
}

/// The least bytes of a thread's guests.
pub(super) const LEAST: u64 = 16 << 20;

/// While they are put together, what is made of the pieces takes at most so many eighths of their
/// memory: in one process, and in several.
pub(super) const EIGHTHS: [u64; 2] = [10, 28];

/// Bins whose k-mers are forgotten before their memory goes back.
const FORGOTTEN: u64 = 256;

/// The pieces of the bins of this process.
fn pieces<const W: usize>(
    source: &SolidKmers,
    guests: &Guests,
    means: &Means,
    among: &Among,
) -> Result<Made, Error> {
    let bins = among.bins.len();
    among.progress.start("pieces", bins as u64);
    let (taken, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let known = guests.numbering().own_len() * size_of::<u32>();
    let beside = beside(means.threads) + known as u64;
    let eighths = EIGHTHS[usize::from(among.world.ranks() > 1)];
    let fits = |bytes: u64| {
        let taken = taken.fetch_add(bytes, Relaxed) + bytes;
        let done = done.fetch_add(1, Relaxed) + 1;
        if done.is_multiple_of(FORGOTTEN) {
            give_back_pieces();
        }
        if beside + eighths * taken / 8 <= means.memory {
            return Ok(());
        }
        // The bins are alike.
        let all = (taken as f64 * bins as f64 / done as f64) as u64;
        Err(Error::Memory {
            needed: beside + eighths * all / 8,
            given: means.memory,
        })
    };
    let state = |thread| (thread, Maker::<W>::default(), Pieces::default(), Vec::new());
    let states = (0..means.threads).map(state).collect();
    let make = |(thread, maker, pieces, bins): &mut (_, Maker<W>, Pieces, Vec<_>), bin| {
        let own = maker.make(source, guests, bin, pieces)?;
        let bytes = own.bytes();
        let thread = *thread;
        bins.push(OfBin { bin, thread, own });
        fits(bytes)
    };
    let mut made = Made::default();
    for (.., pieces, bins) in over_bins(states, &among.bins, among.progress, make)? {
        made.threads.push(pieces);
        made.bins.extend(bins);
    }
    made.bins.sort_unstable_by_key(|of_bin| of_bin.bin);
    Ok(made)
}
