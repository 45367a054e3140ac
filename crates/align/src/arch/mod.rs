//! Kernels that are chosen at run time: the best ungapped alignment of a query's window with the
//! windows of many subjects, and the best gapped one in a band around a diagonal.
//!
//! [`scalar`] is the definition that the others are tested against. [`Kernels::detect`] chooses
//! once; the choice never changes a result.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::residue::{BORDER, CODES};
use crate::statistics::Costs;

/// Scores by the codes of two residues: a row for each residue of the query.
pub type Rows = [[i8; CODES]; CODES];

/// Residues of a window: so many are compared at a time.
pub const COLUMNS: usize = 64;

/// Windows of subjects that are compared at a time.
pub const LANES: usize = 64;

/// Windows of up to [`LANES`] subjects, column by column.
pub struct Windows {
    columns: Box<[[u8; LANES]; COLUMNS]>,
    lanes: usize,
}

impl Default for Windows {
    fn default() -> Windows {
        Windows {
            columns: Box::new([[BORDER; LANES]; COLUMNS]),
            lanes: 0,
        }
    }
}

impl Windows {
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
    fn filled(&self) -> u64 {
        u64::MAX
            .checked_shr((LANES - self.lanes) as u32)
            .unwrap_or_default()
    }
}

/// Diagonals on both sides of the middle one that a banded alignment may use, which is the last
/// before the middle of [`COLUMNS`].
const HALF_BAND: i64 = COLUMNS as i64 / 2;

/// Subjects along a band of [`COLUMNS`] diagonals of each, column by column: column c holds what
/// residue r of a query meets on the diagonal number c - r of the band.
#[derive(Default)]
pub struct Bands {
    columns: Vec<[u8; LANES]>,
    lanes: usize,
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

/// A set of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Portable code.
    Scalar,
    /// 256-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512-bit x86 vectors.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernels {
    /// The fastest set that this processor runs.
    pub fn detect() -> Kernels {
        Kernels::available()
            .pop()
            .expect("portable code is always there")
    }

    /// Every set that this processor runs, slowest first.
    pub fn available() -> Vec<Kernels> {
        #[cfg_attr(
            not(target_arch = "x86_64"),
            expect(unused_mut, reason = "there is one set")
        )]
        let mut kernels = vec![Kernels::Scalar];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Kernels::Avx2);
            }
            let newer = is_x86_feature_detected!("avx512bw");
            if newer && is_x86_feature_detected!("avx512vbmi") {
                kernels.push(Kernels::Avx512);
            }
        }
        kernels
    }

    /// The lanes whose window has an ungapped alignment with the query's window, column on column,
    /// that scores `least` or more; scores end at 127.
    pub fn windows_scoring(
        self,
        rows: &Rows,
        query: &[u8; COLUMNS],
        windows: &Windows,
        least: i8,
    ) -> u64 {
        let Windows { columns, .. } = windows;
        let found = match self {
            Kernels::Scalar => scalar::windows_scoring(rows, query, columns, least),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::windows_scoring(rows, query, columns, least) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::windows_scoring(rows, query, columns, least) },
        };
        found & windows.filled()
    }

    /// The best score of a local alignment of the query with each lane's subject inside of its
    /// band; 255 where it is 255 or more, 0 for lanes without a subject.
    pub fn band_scores(
        self,
        rows: &Rows,
        costs: Costs,
        query: &[u8],
        bands: &Bands,
    ) -> [u8; LANES] {
        let byte = |cost: i32| cost.clamp(0, 127) as i8;
        let [first, more] = [byte(costs.open + costs.extend), byte(costs.extend)];
        let gaps = Gaps { first, more };
        let columns = &bands.columns[..query.len() + COLUMNS];
        let mut scores = match self {
            Kernels::Scalar => scalar::band_scores(rows, gaps, query, columns),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx2 => unsafe { avx2::band_scores(rows, gaps, query, columns) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: `available` found the features.
            #[allow(unsafe_code, reason = "kernels need the features that were found")]
            Kernels::Avx512 => unsafe { avx512::band_scores(rows, gaps, query, columns) },
        };
        scores[bands.lanes..].fill(0);
        scores
    }
}

/// What a gap costs with its first residue, and for each more.
#[derive(Clone, Copy)]
struct Gaps {
    first: i8,
    more: i8,
}

/// The number that a score of 0 has in vectors of bytes: sums end there by themselves.
const ZERO: i8 = i8::MIN;

/// A score of vectors of bytes as it is.
fn unbiased(score: i8) -> u8 {
    (i16::from(score) - i16::from(ZERO)) as u8
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows() -> impl Strategy<Value = Rows> {
        proptest::collection::vec(-60..=17_i8, CODES * CODES).prop_map(|scores| {
            std::array::from_fn(|q| std::array::from_fn(|s| scores[q * CODES + s]))
        })
    }

    proptest! {
        #[test]
        fn all_kernels_find_the_same(
            rows in rows(),
            text in proptest::collection::vec(0..CODES as u8, 400),
            query in proptest::collection::vec(0..CODES as u8, COLUMNS),
            starts in proptest::collection::vec(0..400 - COLUMNS, 0..=LANES),
            least in 1..=127_i8,
        ) {
            let query: [u8; COLUMNS] = query.try_into().expect("a window");
            let mut windows = Windows::default();
            windows.load(&text, starts.iter().copied());
            let expected = starts.iter().enumerate().fold(0, |lanes, (lane, &start)| {
                let (mut best, mut score) = (0, 0);
                for (&q, &s) in query.iter().zip(&text[start..]) {
                    let one: &[i8; CODES] = &rows[usize::from(q)];
                    score = (score + i32::from(one[usize::from(s)])).max(0);
                    best = best.max(score);
                }
                lanes | u64::from(best >= i32::from(least)) << lane
            });
            for kernels in Kernels::available() {
                prop_assert_eq!(kernels.windows_scoring(&rows, &query, &windows, least), expected);
            }
        }
        #[test]
        fn all_kernels_align_in_a_band(
            mut rows in rows(),
            query in proptest::collection::vec(0..23_u8, 1..150),
            subjects in proptest::collection::vec(
                (proptest::collection::vec(0..23_u8, 0..150), -160..160_i64), 0..5),
            open in 0..15, extend in 1..4,
        ) {
            rows.iter_mut().for_each(|row| row[usize::from(BORDER)] = -60);
            let costs = Costs::new(open, extend);
            let mut bands = Bands::default();
            let lanes: Vec<_> = subjects.iter().map(|(one, diagonal)| (&one[..], *diagonal)).collect();
            bands.load(query.len(), &lanes);
            let mut expected = [0; LANES];
            for (score, &(subject, diagonal)) in expected.iter_mut().zip(&lanes) {
                *score = in_band(&rows, costs, &query, subject, diagonal).min(255) as u8;
            }
            for kernels in Kernels::available() {
                prop_assert_eq!(kernels.band_scores(&rows, costs, &query, &bands), expected);
            }
        }
    }

    /// The best local alignment in a band, by the textbook.
    fn in_band(rows: &Rows, costs: Costs, query: &[u8], subject: &[u8], diagonal: i64) -> i32 {
        const NEVER: i32 = i32::MIN / 2;
        let width = subject.len() + 1;
        let (mut best, mut in_query) = (vec![0; width], vec![NEVER; width]);
        let mut highest = 0;
        for (i, &q) in query.iter().enumerate() {
            let before = best.clone();
            let mut in_subject = NEVER;
            for j in 1..width {
                let ahead = i as i64 - (j as i64 - 1) - diagonal;
                let place = HALF_BAND - ahead;
                if !(0..COLUMNS as i64).contains(&place) {
                    (best[j], in_query[j], in_subject) = (0, NEVER, NEVER);
                    continue;
                }
                in_query[j] =
                    (in_query[j] - costs.extend).max(before[j] - costs.open - costs.extend);
                in_subject =
                    (in_subject - costs.extend).max(best[j - 1] - costs.open - costs.extend);
                let both =
                    before[j - 1] + i32::from(rows[usize::from(q)][usize::from(subject[j - 1])]);
                best[j] = both.max(in_query[j]).max(in_subject).max(0);
                highest = highest.max(best[j]);
            }
        }
        highest
    }
}
