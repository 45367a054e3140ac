//! Nucleotides as two bits each: many are compared at once.

use std::ops::Range;

/// Bases of a window.
pub const WINDOW: usize = 32;

/// Codes that are packed at a time.
const AT_ONCE: usize = 8;
/// The lowest bit of each of eight codes.
const LOW: u64 = 0x0101_0101_0101_0101;
/// Brings the lowest bits of eight bytes to the highest byte of a product.
const GATHER: u64 = 0x0102_0408_1020_4080;
/// The bits that no base has, in eight codes.
const NO_BASE: u64 = 0xfcfc_fcfc_fcfc_fcfc;
/// What makes a code that has one of them 128 or more.
const CARRY: u64 = 0x7c7c_7c7c_7c7c_7c7c;
/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;

/// Bases of two bits, and which stretches of them are bases altogether.
#[derive(Default)]
pub struct Packed {
    /// Of each 32 bases the lower bits of their codes in the lower half, the upper ones in the
    /// other; the lowest bit of each half is of the first base.
    words: Vec<u64>,
    /// A bit for what is no base.
    others: Vec<u32>,
    stretches: Vec<Range<usize>>,
}

impl Packed {
    /// Loads codes of nucleotides, all below 128; what is no base becomes some base, outside of all
    /// stretches.
    pub fn load(&mut self, codes: &[u8]) {
        self.words.clear();
        self.others.clear();
        self.stretches.clear();
        let mut start = None;
        let (whole, rest) = codes.as_chunks::<WINDOW>();
        for part in whole {
            self.push(part, WINDOW, &mut start);
        }
        if !rest.is_empty() {
            let mut part = [0; WINDOW];
            part[..rest.len()].copy_from_slice(rest);
            self.push(&part, rest.len(), &mut start);
        }
        if let Some(start) = start {
            self.stretches.push(start..codes.len());
        }
        // A window may end behind the last base.
        self.words.extend([0; 2]);
        self.others.extend([0; 2]);
    }

    /// Adds a word, of which so many codes count.
    #[inline(always)]
    fn push(&mut self, part: &[u8; WINDOW], count: usize, start: &mut Option<usize>) {
        let first = self.words.len() * WINDOW;
        let (mut word, mut others) = (0, 0);
        for (number, eight) in part.as_chunks::<AT_ONCE>().0.iter().enumerate() {
            let codes = u64::from_le_bytes(*eight);
            let bits = |lowest: u64| lowest.wrapping_mul(GATHER) >> 56;
            word |= (bits(codes & LOW) | bits(codes >> 1 & LOW) << WINDOW) << (AT_ONCE * number);
            let other = ((codes & NO_BASE) + CARRY) >> 7 & LOW;
            others |= (bits(other) as u32) << (AT_ONCE * number);
        }
        self.words.push(word);
        self.others.push(others);
        if others == 0 && count == WINDOW {
            *start = start.or(Some(first));
            return;
        }
        for place in 0..count {
            if others >> place & 1 == 0 {
                *start = start.or(Some(first + place));
            } else if let Some(start) = start.take() {
                self.stretches.push(start..first + place);
            }
        }
    }

    /// Stretches of bases, in their order, each as long as it can be.
    pub fn stretches(&self) -> &[Range<usize>] {
        &self.stretches
    }

    /// The window that begins with a base: the lower bits of its codes in the lower half.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn window(&self, at: usize) -> u64 {
        let [low, high] = self.bits(at / WINDOW);
        low >> (at % WINDOW) & HALF | high >> (at % WINDOW) << WINDOW
    }

    /// Which letters of the window that begins with a base are no bases: a bit for each.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn others(&self, at: usize) -> u32 {
        let two = &self.others[at / WINDOW..][..2];
        ((u64::from(two[1]) << WINDOW | u64::from(two[0])) >> (at % WINDOW)) as u32
    }

    /// The lower and the upper bits of 64 bases, from that with `32 * number` before it on.
    ///
    /// # Panics
    /// When there is no such base.
    #[inline(always)]
    pub fn bits(&self, number: usize) -> [u64; 2] {
        let two = &self.words[number..][..2];
        [
            two[0] & HALF | two[1] << WINDOW,
            two[0] >> WINDOW | two[1] & !HALF,
        ]
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
            + self.others.capacity() * size_of::<u32>()
            + self.stretches.capacity() * size_of::<Range<usize>>()
    }
}

/// The bases in which two windows differ, a bit each, from their difference: one exclusive or the
/// other.
#[inline(always)]
pub fn differing(difference: u64) -> u32 {
    (difference | difference >> WINDOW) as u32
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
        let differing = differing(packed.window(40) ^ before);
        assert_eq!(differing & !(1 << 20), 1 | 1 << 5 | 1 << 31);
        assert_eq!(packed.others(59), 1 << 1);
        for at in [0, 1, 31, 32, 33, 67] {
            let (window, others) = (packed.window(at), packed.others(at));
            let [low, high] = packed.bits(at / WINDOW);
            for place in 0..WINDOW {
                let code = codes[at + place] & 3;
                let of_window = [window >> place & 1, window >> (WINDOW + place) & 1];
                assert_eq!(of_window, [code & 1, code >> 1].map(u64::from));
                let shift = at % WINDOW + place;
                assert_eq!([low >> shift & 1, high >> shift & 1], of_window);
                assert_eq!(others >> place & 1 == 1, codes[at + place] > 3);
            }
        }
        packed.load(&[]);
        assert!(packed.stretches().is_empty());
    }
}
