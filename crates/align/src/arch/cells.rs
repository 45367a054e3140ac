//! The rows of a gapped extension: cells of dynamic programming, of which those that fall too far
//! below the best score so far are *dropped* (see [`gapped`](crate::gapped)).
//!
//! Within a row a gap beside the subject reaches from cell to cell, and the best score may rise
//! from cell to cell. Vectors find both by maxima of all cells before: a cell that is dropped can
//! never add to one that is not, so that none has to be left out of them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod row;
mod scalar;

pub(crate) use row::*;

use super::kernels::Kernels;

impl Kernels {
    /// Turns the cells of a row into those of the next. With `TRACE`, pushes how they were
    /// reached, from the block of the first kept cell on.
    ///
    /// There must be cells as far as a gap may reach: the cells behind are taken for dropped.
    pub(crate) fn extension_row<const TRACE: bool>(
        self,
        row: &ExtensionRow,
        cells: &mut [Cells],
        reached: &mut Vec<[u8; CELLS]>,
    ) -> RowEnd {
        match self {
            Kernels::Scalar => scalar::row::<TRACE>(row, cells, reached),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::row::<TRACE>(row, cells, reached) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::row::<TRACE>(row, cells, reached) },
        }
    }
}
