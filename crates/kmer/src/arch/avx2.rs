//! The kernels on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Stretch, Window};
use crate::minimizer::MULTIPLIER;

/// # Safety
/// The processor has AVX2, and `packed` has 8 bytes of room beyond a quarter of the letters.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn pack(letters: &[u8], packed: &mut [u8]) -> bool {
    debug_assert!(packed.len() >= letters.len() / 4 + 8);
    let chunks = letters.chunks_exact(32);
    let rest = chunks.remainder();
    let mut bad = _mm256_setzero_si256();
    for (i, chunk) in chunks.enumerate() {
        // SAFETY: a chunk has 32 bytes.
        let codes = codes_of(unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) }, &mut bad);
        packed[8 * i..8 * i + 8].copy_from_slice(&codes.to_le_bytes());
    }
    if !rest.is_empty() {
        let mut padded = [b'A'; 32];
        padded[..rest.len()].copy_from_slice(rest);
        // SAFETY: `padded` has 32 bytes.
        let codes = codes_of(unsafe { _mm256_loadu_si256(padded.as_ptr().cast()) }, &mut bad);
        let at = (letters.len() - rest.len()) / 4;
        packed[at..at + 8].copy_from_slice(&codes.to_le_bytes());
    }
    _mm256_testz_si256(bad, bad) == 1
}

/// 32 letters to 64 bits; lanes of `bad` become non-zero where a letter is no base.
#[inline]
#[target_feature(enable = "avx2")]
fn codes_of(letters: __m256i, bad: &mut __m256i) -> u64 {
    // Bits 1 and 2 of a letter are 0, 1, 3, 2 for A, C, G, T: a Gray code.
    let gray = _mm256_and_si256(_mm256_srli_epi16(letters, 1), _mm256_set1_epi8(3));
    let code = _mm256_xor_si256(gray, _mm256_and_si256(_mm256_srli_epi16(gray, 1), _mm256_set1_epi8(1)));

    let upper = _mm256_and_si256(letters, _mm256_set1_epi8(0xdfu8 as i8));
    let bases = _mm256_set1_epi32(i32::from_le_bytes(*b"ACGT"));
    let is_base = _mm256_cmpeq_epi8(upper, _mm256_shuffle_epi8(bases, code));
    let is_uracil = _mm256_cmpeq_epi8(upper, _mm256_set1_epi8(b'U' as i8));
    let good = _mm256_or_si256(is_base, is_uracil);
    *bad = _mm256_or_si256(*bad, _mm256_xor_si256(good, _mm256_set1_epi8(-1)));

    let pairs = _mm256_maddubs_epi16(code, _mm256_set1_epi16(0x0401));
    let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x0010_0001));
    let gather = _mm256_setr_epi8(
        0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, //
        0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
    );
    let bytes = _mm256_shuffle_epi8(fours, gather);
    let low = _mm256_extract_epi32(bytes, 0) as u32;
    let high = _mm256_extract_epi32(bytes, 4) as u32;
    u64::from(low) | u64::from(high) << 32
}

/// # Safety
/// The processor has AVX2; the buffers have room for 8 elements beyond `mmers` (and 8 bytes beyond the packed bases).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn minimizers(mmers: usize, kmers: usize, window: Window, stretch: &mut Stretch) {
    debug_assert!(stretch.packed.len() >= mmers / 4 + 16 && stretch.hashes.len() >= mmers + 16);
    // SAFETY: forwarded from the caller.
    unsafe {
        hash_mmers(mmers, window, stretch);
        slide_minimum(kmers, window.w, &mut stretch.hashes);
        mark_changes(kmers, stretch);
    }
}

/// Reverses the four 2-bit groups of every byte.
#[inline]
#[target_feature(enable = "avx2")]
fn reverse_groups(bytes: __m256i) -> __m256i {
    let low =
        _mm_setr_epi32(0xc080_4000u32 as i32, 0xd090_5010u32 as i32, 0xe0a0_6020u32 as i32, 0xf0b0_7030u32 as i32);
    let high = _mm_setr_epi32(0x0c08_0400, 0x0d09_0501, 0x0e0a_0602, 0x0f0b_0703);
    let (low, high) = (_mm256_broadcastsi128_si256(low), _mm256_broadcastsi128_si256(high));
    let nibble = _mm256_set1_epi8(15);
    let from_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, nibble));
    let from_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
    _mm256_or_si256(from_low, from_high)
}

/// Eight m-mers a step: lane t sees the four bytes that its m-mer begins in, once as they are (the m-mer with its first
/// base low) and once reversed (with its first base high). The complement of the larger of the first and the complemented
/// second is the canonical m-mer.
#[target_feature(enable = "avx2")]
unsafe fn hash_mmers(mmers: usize, window: Window, stretch: &mut Stretch) {
    let ascending = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4,
    );
    let descending = _mm256_setr_epi8(
        3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1,
    );
    let skip = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    let skip_reversed = _mm256_sub_epi32(_mm256_set1_epi32(32 - 2 * window.m as i32), skip);
    let mask = _mm256_set1_epi32(window.mask() as i32);
    let salt = _mm256_set1_epi32(window.salt() as i32);
    let multiplier = _mm256_set1_epi32(MULTIPLIER as i32);
    let (packed, hashes) = (stretch.packed.as_ptr(), stretch.hashes.as_mut_ptr());
    for i in (0..mmers).step_by(8) {
        // SAFETY: i / 4 + 8 bytes and i + 8 hashes are within the slack that the caller promises.
        unsafe {
            let bytes = _mm256_set1_epi64x(packed.add(i / 4).cast::<i64>().read_unaligned());
            let forward = _mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, ascending), skip);
            let reversed = _mm256_srlv_epi32(_mm256_shuffle_epi8(reverse_groups(bytes), descending), skip_reversed);
            let larger = _mm256_max_epu32(_mm256_and_si256(forward, mask), _mm256_andnot_si256(reversed, mask));
            let hash = _mm256_mullo_epi32(_mm256_xor_si256(larger, salt), multiplier);
            _mm256_storeu_si256(hashes.add(i).cast(), hash);
        }
    }
}

#[target_feature(enable = "avx2")]
unsafe fn slide_minimum(kmers: usize, w: usize, hashes: &mut [u32]) {
    let hashes = hashes.as_mut_ptr();
    let mut span = 1;
    while span < w {
        let step = span.min(w - span);
        for i in (0..kmers + w - span - step).step_by(8) {
            // SAFETY: i + step is below mmers, and 8 hashes fit the slack behind it.
            unsafe {
                let here = _mm256_loadu_si256(hashes.add(i).cast());
                let there = _mm256_loadu_si256(hashes.add(i + step).cast());
                _mm256_storeu_si256(hashes.add(i).cast(), _mm256_min_epu32(here, there));
            }
        }
        span += step;
    }
}

#[target_feature(enable = "avx2")]
unsafe fn mark_changes(kmers: usize, stretch: &mut Stretch) {
    let hashes = stretch.hashes.as_ptr();
    for word in 0..kmers.div_ceil(64) {
        let mut bits = 0u64;
        let end = kmers.min(64 * word + 64);
        for i in (64 * word..end).step_by(8) {
            // SAFETY: i + 9 is within the slack.
            let equal = unsafe {
                let here = _mm256_loadu_si256(hashes.add(i).cast());
                let next = _mm256_loadu_si256(hashes.add(i + 1).cast());
                _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(here, next)))
            };
            bits |= u64::from(!equal as u32 & 0xff) << (i % 64);
        }
        stretch.changes[word] = bits;
    }
    super::shift_changes(kmers, &mut stretch.changes);
}
