//! Letters and their two-bit codes.

const NONE: u8 = 0xff;

const CODES: [u8; 256] = {
    let mut codes = [NONE; 256];
    let letters = *b"AaCcGgTtUu";
    let values = [0, 0, 1, 1, 2, 2, 3, 3, 3, 3];
    let mut i = 0;
    while i < letters.len() {
        codes[letters[i] as usize] = values[i];
        i += 1;
    }
    codes
};

/// The two-bit code of a letter (`A=0 C=1 G=2 T=U=3`, either case), or `None` for any other byte.
#[inline]
pub fn encode(letter: u8) -> Option<u8> {
    let code = CODES[letter as usize];
    (code != NONE).then_some(code)
}

/// The upper-case letter of a two-bit code; only the two low bits of `code` are read.
#[inline]
pub fn decode(code: u8) -> u8 {
    b"ACGT"[(code & 3) as usize]
}

/// The complement of an IUPAC letter, case kept; a byte that is no IUPAC nucleotide letter stays as
/// it is.
#[inline]
pub fn complement(letter: u8) -> u8 {
    let upper = match letter.to_ascii_uppercase() {
        b'A' => b'T',
        b'C' => b'G',
        b'G' => b'C',
        b'T' | b'U' => b'A',
        b'R' => b'Y',
        b'Y' => b'R',
        b'K' => b'M',
        b'M' => b'K',
        b'B' => b'V',
        b'V' => b'B',
        b'D' => b'H',
        b'H' => b'D',
        _ => return letter,
    };
    upper | (letter & 0x20)
}

/// The reverse complement of a sequence of letters.
pub fn reverse_complement(letters: &[u8]) -> Vec<u8> {
    letters
        .iter()
        .rev()
        .map(|&letter| complement(letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_the_alphabet_and_complement_by_subtraction() {
        for letter in *b"ACGT" {
            let code = encode(letter).unwrap();
            assert_eq!(decode(code), letter);
            assert_eq!(encode(letter.to_ascii_lowercase()), Some(code));
            assert_eq!(encode(complement(letter)), Some(3 - code));
        }
        assert_eq!(encode(b'U'), encode(b'T'));
        assert_eq!((0..=255u8).filter(|&b| encode(b).is_some()).count(), 10);
    }

    #[test]
    fn complement_is_an_involution_but_for_uracil() {
        for letter in *b"ACGTRYKMBVDHNSWacgtn-*" {
            assert_eq!(complement(complement(letter)), letter);
        }
        assert_eq!(reverse_complement(b"AACgtN"), b"NacGTT");
    }
}
