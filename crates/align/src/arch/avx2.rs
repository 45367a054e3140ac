//! The kernels on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::{COLUMNS, LANES, Rows};

/// Lanes of a vector.
const HALF: usize = LANES / 2;

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn windows_scoring(
    rows: &Rows,
    query: &[u8; COLUMNS],
    columns: &[[u8; LANES]; COLUMNS],
    least: i8,
) -> u64 {
    // SAFETY: forwarded from the caller.
    let half = |from| unsafe { half(rows, query, columns, from, least) };
    u64::from(half(0)) | u64::from(half(HALF)) << HALF
}

/// Of the lanes from number `from` on.
#[target_feature(enable = "avx2")]
unsafe fn half(
    rows: &Rows,
    query: &[u8; COLUMNS],
    columns: &[[u8; LANES]; COLUMNS],
    from: usize,
    least: i8,
) -> u32 {
    let zero = _mm256_setzero_si256();
    let (mut score, mut best) = (zero, zero);
    for (&residue, column) in query.iter().zip(columns) {
        let row = &rows[usize::from(residue)];
        // SAFETY: a row has 32 bytes, as has what is left of a column.
        let (low, high, codes) = unsafe {
            (
                _mm_loadu_si128(row.as_ptr().cast()),
                _mm_loadu_si128(row[16..].as_ptr().cast()),
                _mm256_loadu_si256(column[from..from + HALF].as_ptr().cast()),
            )
        };
        let low = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(low), codes);
        let high = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(high), codes);
        // The highest bit of a byte chooses: it is the fifth of the code.
        let scores = _mm256_blendv_epi8(low, high, _mm256_slli_epi16(codes, 3));
        score = _mm256_max_epi8(_mm256_adds_epi8(score, scores), zero);
        best = _mm256_max_epi8(best, score);
    }
    let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(least), best);
    !_mm256_movemask_epi8(below) as u32
}
