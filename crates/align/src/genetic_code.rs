//! Genetic codes: which residue three nucleotides stand for.

use std::fmt;
use std::sync::OnceLock;

use crate::nucleotide::{BASES, LETTERS, bases, complement};
use crate::residue::{ANY, code};

/// Nucleotides of a codon.
pub const CODON: usize = 3;

/// Numbers of a nucleotide's code in a table of codons.
const CODES: usize = 16;

/// A genetic code, by the number that NCBI has for it (`gc.prt`, version 4.6).
///
/// ```
/// use gyrase_align::genetic_code::GeneticCode;
/// use gyrase_align::{nucleotide, residue};
///
/// let standard = GeneticCode::numbered(1).ok_or("no such code")?;
/// let read = |letters: &str| -> String {
///     let codes: Vec<u8> = letters.bytes().map(nucleotide::code).collect();
///     let residues = standard.translate(&codes);
///     residues.map(|one| residue::letter(one) as char).collect()
/// };
/// assert_eq!(read("ATGGCNTAARAYCTNAA"), "MA*XL");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GeneticCode {
    number: u8,
    /// Residues of all codons of codes of nucleotides, and of the codons on the other strand of
    /// these.
    residues: Box<[[u8; CODES * CODES * CODES]; 2]>,
}

/// The residues of all codons, in the order TTT, TTC, TTA, TTG, TCT to GGG.
type Residues = &'static [u8; 64];

const TABLES: &[(u8, Residues)] = &[
    (
        1,
        b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        2,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSS**VVVVAAAADDEEGGGG",
    ),
    (
        3,
        b"FFLLSSSSYY**CCWWTTTTPPPPHHQQRRRRIIMMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        4,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        5,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSSSVVVVAAAADDEEGGGG",
    ),
    (
        6,
        b"FFLLSSSSYYQQCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        9,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG",
    ),
    (
        10,
        b"FFLLSSSSYY**CCCWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        11,
        b"FFLLSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        12,
        b"FFLLSSSSYY**CC*WLLLSPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        13,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNKKSSGGVVVVAAAADDEEGGGG",
    ),
    (
        14,
        b"FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNNKSSSSVVVVAAAADDEEGGGG",
    ),
    (
        15,
        b"FFLLSSSSYY*QCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        16,
        b"FFLLSSSSYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        21,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIMMTTTTNNNKSSSSVVVVAAAADDEEGGGG",
    ),
    (
        22,
        b"FFLLSS*SYY*LCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        23,
        b"FF*LSSSSYY**CC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        24,
        b"FFLLSSSSYY**CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG",
    ),
    (
        25,
        b"FFLLSSSSYY**CCGWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        26,
        b"FFLLSSSSYY**CC*WLLLAPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        27,
        b"FFLLSSSSYYQQCCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        28,
        b"FFLLSSSSYYQQCCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        29,
        b"FFLLSSSSYYYYCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        30,
        b"FFLLSSSSYYEECC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        31,
        b"FFLLSSSSYYEECCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        32,
        b"FFLLSSSSYY*WCC*WLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSRRVVVVAAAADDEEGGGG",
    ),
    (
        33,
        b"FFLLSSSSYYY*CCWWLLLLPPPPHHQQRRRRIIIMTTTTNNKKSSSKVVVVAAAADDEEGGGG",
    ),
];

/// Places of the codes A, C, G and T in the order T, C, A, G.
const PLACES: [usize; BASES] = [2, 1, 3, 0];

/// Codes in the order of [`TABLES`], each made when it is first wanted.
static CODES_OF_ALL: [OnceLock<GeneticCode>; TABLES.len()] =
    [const { OnceLock::new() }; TABLES.len()];

impl fmt::Debug for GeneticCode {
    fn fmt(&self, text: &mut fmt::Formatter) -> fmt::Result {
        write!(text, "GeneticCode({})", self.number)
    }
}

impl PartialEq for GeneticCode {
    fn eq(&self, other: &GeneticCode) -> bool {
        self.number == other.number
    }
}

impl GeneticCode {
    /// The code of a number, if NCBI has one.
    pub fn numbered(number: u8) -> Option<&'static GeneticCode> {
        let place = TABLES.iter().position(|(own, _)| *own == number)?;
        let (number, residues) = TABLES[place];
        Some(CODES_OF_ALL[place].get_or_init(|| GeneticCode::of(number, residues)))
    }

    /// The numbers of all.
    pub fn numbers() -> impl Iterator<Item = u8> {
        TABLES.iter().map(|(number, _)| *number)
    }

    /// Its number.
    pub fn number(&self) -> u8 {
        self.number
    }

    fn of(number: u8, letters: Residues) -> GeneticCode {
        let mut residues = Box::new([[ANY; CODES * CODES * CODES]; 2]);
        for first in 0..LETTERS.len() {
            for second in 0..LETTERS.len() {
                for third in 0..LETTERS.len() {
                    let codon = [first, second, third].map(|one| one as u8);
                    let [first, second, third] = codon.map(complement);
                    let both = [codon, [third, second, first]];
                    for (residues, one) in residues.iter_mut().zip(both) {
                        residues[place(codon)] = common(letters, &one);
                    }
                }
            }
        }
        GeneticCode { number, residues }
    }

    /// The residues of codons, one behind the other; what is left at the end has none. A codon
    /// with a nucleotide that stands for several has the residue of all that it may be, or X.
    pub fn translate<'c>(&'c self, codes: &'c [u8]) -> impl ExactSizeIterator<Item = u8> + 'c {
        let codons = codes.as_chunks().0.iter();
        codons.map(|&codon| self.residues[0][place(codon)])
    }

    /// The same of the other strand, from its first codon on; what is left has none.
    pub fn translate_other_strand<'c>(
        &'c self,
        codes: &'c [u8],
    ) -> impl ExactSizeIterator<Item = u8> + 'c {
        let codons = codes.as_rchunks().1.iter().rev();
        codons.map(|&codon| self.residues[1][place(codon)])
    }
}

#[inline(always)]
fn place(codon: [u8; CODON]) -> usize {
    let places = codon.map(|code| usize::from(code) % CODES);
    places.iter().fold(0, |place, code| place * CODES + code)
}

/// The residue of all codons that codes may be, or X.
fn common(letters: Residues, codon: &[u8; CODON]) -> u8 {
    let may_be = |code: u8| (0..BASES).filter(move |base| bases(code) >> base & 1 != 0);
    let mut found = None;
    for first in may_be(codon[0]) {
        for second in may_be(codon[1]) {
            for third in may_be(codon[2]) {
                let [first, second, third] = [first, second, third].map(|base| PLACES[base]);
                let residue = code(letters[(first * BASES + second) * BASES + third]);
                if found.is_some_and(|before| before != residue) {
                    return ANY;
                }
                found = Some(residue);
            }
        }
    }
    found.unwrap_or(ANY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{nucleotide, residue};

    fn read(number: u8, letters: &str) -> String {
        let code = GeneticCode::numbered(number).unwrap();
        let codes: Vec<u8> = letters.bytes().map(nucleotide::code).collect();
        let residues = code.translate(&codes);
        residues.map(|one| residue::letter(one) as char).collect()
    }

    #[test]
    fn codons_are_read_in_every_code() {
        for number in GeneticCode::numbers() {
            assert_eq!(GeneticCode::numbered(number).unwrap().number(), number);
            assert_eq!(read(number, "GGAGCTTTTCCC"), "GAFP", "{number}");
            assert_eq!(read(number, "GG"), "");
        }
        assert_eq!(GeneticCode::numbers().count(), 27);
        for number in [0, 7, 8, 17, 20, 34] {
            assert!(GeneticCode::numbered(number).is_none());
        }
    }

    #[test]
    fn codes_differ_where_they_are_known_to() {
        // TGA, TAA, AGA, ATA, CTG.
        let of = |number| read(number, "TGATAAAGAATACTG");
        assert_eq!(of(1), "**RIL");
        assert_eq!(of(2), "W**ML");
        assert_eq!(of(3), "W*RMT");
        assert_eq!(of(6), "*QRIL");
        assert_eq!(of(12), "**RIS");
        assert_eq!(of(14), "WYSIL");
        assert_eq!(of(25), "G*RIL");
        assert_eq!(of(31), "WERIL");
    }

    #[test]
    fn several_nucleotides_are_one_residue_where_all_agree() {
        assert_eq!(read(1, "GCNGCRYTNYTRMGRTAR"), "AAXLR*");
        assert_eq!(read(1, "NNNATHATNAAYRAY"), "XIXNX");
        assert_eq!(read(1, "auguaa"), "M*");
    }
}
