//! Rows on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::row::{
    BY_QUERY, BY_SUBJECT, CELLS, Cells, ExtensionRow, NEVER, QUERY_GOES_ON, RowEnd, SUBJECT_GOES_ON,
};

/// Cells of a vector.
const HALF: usize = CELLS / 2;

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn row<const TRACE: bool>(
    row: &ExtensionRow,
    cells: &mut [Cells],
    reached: &mut Vec<[u8; CELLS]>,
) -> RowEnd {
    let constants = Constants::new(row);
    let never = _mm256_set1_epi32(NEVER);
    let (mut left, mut carried) = (never, never);
    let mut end = RowEnd::new(row.best);
    let blocks = cells.iter_mut().zip(row.subject.as_chunks::<CELLS>().0);
    for (number, (block, residues)) in blocks.enumerate().skip(row.kept.start / CELLS) {
        if number > row.last_block() && constants.first_gap(carried) < end.best - row.x_drop {
            break;
        }
        let mut ways = [0; CELLS];
        for at in [0, HALF] {
            let [old, in_query] = load(block, at);
            let scores = constants.scores_of(residues, at);
            let diagonal = _mm256_add_epi32(behind::<1>(old, left), scores);
            left = old;
            let without = _mm256_max_epi32(diagonal, in_query);
            let highest = highest_so_far(_mm256_add_epi32(without, constants.ahead));
            let before = _mm256_max_epi32(behind::<1>(highest, never), carried);
            let in_subject = _mm256_sub_epi32(before, constants.behind);
            let last = _mm256_permutevar8x32_epi32(highest, _mm256_set1_epi32(7));
            carried = _mm256_sub_epi32(_mm256_max_epi32(carried, last), constants.across);
            let score = _mm256_max_epi32(without, in_subject);
            let kept = keep(row, number * CELLS + at, score, &mut end);
            let opened = _mm256_sub_epi32(score, constants.opens);
            let longer = _mm256_sub_epi32(in_query, constants.extend);
            // SAFETY: from `at` on there is room for eight cells.
            unsafe {
                let best = _mm256_blendv_epi8(never, score, kept);
                _mm256_storeu_si256(block.best[at..].as_mut_ptr().cast(), best);
                let gap = _mm256_max_epi32(longer, opened);
                _mm256_storeu_si256(block.gap[at..].as_mut_ptr().cast(), gap);
            }
            if TRACE {
                let by_subject = _mm256_cmpgt_epi32(in_subject, without);
                let by_query = _mm256_cmpgt_epi32(in_query, diagonal);
                let longer_in_subject = _mm256_sub_epi32(in_subject, constants.extend);
                ways[at..at + HALF].copy_from_slice(&ways_of([
                    (_mm256_andnot_si256(by_subject, by_query), BY_QUERY),
                    (by_subject, BY_SUBJECT),
                    (_mm256_cmpgt_epi32(longer, opened), QUERY_GOES_ON),
                    (
                        _mm256_cmpgt_epi32(longer_in_subject, opened),
                        SUBJECT_GOES_ON,
                    ),
                ]));
            }
        }
        if TRACE {
            reached.push(ways);
        }
    }
    end
}

/// The cells of a block from number `at` on: their best, and their gaps.
#[inline]
#[target_feature(enable = "avx2")]
fn load(block: &Cells, at: usize) -> [__m256i; 2] {
    [&block.best, &block.gap].map(|cells| {
        let half: &[i32] = &cells[at..at + HALF];
        // SAFETY: it has eight numbers.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
    })
}

/// What is the same for all cells of a row.
struct Constants {
    scores: [__m256i; 4],
    extend: __m256i,
    opens: __m256i,
    /// What a gap that begins before the first cell costs less up to each cell of a vector.
    ahead: __m256i,
    /// What a gap costs that begins before the first cell and ends at each.
    behind: __m256i,
    /// What it costs to go on through a vector.
    across: __m256i,
}

impl Constants {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(row: &ExtensionRow) -> Constants {
        let quarter = |at: usize| {
            let quarter: &[i32] = &row.scores[at..at + HALF];
            // SAFETY: it has eight numbers.
            unsafe { _mm256_loadu_si256(quarter.as_ptr().cast()) }
        };
        let extend = _mm256_set1_epi32(row.costs.extend);
        let ahead = _mm256_mullo_epi32(extend, _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
        Constants {
            scores: [quarter(0), quarter(8), quarter(16), quarter(24)],
            extend,
            opens: _mm256_set1_epi32(row.opens()),
            ahead,
            behind: _mm256_add_epi32(ahead, _mm256_set1_epi32(row.costs.open)),
            across: _mm256_slli_epi32::<3>(extend),
        }
    }

    /// A code chooses by its lower bits in each quarter, by the others between them.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn scores_of(&self, residues: &[u8; CELLS], at: usize) -> __m256i {
        let half: &[u8] = &residues[at..at + HALF];
        // SAFETY: it has eight bytes.
        let codes = _mm256_cvtepu8_epi32(unsafe { _mm_loadl_epi64(half.as_ptr().cast()) });
        let (fourth, fifth) = (
            _mm256_castsi256_ps(_mm256_slli_epi32::<28>(codes)),
            _mm256_castsi256_ps(_mm256_slli_epi32::<27>(codes)),
        );
        let [a, b, c, d] = self
            .scores
            .map(|quarter| _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(quarter, codes)));
        let (low, high) = (
            _mm256_blendv_ps(a, b, fourth),
            _mm256_blendv_ps(c, d, fourth),
        );
        _mm256_castps_si256(_mm256_blendv_ps(low, high, fifth))
    }

    /// The gap that reaches the first cell of a block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn first_gap(&self, carried: __m256i) -> i32 {
        _mm256_cvtsi256_si32(_mm256_sub_epi32(carried, self.behind))
    }
}

/// Lanes moved behind the last `BY` of others: 1, 2 or 4.
#[inline]
#[target_feature(enable = "avx2")]
fn behind<const BY: i32>(lanes: __m256i, others: __m256i) -> __m256i {
    let middle = _mm256_permute2x128_si256::<0x21>(others, lanes);
    match BY {
        1 => _mm256_alignr_epi8::<12>(lanes, middle),
        2 => _mm256_alignr_epi8::<8>(lanes, middle),
        _ => middle,
    }
}

/// The largest of each lane and all before it.
#[inline]
#[target_feature(enable = "avx2")]
fn highest_so_far(lanes: __m256i) -> __m256i {
    let never = _mm256_set1_epi32(NEVER);
    let lanes = _mm256_max_epi32(lanes, behind::<1>(lanes, never));
    let lanes = _mm256_max_epi32(lanes, behind::<2>(lanes, never));
    _mm256_max_epi32(lanes, behind::<4>(lanes, never))
}

/// Which of the cells from number `first` on are not dropped.
#[inline]
#[target_feature(enable = "avx2")]
fn keep(row: &ExtensionRow, first: usize, score: __m256i, end: &mut RowEnd) -> __m256i {
    let left = row.columns.saturating_sub(first).min(HALF);
    let numbers = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let there = _mm256_cmpgt_epi32(_mm256_set1_epi32(left as i32), numbers);
    let score = _mm256_blendv_epi8(_mm256_set1_epi32(NEVER), score, there);
    let mut least = _mm256_set1_epi32(end.best - row.x_drop);
    let better = bits(_mm256_cmpgt_epi32(score, _mm256_set1_epi32(end.best)));
    if better != 0 {
        let highest = highest_so_far(score);
        let so_far = _mm256_sub_epi32(highest, _mm256_set1_epi32(row.x_drop));
        least = _mm256_max_epi32(least, so_far);
        let last = _mm256_permutevar8x32_epi32(highest, _mm256_set1_epi32(7));
        end.best = _mm256_cvtsi256_si32(last);
        let equal = bits(_mm256_cmpeq_epi32(score, last));
        end.at = Some(first + equal.trailing_zeros() as usize);
    }
    let dropped = _mm256_cmpgt_epi32(least, score);
    let kept = _mm256_andnot_si256(dropped, there);
    end.keep(first, bits(kept));
    kept
}

#[inline]
#[target_feature(enable = "avx2")]
fn bits(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

/// How each cell was reached: the flags of the lanes that it is in.
#[inline]
#[target_feature(enable = "avx2")]
fn ways_of(flags: [(__m256i, u8); 4]) -> [u8; HALF] {
    let mut ways = _mm256_setzero_si256();
    for (lanes, flag) in flags {
        let flag = _mm256_and_si256(lanes, _mm256_set1_epi32(flag.into()));
        ways = _mm256_or_si256(ways, flag);
    }
    let mut numbers = [0_i32; HALF];
    // SAFETY: there is room for eight numbers.
    unsafe { _mm256_storeu_si256(numbers.as_mut_ptr().cast(), ways) };
    numbers.map(|way| way as u8)
}
