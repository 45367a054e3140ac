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
    let never = _mm256_set1_epi16(NEVER);
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
            let diagonal = _mm256_adds_epi16(behind::<1>(old, left), scores);
            left = old;
            let without = _mm256_max_epi16(diagonal, in_query);
            let highest = highest_so_far(_mm256_adds_epi16(without, constants.ahead));
            let before = _mm256_max_epi16(behind::<1>(highest, never), carried);
            let in_subject = _mm256_subs_epi16(before, constants.behind);
            let last = last_of(highest);
            carried = _mm256_subs_epi16(_mm256_max_epi16(carried, last), constants.across);
            let score = _mm256_max_epi16(without, in_subject);
            let kept = keep(row, number * CELLS + at, score, &mut end);
            let opened = _mm256_subs_epi16(score, constants.opens);
            let longer = _mm256_subs_epi16(in_query, constants.extend);
            // SAFETY: from `at` on there is room for sixteen cells.
            unsafe {
                let best = _mm256_blendv_epi8(never, score, kept);
                _mm256_storeu_si256(block.best[at..].as_mut_ptr().cast(), best);
                let gap = _mm256_max_epi16(longer, opened);
                _mm256_storeu_si256(block.gap[at..].as_mut_ptr().cast(), gap);
            }
            if TRACE {
                let by_subject = _mm256_cmpgt_epi16(in_subject, without);
                let by_query = _mm256_cmpgt_epi16(in_query, diagonal);
                let longer_in_subject = _mm256_subs_epi16(in_subject, constants.extend);
                ways[at..at + HALF].copy_from_slice(&ways_of([
                    (_mm256_andnot_si256(by_subject, by_query), BY_QUERY),
                    (by_subject, BY_SUBJECT),
                    (_mm256_cmpgt_epi16(longer, opened), QUERY_GOES_ON),
                    (
                        _mm256_cmpgt_epi16(longer_in_subject, opened),
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
        let half: &[i16] = &cells[at..at + HALF];
        // SAFETY: it has sixteen numbers.
        unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
    })
}

/// What is the same for all cells of a row.
struct Constants {
    /// The lower and the upper bytes of the scores, sixteen and sixteen.
    scores: [__m128i; 4],
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
        let eight = |at: usize| {
            let eight: &[i32] = &row.scores[at..at + 8];
            // SAFETY: it has eight numbers.
            let eight = unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) };
            let (low, high) = (
                _mm256_castsi256_si128(eight),
                _mm256_extracti128_si256::<1>(eight),
            );
            _mm_packs_epi32(low, high)
        };
        let lower = |scores| _mm_and_si128(scores, _mm_set1_epi16(0xff));
        let upper = |scores| _mm_srli_epi16::<8>(scores);
        let [a, b, c, d] = [eight(0), eight(8), eight(16), eight(24)];
        let extend = _mm256_set1_epi16(row.costs.extend as i16);
        let lanes = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let ahead = _mm256_mullo_epi16(extend, lanes);
        Constants {
            scores: [
                _mm_packus_epi16(lower(a), lower(b)),
                _mm_packus_epi16(lower(c), lower(d)),
                _mm_packus_epi16(upper(a), upper(b)),
                _mm_packus_epi16(upper(c), upper(d)),
            ],
            extend,
            opens: _mm256_set1_epi16(row.opens() as i16),
            ahead,
            behind: _mm256_adds_epi16(ahead, _mm256_set1_epi16(row.costs.open as i16)),
            across: _mm256_slli_epi16::<4>(extend),
        }
    }

    /// A code chooses by its lower bits in both halves, by the fifth between them.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn scores_of(&self, residues: &[u8; CELLS], at: usize) -> __m256i {
        let half: &[u8] = &residues[at..at + HALF];
        // SAFETY: it has sixteen bytes.
        let codes = unsafe { _mm_loadu_si128(half.as_ptr().cast()) };
        let fifth = _mm_slli_epi16::<3>(codes);
        let [a, b, c, d] = self.scores.map(|half| _mm_shuffle_epi8(half, codes));
        let (lower, upper) = (_mm_blendv_epi8(a, b, fifth), _mm_blendv_epi8(c, d, fifth));
        let (first, second) = (
            _mm_unpacklo_epi8(lower, upper),
            _mm_unpackhi_epi8(lower, upper),
        );
        _mm256_set_m128i(second, first)
    }

    /// The gap that reaches the first cell of a block.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn first_gap(&self, carried: __m256i) -> i32 {
        (_mm256_cvtsi256_si32(_mm256_subs_epi16(carried, self.behind)) as i16).into()
    }
}

/// Lanes moved behind the last `BY` of others: 1, 2, 4 or 8.
#[inline]
#[target_feature(enable = "avx2")]
fn behind<const BY: i32>(lanes: __m256i, others: __m256i) -> __m256i {
    let middle = _mm256_permute2x128_si256::<0x21>(others, lanes);
    match BY {
        1 => _mm256_alignr_epi8::<14>(lanes, middle),
        2 => _mm256_alignr_epi8::<12>(lanes, middle),
        4 => _mm256_alignr_epi8::<8>(lanes, middle),
        _ => middle,
    }
}

/// The largest of each lane and all before it.
#[inline]
#[target_feature(enable = "avx2")]
fn highest_so_far(lanes: __m256i) -> __m256i {
    let never = _mm256_set1_epi16(NEVER);
    let lanes = _mm256_max_epi16(lanes, behind::<1>(lanes, never));
    let lanes = _mm256_max_epi16(lanes, behind::<2>(lanes, never));
    let lanes = _mm256_max_epi16(lanes, behind::<4>(lanes, never));
    _mm256_max_epi16(lanes, behind::<8>(lanes, never))
}

/// The last lane in all.
#[inline]
#[target_feature(enable = "avx2")]
fn last_of(lanes: __m256i) -> __m256i {
    _mm256_set1_epi16(_mm256_extract_epi16::<15>(lanes) as i16)
}

/// Which of the cells from number `first` on are not dropped.
#[inline]
#[target_feature(enable = "avx2")]
fn keep(row: &ExtensionRow, first: usize, score: __m256i, end: &mut RowEnd) -> __m256i {
    let left = row.columns.saturating_sub(first).min(HALF);
    let numbers = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let there = _mm256_cmpgt_epi16(_mm256_set1_epi16(left as i16), numbers);
    let score = _mm256_blendv_epi8(_mm256_set1_epi16(NEVER), score, there);
    let mut least = _mm256_set1_epi16((end.best - row.x_drop) as i16);
    let better = bits(_mm256_cmpgt_epi16(
        score,
        _mm256_set1_epi16(end.best as i16),
    ));
    if better != 0 {
        let highest = highest_so_far(score);
        let so_far = _mm256_subs_epi16(highest, _mm256_set1_epi16(row.x_drop as i16));
        least = _mm256_max_epi16(least, so_far);
        let last = last_of(highest);
        end.best = i32::from(_mm256_cvtsi256_si32(last) as i16);
        let equal = bits(_mm256_cmpeq_epi16(score, last));
        end.at = Some(first + equal.trailing_zeros() as usize);
    }
    let dropped = _mm256_cmpgt_epi16(least, score);
    let kept = _mm256_andnot_si256(dropped, there);
    end.keep(first, bits(kept));
    kept
}

/// A bit for each lane that is set.
#[inline]
#[target_feature(enable = "avx2")]
fn bits(lanes: __m256i) -> u32 {
    _mm_movemask_epi8(bytes(lanes)) as u32
}

/// A byte for each lane, which fits in it.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes(lanes: __m256i) -> __m128i {
    let upper = _mm256_extracti128_si256::<1>(lanes);
    _mm_packs_epi16(_mm256_castsi256_si128(lanes), upper)
}

/// How each cell was reached: the flags of the lanes that it is in.
#[inline]
#[target_feature(enable = "avx2")]
fn ways_of(flags: [(__m256i, u8); 4]) -> [u8; HALF] {
    let mut ways = _mm256_setzero_si256();
    for (lanes, flag) in flags {
        let flag = _mm256_and_si256(lanes, _mm256_set1_epi16(flag.into()));
        ways = _mm256_or_si256(ways, flag);
    }
    let mut numbers = [0; HALF];
    // SAFETY: there is room for sixteen bytes.
    unsafe { _mm_storeu_si128(numbers.as_mut_ptr().cast(), bytes(ways)) };
    numbers
}
