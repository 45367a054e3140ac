//! Masks: ranges of a sequence that are too simple to tell relatives from strangers.
//!
//! A mask is a list of half-open ranges of positions, sorted, disjoint, none of them empty.

pub mod dust;
pub mod seg;

use std::ops::Range;

/// Writes `code` at every position of a mask; positions behind the end are left out.
pub fn cover(sequence: &mut [u8], mask: &[Range<usize>], code: u8) {
    for range in mask {
        let end = range.end.min(sequence.len());
        if let Some(covered) = sequence.get_mut(range.start..end) {
            covered.fill(code);
        }
    }
}

/// How many positions a mask has.
pub fn covered(mask: &[Range<usize>]) -> usize {
    mask.iter().map(Range::len).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_covers_its_positions_only() {
        let mut sequence = *b"ACDEFG";
        let mask = [1..3, 5..9];
        cover(&mut sequence, &mask, b'X');
        assert_eq!(&sequence, b"AXXEFX");
        cover(&mut sequence, std::slice::from_ref(&(7..9)), b'-');
        assert_eq!(&sequence, b"AXXEFX");
        assert_eq!(covered(&mask), 6);
    }
}
