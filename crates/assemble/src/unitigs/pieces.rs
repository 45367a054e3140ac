//! Pieces: what the owner of a bin joins of its own k-mers.
//!
//! Every k-mer is in one piece, of its own bin. A piece ends where its last k-mer is joined to
//! nothing, where the junction belongs to another bin, or where the k-mer behind the junction is a
//! guest. The last two are what `glue` brings together.

use std::ops::Range;

use gyrase_kmer::{Kmer, Shape};

use super::Side;
use super::guests::{Guest, Guests, elsewhere};
use super::junctions::{Junctions, at_side};
use super::small::{Ends, Sums};
use super::solid_kmers::{BinKmers, SolidKmers};
use crate::{BaseString, Error};

/// What is beyond an end: a kind in the two highest bits, and a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Beyond(u32);

/// [`Beyond`], taken apart.
pub(super) enum Met {
    /// An end of the same bin, by its number.
    End(u32),
    /// Whatever is joined to the k-mer where it is a guest: the guest's number.
    AsGuest(u32),
    /// A guest, by its number.
    Guest(u32),
    /// Nothing.
    Nothing,
}

const KIND: u32 = 3 << 30;
const AS_GUEST: u32 = 1 << 30;
const GUEST: u32 = 2 << 30;
/// Numbers are below.
pub(super) const MOST: usize = 1 << 30;

impl Beyond {
    pub(super) const NOTHING: Beyond = Beyond(u32::MAX);

    pub(super) fn end(number: u32) -> Beyond {
        Beyond(number)
    }

    fn as_guest(number: usize) -> Beyond {
        Beyond(AS_GUEST | number as u32)
    }

    fn guest(number: usize) -> Beyond {
        Beyond(GUEST | number as u32)
    }

    fn is_end(self) -> bool {
        self.0 & KIND == 0
    }

    /// That of an end, or one that none has.
    pub(super) fn number(self) -> u32 {
        self.0
    }

    #[inline(always)]
    pub(super) fn met(self) -> Met {
        let number = self.0 & !KIND;
        match self.0 & KIND {
            0 => Met::End(number),
            AS_GUEST => Met::AsGuest(number),
            GUEST => Met::Guest(number),
            _ => Met::Nothing,
        }
    }
}

/// The number of an end among those of numbered things.
#[inline(always)]
pub(crate) fn end_of(number: usize, side: Side) -> u32 {
    (2 * number) as u32 | side as u32
}

/// What an end is of, and on which side.
#[inline(always)]
pub(super) fn of_end(end: u32) -> (usize, Side) {
    let side = if end & 1 == 0 {
        Side::Left
    } else {
        Side::Right
    };
    ((end >> 1) as usize, side)
}

/// The pieces of the bins that a thread took, one bin behind the other; of each by number: those
/// with an end in the order of the lesser k-mer at their ends, behind them the rings.
#[derive(Default)]
pub(super) struct Pieces {
    pub(super) bases: BaseString,
    /// Where the bases of each end.
    pub(super) ends: Ends,
    pub(super) count_sums: Sums,
    /// The numbers of the k-mers at the left and right ends.
    pub(super) kmers: Vec<[u32; 2]>,
    /// What is beyond the left and right ends.
    pub(super) beyond: Vec<[Beyond; 2]>,
    /// Guests that are joined to guests, and to which.
    pub(super) joined: Vec<[u32; 2]>,
}

impl Pieces {
    fn len(&self) -> usize {
        self.ends.len()
    }

    /// What there is behind so much: of the last bin.
    fn behind(&self, [pieces, bases, joined]: [usize; 3]) -> Stretches {
        Stretches {
            pieces: pieces..self.len(),
            bases: bases..self.bases.len(),
            joined: joined..self.joined.len(),
        }
    }

    /// How much there is.
    fn lengths(&self) -> [usize; 3] {
        [self.len(), self.bases.len(), self.joined.len()]
    }
}

/// Where in [`Pieces`] those of a bin are.
pub(super) struct Stretches {
    pub(super) pieces: Range<usize>,
    pub(super) bases: Range<usize>,
    pub(super) joined: Range<usize>,
}

impl Stretches {
    /// Bytes of memory of what is there.
    pub(super) fn bytes(&self) -> u64 {
        let piece = 2 * size_of::<u32>() + 2 * size_of::<[u32; 2]>();
        let joined = self.joined.len() * size_of::<[u32; 2]>();
        (self.bases.len().div_ceil(4) + self.pieces.len() * piece + joined) as u64
    }
}

/// Makes the pieces of one bin after the other.
#[derive(Default)]
pub(super) struct Maker<const W: usize> {
    own: BinKmers<W>,
    guests: Vec<Guest<W>>,
    junctions: Junctions<W>,
    /// What is beyond each side of each k-mer.
    beyond: Vec<Beyond>,
    visited: Vec<bool>,
    /// How many pieces there are of the bins before.
    before: usize,
}

impl<const W: usize> Maker<W> {
    /// Adds the pieces of a bin, the k-mers of which are forgotten; where they are.
    pub(super) fn make(
        &mut self,
        source: &SolidKmers,
        guests: &Guests,
        bin: usize,
        pieces: &mut Pieces,
    ) -> Result<Stretches, Error> {
        let (shape, before) = (source.shape(), pieces.lengths());
        self.before = pieces.len();
        self.own.load(source, bin)?;
        source.forget(bin);
        self.guests.clear();
        guests.read(bin, &mut self.guests)?;
        self.tell_all(source.is_cut().then_some(bin), guests.first(bin), shape);
        self.join(pieces);
        self.walk_all(shape.k(), pieces);
        Ok(pieces.behind(before))
    }

    /// Tells the junctions who is beside them.
    fn tell_all(&mut self, bin: Option<usize>, first: usize, shape: Shape) {
        let (k, own) = (shape.k(), self.own.len());
        self.junctions.clear(2 * own + self.guests.len());
        self.beyond.clear();
        self.beyond.resize(2 * own, Beyond::NOTHING);
        let mut sent = first;
        for number in 0..own {
            let kmer = self.own.kmer(number);
            let reverse = kmer.reverse_complement(k);
            let away = bin.and_then(|bin| elsewhere(kmer, reverse, bin, shape));
            for side in [Side::Left, Side::Right] {
                if away.is_some_and(|(other, _)| other == side) {
                    self.beyond[end_of(number, side) as usize] = Beyond::as_guest(sent);
                    sent += 1;
                } else if let Some(junction) = at_side(kmer, reverse, side, k) {
                    self.junctions.tell(junction, end_of(number, side));
                }
            }
        }
        for (at, guest) in self.guests.iter().enumerate() {
            self.junctions.tell(guest.junction, GUEST | at as u32);
        }
    }

    /// Joins those that are alone on both sides of a junction.
    fn join(&mut self, pieces: &mut Pieces) {
        for [left, right] in self.junctions.pairs() {
            // A k-mer that follows itself is a unitig by itself.
            if left >> 1 == right >> 1 && left & GUEST == 0 {
                continue;
            }
            let guest = |who: u32| self.guests[(who & !GUEST) as usize].number;
            for (one, other) in [(left, right), (right, left)] {
                match [one, other].map(|who| who & GUEST != 0) {
                    [false, false] => self.beyond[one as usize] = Beyond::end(other),
                    [false, true] => self.beyond[one as usize] = Beyond::guest(guest(other)),
                    [true, true] => pieces
                        .joined
                        .push([one, other].map(|who| guest(who) as u32)),
                    // The end that it is joined to says so.
                    [true, false] => {}
                }
            }
        }
    }

    fn walk_all(&mut self, k: usize, pieces: &mut Pieces) {
        let own = self.own.len();
        self.visited.clear();
        self.visited.resize(own, false);
        for number in 0..own {
            let ends = |side| !self.beyond[end_of(number, side) as usize].is_end();
            if !self.visited[number] && (ends(Side::Left) || ends(Side::Right)) {
                let from = if ends(Side::Left) {
                    Side::Left
                } else {
                    Side::Right
                };
                self.walk(number, from, k, pieces);
            }
        }
        for number in 0..own {
            if !self.visited[number] {
                self.walk(number, Side::Left, k, pieces);
            }
        }
    }

    /// Makes a piece of what follows a k-mer that is entered on a side.
    fn walk(&mut self, first: usize, from: Side, k: usize, pieces: &mut Pieces) {
        let (piece, start) = (pieces.len() - self.before, end_of(first, from));
        let kmer = self.own.kmer(first);
        pieces.bases.push_kmer(directed(kmer, from, k), k);
        let (mut entered, mut count_sum) = (start, 0);
        let last = loop {
            let (number, side) = of_end(entered);
            self.visited[number] = true;
            count_sum += u64::from(self.own.counts[number]);
            let left = end_of(number, side.other());
            match self.beyond[left as usize].met() {
                Met::End(next) if next == start => break left,
                Met::End(next) => {
                    let (number, side) = of_end(next);
                    pieces.bases.push(newest(self.own.kmer(number), side, k));
                    entered = next;
                }
                _ => break left,
            }
        };
        let ring = self.beyond[last as usize].is_end();
        let beyond = match ring {
            true => [Side::Right, Side::Left].map(|side| Beyond::end(end_of(piece, side))),
            false => [start, last].map(|end| self.beyond[end as usize]),
        };
        pieces.ends.push(pieces.bases.len());
        pieces.count_sums.push(count_sum);
        pieces.kmers.push([start >> 1, last >> 1]);
        pieces.beyond.push(beyond);
    }
}

/// A k-mer in the direction of a walk that enters it on a side.
#[inline(always)]
fn directed<const W: usize>(kmer: Kmer<W>, from: Side, k: usize) -> Kmer<W> {
    match from {
        Side::Left => kmer,
        Side::Right => kmer.reverse_complement(k),
    }
}

/// The last base of a k-mer in that direction.
#[inline(always)]
fn newest<const W: usize>(kmer: Kmer<W>, from: Side, k: usize) -> u8 {
    match from {
        Side::Left => kmer.base(0),
        Side::Right => 3 - kmer.base(k - 1),
    }
}
