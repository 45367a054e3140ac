//! Glue: which ends of pieces of all bins are joined.
//!
//! Only the bin that a guest came to knows what it is joined to there, and only the bin that it is
//! of knows the end of a piece that it is at. So the first asks for that end, and tells what is
//! joined to it: a question and a word for each guest that is joined, to the process that has its
//! bin.

use std::mem::take;

use super::pieces::{Beyond, MOST, Met, Pieces, Stretches};
use super::small::{Ends, Sums};
use crate::among::Among;
use crate::numbering::Numbering;
use crate::records::{of_pair, pair};
use crate::{BaseString, Error};

/// No end.
pub(crate) const NONE: u32 = u32::MAX;
/// With the number of an end: the piece is another process's, and the number one among all.
const ELSEWHERE: u32 = 1 << 31;

/// Bins whose messages are on their way at a time.
const AT_ONCE: usize = 64;

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
    ends: Ends,
    pub(super) count_sums: Sums,
    /// The numbers, in their bin, of the k-mers at the left and right ends.
    pub(super) kmers: Vec<[u32; 2]>,
    /// What the left and right ends are joined to.
    links: Vec<[u32; 2]>,
    /// Of the pieces of all processes.
    pub(super) numbering: Numbering,
}

/// The pieces that the threads of this process made.
#[derive(Default)]
pub(super) struct Made {
    pub(super) threads: Vec<Pieces>,
    /// Ascending.
    pub(super) bins: Vec<OfBin>,
}

/// Where the pieces of a bin are.
pub(super) struct OfBin {
    pub(super) bin: usize,
    pub(super) thread: usize,
    pub(super) own: Stretches,
}

impl Made {
    /// The guests that a bin joined to guests.
    fn joined(&self, of_bin: &OfBin) -> &[[u32; 2]] {
        &self.threads[of_bin.thread].joined[of_bin.own.joined.clone()]
    }

    /// Takes what each thread has.
    fn lists<L: Default>(&mut self, list: impl FnMut(&mut Pieces) -> &mut L) -> Vec<L> {
        self.threads.iter_mut().map(list).map(take).collect()
    }

    /// A list of what pieces have, taken in the order of bins.
    fn take<T: Copy>(&mut self, list: impl FnMut(&mut Pieces) -> &mut Vec<T>) -> Vec<T> {
        let lists = self.lists(list);
        let mut all = Vec::with_capacity(lists.iter().map(Vec::len).sum());
        for OfBin { thread, own, .. } in &self.bins {
            all.extend_from_slice(&lists[*thread][own.pieces.clone()]);
        }
        all
    }

    /// Where the bases of pieces end then.
    fn take_ends(&mut self) -> Ends {
        let lists = self.lists(|pieces| &mut pieces.ends);
        let mut all = Ends::with_capacity(lists.iter().map(Ends::len).sum());
        let mut start = 0;
        for OfBin { thread, own, .. } in &self.bins {
            for piece in own.pieces.clone() {
                all.push(lists[*thread].get(piece) - own.bases.start + start);
            }
            start += own.bases.len();
        }
        all
    }

    /// The sums of the counts of pieces, in the same order.
    fn take_sums(&mut self) -> Sums {
        let lists = self.lists(|pieces| &mut pieces.count_sums);
        let mut all = Sums::with_capacity(self.bins.iter().map(|bin| bin.own.pieces.len()).sum());
        for OfBin { thread, own, .. } in &self.bins {
            let own = own.pieces.clone();
            own.for_each(|piece| all.push(lists[*thread].get(piece)));
        }
        all
    }

    /// The bases of pieces, in the same order.
    fn take_bases(&mut self) -> BaseString {
        let lists = self.lists(|pieces| &mut pieces.bases);
        let mut all = BaseString::default();
        all.reserve(lists.iter().map(BaseString::len).sum());
        for OfBin { thread, own, .. } in &self.bins {
            all.append(&lists[*thread], own.bases.clone());
        }
        all
    }
}

impl Glued {
    /// Puts the pieces of all bins of this process together, in the order of bins. What is not
    /// needed any more goes before there is more.
    ///
    /// Collective.
    pub(super) fn of(mut made: Made, guests: &Numbering, among: &Among) -> Result<Glued, Error> {
        let mut counts = vec![0; among.place.partitions];
        for OfBin { bin, own, .. } in &made.bins {
            counts[*bin] = own.pieces.len() as u64;
        }
        let numbering = Numbering::agree(among.world, &among.place, &counts)?;
        if 2 * numbering.len() >= MOST {
            return Err(Error::TooLarge);
        }
        let meetings = Meetings::of(&mut made, &numbering, guests);
        let links = meetings.settle(&made, [guests, &numbering], among)?;
        drop(made.lists(|pieces| &mut pieces.joined));
        let mut glued = Glued {
            bases: made.take_bases(),
            ends: made.take_ends(),
            count_sums: made.take_sums(),
            kmers: made.take(|pieces| &mut pieces.kmers),
            links,
            numbering,
        };
        glued.find_own(among.world.rank());
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
        let start = piece.checked_sub(1);
        start.map_or(0, |before| self.ends.get(before))..self.ends.get(piece)
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
    /// The end that each end of this process is joined to, by its number among all; or the guest
    /// that it is joined to, until that was asked for.
    links: Vec<[Beyond; 2]>,
    /// The end of a piece that each guest of this process is at.
    guests: Vec<u32>,
}

/// Who is joined to a guest.
#[derive(Clone, Copy)]
enum Who {
    /// An end of a piece of this process, by its number here.
    End(u32),
    /// Another guest.
    Guest(u32),
}

/// What some bins have to ask and to tell.
#[derive(Default)]
struct Messages {
    /// Whose ends are not known here: of which guest, and who is joined to it.
    asked: Vec<(u32, Who)>,
    /// Guests, and the ends that are joined to them.
    told: Vec<[u32; 2]>,
}

impl Meetings {
    /// What bins know by themselves.
    fn of(made: &mut Made, numbering: &Numbering, guests: &Numbering) -> Meetings {
        let mut meetings = Meetings {
            links: made.take(|pieces| &mut pieces.beyond),
            guests: vec![NONE; guests.own_len()],
        };
        for &OfBin { bin, .. } in &made.bins {
            let first = 2 * numbering.of(bin).start as u32;
            let links = &mut meetings.links[numbering.own_of(bin)];
            for (end, link) in (first..).zip(links.as_flattened_mut()) {
                match link.met() {
                    Met::End(own) => *link = Beyond::end(first + own),
                    Met::AsGuest(guest) => {
                        meetings.guests[guests.own_place(guest as usize)] = end;
                        *link = Beyond::NOTHING;
                    }
                    Met::Guest(_) | Met::Nothing => {}
                }
            }
        }
        meetings
    }

    /// Asks what is not known here, and tells what others do not know: some bins after the other,
    /// in all processes. What each end is joined to.
    fn settle(
        self,
        made: &Made,
        [guests, pieces]: [&Numbering; 2],
        among: &Among,
    ) -> Result<Vec<[u32; 2]>, Error> {
        let (mut links, at) = (self.links, self.guests);
        let owner = |guest: u32| guests.owner(guest as usize);
        let question = |(guest, _): (u32, Who)| (owner(guest), guest.to_le_bytes());
        let end_of_guest = |guest: u32| at[guests.own_place(guest as usize)];
        let word = |[guest, end]: [u32; 2]| (owner(guest), pair([guest, end]));
        let mut some = made.bins.chunks(AT_ONCE);
        for _ in 0..among.most(some.len())? {
            let bins = some.next().unwrap_or_default();
            let Messages { asked, mut told } = Messages::of(made, bins, &links, pieces);
            let answers = among.ask(&asked, question, |guest| {
                end_of_guest(u32::from_le_bytes(guest)).to_le_bytes()
            })?;
            let links = links.as_flattened_mut();
            for ((_, who), answer) in asked.into_iter().zip(answers) {
                let end = u32::from_le_bytes(answer);
                match who {
                    Who::End(own) => links[own as usize] = Beyond::end(end),
                    Who::Guest(guest) => told.push([guest, end]),
                }
            }
            among.tell(&told, word, |word| {
                let [guest, end] = of_pair(word);
                let at = end_of_guest(guest);
                let piece = pieces.own_place(at as usize >> 1) as u32;
                links[(piece << 1 | at & 1) as usize] = Beyond::end(end);
            })?;
        }
        Ok(links
            .into_iter()
            .map(|both| both.map(Beyond::number))
            .collect())
    }
}

impl Messages {
    /// Those of some bins, by what the ends of this process are joined to so far.
    fn of(made: &Made, bins: &[OfBin], links: &[[Beyond; 2]], numbering: &Numbering) -> Messages {
        let mut messages = Messages::default();
        for of_bin in bins {
            let own = numbering.own_of(of_bin.bin);
            let [here, among_all] =
                [own.start, numbering.of(of_bin.bin).start].map(|at| 2 * at as u32);
            for (end, link) in (0..).zip(links[own].as_flattened()) {
                if let Met::Guest(guest) = link.met() {
                    messages.asked.push((guest, Who::End(here + end)));
                    messages.told.push([guest, among_all + end]);
                }
            }
            let joined = made.joined(of_bin).iter();
            let asked = joined.map(|&[guest, other]| (other, Who::Guest(guest)));
            messages.asked.extend(asked);
        }
        messages
    }
}
