//! The bits of bases, sorted. Written once for all processors: the compiler makes vectors of the
//! words.

/// The lower half of a word.
const HALF: u64 = u32::MAX as u64;
/// Bases of a word.
const BASES: u32 = 32;

/// The kernel: see [`super::Kernels::planes`].
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
