//! Many sequences side by side: what the kernels read, column by column.

use std::ops::{Deref, DerefMut};

use super::kernels::Kernels;
use crate::residue::CODES;
use crate::statistics::Costs;

/// Scores by the codes of two residues: a row for each residue of the query.
pub type Rows = [[i8; CODES]; CODES];

/// Residues of a window: so many are compared at a time.
pub const COLUMNS: usize = 64;

/// A window of a query, and what is asked of its alignments.
pub type QueryWindow<'q> = (&'q [u8; COLUMNS], i8);

/// Windows of subjects that are compared at a time.
pub const LANES: usize = 64;

/// Something of every lane, in a line of the cache: no vector of it is in two.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
pub(crate) struct Lanes<T>(pub [T; LANES]);

impl<T> Deref for Lanes<T> {
    type Target = [T; LANES];

    #[inline(always)]
    fn deref(&self) -> &[T; LANES] {
        &self.0
    }
}

impl<T> DerefMut for Lanes<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [T; LANES] {
        &mut self.0
    }
}

/// Sequences in lanes, a row for each.
pub(super) type LaneRows = [[u8; COLUMNS]; LANES];

/// The same column by column.
pub(super) type LaneColumns = [Lanes<u8>; COLUMNS];

/// Windows of up to [`LANES`] subjects, column by column.
pub struct SubjectWindows {
    pub(super) kernels: Kernels,
    pub(super) rows: Box<LaneRows>,
    pub(super) columns: Box<LaneColumns>,
    pub(super) lanes: usize,
}

impl SubjectWindows {
    /// The lanes that hold a window.
    pub(super) fn filled(&self) -> u64 {
        u64::MAX
            .checked_shr((LANES - self.lanes) as u32)
            .unwrap_or_default()
    }
}

/// Diagonals on both sides of the middle one that a banded alignment may use, which is the last
/// before the middle of [`COLUMNS`].
pub(super) const HALF_BAND: i64 = COLUMNS as i64 / 2;

/// Subjects along a band of [`COLUMNS`] diagonals of each, column by column: column c holds what
/// residue r of a query meets on the diagonal number c - r of the band.
pub struct Bands {
    pub(super) kernels: Kernels,
    pub(super) columns: Vec<Lanes<u8>>,
    pub(super) lanes: usize,
}

/// What a gap costs with its first residue, and for each more.
#[derive(Clone, Copy)]
pub(super) struct Gaps {
    pub first: i8,
    pub more: i8,
}

impl Gaps {
    pub(super) fn of(costs: Costs) -> Gaps {
        let byte = |cost: i32| cost.clamp(0, 127) as i8;
        let [first, more] = [byte(costs.open + costs.extend), byte(costs.extend)];
        Gaps { first, more }
    }
}

/// The number that a score of 0 has in vectors of bytes: sums end there by themselves.
pub(super) const ZERO: i8 = i8::MIN;

/// A score of vectors of bytes as it is.
pub(super) fn unbiased(score: i8) -> u8 {
    (i16::from(score) - i16::from(ZERO)) as u8
}
