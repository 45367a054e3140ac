//! One line of a dump, four letters at a time.

use gyrase_kmer::{Key, Kmer};
use gyrase_table::gyk::{Cutoffs, Database};

use super::config::Style;
use crate::ops::OperationError;

/// The four letters of a byte of two-bit codes, first base most significant.
const LETTERS: [[u8; 4]; 256] = {
    let mut table = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut place = 0;
        while place < 4 {
            table[byte][place] = b"ACGT"[byte >> (6 - 2 * place) & 3];
            place += 1;
        }
        byte += 1;
    }
    table
};

/// Digits of the largest count.
const DIGITS: usize = 10;
/// Letters of the longest k-mer, rounded up to whole words.
const LETTERS_AT_MOST: usize = 128;

/// How lines are made.
#[derive(Clone, Copy)]
pub(super) struct Line<const W: usize> {
    k: usize,
    style: Style,
}

impl<const W: usize> Line<W> {
    pub(super) fn new(k: usize, style: Style) -> Line<W> {
        Line { k, style }
    }

    /// Appends one k-mer and its count.
    #[inline]
    pub(super) fn append(&self, text: &mut Vec<u8>, kmer: Kmer<W>, count: u32) {
        let mut line = [0; LETTERS_AT_MOST + DIGITS + 3];
        let length = match self.style {
            Style::Fasta => {
                line[0] = b'>';
                let digits = 1 + write_number(&mut line[1..], count);
                line[digits] = b'\n';
                // The rest of the last word of letters is overwritten or cut off.
                self.write_kmer(&mut line, digits + 1, kmer)
            }
            Style::Tab | Style::Space => {
                let letters = self.write_kmer(&mut line, 0, kmer);
                line[letters] = if self.style == Style::Tab {
                    b'\t'
                } else {
                    b' '
                };
                letters + 1 + write_number(&mut line[letters + 1..], count)
            }
        };
        line[length] = b'\n';
        text.extend_from_slice(&line[..=length]);
    }

    /// Writes the letters from `at` on; returns where they end.
    #[inline]
    fn write_kmer(&self, line: &mut [u8], at: usize, kmer: Kmer<W>) -> usize {
        let letters = &mut line[at..at + 32 * W];
        for (word, letters) in left_aligned(kmer, self.k)
            .into_iter()
            .zip(letters.as_chunks_mut::<32>().0)
        {
            for (byte, letters) in word
                .to_be_bytes()
                .into_iter()
                .zip(letters.as_chunks_mut::<4>().0)
            {
                *letters = LETTERS[usize::from(byte)];
            }
        }
        at + self.k
    }
}

/// The bits of a k-mer moved to the front, so that word 0 begins with the first base: compares like
/// the k-mer.
#[inline(always)]
pub(super) fn left_aligned<const W: usize>(kmer: Kmer<W>, k: usize) -> [u64; W] {
    // A shape of W words has more than 32 * (W - 1) bases, so less than a word is empty.
    let empty = 64 * W - 2 * k;
    let mut words = kmer.0;
    if empty > 0 {
        for i in 0..W {
            let next = if i + 1 < W {
                words[i + 1] >> (64 - empty)
            } else {
                0
            };
            words[i] = words[i] << empty | next;
        }
    }
    words
}

/// The inverse of [`left_aligned`].
#[inline(always)]
pub(super) fn right_aligned<const W: usize>(words: [u64; W], k: usize) -> Kmer<W> {
    let empty = 64 * W - 2 * k;
    let mut words = words;
    if empty > 0 {
        for i in (0..W).rev() {
            let before = if i > 0 {
                words[i - 1] << (64 - empty)
            } else {
                0
            };
            words[i] = words[i] >> empty | before;
        }
    }
    Kmer(words)
}

/// Writes a number at the start of `text`; returns its digits.
#[inline]
fn write_number(text: &mut [u8], number: u32) -> usize {
    if number < 10 {
        text[0] = b'0' + number as u8;
        return 1;
    }
    let digits = number.ilog10() as usize + 1;
    let mut rest = number;
    for place in (0..digits).rev() {
        text[place] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

/// The k-mers of a bin whose count passes, in the order of the database.
pub(super) fn kmers<const W: usize>(
    database: &Database,
    bin: usize,
    cutoffs: Cutoffs,
) -> Result<impl Iterator<Item = (Kmer<W>, u32)>, OperationError> {
    let view = database.sound_bin(bin)?;
    let pairs = view.rows::<W>().iter().zip(view.counts());
    Ok(pairs
        .filter(move |&(_, count)| cutoffs.keep(count))
        .map(|(&row, count)| (Kmer::from(Key(row)), count)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_kmer::{Shape, mix, with_words};

    fn check<const W: usize>(k: usize) {
        for seed in 0..50u64 {
            let kmer = Kmer::<W>(std::array::from_fn(|i| mix(seed * 8 + i as u64))).masked(k);
            assert_eq!(right_aligned(left_aligned(kmer, k), k), kmer);
            let count = (mix(seed) >> (32 + seed % 32)) as u32;
            let letters = String::from_utf8(kmer.letters(k)).unwrap();
            let expected = [
                (Style::Tab, format!("{letters}\t{count}\n")),
                (Style::Space, format!("{letters} {count}\n")),
                (Style::Fasta, format!(">{count}\n{letters}\n")),
            ];
            for (style, expected) in expected {
                let mut text = Vec::new();
                Line::new(k, style).append(&mut text, kmer, count);
                assert_eq!(String::from_utf8(text).unwrap(), expected);
            }
        }
    }

    #[test]
    fn lines_spell_the_kmer_at_word_edges() {
        for k in [1, 2, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127] {
            with_words!(Shape::new(k, false).unwrap(), W => check::<W>(k));
        }
    }

    #[test]
    fn numbers_have_their_digits() {
        for number in [
            0,
            9,
            10,
            99,
            100,
            12345,
            999_999_999,
            1_000_000_000,
            u32::MAX,
        ] {
            let mut text = [0; DIGITS];
            let digits = write_number(&mut text, number);
            assert_eq!(
                std::str::from_utf8(&text[..digits]).unwrap(),
                number.to_string()
            );
        }
    }
}
