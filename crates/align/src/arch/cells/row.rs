//! What the rows of an extension are made of.

use std::ops::Range;

use crate::residue::CODES;
use crate::statistics::Costs;

/// Neighbouring cells that are computed at a time.
pub(crate) const CELLS: usize = 32;

/// Below any score that is not dropped, far above the lowest number.
pub(crate) const NEVER: i16 = i16::MIN / 2;

/// How a cell was reached, and whether gaps that leave it came through it.
pub(crate) const BY_QUERY: u8 = 1;
pub(crate) const BY_SUBJECT: u8 = 2;
pub(crate) const FROM: u8 = 3;
pub(crate) const QUERY_GOES_ON: u8 = 4;
pub(crate) const SUBJECT_GOES_ON: u8 = 8;

/// Neighbouring cells of a row. A cell stands behind so many residues of the subject as its number
/// says. Its scores are relative to a base that the extension keeps close to the best, as in SWIPE
/// (Rognes 2011): those that are not dropped fit in 16 bits, and no sum leaves them where it
/// saturates.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
pub(crate) struct Cells {
    /// What the best alignment of the two prefixes scores, [`NEVER`] where it was dropped.
    pub best: [i16; CELLS],
    /// The best that ends with a gap beside the query's next residue. That of a dropped cell is
    /// too low to matter.
    pub gap: [i16; CELLS],
}

impl Cells {
    pub(crate) const DROPPED: Cells = Cells {
        best: [NEVER; CELLS],
        gap: [NEVER; CELLS],
    };

    /// Makes all scores relative to a base that is so much higher.
    pub(crate) fn lower(&mut self, by: i16) {
        for score in self.best.iter_mut().chain(&mut self.gap) {
            *score = score.saturating_sub(by);
        }
    }
}

/// What a row is computed from, beside the cells of the row before.
pub(crate) struct ExtensionRow<'r> {
    /// Scores of the query's residue by those of the subject.
    pub scores: &'r [i32; CODES],
    /// The residue of the subject before each cell, in whole blocks of [`CELLS`].
    pub subject: &'r [u8],
    /// Cells that there are.
    pub columns: usize,
    /// Of gaps.
    pub costs: Costs,
    /// What the score may fall below the best.
    pub x_drop: i32,
    /// From the first cell of the row before that was not dropped to behind the last.
    pub kept: Range<usize>,
    /// The best score of all rows before, relative to the base.
    pub best: i32,
}

/// What a row leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RowEnd {
    /// From the first cell that is not dropped to behind the last; empty when there is none.
    pub kept: Range<usize>,
    /// The best score so far, relative to the base.
    pub best: i32,
    /// The first cell that has it, if it is of this row.
    pub at: Option<usize>,
}

impl RowEnd {
    pub(super) fn new(best: i32) -> RowEnd {
        RowEnd {
            kept: 0..0,
            best,
            at: None,
        }
    }

    /// Adds the cells from number `first` on that are not dropped, as bits.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn keep(&mut self, first: usize, kept: u32) {
        if kept == 0 {
            return;
        }
        if self.kept.is_empty() {
            self.kept.start = first + kept.trailing_zeros() as usize;
        }
        self.kept.end = first + (u32::BITS - kept.leading_zeros()) as usize;
    }
}

impl ExtensionRow<'_> {
    /// The block of the last cell that can be reached without a gap beside the subject.
    pub(super) fn last_block(&self) -> usize {
        self.kept.end / CELLS
    }

    /// What a gap costs with its first residue.
    pub(super) fn opens(&self) -> i32 {
        self.costs.open + self.costs.extend
    }
}
