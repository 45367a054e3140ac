//! The bits of bases, sorted: the lower ones of 32 bases side by side, and the upper ones.

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;
/// Bases of a word.
const BASES: u32 = 32;

/// The kernel: see [`super::Kernels::planes`]. Written once for all processors: the compiler makes
/// vectors of the words.
#[inline(always)]
pub(super) fn planes(bases: &[[u8; 8]], words: &mut [u64]) {
    for (word, bases) in words.iter_mut().zip(bases) {
        let bits = reversed_within_bytes(u64::from_le_bytes(*bases));
        *word = every_other(bits >> 1) | every_other(bits) << BASES;
    }
}

/// The bits of each byte, the last first.
#[inline(always)]
fn reversed_within_bytes(bits: u64) -> u64 {
    let swapped = |bits: u64, by: u32, mask: u64| bits >> by & mask | (bits & mask) << by;
    let bits = swapped(bits, 1, 0x5555_5555_5555_5555);
    let bits = swapped(bits, 2, 0x3333_3333_3333_3333);
    swapped(bits, 4, 0x0f0f_0f0f_0f0f_0f0f)
}

/// Every other bit from the lowest on, side by side.
#[inline(always)]
fn every_other(bits: u64) -> u64 {
    let bits = bits & 0x5555_5555_5555_5555;
    let bits = (bits | bits >> 1) & 0x3333_3333_3333_3333;
    let bits = (bits | bits >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let bits = (bits | bits >> 4) & 0x00ff_00ff_00ff_00ff;
    let bits = (bits | bits >> 8) & 0x0000_ffff_0000_ffff;
    (bits | bits >> 16) & HALF
}

/// The bits of each byte, the lowest first, in a byte each.
const BITS: [[u8; 8]; 256] = {
    let mut bits = [[0; 8]; 256];
    let mut byte = 0;
    while byte < bits.len() {
        let mut bit = 0;
        while bit < 8 {
            bits[byte][bit] = (byte >> bit & 1) as u8;
            bit += 1;
        }
        byte += 1;
    }
    bits
};

/// The kernel in portable code: see [`super::Kernels::unpack_window`].
#[inline(always)]
pub(super) fn unpack_window(window: u64, codes: &mut [u8; BASES as usize]) {
    let bytes = window.to_le_bytes();
    let (low, high) = bytes.split_at(bytes.len() / 2);
    let eights = codes.as_chunks_mut().0.iter_mut();
    for ((codes, &low), &high) in eights.zip(low).zip(high) {
        let [low, high] = [low, high].map(|byte| u64::from_le_bytes(BITS[usize::from(byte)]));
        *codes = (low | high << 1).to_le_bytes();
    }
}
