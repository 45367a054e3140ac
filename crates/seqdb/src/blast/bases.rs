//! Nucleotides of BLAST: two bits each, and a list of those that are no base.

use std::ops::Range;

use crate::gysd::unpack;

/// The letters that stand for several bases, by code (NCBI4na: a bit for each of A, C, G and T).
const LETTERS: [u8; 16] = *b"NACMGRSVTWYHKDBN";

/// Appends the letters of a sequence, by its packed bases, of which the last byte says how many it
/// has, and its list of ambiguities, which may be empty.
pub(super) fn read(packed: &[u8], list: &[u8], letters: &mut Vec<u8>) -> Result<(), String> {
    let last = *packed.last().ok_or("a sequence without its last byte")?;
    let length = 4 * (packed.len() - 1) + usize::from(last & 3);
    let before = letters.len();
    unpack(packed, 0..length, letters);
    let letters = &mut letters[before..];
    if list.is_empty() {
        return Ok(());
    }
    if !list.len().is_multiple_of(4) {
        return Err(format!("a list of ambiguities of {} bytes", list.len()));
    }
    let mut words = list
        .chunks_exact(4)
        .map(|word| u32::from_be_bytes(word.try_into().expect("four bytes")));
    let count = words.next().expect("the list is not empty");
    // The highest bit says that runs have two words; what follows counts words.
    let wide = count >> 31 == 1;
    let count = (count & 0x7fff_ffff) as usize;
    if count != words.len() || wide && count % 2 == 1 {
        return Err(format!(
            "a list of ambiguities of {count} words has {}",
            words.len()
        ));
    }
    while let Some(word) = words.next() {
        let (code, positions) = run(word, wide.then(|| words.next()).flatten());
        let run = letters.get_mut(positions.clone());
        let run = run.ok_or_else(|| format!("ambiguities at {positions:?} of {length} bases"))?;
        run.fill(LETTERS[code]);
    }
    Ok(())
}

/// The code and the positions of a run: of one word, or of two (`seqdbvol.cpp`: `s_ResLenNew`,
/// `s_ResLenOld`).
fn run(word: u32, second: Option<u32>) -> (usize, Range<usize>) {
    let code = (word >> 28) as usize;
    let (length, start) = match second {
        Some(start) => ((word >> 16 & 0xfff) + 1, start),
        None => ((word >> 24 & 0xf) + 1, word & 0xff_ffff),
    };
    (code, start as usize..start as usize + length as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    #[test]
    fn both_kinds_of_runs_are_read() {
        // ACGT ACGT AC, and ten of them ambiguous.
        let packed = [0x1b, 0x1b, 0x12];
        let narrow = list(&[2, 0xf100_0002, 0x5000_0009]);
        let wide = list(&[0x8000_0004, 0xf001_0000, 2, 0x5000_0000, 9]);
        for list in [narrow, wide] {
            let mut letters = b">".to_vec();
            read(&packed, &list, &mut letters).unwrap();
            assert_eq!(letters, b">ACNNACGTAR");
        }
        let mut letters = Vec::new();
        read(&packed, &[], &mut letters).unwrap();
        assert_eq!(letters, b"ACGTACGTAC");
        read(&[0], &[], &mut letters).unwrap();
        assert_eq!(letters.len(), 10);
    }

    #[test]
    fn damage_is_an_error() {
        for words in [&[3, 0xf000_0000][..], &[1, 0xf100_0009], &[0x8000_0001, 0]] {
            let damaged = read(&[0x1b, 0x1b, 0x12], &list(words), &mut Vec::new());
            assert!(damaged.is_err(), "{words:x?}");
        }
        assert!(read(&[], &[], &mut Vec::new()).is_err());
        assert!(read(&[0], &[0; 3], &mut Vec::new()).is_err());
    }
}
