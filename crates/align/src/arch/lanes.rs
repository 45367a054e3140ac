//! Many sequences side by side: what the kernels read, column by column.

use crate::residue::{BORDER, CODES};
use crate::statistics::Costs;

/// Scores by the codes of two residues: a row for each residue of the query.
pub type Rows = [[i8; CODES]; CODES];

/// Residues of a window: so many are compared at a time.
pub const COLUMNS: usize = 64;

/// Windows of subjects that are compared at a time.
pub const LANES: usize = 64;

/// Windows of up to [`LANES`] subjects, column by column.
pub struct SubjectWindows {
    pub(super) columns: Box<[[u8; LANES]; COLUMNS]>,
    pub(super) lanes: usize,
}

impl Default for SubjectWindows {
    fn default() -> SubjectWindows {
        SubjectWindows {
            columns: Box::new([[BORDER; LANES]; COLUMNS]),
            lanes: 0,
        }
    }
}

impl SubjectWindows {
    /// Loads the windows of `text` that begin at `starts`.
    ///
    /// # Panics
    /// When there are more than [`LANES`], or a window ends behind the text.
    pub fn load(&mut self, text: &[u8], starts: impl ExactSizeIterator<Item = usize>) {
        self.lanes = starts.len();
        assert!(self.lanes <= LANES, "more windows than lanes");
        let mut rows = [[0; COLUMNS]; LANES];
        for (row, start) in rows.iter_mut().zip(starts) {
            row.copy_from_slice(&text[start..start + COLUMNS]);
        }
        transpose(&rows, &mut self.columns);
    }

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
#[derive(Default)]
pub struct Bands {
    pub(super) columns: Vec<[u8; LANES]>,
    pub(super) lanes: usize,
}

impl Bands {
    /// Loads subjects for a query of so many residues, each with the middle diagonal of its band:
    /// how far the query is ahead of the subject.
    ///
    /// # Panics
    /// When there are more than [`LANES`].
    pub fn load(&mut self, query: usize, subjects: &[(&[u8], i64)]) {
        self.lanes = subjects.len();
        assert!(self.lanes <= LANES, "more subjects than lanes");
        let blocks = (query + COLUMNS).div_ceil(COLUMNS);
        self.columns.resize(blocks * COLUMNS, [BORDER; LANES]);
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
            transpose(&rows, columns);
        }
    }
}

impl Bands {
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

/// Turns rows into columns, eight by eight.
fn transpose(rows: &[[u8; COLUMNS]; LANES], columns: &mut [[u8; LANES]; COLUMNS]) {
    for lane in (0..LANES).step_by(8) {
        for column in (0..COLUMNS).step_by(8) {
            let word = |number: usize| {
                let bytes = rows[lane + number][column..column + 8].try_into();
                u64::from_le_bytes(bytes.expect("eight bytes"))
            };
            let block = transpose_block(std::array::from_fn(word));
            for (number, word) in block.into_iter().enumerate() {
                columns[column + number][lane..lane + 8].copy_from_slice(&word.to_le_bytes());
            }
        }
    }
}

/// Transposes 8 x 8 bytes, by halves, quarters and eighths.
#[inline(always)]
fn transpose_block(mut words: [u64; 8]) -> [u64; 8] {
    const STEPS: [(usize, u64); 3] = [
        (4, 0x0000_0000_ffff_ffff),
        (2, 0x0000_ffff_0000_ffff),
        (1, 0x00ff_00ff_00ff_00ff),
    ];
    for (step, low) in STEPS {
        for first in (0..8).filter(|first| first & step == 0) {
            let second = first + step;
            let bits = 8 * step;
            let changed = (words[first] >> bits ^ words[second]) & low;
            words[second] ^= changed;
            words[first] ^= changed << bits;
        }
    }
    words
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
