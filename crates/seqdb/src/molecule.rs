//! Proteins or nucleotides.

use std::fmt;

use gyrase_align::residue;

/// Letters that may by chance look like nucleotides.
const FEW: u64 = 100;

/// What the sequences of a database are made of; the numbers are those of BLAST's databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Molecule {
    /// DNA or RNA: bases, and letters that stand for several of them.
    Nucleotide = 0,
    /// Residues.
    Protein = 1,
}

impl Molecule {
    /// The kind with a number.
    pub(crate) fn from_number(number: u32) -> Option<Molecule> {
        [Molecule::Nucleotide, Molecule::Protein]
            .into_iter()
            .find(|&one| one as u32 == number)
    }

    /// What sequences with these letters are made of. Nucleotides are 100 letters and more, of
    /// which nearly all are A, C, G, T, U or N and each base is one of twenty at least: chance
    /// cannot have that in a protein.
    pub fn of_letters<'a>(sequences: impl IntoIterator<Item = &'a [u8]>) -> Molecule {
        let mut counts = [0_u64; 256];
        for letters in sequences {
            letters
                .iter()
                .for_each(|&letter| counts[usize::from(letter.to_ascii_uppercase())] += 1);
        }
        counts[usize::from(b'T')] += std::mem::take(&mut counts[usize::from(b'U')]);
        let gaps = counts[usize::from(b'-')] + counts[usize::from(b'.')];
        let total = counts.iter().sum::<u64>() - gaps;
        let count = |letter: u8| counts[usize::from(letter)];
        let bases: u64 = b"ACGTN".iter().map(|&base| count(base)).sum();
        let all = b"ACGT".iter().all(|&base| count(base) * 20 >= total);
        if total >= FEW && all && bases * 20 >= total * 19 {
            Molecule::Nucleotide
        } else {
            Molecule::Protein
        }
    }

    /// The letter that a letter of a file becomes in a database: upper case, T for U in
    /// nucleotides, X or N for what is none; nothing for a gap.
    pub(crate) fn letter(self, letter: u8) -> Option<u8> {
        match (self, letter.to_ascii_uppercase()) {
            (_, b'-' | b'.') => None,
            (Molecule::Protein, letter) => Some(residue::letter(residue::code(letter))),
            (Molecule::Nucleotide, b'U') => Some(b'T'),
            (Molecule::Nucleotide, letter) if b"ACGTRYKMSWBDHV".contains(&letter) => Some(letter),
            (Molecule::Nucleotide, _) => Some(b'N'),
        }
    }
}

impl fmt::Display for Molecule {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        out.write_str(match self {
            Molecule::Nucleotide => "nucleotides",
            Molecule::Protein => "proteins",
        })
    }
}

/// The complement of a letter of nucleotides; a letter that stands for several becomes the one that
/// stands for their complements.
pub fn complement(letter: u8) -> u8 {
    const PAIRS: [&[u8; 2]; 6] = [b"AT", b"CG", b"RY", b"KM", b"BV", b"DH"];
    let other = PAIRS.iter().find_map(|pair| match letter {
        one if one == pair[0] => Some(pair[1]),
        one if one == pair[1] => Some(pair[0]),
        _ => None,
    });
    other.unwrap_or(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_the_molecule() {
        let of = |letters: &[u8]| Molecule::of_letters([letters]);
        assert_eq!(of(&b"GATTACANNC".repeat(10)), Molecule::Nucleotide);
        assert_eq!(of(&b"gauuacannc".repeat(10)), Molecule::Nucleotide);
        assert_eq!(of(b"GATTACA"), Molecule::Protein);
        assert_eq!(of(&b"GAGAGACAGA".repeat(10)), Molecule::Protein);
        assert_eq!(of(&b"MKVLAWYGDE".repeat(10)), Molecule::Protein);
        assert_eq!(Molecule::of_letters([]), Molecule::Protein);
    }

    #[test]
    fn letters_become_those_of_databases() {
        let all = |molecule: Molecule, letters: &[u8]| {
            let kept = letters.iter().filter_map(|&one| molecule.letter(one));
            String::from_utf8(kept.collect()).unwrap()
        };
        assert_eq!(all(Molecule::Protein, b"mk-V.u1*j"), "MKVUX*J");
        assert_eq!(all(Molecule::Nucleotide, b"ac-guRX"), "ACGTRN");
        let letters = b"ACGTRYKMSWBDHVN";
        let complements: Vec<u8> = letters.iter().map(|&one| complement(one)).collect();
        assert_eq!(complements, b"TGCAYRMKSWVHDBN");
    }
}
