//! Residues of proteins as small numbers.

/// The letters of residues, each at the place of its code: the twenty that have frequencies first,
/// then those that stand for several (B, Z, J, X), the stop, and two rare ones.
pub const LETTERS: &[u8; 27] = b"ARNDCQEGHILKMFPSTWYVBZJX*UO";

/// Residues that have frequencies: the codes below.
pub const STANDARD: usize = 20;

/// The code of X, which any letter that is no residue becomes.
pub const ANY: u8 = 23;

/// The code of a stop.
pub const STOP: u8 = 24;

/// What stands between two sequences: no alignment crosses it.
pub const BORDER: u8 = 31;

/// Codes that a row of scores has room for.
pub const CODES: usize = 32;

/// The code of a letter, of either case; X for one that is no residue.
pub const fn code(letter: u8) -> u8 {
    CODE_OF[letter as usize]
}

/// The letter of a code; X where there is none.
pub const fn letter(code: u8) -> u8 {
    let at = code as usize;
    LETTERS[if at < LETTERS.len() { at } else { ANY as usize }]
}

const CODE_OF: [u8; 256] = codes_of(LETTERS, ANY);

/// The code of each byte: the place of a letter of either case, `any` for all others.
pub(crate) const fn codes_of(letters: &[u8], any: u8) -> [u8; 256] {
    let mut codes = [any; 256];
    let mut at = 0;
    while at < letters.len() {
        codes[letters[at] as usize] = at as u8;
        codes[letters[at].to_ascii_lowercase() as usize] = at as u8;
        at += 1;
    }
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back() {
        for &one in LETTERS {
            assert_eq!(letter(code(one)), one);
            assert_eq!(code(one.to_ascii_lowercase()), code(one));
        }
        assert_eq!([code(b'1'), code(b'-'), letter(BORDER)], [ANY, ANY, b'X']);
    }
}
