//! Rows on 512-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::row::{
    BY_QUERY, BY_SUBJECT, CELLS, Cells, ExtensionRow, NEVER, QUERY_GOES_ON, RowEnd, SUBJECT_GOES_ON,
};

/// # Safety
/// The processor has AVX-512 F and BW.
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) unsafe fn row<const TRACE: bool>(
    row: &ExtensionRow,
    cells: &mut [Cells],
    reached: &mut Vec<[u8; CELLS]>,
) -> RowEnd {
    let never = _mm512_set1_epi16(NEVER);
    let constants = Constants::new(row);
    let (mut left, mut carried) = (never, never);
    let mut end = RowEnd::new(row.best);
    let blocks = cells.iter_mut().zip(row.subject.as_chunks::<CELLS>().0);
    for (number, (block, residues)) in blocks.enumerate().skip(row.kept.start / CELLS) {
        if number > row.last_block() && constants.first_gap(carried) < end.best - row.x_drop {
            break;
        }
        // SAFETY: there are as many cells and residues as a vector has lanes.
        let (old, in_query, residues) = unsafe {
            let cells = |cells: &[i16; CELLS]| _mm512_loadu_si512(cells.as_ptr().cast());
            let residues = _mm256_loadu_si256(residues.as_ptr().cast());
            (cells(&block.best), cells(&block.gap), residues)
        };
        let old = last_first(old);
        let before = _mm512_mask_mov_epi16(old, 1, left);
        left = old;
        let diagonal = _mm512_adds_epi16(before, constants.scores_of(residues));
        let without = _mm512_max_epi16(diagonal, in_query);
        let highest = last_first(highest_so_far(_mm512_adds_epi16(without, constants.ahead)));
        let before = _mm512_mask_mov_epi16(highest, 1, never);
        let in_subject = _mm512_subs_epi16(_mm512_max_epi16(before, carried), constants.behind);
        let last = _mm512_broadcastw_epi16(_mm512_castsi512_si128(highest));
        carried = _mm512_subs_epi16(_mm512_max_epi16(carried, last), constants.across);
        let score = _mm512_max_epi16(without, in_subject);
        let kept = keep(row, number * CELLS, score, &mut end);
        let opened = _mm512_subs_epi16(score, constants.opens);
        let longer = _mm512_subs_epi16(in_query, constants.extend);
        // SAFETY: there is room for as many cells as a vector has lanes.
        unsafe {
            let best = _mm512_mask_mov_epi16(never, kept, score);
            _mm512_storeu_si512(block.best.as_mut_ptr().cast(), best);
            let gap = _mm512_max_epi16(longer, opened);
            _mm512_storeu_si512(block.gap.as_mut_ptr().cast(), gap);
        }
        if TRACE {
            let by_query = _mm512_cmpgt_epi16_mask(in_query, diagonal);
            let by_subject = _mm512_cmpgt_epi16_mask(in_subject, without);
            let longer_in_subject = _mm512_subs_epi16(in_subject, constants.extend);
            reached.push(ways([
                (by_query & !by_subject, BY_QUERY),
                (by_subject, BY_SUBJECT),
                (_mm512_cmpgt_epi16_mask(longer, opened), QUERY_GOES_ON),
                (
                    _mm512_cmpgt_epi16_mask(longer_in_subject, opened),
                    SUBJECT_GOES_ON,
                ),
            ]));
        }
    }
    end
}

/// What is the same for all cells of a row.
struct Constants {
    scores: __m512i,
    extend: __m512i,
    opens: __m512i,
    /// What a gap that begins before the first cell costs less up to each cell of a block.
    ahead: __m512i,
    /// What a gap costs that begins before the first cell and ends at each.
    behind: __m512i,
    /// What it costs to go on through a block.
    across: __m512i,
}

impl Constants {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn new(row: &ExtensionRow) -> Constants {
        let half = |at: usize| {
            let half: &[i32] = &row.scores[at..at + CELLS / 2];
            // SAFETY: it has sixteen numbers.
            _mm512_cvtsepi32_epi16(unsafe { _mm512_loadu_si512(half.as_ptr().cast()) })
        };
        let low = _mm512_castsi256_si512(half(0));
        let lanes = _mm512_cvtepi8_epi16(_mm256_setr_epi8(
            0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
            24, 25, 26, 27, 28, 29, 30, 31,
        ));
        let extend = _mm512_set1_epi16(row.costs.extend as i16);
        let ahead = _mm512_mullo_epi16(extend, lanes);
        Constants {
            scores: _mm512_inserti64x4::<1>(low, half(CELLS / 2)),
            extend,
            opens: _mm512_set1_epi16(row.opens() as i16),
            ahead,
            behind: _mm512_adds_epi16(ahead, _mm512_set1_epi16(row.costs.open as i16)),
            across: _mm512_slli_epi16::<5>(extend),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn scores_of(&self, residues: __m256i) -> __m512i {
        _mm512_permutexvar_epi16(_mm512_cvtepu8_epi16(residues), self.scores)
    }

    /// The gap that reaches the first cell of a block.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn first_gap(&self, carried: __m512i) -> i32 {
        let gap = _mm512_cvtsi512_si32(_mm512_subs_epi16(carried, self.behind));
        (gap as i16).into()
    }
}

/// Each lane one later, the last in the place of the first.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn last_first(lanes: __m512i) -> __m512i {
    let before = _mm512_cvtepi8_epi16(_mm256_setr_epi8(
        31, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23,
        24, 25, 26, 27, 28, 29, 30,
    ));
    _mm512_permutexvar_epi16(before, lanes)
}

/// The largest of each lane and all before it.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn highest_so_far(lanes: __m512i) -> __m512i {
    let never = _mm512_set1_epi16(NEVER);
    let lanes = _mm512_mask_max_epi16(lanes, !1, lanes, last_first(lanes));
    let lanes = _mm512_max_epi16(lanes, _mm512_alignr_epi32::<15>(lanes, never));
    let lanes = _mm512_max_epi16(lanes, _mm512_alignr_epi32::<14>(lanes, never));
    let lanes = _mm512_max_epi16(lanes, _mm512_alignr_epi32::<12>(lanes, never));
    _mm512_max_epi16(lanes, _mm512_alignr_epi32::<8>(lanes, never))
}

/// Which of the cells from number `first` on are not dropped.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn keep(row: &ExtensionRow, first: usize, score: __m512i, end: &mut RowEnd) -> __mmask32 {
    let there = u32::MAX >> CELLS.saturating_sub(row.columns - first);
    let mut least = _mm512_set1_epi16((end.best - row.x_drop) as i16);
    let best = _mm512_set1_epi16(end.best as i16);
    let better = _mm512_mask_cmpgt_epi16_mask(there, score, best);
    if better != 0 {
        let there = _mm512_mask_mov_epi16(_mm512_set1_epi16(NEVER), there, score);
        let highest = highest_so_far(there);
        let so_far = _mm512_subs_epi16(highest, _mm512_set1_epi16(row.x_drop as i16));
        least = _mm512_max_epi16(least, so_far);
        let last = _mm512_broadcastw_epi16(_mm512_castsi512_si128(last_first(highest)));
        end.best = i32::from(_mm512_cvtsi512_si32(last) as i16);
        let equal = _mm512_mask_cmpeq_epi16_mask(better, score, last);
        end.at = Some(first + equal.trailing_zeros() as usize);
    }
    let kept = _mm512_mask_cmpge_epi16_mask(there, score, least);
    end.keep(first, kept);
    kept
}

/// How each cell was reached: the flags of the masks that it is in.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn ways(flags: [(__mmask32, u8); 4]) -> [u8; CELLS] {
    let mut ways = _mm512_setzero_si512();
    for (lanes, flag) in flags {
        let flagged = _mm512_or_si512(ways, _mm512_set1_epi16(flag.into()));
        ways = _mm512_mask_mov_epi16(ways, lanes, flagged);
    }
    let mut bytes = [0; CELLS];
    // SAFETY: there is room for as many bytes as a vector has lanes.
    unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), _mm512_cvtepi16_epi8(ways)) };
    bytes
}
