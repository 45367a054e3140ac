//! Where few words of subjects are queries': of several neighbouring places only one is looked at,
//! by a part of the words there.

use std::ops::Range;

use gyrase_align::packed::WINDOW;

use super::seed::Seed;
use super::stretch::Stretch;

/// Where most words of a subject are no query's, this part of the shorter ones within has to be.
const RARE: usize = 12;
/// Windows that are looked at at once.
pub(super) const WINDOWS: usize = 64;
/// Places that they have, at the shortest step.
pub(super) const PLACES: usize = WINDOWS * WINDOW / 2;
/// Bases of a part of which both kinds of bits are a byte each.
const BYTE: usize = 8;
/// Bits by which keys of words are told from most others: as a power of two. They stay in the
/// nearest cache.
const NEAR: u32 = 17;

/// Parts of words: of so many neighbouring places of a subject only one is looked up.
pub(super) struct Coarse {
    /// Neighbouring places of which a part begins at one: 2 or 4.
    pub step: usize,
    bases: usize,
    present: Vec<u64>,
    /// A bit for the hash of each key.
    near: Box<[u64; 1 << (NEAR - 6)]>,
}

impl Coarse {
    /// Of so many words by their lower and upper bits, with the longest steps that leave out most
    /// places.
    pub(super) fn new(
        words: impl Iterator<Item = [u64; 2]> + Clone,
        count: usize,
        seed: Seed,
    ) -> Option<Coarse> {
        [4, 2].into_iter().find_map(|step| {
            let part = seed.bases.checked_sub(step - 1).filter(|&part| part > 3)?;
            let keys = 1_usize << (2 * part);
            if count > keys / RARE * step {
                return None;
            }
            let mut coarse = Coarse {
                step,
                bases: part,
                present: vec![0; keys.div_ceil(64)],
                near: Box::new([0; 1 << (NEAR - 6)]),
            };
            words.clone().for_each(|word| coarse.add(word, seed));
            let filled: u32 = coarse.present.iter().map(|bits| bits.count_ones()).sum();
            (filled as usize <= keys / RARE).then_some(coarse)
        })
    }

    fn add(&mut self, [low, high]: [u64; 2], seed: Seed) {
        for by in 0..self.step {
            let key = self.key(low >> by, high >> by);
            self.present[key / 64] |= 1 << (key % 64);
        }
        let near = near(seed.key(low, high));
        self.near[near / 64] |= 1 << (near % 64);
    }

    /// The key of the part whose lower and upper bits begin these.
    #[inline(always)]
    fn key(&self, low: u64, high: u64) -> usize {
        let mask = (1 << self.bases) - 1;
        (low & mask | (high & mask) << self.bases) as usize
    }

    /// Whether there may be a word of a key; mostly there is none where there is not.
    #[inline(always)]
    pub(super) fn may_have(&self, key: usize) -> bool {
        let near = near(key);
        self.near[near / 64] >> (near % 64) & 1 == 1
    }

    /// Sets the first places to those of windows of a stretch, [`WINDOWS`] at most, where a word
    /// has a part, in steps from the first step of each window on: how many.
    #[inline(always)]
    pub(super) fn find<const STEP: usize>(
        &self,
        stretch: Stretch,
        windows: Range<usize>,
        places: &mut [u32; PLACES],
    ) -> usize {
        if let (4, BYTE, Some(present)) = (STEP, self.bases, self.present.first_chunk()) {
            return find_bytes(present, stretch, windows, places);
        }
        let mut count = 0;
        for number in windows {
            let [low, high] = stretch.bits(number);
            for ahead in (STEP..STEP + WINDOW).step_by(STEP) {
                places[count % PLACES] = (number * WINDOW + ahead) as u32;
                let key = self.key(low >> ahead, high >> ahead);
                count += usize::from(bit(&self.present, key));
            }
        }
        count
    }
}

/// Whether a bit is set.
#[inline(always)]
pub(super) fn bit(bits: &[u64], at: usize) -> bool {
    bits[at / 64] >> (at % 64) & 1 == 1
}

/// The hash of the key of a word.
#[inline(always)]
fn near(key: usize) -> usize {
    ((key as u32).wrapping_mul(0x9e37_79b1) >> (u32::BITS - NEAR)) as usize
}

/// [`Coarse::find`] of parts whose keys are of two bytes, at every fourth place.
#[inline(always)]
fn find_bytes(
    present: &[u64; 1 << (2 * BYTE - 6)],
    stretch: Stretch,
    windows: Range<usize>,
    places: &mut [u32; PLACES],
) -> usize {
    let mut keys = [[0; 2]; WINDOWS];
    for (keys, [low, high]) in keys.iter_mut().zip(stretch.bits_of(windows.clone())) {
        *keys = keys_of_bytes(low, high);
    }
    // Whether a part is a word's cannot be foreseen: there is no branch.
    let mut count = 0;
    for (number, [first, second]) in windows.zip(&keys) {
        for by in 0..4 {
            for (keys, ahead) in [(first, 4), (second, 8)] {
                let key = usize::from((keys >> (16 * by)) as u16);
                places[count % PLACES] = (number * WINDOW + 8 * by + ahead) as u32;
                count += (present[key / 64] >> (key % 64) & 1) as usize;
            }
        }
    }
    count
}

/// The keys of the parts at the places 4, 12, 20 and 28, and of those at 8, 16, 24 and 32.
#[inline(always)]
fn keys_of_bytes(low: u64, high: u64) -> [u64; 2] {
    let apart = |bits: u64| {
        let bits = bits & 0xffff_ffff;
        let bits = (bits | bits << 16) & 0x0000_ffff_0000_ffff;
        (bits | bits << 8) & 0x00ff_00ff_00ff_00ff
    };
    [4, 8].map(|from| apart(low >> from) | apart(high >> from) << 8)
}

#[cfg(test)]
mod tests {
    use gyrase_align::packed::Packed;

    use super::*;

    #[test]
    fn places_are_those_of_parts_of_words() {
        let codes: Vec<u8> = (0..6000_u32).map(|at| (at * at % 1009 % 4) as u8).collect();
        let packed = Packed::of(&codes);
        let bits = |window: u64| [window & u64::from(u32::MAX), window >> WINDOW];
        let words: Vec<[u64; 2]> = (0..40).map(|at| bits(packed.window(100 * at))).collect();
        for (bases, steps) in [(11, 4), (9, 4)] {
            let coarse = Coarse::new(words.iter().copied(), words.len(), Seed::contiguous(bases));
            let coarse = coarse.expect("words are few");
            assert_eq!(coarse.step, steps);
            let part = bases - steps + 1;
            let parts: Vec<&[u8]> = (0..40)
                .flat_map(|at| (0..steps).map(move |by| 100 * at + by))
                .map(|from| &codes[from..from + part])
                .collect();
            let (stretch, mut places) = (
                Stretch {
                    packed: &packed,
                    base: 0,
                },
                [0; PLACES],
            );
            for windows in [0..WINDOWS, 70..101, 3..4] {
                let count = coarse.find::<4>(stretch, windows.clone(), &mut places);
                let all = windows.start * WINDOW + 4..=windows.end * WINDOW;
                let has = |at: &usize| parts.contains(&&codes[*at..*at + part]);
                let expected = all.step_by(4).filter(has).map(|at| at as u32);
                assert!(places[..count].iter().copied().eq(expected), "{bases}");
            }
            for at in 0..40 {
                let [low, high] = words[at];
                assert!(coarse.may_have(Seed::contiguous(bases).key(low, high)));
            }
        }
    }
}
