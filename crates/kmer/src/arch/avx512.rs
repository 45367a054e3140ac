//! The kernels on 512-bit vectors; packing letters stays on 256.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{Stretch, Window};
use crate::Shape;
use crate::key::{FIRST, SECOND};
use crate::minimizer::MULTIPLIER;

pub(super) use super::avx2::pack;

/// # Safety
/// The processor has AVX-512 F and BW; the buffers have room for 16 elements beyond `mmers` (and 8 bytes beyond the packed bases).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn minimizers(mmers: usize, kmers: usize, window: Window, stretch: &mut Stretch) {
    debug_assert!(stretch.packed.len() >= mmers / 4 + 16 && stretch.hashes.len() >= mmers + 32);
    // SAFETY: forwarded from the caller.
    unsafe {
        hash_mmers(mmers, window, stretch);
        slide_minimum(kmers, window.w, &mut stretch.hashes);
        mark_changes(kmers, stretch);
    }
}

/// Reverses the four 2-bit groups of every byte.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reverse_groups(bytes: __m512i) -> __m512i {
    let low =
        _mm512_set4_epi32(0xf0b0_7030u32 as i32, 0xe0a0_6020u32 as i32, 0xd090_5010u32 as i32, 0xc080_4000u32 as i32);
    let high = _mm512_set4_epi32(0x0f0b_0703, 0x0e0a_0602, 0x0d09_0501, 0x0c08_0400);
    let nibble = _mm512_set1_epi8(15);
    let from_low = _mm512_shuffle_epi8(low, _mm512_and_si512(bytes, nibble));
    let from_high = _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble));
    _mm512_or_si512(from_low, from_high)
}

/// Sixteen m-mers a step: see the 256-bit twin.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn hash_mmers(mmers: usize, window: Window, stretch: &mut Stretch) {
    // Lane t begins in byte t / 4; its four bytes, lowest first and highest first.
    let lanes = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let bytes_of_lane = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x0101_0101));
    let ascending = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0302_0100));
    let descending = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0001_0203));
    let skip = _mm512_set4_epi32(6, 4, 2, 0);
    let skip_reversed = _mm512_sub_epi32(_mm512_set1_epi32(32 - 2 * window.m as i32), skip);
    let mask = _mm512_set1_epi32(window.mask() as i32);
    let salt = _mm512_set1_epi32(window.salt() as i32);
    let multiplier = _mm512_set1_epi32(MULTIPLIER as i32);
    let (packed, hashes) = (stretch.packed.as_ptr(), stretch.hashes.as_mut_ptr());
    for i in (0..mmers).step_by(16) {
        // SAFETY: i / 4 + 8 bytes and i + 16 hashes are within the slack that the caller promises.
        unsafe {
            let bytes = _mm512_set1_epi64(packed.add(i / 4).cast::<i64>().read_unaligned());
            let forward = _mm512_srlv_epi32(_mm512_shuffle_epi8(bytes, ascending), skip);
            let reversed = _mm512_srlv_epi32(_mm512_shuffle_epi8(reverse_groups(bytes), descending), skip_reversed);
            let larger = _mm512_max_epu32(_mm512_and_si512(forward, mask), _mm512_andnot_si512(reversed, mask));
            let hash = _mm512_mullo_epi32(_mm512_xor_si512(larger, salt), multiplier);
            _mm512_storeu_si512(hashes.add(i).cast(), hash);
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn slide_minimum(kmers: usize, w: usize, hashes: &mut [u32]) {
    let hashes = hashes.as_mut_ptr();
    let mut span = 1;
    while span < w {
        let step = span.min(w - span);
        for i in (0..kmers + w - span - step).step_by(16) {
            // SAFETY: i + step is below mmers, and 16 hashes fit the slack behind it.
            unsafe {
                let here = _mm512_loadu_si512(hashes.add(i).cast());
                let there = _mm512_loadu_si512(hashes.add(i + step).cast());
                _mm512_storeu_si512(hashes.add(i).cast(), _mm512_min_epu32(here, there));
            }
        }
        span += step;
    }
}

#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn mark_changes(kmers: usize, stretch: &mut Stretch) {
    let hashes = stretch.hashes.as_ptr();
    for word in 0..kmers.div_ceil(64) {
        let mut bits = 0u64;
        for i in (64 * word..kmers.min(64 * word + 64)).step_by(16) {
            // SAFETY: i + 17 is within the slack.
            let differ = unsafe {
                let here = _mm512_loadu_si512(hashes.add(i).cast());
                let next = _mm512_loadu_si512(hashes.add(i + 1).cast());
                _mm512_cmpneq_epi32_mask(here, next)
            };
            bits |= u64::from(differ) << (i % 64);
        }
        stretch.changes[word] = bits;
    }
    super::shift_changes(kmers, &mut stretch.changes);
}

/// # Safety
/// The processor has AVX-512 F and DQ; `keys` has room for `kmers` rounded up to a multiple of 8.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn keys(packed: u128, kmers: usize, shape: Shape, keys: &mut [u64]) {
    let mask = _mm512_set1_epi64((u64::MAX >> (64 - 2 * shape.k())) as i64);
    let one_strand = _mm512_set1_epi64(-i64::from(shape.stranded()));
    let backward = crate::superkmer::reverse_groups(packed) >> (128 - 2 * (kmers + shape.k() - 1));
    for i in (0..kmers).step_by(8) {
        // Lane t holds k-mer i + t: its reverse complement reads `packed` upwards from there, itself `backward` from as
        // far before the last.
        let rising = window(packed >> (2 * i), _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14));
        let last = 2 * (kmers - 1 - i) as u32;
        let before = backward.checked_shr(last.wrapping_sub(14)).unwrap_or_else(|| backward << (14 - last));
        let falling = window(before, _mm512_setr_epi64(14, 12, 10, 8, 6, 4, 2, 0));
        let reverse = _mm512_or_si512(_mm512_andnot_si512(rising, mask), one_strand);
        let form = _mm512_min_epu64(_mm512_and_si512(falling, mask), reverse);
        // SAFETY: the caller promises room for eight.
        unsafe { _mm512_storeu_si512(keys.as_mut_ptr().add(i).cast(), mix(form)) };
    }
}

/// The low words of `bits` shifted right by each of `shifts`.
#[inline]
#[target_feature(enable = "avx512f")]
fn window(bits: u128, shifts: __m512i) -> __m512i {
    let (low, high) = (_mm512_set1_epi64(bits as i64), _mm512_set1_epi64((bits >> 64) as i64));
    let rest = _mm512_sub_epi64(_mm512_set1_epi64(64), shifts);
    _mm512_or_si512(_mm512_srlv_epi64(low, shifts), _mm512_sllv_epi64(high, rest))
}

/// [`crate::mix`] of eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn mix(words: __m512i) -> __m512i {
    let words = _mm512_xor_si512(words, _mm512_srli_epi64::<32>(words));
    let words = _mm512_mullo_epi64(words, _mm512_set1_epi64(FIRST as i64));
    let words = _mm512_xor_si512(words, _mm512_srli_epi64::<29>(words));
    _mm512_mullo_epi64(words, _mm512_set1_epi64(SECOND as i64))
}
