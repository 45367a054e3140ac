//! Frames: in which direction a sequence is read.

use std::borrow::Cow;
use std::ops::Range;

use gyrase_align::nucleotide::complement;

/// Which frames of a sequence are compared. A frame has a number as BLAST has it: 0 for a protein,
/// 1 for nucleotides as they are, -1 for their other strand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// A protein, as it is.
    Protein,
    /// Nucleotides, as they are.
    Plus,
    /// Both strands of nucleotides.
    Strands,
}

impl Frames {
    /// Their numbers, in the order in which they stand.
    pub(crate) fn numbers(self) -> &'static [i8] {
        match self {
            Frames::Protein => &[0],
            Frames::Plus => &[1],
            Frames::Strands => &[1, -1],
        }
    }

    /// A sequence as a frame reads it.
    pub(crate) fn read(self, sequence: &[u8], frame: i8) -> Cow<'_, [u8]> {
        match self {
            _ if frame >= 0 => sequence.into(),
            Frames::Protein | Frames::Plus | Frames::Strands => {
                let other = sequence.iter().rev();
                other.map(|&code| complement(code)).collect()
            }
        }
    }

    /// Where a range of what a frame reads is in the sequence, which has such a length.
    pub(crate) fn place(self, range: &Range<usize>, frame: i8, length: usize) -> Range<usize> {
        if frame >= 0 {
            range.clone()
        } else {
            length - range.end..length - range.start
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_align::nucleotide::{code, letter};

    #[test]
    fn a_place_is_what_the_frame_reads() {
        assert_eq!(Frames::Plus.numbers(), [1]);
        let sequence = b"AACGTRC".map(code);
        let read = |frame| -> Vec<u8> {
            let codes = Frames::Strands.read(&sequence, frame);
            codes.iter().map(|&code| letter(code)).collect()
        };
        assert_eq!(read(1), b"AACGTRC");
        assert_eq!(read(-1), b"GYACGTT");
        for &frame in Frames::Strands.numbers() {
            let whole = Frames::Strands.read(&sequence, frame);
            for range in [0..7, 0..2, 3..6, 4..4] {
                let place = Frames::Strands.place(&range, frame, sequence.len());
                let part = Frames::Strands.read(&sequence[place], frame);
                assert_eq!(part[..], whole[range]);
            }
        }
    }
}
