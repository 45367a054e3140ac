//! Local alignment of whole sequences (Smith and Waterman 1981, with the gaps of Gotoh 1982).

use crate::arch::Rows;
use crate::statistics::Costs;

/// Where a best local alignment ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LocalEnd {
    /// Its score; 0 where no pair of residues scores more.
    pub score: i32,
    /// Residues of the query up to its end.
    pub query: usize,
    /// Residues of the subject up to its end.
    pub subject: usize,
}

/// The end of the best local alignment of two sequences: of equal ones the first in the query, and
/// then in the subject. It takes time in proportion to the product of their lengths.
///
/// ```
/// use gyrase_align::{local, matrix::Matrix, residue::code, statistics::Costs};
///
/// let rows = Matrix::named("BLOSUM62").ok_or("no such matrix")?.rows();
/// let [query, subject] = ["MKWVTFGGGGGISLLF", "PPMKWVTFISLLF"].map(|text| {
///     text.bytes().map(code).collect::<Vec<u8>>()
/// });
/// let end = local::end(rows, Costs::new(11, 1), &query, &subject);
/// assert_eq!((end.score, end.query, end.subject), (42, 16, 13));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn end(rows: &Rows, costs: Costs, query: &[u8], subject: &[u8]) -> LocalEnd {
    let opens = costs.open + costs.extend;
    // What alignments that end with each residue of the subject score, and those that go on with a
    // gap beside the next of the query.
    let mut cells = vec![(0, -opens); subject.len()];
    let mut best = LocalEnd::default();
    for (number, &residue) in query.iter().enumerate() {
        let row = &rows[usize::from(residue)];
        let (mut diagonal, mut in_subject) = (0, -opens);
        for (place, ((cell, in_query), &other)) in cells.iter_mut().zip(subject).enumerate() {
            let both = diagonal + i32::from(row[usize::from(other)]);
            let score = both.max(*in_query).max(in_subject).max(0);
            diagonal = std::mem::replace(cell, score);
            *in_query = (*in_query - costs.extend).max(score - opens);
            in_subject = (in_subject - costs.extend).max(score - opens);
            if score > best.score {
                best = LocalEnd {
                    score,
                    query: number + 1,
                    subject: place + 1,
                };
            }
        }
    }
    best
}
