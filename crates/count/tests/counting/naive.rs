//! The counter written down once more, as plainly as possible: strings in a map.

use std::collections::BTreeMap;

/// k-mers as text, and their counts.
pub type Counts = BTreeMap<Vec<u8>, u32>;

/// Upper case, with `U` as `T`; nothing for a letter that breaks.
fn base(letter: u8) -> Option<u8> {
    match letter.to_ascii_uppercase() {
        b'U' => Some(b'T'),
        base @ (b'A' | b'C' | b'G' | b'T') => Some(base),
        _ => None,
    }
}

pub fn reverse_complement(bases: &[u8]) -> Vec<u8> {
    let complement = |base: &u8| match base {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        _ => b'A',
    };
    bases.iter().rev().map(complement).collect()
}

/// The k-mer itself or, unless stranded, the smaller of both strands.
pub fn form(kmer: Vec<u8>, stranded: bool) -> Vec<u8> {
    if stranded {
        return kmer;
    }
    let reverse = reverse_complement(&kmer);
    kmer.min(reverse)
}

/// Counts the k-mers of reads.
pub fn count<'a>(reads: impl IntoIterator<Item = &'a [u8]>, k: usize, stranded: bool) -> Counts {
    let mut counts = Counts::new();
    for read in reads {
        let bases: Vec<Option<u8>> = read.iter().map(|&letter| base(letter)).collect();
        for window in bases.windows(k) {
            let kmer: Option<Vec<u8>> = window.iter().copied().collect();
            let Some(kmer) = kmer else { continue };
            *counts.entry(form(kmer, stranded)).or_insert(0) += 1;
        }
    }
    counts
}

/// The letters whose quality is below `least` as `N`.
pub fn masked(letters: &[u8], qualities: &[u8], least: u8) -> Vec<u8> {
    let one = |(&letter, &quality): (&u8, &u8)| if quality - b'!' < least { b'N' } else { letter };
    letters.iter().zip(qualities).map(one).collect()
}

/// The bin of a k-mer by the definition of the format: the smallest hash of its canonical m-mers
/// names it.
pub fn bin(kmer: &[u8]) -> usize {
    let m = match kmer.len() {
        k @ 1..=8 => k,
        9..=16 => 8,
        17..=20 => 9,
        21..=24 => 10,
        _ => 11,
    };
    let value = |text: &[u8]| {
        let digit = |base: &u8| b"ACGT".iter().position(|letter| letter == base).unwrap() as u32;
        text.iter()
            .fold(0u32, |value, base| value * 4 + digit(base))
    };
    let hash =
        |text: &[u8]| (value(&form(text.to_vec(), false)) ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b1);
    let smallest = kmer.windows(m).map(hash).min().unwrap();
    (smallest.wrapping_mul(0x85eb_ca6b) >> 20) as usize
}

/// Random numbers from a seed.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ word >> 31
    }

    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }

    pub fn bases(&mut self, length: usize) -> Vec<u8> {
        let mut bases = Vec::with_capacity(length + 32);
        while bases.len() < length {
            let word = self.next();
            bases.extend((0..32).map(|i| b"ACGT"[(word >> (2 * i) & 3) as usize]));
        }
        bases.truncate(length);
        bases
    }
}
