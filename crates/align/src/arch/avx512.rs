//! The kernels on 512-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{COLUMNS, LANES, Rows};

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
