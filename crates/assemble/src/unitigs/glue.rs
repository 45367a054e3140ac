//! Glue: the pieces of all bins as one graph, and which ends of them are joined.

use super::Side;
use super::pieces::{Beyond, MOST, Met, Pieces, end_of};
use crate::{BaseString, Error};

/// No end.
pub(super) const NONE: u32 = u32::MAX;

/// The pieces of all bins, numbered through in the order of bins.
pub(super) struct Glued {
    pub(super) bases: BaseString,
    /// Where the bases of each end.
    pub(super) ends: Vec<usize>,
    pub(super) count_sums: Vec<u64>,
    /// The numbers, in their bin, of the k-mers at the left and right ends.
    pub(super) kmers: Vec<[u32; 2]>,
    /// The ends that the left and right ends are joined to.
    pub(super) links: Vec<[u32; 2]>,
    /// The first piece of each bin, and how many there are.
    pub(super) first: Vec<usize>,
}

impl Glued {
    /// Puts the pieces of all bins together.
    pub(super) fn of(bins: Vec<Pieces>, guests: usize) -> Result<Glued, Error> {
        let mut first = vec![0];
        for pieces in &bins {
            first.push(first[first.len() - 1] + pieces.len());
        }
        let all = first[bins.len()];
        if 2 * all >= MOST {
            return Err(Error::TooLarge);
        }
        let links = Ends::of(&bins, &first, guests).links(&bins, &first);
        let mut glued = Glued {
            bases: BaseString::default(),
            ends: Vec::with_capacity(all),
            count_sums: Vec::with_capacity(all),
            kmers: Vec::with_capacity(all),
            links,
            first,
        };
        glued
            .bases
            .reserve(bins.iter().map(|pieces| pieces.bases.len()).sum());
        for pieces in bins {
            let start = glued.bases.len();
            glued.bases.append(&pieces.bases, 0..pieces.bases.len());
            glued.ends.extend(pieces.ends.iter().map(|end| start + end));
            glued.count_sums.extend(pieces.count_sums);
            glued.kmers.extend(pieces.kmers);
        }
        Ok(glued)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where the bases of a piece are.
    #[inline(always)]
    pub(super) fn stretch(&self, piece: usize) -> std::ops::Range<usize> {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[piece]
    }

    /// The end that one is joined to, or [`NONE`].
    #[inline(always)]
    pub(super) fn joined(&self, end: u32) -> u32 {
        self.links.as_flattened()[end as usize]
    }
}

/// Where every guest stands in both bins that know it.
struct Ends {
    /// The end of a piece of its own bin that it is at.
    own: Vec<u32>,
    /// What it is joined to where it is a guest: an end, or a guest there.
    joined: Vec<Beyond>,
}

impl Ends {
    fn of(bins: &[Pieces], first: &[usize], guests: usize) -> Ends {
        let mut ends = Ends {
            own: vec![NONE; guests],
            joined: vec![Beyond::NOTHING; guests],
        };
        for (pieces, &first) in bins.iter().zip(first) {
            for (piece, beyond) in pieces.beyond.iter().enumerate() {
                for (side, beyond) in [Side::Left, Side::Right].into_iter().zip(beyond) {
                    if let Met::AsGuest(guest) = beyond.met() {
                        ends.own[guest as usize] = end_of(first + piece, side);
                    }
                }
            }
            for &(guest, to) in &pieces.joined {
                ends.joined[guest as usize] = match to.met() {
                    Met::End(end) => Beyond::end(end + 2 * first as u32),
                    _ => to,
                };
            }
        }
        ends
    }

    /// The ends that both ends of each piece are joined to.
    fn links(&self, bins: &[Pieces], first: &[usize]) -> Vec<[u32; 2]> {
        let mut links = Vec::with_capacity(first[bins.len()]);
        for (pieces, &first) in bins.iter().zip(first) {
            let link = |beyond: Beyond| match beyond.met() {
                Met::End(end) => end + 2 * first as u32,
                Met::Guest(guest) => self.own[guest as usize],
                Met::AsGuest(guest) => self.of_guest(guest),
                Met::Nothing => NONE,
            };
            links.extend(pieces.beyond.iter().map(|beyond| beyond.map(link)));
        }
        links
    }

    fn of_guest(&self, guest: u32) -> u32 {
        match self.joined[guest as usize].met() {
            Met::End(end) => end,
            Met::Guest(other) => self.own[other as usize],
            _ => NONE,
        }
    }
}
