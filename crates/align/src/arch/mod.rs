//! Kernels that are chosen at run time: the best ungapped alignment of a query's window with the
//! windows of many subjects.
//!
//! [`scalar`] is the definition that the others are tested against. [`Kernels::detect`] chooses
//! once; the choice never changes a result.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;

use crate::residue::{BORDER, CODES};

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
    }
}
