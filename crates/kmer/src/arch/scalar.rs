//! The definition of the kernels, in portable code.

use std::ops::Range;

use gyrase_seq::encode;

use super::stretch::{MinimizerScheme, Stretch};
use crate::feature::{Sampling, feature_of, feature_of_key, key_of};
use crate::{Shape, minimizer_hash, mix};

pub(super) fn pack(letters: &[u8], packed: &mut [u8]) -> bool {
    let mut valid = true;
    for (four, byte) in letters.chunks(4).zip(packed) {
        *byte = 0;
        for (i, &letter) in four.iter().enumerate() {
            let code = encode(letter);
            valid &= code.is_some();
            *byte |= code.unwrap_or(0) << (2 * i);
        }
    }
    valid
}

pub(super) fn minimizers(
    mmers: usize,
    kmers: usize,
    window: MinimizerScheme,
    stretch: &mut Stretch,
) {
    hash_mmers(mmers, window, stretch);
    slide_minimum(kmers, window.w, &mut stretch.hashes);
    mark_changes(kmers, stretch);
}

/// As [`minimizers`], where the smallest m-mer is that of the letters: of the k-mer's own strand,
/// or of canonical m-mers. Nothing needs it fast, so it has no twin in vectors.
pub(crate) fn minimizers_by_letters(
    letters: usize,
    window: MinimizerScheme,
    stranded: bool,
    stretch: &mut Stretch,
) -> usize {
    let kmers = (letters + 2).saturating_sub(window.m + window.w);
    if kmers > 0 {
        let mmers = kmers + window.w - 1;
        let Stretch { packed, hashes, .. } = &mut *stretch;
        words_of_strands(mmers, window.m, packed, |i, forward, reverse| {
            hashes[i] = if stranded {
                forward
            } else {
                forward.min(reverse)
            } as u32;
        });
        slide_minimum(kmers, window.w, &mut stretch.hashes);
        mark_changes(kmers, stretch);
    }
    kmers
}

fn hash_mmers(mmers: usize, window: MinimizerScheme, stretch: &mut Stretch) {
    let Stretch { packed, hashes, .. } = stretch;
    canonical_words(mmers, window.m, packed, |i, word| {
        hashes[i] = minimizer_hash(word as u32)
    });
}

/// Calls `each` with the number and the canonical form of every word of `length` (1 to 32) bases.
#[inline(always)]
fn canonical_words(words: usize, length: usize, packed: &[u8], mut each: impl FnMut(usize, u64)) {
    words_of_strands(words, length, packed, |i, forward, reverse| {
        each(i, forward.min(reverse));
    });
}

/// The same with each word and its reverse complement.
#[inline(always)]
fn words_of_strands(
    words: usize,
    length: usize,
    packed: &[u8],
    mut each: impl FnMut(usize, u64, u64),
) {
    let top = 2 * (length - 1);
    let mask = u64::MAX >> (62 - top);
    let (mut forward, mut reverse) = (0u64, 0u64);
    for i in 0..words + length - 1 {
        let code = u64::from(packed[i / 4] >> (2 * (i % 4)) & 3);
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (3 - code) << top;
        if i + 1 >= length {
            each(i + 1 - length, forward, reverse);
        }
    }
}

/// Doubling: after the pass with step s, element i is the minimum of 2s neighbours.
fn slide_minimum(kmers: usize, w: usize, hashes: &mut [u32]) {
    let mut span = 1;
    while span < w {
        let step = span.min(w - span);
        for i in 0..kmers + w - span - step {
            hashes[i] = hashes[i].min(hashes[i + step]);
        }
        span += step;
    }
}

fn mark_changes(kmers: usize, stretch: &mut Stretch) {
    for word in 0..kmers.div_ceil(64) {
        let range = 64 * word..kmers.min(64 * word + 64);
        stretch.changes[word] = range.enumerate().fold(0, |bits, (bit, i)| {
            let changed = i == 0 || stretch.hashes[i] != stretch.hashes[i - 1];
            bits | u64::from(changed) << bit
        });
    }
}

pub(super) fn features(kmers: usize, k: usize, at: usize, stretch: &mut Stretch) {
    let Stretch { packed, hashes, .. } = stretch;
    canonical_words(kmers, k, packed, |i, word| {
        hashes[at + i] = feature_of(word as u32)
    });
}

/// Marks the k-mers that their s-mers, whose features are in `hashes` from `at` on, allow to be
/// chosen.
pub(super) fn mark(kmers: usize, sampling: Sampling, at: usize, stretch: &mut Stretch) {
    let smers = stretch.hashes[at..].windows(sampling.smers);
    stretch.changes[..kmers.div_ceil(64)].fill(0);
    for (i, hashes) in smers.skip(sampling.margin).take(kmers).enumerate() {
        stretch.changes[i / 64] |= u64::from(sampling.allows(hashes)) << (i % 64);
    }
}

/// Of the k-mers that are marked, unmarks those that are not chosen; the features of the others go
/// to `hashes`, from `at` on.
pub(super) fn sampled(
    kmers: usize,
    k: usize,
    limit: u32,
    at: usize,
    stretch: &mut Stretch,
) -> usize {
    let Stretch {
        packed,
        hashes,
        changes,
        ..
    } = stretch;
    let mut end = at;
    canonical_words(kmers, k, packed, |i, word| {
        let key = key_of(word);
        let marked = changes[i / 64] >> (i % 64) & 1 == 1;
        let chosen = marked && (key >> 32) as u32 <= limit;
        hashes[end] = feature_of_key(key);
        end += usize::from(chosen);
        changes[i / 64] &= !(u64::from(!chosen) << (i % 64));
    });
    end - at
}

/// Writes the `most` smallest distinct of the hashes that are at most `limit` to the front of
/// `chosen`, ascending; returns how many there are.
pub(super) fn smallest(
    limit: u32,
    range: Range<usize>,
    most: usize,
    stretch: &mut Stretch,
) -> usize {
    let mut kept = 0;
    for &hash in &stretch.hashes[range] {
        stretch.chosen[kept] = hash;
        kept += usize::from(hash <= limit);
    }
    sort_distinct(&mut stretch.chosen[..kept], most)
}

/// Sorts, moves the first of each that are equal to the front and returns how many those are, at
/// most `most`.
pub(super) fn sort_distinct(hashes: &mut [u32], most: usize) -> usize {
    hashes.sort_unstable();
    let mut distinct = 0;
    for i in 0..hashes.len() {
        if distinct == 0 || hashes[i] != hashes[distinct - 1] {
            if distinct == most {
                break;
            }
            hashes[distinct] = hashes[i];
            distinct += 1;
        }
    }
    distinct
}

pub(super) fn keys(packed: u128, kmers: usize, shape: Shape, keys: &mut [u64]) {
    let top = 2 * (shape.k() - 1);
    let mask = u64::MAX >> (62 - top);
    let (mut forward, mut reverse) = (0, 0);
    for i in 0..kmers + shape.k() - 1 {
        let code = (packed >> (2 * i)) as u64 & 3;
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (3 - code) << top;
        if i + 1 >= shape.k() {
            keys[i + 1 - shape.k()] = mix(if shape.stranded() {
                forward
            } else {
                forward.min(reverse)
            });
        }
    }
}
