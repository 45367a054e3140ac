//! Chains: pieces that are joined end to end, as unitigs in their definite order.
//!
//! A unitig is read in the direction in which its letters are the lesser. The order is that of the
//! lesser of the k-mers at its ends, by bin and key. Rings follow, each from its least canonical
//! k-mer on, in the order of their letters.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gyrase_kmer::{Kmer, Shape};
use gyrase_work::Progress;

use super::glue::{Glued, NONE};
use super::over_bins::over_bins;
use super::pieces::{end_of, of_end};
use super::{Side, Unitigs};
use crate::{BaseString, Error};

/// The unitigs of all chains.
pub(super) fn unitigs<const W: usize>(
    glued: &Glued,
    shape: Shape,
    threads: usize,
    progress: &Progress,
) -> Result<Unitigs, Error> {
    let bins = glued.first.len() - 1;
    progress.start("join", bins as u64);
    let visited: Vec<AtomicBool> = (0..glued.len()).map(|_| false.into()).collect();
    let walk = Walk {
        glued,
        k: shape.k(),
        visited: &visited,
    };
    let states = (0..threads)
        .map(|_| (Vec::new(), Scratch::default()))
        .collect();
    let done = over_bins(states, bins, progress, |(parts, scratch), bin| {
        parts.push((bin, walk.of_bin(bin, scratch)));
        Ok(())
    })?;
    let mut parts: Vec<_> = done.into_iter().flat_map(|(parts, _)| parts).collect();
    parts.sort_unstable_by_key(|&(bin, _)| bin);
    let mut unitigs = Unitigs::new(shape.k());
    parts.into_iter().for_each(|(_, part)| unitigs.append(part));
    walk.rings::<W>(&mut unitigs);
    Ok(unitigs)
}

/// What a thread keeps from chain to chain.
#[derive(Default)]
struct Scratch {
    starts: Vec<(u32, u32)>,
    bases: BaseString,
}

struct Walk<'g> {
    glued: &'g Glued,
    k: usize,
    /// Pieces that are in a chain.
    visited: &'g [AtomicBool],
}

impl Walk<'_> {
    /// The unitigs whose lesser end is in a bin.
    fn of_bin(&self, bin: usize, scratch: &mut Scratch) -> Unitigs {
        let mut unitigs = Unitigs::new(self.k);
        let pieces = self.glued.first[bin]..self.glued.first[bin + 1];
        scratch.starts.clear();
        for piece in pieces.clone() {
            for side in [Side::Left, Side::Right] {
                let end = end_of(piece, side);
                if self.glued.joined(end) == NONE {
                    let kmer = self.glued.kmers[piece][side as usize];
                    scratch.starts.push((kmer, end));
                }
            }
        }
        scratch.starts.sort_unstable();
        for &(kmer, start) in &scratch.starts {
            scratch.bases.clear();
            let (last, count_sum) = self.follow(start, &mut scratch.bases);
            let (piece, side) = of_end(last);
            let other = (self.glued.kmers[piece][side as usize], last);
            let is_lesser = match piece {
                _ if piece < pieces.start => false,
                _ if piece >= pieces.end => true,
                _ => (kmer, start) < other,
            };
            if is_lesser {
                unitigs.push_lesser(&scratch.bases, count_sum);
            }
        }
        unitigs
    }

    /// Appends the bases of the pieces from an end on, to where there is no next one, or the first
    /// again; the last end, and the sum of the counts.
    fn follow(&self, start: u32, bases: &mut BaseString) -> (u32, u64) {
        let (mut entered, mut count_sum) = (start, 0);
        loop {
            let (piece, side) = of_end(entered);
            self.visited[piece].store(true, Relaxed);
            count_sum += self.glued.count_sums[piece];
            let mut stretch = self.glued.stretch(piece);
            let shared = if entered == start { 0 } else { self.k - 1 };
            match side {
                Side::Left => {
                    stretch.start += shared;
                    bases.append(&self.glued.bases, stretch);
                }
                Side::Right => {
                    stretch.end -= shared;
                    bases.append_reverse_complement(&self.glued.bases, stretch);
                }
            }
            let last = end_of(piece, side.other());
            match self.glued.joined(last) {
                NONE => return (last, count_sum),
                next if next == start => return (last, count_sum),
                next => entered = next,
            }
        }
    }

    /// Adds the chains without an end.
    fn rings<const W: usize>(&self, unitigs: &mut Unitigs) {
        let mut rings: Vec<(BaseString, u64)> = Vec::new();
        for piece in 0..self.glued.len() {
            if !self.visited[piece].load(Relaxed) {
                let mut bases = BaseString::default();
                let (_, count_sum) = self.follow(end_of(piece, Side::Left), &mut bases);
                rings.push((rotated::<W>(&bases, self.k), count_sum));
            }
        }
        // No two rings share a k-mer.
        rings.sort_unstable_by_key(|(bases, _)| bases.kmer::<W>(0, self.k));
        for (bases, count_sum) in rings {
            unitigs.push_ring(&bases, count_sum);
        }
    }
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
