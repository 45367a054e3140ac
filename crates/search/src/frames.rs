//! Frames: in which direction a sequence is read, and from which letter on.

use std::borrow::Cow;
use std::ops::Range;

use gyrase_align::genetic_code::{CODON, GeneticCode};
use gyrase_align::nucleotide::complement;
use gyrase_seqdb::Molecule;

/// The genetic codes of queries and of subjects.
pub(crate) type GeneticCodes = [&'static GeneticCode; 2];

/// Which frames of a sequence are compared. A frame has a number as BLAST has it: 0 for a protein,
/// 1 for nucleotides as they are, -1 for their other strand; 1 to 3 and -1 to -3 for the codons
/// from the first, second and third letter of a strand on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Frames {
    /// A protein, as it is.
    Protein,
    /// Nucleotides, as they are.
    Plus,
    /// Both strands of nucleotides.
    Strands,
    /// Both strands of nucleotides, translated by this code.
    Six(&'static GeneticCode),
}

impl Frames {
    /// Their numbers, in the order in which they stand.
    pub(crate) fn numbers(self) -> &'static [i8] {
        match self {
            Frames::Protein => &[0],
            Frames::Plus => &[1],
            Frames::Strands => &[1, -1],
            Frames::Six(_) => &[1, 2, 3, -1, -2, -3],
        }
    }

    /// What a frame reads.
    pub(crate) fn molecule(self) -> Molecule {
        match self {
            Frames::Protein | Frames::Six(_) => Molecule::Protein,
            Frames::Plus | Frames::Strands => Molecule::Nucleotide,
        }
    }

    /// Letters of the sequence for each that a frame reads.
    pub(crate) fn step(self) -> usize {
        match self {
            Frames::Six(_) => CODON,
            Frames::Protein | Frames::Plus | Frames::Strands => 1,
        }
    }

    /// How many letters a frame of a sequence has.
    pub(crate) fn length(self, sequence: usize, frame: i8) -> usize {
        sequence.saturating_sub(self.skipped(frame)) / self.step()
    }

    /// Where a frame stands among those of a sequence.
    pub(crate) fn place_of(self, frame: i8) -> usize {
        let mut numbers = self.numbers().iter();
        let place = numbers.position(|&number| number == frame);
        place.expect("the frame is one of them")
    }

    /// Letters before the first that a frame reads.
    fn skipped(self, frame: i8) -> usize {
        match self {
            Frames::Six(_) => usize::from(frame.unsigned_abs()) - 1,
            Frames::Protein | Frames::Plus | Frames::Strands => 0,
        }
    }

    /// A range of a frame of a sequence.
    pub(crate) fn read<'s>(
        self,
        sequence: &'s [u8],
        range: &Range<usize>,
        frame: i8,
    ) -> Cow<'s, [u8]> {
        self.translate(&sequence[self.place(range, frame, sequence.len())], frame)
    }

    /// What a frame reads of a part of a sequence that it reads from end to end.
    pub(crate) fn translate<'p>(self, part: impl Into<Cow<'p, [u8]>>, frame: i8) -> Cow<'p, [u8]> {
        let part = part.into();
        if self.step() == 1 && frame >= 0 {
            return part;
        }
        let mut read = vec![0; part.len() / self.step()];
        self.write(&part, frame, &mut read);
        read.into()
    }

    /// Writes the same to where there is room for it.
    pub(crate) fn write(self, part: &[u8], frame: i8, read: &mut [u8]) {
        match self {
            Frames::Six(code) if frame < 0 => fill(read, code.translate_other_strand(part)),
            Frames::Six(code) => fill(read, code.translate(part)),
            _ if frame < 0 => fill(read, part.iter().rev().map(|&code| complement(code))),
            _ => read.copy_from_slice(part),
        }
    }

    /// Where a range of what a frame reads is in the sequence, which has such a length.
    pub(crate) fn place(self, range: &Range<usize>, frame: i8, length: usize) -> Range<usize> {
        let at = |place: usize| self.skipped(frame) + self.step() * place;
        // A frame of a letter or two has nothing to skip them with.
        if range.is_empty() {
            return 0..0;
        }
        if frame >= 0 {
            at(range.start)..at(range.end)
        } else {
            length - at(range.end)..length - at(range.start)
        }
    }
}

fn fill(places: &mut [u8], codes: impl Iterator<Item = u8>) {
    let filled = places.iter_mut().zip(codes);
    filled.for_each(|(place, code)| *place = code);
}

#[cfg(test)]
mod tests {
    use super::*;
    use gyrase_align::nucleotide::{code, letter};
    use gyrase_align::residue;

    #[test]
    fn a_place_is_what_the_frame_reads() {
        assert_eq!(Frames::Plus.numbers(), [1]);
        let sequence = b"AACGTRCATTGA".map(code);
        let read = |frame| -> Vec<u8> {
            let codes = Frames::Strands.read(&sequence, &(0..12), frame);
            codes.iter().map(|&code| letter(code)).collect()
        };
        assert_eq!(read(1), b"AACGTRCATTGA");
        assert_eq!(read(-1), b"TCAATGYACGTT");
        let standard = GeneticCode::numbered(1).unwrap();
        for frames in [Frames::Strands, Frames::Six(standard)] {
            for &frame in frames.numbers() {
                let all = frames.length(sequence.len(), frame);
                let whole = frames.read(&sequence, &(0..all), frame);
                assert_eq!(whole.len(), all);
                for (start, end) in [(0, all), (0, 1), (1, 2), (1, 1)] {
                    let part = frames.read(&sequence, &(start..end), frame);
                    assert_eq!(part[..], whole[start..end]);
                }
            }
        }
    }

    #[test]
    fn six_frames_are_read_from_sequences_of_any_length() {
        let six = Frames::Six(GeneticCode::numbered(1).unwrap());
        let read = |letters: &str| -> String {
            let codes: Vec<u8> = letters.bytes().map(code).collect();
            let frames = six.numbers().iter().map(|&frame| {
                let residues = 0..six.length(codes.len(), frame);
                let residues = six.read(&codes, &residues, frame);
                residues
                    .iter()
                    .map(|&one| residue::letter(one) as char)
                    .collect()
            });
            frames.collect::<Vec<String>>().join(",")
        };
        assert_eq!(read(""), ",,,,,");
        assert_eq!(read("A"), ",,,,,");
        assert_eq!(read("AT"), ",,,,,");
        assert_eq!(read("ATG"), "M,,,H,,");
        assert_eq!(read("ATGG"), "M,W,,P,H,");
        assert_eq!(read("ATGGC"), "M,W,G,A,P,H");
        assert_eq!(read("ATGGCNTAA"), "MA*,WX,GX,LXH,XA,XP");
    }

    #[test]
    fn a_place_has_the_codons_of_a_frame() {
        let six = Frames::Six(GeneticCode::numbered(1).unwrap());
        assert_eq!(six.place(&(1..3), 2, 20), 4..10);
        assert_eq!(six.place(&(1..3), -2, 20), 10..16);
        assert_eq!(six.place(&(0..0), -3, 1), 0..0);
    }
}
