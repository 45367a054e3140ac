//! Finds every maximal exact match by words at sampled positions.
//!
//! Every match of at least `l` letters holds, within any `a * b` of its diagonal positions, one
//! whose place in the reference is a multiple of `a` and whose place in the query is one of `b`,
//! where `a` and `b` have no common divisor (Chinese remainders; Grabowski and Bieniecki 2019,
//! copMEM). So words of `k` letters, `k + a * b - 1 <= l`, at every a-th position of the reference
//! and every b-th of the query find them all. A match has many such words. It is told where the
//! first of them is found: there less than `a * b` letters before are equal.
//!
//! A word *deep* in a run of one letter has `a * b` letters of it before. Two deep words of one
//! letter are never the first of a match, so they are not compared: runs on both sides would take
//! as long as they have pairs of words.

use std::ops::Range;

/// The longest word: what two loads of eight bytes take.
const LONGEST_WORD: usize = 16;
/// Positions of the query whose buckets are looked up before the first is read: their loads wait
/// for memory together.
const AHEAD: usize = 64;
/// Letters that are compared at once.
const WORD: usize = 8;

/// A stretch of letters that is equal in reference and query, and cannot be longer at either end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExactMatch {
    /// Its first letter in the query.
    pub query: usize,
    /// Its first letter in the reference.
    pub reference: usize,
    /// Its letters.
    pub length: usize,
}

/// Which positions have words, and how long these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sampling {
    pub word: usize,
    pub reference_step: usize,
    pub query_step: usize,
}

impl Sampling {
    /// The cheapest that finds all matches of `least` letters of a reference and a query of so many
    /// letters. A sample of the reference is counted and put into its bucket; one of the query is
    /// looked up, and compared with those that chance puts there.
    pub fn best(least: usize, reference: usize, query: usize) -> Sampling {
        let mut best = (f64::INFINITY, None);
        for word in 1..=least.min(LONGEST_WORD) {
            let most = (least - word + 1).min(1 << 8);
            for reference_step in 1..=most {
                for query_step in 1..=most / reference_step {
                    if common_divisor(reference_step, query_step) > 1 {
                        continue;
                    }
                    let samples = reference as f64 / reference_step as f64;
                    let by_chance = samples / 4f64.powi(word as i32);
                    let looked_up = query as f64 / query_step as f64;
                    let cost = 2.0 * samples + looked_up * (1.0 + 0.7 * by_chance);
                    if cost < best.0 {
                        let sampling = Sampling {
                            word,
                            reference_step,
                            query_step,
                        };
                        best = (cost, Some(sampling));
                    }
                }
            }
        }
        best.1.expect("a match has at least one letter")
    }

    /// Positions of a diagonal of which one is sampled in both.
    fn period(self) -> usize {
        self.reference_step * self.query_step
    }

    /// Whether the word at a position is deep in a run of one letter.
    #[inline]
    fn is_deep(self, text: &[u8], at: usize) -> bool {
        let letter = text[at];
        // Most words are known by the letter before.
        at >= self.period()
            && text[at - 1] == letter
            && text[at - self.period()..at + self.word]
                .iter()
                .all(|&other| other == letter)
    }
}

fn common_divisor(one: usize, other: usize) -> usize {
    match other {
        0 => one,
        _ => common_divisor(other, one % other),
    }
}

/// The sampled words of a reference, by their hashes.
pub(crate) struct Seeds<'r> {
    reference: &'r [u8],
    sampling: Sampling,
    /// Bits of a hash that are not its bucket.
    shift: u32,
    /// Where the samples of each bucket begin; one more than there are buckets.
    starts: Vec<u32>,
    /// Numbers of sampled positions: in each bucket those deep in runs last.
    samples: Vec<u32>,
    /// For each letter that has such where those of its bucket begin.
    deep: Vec<(u8, u32)>,
}

impl<'r> Seeds<'r> {
    /// Letters of the longest reference.
    pub fn longest(sampling: Sampling) -> u64 {
        u64::from(u32::MAX) * sampling.reference_step as u64
    }

    /// Bytes of memory for a reference of so many letters.
    pub fn memory(sampling: Sampling, reference: usize) -> u64 {
        let samples = (reference / sampling.reference_step + 1) as u64;
        4 * samples + (4 << bucket_bits(samples as usize))
    }

    /// Takes the words of a reference. None of its letters is `unlike`, which no query has.
    pub fn of(reference: &'r [u8], sampling: Sampling, unlike: u8) -> Seeds<'r> {
        let Sampling {
            word,
            reference_step,
            ..
        } = sampling;
        let places = (reference.len() + 1)
            .saturating_sub(word)
            .div_ceil(reference_step);
        let shift = 64 - bucket_bits(places);
        // Words with what equals nothing would be found by no query.
        let bucket = |place: usize| {
            let at = place * reference_step;
            let letters = &reference[at..at + word];
            (!letters.contains(&unlike)).then(|| (hash(reference, at, word) >> shift) as usize)
        };
        let mut starts = vec![0u32; (1 << (64 - shift)) + 1];
        (0..places)
            .filter_map(bucket)
            .for_each(|bucket| starts[bucket] += 1);
        let mut before = 0;
        for start in &mut starts {
            before += *start;
            *start = before;
        }
        let mut samples = vec![0; before as usize];
        let mut deep: Vec<(u8, u32)> = Vec::new();
        // A bucket is filled from behind.
        let mut put = |place: usize, bucket: usize| {
            starts[bucket] -= 1;
            samples[starts[bucket] as usize] = place as u32;
            starts[bucket]
        };
        let is_deep = |place: usize| sampling.is_deep(reference, place * reference_step);
        for place in (0..places).rev().filter(|&place| is_deep(place)) {
            if let Some(bucket) = bucket(place) {
                let start = put(place, bucket);
                let letter = reference[place * reference_step];
                match deep.iter_mut().find(|deep| deep.0 == letter) {
                    Some(deep) => deep.1 = start,
                    None => deep.push((letter, start)),
                }
            }
        }
        for place in (0..places).rev().filter(|&place| !is_deep(place)) {
            if let Some(bucket) = bucket(place) {
                put(place, bucket);
            }
        }
        Seeds {
            reference,
            sampling,
            shift,
            starts,
            samples,
            deep,
        }
    }

    /// Adds the matches of at least `least` letters that begin in `range` of the query, by their
    /// places in it and in the reference. Nothing of the query equals what ends the sequences of
    /// the reference.
    pub fn find(
        &self,
        query: &[u8],
        range: Range<usize>,
        least: usize,
        matches: &mut Vec<ExactMatch>,
    ) {
        let first = matches.len();
        let step = self.sampling.query_step;
        let last = (query.len() + 1).saturating_sub(self.sampling.word);
        // The first word of a match is so many letters behind its beginning at most.
        let end = last.min(range.end + self.sampling.period() - 1);
        let mut found = [(0, 0, 0); AHEAD];
        let mut positions = (range.start.next_multiple_of(step)..end).step_by(step);
        loop {
            let mut count = 0;
            for position in positions.by_ref().take(AHEAD) {
                let bucket = (hash(query, position, self.sampling.word) >> self.shift) as usize;
                found[count] = (position, self.starts[bucket], self.starts[bucket + 1]);
                count += 1;
            }
            if count == 0 {
                break;
            }
            for &(position, start, end) in &found[..count] {
                let end = self.end_of_compared(query, position, end);
                for &sample in &self.samples[start as usize..end as usize] {
                    let reference = sample as usize * self.sampling.reference_step;
                    let around = self.around(query, position, reference);
                    matches.extend(
                        around
                            .filter(|found| found.length >= least && range.contains(&found.query)),
                    );
                }
            }
        }
        matches[first..].sort_unstable();
    }

    /// Where the samples end that are compared with a word of the query, of a bucket that ends
    /// there.
    #[inline]
    fn end_of_compared(&self, query: &[u8], position: usize, end: u32) -> u32 {
        let deep = self.deep.iter().find(|deep| deep.0 == query[position]);
        deep.filter(|_| self.sampling.is_deep(query, position))
            .map_or(end, |deep| deep.1)
    }

    /// The match around a word, if it is the first of the match that is sampled.
    #[inline]
    fn around(&self, query: &[u8], position: usize, reference: usize) -> Option<ExactMatch> {
        let Sampling { word, .. } = self.sampling;
        let period = self.sampling.period();
        let (next, place) = (position + word, reference + word);
        if query[position..next] != self.reference[reference..place] {
            return None;
        }
        let before = equal_before(&query[..position], &self.reference[..reference], period);
        if before >= period {
            return None;
        }
        // Only once for each match, however long it is.
        let behind = equal_behind(&query[next..], &self.reference[place..]);
        Some(ExactMatch {
            query: position - before,
            reference: reference - before,
            length: before + word + behind,
        })
    }
}

/// Bits of the numbers of buckets for so many samples: one or two in each.
fn bucket_bits(samples: usize) -> u32 {
    samples.max(2).ilog2().clamp(4, 31)
}

/// A hash of the word at a position.
#[inline]
fn hash(text: &[u8], at: usize, word: usize) -> u64 {
    const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];
    let (first, last) = match word {
        WORD.. => (load(text, at), load(text, at + word - WORD)),
        _ => {
            let mut bytes = [0; WORD];
            bytes[..word].copy_from_slice(&text[at..at + word]);
            (u64::from_le_bytes(bytes), 0)
        }
    };
    let mixed = first.wrapping_mul(ODD[0]) ^ last.wrapping_mul(ODD[1]).rotate_left(32);
    (mixed ^ (mixed >> 29)).wrapping_mul(ODD[0])
}

#[inline]
fn load(text: &[u8], at: usize) -> u64 {
    let bytes = text[at..at + WORD].try_into();
    u64::from_le_bytes(bytes.expect("the range has the bytes of a word"))
}

/// How many first letters are equal.
#[inline]
fn equal_behind(one: &[u8], other: &[u8]) -> usize {
    let length = one.len().min(other.len());
    let mut equal = 0;
    while equal + WORD <= length {
        match load(one, equal) ^ load(other, equal) {
            0 => equal += WORD,
            differ => return equal + differ.trailing_zeros() as usize / 8,
        }
    }
    let rest = one[equal..length].iter().zip(&other[equal..length]);
    equal + rest.take_while(|(one, other)| one == other).count()
}

/// How many last letters are equal, of the last `most`.
#[inline]
fn equal_before(one: &[u8], other: &[u8], most: usize) -> usize {
    let length = one.len().min(other.len()).min(most);
    let (one, other) = (&one[one.len() - length..], &other[other.len() - length..]);
    let pairs = one.iter().rev().zip(other.iter().rev());
    pairs.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All maximal matches, by the definition.
    fn naive(reference: &[u8], query: &[u8], least: usize) -> Vec<ExactMatch> {
        let mut found = Vec::new();
        for at in 0..query.len() {
            for place in 0..reference.len() {
                let is_first = at == 0 || place == 0 || query[at - 1] != reference[place - 1];
                let pairs = query[at..].iter().zip(&reference[place..]);
                let length = pairs.take_while(|(one, other)| one == other).count();
                if is_first && length >= least {
                    found.push(ExactMatch {
                        query: at,
                        reference: place,
                        length,
                    });
                }
            }
        }
        found
    }

    fn text(letters: usize, length: usize, seed: u64) -> Vec<u8> {
        let mut state = seed;
        let next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            b"ACGT"[(state >> 33) as usize % letters]
        };
        std::iter::repeat_with(next).take(length).collect()
    }

    #[test]
    fn every_match_is_found_once_by_every_sampling() {
        for (letters, seed) in [(2, 1), (3, 2), (4, 3), (1, 4)] {
            let length = if letters == 1 { 60 } else { 400 };
            let (mut reference, query) =
                (text(letters, length, seed), text(letters, 300, 9 + seed));
            reference[length / 2] = 0;
            for least in [1, 2, 5, 9, 12, 20, 40] {
                let expected = naive(&reference, &query, least);
                for (word, reference_step, query_step) in [
                    (1, 1, 1),
                    (3, 2, 1),
                    (5, 2, 3),
                    (8, 1, 4),
                    (8, 5, 1),
                    (12, 3, 2),
                    (16, 4, 5),
                ] {
                    let sampling = Sampling {
                        word,
                        reference_step,
                        query_step,
                    };
                    if word + sampling.period() > least + 1 {
                        continue;
                    }
                    let seeds = Seeds::of(&reference, sampling, 0);
                    let mut found = Vec::new();
                    for start in (0..query.len()).step_by(70) {
                        let range = start..query.len().min(start + 70);
                        seeds.find(&query, range, least, &mut found);
                    }
                    assert!(
                        found == expected,
                        "{letters} letters, {least}, {sampling:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn runs_are_not_compared_word_by_word() {
        let sampling = Sampling {
            word: 8,
            reference_step: 4,
            query_step: 3,
        };
        let (length, run) = (500, vec![b'A'; 500]);
        let reference = [text(4, 100, 5), run.clone(), text(4, 100, 6), run.clone()].concat();
        let seeds = Seeds::of(&reference, sampling, 0);
        let bucket = (hash(&run, 0, sampling.word) >> seeds.shift) as usize;
        let [start, end] = [seeds.starts[bucket], seeds.starts[bucket + 1]];
        let positions = (0..length - sampling.word).step_by(sampling.query_step);
        let compared = positions.map(|at| seeds.end_of_compared(&run, at, end) - start);
        let compared: usize = compared.map(|count| count as usize).sum();
        // Pairs of words of which one at least is within a period of the beginning of its run.
        let near = sampling.period() + 1;
        let most =
            2 * (near * length / sampling.query_step + near * length / sampling.reference_step);
        assert!((end - start) as usize > 2 * (length - 100) / sampling.reference_step);
        assert!(compared < most, "{compared} of at most {most}");
        let mut found = Vec::new();
        seeds.find(&run, 0..length, 300, &mut found);
        assert_eq!(found, naive(&reference, &run, 300));
    }

    #[test]
    fn samplings_find_matches_of_the_least_length() {
        for least in 1..150 {
            for letters in [1, 1000, 5_000_000, 3_000_000_000] {
                let sampling = Sampling::best(least, letters, letters);
                assert!(sampling.word + sampling.period() <= least + 1, "{least}");
                assert_eq!(
                    common_divisor(sampling.reference_step, sampling.query_step),
                    1
                );
            }
        }
    }

    #[test]
    fn ends_are_compared_letter_by_letter() {
        let text = b"abcdefghijklmnopqrstuvwxyz";
        for start in 0..26 {
            for differs in start..26 {
                let mut other = *text;
                other[differs] = b'#';
                assert_eq!(
                    equal_behind(&text[start..], &other[start..]),
                    differs - start
                );
                let before = 25 - differs;
                for most in [0, 1, 7, 30] {
                    let equal = equal_before(&text[start..], &other[start..], most);
                    assert_eq!(equal, before.min(most));
                }
            }
        }
        assert_eq!(equal_behind(b"", b"a") + equal_before(b"", b"a", 9), 0);
    }
}
