//! The definition of the kernels, in portable code.

use gyrase_seq::encode;

use super::{Stretch, Window};
use crate::minimizer::{MULTIPLIER, SALT};
use crate::{Shape, mix};

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

pub(super) fn minimizers(mmers: usize, kmers: usize, window: Window, stretch: &mut Stretch) {
    hash_mmers(mmers, window, stretch);
    slide_minimum(kmers, window.w, &mut stretch.hashes);
    mark_changes(kmers, stretch);
}

fn hash_mmers(mmers: usize, window: Window, stretch: &mut Stretch) {
    let (mask, top) = (window.mask(), 2 * (window.m - 1));
    let (mut forward, mut reverse) = (0u32, 0u32);
    for i in 0..mmers + window.m - 1 {
        let code = u32::from(stretch.packed[i / 4] >> (2 * (i % 4)) & 3);
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (3 - code) << top;
        if i + 1 >= window.m {
            stretch.hashes[i + 1 - window.m] = (forward.min(reverse) ^ SALT).wrapping_mul(MULTIPLIER);
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

pub(super) fn keys(packed: u128, kmers: usize, shape: Shape, keys: &mut [u64]) {
    let top = 2 * (shape.k() - 1);
    let mask = u64::MAX >> (62 - top);
    let (mut forward, mut reverse) = (0, 0);
    for i in 0..kmers + shape.k() - 1 {
        let code = (packed >> (2 * i)) as u64 & 3;
        forward = (forward << 2 | code) & mask;
        reverse = reverse >> 2 | (3 - code) << top;
        if i + 1 >= shape.k() {
            keys[i + 1 - shape.k()] = mix(if shape.stranded() { forward } else { forward.min(reverse) });
        }
    }
}
