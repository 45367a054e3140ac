//! Proteins or nucleotides.

use std::fmt;

use gyrase_align::{nucleotide, residue};

/// Letters that are enough to tell proteins from nucleotides.
const MANY: u64 = 100;
/// Letters that are too few to tell.
const FEW: u64 = 12;

/// What the letters of sequences stand for; the numbers are those of BLAST's databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Molecule {
    /// Nucleotides, by [`nucleotide::code`].
    Nucleotide = 0,
    /// Residues of proteins, by [`residue::code`].
    Protein = 1,
}

impl Molecule {
    /// The kind with a number.
    pub(crate) fn from_number(number: u32) -> Option<Molecule> {
        [Molecule::Nucleotide, Molecule::Protein]
            .into_iter()
            .find(|&one| one as u32 == number)
    }

    /// What letters stand for, by how many there are of each, in upper case: nucleotides where
    /// nearly all are bases or N, each base is one of twenty at least, and chance cannot have it.
    /// Few letters have to be bases altogether. Gaps do not count.
    pub fn of_counts(counts: &[u64; 256]) -> Molecule {
        let count = |letter: u8| counts[usize::from(letter)];
        let total = counts.iter().sum::<u64>() - count(b'-') - count(b'.');
        let bases: u64 = b"ACGTUN".iter().map(|&base| count(base)).sum();
        let each = b"ACG".iter().map(|&base| count(base));
        let mut each = each.chain([count(b'T') + count(b'U')]);
        let are_nucleotides = match total {
            ..FEW => false,
            FEW..MANY => bases == total,
            _ => bases * 20 >= total * 19 && each.all(|base| base * 20 >= total),
        };
        match are_nucleotides {
            true => Molecule::Nucleotide,
            false => Molecule::Protein,
        }
    }

    /// Whether there are so many letters that [`Molecule::of_counts`] is sure.
    pub fn are_enough(counts: &[u64; 256]) -> bool {
        counts.iter().sum::<u64>() >= MANY
    }

    /// The letter of a code.
    pub fn letter(self, code: u8) -> u8 {
        match self {
            Molecule::Protein => residue::letter(code),
            Molecule::Nucleotide => nucleotide::letter(code),
        }
    }

    /// The letter that a letter of a file becomes in a database: upper case, T for U in
    /// nucleotides, X or N for what is none; nothing for a gap.
    pub(crate) fn stored(self, letter: u8) -> Option<u8> {
        (!nucleotide::is_gap(letter)).then(|| match self {
            Molecule::Protein => residue::letter(residue::code(letter)),
            Molecule::Nucleotide => nucleotide::letter(nucleotide::code(letter)),
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_tell_the_molecule() {
        let of = |letters: &[u8]| {
            let mut counts = [0; 256];
            letters
                .iter()
                .for_each(|letter| counts[usize::from(letter.to_ascii_uppercase())] += 1);
            Molecule::of_counts(&counts)
        };
        assert_eq!(of(&b"GATTACANNC".repeat(10)), Molecule::Nucleotide);
        assert_eq!(of(&b"gauuacannc".repeat(10)), Molecule::Nucleotide);
        assert_eq!(of(b"GATTACA"), Molecule::Protein);
        assert_eq!(of(b"GATTACAGATTA---"), Molecule::Nucleotide);
        assert_eq!(of(b"GATTACAGATTAK"), Molecule::Protein);
        assert_eq!(of(&b"GAGAGACAGA".repeat(10)), Molecule::Protein);
        assert_eq!(of(&b"MKVLAWYGDE".repeat(10)), Molecule::Protein);
        assert_eq!(of(b""), Molecule::Protein);
    }

    #[test]
    fn letters_become_those_of_databases() {
        let all = |molecule: Molecule, letters: &[u8]| {
            let kept = letters.iter().filter_map(|&one| molecule.stored(one));
            String::from_utf8(kept.collect()).unwrap()
        };
        assert_eq!(all(Molecule::Protein, b"mk-V.u1*j"), "MKVUX*J");
        assert_eq!(all(Molecule::Nucleotide, b"ac-guRX"), "ACGTRN");
    }
}
