//! Nucleotides as small numbers.

use crate::residue::codes_of;

/// The letters of nucleotides, each at the place of its code: the four bases first, then those that
/// stand for several, as BLAST orders them (`BLASTNA`).
pub const LETTERS: &[u8; 15] = b"ACGTRYMKWSBDHVN";

/// Codes below this are of one base.
pub const BASES: usize = 4;

/// The code of N, which any letter that is no nucleotide becomes.
pub const ANY: u8 = 14;

/// The code of a letter, of either case; U is a T.
pub const fn code(letter: u8) -> u8 {
    CODE_OF[letter as usize]
}

/// Whether a letter stands for a gap, which is no nucleotide.
pub const fn is_gap(letter: u8) -> bool {
    matches!(letter, b'-' | b'.')
}

/// The letter of a code; N where there is none.
pub const fn letter(code: u8) -> u8 {
    let at = code as usize;
    LETTERS[if at < LETTERS.len() { at } else { ANY as usize }]
}

/// The code of the other strand; a code that is no nucleotide stays.
pub const fn complement(code: u8) -> u8 {
    const OF: [u8; 15] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 13, 12, 11, 10, 14];
    if (code as usize) < OF.len() {
        OF[code as usize]
    } else {
        code
    }
}

/// The bases that a code stands for: a bit for each, by its code. None of what is no nucleotide.
pub const fn bases(code: u8) -> u8 {
    const OF: [u8; 15] = [1, 2, 4, 8, 5, 10, 3, 12, 9, 6, 14, 13, 11, 7, 15];
    if (code as usize) < OF.len() {
        OF[code as usize]
    } else {
        0
    }
}

const CODE_OF: [u8; 256] = {
    let mut codes = codes_of(LETTERS, ANY);
    codes[b'U' as usize] = 3;
    codes[b'u' as usize] = 3;
    codes
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_from_both_strands() {
        for &one in LETTERS {
            assert_eq!(letter(code(one)), one);
            assert_eq!(code(one.to_ascii_lowercase()), code(one));
            assert_eq!(complement(complement(code(one))), code(one));
            let other = bases(complement(code(one))).reverse_bits() >> 4;
            assert_eq!(other, bases(code(one)));
        }
        let strand: Vec<u8> = LETTERS
            .iter()
            .map(|&one| letter(complement(code(one))))
            .collect();
        assert_eq!(strand, b"TGCAYRKMWSVHDBN");
        assert_eq!(
            [code(b'u'), code(b'-'), letter(31), complement(31)],
            [3, ANY, b'N', 31]
        );
        let known = LETTERS.map(|one| bases(code(one)).count_ones());
        assert_eq!(known, [1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 4]);
        assert_eq!(bases(31), 0);
    }
}
