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
    let never = _mm512_set1_epi32(NEVER);
    let constants = Constants::new(row);
    let (mut left, mut carried) = (never, never);
    let mut end = RowEnd::new(row.best);
    let blocks = cells.iter_mut().zip(row.subject.as_chunks::<CELLS>().0);
    for (number, (block, residues)) in blocks.enumerate().skip(row.kept.start / CELLS) {
        if number > row.last_block() && constants.first_gap(carried) < end.best - row.x_drop {
            break;
        }
        // SAFETY: there are sixteen cells and sixteen residues.
        let (old, in_query, residues) = unsafe {
            let cells = |cells: &[i32; CELLS]| _mm512_loadu_si512(cells.as_ptr().cast());
            let residues = _mm_loadu_si128(residues.as_ptr().cast());
            (cells(&block.best), cells(&block.gap), residues)
        };
        let before = _mm512_alignr_epi32::<15>(old, left);
        left = old;
        let diagonal = _mm512_add_epi32(before, constants.scores_of(residues));
        let without = _mm512_max_epi32(diagonal, in_query);
        let highest = highest_so_far(_mm512_add_epi32(without, constants.ahead));
        let before = _mm512_alignr_epi32::<15>(highest, never);
        let in_subject = _mm512_sub_epi32(_mm512_max_epi32(before, carried), constants.behind);
        let last = _mm512_permutexvar_epi32(_mm512_set1_epi32(15), highest);
        carried = _mm512_sub_epi32(_mm512_max_epi32(carried, last), constants.across);
        let score = _mm512_max_epi32(without, in_subject);
        let kept = keep(row, number * CELLS, score, &mut end);
        let opened = _mm512_sub_epi32(score, constants.opens);
        let longer = _mm512_sub_epi32(in_query, constants.extend);
        // SAFETY: there is room for sixteen cells.
        unsafe {
            let best = _mm512_mask_mov_epi32(never, kept, score);
            _mm512_storeu_si512(block.best.as_mut_ptr().cast(), best);
            let gap = _mm512_max_epi32(longer, opened);
            _mm512_storeu_si512(block.gap.as_mut_ptr().cast(), gap);
        }
        if TRACE {
            let by_query = _mm512_cmpgt_epi32_mask(in_query, diagonal);
            let by_subject = _mm512_cmpgt_epi32_mask(in_subject, without);
            let longer_in_subject = _mm512_sub_epi32(in_subject, constants.extend);
            reached.push(ways([
                (by_query & !by_subject, BY_QUERY),
                (by_subject, BY_SUBJECT),
                (_mm512_cmpgt_epi32_mask(longer, opened), QUERY_GOES_ON),
                (
                    _mm512_cmpgt_epi32_mask(longer_in_subject, opened),
                    SUBJECT_GOES_ON,
                ),
            ]));
        }
    }
    end
}

/// What is the same for all cells of a row.
struct Constants {
    scores: [__m512i; 2],
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
    #[target_feature(enable = "avx512f")]
    fn new(row: &ExtensionRow) -> Constants {
        let half = |at: usize| {
            let half: &[i32] = &row.scores[at..at + CELLS];
            // SAFETY: it has sixteen numbers.
            unsafe { _mm512_loadu_si512(half.as_ptr().cast()) }
        };
        let extend = _mm512_set1_epi32(row.costs.extend);
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let ahead = _mm512_mullo_epi32(extend, lanes);
        Constants {
            scores: [half(0), half(CELLS)],
            extend,
            opens: _mm512_set1_epi32(row.opens()),
            ahead,
            behind: _mm512_add_epi32(ahead, _mm512_set1_epi32(row.costs.open)),
            across: _mm512_slli_epi32::<4>(extend),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn scores_of(&self, residues: __m128i) -> __m512i {
        let codes = _mm512_cvtepu8_epi32(residues);
        _mm512_permutex2var_epi32(self.scores[0], codes, self.scores[1])
    }

    /// The gap that reaches the first cell of a block.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn first_gap(&self, carried: __m512i) -> i32 {
        _mm512_cvtsi512_si32(_mm512_sub_epi32(carried, self.behind))
    }
}

/// The largest of each lane and all before it.
#[inline]
#[target_feature(enable = "avx512f")]
fn highest_so_far(lanes: __m512i) -> __m512i {
    let never = _mm512_set1_epi32(NEVER);
    let lanes = _mm512_max_epi32(lanes, _mm512_alignr_epi32::<15>(lanes, never));
    let lanes = _mm512_max_epi32(lanes, _mm512_alignr_epi32::<14>(lanes, never));
    let lanes = _mm512_max_epi32(lanes, _mm512_alignr_epi32::<12>(lanes, never));
    _mm512_max_epi32(lanes, _mm512_alignr_epi32::<8>(lanes, never))
}

/// Which of the cells from number `first` on are not dropped.
#[inline]
#[target_feature(enable = "avx512f")]
fn keep(row: &ExtensionRow, first: usize, score: __m512i, end: &mut RowEnd) -> __mmask16 {
    let there = u16::MAX >> CELLS.saturating_sub(row.columns - first);
    let mut least = _mm512_set1_epi32(end.best - row.x_drop);
    let better = _mm512_mask_cmpgt_epi32_mask(there, score, _mm512_set1_epi32(end.best));
    if better != 0 {
        let so_far = _mm512_sub_epi32(highest_so_far(score), _mm512_set1_epi32(row.x_drop));
        least = _mm512_max_epi32(least, so_far);
        end.best = _mm512_mask_reduce_max_epi32(better, score);
        let equal = _mm512_mask_cmpeq_epi32_mask(better, score, _mm512_set1_epi32(end.best));
        end.at = Some(first + equal.trailing_zeros() as usize);
    }
    let kept = _mm512_mask_cmpge_epi32_mask(there, score, least);
    end.keep(first, kept.into());
    kept
}

/// How each cell was reached: the flags of the masks that it is in.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn ways(flags: [(__mmask16, u8); 4]) -> [u8; CELLS] {
    let mut ways = _mm512_setzero_si512();
    for (lanes, flag) in flags {
        ways = _mm512_mask_or_epi32(ways, lanes, ways, _mm512_set1_epi32(flag.into()));
    }
    let mut bytes = [0; CELLS];
    // SAFETY: there is room for sixteen bytes.
    unsafe { _mm_storeu_si128(bytes.as_mut_ptr().cast(), _mm512_cvtepi32_epi8(ways)) };
    bytes
}
