//! The junctions of a bin, and which k-mers end in each.

use gyrase_kmer::{Key, Kmer};

use super::Side;

/// A place beside a junction: k-1 bases in canonical form, and the side of them that a k-mer is on.
/// One on the left ends with them, or begins with their reverse complement; so a k-mer on the left
/// is followed by those on the right.
#[derive(Clone, Copy)]
pub(super) struct Junction<const W: usize> {
    pub(super) bases: Kmer<W>,
    pub(super) side: Side,
}

/// The place of a k-mer, given with its reverse complement, beside the junction at one of its
/// sides; `None` for a palindrome, which joins nothing: its sides are one.
#[inline(always)]
pub(super) fn at_side<const W: usize>(
    kmer: Kmer<W>,
    reverse: Kmer<W>,
    side: Side,
    k: usize,
) -> Option<Junction<W>> {
    let (bases, others) = match side {
        Side::Left => (kmer.without_last(), reverse.masked(k - 1)),
        Side::Right => (kmer.masked(k - 1), reverse.without_last()),
    };
    match bases.cmp(&others) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some(Junction {
            bases,
            side: side.other(),
        }),
        std::cmp::Ordering::Greater => Some(Junction {
            bases: others,
            side,
        }),
    }
}

/// Nobody is on this side of a junction.
const NOBODY: u32 = u32::MAX;
/// Several are.
const SEVERAL: u32 = u32::MAX - 1;

#[derive(Clone, Copy)]
struct Slot<const W: usize> {
    bases: Kmer<W>,
    /// Who is on the left and on the right.
    who: [u32; 2],
}

/// Who is beside each junction: open addressing in the order of keys.
#[derive(Default)]
pub(super) struct Junctions<const W: usize> {
    slots: Vec<Slot<W>>,
    shift: u32,
}

impl<const W: usize> Junctions<W> {
    /// Forgets all, and makes room for so many k-mers that will be told.
    pub(super) fn clear(&mut self, told: usize) {
        let slots = slots_for(told);
        self.shift = 64 - slots.ilog2();
        self.slots.clear();
        let empty = Slot {
            bases: Kmer::ZERO,
            who: [NOBODY; 2],
        };
        self.slots.resize(slots, empty);
    }

    /// Tells who, by a number below 2^32 - 2, is beside a junction.
    #[inline(always)]
    pub(super) fn tell(&mut self, junction: Junction<W>, who: u32) {
        let mask = self.slots.len() - 1;
        let mut at = (Key::from(junction.bases).0[0] >> self.shift) as usize;
        loop {
            let slot = &mut self.slots[at];
            if slot.who == [NOBODY; 2] {
                slot.bases = junction.bases;
            } else if slot.bases != junction.bases {
                at = (at + 1) & mask;
                continue;
            }
            let place = &mut slot.who[junction.side as usize];
            *place = if *place == NOBODY { who } else { SEVERAL };
            return;
        }
    }

    /// The pairs that are alone on their sides of a junction.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [u32; 2]> {
        let alone = |slot: &&Slot<W>| slot.who.iter().all(|&who| who < SEVERAL);
        self.slots.iter().filter(alone).map(|slot| slot.who)
    }
}

/// Three slots for two junctions at the least: most have a k-mer on both sides.
fn slots_for(told: usize) -> usize {
    (told + told / 4 + 2).next_power_of_two()
}
