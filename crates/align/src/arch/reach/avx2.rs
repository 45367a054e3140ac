//! Rows of diagonals on 256-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::diagonals::{
    CELLS, CODES_OF_WORD, Diagonals, MOST_NUMBERS, NOWHERE, NUMBER, Pair, Reached,
};

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
    let mut reached = Reached::new(diagonals.longest);
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
        let on = mask(_mm256_and_si256(more, follows));
        reached.go_on(pair, (first, number), on, cells);
    }
    reached.add_vectors(highest(sums), highest(keys), mask(ended) != 0);
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
