//! The buffers that kernels work on.

use std::ops::Range;

/// Most letters that one call handles.
pub const MAX_LETTERS: usize = 4096;

/// Elements that kernels may read or write past the last one that counts.
pub(super) const SLACK: usize = 64;

/// Room for one stretch of letters: two bits a base, and a number for every k-mer.
#[derive(Debug)]
pub struct Stretch {
    /// Bases, two bits each, four a byte, the first in the low bits.
    pub packed: Box<[u8]>,
    /// After `Kernels::minimizers`: the minimizer hash of every k-mer. After
    /// `Kernels::features`: the feature. After `Kernels::sampled`: the feature of every chosen
    /// k-mer.
    pub hashes: Box<[u32]>,
    /// After `Kernels::minimizers`: bit `i` is set when k-mer `i` and k-mer `i - 1` differ in it
    /// (bit 0 always). After `Kernels::sampled`: bit `i` is set when k-mer `i` is chosen.
    pub changes: Box<[u64]>,
    /// What `Kernels::smallest` chooses from and returns.
    pub(super) chosen: Box<[u32]>,
}

impl Default for Stretch {
    fn default() -> Stretch {
        Stretch {
            packed: vec![0; MAX_LETTERS / 4 + SLACK].into(),
            hashes: vec![0; MAX_LETTERS + SLACK].into(),
            changes: vec![0; MAX_LETTERS / 64 + SLACK].into(),
            chosen: vec![0; MAX_LETTERS + SLACK].into(),
        }
    }
}

impl Stretch {
    /// After `Kernels::sampled`: how many of these k-mers are chosen.
    #[inline]
    pub(crate) fn chosen_of(&self, kmers: Range<usize>) -> usize {
        let words = kmers.start / 64..kmers.end.div_ceil(64);
        let ones = words.map(|word| {
            let from = kmers.start.saturating_sub(64 * word);
            let until = (kmers.end - 64 * word).min(64);
            (self.changes[word] & u64::MAX << from & u64::MAX >> (64 - until)).count_ones() as usize
        });
        ones.sum()
    }
}

/// What to compute: lengths of a minimizer and of the window of m-mers that a k-mer holds.
#[derive(Clone, Copy, Debug)]
pub struct MinimizerScheme {
    /// Bases of an m-mer, 1 to 13.
    pub m: usize,
    /// m-mers of a k-mer, at least 1.
    pub w: usize,
}

#[cfg(target_arch = "x86_64")]
impl MinimizerScheme {
    /// What a kernel xors to the complement of a canonical m-mer before it multiplies: see
    /// [`crate::minimizer_hash`].
    pub(super) fn salt(self) -> u32 {
        crate::minimizer::SALT ^ self.mask()
    }

    pub(super) fn mask(self) -> u32 {
        u32::MAX >> (32 - 2 * self.m)
    }
}

/// Turns "k-mer i differs from the next" into "k-mer i differs from the one before", sets bit 0 and
/// clears what is beyond the end.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(super) fn shift_changes(kmers: usize, changes: &mut [u64]) {
    let mut carry = 1;
    for word in &mut changes[..kmers.div_ceil(64)] {
        (*word, carry) = (*word << 1 | carry, *word >> 63);
    }
    if !kmers.is_multiple_of(64) {
        changes[kmers / 64] &= u64::MAX >> (64 - kmers % 64);
    }
}
