//! How often each residue occurs in a sequence.

use super::grid::{Row, sum};
use crate::residue::{CODES, STANDARD, code};

/// Residues of the standard composition that are mixed into a sequence's.
const PSEUDOCOUNTS: f64 = 20.0;
/// How often each standard residue occurs in a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Composition {
    /// Parts of one by code of a residue; all zero where there are no residues.
    pub(super) frequencies: Row,
    /// Residues that were counted.
    pub(super) standard: usize,
    /// Residues of the sequence, X among them.
    pub(super) length: usize,
}

impl Composition {
    /// The composition of a whole sequence of codes. U counts as C; B, Z, J, X, O, stops and what
    /// is masked as X are left out.
    pub fn of(residues: &[u8]) -> Composition {
        const U: usize = code(b'U') as usize;
        const C: usize = code(b'C') as usize;
        let mut counts = [0u32; CODES];
        for &residue in residues {
            counts[residue as usize % CODES] += 1;
        }
        counts[C] += counts[U];
        let standard: u32 = counts[..STANDARD].iter().sum();
        let mut frequencies = [0.0; STANDARD];
        for (frequency, &count) in frequencies.iter_mut().zip(&counts) {
            *frequency = f64::from(count) / f64::from(standard.max(1));
        }
        Composition {
            frequencies,
            standard: standard as usize,
            length: residues.len(),
        }
    }

    /// The same as the composition of a sequence of so many residues, of which it is a part.
    pub fn in_residues(self, length: usize) -> Composition {
        Composition { length, ..self }
    }

    /// Residues that were counted.
    pub fn standard(&self) -> usize {
        self.standard
    }

    /// How often each standard residue occurs, by code: parts of one, or all zero.
    pub fn frequencies(&self) -> &[f64; STANDARD] {
        &self.frequencies
    }

    /// The frequencies with pseudocounts of `background`.
    #[inline(always)]
    pub(super) fn with_pseudocounts(&self, background: &Row) -> Row {
        let weight = PSEUDOCOUNTS / (self.standard as f64 + PSEUDOCOUNTS);
        let total = sum(&self.frequencies);
        let mut mixed = [0.0; STANDARD];
        for k in 0..STANDARD {
            mixed[k] = (1.0 - weight) * self.frequencies[k] / total + weight * background[k];
        }
        mixed
    }
}
