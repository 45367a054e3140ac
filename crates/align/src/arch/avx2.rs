//! The kernels on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::array::from_fn;

use super::lanes::{
    COLUMNS, Gaps, LANES, LaneColumns, LaneRows, Lanes, QueryWindow, Rows, ZERO, unbiased,
};
use crate::packed::WINDOW;
use crate::residue::CODES;

/// Lanes of a vector.
const HALF: usize = LANES / 2;

/// Turns rows into columns. In each half of a vector sixteen rows of eight columns become eight
/// columns: neighbours are put together by bytes, then by twos, fours and eights.
///
/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn transpose(rows: &LaneRows, columns: &mut LaneColumns) {
    for lane in (0..LANES).step_by(HALF) {
        for column in (0..COLUMNS).step_by(8) {
            let word = |row: usize| {
                let bytes = &rows[row][column..column + 8];
                // SAFETY: there are eight bytes.
                unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) }
            };
            let row = |number: usize| {
                let first = lane + number;
                _mm256_set_m128i(word(first + HALF / 2), word(first))
            };
            let twos: [__m256i; 8] =
                from_fn(|pair| _mm256_unpacklo_epi8(row(2 * pair), row(2 * pair + 1)));
            let fours: [__m256i; 8] = from_fn(|number| {
                let [one, other] = [twos[number & !1], twos[number | 1]];
                match number % 2 {
                    0 => _mm256_unpacklo_epi16(one, other),
                    _ => _mm256_unpackhi_epi16(one, other),
                }
            });
            let eights: [__m256i; 8] = from_fn(|number| {
                let first = number / 4 * 4 + number / 2 % 2;
                let [one, other] = [fours[first], fours[first + 2]];
                match number % 2 {
                    0 => _mm256_unpacklo_epi32(one, other),
                    _ => _mm256_unpackhi_epi32(one, other),
                }
            });
            for number in 0..8 {
                let [one, other] = [eights[number / 2], eights[number / 2 + 4]];
                let whole = match number % 2 {
                    0 => _mm256_unpacklo_epi64(one, other),
                    _ => _mm256_unpackhi_epi64(one, other),
                };
                let lanes = &mut columns[column + number][lane..lane + HALF];
                // SAFETY: there are as many bytes as a vector has.
                unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), whole) };
            }
        }
    }
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn windows_scoring<const N: usize>(
    rows: &Rows,
    queries: [QueryWindow; N],
    columns: &LaneColumns,
) -> [u64; N] {
    let zero = _mm256_set1_epi8(ZERO);
    let (mut scores, mut best) = ([[zero; 2]; N], [[zero; 2]; N]);
    for (number, column) in columns.iter().enumerate() {
        // SAFETY: a column has 64 bytes, and is where a line of the cache is.
        let codes = [0, HALF].map(|at| unsafe { _mm256_load_si256(column[at..].as_ptr().cast()) });
        let fifth = codes.map(|codes| fifth_bits(codes));
        for (one, (query, _)) in queries.iter().enumerate() {
            // SAFETY: forwarded from the caller.
            let row = unsafe { halves(rows, query[number]) };
            for half in 0..2 {
                let of_lanes = chosen(row, codes[half], fifth[half]);
                scores[one][half] = _mm256_adds_epi8(scores[one][half], of_lanes);
                best[one][half] = _mm256_max_epi8(best[one][half], scores[one][half]);
            }
        }
    }
    from_fn(|one| {
        let least = _mm256_set1_epi8(queries[one].1.saturating_add(ZERO));
        let below = best[one].map(|best| _mm256_movemask_epi8(_mm256_cmpgt_epi8(least, best)));
        let [first, second] = below.map(|below| u64::from(below as u32));
        !(first | second << HALF)
    })
}

/// The first and the second half of a row, both twice.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn halves(rows: &Rows, residue: u8) -> [__m256i; 2] {
    let row = &rows[usize::from(residue) % CODES];
    // SAFETY: each half of a row has 16 bytes.
    let half = |at: usize| unsafe { _mm_loadu_si128(row[at..at + 16].as_ptr().cast()) };
    [half(0), half(16)].map(|half| _mm256_broadcastsi128_si256(half))
}

/// The scores of the lanes of a column from number `from` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn look_up(row: [__m256i; 2], column: &[u8; LANES], from: usize) -> __m256i {
    // SAFETY: so many lanes are left.
    let codes = unsafe { _mm256_loadu_si256(column[from..from + HALF].as_ptr().cast()) };
    chosen(row, codes, fifth_bits(codes))
}

/// The fifth bits of codes, as the highest of their bytes.
#[inline]
#[target_feature(enable = "avx2")]
fn fifth_bits(codes: __m256i) -> __m256i {
    _mm256_slli_epi16(codes, 3)
}

/// The scores of codes: their fifth bits choose a half of the row, the lower ones a place in it.
#[inline]
#[target_feature(enable = "avx2")]
fn chosen([low, high]: [__m256i; 2], codes: __m256i, fifth: __m256i) -> __m256i {
    let low = _mm256_shuffle_epi8(low, codes);
    let high = _mm256_shuffle_epi8(high, codes);
    _mm256_blendv_epi8(low, high, fifth)
}

/// The lanes of a vector of scores.
#[inline]
#[target_feature(enable = "avx2")]
fn scores_of(highest: __m256i) -> [u8; HALF] {
    let mut scores = [0_i8; HALF];
    // SAFETY: there is room for 32 bytes.
    unsafe { _mm256_storeu_si256(scores.as_mut_ptr().cast(), highest) };
    scores.map(unbiased)
}

/// All lanes of both halves.
fn whole(halves: [[u8; HALF]; 2]) -> [u8; LANES] {
    from_fn(|lane| halves[lane / HALF][lane % HALF])
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn band_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    // SAFETY: forwarded from the caller.
    let half = |from| unsafe { half_of_bands(rows, gaps, query, columns, from) };
    whole([half(0), half(HALF)])
}

/// Of the lanes from number `from` on.
#[target_feature(enable = "avx2")]
unsafe fn half_of_bands(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
    from: usize,
) -> [u8; HALF] {
    let none = _mm256_set1_epi8(ZERO);
    let (first, more) = (_mm256_set1_epi8(gaps.first), _mm256_set1_epi8(gaps.more));
    let (mut best, mut in_query) = ([none; COLUMNS + 1], [none; COLUMNS + 1]);
    let mut highest = none;
    for (number, &residue) in query.iter().enumerate() {
        // SAFETY: forwarded from the caller.
        let row = unsafe { halves(rows, residue) };
        let (mut in_subject, mut beside) = (none, none);
        for place in 0..COLUMNS {
            // SAFETY: forwarded from the caller.
            let scores = unsafe { look_up(row, &columns[number + place], from) };
            let above = _mm256_max_epi8(
                _mm256_subs_epi8(in_query[place + 1], more),
                _mm256_subs_epi8(best[place + 1], first),
            );
            in_subject = _mm256_max_epi8(
                _mm256_subs_epi8(in_subject, more),
                _mm256_subs_epi8(beside, first),
            );
            let both = _mm256_adds_epi8(best[place], scores);
            let score = _mm256_max_epi8(_mm256_max_epi8(both, above), in_subject);
            (best[place], in_query[place], beside) = (score, above, score);
            highest = _mm256_max_epi8(highest, score);
        }
    }
    scores_of(highest)
}

/// # Safety
/// The processor has AVX2.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn local_scores(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
) -> [u8; LANES] {
    // SAFETY: forwarded from the caller.
    let half = |from| unsafe { half_of_local(rows, gaps, query, columns, from) };
    whole([half(0), half(HALF)])
}

/// Of the lanes from number `from` on.
#[target_feature(enable = "avx2")]
unsafe fn half_of_local(
    rows: &Rows,
    gaps: Gaps,
    query: &[u8],
    columns: &[Lanes<u8>],
    from: usize,
) -> [u8; HALF] {
    let none = _mm256_set1_epi8(ZERO);
    let (first, more) = (_mm256_set1_epi8(gaps.first), _mm256_set1_epi8(gaps.more));
    let mut cells = vec![(none, none); query.len()];
    let mut highest = none;
    for column in columns {
        let (mut diagonal, mut above, mut in_query) = (none, none, none);
        for ((best, in_subject), &residue) in cells.iter_mut().zip(query) {
            // SAFETY: forwarded from the caller.
            let scores = unsafe { look_up(halves(rows, residue), column, from) };
            *in_subject = _mm256_max_epi8(
                _mm256_subs_epi8(*in_subject, more),
                _mm256_subs_epi8(*best, first),
            );
            in_query = _mm256_max_epi8(
                _mm256_subs_epi8(in_query, more),
                _mm256_subs_epi8(above, first),
            );
            let both = _mm256_adds_epi8(diagonal, scores);
            diagonal = *best;
            above = _mm256_max_epi8(_mm256_max_epi8(both, *in_subject), in_query);
            *best = above;
            highest = _mm256_max_epi8(highest, above);
        }
    }
    scores_of(highest)
}

/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn unpack_window(window: u64, codes: &mut [u8; WINDOW]) {
    let (low, high) = (
        bytes_of(window as u32, 1),
        bytes_of((window >> WINDOW) as u32, 2),
    );
    // SAFETY: there is room for 32 bytes.
    unsafe { _mm256_storeu_si256(codes.as_mut_ptr().cast(), _mm256_or_si256(low, high)) };
}

/// A byte for each bit: that value, or 0.
#[inline]
#[target_feature(enable = "avx2")]
fn bytes_of(bits: u32, value: i8) -> __m256i {
    const ONES: i64 = 0x0101_0101_0101_0101;
    let byte_of_lane = _mm256_setr_epi64x(0, ONES, 2 * ONES, 3 * ONES);
    let bit_of_lane = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(bits.cast_signed()), byte_of_lane);
    let is_set = _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit_of_lane), bit_of_lane);
    _mm256_and_si256(is_set, _mm256_set1_epi8(value))
}

/// # Safety
/// The processor has AVX2, BMI, LZCNT and POPCNT.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run<T>(work: impl FnOnce() -> T) -> T {
    work()
}
