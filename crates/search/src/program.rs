//! What is compared with what.

use std::str::FromStr;

use gyrase_seqdb::Molecule;

use crate::frames::{Frames, GeneticCodes};

/// What is compared with what, by the names of BLAST.
///
/// ```
/// use gyrase_search::{Molecule, Program};
///
/// assert_eq!("blastp".parse(), Ok(Program::Blastp));
/// assert_eq!(Program::Blastp.molecules(), [Molecule::Protein; 2]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Proteins with proteins.
    Blastp,
    /// Peptides with proteins: each with every one, by PAM30.
    BlastpShort,
    /// Nucleotides with nucleotides, by words of 11.
    Blastn,
    /// Nucleotides that are nearly equal, by words of 28.
    Megablast,
    /// Nucleotides that differ much, by words in which some bases may differ.
    DcMegablast,
    /// Short nucleotides, by words of 7.
    BlastnShort,
    /// Translated nucleotides with proteins.
    Blastx,
    /// Proteins with translated nucleotides.
    Tblastn,
    /// Translated nucleotides with translated nucleotides.
    Tblastx,
}

/// A name that no program has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no program {name}: choose {}", names())]
pub struct UnknownProgram {
    /// What was asked for.
    name: String,
}

fn names() -> String {
    let names: Vec<&str> = Program::ALL.iter().map(|program| program.name()).collect();
    names.join(", ")
}

impl Program {
    /// All programs.
    pub const ALL: [Program; 9] = [
        Program::Blastp,
        Program::BlastpShort,
        Program::Blastn,
        Program::Megablast,
        Program::DcMegablast,
        Program::BlastnShort,
        Program::Blastx,
        Program::Tblastn,
        Program::Tblastx,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Program::Blastp => "blastp",
            Program::BlastpShort => "blastp-short",
            Program::Blastn => "blastn",
            Program::Megablast => "megablast",
            Program::DcMegablast => "dc-megablast",
            Program::BlastnShort => "blastn-short",
            Program::Blastx => "blastx",
            Program::Tblastn => "tblastn",
            Program::Tblastx => "tblastx",
        }
    }

    /// What queries and subjects are.
    pub fn molecules(self) -> [Molecule; 2] {
        match self {
            Program::Blastp | Program::BlastpShort => [Molecule::Protein; 2],
            Program::Blastx => [Molecule::Nucleotide, Molecule::Protein],
            Program::Tblastn => [Molecule::Protein, Molecule::Nucleotide],
            Program::Blastn
            | Program::Megablast
            | Program::DcMegablast
            | Program::BlastnShort
            | Program::Tblastx => [Molecule::Nucleotide; 2],
        }
    }

    /// The first program for such queries and subjects.
    pub fn of(molecules: [Molecule; 2]) -> Program {
        let mut all = Program::ALL.into_iter();
        let first = all.find(|program| program.molecules() == molecules);
        first.expect("there is a program for any two")
    }

    /// What is compared, letter by letter.
    pub fn compares(self) -> Molecule {
        match self {
            Program::Blastp | Program::BlastpShort => Molecule::Protein,
            Program::Blastx | Program::Tblastn | Program::Tblastx => Molecule::Protein,
            Program::Blastn | Program::Megablast | Program::DcMegablast | Program::BlastnShort => {
                Molecule::Nucleotide
            }
        }
    }

    /// The frames of queries and of subjects that are compared, by their genetic codes.
    pub(crate) fn frames(self, codes: GeneticCodes) -> [Frames; 2] {
        let [queries, subjects] = codes;
        match self {
            Program::Blastp | Program::BlastpShort => [Frames::Protein; 2],
            Program::Blastn | Program::Megablast | Program::DcMegablast | Program::BlastnShort => {
                [Frames::Strands, Frames::Plus]
            }
            Program::Blastx => [Frames::Six(queries), Frames::Protein],
            Program::Tblastn => [Frames::Protein, Frames::Six(subjects)],
            Program::Tblastx => [Frames::Six(queries), Frames::Six(subjects)],
        }
    }
}

impl FromStr for Program {
    type Err = UnknownProgram;

    fn from_str(name: &str) -> Result<Program, UnknownProgram> {
        let named = |program: &Program| program.name() == name;
        let unknown = || UnknownProgram { name: name.into() };
        Program::ALL.into_iter().find(named).ok_or_else(unknown)
    }
}
