//! The kernels on 512-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::array::from_fn;

use super::lanes::{
    COLUMNS, Gaps, LANES, LaneColumns, LaneRows, Lanes, QueryWindow, Rows, ZERO, unbiased,
};
use super::sides::{BEFORE, FIRST, NEAR, SIDE_LANES, Sides};
use crate::packed::WINDOW;
use crate::residue::CODES;

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn windows_scoring<const N: usize>(
    rows: &Rows,
    queries: [QueryWindow; N],
    columns: &LaneColumns,
) -> [u64; N] {
    let zero = _mm512_set1_epi8(ZERO);
    let (mut scores, mut best) = ([zero; N], [zero; N]);
    for (number, column) in columns.iter().enumerate() {
        // SAFETY: a column has 64 bytes.
        let column = unsafe { _mm512_load_si512(column.as_ptr().cast()) };
        for (one, (query, _)) in queries.iter().enumerate() {
            let row = &rows[usize::from(query[number]) % CODES];
            // SAFETY: a row has 32 bytes.
            let row = unsafe { _mm256_loadu_si256(row.as_ptr().cast()) };
            let row = _mm512_broadcast_i64x4(row);
            scores[one] = _mm512_adds_epi8(scores[one], _mm512_permutexvar_epi8(column, row));
            best[one] = _mm512_max_epi8(best[one], scores[one]);
        }
    }
    from_fn(|one| {
        let least = _mm512_set1_epi8(queries[one].1.saturating_add(ZERO));
        _mm512_cmpge_epi8_mask(best[one], least)
    })
}

/// Turns rows into columns: eight rows by words, within each word by bytes, and all by words again.
///
/// # Safety
/// The processor has AVX-512 F and VBMI.
#[target_feature(enable = "avx512f,avx512vbmi")]
pub(super) unsafe fn transpose(rows: &LaneRows, columns: &mut LaneColumns) {
    const BYTES: [u8; 64] = {
        let mut bytes = [0; 64];
        let mut at = 0;
        while at < 64 {
            bytes[at] = (at % 8 * 8 + at / 8) as u8;
            at += 1;
        }
        bytes
    };
    // SAFETY: there are 64 bytes.
    let bytes = unsafe { _mm512_loadu_si512(BYTES.as_ptr().cast()) };
    for (group, rows) in rows.as_chunks::<8>().0.iter().enumerate() {
        // SAFETY: a row has 64 bytes.
        let rows = rows.map(|row| unsafe { _mm512_loadu_si512(row.as_ptr().cast()) });
        for (chunk, words) in transpose_words(rows).into_iter().enumerate() {
            let words = _mm512_permutexvar_epi8(bytes, words);
            let column = &mut columns[chunk * 8 + group];
            // SAFETY: a column has 64 bytes.
            unsafe { _mm512_storeu_si512(column.as_mut_ptr().cast(), words) };
        }
    }
    for columns in columns.as_chunks_mut::<8>().0 {
        // SAFETY: a column has 64 bytes.
        let words = columns.map(|column| unsafe { _mm512_loadu_si512(column.as_ptr().cast()) });
        for (column, words) in columns.iter_mut().zip(transpose_words(words)) {
            // SAFETY: a column has 64 bytes.
            unsafe { _mm512_storeu_si512(column.as_mut_ptr().cast(), words) };
        }
    }
}

/// Transposes 8 x 8 words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words(rows: [__m512i; 8]) -> [__m512i; 8] {
    const EVEN: i32 = 0b10_00_10_00;
    const ODD: i32 = 0b11_01_11_01;
    let [a, b, c, d, e, f, g, h] = rows;
    let low = [(a, b), (c, d), (e, f), (g, h)].map(|(x, y)| _mm512_unpacklo_epi64(x, y));
    let high = [(a, b), (c, d), (e, f), (g, h)].map(|(x, y)| _mm512_unpackhi_epi64(x, y));
    let quarters = |[a, b, c, d]: [__m512i; 4]| {
        let (one, other) = (
            _mm512_shuffle_i64x2::<EVEN>(a, b),
            _mm512_shuffle_i64x2::<EVEN>(c, d),
        );
        let (odd, other_odd) = (
            _mm512_shuffle_i64x2::<ODD>(a, b),
            _mm512_shuffle_i64x2::<ODD>(c, d),
        );
        [
            _mm512_shuffle_i64x2::<EVEN>(one, other),
            _mm512_shuffle_i64x2::<EVEN>(odd, other_odd),
            _mm512_shuffle_i64x2::<ODD>(one, other),
            _mm512_shuffle_i64x2::<ODD>(odd, other_odd),
        ]
    };
    let ([a, c, e, g], [b, d, f, h]) = (quarters(low), quarters(high));
    [a, b, c, d, e, f, g, h]
}

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn band_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    let none = _mm512_set1_epi8(ZERO);
    let (first, more) = (_mm512_set1_epi8(gaps.first), _mm512_set1_epi8(gaps.more));
    let (mut best, mut in_query) = ([none; COLUMNS + 1], [none; COLUMNS + 1]);
    let mut highest = none;
    for (number, &residue) in query.iter().enumerate() {
        // SAFETY: a row has 32 bytes.
        let row = unsafe { _mm256_loadu_si256(rows[usize::from(residue)].as_ptr().cast()) };
        let row = _mm512_broadcast_i64x4(row);
        let columns: &LaneColumns = columns[number..number + COLUMNS]
            .try_into()
            .expect("a band of columns");
        let (mut in_subject, mut beside) = (none, none);
        for place in 0..COLUMNS {
            // SAFETY: a column has 64 bytes.
            let column = unsafe { _mm512_loadu_si512(columns[place].as_ptr().cast()) };
            let above = _mm512_max_epi8(
                _mm512_subs_epi8(in_query[place + 1], more),
                _mm512_subs_epi8(best[place + 1], first),
            );
            in_subject = _mm512_max_epi8(
                _mm512_subs_epi8(in_subject, more),
                _mm512_subs_epi8(beside, first),
            );
            let both = _mm512_adds_epi8(best[place], _mm512_permutexvar_epi8(column, row));
            let score = _mm512_max_epi8(_mm512_max_epi8(both, above), in_subject);
            (best[place], in_query[place], beside) = (score, above, score);
            highest = _mm512_max_epi8(highest, score);
        }
    }
    let mut scores = [0_i8; LANES];
    // SAFETY: there is room for 64 bytes.
    unsafe { _mm512_storeu_si512(scores.as_mut_ptr().cast(), highest) };
    scores.map(unbiased)
}

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn local_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    let none = _mm512_set1_epi8(ZERO);
    let (first, more) = (_mm512_set1_epi8(gaps.first), _mm512_set1_epi8(gaps.more));
    let mut cells = vec![(none, none); query.len()];
    let mut highest = none;
    for column in columns {
        // SAFETY: a column has 64 bytes.
        let column = unsafe { _mm512_loadu_si512(column.as_ptr().cast()) };
        let (mut diagonal, mut above, mut in_query) = (none, none, none);
        for ((best, in_subject), &residue) in cells.iter_mut().zip(query) {
            // SAFETY: a row has 32 bytes.
            let row = unsafe { _mm256_loadu_si256(rows[usize::from(residue)].as_ptr().cast()) };
            let scores = _mm512_permutexvar_epi8(column, _mm512_broadcast_i64x4(row));
            *in_subject = _mm512_max_epi8(
                _mm512_subs_epi8(*in_subject, more),
                _mm512_subs_epi8(*best, first),
            );
            in_query = _mm512_max_epi8(
                _mm512_subs_epi8(in_query, more),
                _mm512_subs_epi8(above, first),
            );
            let both = _mm512_adds_epi8(diagonal, scores);
            diagonal = *best;
            above = _mm512_max_epi8(_mm512_max_epi8(both, *in_subject), in_query);
            *best = above;
            highest = _mm512_max_epi8(highest, above);
        }
    }
    let mut scores = [0_i8; LANES];
    // SAFETY: there is room for 64 bytes.
    unsafe { _mm512_storeu_si512(scores.as_mut_ptr().cast(), highest) };
    scores.map(unbiased)
}

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn sides_scoring(
    sides: &Sides,
    least: i32,
    window: u64,
    others: &[u64; SIDE_LANES],
) -> u32 {
    // SAFETY: there are eight words.
    let others = unsafe { _mm512_loadu_si512(others.as_ptr().cast()) };
    let both = _mm512_xor_si512(others, _mm512_set1_epi64(window as i64));
    let differing = _mm512_or_si512(both, _mm512_srli_epi64::<{ WINDOW as u32 }>(both));
    let differing = _mm512_and_si512(differing, _mm512_set1_epi64(i64::from(u32::MAX)));
    let behind = _mm512_srl_epi64(differing, _mm_cvtsi64_si128((BEFORE + sides.word) as i64));
    let look_up = |table: &Lanes<i8>, bits: __m512i| {
        // SAFETY: a table has 64 bytes.
        let table = unsafe { _mm512_load_si512(table.as_ptr().cast()) };
        _mm512_permutexvar_epi8(bits, table)
    };
    let best = |[best, all]: &[Lanes<i8>; 2], near: __m512i, far: __m512i| {
        let farther = _mm512_adds_epi8(look_up(all, near), far);
        _mm512_max_epi8(look_up(best, near), farther)
    };
    let parts = &*sides.parts;
    let near = _mm512_srli_epi64::<{ (BEFORE - NEAR) as u32 }>(differing);
    let far = look_up(&parts.far_before, differing);
    let before = best(&parts.near_before, near, far);
    let far = look_up(
        &parts.far_behind,
        _mm512_srli_epi64::<{ NEAR as u32 }>(behind),
    );
    let behind = best(&parts.near_behind, behind, far);
    let sum = _mm512_and_si512(_mm512_add_epi8(before, behind), _mm512_set1_epi64(0xff));
    let first = _mm512_test_epi64_mask(differing, _mm512_set1_epi64(i64::from(FIRST)));
    u32::from(first & _mm512_cmpge_epi64_mask(sum, _mm512_set1_epi64(i64::from(least))))
}

/// # Safety
/// The processor has AVX-512 BW and VL.
#[inline]
#[target_feature(enable = "avx512bw,avx512vl")]
pub(super) unsafe fn unpack_window(window: u64, codes: &mut [u8; WINDOW]) {
    let low = _mm256_maskz_set1_epi8(window as u32, 1);
    let high = _mm256_maskz_set1_epi8((window >> WINDOW) as u32, 2);
    // SAFETY: there is room for 32 bytes.
    unsafe { _mm256_storeu_si256(codes.as_mut_ptr().cast(), _mm256_or_si256(low, high)) };
}

/// # Safety
/// The processor has AVX-512 F, BW, DQ, VBMI and VL, and what AVX2 has.
#[inline]
#[target_feature(
    enable = "avx512f,avx512bw,avx512dq,avx512vbmi,avx512vl,avx2,bmi1,bmi2,lzcnt,popcnt"
)]
pub(super) unsafe fn run<T>(work: impl FnOnce() -> T) -> T {
    work()
}
