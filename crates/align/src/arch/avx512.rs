//! The kernels on 512-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::lanes::{COLUMNS, Gaps, LANES, Rows, ZERO, unbiased};

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn windows_scoring(
    rows: &Rows,
    query: &[u8; COLUMNS],
    columns: &[[u8; LANES]; COLUMNS],
    least: i8,
) -> u64 {
    let zero = _mm512_setzero_si512();
    let (mut score, mut best) = (zero, zero);
    for (&residue, column) in query.iter().zip(columns) {
        let row = &rows[usize::from(residue)];
        // SAFETY: a row has 32 bytes and a column 64.
        let (row, column) = unsafe {
            (
                _mm256_loadu_si256(row.as_ptr().cast()),
                _mm512_loadu_si512(column.as_ptr().cast()),
            )
        };
        let row = _mm512_broadcast_i64x4(row);
        score = _mm512_adds_epi8(score, _mm512_permutexvar_epi8(column, row));
        score = _mm512_max_epi8(score, zero);
        best = _mm512_max_epi8(best, score);
    }
    _mm512_cmpge_epi8_mask(best, _mm512_set1_epi8(least))
}

/// # Safety
/// The processor has AVX-512 F, BW and VBMI.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn band_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[[u8; LANES]],
) -> [u8; LANES] {
    let none = _mm512_set1_epi8(ZERO);
    let (first, more) = (_mm512_set1_epi8(gaps.first), _mm512_set1_epi8(gaps.more));
    let (mut best, mut in_query) = ([none; COLUMNS + 1], [none; COLUMNS + 1]);
    let mut highest = none;
    for (number, &residue) in query.iter().enumerate() {
        // SAFETY: a row has 32 bytes.
        let row = unsafe { _mm256_loadu_si256(rows[usize::from(residue)].as_ptr().cast()) };
        let row = _mm512_broadcast_i64x4(row);
        let columns: &[[u8; LANES]; COLUMNS] = columns[number..number + COLUMNS]
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
    columns: &[[u8; LANES]],
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
