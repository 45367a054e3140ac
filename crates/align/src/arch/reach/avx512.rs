//! Rows of diagonals on 512-bit vectors.
#![allow(unsafe_code)]

use std::arch::x86_64::*;

use super::diagonals::{
    BEHIND, CELLS, CODES_OF_WORD, Diagonals, MOST_NUMBERS, NOWHERE, NUMBER, Pair, Reached,
};

/// Diagonals of a vector.
const LANES: usize = 2 * CELLS;

/// # Safety
/// The processor has AVX-512 F, BW and VBMI, and what AVX2 has.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,avx2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn reach(pair: &Pair, diagonals: Diagonals, row: &mut [[i32; CELLS]]) -> Reached {
    let Diagonals {
        before,
        first,
        count,
        least,
        longest,
    } = diagonals;
    assert!(
        before.len() >= count + 2,
        "two diagonals more are before a row"
    );
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let (zero, least_sum) = (_mm512_setzero_si512(), _mm512_set1_epi32(least));
    let (mut sums, mut keys) = (zero, zero);
    let mut reached = Reached::new(longest);
    for (block, cells) in row.chunks_mut(LANES / CELLS).enumerate() {
        let number = block * LANES;
        let own = _bzhi_u32(u32::MAX, count.saturating_sub(number).min(LANES) as u32) as __mmask16;
        let numbers = _mm512_add_epi32(_mm512_set1_epi32(number as i32), lanes);
        let ahead = _mm512_add_epi32(_mm512_set1_epi32(first), numbers);
        // SAFETY: two diagonals more are before those of the row.
        let at = unsafe { furthest_before(before[number..].as_ptr(), own) };
        let in_query = _mm512_add_epi32(ahead, at);
        let follows = _mm512_mask_cmpge_epi32_mask(own, at, zero);
        let sum = _mm512_add_epi32(in_query, at);
        let follows = _mm512_mask_cmpge_epi32_mask(follows, sum, least_sum);
        let windows = Windows::of(pair, first + number as i32, least);
        // SAFETY: forwarded from the caller.
        let (length, beyond) = unsafe { windows.matching(pair, follows, in_query, at) };
        let at = _mm512_add_epi32(at, length);
        let in_query = _mm512_add_epi32(in_query, length);
        let places = _mm512_mask_mov_epi32(_mm512_set1_epi32(NOWHERE), follows, at);
        store(cells, places);
        let sum = _mm512_add_epi32(in_query, at);
        sums = _mm512_mask_max_epi32(sums, follows, sums, sum);
        if beyond {
            let [of_query, of_subject] = pair.ends.map(|end| _mm512_set1_epi32(end));
            let ended = _mm512_mask_cmpeq_epi32_mask(follows, in_query, of_query)
                | _mm512_mask_cmpeq_epi32_mask(follows, at, of_subject);
            reached.ended |= ended != 0;
        }
        if longest < CODES_OF_WORD as u32 {
            keys = _mm512_mask_max_epi32(keys, follows, keys, keys_of(length, numbers));
        }
        reached.follow(number, u32::from(follows));
        let all = _mm512_set1_epi32(CODES_OF_WORD as i32);
        let on = _mm512_mask_cmpeq_epi32_mask(follows, length, all);
        reached.go_on(
            pair,
            (first, number),
            u32::from(on),
            cells.as_flattened_mut(),
        );
    }
    let (sum, key) = (_mm512_reduce_max_epi32(sums), _mm512_reduce_max_epi32(keys));
    reached.add_vectors(sum, key, false);
    reached
}

/// The keys of runs of lengths, on diagonals of numbers.
#[inline]
#[target_feature(enable = "avx512f")]
fn keys_of(length: __m512i, numbers: __m512i) -> __m512i {
    let key = _mm512_slli_epi32::<{ NUMBER as u32 }>(length);
    let from = _mm512_sub_epi32(_mm512_set1_epi32(MOST_NUMBERS), numbers);
    _mm512_add_epi32(key, from)
}

/// Stores the places of one half or both.
#[inline]
#[target_feature(enable = "avx512f")]
fn store(cells: &mut [[i32; CELLS]], places: __m512i) {
    if let Ok(cells) = <&mut [[i32; CELLS]; 2]>::try_from(&mut *cells) {
        // SAFETY: there is room for both.
        unsafe { _mm512_storeu_si512(cells.as_mut_ptr().cast(), places) };
    } else if let Some(cells) = cells.first_mut() {
        // SAFETY: there is room for a half.
        unsafe { _mm256_storeu_si256(cells.as_mut_ptr().cast(), _mm512_castsi512_si256(places)) };
    }
}

/// Where one difference more than before gets.
///
/// # Safety
/// The processor has AVX-512 F, and there are two more than lanes are own.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn furthest_before(before: *const i32, own: __mmask16) -> __m512i {
    // SAFETY: forwarded from the caller.
    let [less, same, more] =
        [0, 1, 2].map(|by| unsafe { _mm512_maskz_loadu_epi32(own, before.add(by)) });
    let on = _mm512_add_epi32(_mm512_max_epi32(more, same), _mm512_set1_epi32(1));
    _mm512_max_epi32(on, less)
}

/// Codes around a vector of diagonals: from the least places on at which one of them is followed.
struct Windows {
    /// Where they begin, in query and subject.
    starts: [i32; 2],
    query: [__m512i; 2],
    subject: [__m512i; 2],
}

impl Windows {
    /// By the first diagonal of the vector, and the least sum of both positions.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn of(pair: &Pair, diagonal: i32, least: i32) -> Windows {
        let last = diagonal + LANES as i32 - 1;
        let start = |codes: &[u8], twice: i32| {
            let last = codes.len().checked_sub(BEHIND);
            let last = last.expect("there are codes behind the ends");
            (twice >> 1).clamp(0, last.min(i32::MAX as usize) as i32)
        };
        let starts = [
            start(pair.query, least + diagonal),
            start(pair.subject, least - last),
        ];
        let load = |codes: &[u8], start: i32| {
            let codes = &codes[start as usize..][..BEHIND];
            // SAFETY: both halves have 64 codes.
            [0, BEHIND / 2]
                .map(|from| unsafe { _mm512_loadu_si512(codes.as_ptr().add(from).cast()) })
        };
        Windows {
            starts,
            query: load(pair.query, starts[0]),
            subject: load(pair.subject, starts[1]),
        }
    }

    /// How many of a word of codes match from the places of lanes on, and whether a lane may be at
    /// an end behind them. Places behind the ends are as good as the last ones: nothing matches
    /// there.
    ///
    /// # Safety
    /// The processor has AVX-512 F, BW and VBMI.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
    unsafe fn matching(
        &self,
        pair: &Pair,
        follows: __mmask16,
        in_query: __m512i,
        in_subject: __m512i,
    ) -> (__m512i, bool) {
        let [of_query, of_subject] = self.starts.map(|start| _mm512_set1_epi32(start));
        let places = [
            _mm512_sub_epi32(in_query, of_query),
            _mm512_sub_epi32(in_subject, of_subject),
        ];
        let last = _mm512_set1_epi32((BEHIND - CODES_OF_WORD) as i32);
        let furthest = _mm512_max_epu32(places[0], places[1]);
        let outside = _mm512_mask_cmpgt_epu32_mask(follows, furthest, last);
        let mut words = [
            choose(self.query, places[0]),
            choose(self.subject, places[1]),
        ];
        if outside != 0 {
            // SAFETY: forwarded from the caller.
            words = unsafe {
                [
                    gather(words[0], outside, pair.query, in_query),
                    gather(words[1], outside, pair.subject, in_subject),
                ]
            };
        }
        let is_near = |which: usize| pair.ends[which] - self.starts[which] <= BEHIND as i32;
        let beyond = outside != 0 || is_near(0) || is_near(1);
        (equal_codes(words[0], words[1]), beyond)
    }
}

/// The words at places of a window.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn choose(window: [__m512i; 2], places: __m512i) -> __m512i {
    let lowest = _mm512_set4_epi32(0x0c0c_0c0c, 0x0808_0808, 0x0404_0404, 0);
    let codes = _mm512_set1_epi32(0x0302_0100);
    let places = _mm512_add_epi8(_mm512_shuffle_epi8(places, lowest), codes);
    _mm512_permutex2var_epi8(window[0], places, window[1])
}

/// The words at places of some lanes; the others keep theirs.
///
/// # Safety
/// The processor has AVX-512 F.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn gather(words: __m512i, which: __mmask16, codes: &[u8], at: __m512i) -> __m512i {
    let last = codes
        .len()
        .checked_sub(CODES_OF_WORD)
        .expect("there are codes behind the ends");
    let at = _mm512_min_epu32(at, _mm512_set1_epi32(last.min(i32::MAX as usize) as i32));
    // SAFETY: a word of codes is at each of these places.
    unsafe { _mm512_mask_i32gather_epi32::<1>(words, which, at, codes.as_ptr().cast()) }
}

/// How many codes of words are equal before the first that differs.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn equal_codes(words: __m512i, others: __m512i) -> __m512i {
    let differing = _mm512_xor_si512(words, others);
    let before = _mm512_add_epi32(differing, _mm512_set1_epi32(-1));
    let below = _mm512_andnot_si512(differing, before);
    // A code is equal, as all before it, where all its bits are below the first that differs.
    let equal = _mm512_and_si512(below, _mm512_set1_epi8(i8::MIN));
    let pairs = _mm512_maddubs_epi16(equal, _mm512_set1_epi8(1));
    let sums = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
    _mm512_srli_epi32::<7>(sums)
}
