//! Glue: which ends of pieces of all bins are joined.
//!
//! Only the bin that a guest came to knows what it is joined to there, and only the bin that it is
//! of knows the end of a piece that it is at. So the first asks for that end, and tells what is
//! joined to it: a question and a word for each guest that is joined, to the process that has its
//! bin.

use super::Side;
use super::among::{Among, pair, unpair};
use super::numbering::Numbering;
use super::pieces::{MOST, Met, Pieces, end_of};
use crate::{BaseString, Error};

/// No end.
pub(super) const NONE: u32 = u32::MAX;
/// With the number of an end: the piece is another process's, and the number one among all.
const ELSEWHERE: u32 = 1 << 31;

/// What an end of a piece is joined to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joined {
    /// An end of a piece of this process, by its number here.
    Here(u32),
    /// One of another, by its number among all.
    Elsewhere(u32),
    Nothing,
}

/// The pieces of all bins of this process, one behind the other in the order of bins.
pub(super) struct Glued {
    pub(super) bases: BaseString,
    /// Where the bases of each end.
    pub(super) ends: Vec<usize>,
    pub(super) count_sums: Vec<u64>,
    /// The numbers, in their bin, of the k-mers at the left and right ends.
    pub(super) kmers: Vec<[u32; 2]>,
    /// What the left and right ends are joined to.
    links: Vec<[u32; 2]>,
    /// Of the pieces of all processes.
    pub(super) numbering: Numbering,
}

impl Glued {
    /// Puts the pieces of all bins of this process together, in the order of bins.
    ///
    /// Collective.
    pub(super) fn of(
        bins: Vec<(usize, Pieces)>,
        guests: &Numbering,
        among: &Among,
    ) -> Result<Glued, Error> {
        let mut counts = vec![0; among.place.partitions];
        bins.iter()
            .for_each(|(bin, pieces)| counts[*bin] = pieces.len() as u64);
        let numbering = Numbering::agree(among.world, &among.place, &counts)?;
        if 2 * numbering.len() >= MOST {
            return Err(Error::TooLarge);
        }
        let mut meetings = Meetings::of(&bins, &numbering, guests);
        meetings.settle(guests, &numbering, among)?;
        let all = numbering.own_len();
        let mut glued = Glued {
            bases: BaseString::default(),
            ends: Vec::with_capacity(all),
            count_sums: Vec::with_capacity(all),
            kmers: Vec::with_capacity(all),
            links: meetings.links,
            numbering,
        };
        glued.find_own(among.world.rank());
        glued
            .bases
            .reserve(bins.iter().map(|(_, pieces)| pieces.bases.len()).sum());
        for (_, pieces) in bins {
            let start = glued.bases.len();
            glued.bases.append(&pieces.bases, 0..pieces.bases.len());
            glued.ends.extend(pieces.ends.iter().map(|end| start + end));
            glued.count_sums.extend(pieces.count_sums);
            glued.kmers.extend(pieces.kmers);
        }
        Ok(glued)
    }

    /// Numbers the ends of this process as they are here.
    fn find_own(&mut self, rank: usize) {
        let numbering = &self.numbering;
        for link in self.links.as_flattened_mut() {
            let (piece, side) = (*link as usize >> 1, *link & 1);
            *link = match *link {
                NONE => NONE,
                _ if numbering.owner(piece) == rank => {
                    (numbering.own_place(piece) as u32) << 1 | side
                }
                other => ELSEWHERE | other,
            };
        }
    }

    /// How many there are here.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Where the bases of a piece are.
    #[inline(always)]
    pub(super) fn stretch(&self, piece: usize) -> std::ops::Range<usize> {
        let start = piece.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..self.ends[piece]
    }

    /// What an end is joined to.
    #[inline(always)]
    pub(super) fn joined(&self, end: u32) -> Joined {
        match self.links.as_flattened()[end as usize] {
            NONE => Joined::Nothing,
            link if link & ELSEWHERE == 0 => Joined::Here(link),
            link => Joined::Elsewhere(link & !ELSEWHERE),
        }
    }
}

/// What is joined to ends by way of guests.
struct Meetings {
    /// The end that each end of this process is joined to, by its number among all.
    links: Vec<[u32; 2]>,
    /// The end of a piece that each guest of this process is at.
    guests: Vec<u32>,
    /// Whose ends are not known here: of which guest, and who is joined to it.
    asked: Vec<(u32, Who)>,
    /// Guests, and the ends that are joined to them.
    told: Vec<[u32; 2]>,
}

/// Who is joined to a guest.
#[derive(Clone, Copy)]
enum Who {
    /// An end of a piece of this process, by its number here.
    End(u32),
    /// Another guest.
    Guest(u32),
}

impl Meetings {
    fn of(bins: &[(usize, Pieces)], numbering: &Numbering, guests: &Numbering) -> Meetings {
        let mut meetings = Meetings {
            links: Vec::with_capacity(numbering.own_len()),
            guests: vec![NONE; guests.own_len()],
            asked: Vec::new(),
            told: Vec::new(),
        };
        for (bin, pieces) in bins {
            meetings.add(pieces, 2 * numbering.of(*bin).start as u32, guests);
        }
        meetings
    }

    /// Adds the pieces of the next bin, whose ends are numbered from `first` on.
    fn add(&mut self, pieces: &Pieces, first: u32, guests: &Numbering) {
        for (piece, beyond) in pieces.beyond.iter().enumerate() {
            let mut links = [NONE; 2];
            for side in [Side::Left, Side::Right] {
                match beyond[side as usize].met() {
                    Met::End(end) => links[side as usize] = first + end,
                    Met::Guest(guest) => {
                        let end = end_of(self.links.len(), side);
                        self.asked.push((guest, Who::End(end)));
                    }
                    Met::AsGuest(guest) => {
                        self.guests[guests.own_place(guest as usize)] = first + end_of(piece, side);
                    }
                    Met::Nothing => {}
                }
            }
            self.links.push(links);
        }
        for &(guest, to) in &pieces.joined {
            match to.met() {
                Met::End(end) => self.told.push([guest, first + end]),
                Met::Guest(other) => self.asked.push((other, Who::Guest(guest))),
                // What is joined to a guest is a k-mer's end in this bin, or another guest.
                Met::AsGuest(_) | Met::Nothing => {}
            }
        }
    }

    /// Asks what is not known here, and tells what others do not know.
    fn settle(
        &mut self,
        guests: &Numbering,
        pieces: &Numbering,
        among: &Among,
    ) -> Result<(), Error> {
        let (asked, at) = (std::mem::take(&mut self.asked), &self.guests);
        let owner = |guest: u32| guests.owner(guest as usize);
        let question = |(guest, _): (u32, Who)| (owner(guest), guest.to_le_bytes());
        let end_of_guest = |guest: u32| at[guests.own_place(guest as usize)];
        let answers = among.ask(&asked, question, |guest| {
            end_of_guest(u32::from_le_bytes(guest)).to_le_bytes()
        })?;
        let mut told = std::mem::take(&mut self.told);
        for ((_, who), answer) in asked.into_iter().zip(answers) {
            let end = u32::from_le_bytes(answer);
            match who {
                Who::End(own) => self.links.as_flattened_mut()[own as usize] = end,
                Who::Guest(guest) => told.push([guest, end]),
            }
        }
        let links = self.links.as_flattened_mut();
        let word = |[guest, end]: [u32; 2]| (owner(guest), pair([guest, end]));
        Ok(among.tell(&told, word, |word| {
            let [guest, end] = unpair(word);
            let at = end_of_guest(guest);
            let piece = pieces.own_place(at as usize >> 1) as u32;
            links[(piece << 1 | at & 1) as usize] = end;
        })?)
    }
}
