//! Blocks of subjects, whose frames are in memory at a time.

use std::ops::Range;

use crate::Sequences;

/// Nucleotides of a block, about. The answer does not depend on it.
const BLOCK: usize = 4 << 20;

/// Ranges of subjects with so many nucleotides together, one subject at least.
pub(super) fn blocks(subjects: &Sequences) -> Vec<Range<usize>> {
    let (mut blocks, mut start, mut letters) = (Vec::new(), 0, 0);
    for number in 0..subjects.len() {
        let length = subjects.residues(number).len();
        if number > start && letters + length > BLOCK {
            blocks.push(start..number);
            (start, letters) = (number, 0);
        }
        letters += length;
    }
    if start < subjects.len() {
        blocks.push(start..subjects.len());
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_have_all_subjects_once() {
        let mut subjects = Sequences::default();
        assert!(blocks(&subjects).is_empty());
        for length in [0, BLOCK / 2, BLOCK / 2, 1, 2 * BLOCK, 5, BLOCK] {
            subjects.push(b"", &vec![b'A'; length]).unwrap();
        }
        assert_eq!(blocks(&subjects), [0..3, 3..4, 4..5, 5..6, 6..7]);
    }
}
