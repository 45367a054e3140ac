//! Nucleotides as two bits each: many are compared at once.

use std::ops::Range;

use crate::nucleotide::BASES;

/// Bases of a window.
pub const WINDOW: usize = 32;

/// The lower bit of each base of a window.
const LOW: u64 = 0x5555_5555_5555_5555;

/// Bases of two bits, from the lowest bits of the first word on, and which stretches of them are
/// bases altogether.
#[derive(Default)]
pub struct Packed {
    words: Vec<u64>,
    stretches: Vec<Range<usize>>,
}

impl Packed {
    /// Loads codes of nucleotides; what is no base becomes some base, outside of all stretches.
    pub fn load(&mut self, codes: &[u8]) {
        self.words.clear();
        self.stretches.clear();
        let mut start = None;
        for (number, part) in codes.chunks(WINDOW).enumerate() {
            let (mut word, mut strange) = (0, 0);
            for (place, &code) in part.iter().enumerate() {
                word |= u64::from(code & 3) << (2 * place);
                strange |= code;
            }
            self.words.push(word);
            if usize::from(strange) < BASES {
                start = start.or(Some(number * WINDOW));
                continue;
            }
            for (place, &code) in part.iter().enumerate() {
                let at = number * WINDOW + place;
                if usize::from(code) < BASES {
                    start = start.or(Some(at));
                } else if let Some(start) = start.take() {
                    self.stretches.push(start..at);
                }
            }
        }
        if let Some(start) = start {
            self.stretches.push(start..codes.len());
        }
        // A window may end behind the last base.
        self.words.extend([0; 2]);
    }

    /// Stretches of bases, in their order, each as long as it can be.
    pub fn stretches(&self) -> &[Range<usize>] {
        &self.stretches
    }

    /// The window that begins with a base.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn window(&self, at: usize) -> u64 {
        let (word, bits) = (at / WINDOW, 2 * (at % WINDOW));
        let two = &self.words[word..word + 2];
        two[0] >> bits | two[1] << 1 << (63 - bits)
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
            + self.stretches.capacity() * size_of::<Range<usize>>()
    }
}

/// The bases in which two windows differ, by the lower of their two bits, from their difference:
/// one exclusive or the other.
#[inline(always)]
pub fn mismatches(difference: u64) -> u64 {
    (difference | difference >> 1) & LOW
}

/// The bases of [`mismatches`], one bit each.
#[inline(always)]
pub fn compressed(mismatches: u64) -> u32 {
    let mut bits = mismatches;
    bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_tell_where_bases_differ() {
        let mut codes: Vec<u8> = (0..100_u32).map(|at| (at * at % 7 % 4) as u8).collect();
        let mut packed = Packed::default();
        packed.load(&codes);
        assert_eq!(packed.stretches().first(), Some(&(0..100)));
        let before = packed.window(40);
        codes[40] ^= 1;
        codes[45] ^= 2;
        codes[71] ^= 3;
        codes[60] = 14;
        codes[99] = 31;
        packed.load(&codes);
        assert_eq!(packed.stretches(), [0..60, 61..99]);
        let differing = compressed(mismatches(packed.window(40) ^ before));
        assert_eq!(differing & !(1 << 20), 1 | 1 << 5 | 1 << 31);
        for at in [0, 1, 31, 32, 33, 67] {
            let window = packed.window(at);
            for place in 0..WINDOW {
                assert_eq!(window >> (2 * place) & 3, u64::from(codes[at + place] & 3));
            }
        }
        packed.load(&[]);
        assert!(packed.stretches().is_empty());
    }
}
