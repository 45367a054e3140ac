//! How nucleotides are translated: what one may choose.

use gyrase_align::genetic_code::GeneticCode;

use crate::SearchError;
use crate::frames::GeneticCodes;

/// What may be chosen where nucleotides are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TranslationOptions {
    /// The genetic code of queries, by NCBI's number.
    pub query_code: u8,
    /// The genetic code of subjects.
    pub subject_code: u8,
    /// Nucleotides that may be between two alignments that are taken together, `blastx` and
    /// `tblastn`; with fewer than 5 none are.
    pub max_intron: usize,
    /// Alignments that follow each other are taken together.
    pub sums: bool,
}

impl Default for TranslationOptions {
    /// As BLAST has it: the standard code, and introns of 122 nucleotides.
    fn default() -> TranslationOptions {
        TranslationOptions {
            query_code: 1,
            subject_code: 1,
            max_intron: 122,
            sums: true,
        }
    }
}

impl TranslationOptions {
    /// The genetic codes of queries and subjects.
    ///
    /// # Errors
    /// There is no code of such a number.
    pub(crate) fn codes(&self) -> Result<GeneticCodes, SearchError> {
        let code = |number| {
            let code = GeneticCode::numbered(number);
            code.ok_or(SearchError::GeneticCode { number })
        };
        Ok([code(self.query_code)?, code(self.subject_code)?])
    }

    /// Residues that may be between two alignments on what is translated; none where they are not
    /// taken together.
    pub(super) fn longest_gap(&self) -> Option<usize> {
        let residues = self.max_intron.saturating_sub(2) / 3;
        (self.sums && residues > 0).then_some(residues)
    }
}
