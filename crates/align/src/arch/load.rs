//! Loads sequences into lanes.

use super::kernels::Kernels;
use super::lanes::{
    Bands, COLUMNS, HALF_BAND, LANES, LaneColumns, LaneRows, Lanes, SubjectWindows,
};
use super::scalar;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::residue::BORDER;

impl SubjectWindows {
    /// None yet, to be loaded by these kernels.
    pub fn new(kernels: Kernels) -> SubjectWindows {
        SubjectWindows {
            kernels,
            rows: Box::new([[BORDER; COLUMNS]; LANES]),
            columns: Box::new([Lanes([BORDER; LANES]); COLUMNS]),
            lanes: 0,
        }
    }

    /// Loads the windows of `text` that begin at `starts`.
    ///
    /// # Panics
    /// When there are more than [`LANES`], or a window ends behind the text.
    pub fn load(&mut self, text: &[u8], starts: impl ExactSizeIterator<Item = usize>) {
        self.lanes = starts.len();
        assert!(self.lanes <= LANES, "more windows than lanes");
        for (row, start) in self.rows.iter_mut().zip(starts) {
            row.copy_from_slice(&text[start..start + COLUMNS]);
        }
        transpose(self.kernels, &self.rows, &mut self.columns);
    }
}

impl Bands {
    /// None yet, to be loaded by these kernels.
    pub fn new(kernels: Kernels) -> Bands {
        Bands {
            kernels,
            columns: Vec::new(),
            lanes: 0,
        }
    }

    /// Loads subjects for a query of so many residues, each with the middle diagonal of its band:
    /// how far the query is ahead of the subject.
    ///
    /// # Panics
    /// When there are more than [`LANES`].
    pub fn load(&mut self, query: usize, subjects: &[(&[u8], i64)]) {
        self.lanes = subjects.len();
        assert!(self.lanes <= LANES, "more subjects than lanes");
        let blocks = (query + COLUMNS).div_ceil(COLUMNS);
        self.columns
            .resize(blocks * COLUMNS, Lanes([BORDER; LANES]));
        for (block, columns) in self
            .columns
            .as_chunks_mut::<COLUMNS>()
            .0
            .iter_mut()
            .enumerate()
        {
            let mut rows = [[BORDER; COLUMNS]; LANES];
            for (row, &(subject, diagonal)) in rows.iter_mut().zip(subjects) {
                let first = (block * COLUMNS) as i64 - diagonal - HALF_BAND;
                let within = |at: i64| at.clamp(0, subject.len() as i64);
                let (from, end) = (within(first), within(first + COLUMNS as i64));
                let at = (from - first).clamp(0, COLUMNS as i64) as usize;
                let residues = &subject[from as usize..end as usize];
                row[at..at + residues.len()].copy_from_slice(residues);
            }
            transpose(self.kernels, &rows, columns);
        }
    }

    /// Loads whole subjects: column c holds residue c of each.
    ///
    /// # Panics
    /// When there are more than [`LANES`].
    pub fn load_whole(&mut self, subjects: &[&[u8]]) {
        let longest = subjects.iter().map(|subject| subject.len()).max();
        let whole: Vec<(&[u8], i64)> = subjects.iter().map(|&one| (one, -HALF_BAND)).collect();
        self.load(longest.unwrap_or_default(), &whole);
    }
}

/// Turns rows into columns.
pub(super) fn transpose(kernels: Kernels, rows: &LaneRows, columns: &mut LaneColumns) {
    match kernels {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `available` found the features.
        #[allow(unsafe_code, reason = "kernels need the features that were found")]
        Kernels::Avx512 => unsafe { avx512::transpose(rows, columns) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: as above.
        #[allow(unsafe_code, reason = "as above")]
        Kernels::Avx2 => unsafe { avx2::transpose(rows, columns) },
        _ => scalar::transpose(rows, columns),
    }
}
