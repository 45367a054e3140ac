//! The kernels on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::array::from_fn;

use super::lanes::{COLUMNS, Gaps, LANES, LaneColumns, LaneRows, Rows, ZERO, unbiased};
use super::reach::{CELLS, Diagonals, NOWHERE, Pair, Reached};

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
    let zero = _mm256_set1_epi8(ZERO);
    let (mut score, mut best) = (zero, zero);
    for (&residue, column) in query.iter().zip(columns) {
        // SAFETY: forwarded from the caller.
        let scores = unsafe { look_up(halves(rows, residue), column, from) };
        score = _mm256_adds_epi8(score, scores);
        best = _mm256_max_epi8(best, score);
    }
    let below = _mm256_cmpgt_epi8(_mm256_set1_epi8(least.saturating_add(ZERO)), best);
    !_mm256_movemask_epi8(below) as u32
}

/// The first and the second half of a row, both twice.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn halves(rows: &Rows, residue: u8) -> [__m256i; 2] {
    let row = &rows[usize::from(residue)];
    // SAFETY: each half of a row has 16 bytes.
    let half = |at: usize| unsafe { _mm_loadu_si128(row[at..at + 16].as_ptr().cast()) };
    [half(0), half(16)].map(|half| _mm256_broadcastsi128_si256(half))
}

/// The scores of the lanes of a column from number `from` on.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn look_up([low, high]: [__m256i; 2], column: &[u8; LANES], from: usize) -> __m256i {
    // SAFETY: so many lanes are left.
    let codes = unsafe { _mm256_loadu_si256(column[from..from + HALF].as_ptr().cast()) };
    let low = _mm256_shuffle_epi8(low, codes);
    let high = _mm256_shuffle_epi8(high, codes);
    // The highest bit of a byte chooses: it is the fifth of the code.
    _mm256_blendv_epi8(low, high, _mm256_slli_epi16(codes, 3))
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
    columns: &[[u8; LANES]],
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
    columns: &[[u8; LANES]],
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
    columns: &[[u8; LANES]],
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
    columns: &[[u8; LANES]],
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

/// Codes of a word.
const CODES_OF_WORD: usize = 4;
/// Bits of a key that are of the number of a diagonal.
const NUMBER: i32 = 28;
const MOST_NUMBERS: i32 = (1 << NUMBER) - 1;

/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) unsafe fn reach(pair: &Pair, diagonals: Diagonals, row: &mut [[i32; CELLS]]) -> Reached {
    let Diagonals { before, first, .. } = diagonals;
    assert!(
        before.len() >= row.len() * CELLS + 2,
        "two diagonals more are before a row"
    );
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let [of_query, of_subject] = pair.ends.map(|end| _mm256_set1_epi32(end));
    let nowhere = _mm256_set1_epi32(NOWHERE);
    let zero = _mm256_setzero_si256();
    let (mut sums, mut keys, mut ended) = (zero, zero, zero);
    let mut reached = Reached::default();
    for (block, cells) in row.iter_mut().enumerate() {
        let number = block * CELLS;
        let numbers = _mm256_add_epi32(_mm256_set1_epi32(number as i32), lanes);
        let ahead = _mm256_add_epi32(_mm256_set1_epi32(first), numbers);
        // SAFETY: two diagonals more are before the row.
        let at = unsafe { furthest_before(&before[number..]) };
        let in_query = _mm256_add_epi32(ahead, at);
        let follows = follows(diagonals, numbers, at, _mm256_add_epi32(in_query, at));
        // SAFETY: forwarded from the caller.
        let (length, more) = unsafe { lengths(pair, in_query, at) };
        let (at, in_query) = (
            _mm256_add_epi32(at, length),
            _mm256_add_epi32(in_query, length),
        );
        let places = _mm256_blendv_epi8(nowhere, at, follows);
        // SAFETY: there is room for eight.
        unsafe { _mm256_storeu_si256(cells.as_mut_ptr().cast(), places) };
        let sum = _mm256_add_epi32(in_query, at);
        sums = _mm256_max_epi32(sums, _mm256_and_si256(sum, follows));
        let at_end = _mm256_or_si256(
            _mm256_cmpeq_epi32(in_query, of_query),
            _mm256_cmpeq_epi32(at, of_subject),
        );
        ended = _mm256_or_si256(ended, _mm256_and_si256(at_end, follows));
        let key = _mm256_sub_epi32(_mm256_slli_epi32::<NUMBER>(length), numbers);
        let key = _mm256_add_epi32(key, _mm256_set1_epi32(MOST_NUMBERS));
        keys = _mm256_max_epi32(keys, _mm256_and_si256(key, follows));
        reached.follow(number, mask(follows));
        go_on(
            pair,
            (first, number),
            mask(_mm256_and_si256(more, follows)),
            cells,
            &mut reached,
        );
    }
    reached.sum = reached.sum.max(highest(sums));
    reached.ended |= mask(ended) != 0;
    let key = highest(keys);
    if reached.longest.0 == 0 && key > MOST_NUMBERS {
        reached.longest = (
            (key >> NUMBER) as u32,
            (MOST_NUMBERS - (key & MOST_NUMBERS)) as usize,
        );
    }
    reached
}

/// Where one difference more than before gets.
///
/// # Safety
/// The processor has AVX2, and there are two more than a vector has.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn furthest_before(before: &[i32]) -> __m256i {
    // SAFETY: forwarded from the caller.
    let [less, same, more] =
        [0, 1, 2].map(|by| unsafe { _mm256_loadu_si256(before.as_ptr().add(by).cast()) });
    let on = _mm256_add_epi32(_mm256_max_epi32(more, same), _mm256_set1_epi32(1));
    _mm256_max_epi32(on, less)
}

/// Which diagonals are followed, by their numbers, their places and the sums of both positions.
#[inline]
#[target_feature(enable = "avx2")]
fn follows(diagonals: Diagonals, numbers: __m256i, at: __m256i, sum: __m256i) -> __m256i {
    let Diagonals { count, least, .. } = diagonals;
    let own = _mm256_cmpgt_epi32(_mm256_set1_epi32(count as i32), numbers);
    let somewhere = _mm256_cmpgt_epi32(at, _mm256_set1_epi32(-1));
    let enough = _mm256_cmpgt_epi32(sum, _mm256_set1_epi32(least - 1));
    _mm256_and_si256(_mm256_and_si256(own, somewhere), enough)
}

/// Goes on along diagonals of a vector on which a word of codes has matched, a bit for each; by the
/// first diagonal of the row, and the number of that of the vector.
#[inline(always)]
fn go_on(
    pair: &Pair,
    (first, number): (i32, usize),
    mut which: u32,
    cells: &mut [i32; CELLS],
    reached: &mut Reached,
) {
    while which != 0 {
        let lane = which.trailing_zeros() as usize;
        which &= which - 1;
        let number = number + lane;
        let in_query = cells[lane] + first + number as i32;
        let more = pair.matching(in_query as u32, cells[lane] as u32);
        cells[lane] += more as i32;
        let ends = [in_query + more as i32, cells[lane]];
        reached.add(pair, number, CODES_OF_WORD as u32 + more, ends);
    }
}

/// How many of a word of codes match from the places of lanes on, and where all do. Places behind
/// the ends are as good as the last ones: nothing matches there.
///
/// # Safety
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn lengths(pair: &Pair, in_query: __m256i, in_subject: __m256i) -> (__m256i, __m256i) {
    let words = |codes: &[u8], at: __m256i| {
        let last = codes
            .len()
            .checked_sub(CODES_OF_WORD)
            .expect("there are codes behind the ends");
        let last = _mm256_set1_epi32(last.min(i32::MAX as usize) as i32);
        // SAFETY: a word of codes is at each of these places.
        unsafe { _mm256_i32gather_epi32::<1>(codes.as_ptr().cast(), _mm256_min_epu32(at, last)) }
    };
    let differing = _mm256_xor_si256(words(pair.query, in_query), words(pair.subject, in_subject));
    let zero = _mm256_setzero_si256();
    // The exponent of the lowest bit, as a number with a point, is its place.
    let lowest = _mm256_and_si256(differing, _mm256_sub_epi32(zero, differing));
    let lowest = _mm256_castps_si256(_mm256_cvtepi32_ps(lowest));
    let exponent = _mm256_srli_epi32::<24>(_mm256_slli_epi32::<1>(lowest));
    let place = _mm256_sub_epi32(exponent, _mm256_set1_epi32(127));
    let equal = _mm256_cmpeq_epi32(differing, zero);
    let length = _mm256_srli_epi32::<3>(place);
    let all = _mm256_set1_epi32(CODES_OF_WORD as i32);
    (_mm256_blendv_epi8(length, all, equal), equal)
}

/// The signs of lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn mask(lanes: __m256i) -> u32 {
    _mm256_movemask_ps(_mm256_castsi256_ps(lanes)) as u32
}

/// The highest of lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn highest(lanes: __m256i) -> i32 {
    let half = _mm256_extracti128_si256::<1>(lanes);
    let four = _mm_max_epi32(_mm256_castsi256_si128(lanes), half);
    let two = _mm_max_epi32(four, _mm_shuffle_epi32::<0b01_00_11_10>(four));
    let one = _mm_max_epi32(two, _mm_shuffle_epi32::<0b10_11_00_01>(two));
    _mm_cvtsi128_si32(one)
}

/// # Safety
/// The processor has AVX2, BMI, LZCNT and POPCNT.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn run<T>(work: impl FnOnce() -> T) -> T {
    work()
}
