//! The kernels on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::scalar::sort_distinct;
use super::stretch::{MinimizerScheme, Stretch, shift_changes};
use crate::feature::{FIRST, SALT, SECOND};
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
        let codes = codes_of(
            unsafe { _mm256_loadu_si256(chunk.as_ptr().cast()) },
            &mut bad,
        );
        packed[8 * i..8 * i + 8].copy_from_slice(&codes.to_le_bytes());
    }
    if !rest.is_empty() {
        let mut padded = [b'A'; 32];
        padded[..rest.len()].copy_from_slice(rest);
        // SAFETY: `padded` has 32 bytes.
        let codes = codes_of(
            unsafe { _mm256_loadu_si256(padded.as_ptr().cast()) },
            &mut bad,
        );
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
    let code = _mm256_xor_si256(
        gray,
        _mm256_and_si256(_mm256_srli_epi16(gray, 1), _mm256_set1_epi8(1)),
    );

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
/// The processor has AVX2; the buffers have room for 8 elements beyond `mmers` (and 8 bytes beyond
/// the packed bases).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn minimizers(
    mmers: usize,
    kmers: usize,
    window: MinimizerScheme,
    stretch: &mut Stretch,
) {
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
    let low = _mm_setr_epi32(
        0xc080_4000u32 as i32,
        0xd090_5010u32 as i32,
        0xe0a0_6020u32 as i32,
        0xf0b0_7030u32 as i32,
    );
    let high = _mm_setr_epi32(0x0c08_0400, 0x0d09_0501, 0x0e0a_0602, 0x0f0b_0703);
    let (low, high) = (
        _mm256_broadcastsi128_si256(low),
        _mm256_broadcastsi128_si256(high),
    );
    let nibble = _mm256_set1_epi8(15);
    let from_low = _mm256_shuffle_epi8(low, _mm256_and_si256(bytes, nibble));
    let from_high =
        _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), nibble));
    _mm256_or_si256(from_low, from_high)
}

/// Eight m-mers a step: lane t sees the four bytes that its m-mer begins in, once as they are (the
/// m-mer with its first base low) and once reversed (with its first base high). The complement of
/// the larger of the first and the complemented second is the canonical m-mer.
#[target_feature(enable = "avx2")]
unsafe fn hash_mmers(mmers: usize, window: MinimizerScheme, stretch: &mut Stretch) {
    let ascending = _mm256_setr_epi8(
        0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2,
        3, 4,
    );
    let descending = _mm256_setr_epi8(
        3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 3, 2, 1, 0, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3, 2, 1, 4, 3,
        2, 1,
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
            let reversed = _mm256_srlv_epi32(
                _mm256_shuffle_epi8(reverse_groups(bytes), descending),
                skip_reversed,
            );
            let larger = _mm256_max_epu32(
                _mm256_and_si256(forward, mask),
                _mm256_andnot_si256(reversed, mask),
            );
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
    shift_changes(kmers, &mut stretch.changes);
}

/// Eight k-mers a step, as [`hash_mmers`]; but up to 16 bases from any place in a byte take five
/// bytes.
///
/// # Safety
/// The processor has AVX2; the buffers have room for 8 elements beyond `at + kmers` (and 8 bytes
/// beyond the packed bases).
#[target_feature(enable = "avx2")]
pub(super) unsafe fn features(kmers: usize, k: usize, at: usize, stretch: &mut Stretch) {
    debug_assert!(
        stretch.packed.len() >= kmers / 4 + 16 && stretch.hashes.len() >= at + kmers + 16
    );
    let lanes = _mm256_setr_epi32(
        0,
        0,
        0,
        0,
        0x0101_0101,
        0x0101_0101,
        0x0101_0101,
        0x0101_0101,
    );
    let ascending = _mm256_add_epi32(lanes, _mm256_set1_epi32(0x0302_0100));
    let ascending_on = _mm256_add_epi32(lanes, _mm256_set1_epi32(0x0403_0201));
    let descending = _mm256_add_epi32(lanes, _mm256_set1_epi32(0x0001_0203));
    let descending_on = _mm256_add_epi32(lanes, _mm256_set1_epi32(0x0102_0304));
    let skip = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    let rest = _mm256_sub_epi32(_mm256_set1_epi32(8), skip);
    let unused = _mm_cvtsi32_si128(32 - 2 * k as i32);
    let mask = _mm256_srl_epi32(_mm256_set1_epi32(-1), unused);
    let salt = _mm256_xor_si256(_mm256_set1_epi32(SALT as i32), mask);
    let (packed, hashes) = (stretch.packed.as_ptr(), stretch.hashes[at..].as_mut_ptr());
    for i in (0..kmers).step_by(8) {
        // SAFETY: i / 4 + 8 bytes and i + 8 hashes are within the slack that the caller promises.
        unsafe {
            let bytes = _mm256_set1_epi64x(packed.add(i / 4).cast::<i64>().read_unaligned());
            let turned = reverse_groups(bytes);
            let forward = _mm256_or_si256(
                _mm256_srlv_epi32(_mm256_shuffle_epi8(bytes, ascending), skip),
                _mm256_sllv_epi32(_mm256_shuffle_epi8(bytes, ascending_on), rest),
            );
            let reversed = _mm256_or_si256(
                _mm256_sllv_epi32(_mm256_shuffle_epi8(turned, descending), skip),
                _mm256_srlv_epi32(_mm256_shuffle_epi8(turned, descending_on), rest),
            );
            let reversed = _mm256_srl_epi32(reversed, unused);
            let larger = _mm256_max_epu32(
                _mm256_and_si256(forward, mask),
                _mm256_andnot_si256(reversed, mask),
            );
            _mm256_storeu_si256(
                hashes.add(i).cast(),
                feature_of(_mm256_xor_si256(larger, salt)),
            );
        }
    }
}

/// [`crate::feature_of`] of eight words that are salted already.
#[inline]
#[target_feature(enable = "avx2")]
fn feature_of(words: __m256i) -> __m256i {
    let words = _mm256_mullo_epi32(words, _mm256_set1_epi32(FIRST as i32));
    let words = _mm256_xor_si256(words, _mm256_srli_epi32(words, 15));
    _mm256_mullo_epi32(words, _mm256_set1_epi32(SECOND as i32))
}

/// For every mask of lanes their numbers, one a byte, lowest first.
const KEPT_LANES: [u64; 256] = {
    let mut table = [0; 256];
    let mut mask = 0;
    while mask < 256 {
        let (mut lane, mut kept) = (0, 0);
        while lane < 8 {
            if mask >> lane & 1 == 1 {
                table[mask] |= lane << (8 * kept);
                kept += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
};

/// Stores the lanes of `mask` side by side at `place`, and whatever behind them; returns their
/// number.
///
/// # Safety
/// The processor has AVX2 and POPCNT; `place` has room for eight.
#[inline]
#[target_feature(enable = "avx2,popcnt")]
unsafe fn compress(values: __m256i, mask: u8, place: *mut u32) -> usize {
    let lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(KEPT_LANES[usize::from(mask)] as i64));
    // SAFETY: forwarded from the caller.
    unsafe { _mm256_storeu_si256(place.cast(), _mm256_permutevar8x32_epi32(values, lanes)) };
    mask.count_ones() as usize
}

/// Bit t is set where lane t is all ones.
#[inline]
#[target_feature(enable = "avx2")]
fn mask_of(lanes: __m256i) -> u8 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u8
}

/// A mask of the first `lanes` lanes, of all when there are fewer.
#[inline]
fn first_lanes(lanes: usize) -> u8 {
    ((1u32 << lanes.min(8)) - 1) as u8
}

/// # Safety
/// The processor has AVX2 and POPCNT; `hashes` has 8 elements beyond the range, and `chosen` as
/// many as the range and 8.
#[target_feature(enable = "avx2,popcnt")]
pub(super) unsafe fn smallest(
    limit: u32,
    range: Range<usize>,
    most: usize,
    stretch: &mut Stretch,
) -> usize {
    debug_assert!(
        stretch.hashes.len() >= range.end + 8 && stretch.chosen.len() >= range.len() + 16
    );
    let (hashes, chosen) = (stretch.hashes.as_ptr(), stretch.chosen.as_mut_ptr());
    let limit = _mm256_set1_epi32(limit as i32);
    let mut kept = 0;
    for i in range.clone().step_by(8) {
        // SAFETY: the caller promises the elements.
        unsafe {
            let values = _mm256_loadu_si256(hashes.add(i).cast());
            let below = mask_of(_mm256_cmpeq_epi32(_mm256_min_epu32(values, limit), values));
            kept += compress(values, below & first_lanes(range.end - i), chosen.add(kept));
        }
    }
    match kept {
        0..=32 => network::<4>(kept, most, &mut stretch.chosen),
        33..=64 => network::<8>(kept, most, &mut stretch.chosen),
        65..=128 => network::<16>(kept, most, &mut stretch.chosen),
        _ => sort_distinct(&mut stretch.chosen[..kept], most),
    }
}

/// [`sort_distinct`] of the first `kept` of `chosen`, at most 8 `R`.
#[target_feature(enable = "avx2,popcnt")]
fn network<const R: usize>(kept: usize, most: usize, chosen: &mut [u32]) -> usize {
    assert!(kept <= 8 * R && chosen.len() >= 8 * R + 8);
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let mut values = [_mm256_setzero_si256(); R];
    for (r, value) in values.iter_mut().enumerate() {
        // SAFETY: `chosen` has 8 R elements.
        let loaded = unsafe { _mm256_loadu_si256(chosen.as_ptr().add(8 * r).cast()) };
        let beyond = _mm256_cmpgt_epi32(lanes, _mm256_set1_epi32(kept as i32 - 8 * r as i32 - 1));
        *value = _mm256_or_si256(loaded, beyond);
    }
    sort(&mut values);
    let (mut distinct, mut before) = (0, _mm256_xor_si256(values[0], _mm256_set1_epi32(-1)));
    for (r, &value) in values.iter().enumerate() {
        let turned = _mm256_permutevar8x32_epi32(value, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
        let repeated = mask_of(_mm256_cmpeq_epi32(
            value,
            _mm256_blend_epi32::<1>(turned, before),
        ));
        before = turned;
        // SAFETY: `distinct` is at most 8 r, and `chosen` has 8 R + 8 elements.
        unsafe {
            let new = !repeated & first_lanes(kept.saturating_sub(8 * r));
            distinct += compress(value, new, chosen.as_mut_ptr().add(distinct));
        }
        if distinct >= most {
            return most;
        }
    }
    distinct
}

/// Sorts the vectors as one sequence, by a bitonic network.
#[inline]
#[target_feature(enable = "avx2")]
fn sort<const R: usize>(values: &mut [__m256i; R]) {
    for value in values.iter_mut() {
        let pairs = exchange::<1, 0xaa>(*value);
        let fours = exchange::<1, 0xaa>(exchange::<3, 0xcc>(pairs));
        *value = exchange::<1, 0xaa>(exchange::<2, 0xcc>(exchange::<7, 0xf0>(fours)));
    }
    let mut sorted = 1;
    while sorted < R {
        for pair in values.chunks_exact_mut(2 * sorted) {
            let (low, high) = pair.split_at_mut(sorted);
            high.reverse();
            for (low, high) in low.iter_mut().zip(high.iter_mut()) {
                let turned =
                    _mm256_permutevar8x32_epi32(*high, _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
                (*low, *high) = (
                    _mm256_min_epu32(*low, turned),
                    _mm256_max_epu32(*low, turned),
                );
            }
            sort_bitonic(low);
            sort_bitonic(high);
        }
        sorted *= 2;
    }
}

/// Sorts vectors that rise and then fall, or the like.
#[inline]
#[target_feature(enable = "avx2")]
fn sort_bitonic(values: &mut [__m256i]) {
    let mut distance = values.len() / 2;
    while distance > 0 {
        for block in values.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (_mm256_min_epu32(*low, *high), _mm256_max_epu32(*low, *high));
            }
        }
        distance /= 2;
    }
    for value in values {
        *value = exchange::<1, 0xaa>(exchange::<2, 0xcc>(exchange::<4, 0xf0>(*value)));
    }
}

/// Compares lane t with lane t ^ `PARTNER`; the lanes of `HIGH` keep the larger.
#[inline]
#[target_feature(enable = "avx2")]
fn exchange<const PARTNER: i32, const HIGH: i32>(value: __m256i) -> __m256i {
    let lanes = _mm256_xor_si256(
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        _mm256_set1_epi32(PARTNER),
    );
    let partner = _mm256_permutevar8x32_epi32(value, lanes);
    _mm256_blend_epi32::<HIGH>(
        _mm256_min_epu32(value, partner),
        _mm256_max_epu32(value, partner),
    )
}
