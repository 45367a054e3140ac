//! Looking at letters in bulk: which are bases, which break a rule.
//!
//! The bulk tests fold plain byte comparisons over pieces of fixed length, which the compiler turns
//! into vector instructions of the baseline; only what they find odd is looked at letter by letter.

use crate::error::Problem;
use crate::options::{Alphabet, Options};

/// What is done with the letters of every record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    pub alphabet: Alphabet,
    pub overlap: usize,
    pub whole_records: bool,
    pub longest_record: usize,
}

impl Rules {
    pub(crate) fn of(options: &Options) -> Rules {
        let Options {
            alphabet,
            overlap,
            whole_records,
            longest_record,
            ..
        } = *options;
        Rules {
            alphabet,
            overlap,
            whole_records,
            longest_record,
        }
    }
}

const PIECE: usize = 32;

/// True when `odd` is false for every byte; `odd` must be branch-free.
#[inline(always)]
fn none(bytes: &[u8], odd: impl Fn(u8) -> bool) -> bool {
    if bytes.len() < PIECE {
        return !bytes.iter().fold(false, |any, &byte| any | odd(byte));
    }
    let piece = |piece: &[u8; PIECE]| {
        piece
            .iter()
            .fold(0u8, |any, &byte| any | u8::from(odd(byte)))
    };
    let (pieces, _) = bytes.as_chunks::<PIECE>();
    let last = bytes.last_chunk::<PIECE>().expect("the length was checked");
    pieces
        .iter()
        .fold(piece(last), |any, bytes| any | piece(bytes))
        == 0
}

/// True when all are `ACGTUN` in either case.
pub(crate) fn are_bases(letters: &[u8]) -> bool {
    none(letters, |letter| {
        let lower = letter | 0x20;
        !((lower == b'a')
            | (lower == b'c')
            | (lower == b'g')
            | (lower == b't')
            | (lower == b'n')
            | (lower == b'u'))
    })
}

/// True when all can stand in a quality line: `!` to `~`.
pub(crate) fn are_qualities(letters: &[u8]) -> bool {
    none(letters, |letter| letter.wrapping_sub(b'!') > b'~' - b'!')
}

/// True for what may lie between the letters of a FASTA line without meaning anything.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'-' | b'.' | b'*')
}

fn is_protein(byte: u8) -> bool {
    matches!(
        byte | 0x20,
        b'e' | b'f' | b'i' | b'j' | b'l' | b'o' | b'p' | b'q' | b'z'
    )
}

/// Counts the letters that only proteins have, or finds a byte that is no letter.
pub(crate) fn count_protein(letters: &[u8]) -> Result<usize, Problem> {
    let mut count = 0;
    for block in letters.chunks(4096).filter(|block| !are_bases(block)) {
        if let Some(&found) = block.iter().find(|&&byte| !is_letter(byte)) {
            return Err(Problem::Letter { found });
        }
        count += block.iter().filter(|&&byte| is_protein(byte)).count();
    }
    Ok(count)
}

/// Refuses a record in which too many letters are a protein's.
pub(crate) fn refuse_protein(
    alphabet: Alphabet,
    protein: usize,
    letters: usize,
) -> Result<(), Problem> {
    if alphabet == Alphabet::Dna && protein * 10 > letters {
        return Err(Problem::Protein { protein, letters });
    }
    Ok(())
}

/// Writes `N` over the letters whose quality is below `least`.
pub(crate) fn mask(letters: &mut [u8], qualities: &[u8], least: u8) {
    let least = least.saturating_add(b'!');
    for (letter, &quality) in letters.iter_mut().zip(qualities) {
        *letter = if quality < least { b'N' } else { *letter };
    }
}

/// Moves the bytes of `text[from..to]` that are no space to `write` and on; returns their end.
pub(crate) fn squeeze(text: &mut [u8], from: usize, to: usize, mut write: usize) -> usize {
    for read in from..to {
        if !is_space(text[read]) {
            text[write] = text[read];
            write += 1;
        }
    }
    write
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bulk_tests_agree_with_the_definition_at_every_place() {
        for length in [0, 1, 31, 32, 33, 64, 100] {
            for place in 0..length {
                for byte in 0..=255u8 {
                    let mut letters = vec![b'A'; length];
                    letters[place] = byte;
                    assert_eq!(
                        are_bases(&letters),
                        b"ACGTUNacgtun".contains(&byte),
                        "{byte}"
                    );
                    assert_eq!(
                        are_qualities(&letters),
                        (33..=126).contains(&byte),
                        "{byte}"
                    );
                }
            }
        }
    }

    #[test]
    fn iupac_is_never_protein() {
        assert_eq!(count_protein(b"RYSWKMBDHVNXryswkmbdhvnx-.*").unwrap(), 0);
        assert_eq!(count_protein(b"ACGTEFIJLOPQZ").unwrap(), 9);
        assert_eq!(
            count_protein(b"ACG>T"),
            Err(Problem::Letter { found: b'>' })
        );
        assert!(refuse_protein(Alphabet::Dna, 1, 10).is_ok());
        assert!(refuse_protein(Alphabet::Dna, 2, 10).is_err());
        assert!(refuse_protein(Alphabet::Any, 9, 10).is_ok());
    }

    #[test]
    fn low_qualities_are_masked() {
        let mut letters = *b"ACGTA";
        mask(&mut letters, b"!+5?I", 20);
        assert_eq!(&letters, b"NNGTA");
    }
}
