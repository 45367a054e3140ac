//! Random genomes whose words of six bases are as frequent as in real ones.
//!
//! Bases that are drawn one by one, whatever their shares, make minimizers too equal: in a real
//! genome runs of A and T are more frequent than their bases, and with them the partitions that
//! the order of the letters puts first. A chain that knows the five bases before the next is
//! enough: of yeast (S288C, sacCer3) and pieces of *C. elegans*, 13.2 Mb, the fullest of 128 chips
//! has 3.38, 3.98 and 3.71 times the mean at k = 14, 21, 28 (round-robin, m = 9); of the chain of
//! their six-base words 3.47, 4.10 and 3.80; of letters with the same GC about 2.3.

use gyrase_simulate::Random;

const CHAIN: u64 = 0xc4a1;
const TAILS: u64 = 0x7a11;
/// Bases before the next that decide about it.
const BEFORE: usize = 5;

/// For each word of five bases, in the order of letters, how many of a thousand next bases are A,
/// C, G, T, both strands together.
const SHARES: &str = include_str!("composition.txt");

/// Bases of a tail: at least, and how many more at most.
const TAIL: (u64, u64) = (18, 20);
/// The share of its bases that are not A.
const WORN: f64 = 0.1;

/// So many letters of such a genome, with so many tails of A in a base, as transposons leave them,
/// on either strand.
pub(crate) fn genome_with_tails(length: u64, tails: f64, seed: u64) -> Vec<u8> {
    let mut letters = genome(length, seed);
    let mut random = Random::stream(seed, TAILS, 0);
    let count = (length as f64 * tails).round() as u64;
    for _ in 0..count {
        let start = random.below(length.saturating_sub(TAIL.0 + TAIL.1)) as usize;
        let base = if random.chance(0.5) { b'A' } else { b'T' };
        let tail = TAIL.0 + random.below(TAIL.1);
        for letter in letters.iter_mut().skip(start).take(tail as usize) {
            if !random.chance(WORN) {
                *letter = base;
            }
        }
    }
    letters
}

/// So many letters of such a genome.
fn genome(length: u64, seed: u64) -> Vec<u8> {
    let shares: Vec<u64> = SHARES.split_whitespace().map(share).collect();
    let mut random = Random::stream(seed, CHAIN, 0);
    let mut word = random.below(1 << (2 * BEFORE)) as usize;
    let mut next = || {
        let shares = &shares[4 * word..4 * word + 4];
        let mut draw = random.below(shares.iter().sum());
        let code = shares.iter().position(|&share| {
            let found = draw < share;
            draw = draw.saturating_sub(share);
            found
        });
        let code = code.expect("the draw is below the sum");
        word = (word << 2 | code) & ((1 << (2 * BEFORE)) - 1);
        gyrase_seq::decode(code as u8)
    };
    (0..length).map(|_| next()).collect()
}

fn share(text: &str) -> u64 {
    text.parse().expect("the table has numbers alone")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_as_frequent_as_the_table_says() {
        let letters = genome(400_000, 1);
        assert_eq!(letters[..1000], genome(1000, 1));
        let after = |word: &[u8]| {
            let next: Vec<u8> = letters
                .windows(6)
                .filter(|six| &six[..5] == word)
                .map(|six| six[5])
                .collect();
            next.iter().filter(|&&base| base == b'A').count() as f64 / next.len() as f64
        };
        let shares: Vec<u64> = SHARES.split_whitespace().map(share).collect();
        assert_eq!(shares.len(), 4096);
        assert!((after(b"AAAAA") - shares[0] as f64 / 1000.0).abs() < 0.03);
        assert!(after(b"AAAAA") > 0.35);
        let gc = letters.iter().filter(|base| b"CG".contains(base)).count() as f64;
        assert!((gc / letters.len() as f64 - 0.38).abs() < 0.02, "{gc}");
    }
}
