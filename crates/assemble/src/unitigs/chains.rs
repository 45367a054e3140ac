//! Chains: pieces that are joined end to end, as unitigs in their definite order.
//!
//! A unitig is read in the direction in which its letters are the lesser. The order is that of the
//! lesser of the k-mers at its ends, by bin and key. Rings follow, each from its least canonical
//! k-mer on, in the order of their letters.
//!
//! A process follows its own pieces as far as they go. What begins and ends here is a unitig, or a
//! ring. What goes on in another process is a *run*, and the runs of all become chains in `runs`.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use gyrase_kmer::Shape;

use super::collate::collate;
use super::glue::{Glued, Joined, NONE};
use super::linear::Linear;
use super::pieces::{end_of, of_end};
use super::rings::{Ring, in_order};
use super::runs::{RunEnd, Runs};
use super::{SharedUnitigs, Side, Unitigs};
use crate::among::Among;
use crate::numbering::Numbering;
use crate::over_bins::over_bins;
use crate::{BaseString, Error};

/// The unitigs of all chains.
///
/// Collective.
pub(super) fn unitigs<const W: usize>(
    glued: Glued,
    shape: Shape,
    among: &Among,
) -> Result<SharedUnitigs, Error> {
    among.progress.start("join", among.bins.len() as u64);
    let k = shape.k();
    let (mut linear, runs, mut rings) = walk(&glued, k, among)?;
    let pieces = glued.numbering.clone();
    drop(glued);
    if among.sum(runs.len())? > 0 {
        let collated = collate(&runs, &pieces, k, among)?;
        drop(runs);
        for (linear, (others, more)) in linear.iter_mut().zip(collated) {
            *linear = std::mem::replace(linear, Linear::new(k)).merged(others);
            rings.extend(more);
        }
    }
    let mut counts = vec![0; 2 * among.place.partitions];
    let mut unitigs = Unitigs::new(k);
    for (&bin, linear) in among.bins.iter().zip(linear) {
        counts[bin] = linear.unitigs.len() as u64;
        unitigs.append(linear.unitigs);
    }
    for (bin, rings) in in_order::<W>(rings, k, among)? {
        counts[among.place.partitions + bin] = rings.len() as u64;
        rings
            .iter()
            .for_each(|ring| unitigs.push_ring(&ring.bases, ring.count_sum));
    }
    let numbering = Numbering::agree(among.world, &among.place, &counts)?;
    if 2 * numbering.len() >= NONE as usize {
        return Err(Error::TooLarge);
    }
    Ok(SharedUnitigs { unitigs, numbering })
}

/// What the pieces of this process make by themselves: the unitigs of its bins, runs, rings.
fn walk(glued: &Glued, k: usize, among: &Among) -> Result<(Vec<Linear>, Runs, Vec<Ring>), Error> {
    let visited: Vec<AtomicBool> = (0..glued.len()).map(|_| false.into()).collect();
    let walk = Walk {
        glued,
        k,
        visited: &visited,
    };
    let state = || (Vec::new(), Runs::new(k), Scratch::default());
    let states = (0..among.threads).map(|_| state()).collect();
    let of_bin = |(parts, runs, scratch): &mut (Vec<_>, Runs, Scratch), bin| {
        parts.push((bin, walk.of_bin(bin, runs, scratch)));
        Ok::<_, Error>(())
    };
    let done = over_bins(states, &among.bins, among.progress, of_bin)?;
    let (mut parts, mut runs) = (Vec::new(), Runs::new(k));
    for (some, more, _) in done {
        parts.extend(some);
        runs.append(more);
    }
    parts.sort_unstable_by_key(|&(bin, _)| bin);
    let linear = parts.into_iter().map(|(_, linear)| linear).collect();
    Ok((linear, runs, walk.rings()))
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
    /// The unitigs whose lesser end is in a bin; adds the runs of which this is true.
    fn of_bin(&self, bin: usize, runs: &mut Runs, scratch: &mut Scratch) -> Linear {
        let mut linear = Linear::new(self.k);
        let pieces = self.glued.numbering.own_of(bin);
        scratch.starts.clear();
        for piece in pieces.clone() {
            for side in [Side::Left, Side::Right] {
                let end = end_of(piece, side);
                if !matches!(self.glued.joined(end), Joined::Here(_)) {
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
            let ends = [start, last];
            match ends
                .iter()
                .all(|&end| self.glued.joined(end) == Joined::Nothing)
            {
                _ if !is_lesser => {}
                true => {
                    linear.kmers.push(kmer);
                    linear.unitigs.push_lesser(&scratch.bases, count_sum);
                }
                false => runs.push(&scratch.bases, count_sum, ends.map(|end| self.end(end))),
            }
        }
        linear
    }

    /// An end of a run.
    fn end(&self, end: u32) -> RunEnd {
        let (piece, side) = of_end(end);
        let numbering = &self.glued.numbering;
        let number = numbering.number(piece);
        let joined = match self.glued.joined(end) {
            Joined::Elsewhere(other) => other,
            Joined::Here(_) | Joined::Nothing => NONE,
        };
        RunEnd {
            end: end_of(number, side),
            bin: numbering.group(number) as u32,
            kmer: self.glued.kmers[piece][side as usize],
            joined,
        }
    }

    /// Appends the bases of the pieces from an end on, to where there is no next one here, or the
    /// first again; the last end, and the sum of the counts.
    fn follow(&self, start: u32, bases: &mut BaseString) -> (u32, u64) {
        let (mut entered, mut count_sum) = (start, 0);
        loop {
            let (piece, side) = of_end(entered);
            self.visited[piece].store(true, Relaxed);
            count_sum += self.glued.count_sums.get(piece);
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
                Joined::Here(next) if next != start => entered = next,
                _ => return (last, count_sum),
            }
        }
    }

    /// The chains without an end.
    fn rings(&self) -> Vec<Ring> {
        let mut rings = Vec::new();
        for piece in 0..self.glued.len() {
            if !self.visited[piece].load(Relaxed) {
                let mut bases = BaseString::default();
                let (_, count_sum) = self.follow(end_of(piece, Side::Left), &mut bases);
                rings.push(Ring { bases, count_sum });
            }
        }
        rings
    }
}
