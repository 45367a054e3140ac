//! The kernels on 512-bit vectors; packing letters stays on 256.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Range;

use super::scalar::sort_distinct;
use super::stretch::{MinimizerScheme, Stretch, shift_changes};
use crate::feature::{self, Sampling};
use crate::minimizer::MULTIPLIER;
use crate::packed;
use crate::{Shape, key};

pub(super) use super::avx2::pack;

/// # Safety
/// The processor has AVX-512 F and BW; the buffers have room for 16 elements beyond `mmers` (and 8
/// bytes beyond the packed bases).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn minimizers(
    mmers: usize,
    kmers: usize,
    window: MinimizerScheme,
    stretch: &mut Stretch,
) {
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
    let low = _mm512_set4_epi32(
        0xf0b0_7030u32 as i32,
        0xe0a0_6020u32 as i32,
        0xd090_5010u32 as i32,
        0xc080_4000u32 as i32,
    );
    let high = _mm512_set4_epi32(0x0f0b_0703, 0x0e0a_0602, 0x0d09_0501, 0x0c08_0400);
    let nibble = _mm512_set1_epi8(15);
    let from_low = _mm512_shuffle_epi8(low, _mm512_and_si512(bytes, nibble));
    let from_high =
        _mm512_shuffle_epi8(high, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), nibble));
    _mm512_or_si512(from_low, from_high)
}

/// Sixteen m-mers a step: see the 256-bit twin.
#[target_feature(enable = "avx512f,avx512bw")]
unsafe fn hash_mmers(mmers: usize, window: MinimizerScheme, stretch: &mut Stretch) {
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
            let reversed = _mm512_srlv_epi32(
                _mm512_shuffle_epi8(reverse_groups(bytes), descending),
                skip_reversed,
            );
            let larger = _mm512_max_epu32(
                _mm512_and_si512(forward, mask),
                _mm512_andnot_si512(reversed, mask),
            );
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
    shift_changes(kmers, &mut stretch.changes);
}

/// # Safety
/// The processor has AVX-512 F and DQ; `keys` has room for `kmers` rounded up to a multiple of 8.
#[target_feature(enable = "avx512f,avx512dq")]
pub(super) unsafe fn keys(packed: u128, kmers: usize, shape: Shape, keys: &mut [u64]) {
    let mask = _mm512_set1_epi64((u64::MAX >> (64 - 2 * shape.k())) as i64);
    let one_strand = _mm512_set1_epi64(-i64::from(shape.stranded()));
    let backward = packed::reverse_groups(packed) >> (128 - 2 * (kmers + shape.k() - 1));
    for i in (0..kmers).step_by(8) {
        // Lane t holds k-mer i + t: its reverse complement reads `packed` upwards from there,
        // itself `backward` from as far before the last.
        let rising = window(
            packed >> (2 * i),
            _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
        );
        let last = 2 * (kmers - 1 - i) as u32;
        let before = backward
            .checked_shr(last.wrapping_sub(14))
            .unwrap_or_else(|| backward << (14 - last));
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
    let (low, high) = (
        _mm512_set1_epi64(bits as i64),
        _mm512_set1_epi64((bits >> 64) as i64),
    );
    let rest = _mm512_sub_epi64(_mm512_set1_epi64(64), shifts);
    _mm512_or_si512(
        _mm512_srlv_epi64(low, shifts),
        _mm512_sllv_epi64(high, rest),
    )
}

/// [`crate::mix`] of eight words.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn mix(words: __m512i) -> __m512i {
    let words = _mm512_xor_si512(words, _mm512_srli_epi64::<32>(words));
    let words = _mm512_mullo_epi64(words, _mm512_set1_epi64(key::FIRST as i64));
    let words = _mm512_xor_si512(words, _mm512_srli_epi64::<29>(words));
    _mm512_mullo_epi64(words, _mm512_set1_epi64(key::SECOND as i64))
}

/// Sixteen k-mers a step: see the 256-bit twin.
///
/// # Safety
/// The processor has AVX-512 F and BW; the buffers have room for 16 elements beyond `at + kmers`
/// (and 8 bytes beyond the packed bases).
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn features(kmers: usize, k: usize, at: usize, stretch: &mut Stretch) {
    debug_assert!(
        stretch.packed.len() >= kmers / 4 + 16 && stretch.hashes.len() >= at + kmers + 32
    );
    let lanes = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let bytes_of_lane = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(0x0101_0101));
    let ascending = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0302_0100));
    let ascending_on = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0403_0201));
    let descending = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0001_0203));
    let descending_on = _mm512_add_epi32(bytes_of_lane, _mm512_set1_epi32(0x0102_0304));
    let skip = _mm512_set4_epi32(6, 4, 2, 0);
    let rest = _mm512_set4_epi32(2, 4, 6, 8);
    let unused = _mm_cvtsi32_si128(32 - 2 * k as i32);
    let mask = _mm512_srl_epi32(_mm512_set1_epi32(-1), unused);
    let salt = _mm512_xor_si512(_mm512_set1_epi32(feature::SALT as i32), mask);
    let (packed, hashes) = (stretch.packed.as_ptr(), stretch.hashes[at..].as_mut_ptr());
    for i in (0..kmers).step_by(16) {
        // SAFETY: i / 4 + 8 bytes and i + 16 hashes are within the slack that the caller promises.
        unsafe {
            let bytes = _mm512_set1_epi64(packed.add(i / 4).cast::<i64>().read_unaligned());
            let turned = reverse_groups(bytes);
            let forward = _mm512_or_si512(
                _mm512_srlv_epi32(_mm512_shuffle_epi8(bytes, ascending), skip),
                _mm512_sllv_epi32(_mm512_shuffle_epi8(bytes, ascending_on), rest),
            );
            let reversed = _mm512_or_si512(
                _mm512_sllv_epi32(_mm512_shuffle_epi8(turned, descending), skip),
                _mm512_srlv_epi32(_mm512_shuffle_epi8(turned, descending_on), rest),
            );
            let reversed = _mm512_srl_epi32(reversed, unused);
            let larger = _mm512_max_epu32(
                _mm512_and_si512(forward, mask),
                _mm512_andnot_si512(reversed, mask),
            );
            _mm512_storeu_si512(
                hashes.add(i).cast(),
                feature_of(_mm512_xor_si512(larger, salt)),
            );
        }
    }
}

/// [`crate::feature_of`] of sixteen words that are salted already.
#[inline]
#[target_feature(enable = "avx512f")]
fn feature_of(words: __m512i) -> __m512i {
    let words = _mm512_mullo_epi32(words, _mm512_set1_epi32(feature::FIRST as i32));
    let words = _mm512_xor_si512(words, _mm512_srli_epi32::<15>(words));
    _mm512_mullo_epi32(words, _mm512_set1_epi32(feature::SECOND as i32))
}

/// Sixteen k-mers a step: see the portable twin.
///
/// # Safety
/// The processor has AVX-512 F; `hashes` has 16 elements beyond the s-mers of `kmers` k-mers from
/// `at` on, `changes` a bit of every k-mer up to a multiple of 16.
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn mark(kmers: usize, sampling: Sampling, at: usize, stretch: &mut Stretch) {
    let smers = at + sampling.margin + sampling.smers;
    debug_assert!(stretch.hashes.len() >= smers + kmers + 16 && stretch.changes.len() > kmers / 64);
    let (first, second) = sampling.places();
    let hashes = stretch.hashes[at + sampling.margin..].as_ptr();
    let marks = stretch.changes.as_mut_ptr().cast::<u16>();
    for i in (0..kmers).step_by(16) {
        // SAFETY: the caller promises the hashes and the bits.
        unsafe {
            let smer = |number: usize| _mm512_loadu_si512(hashes.add(i + number).cast());
            let least = |least: __m512i, numbers: Range<usize>| {
                numbers.fold(least, |least, number| _mm512_min_epu32(least, smer(number)))
            };
            let others = least(_mm512_set1_epi32(-1), 0..first);
            let others = least(least(others, first + 1..second), second + 1..sampling.smers);
            let (one, other) = (smer(first), smer(second));
            let smallest = _mm512_cmplt_epu32_mask(_mm512_min_epu32(one, other), others);
            marks
                .add(i / 16)
                .write(smallest & _mm512_cmpneq_epu32_mask(one, other));
        }
    }
}

/// Eight k-mers a step, whose first begins a byte: see the portable twin.
///
/// # Safety
/// The processor has AVX-512 F, BW and DQ and POPCNT; `hashes` has room for 16 elements beyond
/// `at + kmers`, `packed` for 16 bytes beyond the bases, `changes` for a bit of every k-mer up to a
/// multiple of 8.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,popcnt")]
pub(super) unsafe fn sampled(
    kmers: usize,
    k: usize,
    limit: u32,
    at: usize,
    stretch: &mut Stretch,
) -> usize {
    debug_assert!(
        stretch.packed.len() >= kmers / 4 + 16 && stretch.hashes.len() >= at + kmers + 16
    );
    debug_assert!(stretch.changes.len() > kmers / 64);
    let skip = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    let unused = _mm_cvtsi32_si128(64 - 2 * k as i32);
    let mask = _mm512_srl_epi64(_mm512_set1_epi32(-1), unused);
    let salt = _mm512_set1_epi64(feature::SAMPLED_SALT as i64);
    let limit = _mm512_set1_epi64(i64::from(limit));
    let (packed, hashes) = (stretch.packed.as_ptr(), stretch.hashes.as_mut_ptr());
    let marks = stretch.changes.as_mut_ptr().cast::<u8>();
    let mut end = at;
    for i in (0..kmers).step_by(8) {
        // SAFETY: i / 4 + 16 bytes, i / 8 + 1 bytes of marks and 16 hashes from `at + i` on are
        // what the caller promises.
        unsafe {
            let rising = window(packed.add(i / 4).cast::<u128>().read_unaligned(), skip);
            let forward = _mm512_srl_epi64(reverse_bases(rising), unused);
            let canonical = _mm512_min_epu64(forward, _mm512_andnot_si512(rising, mask));
            let key = mix(_mm512_xor_si512(canonical, salt));
            let high = _mm512_srli_epi64::<32>(key);
            let chosen = _mm512_cmple_epu64_mask(high, limit)
                & marks.add(i / 8).read()
                & first_lanes(kmers - i) as u8;
            let features =
                _mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_xor_si512(key, high)));
            end += compress(features, u16::from(chosen), hashes.add(end));
            marks.add(i / 8).write(chosen);
        }
    }
    end - at
}

/// Reverses the 32 2-bit groups of every lane of 64 bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn reverse_bases(words: __m512i) -> __m512i {
    let backward = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
    _mm512_shuffle_epi8(reverse_groups(words), backward)
}

/// Stores the lanes of `mask` side by side at `place`, and whatever behind them; returns their
/// number.
///
/// # Safety
/// The processor has AVX-512 F and POPCNT; `place` has room for sixteen.
#[inline]
#[target_feature(enable = "avx512f,popcnt")]
unsafe fn compress(values: __m512i, mask: u16, place: *mut u32) -> usize {
    // Compressing straight to memory is slow on some processors.
    // SAFETY: forwarded from the caller.
    unsafe { _mm512_storeu_si512(place.cast(), _mm512_maskz_compress_epi32(mask, values)) };
    mask.count_ones() as usize
}

/// A mask of the first `lanes` lanes, of all when there are fewer.
#[inline]
fn first_lanes(lanes: usize) -> u16 {
    ((1u32 << lanes.min(16)) - 1) as u16
}

/// # Safety
/// The processor has AVX-512 F and POPCNT; `hashes` has 16 elements beyond the range, and `chosen`
/// as many as the range and 16.
#[target_feature(enable = "avx512f,popcnt")]
pub(super) unsafe fn smallest(
    limit: u32,
    range: Range<usize>,
    most: usize,
    stretch: &mut Stretch,
) -> usize {
    debug_assert!(
        stretch.hashes.len() >= range.end + 16 && stretch.chosen.len() >= range.len() + 32
    );
    let (hashes, chosen) = (stretch.hashes.as_ptr(), stretch.chosen.as_mut_ptr());
    let limit = _mm512_set1_epi32(limit as i32);
    let mut kept = 0;
    for i in range.clone().step_by(16) {
        // SAFETY: the caller promises the elements.
        unsafe {
            let values = _mm512_loadu_si512(hashes.add(i).cast());
            let below = _mm512_cmple_epu32_mask(values, limit);
            kept += compress(values, below & first_lanes(range.end - i), chosen.add(kept));
        }
    }
    match kept {
        0..=32 => network::<2>(kept, most, &mut stretch.chosen),
        33..=64 => network::<4>(kept, most, &mut stretch.chosen),
        65..=128 => network::<8>(kept, most, &mut stretch.chosen),
        _ => sort_distinct(&mut stretch.chosen[..kept], most),
    }
}

/// [`sort_distinct`] of the first `kept` of `chosen`, at most 16 `R`.
#[target_feature(enable = "avx512f,popcnt")]
fn network<const R: usize>(kept: usize, most: usize, chosen: &mut [u32]) -> usize {
    assert!(kept <= 16 * R && chosen.len() >= 16 * R + 16);
    let mut values = [_mm512_set1_epi32(-1); R];
    for (r, value) in values.iter_mut().enumerate() {
        let used = first_lanes(kept.saturating_sub(16 * r));
        // SAFETY: `chosen` has 16 R elements.
        *value =
            unsafe { _mm512_mask_loadu_epi32(*value, used, chosen.as_ptr().add(16 * r).cast()) };
    }
    sort(&mut values);
    let (mut distinct, mut before) = (0, _mm512_andnot_si512(values[0], _mm512_set1_epi32(-1)));
    for (r, &value) in values.iter().enumerate() {
        let turned = _mm512_alignr_epi32::<15>(value, value);
        let new = _mm512_cmpneq_epi32_mask(value, _mm512_mask_mov_epi32(turned, 1, before));
        before = turned;
        // SAFETY: `distinct` is at most 16 r, and `chosen` has 16 R + 16 elements.
        unsafe {
            let new = new & first_lanes(kept.saturating_sub(16 * r));
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
#[target_feature(enable = "avx512f")]
fn sort<const R: usize>(values: &mut [__m512i; R]) {
    for value in values.iter_mut() {
        let pairs = exchange::<1, 0xaaaa>(*value);
        let fours = exchange::<1, 0xaaaa>(exchange::<3, 0xcccc>(pairs));
        let eights = exchange::<1, 0xaaaa>(exchange::<2, 0xcccc>(exchange::<7, 0xf0f0>(fours)));
        *value = sort_halves(exchange::<15, 0xff00>(eights));
    }
    let mut sorted = 1;
    while sorted < R {
        for pair in values.chunks_exact_mut(2 * sorted) {
            let (low, high) = pair.split_at_mut(sorted);
            high.reverse();
            for (low, high) in low.iter_mut().zip(high.iter_mut()) {
                let falling =
                    _mm512_setr_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
                let turned = _mm512_permutexvar_epi32(falling, *high);
                (*low, *high) = (
                    _mm512_min_epu32(*low, turned),
                    _mm512_max_epu32(*low, turned),
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
#[target_feature(enable = "avx512f")]
fn sort_bitonic(values: &mut [__m512i]) {
    let mut distance = values.len() / 2;
    while distance > 0 {
        for block in values.chunks_exact_mut(2 * distance) {
            let (low, high) = block.split_at_mut(distance);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (_mm512_min_epu32(*low, *high), _mm512_max_epu32(*low, *high));
            }
        }
        distance /= 2;
    }
    for value in values {
        *value = sort_halves(exchange::<8, 0xff00>(*value));
    }
}

/// Sorts each half of a vector whose halves rise and then fall, or the like.
#[inline]
#[target_feature(enable = "avx512f")]
fn sort_halves(value: __m512i) -> __m512i {
    exchange::<1, 0xaaaa>(exchange::<2, 0xcccc>(exchange::<4, 0xf0f0>(value)))
}

/// Compares lane t with lane t ^ `PARTNER`; the lanes of `HIGH` keep the larger.
#[inline]
#[target_feature(enable = "avx512f")]
fn exchange<const PARTNER: i32, const HIGH: u16>(value: __m512i) -> __m512i {
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let partner =
        _mm512_permutexvar_epi32(_mm512_xor_si512(lanes, _mm512_set1_epi32(PARTNER)), value);
    _mm512_mask_max_epu32(_mm512_min_epu32(value, partner), HIGH, value, partner)
}
